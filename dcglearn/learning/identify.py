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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.learning.active_set import GramMatrices, gram_matrices, quadratic_model
from dcglearn.learning.data_share import HALF, NEGLIGIBLE, DataShare, DeterminedGauge
from dcglearn.learning.factorise import Factors, factorise
from dcglearn.learning.gauge import Determined, Gauge, is_affine
from dcglearn.learning.null_space import NullSpace, null_space
from dcglearn.learning.problem import Objective
from dcglearn.measures.discounts import rule_discounts

NULL_TOLERANCE = 1e-6
"""A direction is determined only if at most this share of it lies in the null space of X."""


@dataclass(frozen=True)
class Identifiability(NullSpace):
    """What a set of pairs determines.

    The attributes of :class:`dcglearn.learning.null_space.NullSpace`, and

    Attributes
    ----------
    gauge : {"worst", "absolute", "worst order", "absolute order"}
        The gauge in which W is factorised (see :mod:`dcglearn.learning.factorise`).
    determined_offsets : ndarray of bool, shape (K,)
        Ranks whose offset the data determine (lists are empty there).
    offset_share : float
        Data share of a constant added to all discounts.
    discount_share : ndarray of float, shape (K,)
    gain_share : ndarray of float, shape (L,)
        Data share of each discount and gain in the gauge; at most that of the discount or
        gain that it is relative to.
    discount_null : ndarray of float, shape (K,)
    gain_null : ndarray of float, shape (L,)
        The part of each one's direction that lies in the null space of X, from 0 to 1.
    change_on_doubling_c : float or None
        At the optimum: the largest change of a discount or gain if C doubles, to first
        order and with tied grades kept tied: dW / d log C = (I + C X'VX)^-1 W, of the
        active pairs, on the matrices with the ties of W. None before a fit, where the shares
        are those of all pairs.
    """

    gauge: Gauge
    determined_offsets: NDArray[np.bool_]
    offset_share: float
    discount_share: Floats
    gain_share: Floats
    discount_null: Floats
    gain_null: Floats
    change_on_doubling_c: float | None

    @property
    def gains_determined_by(self) -> list[Determined]:
        """What determines each gain (see :func:`determined_by`)."""
        return _each_determined_by(self.gain_share, self.gain_null)

    @property
    def discounts_determined_by(self) -> list[Determined]:
        """What determines each discount (see :func:`determined_by`)."""
        return _each_determined_by(self.discount_share, self.discount_null)


