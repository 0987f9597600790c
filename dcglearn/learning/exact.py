"""The optimum and its certificate in integers, for problems that are too stiff for floats.

Double precision cannot certify an answer if C sum_i v_i r_i is many orders of magnitude larger
than W. Numbers are then integers times 2^-400. The active set is that of the exact residuals;
sums over it are exact, because the weights are split into parts with so few bits that no sum
of a part rounds (Rump, Ogita & Oishi, "Accurate Floating-Point Summation", SIAM Journal on
Scientific Computing 31, 2008). From the point w reached so far, with q and P(q) as in
:mod:`dcglearn.learning.certificate`, the next point is the minimum of the quadratic model at w in
the cone, until the duality gap vanishes.

Limits: 10,000 random problems with up to 9 pairs, weights from 10^-12 to 10^12 and C from 10^-8
to 10^10 (up to 10^12 without weights) are all solved, to within the stated bounds of the exact
rational optimum. More than 500 unknowns are not solved here, and neither are active sets that
do not settle in about a minute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats
from dcglearn.learning.active_set import Additive
from dcglearn.learning.certificate import UNIT_ROUNDOFF, Certificate, certify, project
from dcglearn.learning.codes import Block
from dcglearn.learning.fixed_point import (
    PLACES,
    FixedPoint,
    eliminate,
    exact_product,
    exactly_summable_parts,
    nearest_descending,
    root_of_fixed,
    scale_fixed,
    to_fixed,
    to_floats,
)
from dcglearn.learning.problem import Objective

MAX_EXACT_ROUNDS = 30
MAX_EXCHANGES = 200
SLACK = 1 << (PLACES // 2)
"""Multipliers above -2^-200 count as 0: rounding at the last places."""

MAX_EXACT_UNKNOWNS = 500
"""Elimination with 500 unknowns takes about 2 s."""

MAX_EXACT_WORK = 3 * 10**9
"""Upper limit of the sum of the cubes of the sizes of all eliminations: about a minute."""

LEAST_EXACT = 2.0**-140
"""The product of two numbers of at least this size has no bits below 2^-400."""


class _End(NamedTuple):
    """The last point w, and what is known there.

    Attributes
    ----------
    w, q, target : ndarray of int, shape (K L,)
        The last is P(q).
    lost : int
        A bound on the sum of the rounding errors of q, in units of 2^-400.
    weight : int
        The sum of all weights.
    optimal : bool
        Whether the gap vanishes.
    """

    w: FixedPoint
    q: FixedPoint
    target: FixedPoint
    lost: int
    weight: int
    optimal: bool


@dataclass(frozen=True, repr=False)
class ExactModel(Additive):
    """The quadratic model of the loss at some w, in integers.

    Attributes
    ----------
    hessian : ndarray of int, shape (K L, K L)
        X_A' V X_A.
    linear : ndarray of int, shape (K L,)
        X_A' V m_A.
    weight : int
        The sum of all weights.
    n_small : int
        Number of weights and margins below :data:`LEAST_EXACT`: linear may have been rounded.
    """

    hessian: FixedPoint
    linear: FixedPoint
    weight: int
    n_small: int


def exact_model(block: Block, w: FixedPoint) -> ExactModel:
    """Return the quadratic model at w.

    Parameters
    ----------
    block : Block
    w : ndarray of int, shape (K L,)
        In units of 2^-400.

    Returns
    -------
    ExactModel
    """
    rows = _active_rows(block, w)
    v, m = block.weights[rows], block.margins[rows]
    hessian, linear = to_fixed(np.zeros((len(w), len(w)))), to_fixed(np.zeros(len(w)))
    for part in exactly_summable_parts(v):
        hessian = hessian + to_fixed(block.gram(rows, part))
    for product in exact_product(v, m):
        for part in exactly_summable_parts(product):
            linear = linear + to_fixed(block.rmatvec(part, rows))
    weight = sum(
        sum(to_fixed(np.array([part.sum()]))) for part in exactly_summable_parts(block.weights)
    )
    n_small = sum(int(((x != 0) & (np.abs(x) < LEAST_EXACT)).sum()) for x in (v, m))
    return ExactModel(hessian, linear, weight, n_small)


def solve_exactly(problem: Objective, W: Floats) -> tuple[Floats, Certificate]:
    """Solve a problem from an approximate answer, and certify the result, in integers.

    Parameters
    ----------
    problem : Objective
    W : ndarray of float, shape (K, L)

    Returns
    -------
    W : ndarray of float, shape (K, L)
        The exact optimum, rounded: it depends neither on the given answer nor on the order
        of the pairs.
    certificate : Certificate

    Raises
    ------
    SolverError
        If the active set does not settle, or there are too many unknowns.

    Examples
    --------
    >>> from dcglearn.learning.problem import Problem
    >>> problem = Problem.of([[[0], [1]]], 2, C=1e12)
    >>> solve_exactly(problem, np.array([[0.49, -0.49]]))[0]
    array([[ 0.5, -0.5]])
    """
    if W.size > MAX_EXACT_UNKNOWNS:
        raise SolverError(f"{W.size} unknowns are too many for exact arithmetic")
    end = _iterate(problem, to_fixed(project(problem, W).ravel()))
    if not end.optimal:
        raise SolverError("the active set did not settle in exact arithmetic")
    return _certified(problem, end)


def _iterate(problem: Objective, w: FixedPoint) -> _End:
    """Solve for one active set after the other until the gap vanishes or the rounds end."""
    prior, C = to_fixed(problem.prior.ravel()), Fraction(problem.C)
    work = MAX_EXACT_WORK
    for _ in range(MAX_EXACT_ROUNDS):
        model = problem.sum_over_blocks(exact_model, w)
        q = prior + scale_fixed(C, model.linear - (model.hessian @ w >> PLACES))
        target = _project(problem, q)
        gap = (w - target) @ (w - target) + 2 * w @ (target - q)
        optimal = gap <= w @ w >> 200  # w is exact, so it does not depend on the start
        if optimal or work <= 0:
            break
        minimum, work = _minimum(problem, C, model, w, work)
        w = _project(problem, minimum)
    return _End(w, q, target, _lost(problem, C, model, w, q), model.weight, bool(optimal))


def _lost(problem: Objective, C: Fraction, model: ExactModel, w: FixedPoint, q: FixedPoint) -> int:
    """Return a bound on the sum of the rounding errors of q; 0 if w = 0 and that is the optimum.

    An entry of X'V X w was rounded by few units, for each part of the weights, and then scaled.
    Nothing is within 1e-6 |w| of w = 0 but itself, so that case has to be exact: P(q) = 0.
    """
    sums = np.cumsum(q.reshape(problem.shape), axis=1)
    zero = (sums <= 0).all() and not sums[:, -1].any() if problem.monotone else not q.any()
    exact = not (problem.prior.any() or model.n_small or (model.linear % C.denominator).any())
    if zero and exact and not w.any():
        return 0
    return (len(w) * (math.ceil(C) + 1) * (int(np.abs(w).sum() >> PLACES) + 2)) << 40


def _certified(problem: Objective, end: _End) -> tuple[Floats, Certificate]:
    """Return w rounded, and its certificate from the dual point of w.

    |W - w*| <= |W - w| + |w - w*|. The gap of W follows from that of w because the residual of
    a pair changes by at most sqrt(2 K) |W - w|.
    """
    W, certificate = certify(problem, to_floats(end.w).reshape(problem.shape))
    answer = to_fixed(W.ravel())
    off = (answer - end.w) @ (answer - end.w)
    distance = _above(root_of_fixed(off) + root_of_fixed(_gap(end.w, end)))
    loss = scale_fixed(Fraction(problem.C), end.weight) * 2 * problem.shape[0] * off >> PLACES
    root = root_of_fixed(_gap(answer, end) + loss)
    return W, replace(certificate, gap=_above(root * root), distance=distance)


def _gap(point: FixedPoint, end: _End) -> int:
    """Return a bound on the gap of a point and the dual point of w."""
    off, lost = point - end.target, end.lost
    room = 2 * math.isqrt(off @ off) + 4 * math.isqrt(point @ point) + lost + 8
    return int(off @ off + 2 * point @ (end.target - end.q) + lost * room)


def _above(bound: float) -> float:
    return math.nextafter(bound, math.inf) if bound else 0.0


def _active_rows(block: Block, w: FixedPoint) -> NDArray[np.intp]:
    """Return the pairs with a positive residual and weight; residuals near 0 are exact."""
    point = to_floats(w)
    error = UNIT_ROUNDOFF * (8 * block.layout.n_ranks + 16) * float(np.abs(point).sum())
    active = np.zeros(len(block), bool)
    for part in block.chunks():
        r = block.margins[part] - block.matvec(point, part)
        active[part] = r > 0
        near = part.start + np.flatnonzero(np.abs(r) <= error)
        if len(near):
            x = [
                values.take(code[near], axis=0)
                for code, (values, _) in zip(block.codes, block.layout.tables, strict=True)
            ]
            products = np.hstack(x).astype(int).astype(object) @ w
            active[near] = to_fixed(block.margins[near]) > products
    return np.flatnonzero(active & (block.weights > 0))


def _project(problem: Objective, w: FixedPoint) -> FixedPoint:
    """Return the nearest point in the cone."""
    if not problem.monotone:
        return w
    return np.concatenate([nearest_descending(row) for row in w.reshape(problem.shape)])


def _tied(problem: Objective, w: FixedPoint) -> NDArray[np.bool_]:
    """Return which neighbouring grades have the same value, shape (K, L - 1)."""
    W = w.reshape(problem.shape)
    tied: NDArray[np.bool_] = (W[:, :-1] == W[:, 1:]) & problem.monotone
    return tied


def _minimum(
    problem: Objective, C: Fraction, model: ExactModel, w: FixedPoint, work: int
) -> tuple[FixedPoint, int]:
    """Return the minimum of the model in the cone, and the work that is left.

    It is found by block principal pivoting on the ties. As in :mod:`dcglearn.learning.nnls`, but
    in the end it exchanges one tie at a time, which must end (Murty's rule). The first ties
    are those of w.
    """
    prior, tied = to_fixed(problem.prior.ravel()), _tied(problem, w)
    hessian, linear = scale_fixed(C, model.hessian), prior + scale_fixed(C, model.linear)
    fewest, patience = tied.size + 1, 3
    for _ in range(MAX_EXCHANGES):
        starts = np.hstack([np.ones((len(tied), 1), bool), ~tied])
        values = np.cumsum(starts.ravel()) - 1
        first = np.flatnonzero(starts)
        work -= len(first) ** 3
        reduced = np.add.reduceat(np.add.reduceat(hessian, first), first, axis=1)
        reduced.flat[:: len(first) + 1] += np.bincount(values).astype(object) << PLACES
        z = eliminate(reduced, np.add.reduceat(linear, first))
        w = np.asarray(z[values])
        if not problem.monotone or work <= 0:
            break
        W = w.reshape(problem.shape)
        q = (linear - (hessian @ w >> PLACES)).reshape(problem.shape)
        multipliers = np.cumsum(W - q, axis=1)[:, :-1]
        wrong = np.where(tied, multipliers < -SLACK, W[:, :-1] < W[:, 1:]).astype(bool)
        count = int(wrong.sum())
        if not count:
            break
        if count < fewest:
            fewest, patience = count, 3
        elif patience:
            patience -= 1
        else:
            wrong.ravel()[: np.flatnonzero(wrong)[-1]] = False
        tied ^= wrong
    return w, work
