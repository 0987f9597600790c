"""A measure in the terms of other tools."""
