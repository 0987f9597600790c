"""Coherence: whether measures with different gains and discounts agree on two lists or runs."""
