"""What pairs of rankings can and cannot determine.

Directions of W that pairs cannot see are left to the size penalty w'w, the ridge (see
:mod:`dcglearn.learning.null_space`). Rank is not enough: a few pairs of different content
make X of full rank while the ridge still decides. So each discount and each gain, as it is
read from W, has a data share (:mod:`dcglearn.learning.data_share`): over all pairs before a fit,
which is an upper limit, and over the active pairs at a given W, for a pair that has
reached its margin pulls no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats
from dcglearn.learning.data_share import HALF, NOTHING, DataShares
from dcglearn.learning.factorise import Factors, Gauge, factorise, is_order
from dcglearn.learning.null_space import Structure, structure
from dcglearn.measures.discounts import rule_discounts
from dcglearn.measures.scale import Label
from dcglearn.solver.active_set import gram_matrices, quadratic_model
from dcglearn.solver.problem import Objective

SEEN = 1e-6
"""A direction is seen when no more of it than this is in the null space of X."""

MOST_LISTED = 5


Determined = Literal["data", "ridge", "none"]


@dataclass(frozen=True)
class Identifiability(Structure):
    """What a set of pairs determines.

    The attributes of :class:`dcglearn.learning.null_space.Structure`, and

    Attributes
    ----------
    gauge : {"worst", "absolute", "worst order", "absolute order"}
        How W is to be read (see :mod:`dcglearn.learning.factorise`).
    seen_offsets : ndarray of bool, shape (K,)
        Ranks whose offset the data determine (lists are empty there).
    offset_share : float
        Data share of one constant added to all discounts.
    discount_share : ndarray of float, shape (K,)
    gain_share : ndarray of float, shape (L,)
        Data shares of each discount and gain, as the gauge reads them; none is surer than
        the discount or gain that it is measured against.
    discount_unseen : ndarray of float, shape (K,)
    gain_unseen : ndarray of float, shape (L,)
        The part of each one's direction that no pair sees at all, from 0 to 1.
    move : float or None
        At the optimum, where shares are of the active pairs: how far any discount or
        gain moves, to first order and tied grades aside, if C doubles:
        dW / d log C = (I + C X'VX)^-1 W.
        Before a fit, where shares are of all pairs: None.
    """

    gauge: Gauge
    seen_offsets: NDArray[np.bool_]
    offset_share: float
    discount_share: Floats
    gain_share: Floats
    discount_unseen: Floats
    gain_unseen: Floats
    move: float | None

    def statements(self, labels: Sequence[Label] | None = None, noun: str = "grade") -> list[str]:
        """Say in words what the pairs do not determine.

        Parameters
        ----------
        labels : sequence of labels, optional
            The names of the grades; their indices by default.
        noun : str, default "grade"
            What the columns of W are: grades, or documents.

        Returns
        -------
        list of str
        """
        n_grades = len(self.gain_share)
        names = [str(label) for label in (range(n_grades) if labels is None else labels)]
        said = [
            f"the differences of the pairs ({self.n_pairs:,}) have rank {self.rank} of "
            f"{self.n_directions}"
        ]
        if self.free_ranks:
            said.append(f"every {noun} at {_ranks(self.free_ranks)} could gain the same constant")
        if not self.rank:
            return [*said, "no pair differs anywhere: nothing is determined"]
        said += self._about_gauge()
        if self.still_ranks:
            said.append(f"no pair differs at {_ranks(self.still_ranks)}: no discount there")
        if self.still_grades:
            never = ", ".join(names[grade] for grade in self.still_grades)
            said.append(f"no pair differs in {noun} {never}: no gain for it")
        for rank, groups in self.separate[:MOST_LISTED]:
            sets = " and ".join("{" + ", ".join(names[g] for g in group) + "}" for group in groups)
            said.append(f"at rank {rank} the {noun}s {sets} are never compared with each other")
        if len(self.separate) > MOST_LISTED:
            said.append(f"so it is at {len(self.separate) - MOST_LISTED} more ranks")
        if self.unnamed:
            said.append(f"{self.unnamed} more directions of W are left to the ridge: too few pairs")
        return said

    def _about_gauge(self) -> list[str]:
        said = []
        thin = [k for k in self.empty_ranks if not self.seen_offsets[k - 1]]
        if thin:
            said.append(
                f"lists are empty at {_ranks(thin)} in too few pairs: what the worst grade is "
                "worth there, against no document, is not read"
            )
        if self.same_content:
            said.append(
                "discounts are determined only up to an affine map: all pairs reorder one list"
            )
        elif is_order(self.gauge):
            said.append(
                "discounts are determined only up to an affine map: too few pairs hold lists of "
                f"different content (data share of a common offset {self.offset_share:.2f})"
            )
        return said

    def to_json(self, labels: Sequence[Label] | None = None, noun: str = "grade") -> dict[str, Any]:
        """Return everything as a JSON-able dict, the statements included."""
        return {key: _plain(value) for key, value in vars(self).items()} | {
            "gains_determined_by": self.gains_determined_by,
            "discounts_determined_by": self.discounts_determined_by,
            "statements": self.statements(labels, noun),
        }

    @property
    def gains_determined_by(self) -> list[Determined]:
        """What determines each gain, as :func:`determined`."""
        return [determined(*one) for one in zip(self.gain_share, self.gain_unseen, strict=True)]

    @property
    def discounts_determined_by(self) -> list[Determined]:
        """What determines each discount, as :func:`determined`."""
        both = zip(self.discount_share, self.discount_unseen, strict=True)
        return [determined(*one) for one in both]


def identify(
    problem: Objective, W: Floats | None = None, hessian: Floats | None = None
) -> Identifiability:
    """Find out what the pairs of a problem determine.

    Parameters
    ----------
    problem : Objective
        Pairs of weight 0 do not count.
    W : ndarray of float, shape (K, L), optional
        The optimum. Without it nothing is fitted: shares are those of all pairs,
        along equally spaced gains and the discounts 1 / log2(i + 1).
    hessian : ndarray of float, shape (K L, K L), optional
        X_A' V X_A there, where it is known; it saves a pass.

    Returns
    -------
    Identifiability

    Raises
    ------
    InputError
        If W prefers nothing to anything.

    Examples
    --------
    Two grades at two ranks, one pair that swaps them:

    >>> from dcglearn.solver.problem import Problem
    >>> found = identify(Problem.of([[[0, 1], [1, 0]]], 2))
    >>> found.rank, found.same_content
    (1, True)
    >>> found.statements()[1]
    'every grade at ranks 1-2 could gain the same constant'
    """
    met = problem.sum_over_blocks(gram_matrices)
    found = structure(met, problem.shape[1])
    everything = _shares(problem, met.weighted_gram, found)
    shares = everything
    if W is not None:
        if hessian is None:
            hessian = problem.sum_over_blocks(quadratic_model, W.ravel()).hessian
        shares = _shares(problem, hessian, found)
    gauge, seen = shares.gauge(found.still_ranks)
    reading = _reading(problem, W, shares, gauge, seen, found)

    n_ranks, n_grades = problem.shape
    common = np.outer(np.ones(n_ranks), reading.gains) * shares.shown
    offset = float(shares.share(shares.without_offsets(common, seen)))

    def sureness(directions: Floats) -> Floats:
        inside = shares.in_gauge(directions, gauge, seen)
        return np.column_stack([shares.share(inside), everything.unseen(inside)])

    discount = sureness(np.eye(n_ranks)[:, :, None] * reading.gains)
    gain = sureness(np.eye(n_grades)[:, None, :] * reading.discounts[:, None])
    if not is_order(gauge):  # a discount is then only as sure as what all of them share
        discount[:, 0] = np.minimum(discount[:, 0], offset)
    discount = _as_sure_as(discount, reading.fixed_discounts)
    gain = _as_sure_as(gain, reading.fixed_gains)
    return Identifiability(
        **vars(found),
        gauge=gauge,
        seen_offsets=seen,
        offset_share=offset,
        discount_share=discount[:, 0],
        gain_share=gain[:, 0],
        discount_unseen=discount[:, 1],
        gain_unseen=gain[:, 1],
        move=None if W is None else _move(problem, W, shares, reading, seen, found),
    )


def _as_sure_as(each: Floats, anchors: Sequence[int]) -> Floats:
    """Let no (share, unseen) be better than that of what it is measured against."""
    share = np.minimum(each[:, 0], each[list(anchors), 0].min(initial=1.0))
    unseen = np.maximum(each[:, 1], each[list(anchors), 1].max(initial=0.0))
    return np.column_stack([share, unseen])


def _shares(problem: Objective, hessian: Floats, found: Structure) -> DataShares:
    return DataShares(hessian, problem.C, problem.shape[1], found.still_grades)


def _reading(
    problem: Objective,
    W: Floats | None,
    shares: DataShares,
    gauge: Gauge,
    seen: NDArray[np.bool_],
    found: Structure,
) -> Factors:
    """Return the factors of W, or typical ones where nothing is fitted yet."""
    if W is not None:
        return factorise(W, gauge, seen, found.still_grades, ordered=problem.monotone)
    n_ranks = problem.shape[0]
    shown = np.flatnonzero(shares.shown).tolist()
    return Factors(
        discounts=rule_discounts("log2", n_ranks),
        gains=shares.spaced(1.0, 0.0),
        singular_values=np.zeros(0),
        gauge=gauge,
        fixed_discounts=(0, n_ranks - 1) if is_order(gauge) else (0,),
        fixed_gains=tuple(shown[:1] + shown[-1:]),
    )


def _move(
    problem: Objective,
    W: Floats,
    shares: DataShares,
    reading: Factors,
    seen: NDArray[np.bool_],
    found: Structure,
) -> float:
    """Return how far a gain or discount moves, at most, if C doubles (to first order)."""
    after = W + np.log(2) * shares.pull_of_ridge(W)
    then = factorise(after, reading.gauge, seen, found.still_grades, ordered=problem.monotone)
    moves = (reading.discounts - then.discounts, (reading.gains - then.gains)[shares.shown])
    return float(max(np.abs(move).max(initial=0.0) for move in moves))


def determined(share: float, unseen: float) -> Determined:
    """Say what determines a quantity: ``data``, more the ``ridge``, or ``none`` (nothing).

    Parameters
    ----------
    share : float
        Its data share.
    unseen : float
        The part of its direction that no pair sees. Where there is any, the number read
        from W holds something of the ridge, however large the share.

    Returns
    -------
    {"data", "ridge", "none"}

    Examples
    --------
    >>> determined(0.9, 0.0), determined(0.9, 0.2), determined(0.3, 0.0), determined(0.0, 1.0)
    ('data', 'ridge', 'ridge', 'none')
    """
    if share < NOTHING:
        return "none"
    return "data" if share >= HALF and unseen < SEEN else "ridge"


def _plain(value: Any) -> Any:
    """Return what JSON gives back for a field: arrays and tuples become lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _ranks(ranks: Sequence[int]) -> str:
    """Write ranks as runs.

    >>> _ranks([1, 2, 3, 7]), _ranks([4])
    ('ranks 1-3, 7', 'rank 4')
    """
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    text = ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in runs)
    return f"rank{'s' if len(ranks) > 1 else ''} {text}"
