"""Test collections: qrels and runs, and graded lists, from files into arrays."""
