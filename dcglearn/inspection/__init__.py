"""What a set of judgments holds, before anything is learned from it."""
