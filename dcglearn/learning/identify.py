"""What pairs of rankings can and cannot determine.

Directions of W that pairs leave undetermined are set by the size penalty w'w (see
:mod:`dcglearn.learning.null_space`). Rank alone does not show them: a few pairs of different
content give X full rank while the penalty still dominates. Each discount and each gain
therefore has a data share (:mod:`dcglearn.learning.data_share`): over all pairs before a fit,
which is an upper bound, and over the active pairs at a given W, because a pair that reaches
its margin no longer contributes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.learning.cones import Cone
from dcglearn.learning.data_share import HALF, NEGLIGIBLE, DataShare, DeterminedGauge
from dcglearn.learning.factorise import factorise
from dcglearn.learning.null_space import null_space
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import Determined, Factors, Identifiability, is_affine
from dcglearn.learning.sums import GramMatrices, gram_matrices, quadratic_model
from dcglearn.measures.discounts import rule_discounts

NULL_TOLERANCE = 1e-6
"""A direction is determined only if at most this share of it lies in the null space of X."""


def identify(
    problem: Problem,
    W: Floats | None = None,
    hessian: Floats | None = None,
    gram: GramMatrices | None = None,
) -> Identifiability:
    """Find out what the pairs of a problem determine.

    Parameters
    ----------
    problem : Problem
        Pairs of weight 0 do not count.
    W : ndarray of float, shape (K, L), optional
        The optimum. Without it, the shares are those of all pairs, at equally spaced gains
        and the discounts 1 / log2(i + 1).
    hessian : ndarray of float, shape (K L, K L), optional
        X_A' V X_A at W, if known; it saves a pass over the pairs.
    gram : GramMatrices, optional
        Of all pairs, if known; it saves another pass.

    Returns
    -------
    Identifiability

    Raises
    ------
    InputError
        If W ties all lists.

    Examples
    --------
    Two grades at two ranks, one pair that swaps them:

    >>> from dcglearn.learning.problem import Problem
    >>> known = identify(Problem.of([[[0, 1], [1, 0]]], 2))
    >>> known.rank, known.same_content, known.free_ranks
    (1, True, (1, 2))
    """
    gram = problem.sum_over_blocks(gram_matrices) if gram is None else gram
    n_ranks, n_grades = problem.shape
    null = null_space(gram, n_grades)
    of_all = DataShare(gram.weighted_gram, problem.C, n_grades, null.constant_grades)
    change = None
    if W is None:
        shares, gauge = of_all, of_all.gauge(null.constant_ranks)
        factors = _typical(of_all, gauge)
    else:
        if hessian is None:
            hessian = problem.sum_over_blocks(quadratic_model, W.ravel()).hessian
        shares = DataShare(hessian, problem.C, n_grades, null.constant_grades)
        gauge = shares.gauge(null.constant_ranks)
        constant, ordered = null.constant_grades, problem.monotone
        factors, after = (
            factorise(one, gauge.gauge, gauge.determined_offsets, constant, ordered)
            for one in (W, W + np.log(2) * _derivative(W, problem.C * hessian, problem.cone))
        )
        gains = (factors.gains - after.gains)[shares.varying]
        moved = np.append(factors.discounts - after.discounts, gains)
        change = float(np.abs(moved).max())

    common = np.outer(np.ones(n_ranks), factors.gains) * shares.varying
    offset = float(shares.share(shares.without_offsets(common, gauge.determined_offsets)))

    def shares_of(directions: Floats) -> tuple[Floats, Floats]:
        inside = shares.in_gauge(directions, gauge)
        return shares.share(inside), of_all.null_part(inside)

    discount, discount_null = shares_of(np.eye(n_ranks)[:, :, None] * factors.gains)
    gain, gain_null = shares_of(np.eye(n_grades)[:, None, :] * factors.discounts[:, None])
    if not is_affine(gauge.gauge):  # then a discount is no surer than their common offset
        discount = np.minimum(discount, offset)
    discount, discount_null = _no_surer_than(discount, discount_null, factors.fixed_discounts)
    gain, gain_null = _no_surer_than(gain, gain_null, factors.fixed_gains)
    return Identifiability(
        **vars(null),
        gauge=gauge.gauge,
        determined_offsets=tuple(gauge.determined_offsets.tolist()),
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
    """Return what determines a number with a data share and a part in the null space of X.

    Where the second is not 0, the number depends on the penalty, however large the share.

    >>> determined_by(0.9, 0.0), determined_by(0.9, 0.2), determined_by(0.3, 0.0)
    ('data', 'ridge', 'ridge')
    >>> determined_by(0.0, 1.0)
    'none'
    """
    if share < NEGLIGIBLE:
        return "none"
    return "data" if share >= HALF and null < NULL_TOLERANCE else "ridge"


def _no_surer_than(share: Floats, null: Floats, fixed: Sequence[int]) -> tuple[Floats, Floats]:
    """Bound shares and null parts by those of the fixed numbers they are relative to."""
    at = list(fixed)
    return np.minimum(share, share[at].min(initial=1.0)), np.maximum(null, null[at].max(initial=0))


def _typical(shares: DataShare, gauge: DeterminedGauge) -> Factors:
    """Return typical factors, where nothing is fitted yet."""
    n_ranks = shares.shape[0]
    varying = np.flatnonzero(shares.varying).tolist()
    return Factors(
        gauge=gauge.gauge,
        fixed_discounts=(0, n_ranks - 1) if is_affine(gauge.gauge) else (0,),
        fixed_gains=tuple(varying[:1] + varying[-1:]),
        singular_values=np.zeros(0),
        discounts=rule_discounts("log2", n_ranks),
        gains=shares.spaced_gains(1.0, 0.0),
    )


def _derivative(W: Floats, CH: Floats, cone: Cone) -> Floats:
    """Return dW / d log C among the matrices with the ties of W, the active set being kept.

    With an orthonormal basis B of these matrices it is B (I + C B'X'VX B)^-1 B'w.
    """
    tie = cone.ties(W)
    B = np.eye(tie[-1] + 1)[tie] / np.sqrt(np.bincount(tie))
    curvature, vectors = np.linalg.eigh(B.T @ CH @ B)
    along = B @ vectors
    change: Floats = along @ (along.T @ W.ravel() / (1 + np.maximum(curvature, 0.0)))
    return change.reshape(W.shape)
