"""Verdicts on claims, from 95% confidence intervals.

A claim rests on a few means over repetitions (:mod:`dcglearn.lab.repetitions`). It holds if their
intervals show it, does not hold if they show the contrary, and is undecided otherwise. A claim that
limits shares, such as coverage, or a bias holds if the means are within (:func:`judge_between`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dcglearn.lab.repetitions import MeanInterval, change_over_range, trend_over_range

ClaimVerdict = Literal[
    "holds", "holds, with a reason", "does not hold", "undecided", "not judged (quick)"
]
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)

QUICK = "It needs the whole grid; these are the numbers of its quick part."
"""The reason given for a claim that a quick run does not judge."""

FEW_SHARES = 20
"""Claims on shares are undecided with fewer repetitions."""


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim, the means it rests on, and why the paper's differ, if they do."""

    verdict: ClaimVerdict
    intervals: tuple[MeanInterval, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim about a figure: whose it is, what is tested here, and the verdict.

    Attributes
    ----------
    tested : str
        What is tested here, in a sentence.
    quote, section : str
        What the paper says, its own words between “ and ”, and where: ``6.3``, ``6.4, inferred`` or
        ``abstract``. Empty if the claim is this project's.
    thresholds : tuple of str
        This project's numbers in the test, with what they limit: ``("close: within 0.02",)``.
    needs_all : bool
        Whether a quick run reports its numbers without a verdict.
    """

    tested: str
    finding: Finding
    quote: str = ""
    section: str = ""
    thresholds: tuple[str, ...] = ()
    needs_all: bool = False

    @property
    def of_paper(self) -> bool:
        """Whether the paper makes the claim; otherwise it is this project's."""
        return bool(self.section)


def judge_claim(
    intervals: Sequence[MeanInterval], holds: bool, contradicted: bool, reason: str = ""
) -> Finding:
    """Return the verdict on a claim."""
    verdict: ClaimVerdict = "undecided"
    if intervals and not any(np.isnan(interval.low) for interval in intervals):
        if holds:
            verdict = "holds, with a reason" if reason else "holds"
        elif contradicted:
            verdict = "does not hold"
    return Finding(verdict, tuple(intervals), reason if holds else "")


def judge_all(
    numbers: Iterable[MeanInterval],
    above: float = -inf,
    below: float = inf,
    also: Iterable[MeanInterval] = (),
    reason: str = "",
) -> Finding:
    """Judge the claim that all means are above a limit, below one, or between two.

    It does not hold if one whole interval is on the other side. `also` is shown and not judged.
    """
    judged = list(numbers)
    holds = bool(judged) and all(one.low > above and one.high < below for one in judged)
    contradicted = any(one.high <= above or one.low >= below for one in judged)
    return judge_claim([*judged, *also], holds, contradicted, reason)


def judge_between(intervals: Sequence[MeanInterval], low: float, high: float) -> Finding:
    """Judge the claim that all means of shares lie between two limits."""
    enough = all(interval.n >= FEW_SHARES for interval in intervals)
    holds = all(low <= interval.mean <= high for interval in intervals)
    outside = any(interval.high < low or interval.low > high for interval in intervals)
    return judge_claim(intervals, enough and holds, enough and outside)


def judge_together(*findings: Finding, reason: str = "") -> Finding:
    """Judge the claim that several claims hold together."""
    verdicts = {one.verdict for one in findings}
    numbers = [number for one in findings for number in one.intervals]
    return judge_claim(numbers, verdicts == {"holds"}, "does not hold" in verdicts, reason)


def falls(table: pd.DataFrame, x: str, y: str) -> Finding:
    """Judge the claim that a column falls as another rises, for every truth."""
    changes = change_over_range(table, x, y)
    return judge_all([*changes, *trend_over_range(table, x, y)], below=0)
