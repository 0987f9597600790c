"""Cells computed: from a cell to its result, in any process."""
