"""Simulated truths, pairs of lists and judges, drawn by a generator that the caller passes in."""
