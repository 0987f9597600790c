"""What a set of judgments holds."""
