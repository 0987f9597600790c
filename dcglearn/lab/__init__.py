"""Experiments as data: configs, cells, their store, claims and plots."""
