"""Counts of a set of judgments, and the ceiling it puts on the agreement of any measure.

A measure depends only on grades. A pair of identical lists is always a tie, which counts 1/2; on
two lists judged both ways, a measure agrees at most with the larger side. No measure of graded
lists therefore agrees with more than

    (sum over unordered pairs {x, y} of max(v_xy, v_yx) + 1/2 sum of v_xx) / sum of v

where v_xy is the weight of the judgments that prefer x to y.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.judgments.inspection.list_pairs import ListPairs, list_pairs
from dcglearn.judgments.meaning.judgment_fields import ANSWERS
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.statistics.clustered_means import clustered_mean

_ROWS = 1 << 13
"""Judgments whose grades are counted at a time: bincount makes 8 bytes of each."""


@dataclass(frozen=True)
class Contents:
    """Counts of judgments.

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
    """

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
    """Counts of judgments, and shares of them and of their weight, beside :class:`Contents`.

    Attributes
    ----------
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


def count_contents(preferences: Preferences) -> Contents:
    """Count the judgments, ids and grades of a set, in one pass over its columns.

    Parameters
    ----------
    preferences : Preferences

    Returns
    -------
    Contents

    Examples
    --------
    >>> judged = Preferences.from_arrays([[1, 0]], [[0, None]], ["a"], queries=["q"])
    >>> found = count_contents(judged)
    >>> found.queries, found.shorter_lists, found.grade_counts
    (1, 1, [1, 2])
    """
    answers = np.bincount(preferences.answers, minlength=len(ANSWERS)).tolist()
    strict = int(preferences.strict.sum())
    weights, L = preferences.pair_weights, preferences.n_grades
    queries, judges = (set(column) - {None} for column in (preferences.queries, preferences.judges))
    rows = range(0, len(preferences), _ROWS)
    occurrences = sum(
        (
            np.bincount(preferences.lists[row : row + _ROWS].ravel() + 1, minlength=L + 1)
            for row in rows
        ),
        np.zeros(L + 1, np.int64),
    )
    return Contents(
        judgments=len(preferences),
        strict=strict,
        ties=len(preferences) - strict,
        answers=dict(zip(ANSWERS, answers, strict=True)),
        queries=len(queries),
        judges=len(judges),
        without_query=sum(query is None for query in preferences.queries),
        weightless=int((weights == 0).sum()),
        n_ranks=preferences.n_ranks,
        n_grades=preferences.n_grades,
        shorter_lists=_shorter(preferences.lists) if occurrences[0] else 0,
        grade_counts=occurrences[1:].tolist(),
        weighted=bool(strict and (weights != weights[0]).any()),
    )


def _shorter(lists: Pairs) -> int:
    return int((lists == NO_DOCUMENT).any(axis=2).sum())


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
    >>> from dcglearn.measures.scale import Scale
    >>> lists = [[[0, 1], [1, 1]], [[1, 1], [0, 1]], [[0, 0], [0, 0]], [[0, 0], [1, 1]]]
    >>> found = summarise(Preferences.of(lists, ["a", "a", "a", "a"], Scale((1, 0))))
    >>> found.contradicted_pairs, found.identical, found.ceiling
    (1, 1, 0.625)
    """
    return summary_with_pairs(preferences, list_pairs(preferences))


def summary_with_pairs(preferences: Preferences, found: ListPairs) -> Summary:
    """Count the judgments of a set of which the judgments of the same lists are known.

    Parameters
    ----------
    preferences : Preferences
    found : ListPairs

    Returns
    -------
    Summary
        As that of :func:`summarise`.
    """
    return Summary(
        **vars(count_contents(preferences)),
        **_sides(preferences),
        **_repeats(preferences, found),
    )


def _sides(preferences: Preferences) -> dict[str, Any]:
    a_wins = preferences.answers[preferences.strict] == 0
    if not len(a_wins):
        nan = float("nan")
        return {"a_share": nan, "a_share_of_weight": nan, "a_share_interval": (nan, nan)}
    mean = clustered_mean(a_wins.astype(float), preferences.pair_groups)
    weights = preferences.pair_weights
    return {
        "a_share": float(a_wins.mean()),
        "a_share_of_weight": _share(float(weights[a_wins].sum()), float(weights.sum())),
        "a_share_interval": mean.interval(0, 1) if np.isfinite(mean.error) else (0.0, 1.0),
    }


def _repeats(preferences: Preferences, everything: ListPairs) -> dict[str, Any]:
    strict = preferences.strict
    found = everything[strict]
    n = int(everything.lists.max(initial=-1)) + 1
    tied = np.bincount(everything.lists[~strict], minlength=n) > 0
    both = _judged_both_ways(found.lists, found)
    known = any(query is not None for query in preferences.queries[strict].tolist())
    within = _judged_both_ways(found.within_query, found)
    by_weight = _ceilings(found, preferences.pair_weights)
    by_count = _ceilings(found, np.ones(len(found.lists)))
    return {
        "identical": int(found.same.sum()),
        "repeated_pairs": int((np.bincount(found.lists) > 1).sum()),
        "contradicted_pairs": int(both.sum()),
        "contradicted_within_query": int(within.sum()) if known else None,
        "contradicted": int(both[found.lists].sum()),
        "also_tied": int(tied[found.lists].sum()),
        "ceiling_identical": by_weight[0],
        "ceiling": by_weight[1],
        "unweighted_ceiling_identical": by_count[0],
        "unweighted_ceiling": by_count[1],
    }


def _judged_both_ways(codes: Integers, found: ListPairs) -> NDArray[np.bool_]:
    """Return for each code whether its pair of different lists was judged both ways."""
    n = int(codes.max(initial=-1)) + 1
    forward, backward = (np.bincount(codes[way], minlength=n) > 0 for way in _ways(found))
    return forward & backward


def _ways(found: ListPairs) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which judgments of different lists prefer the lexically first, and the other."""
    return found.forward & ~found.same, ~found.forward & ~found.same


def _ceilings(found: ListPairs, weights: Floats) -> tuple[float, float]:
    """Return the largest agreement because of identical lists, and of contradictions as well."""
    n = int(found.lists.max(initial=-1)) + 1
    won = (np.bincount(found.lists[way], weights[way], minlength=n) for way in _ways(found))
    total, halves = float(weights.sum()), float(weights[found.same].sum()) / 2
    return _share(total - halves, total), _share(float(np.maximum(*won).sum()) + halves, total)


def _share(part: float, total: float) -> float:
    return part / total if total > 0 else float("nan")
