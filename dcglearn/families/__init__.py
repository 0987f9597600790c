"""Families of gains and discounts, and what W is when it is restricted to them."""
