"""Test collections: qrels, runs and graded lists, and their join."""
