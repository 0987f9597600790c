"""Disagreement: how often two parameter sets order pairs of lists, or of runs, differently.

share = (pairs that both order, the other way round) / (all pairs)

What one set ties it does not order, so ties are neither agreement nor disagreement and are
counted apart. Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 4) ask when the share is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.coherence.advantage import advantage_by_step, as_advantage
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import TIE_TOLERANCE


@dataclass(frozen=True)
class Disagreement:
    """How two parameter sets order the same pairs of lists, or of runs.

    Parameters
    ----------
    same : int
        Pairs that both order, alike.
    opposite : int
        Pairs that both order, the other way round.
    tied_by_first, tied_by_second, tied_by_both : int
        Pairs that only the first, only the second, or neither orders.
    """

    same: int
    opposite: int
    tied_by_first: int
    tied_by_second: int
    tied_by_both: int

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        tied = self.tied_by_first + self.tied_by_second + self.tied_by_both
        return self.same + self.opposite + tied

    @property
    def share(self) -> float:
        """The share of all pairs that are ordered the other way round."""
        return self.opposite / self.n_pairs


def disagreement(first: ArrayLike, second: ArrayLike) -> Disagreement:
    """Count the pairs that two parameter sets order differently.

    Parameters
    ----------
    first, second : array-like of float, shape (n,)
        The difference of each pair under each set, 0 where it is tied: of pairs of lists
        from :func:`dcglearn.measures.agreement.score_differences`, of tables from
        :func:`dcg_differences`, of the mean scores of runs from :func:`pair_differences`.

    Returns
    -------
    Disagreement

    Raises
    ------
    InputError
        If there are no pairs, or not one finite number a pair from both.

    Examples
    --------
    >>> disagreement([1, 2, 0, -1], [1, -1, 3, 0])
    Disagreement(same=1, opposite=1, tied_by_first=1, tied_by_second=1, tied_by_both=0)
    """
    one, two = np.sign(np.asarray(first, float)), np.sign(np.asarray(second, float))
    if one.ndim != 1 or one.shape != two.shape or not len(one):
        raise InputError(
            f"differences of shapes {one.shape} and {two.shape}", "give one of each a pair"
        )
    if np.isnan(one + two).any():
        row = int(np.argmax(np.isnan(one + two)))
        raise InputError("a difference is not a number", "use finite numbers", f"row {row}")
    kinds = (one * two == 1, one * two == -1, (one == 0) & (two != 0))
    more = ((one != 0) & (two == 0), (one == 0) & (two == 0))
    return Disagreement(*(int(kind.sum()) for kind in (*kinds, *more)))


def dcg_differences(D: ArrayLike, measure: DCG) -> Floats:
    """Return DCG(A) - DCG(B) of many pairs of lists or runs from their tables.

    Parameters
    ----------
    D : array-like, shape (n, K, L)
        One table of leads a pair.
    measure : DCG
        Without normalisation.

    Returns
    -------
    ndarray of float, shape (n,)
        Exactly 0 where the two are tied.

    Raises
    ------
    InputError
        If the measure is normalised (the queries of a run have different ideals) or its
        gains do not fit.

    Examples
    --------
    >>> dcg_differences([[[0, 1, 0], [-1, 0, 0]]], DCG([3, 2, 0.5], [1.5, 0.5]))
    array([1.])
    """
    if measure.normalise is not None:
        raise InputError(f"a table has no ideal for {measure}", "use the plain DCG")
    table = as_advantage(D, many=True)
    discounts = measure.discounts_for(table.shape[-2])
    found: Floats = advantage_by_step(table, np.array(measure.gains), discounts)[..., 0, 0]
    return found


def pair_differences(scores: ArrayLike) -> Floats:
    """Return score_i - score_j of all pairs i < j, exactly 0 where they are tied.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
        Such as the mean nDCG of each run.

    Returns
    -------
    ndarray of float, shape (n (n - 1) / 2,)
        Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...

    Examples
    --------
    >>> pair_differences([3.0, 1.0, 1.0])
    array([2., 2., 0.])
    """
    values = np.asarray(scores, float)
    i, j = np.triu_indices(len(values), 1)
    found: Floats = values[i] - values[j]
    found[np.abs(found) <= TIE_TOLERANCE * np.maximum(np.abs(values[i]), np.abs(values[j]))] = 0.0
    return found
