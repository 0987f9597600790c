"""Agreement with judges of a measure that is given, read or named."""

from __future__ import annotations

from numpy.typing import ArrayLike

from dcglearn.measures.agreement import outcomes, weighted_mean
from dcglearn.naming.names import MeasureLike, as_measure


def agreement(
    measure: MeasureLike, pairs: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the fraction of pairs that the measure orders as judged; ties count 1/2.

    Parameters
    ----------
    measure : DCG, LinearUtility, MeasureFile, or its name
        See :func:`dcglearn.naming.names.as_measure`.
    pairs : array-like of int, shape (n, 2, K)
        The preferred ranking first.
    sample_weight : array-like of float, shape (n,), optional
        How much each pair counts, 1 by default.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If there are no pairs, or the weights sum to 0.

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> agreement(DCG([2, 1, 0], "log2"), [[[0, 2], [2, 0]], [[1, 2], [0, 2]]])
    0.5
    """
    return weighted_mean(outcomes(as_measure(measure), pairs), sample_weight)
