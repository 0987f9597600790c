"""Judgments from files, and into files."""