def identify(
    problem: Objective,
    W: Floats | None = None,
    hessian: Floats | None = None,
    gram: GramMatrices | None = None,
) -> Identifiability:
    """Find out what the pairs of a problem determine.

    Parameters
    ----------
    problem : Objective
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
    shares = of_all
    if W is not None:
        if hessian is None:
            hessian = problem.sum_over_blocks(quadratic_model, W.ravel()).hessian
        shares = DataShare(hessian, problem.C, n_grades, null.constant_grades)
    gauge = shares.gauge(null.constant_ranks)
    factors = _typical(shares, gauge) if W is None else _factors(problem, W, gauge, null)

    common = np.outer(np.ones(n_ranks), factors.gains) * shares.varying
    offset = float(shares.share(shares.without_offsets(common, gauge.determined_offsets)))

    def shares_of(directions: Floats) -> Floats:
        inside = shares.in_gauge(directions, gauge)
        return np.column_stack([shares.share(inside), of_all.null_part(inside)])

    discount = shares_of(np.eye(n_ranks)[:, :, None] * factors.gains)
    gain = shares_of(np.eye(n_grades)[:, None, :] * factors.discounts[:, None])
    if not is_affine(gauge.gauge):  # then a discount is no surer than their common offset
        discount[:, 0] = np.minimum(discount[:, 0], offset)
    discount = no_surer_than(discount, factors.fixed_discounts)
    gain = no_surer_than(gain, factors.fixed_gains)
    return Identifiability(
        **vars(null),
        gauge=gauge.gauge,
        determined_offsets=gauge.determined_offsets,
        offset_share=offset,
        discount_share=discount[:, 0],
        gain_share=gain[:, 0],
        discount_null=discount[:, 1],
        gain_null=gain[:, 1],
        change_on_doubling_c=None
        if W is None or hessian is None
        else change_on_doubling(problem, W, hessian, shares, gauge, null),
    )


def determined_by(share: float, null: float) -> Determined:
    """Return what determines a number: ``data``, partly the penalty (``ridge``), or ``none``.

    Parameters
    ----------
    share : float
        Its data share.
    null : float
        The part of its direction in the null space of X. Where it is not 0, the number
        depends on the penalty, however large the share.

    Returns
    -------
    {"data", "ridge", "none"}

    Examples
    --------
    >>> determined_by(0.9, 0.0), determined_by(0.9, 0.2), determined_by(0.3, 0.0)
    ('data', 'ridge', 'ridge')
    >>> determined_by(0.0, 1.0)
    'none'
    """
    if share < NEGLIGIBLE:
        return "none"
    return "data" if share >= HALF and null < NULL_TOLERANCE else "ridge"


def _each_determined_by(shares: Floats, nulls: Floats) -> list[Determined]:
    return [determined_by(*one) for one in zip(shares, nulls, strict=True)]


def no_surer_than(each: Floats, fixed: Sequence[int]) -> Floats:
    """Bound each (share, null part) by those of the fixed numbers it is relative to.

    Parameters
    ----------
    each : ndarray of float, shape (m, 2)
    fixed : sequence of int
        Their rows.

    Returns
    -------
    ndarray of float, shape (m, 2)
    """
    share = np.minimum(each[:, 0], each[list(fixed), 0].min(initial=1.0))
    null = np.maximum(each[:, 1], each[list(fixed), 1].max(initial=0.0))
    return np.column_stack([share, null])


def _factors(problem: Objective, W: Floats, gauge: DeterminedGauge, null: NullSpace) -> Factors:
    return factorise(
        W,
        gauge.gauge,
        gauge.determined_offsets,
        null.constant_grades,
        ordered=problem.monotone,
    )


def _typical(shares: DataShare, gauge: DeterminedGauge) -> Factors:
    """Return typical factors, where nothing is fitted yet."""
    n_ranks = shares.shape[0]
    varying = np.flatnonzero(shares.varying).tolist()
    return Factors(
        discounts=rule_discounts("log2", n_ranks),
        gains=shares.spaced_gains(1.0, 0.0),
        singular_values=np.zeros(0),
        gauge=gauge.gauge,
        fixed_discounts=(0, n_ranks - 1) if is_affine(gauge.gauge) else (0,),
        fixed_gains=tuple(varying[:1] + varying[-1:]),
    )


def change_on_doubling(
    problem: Objective,
    W: Floats,
    hessian: Floats,
    shares: DataShare,
    gauge: DeterminedGauge,
    null: NullSpace,
) -> float:
    """Return the largest change of a gain or discount if C doubles, to first order.

    Parameters
    ----------
    problem : Objective
    W : ndarray of float, shape (K, L)
        The optimum.
    hessian : ndarray of float, shape (K L, K L)
    shares : DataShare
        There.
    gauge : DeterminedGauge
    null : NullSpace

    Returns
    -------
    float
    """
    before = _factors(problem, W, gauge, null)
    change = _derivative(W, problem.C * hessian, problem.monotone)
    after = _factors(problem, W + np.log(2) * change, gauge, null)
    discounts = np.abs(before.discounts - after.discounts)
    gains = np.abs(before.gains - after.gains)[shares.varying]
    return float(max(discounts.max(initial=0.0), gains.max(initial=0.0)))


def _derivative(W: Floats, CH: Floats, monotone: bool) -> Floats:
    """Return dW / d log C among the matrices with the ties of W, the active set being kept.

    With an orthonormal basis B of these matrices it is B (I + C B'X'VX B)^-1 B'w.
    """
    starts = np.ones(W.shape, bool)
    if monotone:
        starts[:, 1:] = W[:, 1:] != W[:, :-1]
    tie = starts.ravel().cumsum() - 1
    B = np.eye(tie[-1] + 1)[tie] / np.sqrt(np.bincount(tie))
    curvature, vectors = np.linalg.eigh(B.T @ CH @ B)
    along = B @ vectors
    change: Floats = along @ (along.T @ W.ravel() / (1 + np.maximum(curvature, 0.0)))
    return change.reshape(W.shape)
