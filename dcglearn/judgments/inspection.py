"""Counts of a set of judgments, and the ceiling it puts on the agreement of any measure.

A measure depends only on grades. A pair of identical lists is always a tie, which counts 1/2; on
two lists judged both ways, a measure agrees at most with the larger side. No measure of graded
lists therefore agrees with more than

    (sum over unordered pairs {x, y} of max(v_xy, v_yx) + 1/2 sum of v_xx) / sum of v

where v_xy is the weight of the judgments that prefer x to y.

Judgments of one query are not independent, so a set in which few queries hold most judgments is
worth less than its size. With n_q judgments of query q, it is worth as many evenly judged queries
as (sum of n_q)^2 / sum of n_q^2 (Kish, Survey Sampling, 1965, of weights).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dcglearn.base.types import Floats, Integers
from dcglearn.judgments.folds import query_counts
from dcglearn.judgments.judges import JudgeTests, judge_tests
from dcglearn.judgments.list_pairs import ListPairs, list_pairs, votes
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.numbering import id_numbers, row_numbers
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.statistics.clustered_means import clustered_mean

DOMINANT = 0.05
"""A query dominates if it holds at least this share of the strict judgments, and at least twice an
even share, or three quarters if there are few queries."""


@dataclass(frozen=True)
class Contents:
    """What one pass over the columns counts, as :class:`Summary` describes it."""

    judgments: int
    strict: int
    ties: int
    answers: dict[str, int]
    queries: int
    judges: int
    without_query: int
    weightless: int
    n_ranks: int
    n_grades: int
    shorter_lists: int
    grade_counts: list[int]
    weighted: bool


@dataclass(frozen=True)
class Summary(Contents):
    """Counts of judgments, and shares of them and of their weight.

    Attributes
    ----------
    judgments, strict, ties : int
        The number of judgments, of those with a preference and of those without.
    answers : dict from answer to int
        The number of judgments per answer.
    queries, judges : int
        The number of distinct ids.
    without_query : int
        The number of judgments without a query.
    weightless : int
        The number of strict judgments of weight 0: they are counted here and used nowhere.
    n_ranks, n_grades : int
        K and L.
    shorter_lists : int
        The number of lists with an empty rank.
    grade_counts : list of int
        How often each grade occurs, best first.
    weighted : bool
        Whether the weights of the strict judgments differ.
    repeated_rows : int
        The number of judgments that repeat an earlier one: query, both lists, answer, judge and
        weight.
    a_share, a_share_of_weight : float
        The share of strict judgments, and of their weight, that prefer side a.
    a_share_interval : (float, float)
        The 95% interval of `a_share`, which keeps a query together
        (:mod:`dcglearn.statistics.clustered_means`); 0 to 1 if there is one query.
    identical : int
        The number of strict judgments of identical lists.
    repeated_pairs, contradicted_pairs : int
        The number of unordered pairs of lists with more than one strict judgment, and of those
        judged both ways.
    contradicted_within_query : int or None
        The number of unordered pairs of lists judged both ways for one query; None if no query
        is known.
    contradicted : int
        The number of strict judgments of lists that were also judged the other way.
    also_tied : int
        The number of strict judgments of lists that were also judged a tie.
    ceiling_identical, ceiling : float
        The largest agreement, as a share of weight, that any measure can reach: because of
        identical lists alone, and because of contradictions as well.
    unweighted_ceiling_identical, unweighted_ceiling : float
        The same as shares of judgments.
    """

    repeated_rows: int
    a_share: float
    a_share_of_weight: float
    a_share_interval: tuple[float, float]
    identical: int
    repeated_pairs: int
    contradicted_pairs: int
    contradicted_within_query: int | None
    contradicted: int
    also_tied: int
    ceiling_identical: float
    ceiling: float
    unweighted_ceiling_identical: float
    unweighted_ceiling: float

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a dict that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True)
class QueryShare:
    """The strict judgments of one query, and their shares of all and of the weight (or nan)."""

    query: str
    judgments: int
    share: float
    share_of_weight: float


@dataclass(frozen=True)
class QueryShares:
    """How evenly strict judgments are spread over queries; one without an id is a query itself.

    `effective` is the number of evenly judged queries that they are worth.
    """

    queries: int
    effective: float
    effective_by_weight: float
    largest: QueryShare
    dominant: tuple[QueryShare, ...]


@dataclass(frozen=True)
class Inspection:
    """What a set of judgments holds.

    Attributes
    ----------
    summary : Summary
    queries : QueryShares or None
        None if no strict judgment has a query id. Otherwise the number of `queries`, of evenly
        judged ones that they are worth (`effective`), the `largest` and the `dominant` ones.
    judges : JudgeTests or None
        None if no judge is known. Otherwise all `judges`, the `outstanding` ones, and what answers
        were compared with (`basis`).
    """

    summary: Summary
    queries: QueryShares | None
    judges: JudgeTests | None

    def to_json(self) -> dict[str, Any]:
        """Return everything as a dict that JSON can hold."""
        return {
            **self.summary.to_json(),
            "query_shares": None if self.queries is None else asdict(self.queries),
            "judge_tests": None if self.judges is None else asdict(self.judges),
        }


def inspect_judgments(preferences: Preferences, documents: bool = False) -> Inspection:
    """Count judgments, and find dominant queries and judges who stand out.

    Parameters
    ----------
    preferences : Preferences
    documents : bool, default False
        Whether lists hold documents without grades.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> from dcglearn import Scale
    >>> lists = [[[0, 1], [1, 1]]] * 30
    >>> judges = ["x", "y"] * 15
    >>> answers = ["a", "b"] * 15
    >>> found = inspect_judgments(Preferences.of(lists, answers, Scale((1, 0)), judges=judges))
    >>> found.judges.shared_pairs, found.judges.contradicted_pairs, found.queries
    (1, 1, None)
    """
    pairs = list_pairs(preferences)
    return Inspection(
        _summary(preferences, pairs),
        query_shares(preferences),
        judge_tests(preferences, pairs, documents),
    )


def summarise(preferences: Preferences) -> Summary:
    """Count the judgments, ids, grades, repetitions and contradictions of a set.

    Parameters
    ----------
    preferences : Preferences

    Returns
    -------
    Summary
        Shares are nan if there is no strict judgment, or none with weight.

    Examples
    --------
    >>> from dcglearn import Scale
    >>> lists = [[[0, 1], [1, 1]], [[1, 1], [0, 1]], [[0, 0], [0, 0]], [[0, 0], [1, 1]]]
    >>> found = summarise(Preferences.of(lists, ["a", "a", "a", "a"], Scale((1, 0))))
    >>> found.contradicted_pairs, found.identical, found.ceiling
    (1, 1, 0.625)
    """
    return _summary(preferences, list_pairs(preferences))


def count_contents(preferences: Preferences) -> Contents:
    """Count the judgments, ids and grades of a set, without comparing judgments."""
    answers = np.bincount(preferences.answers, minlength=len(ANSWERS)).tolist()
    strict = int(preferences.strict.sum())
    lists, weights = preferences.lists, preferences.pair_weights
    queries, without_query = query_counts(preferences.queries)
    return Contents(
        judgments=len(preferences),
        strict=strict,
        ties=len(preferences) - strict,
        answers=dict(zip(ANSWERS, answers, strict=True)),
        queries=queries,
        judges=query_counts(preferences.judges)[0],
        without_query=without_query,
        weightless=int((weights == 0).sum()),
        n_ranks=preferences.n_ranks,
        n_grades=preferences.n_grades,
        shorter_lists=int((lists == NO_DOCUMENT).any(axis=2).sum()),
        grade_counts=[int((lists == grade).sum()) for grade in range(preferences.n_grades)],
        weighted=bool(strict and (weights != weights[0]).any()),
    )


def _summary(preferences: Preferences, pairs: ListPairs) -> Summary:
    return Summary(
        **vars(count_contents(preferences)),
        repeated_rows=_repeated_rows(preferences[np.bincount(pairs.lists)[pairs.lists] > 1]),
        **_sides(preferences),
        **_repeats(preferences, pairs),
    )


def _repeated_rows(preferences: Preferences) -> int:
    ids = map(id_numbers, (preferences.queries, preferences.judges))
    rows = row_numbers(
        [
            *preferences.lists.reshape(-1, 2 * preferences.n_ranks).T,
            preferences.answers,
            *(np.minimum(codes, len(names)) for codes, names in ids),  # unknown ids are equal here
            np.unique(preferences.weights, return_inverse=True)[1],
        ]
    )
    return len(rows) - 1 - int(rows.max(initial=-1))


def _sides(preferences: Preferences) -> dict[str, Any]:
    a_wins, weights = preferences.answers[preferences.strict] == 0, preferences.pair_weights
    if not len(a_wins):
        nan = float("nan")
        return {"a_share": nan, "a_share_of_weight": nan, "a_share_interval": (nan, nan)}
    mean = clustered_mean(a_wins.astype(float), preferences.pair_groups)
    return {
        "a_share": float(a_wins.mean()),
        "a_share_of_weight": _share(weights[a_wins].sum(), weights.sum()),
        "a_share_interval": mean.interval(0, 1) if np.isfinite(mean.error) else (0.0, 1.0),
    }


def _repeats(preferences: Preferences, pairs: ListPairs) -> dict[str, Any]:
    strict, weights = preferences.strict, preferences.pair_weights
    lists, within, winner = (column[strict] for column in pairs)
    both = votes(lists, winner).min(axis=0) > 0
    within_query = int((votes(within, winner).min(axis=0) > 0).sum())
    known = query_counts(preferences.queries[strict])[0]
    tied = np.isin(lists, pairs.lists[~strict])
    by_weight, by_count = (_ceilings(lists, winner, of) for of in (weights, np.ones(len(lists))))
    return {
        "identical": int((winner == 0).sum()),
        "repeated_pairs": int((np.bincount(lists) > 1).sum()),
        "contradicted_pairs": int(both.sum()),
        "contradicted_within_query": within_query if known else None,
        "contradicted": int(both[lists].sum()),
        "also_tied": int(tied.sum()),
        "ceiling_identical": by_weight[0],
        "ceiling": by_weight[1],
        "unweighted_ceiling_identical": by_count[0],
        "unweighted_ceiling": by_count[1],
    }


def _ceilings(lists: Integers, winner: Integers, weights: Floats) -> tuple[float, float]:
    """Return the largest agreement because of identical lists, and of contradictions as well."""
    total, halves = weights.sum(), weights[winner == 0].sum() / 2
    larger = votes(lists, winner, weights).max(axis=0).sum()
    return _share(total - halves, total), _share(larger + halves, total)


def _share(part: float, total: float) -> float:
    return float(part / total) if total > 0 else float("nan")


def query_shares(preferences: Preferences) -> QueryShares | None:
    """Count the strict judgments of each query; None if none has a query id."""
    codes, names = id_numbers(preferences.queries[preferences.strict])
    if not names:
        return None
    counts = np.bincount(codes)
    totals = np.stack([counts, np.bincount(codes, preferences.pair_weights)])
    sums = totals.sum(axis=1, keepdims=True)
    shares = totals / np.where(sums > 0, sums, np.nan)
    limit = max(DOMINANT, min(2 / len(counts), 0.75))
    order = np.argsort(-counts[: len(names)], kind="stable")
    dominant = order[(shares[:, order] >= limit).any(axis=0)]
    largest, *others = (
        QueryShare(names[at], int(counts[at]), *shares[:, at].tolist())
        for at in (order[0], *dominant)
    )
    effective, by_weight = (1 / (shares**2).sum(axis=1)).tolist()
    return QueryShares(len(counts), effective, by_weight, largest, tuple(others))
