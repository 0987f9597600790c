"""Judges with logistic noise, for experiment files to import: the preferred list comes first.

    x = log_odds * (u(a) - u(b)) / (W[0, 0] - W[0, -1]) + noise

`log_odds` are those of the best grade at the first rank against the worst. Cells that use a judge
hold the hash of this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcglearn.base.types import Floats, Pairs
from dcglearn.lab.decorators import judge
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.measure import Measure


@judge
def lapsing(
    truth: Measure,
    lists: Pairs,
    setting: Any,
    rng: np.random.Generator,
    *,
    log_odds: float = 5.0,
    lapse_share: float = 0.1,
) -> Pairs:
    """Judge with logistic noise, and a share of answers at random."""
    noisy = _perceived(truth, lists, rng, log_odds) > 0
    lapse, guess = rng.random((2, len(lists)))
    first = np.where(lapse < lapse_share, guess < 0.5, noisy)
    return np.where(first[:, None, None], lists, lists[:, ::-1])


@judge
def tying(
    truth: Measure,
    lists: Pairs,
    setting: Any,
    rng: np.random.Generator,
    *,
    log_odds: float = 10.0,
    ties_within: float = 1.0,
) -> Pairs:
    """Judge with logistic noise; differences within a bound are ties, which are left out."""
    seen = _perceived(truth, lists, rng, log_odds)
    best_first = np.where(seen[:, None, None] > 0, lists, lists[:, ::-1])
    return best_first[np.abs(seen) > ties_within]


def _perceived(truth: Measure, lists: Pairs, rng: np.random.Generator, log_odds: float) -> Floats:
    W = truth.matrix_for(lists.shape[2])
    scaled = log_odds * score_differences(truth, lists) / (W[0, 0] - W[0, -1])
    return np.asarray(scaled + rng.logistic(size=len(lists)))
