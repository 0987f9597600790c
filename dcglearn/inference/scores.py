"""Tests of hypotheses by the scores of clusters.

If a hypothesis holds, the scores u_q of clusters at its estimate, in the d directions that it gives
up and cleared of those that it estimates (efficient scores; Neyman 1959, Rao 1948), have mean 0.
With S = sum_q u_q and V = sum_q u_q u_q',

    T = S' V^-1 S <= Q,      F = (T / d) (Q - P) / (Q - T)

is compared with F(d, Q - P), where Q clusters speak of P parameters: Hotelling's test (Ann. Math.
Stat. 2, 1931), with the degrees of freedom of regression. A query counts as one witness: Q bounds
T, so that few queries never prove much, however many judgments they hold, and one that outweighs
all others proves as little (self-normalised sums: de la Pena, Lai & Shao 2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from dcglearn.base.types import Floats
from dcglearn.inference.covariance import ClusterSums, Part, cluster_sums, inverse_root, ways_of
from dcglearn.inference.likelihood import Bend, Likelihood, Rows

_SEEN = 0.5
"""A direction counts if the judgments give at least this share of its information."""

_ZERO = 1e-8


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
    bend: Bend | None = None,
) -> ScoreTest:
    """Test parameters (P,) at which a hypothesis is estimated.

    `tangent`, (P, q), are the directions that it estimates, among the parameters that are `free`;
    a departure `bend` of m columns is tested beside these parameters.
    """
    information, P = likelihood.information(parameters, bend), len(parameters)
    prior = np.zeros_like(information)
    prior[:P, :P] = likelihood.prior_information(parameters)
    m = len(information) - P
    free = np.append(free, np.ones(m, bool))
    tangent = np.vstack([tangent, np.zeros((m, tangent.shape[1]))]) * free[:, None]
    directions, n_estimated = _beyond(information, prior, tangent, free)
    d = directions.shape[1]
    if not d:
        return ScoreTest(0.0, 0, 0.0, 1.0, np.zeros(len(free)))
    ways = ways_of(likelihood.evidence)[:2]

    def sums(rows: Rows) -> list[Part]:
        judged, rows = rows.judged, rows.departing(bend(rows)) if bend else rows
        u = likelihood.scores(rows, likelihood.terms(parameters, rows)) @ directions
        columns = np.column_stack([u * judged.weights[:, None], np.ones(len(u))])
        return [way.part(judged, columns) for way in ways]

    chunks = likelihood.map(likelihood.evidence, parameters, sums, with_ids=True)
    found = cluster_sums(ways, d + 1, chunks)
    tests = [_hotelling(one, directions, n_estimated + d) for one in found]
    return max(tests, key=lambda one: one.p)


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


def _hotelling(sums: ClusterSums, directions: Floats, n_parameters: int) -> ScoreTest:
    """Test that sums of d scores, and of 1, over clusters have mean 0."""
    (*_, alone), d = sums.total, directions.shape[1]
    total, squares = sums.of_all
    S, V, Q = total[:d], squares[:d, :d], np.count_nonzero(sums.known[:, d]) + alone
    T, df, step = float(S @ np.linalg.pinv(V, hermitian=True) @ S), Q - n_parameters, directions @ S
    if df < 1:
        return ScoreTest(T, 0, 0.0, 1.0, step)
    F = T / d * df / max(Q - T, 1e-300)
    return ScoreTest(T, d, df, float(fdtrc(d, df, F)), step)
