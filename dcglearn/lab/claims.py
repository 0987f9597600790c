"""What an experiment found: curves with bands, and verdicts on claims.

A claim holds, or does not, if the 95% intervals of the numbers that it rests on say so
(:mod:`dcglearn.lab.repetitions`); where they do not say, it is undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from dcglearn.lab.repetitions import Number, along, trend

ClaimVerdict = Literal["holds", "holds, with a reason", "does not hold", "undecided"]
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = (
    "holds",
    "holds, with a reason",
    "does not hold",
    "undecided",
)


@dataclass(frozen=True)
class Finding:
    """A claim, judged.

    Attributes
    ----------
    verdict : str
        One of :data:`CLAIM_VERDICTS`.
    numbers : tuple of Number
        What it rests on.
    reason : str
        Why an honest replication differs, where it does.
    """

    verdict: ClaimVerdict
    numbers: tuple[Number, ...] = ()
    reason: str = ""


def finding_of(
    numbers: Sequence[Number], holds: bool, contradicted: bool, reason: str = ""
) -> Finding:
    """Return the finding on a claim.

    Parameters
    ----------
    numbers : sequence of Number
        What it rests on; without intervals for all of them it is undecided.
    holds : bool
        Whether they show the claim.
    contradicted : bool
        Whether they show the contrary; if neither, it is undecided.
    reason : str
        Where the claim holds only with one.

    Returns
    -------
    Finding

    Examples
    --------
    >>> from dcglearn.lab.repetitions import mean_of
    >>> finding_of([mean_of([0.1, 0.2, 0.3])], holds=False, contradicted=False).verdict
    'undecided'
    """
    verdict: ClaimVerdict = "undecided"
    if numbers and not any(np.isnan(number.low) for number in numbers):
        if holds:
            verdict = "holds, with a reason" if reason else "holds"
        elif contradicted:
            verdict = "does not hold"
    return Finding(verdict, tuple(numbers), reason if holds else "")


def rising(numbers: Sequence[Number], reason: str = "", also: Sequence[Number] = ()) -> Finding:
    """Judge the claim that all differences are above 0.

    Parameters
    ----------
    numbers : sequence of Number
        It holds if all intervals are above 0, does not if one is at or below 0, and is
        undecided between.
    reason : str
    also : sequence of Number
        Shown after them, and not judged.

    Returns
    -------
    Finding

    Examples
    --------
    >>> from dcglearn.lab.repetitions import mean_of
    >>> rising([mean_of([0.1, 0.2, 0.3]), mean_of([-0.31, -0.3])]).verdict
    'does not hold'
    """
    holds = all(number.low > 0 for number in numbers)
    contradicted = any(number.high <= 0 for number in numbers)
    return finding_of([*numbers, *also], holds, contradicted, reason)


def rises(table: pd.DataFrame, x: str, y: str, by: str = "truth") -> Finding:
    """Judge the claim that a column rises with another, for every value of `by`.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str

    Returns
    -------
    Finding
        On the change from the least to the largest x, and on the straight line through all
        of them (see :func:`rising`).
    """
    return rising(_changes(table, x, y, by))


def falls(table: pd.DataFrame, x: str, y: str, by: str = "truth") -> Finding:
    """Judge the claim that a column falls as another rises, for every value of `by`.

    Parameters
    ----------
    table : DataFrame
    x, y, by : str

    Returns
    -------
    Finding
        On the change from the least to the largest x, and on the straight line through all
        of them: it holds if all intervals are below 0, does not if one is at or above 0, and
        is undecided between.
    """
    numbers = _changes(table, x, y, by)
    holds = all(number.high < 0 for number in numbers)
    return finding_of(numbers, holds, any(number.low >= 0 for number in numbers))


def _changes(table: pd.DataFrame, x: str, y: str, by: str) -> list[Number]:
    return [*along(table, x, y, by).values(), *trend(table, x, y, by).values()]
