"""Counts of a set of judgments, and the ceiling it puts on the agreement of any measure.

Identical lists are a tie for every measure, which counts 1/2; on two lists judged both ways, a
measure agrees at most with the larger side. With v_xy the weight of the judgments that prefer x to
y, no measure agrees with more than

    (sum over unordered pairs {x, y} of max(v_xy, v_yx) + 1/2 sum of v_xx) / sum of v

With n_q judgments of query q, a set is worth as many evenly judged queries as
(sum of n_q)^2 / sum of n_q^2 (Kish, Survey Sampling, 1965, of weights).
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dcglearn.base.statistics import clustered_mean
from dcglearn.base.tables.columns import column_of, distinct_rows
from dcglearn.base.types import Booleans, Floats, Integers
from dcglearn.judgments.judges import JudgeTests, ListPairs, judge_tests, list_pairs, ratio, votes
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.preferences import (
    Preferences,
    count_true,
    query_counts,
    warn_if_upside_down,
)
from dcglearn.measures.scale import NO_DOCUMENT

DOMINANT = 0.05
"""The share of the strict judgments that a dominant query holds; and twice an even share, or three
quarters."""


@dataclass(frozen=True)
class Contents:
    """What one pass over the columns counts."""

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
    weightless, weighted
        Strict judgments of weight 0; whether weights differ.
    shorter_lists
        Lists with an empty rank.
    repeated_rows
        Judgments that repeat an earlier one in everything.
    a_share, a_share_of_weight, a_share_interval
        The share of strict judgments, and of their weight, that prefer side a; its 95% interval
        over queries.
    identical, repeated_pairs, contradicted_pairs, contradicted_within_query
        Strict judgments of identical lists; unordered pairs of lists judged strictly more than
        once, both ways, and both ways for one query.
    contradicted, also_tied
        Strict judgments of lists that were also judged the other way, or a tie.
    ceiling, unweighted_ceiling
        The largest agreement of any measure, as a share of weight and of judgments.
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
    ceiling: float
    unweighted_ceiling: float


@dataclass(frozen=True)
class QueryShare:
    """The strict judgments of one query, and their shares of all and of the weight."""

    query: str
    judgments: int
    share: float
    share_of_weight: float


@dataclass(frozen=True)
class QueryShares:
    """How many queries hold strict judgments, and how many evenly judged ones they are worth."""

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
        The `effective` number of evenly judged `queries`, the `largest` and the `dominant` ones.
    judges : JudgeTests or None
        All `judges`, those `outstanding`, and the `basis` of comparison.
    """

    summary: Summary
    queries: QueryShares | None
    judges: JudgeTests | None

    def to_json(self) -> dict[str, Any]:
        """Return a dict that JSON can hold."""
        summary, queries, judges = asdict(self).values()
        return {**summary, "query_shares": queries, "judge_tests": judges}


def inspect_judgments(preferences: Preferences, documents: bool = False) -> Inspection:
    """Count judgments, and find dominant queries and judges who stand out.

    Warns where better lists lose, as if the worst grade were named first.

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
    >>> data = Preferences.from_arrays([[1]] * 2, [[0]] * 2, ["a", "b"], judges=["x", "y"])
    >>> inspect_judgments(data).judges.contradicted_pairs
    1
    """
    if not documents:
        warn_if_upside_down(preferences.pairs)
    pairs = list_pairs(preferences)
    return Inspection(
        _summary(preferences, pairs),
        query_shares(preferences),
        judge_tests(preferences, pairs, documents),
    )


