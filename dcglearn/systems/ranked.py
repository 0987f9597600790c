"""Rankings of many queries as flat arrays, :class:`Ranked`; how they count is by :class:`Rules`.

One more measure costs two look-ups, one product and one sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.checks import checked_count, finite_array
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Booleans, Floats, Grades, Integers, ShortRepr
from dcglearn.collections.runs import Unjudged
from dcglearn.measures.dcg import DCG, counts_by_grade, ratio
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT, checked_grades

Ties = Literal["docid", "mean", "input"]
Pool = Literal["all", "own"]


@dataclass(frozen=True)
class Rules:
    """The choices an evaluation makes besides gains and discounts.

    Attributes
    ----------
    ties : {"docid", "mean", "input"}, default "docid"
        Documents with equal scores: by id, the largest first, as in trec_eval; the mean over their
        orders; or the order of the run.
    unjudged : {"nothing", "worst", "removed", "bounds"}, default "nothing"
        Retrieved documents without a judgment keep their rank and gain nothing, as in trec_eval;
        count as the worst grade; are removed; or may have any grade: the values are then bounds.
    worthless : float or None, default 0
        The normalised value of a query whose ideal DCG is 0; None leaves the query out.
    missing : float or None, default 0
        The value of a query that is missing from a run; None leaves the query out.
    least : float, optional
        Gains below it count 0.
    single : bool, optional
        Whether scores are compared in single precision; by default where `ties` is "docid".
    pool : {"all", "own"}, optional
        Whose documents without a judgment are in the ideal of a query, where they may gain
        something. By default those of "all" runs, and the run's "own" for bounds.

    Examples
    --------
    The defaults are those of trec_eval, but queries that are missing from a run count 0 and gains
    below 0 are kept:

    >>> from dataclasses import replace
    >>> replace(LIKE["trec_eval"], missing=0.0, least=None) == Rules()
    True
    """

    ties: Ties = "docid"
    unjudged: Unjudged = "nothing"
    worthless: float | None = 0.0
    missing: float | None = 0.0
    least: float | None = None
    single: bool | None = None
    pool: Pool | None = None

    def __post_init__(self) -> None:
        check_name(self.ties, "`ties`", get_args(Ties))
        if self.single is None:
            vars(self)["single"] = self.ties == "docid"
        check_name(self.unjudged, "`unjudged`", get_args(Unjudged))
        check_name(self.pool, "`pool`", (None, *get_args(Pool)))

    @property
    def shared_pool(self) -> bool:
        """Whether the ideal of a query counts the documents without a judgment of all runs."""
        return self.unjudged != "bounds" if self.pool is None else self.pool == "all"


LIKE: dict[str, Rules] = {
    "trec_eval": Rules(missing=None, least=0.0),
    "ir_measures": Rules(least=0.0),
    "ranx": Rules(ties="input", least=1.0),
    "sklearn": Rules(ties="mean"),
    "gdeval": Rules(worthless=None, missing=None, least=0.0, single=False),
}
"""The choices of other tools, for the measures that they have."""


def rules_like(rules: Rules | str) -> Rules:
    """Return the choices themselves, or those of another tool."""
    if isinstance(rules, Rules):
        return rules
    check_name(rules, "tool", LIKE)
    return LIKE[rules]


def chosen_rules(like: str | None, **choices: str | None) -> Rules:
    """Return the rules of a tool, or the usual ones, with the choices in words that are given."""
    given: dict[str, Any] = {name: value for name, value in choices.items() if value is not None}
    for name in given.keys() & {"worthless", "missing"}:
        given[name] = None if given[name] == "out" else float(given[name])
    return Rules(**given) if like is None else replace(rules_like(like), **given)


@dataclass(frozen=True, eq=False, repr=False)
class Ranked(ShortRepr):
    """The ranking of each query, best score first.

    Attributes
    ----------
    starts : ndarray of int, shape (Q + 1,)
        Where the documents of each query start in the other arrays; the last entry is n.
    grades : ndarray of int, shape (n,)
        Grade index of each document, L for a document without a judgment.
    pools : ndarray of int, shape (Q, L)
        Number of documents of each grade that are judged for each query.
    tied : ndarray of int, shape (n,), optional
        Number of each document's group of equal scores, ascending; their mean counts.
    pooled : ndarray of int, shape (Q,), optional
        Number of documents without a judgment in the pool of each query; by default the ranking's.

    Examples
    --------
    Three documents: grade 0 and grade 1, with equal scores, and one without a judgment.

    >>> from dcglearn import DCG, score_runs
    >>> ranked = Ranked(
    ...     np.array([0, 3]), np.array([0, 1, 2]), np.array([[1, 1]]), np.array([0, 0, 1])
    ... )
    >>> score_runs(DCG([1, 0], "zipf"), ranked)
    array([0.75])
    """

    starts: Integers
    grades: Grades
    pools: Integers
    tied: Integers | None = None
    pooled: Integers | None = None

    @property
    def n_grades(self) -> int:
        """L, the number of grades."""
        return int(self.pools.shape[1])

    @property
    def has_ties(self) -> bool:
        """Whether any documents of one query have equal scores."""
        return self.tied is not None

    @property
    def missing(self) -> Booleans:
        """Which queries have no documents, shape (Q,)."""
        return np.asarray(self.lengths == 0)

    @cached_property
    def ranks(self) -> Integers:
        """Rank of each document, 0 for the first, shape (n,)."""
        return np.arange(len(self.grades)) - self.starts[self.query]

    @cached_property
    def query(self) -> Integers:
        """Number of the query of each document, shape (n,)."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def lengths(self) -> Integers:
        """Number of documents ranked for each query, shape (Q,)."""
        return np.diff(self.starts)

    @property
    def longest(self) -> int:
        """Number of documents of the longest ranking, at least 1."""
        return int(self.lengths.max(initial=1))

    @cached_property
    def unjudged(self) -> Integers:
        """Number of ranked documents without a judgment for each query, shape (Q,)."""
        return np.bincount(self.query[self.grades == self.n_grades], minlength=len(self.lengths))

    @cached_property
    def tie_groups(self) -> tuple[Integers, Integers, Integers]:
        """Groups of equal scores: the first document of each, its size, each document's group."""
        tied = np.arange(len(self.grades)) if self.tied is None else self.tied
        new = np.diff(tied, prepend=-1) > 0
        first = np.flatnonzero(new)
        return first, np.diff(first, append=len(tied)), np.cumsum(new) - 1

    def sum_by_query(self, values: Floats | Booleans) -> Floats:
        """Sum the values of each query's documents one after the other, as trec_eval does."""
        return np.bincount(self.query, values, len(self.lengths)).astype(float)

    def sum_above(self, values: Floats | Booleans) -> Floats:
        """Return the sum over the documents of its query above each document, shape (n,)."""
        before = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(before[:-1] - before[self.starts[self.query]])

    def mean_over_ties(self, values: Floats | Booleans) -> Floats:
        """Return values (n,) in which documents with equal scores have their mean."""
        if self.tied is None:
            return values.astype(float)
        _, sizes, group = self.tie_groups
        return (np.bincount(group, values) / sizes)[group]

    def judged_share(self, cutoff: int | None = None) -> Floats:
        """Return the share of judged documents among the first `cutoff` of each query, (Q,)."""
        first = self.first(cutoff)
        counted = first.ranks < (cutoff or len(first.grades))
        judged = counted * first.mean_over_ties(first.grades < first.n_grades)
        return ratio(first.sum_by_query(judged), first.sum_by_query(counted), np.nan)

    def by_rank(self, values: NDArray[Any], n_ranks: int, empty: float = 0.0) -> NDArray[Any]:
        """Return values (n, ...) of documents by the first ranks of each query, (Q, K, ...)."""
        near = self.ranks < n_ranks
        found = np.full((len(self.pools), n_ranks, *values.shape[1:]), empty)
        found[self.query[near], self.ranks[near]] = values[near]
        return found

    def grade_shares(self, n_ranks: int) -> Floats:
        """Return the expected number of documents at each rank of each grade, (Q, K, L + 1)."""
        first = self.first(n_ranks)
        shares = [first.mean_over_ties(first.grades == g) for g in range(self.n_grades + 1)]
        return first.by_rank(np.column_stack(shares), n_ranks)

    def grade_matrix(self, n_ranks: int) -> NDArray[np.int64]:
        """Return the grades of the first ranks, (Q, n_ranks); -1 where there is no document."""
        first = replace(self, tied=None).first(n_ranks)
        return first.by_rank(first.grades, n_ranks, NO_DOCUMENT)

    def first(self, n_ranks: int | None) -> Ranked:
        """Return the first ranks of each query, with all documents that are tied with one there."""
        if n_ranks is None or not len(self.grades):
            return self
        ends = np.minimum(self.starts[:-1] + n_ranks, self.starts[1:])
        if self.tied is not None:
            after = np.searchsorted(self.tied, self.tied[ends - 1], "right")
            ends = np.minimum(after, self.starts[1:])
        starts = np.append(0, np.cumsum(ends - self.starts[:-1]))
        return self._take(
            starts, np.arange(starts[-1]) + np.repeat(ends - starts[1:], np.diff(starts))
        )

    def keep(self, kept: Booleans) -> Ranked:
        """Return the rankings of some of the documents, of which the others keep their order."""
        return self._take(np.append(0, np.cumsum(kept))[self.starts], kept)

    def _take(self, starts: Integers, rows: Integers | Booleans) -> Ranked:
        tied = None if self.tied is None else self.tied[rows]
        return replace(self, starts=starts, grades=self.grades[rows], tied=tied)


