"""The true measures of the paper."""

from dcglearn import DCG

DATA_1 = DCG([5, 4, 3, 2, 1], "log2")
"""Section 6, Data 1: gain l. The base of the logarithm does not change the order."""

DATA_2 = DCG([31, 15, 7, 3, 1], "log2")
"""Section 6, Data 2: gain 2^l - 1."""
