"""Everything that matplotlib draws."""
