"""Checks that pairs differ in something that can be learned, and that index 0 is the best grade."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np

from dcglearn.base.errors import InputError, InputWarning
from dcglearn.base.types import Floats, Grades
from dcglearn.measures.scale import NO_DOCUMENT, Scale

_SAMPLE = 20_000
_BEYOND_CHANCE = 6


def check_worth_learning(
    pairs: Grades, weights: Floats | None = None, scale: Scale | None = None
) -> None:
    """Refuse pairs from which nothing can be learned.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2, K)
    weights : ndarray of float, shape (n,), optional
        Pairs of weight 0 do not count.
    scale : Scale, optional
        Gives the name of the grade for the message.

    Raises
    ------
    InputError
        If no pair has a weight above 0, all pairs are of identical lists, or only one grade
        occurs.
    """
    counted = pairs if weights is None or (weights > 0).all() else pairs[weights > 0]
    if not len(counted):
        raise InputError(
            "no strict preference" + (": every weight is zero" if len(pairs) else ""),
            "give at least one answer a or b, with weight",
        )
    if not any((some[:, 0] != some[:, 1]).any() for some in _chunks(counted)):
        raise InputError(
            f"all strict preferences ({len(counted):,}) are between identical lists",
            "give pairs whose lists differ",
        )
    worst = counted.max()
    one = not any(((some != worst) & (some != NO_DOCUMENT)).any() for some in _chunks(counted))
    if one and worst != NO_DOCUMENT:
        name = f"index {worst}" if scale is None else scale.labels[worst]
        raise InputError(
            f"only one grade occurs ({name})",
            "judge lists with documents of different grades",
        )


def _chunks(pairs: Grades) -> Iterator[Grades]:
    """Cut pairs into parts: most often the first already shows a difference."""
    return (pairs[row : row + _SAMPLE] for row in range(0, len(pairs), _SAMPLE))


def warn_if_upside_down(pairs: Grades) -> None:
    """Warn if the pairs prove that their grades are not indices, of which 0 is the best.

    A list that is at least as good as another at each rank, and better at one, is better whatever
    the gains and discounts. If people prefer the other one far more often than chance allows, grade
    values (4 the best) were taken for indices, or the preferred list is not the first.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2, K)
        Grade indices, the preferred list first. The first 20,000 are looked at.

    Warns
    -----
    InputWarning
        If the worse list is preferred in most of these pairs, six standard deviations beyond
        chance.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_if_upside_down(np.array([[[2, 1], [1, 0]]] * 50))
    >>> str(found[0].message)[:34]
    'grades seem to be upside down: of '
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
