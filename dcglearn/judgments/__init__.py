"""Side-by-side judgments: from any usual file to arrays."""