def ranked_arrays(
    grades: Grades, scores: Floats, n_grades: int, top: int | None = None, ties: Ties = "mean"
) -> Ranked:
    """Rank documents given as arrays: the same number for each query, all of them judged.

    Parameters
    ----------
    grades : array-like of int, shape (Q, N)
        Grade indices, 0 the best.
    scores : array-like of float, shape (Q, N)
    n_grades : int
        L.
    top : int, optional
        The number of documents to keep per query, or more if scores are equal; all by default.
    ties : {"mean", "input"}, default "mean"
        Documents with equal scores count the mean over their orders, or keep their order.

    Returns
    -------
    Ranked

    Examples
    --------
    >>> from dcglearn import DCG, score_runs
    >>> ranked = ranked_arrays(np.array([[1, 0, 0]]), np.array([[0.3, 0.2, 0.1]]), 2, top=2)
    >>> score_runs(DCG([1, 0], "zipf", 2), ranked)
    array([0.5])
    """
    checked_count(n_grades, "`n_grades`", high=MAX_GRADES)
    check_name(ties, "`ties`", ("mean", "input"))
    given = finite_array(scores, "scores", (None, None))
    grades = checked_grades(grades, n_grades)
    if grades.shape != given.shape or not grades.size or grades.min() < 0:
        raise InputError(
            f"grades of shape {grades.shape} and scores of shape {given.shape}",
            "give both of shape (Q, N), with a grade for each document",
        )
    pools = counts_by_grade(grades, n_grades)
    top = grades.shape[1] if top is None else min(checked_count(top, "`top`"), grades.shape[1])
    if top < grades.shape[1]:  # only these are sorted
        least = np.partition(given, -top, axis=1)[:, [-top]]
        most = int((given >= least).sum(axis=1).max())
        some = np.sort(np.argpartition(-given, most - 1, axis=1)[:, :most], axis=1)
        given = np.take_along_axis(given, some, axis=1)
        grades = np.take_along_axis(grades, some, axis=1)
    order = np.argsort(-given, axis=1, kind="stable" if ties == "input" else None)
    ordered = np.take_along_axis(given, order, axis=1)
    kept = ordered >= ordered[:, [top - 1]]
    starts = np.append(0, np.cumsum(kept.sum(axis=1)))
    ranked = Ranked(starts, np.take_along_axis(grades, order, axis=1)[kept], pools)
    new = np.diff(ordered, axis=1, prepend=np.inf)[kept] < 0
    return ranked if ties == "input" or new.all() else replace(ranked, tied=np.cumsum(new) - 1)


def rank_discounts(measure: DCG, ranked: Ranked) -> Floats:
    """Return the discounts of all ranks of the longest ranking; a vector is filled with zeros."""
    counted = min(ranked.longest, measure.n_ranks or ranked.longest)
    return np.append(measure.discounts_for(counted), np.zeros(ranked.longest - counted))