def count_contents(preferences: Preferences) -> Contents:
    """Count the judgments, ids and grades of a set, without comparing judgments."""
    answers = np.bincount(preferences.answers, minlength=len(ANSWERS)).tolist()
    weights = preferences.pair_weights
    lists = preferences.lists
    queries, without_query = query_counts(preferences.queries)
    return Contents(
        judgments=len(preferences),
        strict=len(weights),
        ties=len(preferences) - len(weights),
        answers=dict(zip(ANSWERS, answers, strict=True)),
        queries=queries,
        judges=query_counts(preferences.judges)[0],
        without_query=without_query,
        weightless=count_true(weights == 0),
        n_ranks=preferences.n_ranks,
        n_grades=preferences.n_grades,
        shorter_lists=count_true((lists == NO_DOCUMENT).any(axis=2)),
        grade_counts=[count_true(lists == grade) for grade in range(preferences.n_grades)],
        weighted=bool((weights != weights[:1]).any()),
    )


def _summary(preferences: Preferences, pairs: ListPairs) -> Summary:
    strict, weights = preferences.strict, preferences.pair_weights
    lists, within, winner = (column[strict] for column in pairs)
    a_wins = preferences.answers[strict] == 0
    both = votes(lists, winner).min(axis=0) > 0
    of_weight = _shares(a_wins, lists, winner, weights)
    of_judgments = _shares(a_wins, lists, winner, np.ones(len(lists)))
    return Summary(
        **vars(count_contents(preferences)),
        repeated_rows=_repeated_rows(preferences, pairs),
        a_share=of_judgments[0],
        a_share_of_weight=of_weight[0],
        a_share_interval=_interval(a_wins, preferences.pair_groups),
        identical=count_true(winner == 0),
        repeated_pairs=count_true(np.bincount(lists) > 1),
        contradicted_pairs=count_true(both),
        contradicted_within_query=count_true(votes(within, winner).min(axis=0) > 0)
        if preferences.queries[strict].any()
        else None,
        contradicted=count_true(both[lists]),
        also_tied=count_true(np.isin(lists, pairs.lists[~strict])),
        ceiling=of_weight[1],
        unweighted_ceiling=of_judgments[1],
    )


def _repeated_rows(preferences: Preferences, pairs: ListPairs) -> int:
    ids = (column_of(of).codes for of in (preferences.queries, preferences.judges))
    weights = np.unique(preferences.weights, return_inverse=True)[1]
    # lists, answer and winner together say which list was a
    first, rows = distinct_rows((pairs.lists, pairs.winner, preferences.answers, weights, *ids))
    return len(rows) - len(first)


def _interval(a_wins: Booleans, queries: Integers) -> tuple[float, float]:
    if not len(a_wins):
        return np.nan, np.nan
    mean = clustered_mean(a_wins.astype(float), queries)
    return mean.interval(0, 1) if np.isfinite(mean.error) else (0.0, 1.0)


def _shares(a_wins: Booleans, lists: Integers, winner: Integers, weights: Floats) -> Any:
    larger = votes(lists, winner, weights).max(axis=0).sum() + weights[winner == 0].sum() / 2
    return ratio(np.array([weights[a_wins].sum(), larger]), weights.sum()).tolist()


def query_shares(preferences: Preferences) -> QueryShares | None:
    """Count the strict judgments of each query; None if none has a query id."""
    queries = column_of(preferences.queries[preferences.strict])
    codes, names = queries.codes, queries.values
    if not names:
        return None
    codes[codes < 0] = len(names) + np.arange(count_true(codes < 0))
    totals = np.stack([np.bincount(codes), np.bincount(codes, preferences.pair_weights)])
    shares = ratio(totals, totals.sum(axis=1, keepdims=True))
    limit = max(DOMINANT, min(2 / shares.shape[1], 0.75))
    order = np.argsort(-totals[0, : len(names)], kind="stable")
    dominant = order[(shares[:, order] >= limit).any(axis=0)]
    largest, *others = (
        QueryShare(names[at], int(totals[0, at]), *shares[:, at].tolist())
        for at in (order[0], *dominant)
    )
    effective, by_weight = (1 / (shares**2).sum(axis=1)).tolist()
    return QueryShares(shares.shape[1], effective, by_weight, largest, tuple(others))
