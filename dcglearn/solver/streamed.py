"""The learning problem of pairs that stay in their files: read part by part, at every pass.

What solvers ask for adds up over blocks of pairs (:mod:`dcglearn.solver.active_set`), so a pass
reads one part after another, as many at a time as there are threads, or has workers read
those that lie near them. The sums are taken in the order of the parts, so the answer is
the same wherever they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.threads import map_threads, one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.base.workers import Workers
from dcglearn.data.packed_pairs import PackedPairs, RowGroup
from dcglearn.measures.agreement import outcomes
from dcglearn.measures.measure import Measure
from dcglearn.solver.margins import MARGINS, constant_array, margins
from dcglearn.solver.pair_codes import MAX_BLOCK_PAIRS, Block, CodeLayout
from dcglearn.solver.problem import (
    Problem,
    check_overflow,
    total_weight,
    validate_C,
    validate_prior,
)

_Statistic = TypeVar("_Statistic")


@dataclass(frozen=True)
class PairSummary:
    """What a first look at pairs finds.

    Attributes
    ----------
    n : int
        Pairs.
    weight : float
        The sum of their weights.
    differ : bool
        Whether the lists of some pair of positive weight differ.
    best, worst : int
        The least and the largest grade index, no document aside.
    empty : bool
        Whether some list is empty at some rank.
    """

    n: int
    weight: float
    differ: bool
    best: int
    worst: int
    empty: bool

    def __add__(self, other: PairSummary) -> PairSummary:
        return PairSummary(
            self.n + other.n,
            self.weight + other.weight,
            self.differ or other.differ,
            min(self.best, other.best),
            max(self.worst, other.worst),
            self.empty or other.empty,
        )


@dataclass(frozen=True)
class Streamed:
    """One problem, its pairs in files. Use :meth:`of` to build it.

    It is an :class:`dcglearn.solver.problem.Objective`.

    Attributes
    ----------
    pairs : PackedPairs
    margin : {"unit", "hamming"}
    C : float
    monotone : bool
    seen : PairSummary
        What a first look found.
    prior : ndarray of float, shape (K, L)
        W_0.
    workers : callable, optional
        From :func:`dcglearn.base.workers.open_workers`; threads of this process by default.
    advance : callable
        Called with (pairs read in this pass, 0).
    """

    pairs: PackedPairs
    margin: str
    C: float
    monotone: bool
    seen: PairSummary
    prior: Floats = field(repr=False)
    workers: Workers | None = field(default=None, repr=False)
    advance: Advance = field(default=silent, repr=False)

    @classmethod
    def of(
        cls,
        pairs: PackedPairs,
        margin: str = "unit",
        C: float = 1.0,
        monotone: bool = True,
        prior: ArrayLike | None = None,
        workers: Workers | None = None,
        advance: Advance = silent,
    ) -> Streamed:
        """Look at all pairs once, and build the problem.

        Parameters
        ----------
        pairs : PackedPairs
        margin : {"unit", "hamming"}, default "unit"
        C : float, default 1
        monotone : bool, default True
        prior : array-like of float, shape (K, L), optional
        workers : callable, optional
        advance : callable

        Returns
        -------
        Streamed

        Raises
        ------
        InputError
            If a part is not as it should be (naming file and row), nothing can be learned, or
            the objective overflows.
        """
        if margin not in MARGINS:
            raise unknown_name("margin", margin, MARGINS)
        blank = PairSummary(0, 0.0, False, pairs.n_grades, -1, False)
        W_0 = validate_prior(prior, (pairs.n_ranks, pairs.n_grades))
        found = cls(pairs, margin, validate_C(C), monotone, blank, W_0, workers, advance)
        seen = blank if not pairs.row_groups else found._over_parts(_summarise, ())
        _check_worth_learning(seen)
        widest = 1.0 if margin == "unit" else float(pairs.n_ranks)
        check_overflow(found.C, seen.weight, widest)
        return replace(found, seen=seen)

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return self.seen.n

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""
        return self.pairs.n_ranks, self.pairs.n_grades

    @cached_property
    def layout(self) -> CodeLayout:
        """How grades become codes."""
        return CodeLayout(*self.shape, self.seen.empty)

    def sum_over_blocks(self, statistic: Callable[..., _Statistic], *arguments: Any) -> _Statistic:
        """Return the sum of a statistic over all blocks, in the order of the parts.

        Parameters
        ----------
        statistic : callable
        *arguments
        """
        total: _Statistic = self._over_parts(
            _summed, (self.layout, self.margin, statistic, arguments)
        )
        return total

    def agreements(self, measures: Sequence[Measure]) -> list[float]:
        """Return the share of the pairs that each measure agrees with, ties counting 1/2.

        Parameters
        ----------
        measures : sequence of DCG or LinearUtility

        Returns
        -------
        list of float
        """
        right = self._over_parts(_agreed, (tuple(measures),))
        return [float(share) for share in right / self.seen.weight]

    def with_C(self, C: float) -> Self:
        """Return the problem with another C.

        Parameters
        ----------
        C : float
        """
        widest = 1.0 if self.margin == "unit" else float(self.shape[0])
        check_overflow(validate_C(C), self.seen.weight, widest)
        return replace(self, C=float(C))

    def sample(self, n: int) -> Problem:
        """Return the problem of about n of the pairs, evenly spread, in memory.

        Parameters
        ----------
        n : int
        """
        every = max(1, self.n_pairs // n)
        parts = self._answers(_subsample, (every,))
        pairs = np.concatenate([rows for rows, _ in parts])
        weighed = any(weights is not None for _, weights in parts)
        weights = None
        if weighed:
            weights = np.concatenate([np.ones(len(rows)) if w is None else w for rows, w in parts])
        C = self.C * self.n_pairs / len(pairs)
        L = self.shape[1]
        return Problem.of(pairs, L, self.margin, weights, C, self.monotone, self.prior)

    def _over_parts(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return reduce(add, self._answers(function, arguments))

    def _answers(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
        """Apply a function to every part; return the answers in their order."""
        tasks = [(function, part, arguments) for part in self.pairs.row_groups]
        done = 0

        def one(task: tuple[Any, ...]) -> Any:
            nonlocal done
            answer = _answer(task)
            done += 1
            self.advance(done * self.pairs.n_pairs // len(tasks), 0)
            return answer

        if self.workers is None:
            answers = map_threads(one, tasks)
        else:
            found = {}
            for index, answer in self.workers(_answer, tasks):
                found[index] = answer
                self.advance(len(found) * self.pairs.n_pairs // len(tasks), 0)
            answers = [found[index] for index in range(len(tasks))]
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers


def _answer(task: tuple[Callable[..., Any], RowGroup, tuple[Any, ...]]) -> Any:
    """Do one part's work; a worker returns its errors."""
    function, part, arguments = task
    try:
        with one_blas_thread():
            return function(part, *arguments)
    except (InputError, SolverError) as error:
        return error
    except (MemoryError, OSError) as error:
        return InputError(f"cannot be used ({type(error).__name__}: {error})", "", part.path)


