"""What a measure is: DCG with gains and discounts, or any linear utility of grades by rank."""

from __future__ import annotations

from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility

Measure = DCG | LinearUtility


TIE_TOLERANCE = 1e-12
"""Two scores are tied when they differ by less than this share of what the ranks at
which the lists differ can add up to: equal terms in another order differ by rounding."""
