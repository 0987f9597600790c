"""Experiments as data: simulated judgments, comparisons and their intervals."""
