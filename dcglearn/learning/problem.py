"""The learning problem: what every solver minimises and every certificate checks.

    min_W  |W|^2 + C sum_i v_i max(0, m_i - <W, x_i>)^2
    s.t.   W[k, l] >= W[k, l + 1]                            (if grades are ordered)

with x_i = s(preferred) - s(other), where the encoding s of a ranking has one unit vector per rank.
The problems of Zhou, Zha, Xue & Yu (arXiv 1212.5650) are eq. 1 with m = 1, eq. 4 ("enhanced")
with m the Hamming distance, the number of ranks at which the grades differ, and eq. 6 without the
monotone constraints, on the K x K encoding of rankings without grades.

:class:`Parameters` make a problem of pairs without scikit-learn, which takes longer to load than
most fits take; :class:`dcglearn.learning.learner.DCGLearner` adds its contract.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from operator import add
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Grades, ShortRepr
from dcglearn.base.workers import Workers
from dcglearn.judgments.packed import PackedPairs
from dcglearn.judgments.preferences import check_worth_learning, warn_if_upside_down
from dcglearn.learning.cones import Cone
from dcglearn.learning.source import (
    Arrays,
    MarginOf,
    RowGroups,
    Source,
    Statistic,
    in_threads,
    unless_ones,
)
from dcglearn.measures.agreement import checked_pairs, one_per_pair
from dcglearn.measures.measure import Measure

Encoding = Literal["grades", "documents"]
Margin = str | Callable[[Grades], ArrayLike]
SolverName = Literal["auto", "newton", "osqp", "clarabel"]
MarginName = Literal["unit", "hamming"]

MAX_C = 1e100
"""Upper limit of C: the square of the objective must be finite."""

MAX_WEIGHTS = 10_000
"""Upper limit of K L, the size of W: the hessian holds its square, here 800 MB."""


def _unit(pairs: Grades) -> None:
    return None


def _hamming(pairs: Grades) -> Floats:
    return np.asarray((pairs[:, 0] != pairs[:, 1]).sum(axis=1, dtype=float))


MARGINS: dict[str, MarginOf] = {"unit": _unit, "hamming": _hamming}


@dataclass(frozen=True, repr=False)
class Problem(ShortRepr):
    """A learning problem. Use :meth:`of` or :meth:`packed` to build it.

    Attributes
    ----------
    source : Source
        The pairs, in memory or in files.
    C : float
        Weight of the squared hinge loss relative to |W|^2.
    monotone : bool
        Whether a better grade must be worth at least as much as a worse one at every rank.
    margin : str
        ``unit``, ``hamming``, or ``own`` for given numbers.
    """

    source: Source
    C: float = 1.0
    monotone: bool = True
    margin: str = "unit"

    def __post_init__(self) -> None:
        K, L = self.shape
        if K * L > MAX_WEIGHTS:
            raise InputError(
                f"lists of {K:,} ranks and {L:,} grades have {K * L:,} weights to learn",
                f"cut the lists, or lower `n_ranks`: {MAX_WEIGHTS:,} can be learned at most",
            )
        C: object = self.C
        if isinstance(C, bool) or not isinstance(C, Real) or not 0 < float(C) < MAX_C:
            raise InputError(f"C is {self.C!r}", f"use a number above 0 and below {MAX_C:g}")
        if not self.n_pairs:
            raise InputError("no pair to learn from", "give at least one strict preference")

    @classmethod
    def of(
        cls,
        pairs: ArrayLike,
        n_grades: int,
        margin: str | ArrayLike = "unit",
        weights: ArrayLike | None = None,
        C: float = 1.0,
        monotone: bool = True,
    ) -> Problem:
        """Check pairs in memory and build the problem.

        Parameters
        ----------
        pairs : array-like of int, shape (n, 2, K)
            The preferred ranking first. An integer array is not copied.
        n_grades : int
            L, or the number of documents.
        margin : {"unit", "hamming"} or array-like of float, shape (n,)
        weights : array-like of float, shape (n,), optional
            0 or more; 1 by default.
        C : float, default 1
            Positive and finite.
        monotone : bool, default True

        Examples
        --------
        >>> Problem.of([[[0, 1], [1, 1]]], n_grades=2).shape
        (2, 2)
        """
        rows = checked_pairs(pairs, n_grades)
        v = None
        if weights is not None:
            v = unless_ones(one_per_pair(weights, len(rows), "weights", 0.0))
        if isinstance(margin, str):
            name = margin
            m = margins_of(margin)(rows)
        else:
            name = "own"
            m = one_per_pair(margin, len(rows), "margins")
        return cls(Arrays(rows, n_grades, m, v), C, monotone, name)

    @classmethod
    def packed(
        cls,
        pairs: PackedPairs,
        margin: str = "unit",
        C: float = 1.0,
        workers: Workers = in_threads,
        advance: Advance = silent,
    ) -> Problem:
        """Read all packed pairs once, comparing them with their digests, and build the problem.

        Parameters
        ----------
        pairs : PackedPairs
        margin : {"unit", "hamming"}, default "unit"
        C : float, default 1
        workers : callable, optional
            From :func:`dcglearn.base.workers.open_workers`; threads of this process by default.
        advance : callable
            Called with (pairs read in all passes, 0).
        """
        return cls(RowGroups(pairs, margins_of(margin), workers, advance), C, margin=margin)

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.source.n_pairs

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""
        return self.source.shape

    @property
    def cone(self) -> Cone:
        """The matrices W that are allowed."""
        return Cone(self.shape[1] if self.monotone else 1)

    @property
    def arrays(self) -> Arrays:
        """The pairs in memory; an InputError if they are in files."""
        if isinstance(self.source, Arrays):
            return self.source
        raise InputError("the pairs are in files", "read them into memory, or use newton")

    @property
    def pairs(self) -> Grades:
        """The pairs in memory, shape (n, 2, K)."""
        return self.arrays.pairs

    def sum_over_blocks(self, statistic: Callable[..., Statistic], *arguments: Any) -> Statistic:
        """Return the sum of ``statistic(block, *arguments)`` over all blocks, in their order."""
        parts = self.source.map(Arrays.sum_over_blocks, statistic, *arguments)
        total: Statistic = reduce(add, parts)
        return total

    def agreements(self, measures: Sequence[Measure]) -> list[float]:
        """Return the share of the pairs' weight that each measure agrees with; ties count 1/2."""
        parts = self.source.map(Arrays.agreed_weights, tuple(measures))
        *agreed, total = np.sum(parts, axis=0).tolist()
        return [one / total for one in agreed]

    def with_C(self, C: float) -> Problem:
        """Return the same problem with another C."""
        return replace(self, C=C)

    def take(self, rows: Any, times: Floats | None = None) -> Problem:
        """Return the problem of some pairs in memory, each counted `times` as often."""
        pairs = self.arrays
        if times is not None:
            pairs = replace(pairs, weights=times * pairs.given_weights)
        part = pairs.some(rows)
        check_worth_learning(part.pairs, part.weights)
        return replace(self, source=part)

    def sample(self, n: int) -> Problem:
        """Return the problem of at most n evenly spaced pairs, with C scaled up to match."""
        source = self.source.some(slice(None, None, -(-self.n_pairs // n)))
        return replace(self, source=source, C=self.C * self.n_pairs / source.n_pairs)


def margins_of(name: str) -> MarginOf:
    """Return the function that gives the margins of that name."""
    check_name(name, "margin", MARGINS)
    return MARGINS[name]


@dataclass(kw_only=True, eq=False)
class Parameters:
    """As those of :class:`dcglearn.learning.learner.DCGLearner`."""

    encoding: Encoding = "grades"
    margin: Margin = "unit"
    C: float | Literal["cv"] = 1.0
    solver: SolverName = "auto"
    n_grades: int | None = None

    def problem(self, pairs: ArrayLike, sample_weight: ArrayLike | None = None) -> Problem:
        """Return the problem of learning from pairs, (n, 2, K) or (n, 2 K), preferred first.

        InputError if the pairs, the weights or a parameter cannot be used.
        """
        check_name(self.encoding, "encoding", ["grades", "documents"])
        rows = checked_pairs(pairs, np.iinfo(np.int64).max)
        documents = self.encoding == "documents"
        if documents:
            _check_permutations(rows)
        else:
            warn_if_upside_down(rows)
        weights = None
        if sample_weight is not None:
            weights = one_per_pair(sample_weight, len(rows), "sample_weight", 0.0)
        check_worth_learning(rows, weights)
        n_grades = rows.shape[2] if documents else self.n_grades
        if n_grades is None:
            n_grades = max(int(rows.max()) + 1, 1)
        return Problem.of(
            rows,
            checked_count(n_grades, "n_grades"),
            self.margin(rows) if callable(self.margin) else self.margin,
            weights,
            1.0 if self.C == "cv" else self.C,
            monotone=not documents,
        )


def _check_permutations(rankings: Grades) -> None:
    documents = np.arange(rankings.shape[2])
    complete = (np.sort(rankings, axis=2) == documents).all(axis=(1, 2))
    if not complete.all():
        raise InputError(
            f"a ranking is not a permutation of the documents 0 ... {len(documents) - 1}",
            "rank each of the K documents once",
            f"row {int(np.argmin(complete))}",
        )
