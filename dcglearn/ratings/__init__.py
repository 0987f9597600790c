"""Ratings of single lists, and the judgments of pairs that they make."""
