"""What pairs of rankings can and cannot determine.

Directions of W that pairs cannot see are left to the size penalty w'w, the ridge (see
:mod:`dcglearn.learning.structure`). Rank is not enough: a few pairs of different content
make X of full rank while the ridge still decides. How far data determine a direction t,
|t| = 1, is its *data share*

    share(t) = 1 - t'(I + C X'VX)^-1 t      between 0 (ridge alone) and 1 (data alone),

over all pairs before a fit (an upper limit), and over the active pairs at a given W: a
pair that has reached its margin pulls no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from dcglearn.learning.encoding import gram
from dcglearn.learning.factorise import Gauge, factorise, is_order
from dcglearn.learning.problem import Problem
from dcglearn.learning.structure import Structure, structure
from dcglearn.measures.discounts import Floats, rule_discounts
from dcglearn.measures.scale import Label

HALF = 0.5
"""Below this data share the ridge weighs more than the data."""

NOTHING = 1e-9
"""Below this data share there are no data at all, but for rounding."""

SEEN = 1e-6
"""A direction is seen when no more of it than this is in the null space of X."""

MOST_LISTED = 5


Determined = Literal["data", "ridge", "none"]


@dataclass(frozen=True)
class Identifiability(Structure):
    """What a set of pairs determines.

    The attributes of :class:`dcglearn.learning.structure.Structure`, and

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


def identify(problem: Problem, W: Floats | None = None) -> Identifiability:
    """Find out what the pairs of a problem determine.

    Parameters
    ----------
    problem : Problem
        Pairs of weight 0 do not count.
    W : ndarray of float, shape (K, L), optional
        The optimum. Without it nothing is fitted: shares are those of all pairs,
        along equally spaced gains and the discounts 1 / log2(i + 1).

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

    >>> found = identify(Problem.of([[[0, 1], [1, 0]]], 2))
    >>> found.rank, found.same_content
    (1, True)
    >>> found.statements()[1]
    'every grade at ranks 1-2 could gain the same constant'
    """
    counted = problem.weights > 0
    pairs = problem.pairs[counted]
    seen_by = structure(pairs, problem.n_grades)
    active = counted if W is None else counted & (problem.slacks(W) > 0)
    curvature = gram(problem.pairs[active], problem.n_grades, problem.weights[active])
    share = _Share(curvature, problem.C, problem.shape, seen_by.still_grades)
    gauge, seen = share.gauge(seen_by.still_ranks)
    discounts, gains = rule_discounts("log2", problem.shape[0]), share.spaced(1.0, 0.0)
    if W is not None:
        factors = factorise(W, gauge, seen, seen_by.still_grades, ordered=problem.monotone)
        discounts, gains = factors.discounts, factors.gains

    everything = (
        share
        if W is None
        else _Share(
            gram(pairs, problem.n_grades, problem.weights[counted]),
            problem.C,
            problem.shape,
            seen_by.still_grades,
        )
    )

    def of(discounts: Floats, gains: Floats) -> tuple[float, float]:
        direction = share.in_gauge(np.outer(discounts, gains), gauge, seen)
        return share(direction), everything.unseen(direction)

    n_ranks, n_grades = problem.shape
    common = np.outer(np.ones(n_ranks), gains) * share.shown
    offset = share(share.without_offsets(common, seen))
    each_discount = np.array([of(rank, gains) for rank in np.eye(n_ranks)])
    each_gain = np.array([of(discounts, grade) for grade in np.eye(n_grades)])
    ends = [0]
    if is_order(gauge):
        ends = [int(np.argmax(discounts)), int(np.argmin(discounts))]
    else:  # a discount is then only as sure as what all of them share
        each_discount[:, 0] = np.minimum(each_discount[:, 0], offset)
    shown = np.flatnonzero(share.shown)
    if not problem.monotone:
        anchors = [int(np.argmax(gains)), int(np.argmin(gains))]
    else:
        anchors = shown[:1].tolist()
        if gauge.startswith("worst"):  # counted from the worst grade
            anchors += shown[-1:].tolist()
    each_discount, each_gain = _as_sure_as(each_discount, ends), _as_sure_as(each_gain, anchors)
    return Identifiability(
        **vars(seen_by),
        gauge=gauge,
        seen_offsets=seen,
        offset_share=offset,
        discount_share=each_discount[:, 0],
        gain_share=each_gain[:, 0],
        discount_unseen=each_discount[:, 1],
        gain_unseen=each_gain[:, 1],
        move=None if W is None else _move(problem, W, share, gauge, seen, seen_by.still_grades),
    )


