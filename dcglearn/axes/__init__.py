"""The axes of experiments, and how functions of one's own join them."""
