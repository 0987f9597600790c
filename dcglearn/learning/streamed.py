"""The learning problem of packed pairs in files, which are read again at every pass.

What solvers need adds up over blocks of pairs (:mod:`dcglearn.learning.active_set`). A pass
reads the row groups of the files one after the other, on as many threads as the machine has,
or on workers that can read them locally. The sums are taken in the order of the row groups,
so the answer does not depend on where they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, SolverError, is_one_of, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import map_threads, one_blas_thread
from dcglearn.base.types import Floats
from dcglearn.base.workers import Workers
from dcglearn.correlation.agreement import outcomes
from dcglearn.judgments.packed import PackedPairs, RowGroup
from dcglearn.learning.codes import MAX_BLOCK_PAIRS, Block, CodeLayout
from dcglearn.learning.margins import MARGINS, constant_array, margins
from dcglearn.learning.problem import (
    Problem,
    check_overflow,
    total_weight,
    validate_C,
    validate_prior,
)
from dcglearn.measures.measure import Measure

_Statistic = TypeVar("_Statistic")


@dataclass(frozen=True)
class PairSummary:
    """What the first pass over the pairs collects.

    Attributes
    ----------
    n_pairs : int
    weight : float
        The sum of the weights.
    differ : bool
        Whether the lists of some pair with a positive weight differ.
    best, worst : int
        The smallest and the largest grade index, without -1 for no document.
    has_empty_ranks : bool
        Whether some list has no document at some rank.
    """

    n_pairs: int
    weight: float
    differ: bool
    best: int
    worst: int
    has_empty_ranks: bool

    def __add__(self, other: PairSummary) -> PairSummary:
        return PairSummary(
            self.n_pairs + other.n_pairs,
            self.weight + other.weight,
            self.differ or other.differ,
            min(self.best, other.best),
            max(self.worst, other.worst),
            self.has_empty_ranks or other.has_empty_ranks,
        )


@dataclass(frozen=True, repr=False)
class Streamed(ShortRepr):
    """A learning problem with its pairs in files. Use :meth:`of` to build it.

    It is an :class:`dcglearn.learning.problem.Objective`.

    Attributes
    ----------
    pairs : PackedPairs
    margin : {"unit", "hamming"}
    C : float
    monotone : bool
    summary : PairSummary
        From the first pass.
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
    summary: PairSummary
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
        """Read all pairs once, comparing them with their digests, and build the problem.

        Parameters
        ----------
        pairs : PackedPairs
        margin : {"unit", "hamming"}, default "unit"
        C : float, default 1
        monotone : bool, default True
        prior : array-like of float, shape (K, L), optional
            W_0; 0 by default.
        workers : callable, optional
        advance : callable

        Returns
        -------
        Streamed

        Raises
        ------
        InputError
            If a file is damaged, nothing can be learned, or the objective overflows.
        """
        if not is_one_of(margin, MARGINS):
            raise unknown_name("margin", margin, MARGINS)
        nothing = PairSummary(0, 0.0, False, pairs.n_grades, -1, False)
        W_0 = validate_prior(prior, (pairs.n_ranks, pairs.n_grades))
        problem = cls(pairs, margin, validate_C(C), monotone, nothing, W_0, workers, advance)
        summary = problem._sum_over_groups(_summarise, ()) if pairs.row_groups else nothing
        _check_worth_learning(summary)
        check_overflow(problem.C, summary.weight, problem._largest_margin)
        return replace(problem, summary=summary)

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.summary.n_pairs

    @property
    def shape(self) -> tuple[int, int]:
        """(K, L), the shape of W."""
        return self.pairs.n_ranks, self.pairs.n_grades

    @property
    def has_empty_ranks(self) -> bool:
        """Whether some list has no document at some rank."""
        return self.summary.has_empty_ranks

    @cached_property
    def layout(self) -> CodeLayout:
        """How grades become codes."""
        return CodeLayout(*self.shape, self.has_empty_ranks)

    @property
    def _largest_margin(self) -> float:
        return 1.0 if self.margin == "unit" else float(self.shape[0])

    def sum_over_blocks(self, statistic: Callable[..., _Statistic], *arguments: Any) -> _Statistic:
        """Return the sum of a statistic over all blocks, in the order of the row groups.

        Parameters
        ----------
        statistic : callable
            Called with a block and the arguments. Its results are added.
        *arguments
        """
        group_arguments = (self.layout, self.margin, statistic, arguments)
        total: _Statistic = self._sum_over_groups(_sum_of_group, group_arguments)
        return total

    def agreements(self, measures: Sequence[Measure]) -> list[float]:
        """Return the share of the pairs that each measure agrees with; ties count 1/2.

        Parameters
        ----------
        measures : sequence of DCG or LinearUtility

        Returns
        -------
        list of float
            Weighted by the weights of the pairs.
        """
        agreed = self._sum_over_groups(_agreed_weight, (tuple(measures),))
        return [float(share) for share in agreed / self.summary.weight]

    def with_C(self, C: float) -> Self:
        """Return the same problem with another C.

        Parameters
        ----------
        C : float

        Raises
        ------
        InputError
            If C is not positive and finite, or so large that the objective overflows.
        """
        check_overflow(validate_C(C), self.summary.weight, self._largest_margin)
        return replace(self, C=float(C))

    def sample(self, n: int) -> Problem:
        """Return the problem of about n of the pairs, evenly spaced, in memory.

        Parameters
        ----------
        n : int
        """
        every = -(-self.n_pairs // n)
        groups = self._map_groups(_subsample, (every,))
        pairs = np.concatenate([rows for rows, _ in groups])
        weights = None
        if any(given is not None for _, given in groups):
            weights = np.concatenate([np.ones(len(rows)) if v is None else v for rows, v in groups])
        C = self.C * self.n_pairs / len(pairs)
        L = self.shape[1]
        return Problem.of(pairs, L, self.margin, weights, C, self.monotone, self.prior)

    def _sum_over_groups(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return reduce(add, self._map_groups(function, arguments))

    def _map_groups(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
        """Apply a function to every row group; return the results in the order of the groups."""
        tasks = [(function, group, arguments) for group in self.pairs.row_groups]
        done = 0

        def run(task: tuple[Any, ...]) -> Any:
            nonlocal done
            result = _run_task(task)
            done += 1
            self.advance(done * self.pairs.n_pairs // len(tasks), 0)
            return result

        if self.workers is None:
            results = map_threads(run, tasks)
        else:
            by_index = {}
            for index, result in self.workers(_run_task, tasks):
                by_index[index] = result
                self.advance(len(by_index) * self.pairs.n_pairs // len(tasks), 0)
            results = [by_index[index] for index in range(len(tasks))]
        for result in results:
            if isinstance(result, Exception):
                raise result
        return results


def _run_task(task: tuple[Callable[..., Any], RowGroup, tuple[Any, ...]]) -> Any:
    """Apply a function to one row group; return errors instead of raising them on a worker."""
    function, group, arguments = task
    try:
        with one_blas_thread():
            return function(group, *arguments)
    except (InputError, SolverError) as error:
        return error
    except (MemoryError, OSError) as error:
        return InputError(f"cannot be used ({type(error).__name__}: {error})", "", group.path)


def _summarise(group: RowGroup) -> PairSummary:
    pairs, weights = group.read()
    counted = pairs if weights is None else pairs[weights > 0]
    return PairSummary(
        len(pairs),
        float(len(pairs)) if weights is None else total_weight(weights),
        bool((counted[:, 0] != counted[:, 1]).any()),
        int(counted.min(where=counted >= 0, initial=127)),
        int(counted.max(initial=-1)),
        bool(pairs.min(initial=0) < 0),
    )


def _agreed_weight(group: RowGroup, measures: Sequence[Measure]) -> Floats:
    pairs, weights = group.read(check=False)
    agreed = [outcomes(measure, pairs) for measure in measures]
    return np.array([one.sum() if weights is None else weights @ one for one in agreed])


def _subsample(group: RowGroup, every: int) -> tuple[Any, Any]:
    pairs, weights = group.read(check=False)
    rows = slice(-group.before % every, None, every)
    return pairs[rows].copy(), None if weights is None else weights[rows]


def _sum_of_group(
    group: RowGroup,
    layout: CodeLayout,
    margin: str,
    statistic: Callable[..., Any],
    arguments: tuple[Any],
) -> Any:
    """Return the sum of a statistic over the blocks of one row group."""
    pairs, weights = group.read(check=False)
    total = None
    for begin in range(0, max(1, len(pairs)), MAX_BLOCK_PAIRS):
        rows = slice(begin, begin + MAX_BLOCK_PAIRS)
        some = pairs[rows]
        v = constant_array(1.0, len(some)) if weights is None else weights[rows]
        block = Block(layout, layout.encode(some), margins(some, margin), v)
        part = statistic(block, *arguments)
        total = part if total is None else total + part
    return total


def _check_worth_learning(summary: PairSummary) -> None:
    if not summary.n_pairs or summary.worst < 0:
        raise InputError(
            "there are no strict preferences, or all weights are 0", "pack some judgments"
        )
    if not summary.differ:
        raise InputError(
            f"all strict preferences ({summary.n_pairs:,}) are between identical lists",
            "give pairs whose lists differ",
        )
    if summary.best == summary.worst:
        raise InputError("only one grade occurs", "judge lists of different grades")
