"""How alike two orders are."""
