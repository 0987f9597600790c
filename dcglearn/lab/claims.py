"""Verdicts on claims, from 95% confidence intervals.

A claim rests on a few means over repetitions (:mod:`dcglearn.lab.repetitions`). It holds if their
intervals show it, it does not hold if they show the contrary, and it is undecided otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from dcglearn.lab.repetitions import MeanInterval, change_over_range, trend_over_range

ClaimVerdict = Literal["holds", "holds, with a reason", "does not hold", "undecided"]
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = (
    "holds",
    "holds, with a reason",
    "does not hold",
    "undecided",
)


FEW_SHARES = 20
"""Claims on shares are undecided with fewer repetitions."""


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim and what it rests on.

    Attributes
    ----------
    verdict : str
        One of :data:`CLAIM_VERDICTS`.
    intervals : tuple of MeanInterval
        The means that the verdict rests on.
    reason : str
        Why the results differ from the paper's account, where they do; empty otherwise.
    """

    verdict: ClaimVerdict
    intervals: tuple[MeanInterval, ...] = ()
    reason: str = ""


def judge_claim(
    intervals: Sequence[MeanInterval], holds: bool, contradicted: bool, reason: str = ""
) -> Finding:
    """Return the verdict on a claim.

    Parameters
    ----------
    intervals : sequence of MeanInterval
        What the claim rests on. If any of them lacks an interval (fewer than two
        repetitions), the claim is undecided.
    holds : bool
        Whether they show the claim.
    contradicted : bool
        Whether they show the contrary. If neither, the claim is undecided.
    reason : str, optional
        Given where the claim holds only with an explanation; the verdict is then "holds, with
        a reason".

    Returns
    -------
    Finding

    Examples
    --------
    >>> from dcglearn.lab.repetitions import mean_interval
    >>> judge_claim([mean_interval([0.1, 0.2, 0.3])], holds=False, contradicted=False).verdict
    'undecided'
    """
    verdict: ClaimVerdict = "undecided"
    if intervals and not any(np.isnan(interval.low) for interval in intervals):
        if holds:
            verdict = "holds, with a reason" if reason else "holds"
        elif contradicted:
            verdict = "does not hold"
    return Finding(verdict, tuple(intervals), reason if holds else "")


def judge_above_zero(
    intervals: Sequence[MeanInterval], reason: str = "", also: Sequence[MeanInterval] = ()
) -> Finding:
    """Judge the claim that all means are above 0.

    Parameters
    ----------
    intervals : sequence of MeanInterval
        The claim holds if every interval is above 0, does not hold if one of them is at or
        below 0, and is undecided otherwise.
    reason : str, optional
        As in :func:`judge_claim`.
    also : sequence of MeanInterval, optional
        Listed after them; they do not affect the verdict unless one lacks an interval.

    Returns
    -------
    Finding

    Examples
    --------
    >>> from dcglearn.lab.repetitions import mean_interval
    >>> judge_above_zero([mean_interval([0.1, 0.2, 0.3]), mean_interval([-0.31, -0.3])]).verdict
    'does not hold'
    """
    holds = all(interval.low > 0 for interval in intervals)
    contradicted = any(interval.high <= 0 for interval in intervals)
    return judge_claim([*intervals, *also], holds, contradicted, reason)


def judge_between(intervals: Sequence[MeanInterval], low: float, high: float) -> Finding:
    """Judge the claim that all means of shares lie between two limits.

    Parameters
    ----------
    intervals : sequence of MeanInterval
        The claim holds if every mean lies between the limits, does not hold if an interval
        lies outside them entirely, and is undecided otherwise; and with fewer than
        :data:`FEW_SHARES` repetitions, because the spread of a few shares near 0 or 1 says
        nothing.
    low, high : float

    Returns
    -------
    Finding

    Examples
    --------
    >>> from dcglearn.lab.repetitions import mean_interval
    >>> judge_between([mean_interval([0.0, 1.0] * 20)], 0.4, 0.6).verdict
    'holds'
    """
    if any(interval.n < FEW_SHARES for interval in intervals):
        return Finding("undecided", tuple(intervals))
    holds = all(low <= interval.mean <= high for interval in intervals)
    outside = any(interval.high < low or interval.low > high for interval in intervals)
    return judge_claim(intervals, holds, outside)


def rises(table: pd.DataFrame, x: str, y: str, by: str = "truth") -> Finding:
    """Judge the claim that a column rises with another, for every value of a third.

    Parameters
    ----------
    table : DataFrame
        One row per cell.
    x, y, by : str
        The columns: `y` is claimed to rise with `x` for every value of `by`.

    Returns
    -------
    Finding
        On the change of `y` from the smallest to the largest `x`, and on the change along the
        least-squares line through all points (see :func:`judge_above_zero`).
    """
    return judge_above_zero(_changes(table, x, y, by))


def falls(table: pd.DataFrame, x: str, y: str, by: str = "truth") -> Finding:
    """Judge the claim that a column falls as another rises, for every value of a third.

    Parameters
    ----------
    table : DataFrame
        One row per cell.
    x, y, by : str
        The columns: `y` is claimed to fall as `x` rises, for every value of `by`.

    Returns
    -------
    Finding
        On the same changes as :func:`rises`. The claim holds if every interval is below 0,
        does not hold if one of them is at or above 0, and is undecided otherwise.
    """
    intervals = _changes(table, x, y, by)
    holds = all(interval.high < 0 for interval in intervals)
    return judge_claim(intervals, holds, any(interval.low >= 0 for interval in intervals))


def _changes(table: pd.DataFrame, x: str, y: str, by: str) -> list[MeanInterval]:
    return [
        *change_over_range(table, x, y, by).values(),
        *trend_over_range(table, x, y, by).values(),
    ]
