"""LambdaRank's gradients for any DCG.

Of two documents of a query with gains g_i > g_j, at ranks r_i and r_j by the present scores s,

    delta_ij  = (g_i - g_j) (c_{r_i} - c_{r_j}) / (ideal - worst)
    lambda_ij = -sigma |delta_ij| / (1 + exp(sigma (s_i - s_j)))

is added to the gradient of s_i and subtracted from that of s_j; the second derivative of both is
sigma^2 |delta_ij| rho (1 - rho), rho = 1 / (1 + exp(sigma (s_i - s_j))). It is the gradient of a
logistic loss of each pair, weighted by what exchanging the two documents changes in the measure
(Burges, "From RankNet to LambdaRank to LambdaMART", MSR-TR-2010-82; Wang et al., "The LambdaLoss
framework", CIKM 2018). Pairs are ordered by gain, never by label: equal gains make no pair.

Where discounts never rise, a document with a larger gain belongs above one with a smaller gain.
Where a lower rank counts more than a higher one, exchanging two documents may raise the measure
by moving the better one down. ``rising`` decides then: "exchange" orders such a pair as the
measure asks at these ranks (sign of delta_ij), so that the ideal ranking is at rest; "gain" moves
the better document up, as LambdaRank does with an absolute value.

Queries of the same length are computed together, a block of pairs at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from dcglearn.base.types import Floats, Integers

Rising = Literal["exchange", "gain"]

RISING: tuple[Rising, ...] = ("exchange", "gain")
"""How to order a pair of ranks of which the lower one counts more."""

PAIRS_AT_ONCE = 2**17
"""Few enough for the arrays of a block to stay in the processor's cache."""

_APART = 0.01
"""LightGBM divides by this much plus the difference of two scores."""


class Lambdas(NamedTuple):
    """Derivatives of the loss by the scores.

    Parameters
    ----------
    gradients, hessians : ndarray of float
    """

    gradients: Floats
    hessians: Floats


def same_length(sizes: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Group queries by their number of documents.

    Parameters
    ----------
    sizes : ndarray of int, shape (Q,)
        Documents of each query, which follow one another.

    Yields
    ------
    queries : ndarray of int, shape (B,)
    documents : ndarray of int, shape (B, N)
        The position of each document of these queries.

    Examples
    --------
    >>> [documents.tolist() for _, documents in same_length(np.array([2, 1, 2]))]
    [[[2]], [[0, 1], [3, 4]]]
    """
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]).tolist():
        queries = np.flatnonzero(sizes == size)
        yield queries, starts[queries, None] + np.arange(size)


def lambdas_of_lists(
    gains: Floats,
    scores: Floats,
    discounts: Floats,
    sigma: float,
    norm: bool,
    rising: Rising,
) -> Lambdas:
    """Return the gradients of lists of one length.

    Parameters
    ----------
    gains, scores : ndarray of float, shape (B, N)
        Gains divided by the measure's range for the query. Equal scores keep their order.
    discounts : ndarray of float, shape (N,)
        0 below the cutoff.
    sigma : float
    norm : bool
        See :func:`dcglearn.interop.training.lambdarank_objective`.
    rising : {"exchange", "gain"}

    Returns
    -------
    Lambdas
        Each of shape (B, N).

    Examples
    --------
    Two documents in the wrong order, at scores that are equal:

    >>> found = lambdas_of_lists(
    ...     np.array([[0.0, 1.0]]), np.zeros((1, 2)), np.array([1.0, 0.5]), 1.0, False, "exchange"
    ... )
    >>> found.gradients.tolist(), found.hessians.tolist()
    ([[0.25, -0.25]], [[0.125, 0.125]])
    """
    n_lists, n = scores.shape
    gradients, hessians = np.zeros((2, n_lists, n))
    at_once = max(1, PAIRS_AT_ONCE // (n * n))
    for begin in range(0, n_lists, at_once):
        block = slice(begin, begin + at_once)
        order = np.argsort(-scores[block], axis=1, kind="stable")
        ranked = _lambdas_of_ranked(
            np.take_along_axis(gains[block], order, 1),
            np.take_along_axis(scores[block], order, 1),
            discounts,
            sigma,
            norm,
            rising,
        )
        np.put_along_axis(gradients[block], order, ranked.gradients, 1)
        np.put_along_axis(hessians[block], order, ranked.hessians, 1)
    return Lambdas(gradients, hessians)


def _lambdas_of_ranked(
    gains: Floats, scores: Floats, discounts: Floats, sigma: float, norm: bool, rising: Rising
) -> Lambdas:
    """Sum over pairs (upper, lower) of ranks, a few upper ranks at a time."""
    n_lists, n = scores.shape
    gradients, hessians, total = np.zeros_like(scores), np.zeros_like(scores), np.zeros(n_lists)
    counted = np.flatnonzero(discounts)
    last = min(n - 1, int(counted[-1]) + 1) if len(counted) else 0  # pairs below differ by 0
    step = max(1, min(16, PAIRS_AT_ONCE // n))
    spread = norm & (scores[:, :1] != scores[:, -1:])
    for begin in range(0, last, step):
        upper, lower = slice(begin, min(begin + step, last)), slice(begin + 1, n)
        drop = np.triu(discounts[upper, None] - discounts[lower])  # each pair once
        better = gains[:, upper, None] - gains[:, None, lower]
        delta = better * drop
        below = (delta if rising == "exchange" else better) < 0  # the lower one belongs above
        np.abs(delta, out=delta)
        apart = scores[:, upper, None] - scores[:, None, lower]
        if norm:
            delta /= np.where(spread[:, :, None], _APART + np.abs(apart), 1.0)
        rho = np.exp(-sigma * np.maximum(apart, 0.0))
        rho /= 1.0 + rho  # the model's probability that the lower one belongs above
        curvature = delta * rho * (1.0 - rho)
        rho -= below
        pull = delta * rho  # upwards, on the upper one
        gradients[:, upper] -= pull.sum(axis=2)
        gradients[:, lower] += pull.sum(axis=1)
        hessians[:, upper] += curvature.sum(axis=2)
        hessians[:, lower] += curvature.sum(axis=1)
        total += np.abs(pull).sum(axis=(1, 2))
    factor = np.full(n_lists, sigma)
    if norm:
        total *= 2 * sigma
        np.divide(sigma * np.log2(1.0 + total), total, out=factor, where=total > 0)
    gradients *= factor[:, None]
    hessians *= sigma * factor[:, None]
    return Lambdas(gradients, hessians)
