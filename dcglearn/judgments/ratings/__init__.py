"""Ratings of single lists."""
