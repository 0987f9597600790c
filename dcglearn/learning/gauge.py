"""What learned numbers are relative to, and what determines them: the words of a fit."""

from __future__ import annotations

from typing import Literal

Gauge = Literal["worst", "absolute", "worst order", "absolute order"]
"""What is fixed by convention, where adding to a row of W or scaling it changes no verdict; see
:mod:`dcglearn.learning.factorise`."""

Determined = Literal["data", "ridge", "none"]
"""What determines a number: the data; partly the penalty w'w (ridge); or nothing."""


def is_affine(gauge: str) -> bool:
    """Whether a gauge gives discounts only up to an affine map."""
    return gauge.endswith("order")
