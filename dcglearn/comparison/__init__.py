"""Measures compared on judgments that they were not learned from."""