class _Share:
    """share(t) of directions t of W, for the curvature C X'VX of some pairs.

    In the eigenvectors e of X'VX, with eigenvalues h, it is sum (e't)^2 C h / (1 + C h).
    """

    def __init__(
        self, curvature: Floats, C: float, shape: tuple[int, int], still: tuple[int, ...]
    ) -> None:
        self.shape = shape
        self.shown = np.array([grade not in still for grade in range(shape[1])])
        values, self._vectors = np.linalg.eigh(curvature)
        noise = 10 * len(values) * np.finfo(float).eps * values.max(initial=0.0)
        strength = C * np.where(values > noise, values, 0.0)
        self._ridge = 1.0 / (1.0 + strength)

    def __call__(self, direction: Floats) -> float:
        size = float(np.linalg.norm(direction))
        if size <= 1e-12:
            return 0.0
        along = self._vectors.T @ direction.ravel() / size
        return min(1.0, max(0.0, float(along**2 @ (1.0 - self._ridge))))

    def unseen(self, direction: Floats) -> float:
        """Return the part of a direction that is in the null space of X, from 0 to 1."""
        size = float(np.linalg.norm(direction))
        if size <= 1e-12:
            return 1.0
        along = self._vectors.T @ direction.ravel() / size
        return min(1.0, float(along**2 @ (self._ridge == 1.0)))

    def pull_of_ridge(self, W: Floats) -> Floats:
        """Return (I + C X'VX)^-1 W = dW / d log C on the active piece, shape (K, L)."""
        found: Floats = self._vectors @ (self._ridge * (self._vectors.T @ W.ravel()))
        return found.reshape(W.shape)

    def gauge(self, still_ranks: tuple[int, ...]) -> tuple[Gauge, NDArray[np.bool_]]:
        """Choose how to read W: by what is half as well determined as what is beside it."""
        n_ranks = self.shape[0]
        gains, ones = self.spaced(1.0, -1.0), self.shown * 1.0
        ranks = np.eye(n_ranks)
        offsets = [self(np.outer(rank, ones)) for rank in ranks]
        contrasts = [self(np.outer(rank, gains)) for rank in ranks]
        seen = np.array(
            [o >= max(HALF * c, NOTHING) for o, c in zip(offsets, contrasts, strict=True)]
        )
        rows = "absolute" if seen.any() else "worst"
        moving = [k for k in range(n_ranks) if k + 1 not in still_ranks]
        between = [self(np.outer(ranks[k] - 1 / n_ranks, gains)) for k in moving] or [0.0]
        offset = self(self.without_offsets(np.outer(np.ones(n_ranks), gains + ones), seen))
        order = offset < HALF * float(np.median(between))
        return cast(Gauge, f"{rows} order" if order else rows), seen

    def spaced(self, best: float, worst: float) -> Floats:
        """Return equally spaced gains of the grades that are shown, 0 for the others."""
        gains = np.zeros(len(self.shown))
        gains[self.shown] = np.linspace(best, worst, int(self.shown.sum()))
        return gains

    def without_offsets(self, direction: Floats, seen: NDArray[np.bool_]) -> Floats:
        """Take off a direction the rank offsets that are not seen."""
        ones = self.shown * 1.0
        offsets = direction @ ones / max(1.0, ones.sum()) * ~seen
        found: Floats = direction - np.outer(offsets, ones)
        return found

    def in_gauge(self, direction: Floats, gauge: Gauge, seen: NDArray[np.bool_]) -> Floats:
        """Take off a direction what the gauge declares to be without meaning."""
        found = self.without_offsets(direction * self.shown, seen)
        return found - found.mean(axis=0) if is_order(gauge) else found


def _as_sure_as(each: Floats, anchors: Sequence[int]) -> Floats:
    """Let no (share, unseen) be better than that of what it is measured against."""
    share = np.minimum(each[:, 0], each[list(anchors), 0].min(initial=1.0))
    unseen = np.maximum(each[:, 1], each[list(anchors), 1].max(initial=0.0))
    return np.column_stack([share, unseen])


def _move(
    problem: Problem,
    W: Floats,
    share: _Share,
    gauge: Gauge,
    seen: NDArray[np.bool_],
    still_grades: tuple[int, ...],
) -> float:
    """Return how far a gain or discount moves, at most, if C doubles (to first order)."""
    after = W + np.log(2) * share.pull_of_ridge(W)
    one, two = (
        factorise(V, gauge, seen, still_grades, ordered=problem.monotone) for V in (W, after)
    )
    moves = (one.discounts - two.discounts, (one.gains - two.gains)[share.shown])
    return float(max(np.abs(move).max() for move in moves))


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
