"""Rank correlation: how similar two orders of the same items are."""
