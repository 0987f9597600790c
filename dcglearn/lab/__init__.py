"""Cells computed and kept: runs, their store, claims and plots."""
