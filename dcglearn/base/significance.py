"""Means of differences over queries, and the correction of several comparisons.

P-values are corrected by Holm's step-down method (Scand. J. Statist. 6, 1979).
"""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np

from dcglearn.base.types import Floats

PairedTest = Literal["randomisation", "t"]
PAIRED_TESTS: tuple[PairedTest, ...] = ("randomisation", "t")


def mean_of_counted(values: Floats) -> Floats:
    """Return the mean over the last axis of the numbers that are not nan; nan without any."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
        return np.asarray(np.nanmean(values, axis=-1))


def holm(p: Floats) -> Floats:
    """Correct the p-values of several comparisons by Holm's step-down method.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, steps)
    return corrected
