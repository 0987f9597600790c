"""Rankings and preferences as arrays."""
