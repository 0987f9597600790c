"""Checks that pairs differ in something that can be learned, and that index 0 is the best grade."""

from __future__ import annotations

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.types import Floats, Grades
from dcglearn.judgments.numbering import count_true
from dcglearn.measures.scale import NO_DOCUMENT

_SAMPLE = 20_000


def check_worth_learning(pairs: Grades, weights: Floats | None = None) -> None:
    """Refuse pairs (n, 2, K) without weight, of identical lists, or of one grade only."""
    if weights is not None and not weights.all():
        pairs = pairs[weights > 0]
    if not len(pairs):
        problem = "no strict preference has a weight above zero"
        raise InputError(problem, "give at least one answer a or b, with weight")
    # most often the first part already shows a difference
    parts = np.array_split(pairs, len(pairs) // _SAMPLE + 1)
    if not any((some[:, 0] != some[:, 1]).any() for some in parts):
        problem = f"all strict preferences ({len(pairs):,}) are between identical lists"
        raise InputError(problem, "give pairs whose lists differ")
    worst = pairs.max()
    if not any(((some != worst) & (some != NO_DOCUMENT)).any() for some in parts):
        raise InputError("only one grade occurs", "judge lists of different grades")


def warn_if_upside_down(pairs: Grades) -> None:
    """Warn if pairs (n, 2, K) prove that their grades are not indices, of which 0 is the best.

    Of lists that are as good at each rank, and better at one, the other one is preferred more often
    than chance allows, by 6 standard errors.
    """
    first, second = pairs[:_SAMPLE, 0], pairs[:_SAMPLE, 1]
    same_ranks = ((first == NO_DOCUMENT) == (second == NO_DOCUMENT)).all(axis=1)
    rises, falls = (first > second).any(axis=1), (first < second).any(axis=1)
    worse = count_true(same_ranks & rises & ~falls)
    compared = count_true(same_ranks & (rises != falls))
    if worse - compared / 2 > 3 * np.sqrt(compared):
        warn_of_input(
            f"grades seem to be upside down: of {compared:,} pairs in which one list is as good at "
            f"every rank, and better at one, the other is preferred in {worse:,}; name the best "
            "grade first in `scale`; arrays hold grade indices, 0 the best, the preferred list "
            "first (values such as 4 for the best become indices by Preferences.from_arrays)"
        )
