"""The learning problem: what every solver is given and every certificate judges.

    min_W  |W - W_0|^2 + C sum_i v_i max(0, m_i - <W, x_i>)^2
    s.t.   W[k, l] >= W[k, l + 1]                            (where grades are ordered)

with x_i = s(preferred) - s(other), and W_0 = 0 unless a prior is given. The problems of
Zhou, Zha, Xue & Yu (arXiv 1212.5650) are eq. 1 with m = 1, eq. 4 with m the Hamming
distance, and eq. 6 without the monotone rows, on the K x K encoding of rankings without
grades.

Whoever needs the pairs asks for sums over blocks of them (:class:`Objective`), so that it
does not matter where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from numbers import Real
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats, Grades
from dcglearn.data.preferences import check_worth_learning
from dcglearn.measures.agreement import as_pairs, one_a_pair
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.solver.active_set import of_rows
from dcglearn.solver.margins import margins, shared
from dcglearn.solver.pair_codes import FEWEST_ROWS, ROWS, Block, Layout

_Sum = TypeVar("_Sum")

LARGEST = 1e150
"""C times the weights times the squared margins may add up to this: its square is finite."""


class Objective(Protocol):
    """A problem, wherever its pairs are: what solvers and certificates ask for."""

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""

    @property
    def C(self) -> float:
        """What a missed margin costs."""

    @property
    def monotone(self) -> bool:
        """Whether rows of W may not rise."""

    @property
    def prior(self) -> Floats:
        """W_0, shape (K, L)."""

    def summed(self, statistic: Callable[..., _Sum], *arguments: Any) -> _Sum:
        """Return the sum of ``statistic(block, *arguments)`` over all blocks, in their order."""

    def sample(self, n: int) -> Objective:
        """Return the problem of about n of the pairs, evenly spread, with as large a loss."""

    def at(self, C: float) -> Self:
        """Return the problem with another C."""


@dataclass(frozen=True)
class Problem:
    """One problem, checked. Use :meth:`of` to build it.

    Attributes
    ----------
    pairs : ndarray of int, shape (n, 2, K)
        The preferred ranking first. The array that was given where it is one of integers: it
        must not be changed afterwards.
    n_grades : int
        L, or the number of documents.
    margins, weights : ndarray of float, shape (n,)
        m and v.
    C : float
        What a violated margin costs beside the size of W.
    monotone : bool
        Whether a better grade may not be worth less than a worse one at any rank.
    towards : ndarray of float, shape (K, L), optional
        W_0; 0 by default.
    """

    pairs: Grades
    n_grades: int
    margins: Floats
    weights: Floats
    C: float
    monotone: bool
    towards: Floats | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        pairs: ArrayLike,
        n_grades: int,
        margin: str | ArrayLike = "unit",
        weights: ArrayLike | None = None,
        C: float = 1.0,
        monotone: bool = True,
        towards: ArrayLike | None = None,
    ) -> Problem:
        """Check the parts and build the problem.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K)
        n_grades : int
        margin : {"unit", "hamming"} or array-like of float, shape (n,)
        weights : array-like of float, shape (n,), optional
            0 or more; 1 by default.
        C : float, default 1
            Positive and finite.
        monotone : bool, default True
        towards : array-like of float, shape (K, L), optional
            W_0, what W is pulled to where the pairs do not say otherwise; 0 by default.

        Returns
        -------
        Problem

        Raises
        ------
        InputError
            If a part is not as above, there is no pair, or C, weights and margins are so
            large that the objective overflows.
        """
        rows = as_pairs(pairs, n_grades)
        if not len(rows):
            raise InputError("no pair to learn from", "give at least one strict preference")
        v = shared(1.0, len(rows))
        if weights is not None:
            v = one_a_pair(weights, len(rows), "weights", 0.0)
        m = margins(rows, margin)
        check_scale(checked_C(C), total_weight(v), _widest(m))
        W_0 = None if towards is None else checked_prior(towards, (rows.shape[2], n_grades))
        return cls(rows, n_grades, m, v, float(C), monotone, W_0)

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return len(self.pairs)

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""
        return self.pairs.shape[2], self.n_grades

    @property
    def prior(self) -> Floats:
        """W_0, shape (K, L)."""
        return np.zeros(self.shape) if self.towards is None else self.towards

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The pairs as codes."""
        empty = bool((self.pairs.min(initial=0)) == NO_DOCUMENT)
        layout = Layout(self.shape[0], self.n_grades, empty)
        step = min(ROWS, max(FEWEST_ROWS, -(-self.n_pairs // 2)))  # whatever the machine has
        cuts = [slice(begin, begin + step) for begin in range(0, self.n_pairs, step)]

        def block(cut: slice) -> Block:
            codes = layout.encode(self.pairs[cut])
            return Block(layout, codes, self.margins[cut], self.weights[cut])

        return tuple(map_threads(block, cuts))

    def summed(self, statistic: Callable[..., _Sum], *arguments: Any) -> _Sum:
        """Return the sum of a statistic over the blocks (see :class:`Objective`).

        Parameters
        ----------
        statistic : callable
            Called with a block and the arguments; what it returns can be added.
        *arguments
        """
        parts: list[Any] = map_threads(lambda block: statistic(block, *arguments), self.blocks)
        found: _Sum = reduce(add, parts)
        return found

    def at(self, C: float) -> Self:
        """Return the problem with another C (see :class:`Objective`).

        Parameters
        ----------
        C : float

        Raises
        ------
        InputError
            If C is not positive and finite, or so large that the objective overflows.
        """
        check_scale(checked_C(C), total_weight(self.weights), _widest(self.margins))
        other = replace(self, C=float(C))
        vars(other)["blocks"] = self.blocks  # the codes are the same
        return other

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Return the problem of some of the pairs.

        Parameters
        ----------
        rows : ndarray of int, shape (m,)

        Raises
        ------
        InputError
            If they teach nothing: no pair differs, or all weigh nothing.
        """
        weights = of_rows(self.weights, rows)
        check_worth_learning(self.pairs[rows], weights)
        return replace(
            self,
            pairs=self.pairs[rows],
            margins=self.margins[rows],
            weights=shared(1.0, len(rows)) if weights is None else weights,
        )

    def sample(self, n: int) -> Problem:
        """Return the problem of about n of the pairs (see :class:`Objective`).

        Parameters
        ----------
        n : int
        """
        every = slice(None, None, max(1, self.n_pairs // n))
        pairs = np.ascontiguousarray(self.pairs[every])  # read from all over the memory once
        C = self.C * self.n_pairs / len(pairs)
        return replace(
            self, pairs=pairs, margins=self.margins[every], weights=self.weights[every], C=C
        )


def checked_C(C: object) -> float:
    """Return C, positive and finite, or refuse it.

    Parameters
    ----------
    C : object

    Raises
    ------
    InputError
    """
    if not isinstance(C, bool) and isinstance(C, Real) and 0 < float(C) < math.inf:
        return float(C)
    raise InputError(f"C is {C!r}", "use a finite number above 0")


def check_scale(C: float, weight: float, widest: float) -> None:
    """Refuse an objective that overflows.

    Parameters
    ----------
    C : float
    weight : float
        The sum of the weights.
    widest : float
        The largest margin, without its sign.

    Raises
    ------
    InputError
        Naming the scale.
    """
    with np.errstate(over="ignore"):  # an overflow is what is refused
        if C * max(weight, 1.0) * max(widest, 1.0) ** 2 < LARGEST:
            return
    raise InputError(
        f"C = {C:g}, weights that add up to {weight:g} and margins up to {widest:g} overflow",
        f"scale them down: C x weights x margins^2 may be {LARGEST:g}",
    )


def checked_prior(towards: ArrayLike, shape: tuple[int, int]) -> Floats:
    """Return W_0 as an array, or refuse it.

    Parameters
    ----------
    towards : array-like of float
    shape : (int, int)
        (K, L).

    Raises
    ------
    InputError
        If it is not of that shape, or not finite.
    """
    try:
        found = np.asarray(towards, float)
    except (TypeError, ValueError) as error:
        raise InputError("the prior is no matrix of numbers", f"give one of shape {shape}") from (
            error
        )
    if found.shape != shape or not np.isfinite(found).all():
        raise InputError(
            f"a prior of shape {found.shape}", f"give finite numbers of shape {shape}, as W"
        )
    return found


def total_weight(weights: Floats) -> float:
    """Return the sum of weights; infinity where it overflows."""
    with np.errstate(over="ignore"):  # infinity is the answer then
        return float(weights.sum())


def _widest(margins: Floats) -> float:
    return float(max(margins.max(initial=0.0), -margins.min(initial=0.0)))
