"""Why two measures differ on two lists: rank by rank, and gains apart from discounts.

    W_1(a) - W_1(b) = sum_k (W_1[k, a_k] - W_1[k, b_k])

Each term is one rank's say. Where the measures are DCGs, each may be given the gains of one and
the discounts of the other: the part whose exchange turns the verdict round is the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import TIE_TOLERANCE, Measure
from dcglearn.measures.scale import NO_DOCUMENT, checked_grades

MOST_LISTS = 400
"""All lists are tried for an example up to so many."""


@dataclass(frozen=True)
class Explanation:
    """What two measures say of two lists.

    Attributes
    ----------
    terms : ndarray of float, shape (2, K)
        What each rank contributes to the lead of a over b, by measure, divided by the sum of
        the contributions without their signs: shares of that measure's say.
    leads : tuple of float
        The lead of a over b by each measure, in its own units.
    winners : tuple of str
        "a", "b" or "equal", by each measure.
    exchanged : tuple of str, or None
        The winner with the first measure's gains and the second's discounts, and the
        reverse; None where one of them is no DCG.
    """

    terms: Floats
    leads: tuple[float, float]
    winners: tuple[str, str]
    exchanged: tuple[str, str] | None

    @property
    def agree(self) -> bool:
        """Whether both measures prefer the same list."""
        return self.winners[0] == self.winners[1]

    @property
    def reason(self) -> str:
        """What parts them: "gains", "discounts", "either", "both together", or "" if nothing.

        "either": exchanging gains alone turns the verdict round, and so do discounts alone.
        """
        if self.agree or self.exchanged is None:
            return ""
        second = self.winners[1]
        gains_of_first, gains_of_second = self.exchanged
        discounts_alone = gains_of_first == second  # only the discounts are the second's
        gains_alone = gains_of_second == second
        if gains_alone and discounts_alone:
            return "either"
        if gains_alone or discounts_alone:
            return "gains" if gains_alone else "discounts"
        return "both together"


def explain(first: Measure, second: Measure, a: ArrayLike, b: ArrayLike) -> Explanation:
    """Take two measures' verdicts on two lists apart.

    Parameters
    ----------
    first, second : DCG or LinearUtility
        Of the same grades; a normalised DCG counts as the plain one, which orders lists of one
        query alike.
    a, b : array-like of int, shape (K,)
        Grade indices, the first rank first, -1 for no document.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        If the lists are of different length, or a measure does not fit them.

    Examples
    --------
    >>> steep, flat = DCG([3, 1, 0], "zipf"), DCG([3, 2, 0], "zipf")
    >>> found = explain(steep, flat, [0, 2, 2], [1, 1, 2])
    >>> found.winners, found.reason
    (('a', 'equal'), 'gains')
    """
    if first.n_grades != second.n_grades:
        raise InputError(
            f"measures of {first.n_grades} and {second.n_grades} grades", "use one scale"
        )
    lists = [
        checked_grades(rows, first.n_grades, f"list {name}") for name, rows in (("a", a), ("b", b))
    ]
    if lists[0].ndim != 1 or lists[0].shape != lists[1].shape:
        raise InputError(
            f"lists of shape {lists[0].shape} and {lists[1].shape}",
            "give two lists of one length, short ones filled up with -1",
        )
    terms = np.array([_terms(measure, *lists) for measure in (first, second)])
    sizes = np.abs(terms).sum(axis=1)
    exchanged = None
    if isinstance(first, DCG) and isinstance(second, DCG):
        K = len(lists[0])
        c, d = first.discounts_for(K), second.discounts_for(K)
        mixed = DCG(first.gains, d), DCG(second.gains, c)
        exchanged = (_winner(_terms(mixed[0], *lists)), _winner(_terms(mixed[1], *lists)))
    shares = terms / np.where(sizes > 0, sizes, 1.0)[:, None]
    leads = float(terms[0].sum()), float(terms[1].sum())
    return Explanation(shares, leads, (_winner(terms[0]), _winner(terms[1])), exchanged)


def clearest_example(
    first: Measure, second: Measure, n_ranks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Find two lists on which two measures differ as clearly as can be.

    Parameters
    ----------
    first, second : DCG or LinearUtility
        Of the same grades.
    n_ranks : int
        K of the lists. Of more ranks than :data:`MOST_LISTS` lists have, the others hold no
        document.

    Returns
    -------
    (a, b) : ndarrays of int, shape (K,), or None
        The first measure prefers a, the second b; None where no two such lists part them.

    Examples
    --------
    >>> a, b = clearest_example(DCG([3, 1, 0], "zipf"), DCG([3, 2.9, 0], "zipf"), 2)
    >>> a.tolist(), b.tolist()
    ([0, 2], [1, 1])
    """
    L, filled = first.n_grades, 1
    while filled < n_ranks and L ** (filled + 1) <= MOST_LISTS:
        filled += 1
    some = np.array(list(product(range(L), repeat=filled)))
    lists = np.full((len(some), n_ranks), NO_DOCUMENT)
    lists[:, :filled] = some
    leads = []
    for measure in (first, second):
        plain = measure.plain() if isinstance(measure, DCG) else measure
        value = plain.score(lists)
        lead = value[:, None] - value
        leads.append(lead / (np.abs(lead).max() or 1.0))
    parted = np.minimum(leads[0], -leads[1])
    if parted.max() <= TIE_TOLERANCE:
        return None
    i, j = np.unravel_index(int(parted.argmax()), parted.shape)
    return lists[i], lists[j]


def _terms(measure: Measure, a: NDArray[np.integer], b: NDArray[np.integer]) -> Floats:
    """Return what each rank contributes to the lead of a over b, shape (K,)."""
    plain = measure.plain() if isinstance(measure, DCG) else measure
    W = np.column_stack([plain.matrix_for(len(a)), np.zeros(len(a))])  # the last: no document
    ranks = np.arange(len(a))
    found: Floats = W[ranks, a] - W[ranks, b]
    return found


def _winner(terms: Floats) -> str:
    lead, size = float(terms.sum()), float(np.abs(terms).sum())
    if abs(lead) <= TIE_TOLERANCE * size:
        return "equal"
    return "a" if lead > 0 else "b"
