"""Experiments as objects: run them, look at their tables, figures and verdicts."""
