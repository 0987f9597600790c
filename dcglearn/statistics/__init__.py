"""Confidence intervals and tests over queries, and corrections for several tests."""
