"""Truths, lists and judges; everything draws from a generator passed in."""
