"""The learning problem: what every solver minimises and every certificate checks.

    min_W  |W - W_0|^2 + C sum_i v_i max(0, m_i - <W, x_i>)^2
    s.t.   W[k, l] >= W[k, l + 1]                            (if grades are ordered)

with x_i = s(preferred) - s(other), and W_0 = 0 unless a prior is given. The problems of
Zhou, Zha, Xue & Yu (arXiv 1212.5650) are eq. 1 with m = 1, eq. 4 with m the Hamming
distance, and eq. 6 without the monotone constraints, on the K x K encoding of rankings
without grades.

Solvers never index the pairs. They ask for sums over blocks of pairs
(:meth:`Objective.sum_over_blocks`), so the same solver works on pairs in memory, in files
or on other machines.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from numbers import Real
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats, Grades
from dcglearn.correlation.agreement import checked_pairs, one_per_pair
from dcglearn.judgments.checks import check_worth_learning
from dcglearn.learning.codes import (
    MAX_BLOCK_PAIRS,
    MIN_BLOCK_PAIRS,
    Block,
    CodeLayout,
    take_unless_ones,
)
from dcglearn.learning.margins import constant_array, margins
from dcglearn.measures.scale import NO_DOCUMENT

_Statistic = TypeVar("_Statistic")

_layout = lru_cache(8)(CodeLayout)  # many small problems share one, and its tables

MAX_OBJECTIVE = 1e150
"""Upper limit of C x total weight x margin^2: its square must be finite."""

MAX_WEIGHTS = 10_000
"""Upper limit of K L, the size of W: the hessian holds its square, here 800 MB."""


class Objective(Protocol):
    """A learning problem, wherever its pairs are stored."""

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""

    @property
    def C(self) -> float:
        """Weight of the squared hinge loss relative to |W - W_0|^2."""

    @property
    def monotone(self) -> bool:
        """Whether the rows of W must be non-increasing."""

    @property
    def prior(self) -> Floats:
        """W_0, shape (K, L)."""

    @property
    def has_empty_ranks(self) -> bool:
        """Whether some list has no document at some rank."""

    def sum_over_blocks(self, statistic: Callable[..., _Statistic], *arguments: Any) -> _Statistic:
        """Return the sum of ``statistic(block, *arguments)`` over all blocks, in their order."""

    def sample(self, n: int) -> Objective:
        """Return the problem of about n of the pairs, evenly spaced, with C scaled up to match."""

    def with_C(self, C: float) -> Self:
        """Return the same problem with another C."""


@dataclass(frozen=True, repr=False)
class Problem(ShortRepr):
    """A learning problem with its pairs in memory. Use :meth:`of` to build it.

    Attributes
    ----------
    pairs : ndarray of int, shape (n, 2, K)
        The preferred ranking first. If an integer array was given, it is that array, not a
        copy: do not change it afterwards.
    n_grades : int
        L, or the number of documents.
    margins, weights : ndarray of float, shape (n,)
        m and v.
    C : float
        Weight of the squared hinge loss relative to |W - W_0|^2.
    monotone : bool
        Whether a better grade must be worth at least as much as a worse one at every rank.
    prior : ndarray of float, shape (K, L)
        W_0.
    """

    pairs: Grades
    n_grades: int
    margins: Floats
    weights: Floats
    C: float
    monotone: bool
    prior: Floats = field(repr=False)

    @classmethod
    def of(
        cls,
        pairs: ArrayLike,
        n_grades: int,
        margin: str | ArrayLike = "unit",
        weights: ArrayLike | None = None,
        C: float = 1.0,
        monotone: bool = True,
        prior: ArrayLike | None = None,
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
        prior : array-like of float, shape (K, L), optional
            W_0, the W towards which the penalty shrinks; 0 by default.

        Returns
        -------
        Problem

        Raises
        ------
        InputError
            If a part is not as above, there are no pairs, or C, weights and margins are so
            large that the objective overflows.

        Examples
        --------
        >>> Problem.of([[[0, 1], [1, 1]]], n_grades=2).shape
        (2, 2)
        """
        rows = checked_pairs(pairs, n_grades)
        if not len(rows):
            raise InputError("no pair to learn from", "give at least one strict preference")
        v = constant_array(1.0, len(rows))
        if weights is not None:
            v = one_per_pair(weights, len(rows), "weights", 0.0)
        m = margins(rows, margin)
        W_0 = validate_prior(prior, (rows.shape[2], n_grades))
        problem = cls(rows, n_grades, m, v, validate_C(C), monotone, W_0)
        check_overflow(problem.C, *problem._magnitudes)
        return problem

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.pairs)

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""
        return self.pairs.shape[2], self.n_grades

    @cached_property
    def has_empty_ranks(self) -> bool:
        """Whether some list has no document at some rank."""
        return bool(self.pairs.min(initial=0) == NO_DOCUMENT)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The encoded pairs, in blocks whose sizes depend on n only, not on the machine."""
        layout = _layout(*self.shape, self.has_empty_ranks)
        size = min(MAX_BLOCK_PAIRS, max(MIN_BLOCK_PAIRS, -(-self.n_pairs // 2)))
        cuts = [slice(begin, begin + size) for begin in range(0, self.n_pairs, size)]

        def block(cut: slice) -> Block:
            codes = layout.encode(self.pairs[cut])
            return Block(layout, codes, self.margins[cut], self.weights[cut])

        return tuple(map_threads(block, cuts))

    def sum_over_blocks(self, statistic: Callable[..., _Statistic], *arguments: Any) -> _Statistic:
        """Return the sum of a statistic over the blocks (see :class:`Objective`).

        Parameters
        ----------
        statistic : callable
            Called with a block and the arguments. Its results are added.
        *arguments
        """
        if len(self.blocks) == 1:  # few pairs: every microsecond counts
            return statistic(self.blocks[0], *arguments)
        parts: list[Any] = map_threads(lambda block: statistic(block, *arguments), self.blocks)
        total: _Statistic = reduce(add, parts)
        return total

    def with_C(self, C: float) -> Self:
        """Return the same problem with another C (see :class:`Objective`).

        Parameters
        ----------
        C : float

        Raises
        ------
        InputError
            If C is not positive and finite, or so large that the objective overflows.
        """
        check_overflow(validate_C(C), *self._magnitudes)
        return self._sharing_blocks(replace(self, C=float(C)))

    def _sharing_blocks(self, other: Self) -> Self:
        for name in ("blocks", "has_empty_ranks", "_magnitudes"):  # C does not change them
            vars(other)[name] = getattr(self, name)
        return other

    @cached_property
    def _magnitudes(self) -> tuple[float, float]:
        """The sum of the weights and the largest absolute margin."""
        return total_weight(self.weights), _largest(self.margins)

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Return the problem of a subset of the pairs.

        Parameters
        ----------
        rows : ndarray of int, shape (m,)

        Raises
        ------
        InputError
            If nothing can be learned from them: no pair differs, or all weights are 0.
        """
        weights, pairs = take_unless_ones(self.weights, rows), self.pairs[rows]
        check_worth_learning(pairs, weights)
        return replace(
            self,
            pairs=pairs,
            margins=self.margins[rows],
            weights=constant_array(1.0, len(rows)) if weights is None else weights,
        )

    def sample(self, n: int) -> Problem:
        """Return the problem of at most n of the pairs, evenly spread (see :class:`Objective`).

        Parameters
        ----------
        n : int
        """
        every = slice(None, None, -(-self.n_pairs // n))
        pairs = np.ascontiguousarray(self.pairs[every])  # so that later passes read less memory
        C = self.C * self.n_pairs / len(pairs)
        return replace(
            self, pairs=pairs, margins=self.margins[every], weights=self.weights[every], C=C
        )


def validate_C(C: object) -> float:
    """Return C as a float; refuse it unless it is positive and finite.

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


def check_overflow(C: float, weight: float, margin: float) -> None:
    """Refuse an objective that overflows.

    Parameters
    ----------
    C : float
    weight : float
        The sum of the weights.
    margin : float
        The largest absolute margin.

    Raises
    ------
    InputError
        With the three magnitudes.
    """
    with np.errstate(over="ignore"):  # an overflow fails the comparison
        if C * max(weight, 1.0) * max(margin, 1.0) ** 2 < MAX_OBJECTIVE:
            return
    raise InputError(
        f"C = {C:g}, weights that add up to {weight:g} and margins up to {margin:g} overflow",
        f"scale them down: C x weights x margins^2 must stay below {MAX_OBJECTIVE:g}",
    )


def validate_prior(prior: ArrayLike | None, shape: tuple[int, int]) -> Floats:
    """Return W_0 as an array: zeros for None; refuse any other shape and infinite entries.

    Parameters
    ----------
    prior : array-like of float, optional
    shape : (int, int)
        (K, L).

    Raises
    ------
    InputError
        If it does not have that shape, or is not finite, or K L is above :data:`MAX_WEIGHTS`.
    """
    K, L = shape
    if K * L > MAX_WEIGHTS:
        raise InputError(
            f"lists of {K:,} ranks and {L:,} grades have {K * L:,} weights to learn",
            f"cut the lists, or lower `n_ranks`: {MAX_WEIGHTS:,} weights can be learned at most",
        )
    if prior is None:
        return np.zeros(shape)
    return finite_array(prior, "prior weights", shape, f"give numbers of shape {shape}, as W")


def total_weight(weights: Floats) -> float:
    """Return the sum of the weights; infinity if it overflows.

    Parameters
    ----------
    weights : ndarray of float, shape (n,)
    """
    with np.errstate(over="ignore"):  # infinity says so
        return float(weights.sum())


def _largest(margins: Floats) -> float:
    return float(max(margins.max(initial=0.0), -margins.min(initial=0.0)))
