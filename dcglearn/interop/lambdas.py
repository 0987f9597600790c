"""LambdaRank's gradients for any DCG.

Of two documents of a query with gains g_i > g_j, at ranks r_i and r_j by the present scores s,

    delta_ij  = (g_i - g_j) (c_{r_i} - c_{r_j}) / (ideal - worst)
    lambda_ij = -sigma |delta_ij| / (1 + exp(sigma (s_i - s_j)))

is added to the gradient of s_i and subtracted from that of s_j; the second derivative of both is
sigma^2 |delta_ij| rho (1 - rho), rho = 1 / (1 + exp(sigma (s_i - s_j))). It is the gradient of a
logistic loss of each pair, weighted by what exchanging the two documents changes in the measure
(Burges, "From RankNet to LambdaRank to LambdaMART", MSR-TR-2010-82; Wang et al., "The LambdaLoss
framework", CIKM 2018). Pairs are ordered by gain, never by label: equal gains make no pair.

Where discounts never rise, delta_ij is positive where the better document is above. Where a lower
rank counts more than a higher one, exchanging two documents may raise the measure by moving the
better one down. The better document is still moved up, by |delta_ij|: LambdaRank as published.

Queries of the same length are computed together, a block of pairs at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dcglearn.base.types import Floats, Integers

PAIRS_AT_ONCE = 2**17
"""Few enough for the arrays of a block to stay in the processor's cache."""

_APART = 0.01
"""LightGBM divides by this much plus the difference of two scores."""


class Lambdas(NamedTuple):
    """Derivatives of the loss by the scores."""

    gradients: Floats
    hessians: Floats


def blocks_of_lists(sizes: Integers) -> list[tuple[Integers, Integers]]:
    """Group queries by their number of documents, into blocks of few pairs.

    >>> [documents.tolist() for _, documents in blocks_of_lists(np.array([2, 1, 2]))]
    [[[2]], [[0, 1], [3, 4]]]
    """
    starts = np.cumsum(sizes) - sizes
    found = []
    for size in np.unique(sizes[sizes > 0]).tolist():
        queries = np.flatnonzero(sizes == size)
        at_once = max(1, PAIRS_AT_ONCE // size**2)
        for begin in range(0, len(queries), at_once):
            some = queries[begin : begin + at_once]
            found.append((some, starts[some, None] + np.arange(size)))
    return found


def lambdas_of_lists(
    gains: Floats,
    scores: Floats,
    discounts: Floats,
    sigma: float,
    norm: bool,
) -> Lambdas:
    """Return the gradients of lists of one length.

    Two documents in the wrong order, at scores that are equal:

    >>> found = lambdas_of_lists(
    ...     np.array([[0.0, 1.0]]), np.zeros((1, 2)), np.array([1.0, 0.5]), 1.0, False
    ... )
    >>> found.gradients.tolist(), found.hessians.tolist()
    ([[0.25, -0.25]], [[0.125, 0.125]])
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked_gains, ranked_scores = (np.take_along_axis(x, order, 1) for x in (gains, scores))
    found = np.zeros((2, *scores.shape))
    for held, ranked in zip(
        found,
        _lambdas_of_ranked(ranked_gains, ranked_scores, discounts, sigma, norm),
        strict=True,
    ):
        np.put_along_axis(held, order, ranked, 1)
    return Lambdas(*found)


def _lambdas_of_ranked(
    gains: Floats, scores: Floats, discounts: Floats, sigma: float, norm: bool
) -> Lambdas:
    """Sum over pairs (upper, lower) of ranks, a few upper ranks at a time."""
    n_lists, n = scores.shape
    gradients, hessians, total = np.zeros_like(scores), np.zeros_like(scores), np.zeros(n_lists)
    counted = np.flatnonzero(discounts)
    last = min(n - 1, int(counted[-1]) + 1) if len(counted) else 0  # pairs below differ by 0
    step = max(1, min(16, PAIRS_AT_ONCE // n))
    offset = np.where(scores[:, :1] == scores[:, -1:], 1.0, _APART)[:, :, None]
    for begin in range(0, last, step):
        upper, lower = slice(begin, min(begin + step, last)), slice(begin + 1, n)
        drop = np.triu(discounts[upper, None] - discounts[lower])  # each pair once
        better = gains[:, upper, None] - gains[:, None, lower]
        delta = better * drop
        below = better < 0  # the lower one belongs above
        np.abs(delta, out=delta)
        apart = np.abs(scores[:, upper, None] - scores[:, None, lower])
        if norm:
            delta /= apart + offset
        odds = np.exp(np.multiply(apart, -sigma, out=apart), out=apart)
        other = 1.0 / (1.0 + odds)
        rho = np.multiply(odds, other, out=odds)  # the model's, that the lower one belongs above
        curvature = np.multiply(other, rho, out=other)
        curvature *= delta
        rho -= below
        pull = np.multiply(rho, delta, out=rho)  # upwards, on the upper one
        gradients[:, upper] -= pull.sum(axis=2)
        gradients[:, lower] += pull.sum(axis=1)
        hessians[:, upper] += curvature.sum(axis=2)
        hessians[:, lower] += curvature.sum(axis=1)
        if norm:
            total += np.abs(pull, out=pull).sum(axis=(1, 2))
    factor = np.full(n_lists, sigma)
    if norm:
        total *= 2 * sigma
        np.divide(sigma * np.log2(1.0 + total), total, out=factor, where=total > 0)
    gradients *= factor[:, None]
    hessians *= sigma * factor[:, None]
    return Lambdas(gradients, hessians)
