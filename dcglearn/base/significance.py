"""The correction of several comparisons: Holm's step-down method (Scand. J. Statist. 6, 1979)."""

from __future__ import annotations

import numpy as np

from dcglearn.base.types import Floats


def holm(p: Floats) -> Floats:
    """Correct the p-values of several comparisons.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, steps)
    return corrected
