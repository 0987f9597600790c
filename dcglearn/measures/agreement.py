"""Agreement: how often a measure prefers the same ranking as a judge.

    agreement = mean over pairs of [1 if u(A) > u(B), 1/2 if u(A) = u(B), 0 otherwise]

A is the ranking that the judge preferred, u the measure ("precision" of Zhou, Zha, Xue & Yu, arXiv
1212.5650, section 6.2). Pairs have shape (n, 2, K): grade indices, the preferred ranking first, -1
for no document. A normalised DCG orders the two rankings of a query as the plain one does.
"""

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import finite_array, refuse_large
from dcglearn.base.errors import InputError
from dcglearn.base.types import Booleans, Floats, Grades
from dcglearn.measures.measure import TIE_TOLERANCE, Measure
from dcglearn.measures.names import MeasureLike, as_measure
from dcglearn.measures.scale import checked_grades

_CHUNK = 1 << 16
"""Pairs that are compared at a time, which bounds memory."""


def score_differences(measure: Measure, pairs: ArrayLike) -> Floats:
    """Return u(first) - u(second) of each pair, shape (n,), exactly 0 where they are tied."""
    rows = checked_pairs(pairs, measure.n_grades)
    K = rows.shape[-1]
    padded = np.column_stack([measure.matrix_for(K), np.zeros(K)])  # index -1 is no document
    starts = range(0, len(rows) or 1, _CHUNK)
    return np.concatenate([_differences(padded, rows[k : k + _CHUNK]) for k in starts])


def _differences(weights: Floats, rows: Grades) -> Floats:
    result, ranks = np.zeros(len(rows)), rows.T.copy()  # long rows are faster
    for k, row in enumerate(weights):  # by rank, so that equal terms cancel exactly
        first, second = row.take(ranks[k], mode="wrap")
        result += first - second
    largest = np.abs(weights).max(axis=1) @ (ranks[:, 0] != ranks[:, 1])
    result[np.abs(result) <= TIE_TOLERANCE * largest] = 0.0  # rounding errors
    return result


def outcomes(measure: Measure, pairs: ArrayLike) -> Floats:
    """Return 1 for each pair that the measure orders as judged, 1/2 for ties and 0 otherwise."""
    differences = score_differences(measure, pairs)
    return np.heaviside(differences, 0.5, out=differences)


def agreement_with_ties(
    difference: Floats, tied: Booleans, sample_weight: ArrayLike = 1.0
) -> float:
    """Return the agreement of a measure with all judgments, of which `tied` are ties."""
    weights = np.full(len(difference), sample_weight, float)
    size = np.abs(difference)
    levels, level = np.unique(
        np.round(size / (size.max(initial=0.0) or 1.0), 12), return_inverse=True
    )
    held = np.bincount(level, weights, len(levels))
    before = np.cumsum(held) - held
    room = weights[tied].sum() - before
    called = np.clip(np.divide(room, held, out=np.zeros_like(held), where=held > 0), 0, 1)[level]
    right = np.where(tied, called, (1 - called) * np.heaviside(difference, 0.5))
    return weighted_mean(right, weights)


def weighted_mean(values: Floats, sample_weight: ArrayLike | None) -> float:
    """Return the mean of one value per pair, with weights of 0 or more; None weighs all alike."""
    given = np.ones(len(values)) if sample_weight is None else sample_weight
    weights = one_per_pair(given, len(values), "sample_weight", 0.0)
    total = weights.sum()
    if not total > 0:
        raise InputError("no judgment to count", "give at least one strict preference")
    return float(values @ weights / total)


def agreement(
    measure: MeasureLike, pairs: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the fraction of pairs that the measure orders as judged; ties count 1/2.

    Parameters
    ----------
    measure : DCG, LinearUtility, MeasureFile, or its name
        See :func:`dcglearn.measures.names.as_measure`.
    pairs : array-like of int, shape (n, 2, K)
        The preferred ranking first.
    sample_weight : array-like of float, shape (n,), optional
        How much each pair counts, 1 by default.

    Returns
    -------
    float

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> agreement(DCG([2, 1, 0], "log2"), [[[0, 2], [2, 0]], [[1, 2], [0, 2]]])
    0.5
    """
    return weighted_mean(outcomes(as_measure(measure), pairs), sample_weight)


def checked_pairs(pairs: ArrayLike, n_grades: int) -> Grades:
    """Return pairs of shape (n, 2, K); (n, 2 K) is accepted too, the first ranking first."""
    rows = checked_grades(pairs, n_grades, "pairs")
    if rows.ndim == 2 and rows.shape[1] % 2 == 0:
        rows = rows.reshape(len(rows), 2, -1)
    if rows.ndim != 3 or rows.shape[1] != 2:
        raise InputError(
            f"pairs of shape {rows.shape}", "give (n, 2, K): the preferred ranking first"
        )
    return rows


def one_per_pair(values: ArrayLike, n_pairs: int, name: str, low: float = -np.inf) -> Floats:
    """Check that an argument of this name holds one finite number per pair, `low` or more."""
    found = finite_array(values, name, (n_pairs,), "give one finite number per pair", low)
    refuse_large(found, name)
    return found
