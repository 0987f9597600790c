"""Rankings and preferences as arrays; files in and out."""
