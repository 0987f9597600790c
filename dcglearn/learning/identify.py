"""What pairs of rankings can and cannot determine.

Rank alone does not show it: a few pairs of different content give X full rank while the penalty
w'w still dominates. Each discount and each gain therefore has a data share
(:mod:`dcglearn.learning.data_share`): of all pairs before a fit, which is an upper bound, and of
the active pairs at a given W, because a pair that reaches its margin no longer contributes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.learning.cones import Cone
from dcglearn.learning.data_share import HALF, NEGLIGIBLE, DataShare
from dcglearn.learning.null_space import constant_grades, constant_ranks, null_space
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import Determined, Factors, Identifiability, is_affine
from dcglearn.learning.sums import GramMatrices, gram_matrices
from dcglearn.measures.discounts import rule_discounts

NULL_TOLERANCE = 1e-6
"""A direction is determined only if at most this share of it lies in the null space of X."""


def identify(problem: Problem) -> Identifiability:
    """Find out what the pairs of a problem determine, before a fit.

    Shares are those of all pairs, at equally spaced gains and the discounts 1 / log2(i + 1). Those
    at an optimum are :attr:`dcglearn.learning.fit.Fit.identifiability`.

    Parameters
    ----------
    problem : Problem
        Pairs of weight 0 do not count.

    Returns
    -------
    Identifiability

    Examples
    --------
    Two grades at two ranks, one pair that swaps them:

    >>> from dcglearn.learning.problem import Problem
    >>> known = identify(Problem.of([[[0, 1], [1, 0]]], 2))
    >>> known.rank, known.same_content, known.free_ranks
    (1, True, (1, 2))
    """
    gram = problem.sum_over_blocks(gram_matrices)
    shares = data_share(problem, gram, gram.weighted_gram)
    return identify_at(problem, gram, shares, _typical(shares))


def data_share(problem: Problem, gram: GramMatrices, hessian: Floats) -> DataShare:
    """Return the data shares for the X'VX of some pairs of a problem."""
    L = problem.shape[1]
    constant = constant_grades(gram.gram, L), constant_ranks(gram.gram, L)
    return DataShare(hessian, problem.C, L, *constant)


def identify_at(
    problem: Problem,
    gram: GramMatrices,
    shares: DataShare,
    factors: Factors,
    change: float | None = None,
) -> Identifiability:
    """Find out what pairs determine at some factors, from the shares of the active ones."""
    n_ranks, n_grades = problem.shape
    of_all = data_share(problem, gram, gram.weighted_gram)
    common = np.outer(np.ones(n_ranks), factors.gains) * shares.varying
    offset = float(shares.share(shares.without_offsets(common)))

    def shares_of(directions: Floats) -> tuple[Floats, Floats]:
        inside = shares.in_gauge(directions)
        return shares.share(inside), of_all.null_part(inside)

    discount, discount_null = shares_of(np.eye(n_ranks)[:, :, None] * factors.gains)
    gain, gain_null = shares_of(np.eye(n_grades)[:, None, :] * factors.discounts[:, None])
    if not is_affine(shares.gauge):  # then a discount is no surer than their common offset
        discount = np.minimum(discount, offset)
    discount, discount_null = _no_surer_than(discount, discount_null, factors.fixed_discounts)
    gain, gain_null = _no_surer_than(gain, gain_null, factors.fixed_gains)
    return Identifiability(
        **vars(null_space(gram, n_grades)),
        gauge=shares.gauge,
        determined_offsets=tuple(shares.determined_offsets.tolist()),
        offset_share=offset,
        discount_share=discount,
        gain_share=gain,
        discount_null=discount_null,
        gain_null=gain_null,
        discounts_determined_by=tuple(map(determined_by, discount, discount_null)),
        gains_determined_by=tuple(map(determined_by, gain, gain_null)),
        change_on_doubling_c=change,
    )


def determined_by(share: float, null: float) -> Determined:
    """Return what determines a number; with a part in the null space of X, not the data alone."""
    if share < NEGLIGIBLE:
        return "none"
    return "data" if share >= HALF and null < NULL_TOLERANCE else "ridge"


def _no_surer_than(share: Floats, null: Floats, fixed: Sequence[int]) -> tuple[Floats, Floats]:
    """Bound shares and null parts by those of the fixed numbers they are relative to."""
    at = list(fixed)
    return np.minimum(share, share[at].min(initial=1.0)), np.maximum(null, null[at].max(initial=0))


def _typical(shares: DataShare) -> Factors:
    """Return typical factors, where nothing is fitted yet."""
    n_ranks = shares.shape[0]
    varying = np.flatnonzero(shares.varying).tolist()
    return Factors(
        gauge=shares.gauge,
        fixed_discounts=(0, n_ranks - 1) if is_affine(shares.gauge) else (0,),
        fixed_gains=tuple(varying[:1] + varying[-1:]),
        singular_values=np.zeros(0),
        discounts=rule_discounts("log2", n_ranks),
        gains=shares.spaced_gains(1.0, 0.0),
    )


def derivative(W: Floats, CH: Floats, cone: Cone) -> Floats:
    """Return dW / d log C among the matrices with the ties of W, the active set being kept.

    With an orthonormal basis B of these matrices it is B (I + C B'X'VX B)^-1 B'w.
    """
    tie = cone.ties(W)
    B = np.eye(tie[-1] + 1)[tie] / np.sqrt(np.bincount(tie))
    curvature, vectors = np.linalg.eigh(B.T @ CH @ B)
    along = B @ vectors
    change: Floats = along @ (along.T @ W.ravel() / (1 + np.maximum(curvature, 0.0)))
    return change.reshape(W.shape)
