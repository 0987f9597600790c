"""Choosing C: the value whose fits agree best with queries they have not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from dcglearn.base.progress import Advance, silent
from dcglearn.data.preferences import Pairs, query_folds
from dcglearn.learning.learner import DCGLearner
from dcglearn.learning.path import C_GRID
from dcglearn.measures.agreement import outcomes, weighted_mean
from dcglearn.measures.discounts import Floats


@dataclass(frozen=True)
class Choice:
    """The chosen C, and the agreement of every candidate with held-out queries.

    Attributes
    ----------
    C : float
    grid : tuple of float
    agreement : tuple of float
        One a candidate.
    """

    C: float
    grid: tuple[float, ...]
    agreement: tuple[float, ...]


def choose_C(
    learner: DCGLearner,
    pairs: Pairs,
    groups: np.ndarray[tuple[int], np.dtype[np.int64]],
    weights: Floats,
    rng: np.random.Generator,
    n_folds: int = 5,
    grid: tuple[float, ...] = C_GRID,
    use: str = "utility",
    advance: Advance = silent,
) -> Choice:
    """Choose C by cross-validation that keeps a query whole.

    Parameters
    ----------
    learner : DCGLearner
        Its other parameters are kept.
    pairs : ndarray of int, shape (n, 2, K)
        The preferred ranking first.
    groups : ndarray of int, shape (n,)
        The query of each pair.
    weights : ndarray of float, shape (n,)
    rng : numpy.random.Generator
        Shuffles the queries into folds.
    n_folds : int, default 5
        Fewer where there are fewer queries.
    grid : tuple of float
        Candidates, ascending.
    use : {"utility", "dcg"}, default "utility"
        Whose agreement counts: that of W, as in ``DCGLearner.score``, or of its DCG.
    advance : callable
        Called with (fits done, fits in all).

    Returns
    -------
    Choice
        The smallest of the best: among equals, the one that shrinks most.

    Raises
    ------
    InputError
        If there is only one query, or a training part teaches nothing.
    """
    folds = list(query_folds(groups, min(n_folds, max(2, len(np.unique(groups)))), rng))
    found = np.zeros((len(grid), len(pairs)))
    n_grades = learner.problem(pairs).n_grades
    for f, (train, test) in enumerate(folds):
        for c, C in enumerate(grid):
            one = clone(learner).set_params(C=C, n_grades=n_grades)
            one.fit(pairs[train], sample_weight=weights[train])
            measure = one.dcg_ if use == "dcg" else one.utility_
            found[c, test] = outcomes(measure, pairs[test])
            advance(f * len(grid) + c + 1, len(folds) * len(grid))
    scores = tuple(weighted_mean(row, weights) for row in found)
    return Choice(grid[int(np.argmax(scores))], tuple(grid), scores)
