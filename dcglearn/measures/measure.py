"""The type of a measure: a DCG, or any linear utility of grades by rank."""

from __future__ import annotations

from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility

Measure = DCG | LinearUtility
"""A measure that is linear in the gains; :func:`dcglearn.evaluate` takes others as well."""

TIE_TOLERANCE = 1e-12
"""Relative size of a difference that counts as 0.

Equal terms added in another order differ by rounding. The difference is compared with the
largest sum that the ranks at which two rankings differ can contribute."""
