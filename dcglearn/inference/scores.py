"""Tests of hypotheses by the scores of clusters.

A hypothesis is estimated; if it holds, the scores u_q of clusters, in the d directions that it
gives up and cleared of those that it estimates (efficient scores; Neyman 1959, Rao 1948), have
mean 0. With S = sum_q u_q and V = sum_q u_q u_q',

    T = S' V^-1 S <= Q,      F = (T / d) (Q - P) / (Q - T)

is compared with F(d, Q - P), where Q clusters speak of P parameters: Hotelling's test (Ann. Math.
Stat. 2, 1931), with the degrees of freedom of regression. Whatever happens within a query, it
counts as one witness: Q bounds T, so that few queries never prove much, however many judgments
they hold, and one query that outweighs all others proves as little (self-normalised sums: de la
Pena, Lai & Shao 2009). Nothing is assumed of the alternative, so scores of departures that no
model here has can be tested as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from dcglearn.base.types import Floats, Integers
from dcglearn.inference.covariance import inverse_root, ways_of
from dcglearn.inference.likelihood import Likelihood, Rows

_SEEN = 0.5
"""A direction counts if the judgments give at least this share of its information."""

_ZERO = 1e-8


class Added(NamedTuple):
    """Departures from a model: their scores (n, m), and rows of information (n, answers, m)."""

    scores: Floats
    information: Floats


@dataclass(frozen=True, eq=False)
class ScoreTest:
    """T, its degrees of freedom d and Q - P, and the p-value.

    `step`, (P + m,), is a first estimate of by how much the parameters and what was added depart
    from the hypothesis.
    """

    statistic: float
    df: int
    cluster_df: float
    p: float
    step: Floats


def score_test(
    likelihood: Likelihood,
    parameters: Floats,
    tangent: Floats,
    free: NDArray[np.bool_],
    added: Callable[[Rows], Added] | None = None,
    counted: bool = True,
) -> ScoreTest:
    """Test parameters (P,) at which a hypothesis is estimated.

    `tangent`, (P, q), are the directions that it estimates, among the parameters that are `free`;
    `added` are departures beside these parameters. Equal judgments may be `counted`, unless what is
    added depends on more than their codes.
    """
    evidence = (counted and likelihood.evidence.independent) or likelihood.evidence

    def of(rows: Rows) -> tuple[Floats, Floats]:
        scores, information = likelihood.scores_and_information(parameters, rows)
        if added is None:
            return scores, information
        more = added(rows)
        return np.hstack([scores, more.scores]), np.concatenate([information, more.information], 2)

    def informed(rows: Rows) -> Floats:
        Z = of(rows)[1]
        Z = Z.reshape(-1, Z.shape[2])
        return Z.T @ Z

    information = np.asarray(sum(likelihood.map(evidence, parameters, informed)))
    m = len(information) - len(parameters)
    prior = np.zeros_like(information)
    prior[: len(parameters), : len(parameters)] = likelihood.prior_information(parameters)
    free = np.append(free, np.ones(m, bool))
    tangent = np.vstack([tangent, np.zeros((m, tangent.shape[1]))]) * free[:, None]
    directions, n_estimated = _beyond(information, prior, tangent, free)
    d = directions.shape[1]
    if not d:
        return ScoreTest(0.0, 0, 0.0, 1.0, np.zeros(len(free)))
    ways = ways_of(likelihood.evidence)[:2]

    def sums(rows: Rows) -> list[tuple[Integers, Floats, _Sums]]:
        judged, copies = rows.judged, rows.judged.copies
        u = of(rows)[0] @ directions * (judged.weights / copies)[:, None]
        found = []
        for way in ways:
            own = way.alone(judged)
            alone = u[own] * copies[own, None]
            parts = _Sums(alone.sum(axis=0), alone.T @ u[own], float(copies[own].sum()))
            found.append((*way.sums(judged, np.column_stack([u, np.ones(len(u))])), parts))
        return found

    of_clusters = [np.zeros((way.count, d + 1)) for way in ways]
    alone = [_Sums(np.zeros(d), np.zeros((d, d)), 0.0) for _ in ways]
    for chunk in likelihood.map(evidence, parameters, sums, with_ids=True):
        for i, (numbers, found, parts) in enumerate(chunk):
            of_clusters[i][numbers] += found
            alone[i] = alone[i].plus(parts)
    tests = [
        _hotelling(*both, directions, n_estimated + d)
        for both in zip(of_clusters, alone, strict=True)
    ]
    return max(tests, key=lambda one: one.p)


class _Sums(NamedTuple):
    """Of clusters of one judgment: the sum of their scores, of their squares, and how many."""

    total: Floats
    squares: Floats
    number: float

    def plus(self, other: _Sums) -> _Sums:
        """Return the sums of both."""
        return _Sums(
            self.total + other.total, self.squares + other.squares, self.number + other.number
        )


def _beyond(
    information: Floats, prior: Floats, tangent: Floats, free: NDArray[np.bool_]
) -> tuple[Floats, int]:
    """Return the directions (P, d) beyond a tangent (P, q) that judgments see, and its rank."""
    root = inverse_root(information + prior, free)
    whitened = root.T @ (information + prior) @ tangent
    left, sizes, _ = np.linalg.svd(np.hstack([whitened, np.diag(~free).astype(float)]))
    rank = int((sizes > _ZERO * sizes.max(initial=0.0)).sum())
    complement = root @ left[:, rank:]
    shares, axes = np.linalg.eigh(complement.T @ information @ complement)
    return complement @ axes[:, shares > _SEEN], rank - int((~free).sum())


def _hotelling(
    clusters: Floats,
    alone: _Sums,
    directions: Floats,
    n_parameters: int,
) -> ScoreTest:
    """Test that sums of clusters (clusters, d + 1), counted in the last column, have mean 0."""
    known = clusters[clusters[:, -1] > 0, :-1]
    S = known.sum(axis=0) + alone.total
    V = known.T @ known + alone.squares
    d, Q = len(S), len(known) + alone.number
    T, df, step = float(S @ np.linalg.pinv(V, hermitian=True) @ S), Q - n_parameters, directions @ S
    if df < 1:
        return ScoreTest(T, 0, 0.0, 1.0, step)
    F = T / d * df / max(Q - T, 1e-300)
    return ScoreTest(T, d, df, float(fdtrc(d, df, F)), step)
