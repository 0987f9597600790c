"""What measures say of judgments that they were not learned from: repeated cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Integers
from dcglearn.correlation.agreement import (
    agreement_with_ties,
    outcomes_of_differences,
    weighted_mean,
)
from dcglearn.judgments.folds import group_numbers, query_folds
from dcglearn.judgments.preferences import Preferences
from dcglearn.learning.choose_c import choose_C
from dcglearn.learning.core_learner import CoreLearner
from dcglearn.learning.fit import fit
from dcglearn.learning.folds import naming_fold
from dcglearn.learning.judged_agreement import judged_differences
from dcglearn.measures.measure import Measure
from dcglearn.naming.measure_files import MeasurePart


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a measure says of judgments.

    Attributes
    ----------
    right : ndarray of float, shape (n,)
        1 for each strict judgment that it agrees with, 1/2 for a tie and 0 otherwise, averaged
        over the repeats.
    shares : ndarray of float, shape (R,)
        Agreement in each repeat; one number for a measure that was not learned.
    with_ties : float or None
        Agreement with all judgments (:func:`~dcglearn.correlation.agreement.agreement_with_ties`),
        averaged over the repeats; None if none is a tie.
    counts : (float, float, float)
        The number of strict judgments that it orders as judged, ties, and orders otherwise,
        averaged over the repeats.
    """

    right: Floats
    shares: Floats
    with_ties: float | None
    counts: tuple[float, float, float]

    @classmethod
    def of(cls, differences: Floats, data: Preferences) -> Predictions:
        """Average over repeats.

        Parameters
        ----------
        differences : ndarray of float, shape (R, judgments)
            u(preferred) - u(other), in a unit of its own in each repeat.
        data : Preferences

        Returns
        -------
        Predictions
        """
        right = outcomes_of_differences(differences[:, data.strict])
        shares = right @ (data.pair_weights / data.pair_weights.sum())
        won, tied, lost = ((right == one).sum(axis=1).mean() for one in (1, 0.5, 0))
        counts = float(won), float(tied), float(lost)
        if data.strict.all():
            return cls(right.mean(axis=0), shares, None, counts)
        ties = [agreement_with_ties(one, ~data.strict, data.weights) for one in differences]
        return cls(right.mean(axis=0), shares, float(np.mean(ties)), counts)


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Predictions of both learned measures for judgments of queries they did not learn from.

    Attributes
    ----------
    dcg, utility : Predictions
    n_folds : int
    C : tuple of float
        The C of each fit.
    """

    dcg: Predictions
    utility: Predictions
    n_folds: int
    C: tuple[float, ...]


def predict_held_out(
    data: Preferences,
    learner: CoreLearner,
    rng: np.random.Generator,
    n_folds: int = 10,
    n_repeats: int = 10,
    tune: MeasurePart | None = None,
    advance: Advance = silent,
) -> CrossValidation:
    """Predict every judgment by measures learned without its query, several times.

    Parameters
    ----------
    data : Preferences
        Of weights above 0.
    learner : DCGLearner or CoreLearner
        Knows the number of grades.
    rng : numpy.random.Generator
        Draws the folds.
    n_folds : int, default 10
        Fewer if there are fewer queries.
    n_repeats : int, default 10
        How often the queries are divided into folds anew.
    tune : {"dcg", "utility"}, optional
        Choose C in the training part of each fold, by the agreement of this measure in one
        cross-validation within it. By default C is the learner's.
    advance : callable
        Called with (fits done, fits in all).

    Returns
    -------
    CrossValidation

    Raises
    ------
    InputError
        If there is only one query, or nothing can be learned from a training part.
    """
    groups, problem = data.pair_groups, learner.problem(data.pairs, data.pair_weights)
    k = min(n_folds, max(2, len(np.unique(groups))))
    dcg, utility = np.zeros((2, n_repeats, len(data)))
    chosen = []
    for repeat in range(n_repeats):
        folds = list(query_folds(groups, k, rng))
        fold = _folds_of_judgments(data, [test for _, test in folds])
        for f, (train, _) in enumerate(folds):
            with naming_fold(f + 1, k):
                part = problem.take(train)
                if tune is not None:
                    choice = choose_C(
                        part, groups[train], rng, solver=learner.solver, use=tune, n_repeats=1
                    )
                    part = part.with_C(choice.C)
                learned = fit(part, learner.solver)
                measures = learned.dcg, learned.utility
            chosen.append(float(part.C))
            held_out = fold == f
            dcg[repeat, held_out] = _in_own_unit(measures[0], data)[held_out]
            utility[repeat, held_out] = _in_own_unit(measures[1], data)[held_out]
            advance(repeat * k + f + 1, n_repeats * k)
    return CrossValidation(
        Predictions.of(dcg, data), Predictions.of(utility, data), k, tuple(chosen)
    )


def _in_own_unit(measure: Measure, data: Preferences) -> Floats:
    """Return u(preferred) - u(other) by their root mean square: folds differ in the size of W."""
    lead = judged_differences(measure, data)
    return lead / (weighted_mean(lead**2, data.weights) ** 0.5 or 1.0)


def _folds_of_judgments(data: Preferences, tests: Sequence[NDArray[np.intp]]) -> Integers:
    """Return the fold of every judgment: ties follow the strict judgments of their query.

    A query without strict judgments trains nothing, so that any fold can predict its ties.
    """
    every = group_numbers(data.queries)
    of_query = np.arange(every.max() + 1) % len(tests)
    strict = every[data.strict]
    for f, test in enumerate(tests):
        of_query[strict[test]] = f
    return np.asarray(of_query[every])