def _summarise(part: RowGroup) -> PairSummary:
    pairs, weights = part.read()
    counted = pairs if weights is None else pairs[weights > 0]
    return PairSummary(
        len(pairs),
        float(len(pairs)) if weights is None else total_weight(weights),
        bool((counted[:, 0] != counted[:, 1]).any()),
        int(counted.min(where=counted >= 0, initial=127)),
        int(counted.max(initial=-1)),
        bool(pairs.min(initial=0) < 0),
    )


def _agreed(part: RowGroup, measures: Sequence[Measure]) -> Floats:
    pairs, weights = part.read()
    shares = [outcomes(measure, pairs) for measure in measures]
    return np.array([one.sum() if weights is None else weights @ one for one in shares])


def _subsample(part: RowGroup, every: int) -> tuple[Any, Any]:
    pairs, weights = part.read()
    rows = slice(-part.before % every, None, every)
    return pairs[rows].copy(), None if weights is None else weights[rows]


def _summed(
    part: RowGroup,
    layout: CodeLayout,
    margin: str,
    statistic: Callable[..., Any],
    arguments: tuple[Any],
) -> Any:
    pairs, weights = part.read()
    total = None
    for begin in range(0, max(1, len(pairs)), MAX_BLOCK_PAIRS):
        rows = slice(begin, begin + MAX_BLOCK_PAIRS)
        some = pairs[rows]
        v = constant_array(1.0, len(some)) if weights is None else weights[rows]
        found = statistic(Block(layout, layout.encode(some), margins(some, margin), v), *arguments)
        total = found if total is None else total + found
    return total


def _check_worth_learning(seen: PairSummary) -> None:
    if not seen.n or seen.worst < 0:
        raise InputError("no strict preference, or every weight is zero", "pack some judgments")
    if not seen.differ:
        raise InputError(
            f"all {seen.n} strict preferences are between identical lists",
            "give pairs whose lists differ",
        )
    if seen.best == seen.worst:
        raise InputError("only one grade occurs", "judge lists of different grades")
