"""Checks that pairs differ in something that can be learned, and that index 0 is the best grade."""

from __future__ import annotations

import math
import warnings

import numpy as np

from dcglearn.base.errors import InputError, InputWarning
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.scale import NO_DOCUMENT, Scale

_SAMPLE = 20_000
_BEYOND_CHANCE = 6


def check_worth_learning(
    pairs: Grades, weights: Floats | None = None, scale: Scale | None = None
) -> None:
    """Refuse pairs (n, 2, K) without weight, of identical lists, or of one grade only."""
    counted = pairs if weights is None or (weights > 0).all() else pairs[weights > 0]
    if not len(counted):
        raise InputError(
            "no strict preference" + (": every weight is zero" if len(pairs) else ""),
            "give at least one answer a or b, with weight",
        )
    # most often the first part already shows a difference
    parts = [counted[row : row + _SAMPLE] for row in range(0, len(counted), _SAMPLE)]
    if not any((some[:, 0] != some[:, 1]).any() for some in parts):
        raise InputError(
            f"all strict preferences ({len(counted):,}) are between identical lists",
            "give pairs whose lists differ",
        )
    worst = counted.max()
    one = not any(((some != worst) & (some != NO_DOCUMENT)).any() for some in parts)
    if one and worst != NO_DOCUMENT:
        name = f"index {worst}" if scale is None else scale.labels[worst]
        raise InputError(
            f"only one grade occurs ({name})",
            "judge lists with documents of different grades",
        )


def warn_if_upside_down(pairs: Grades) -> None:
    """Warn if pairs (n, 2, K) prove that their grades are not indices, of which 0 is the best.

    A list that is at least as good as another at each rank, and better at one, is better whatever
    the gains and discounts. If people prefer the other one far more often than chance allows, grade
    values (4 the best) were taken for indices, or the preferred list is not the first.
    """
    first, second = pairs[:_SAMPLE, 0], pairs[:_SAMPLE, 1]
    same_ranks = ((first == NO_DOCUMENT) == (second == NO_DOCUMENT)).all(axis=1)
    rises, falls = (first > second).any(axis=1), (first < second).any(axis=1)
    worse = int(np.count_nonzero(same_ranks & rises & ~falls))
    compared = int(np.count_nonzero(same_ranks & (rises != falls)))
    if worse - compared / 2 > _BEYOND_CHANCE * math.sqrt(compared) / 2:
        warnings.warn(
            f"grades seem to be upside down: of {compared:,} pairs in which one list is as good at "
            f"every rank, and better at one, the other is preferred in {worse:,}; name the best "
            "grade first in `scale`; arrays hold grade indices, 0 the best, the preferred list "
            "first (values such as 4 for the best become indices by Preferences.from_arrays)",
            InputWarning,
            stacklevel=4,
        )
