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

from dcglearn.base.types import Pairs
from dcglearn.data.judgment_fields import ANSWERS
from dcglearn.data.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT


@dataclass(frozen=True)
class Summary:
    """Counts of judgments, and shares of their weight.

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
    a_share : float
        The share of strict judgments that prefer side a.
    a_share_interval : (float, float)
        Its 95% interval (Wilson, of counts).
    identical : int
        The number of strict judgments of identical lists.
    repeated_pairs, contradicted_pairs : int
        The number of unordered pairs of lists with more than one strict judgment, and of those
        judged both ways.
    contradicted : int
        The number of strict judgments of lists that were also judged the other way.
    also_tied : int
        The number of strict judgments of lists that were also judged a tie.
    ceiling_identical, ceiling : float
        The largest agreement that any measure can reach: because of identical lists alone, and
        because of contradictions as well.
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
    a_share: float
    a_share_interval: tuple[float, float]
    identical: int
    repeated_pairs: int
    contradicted_pairs: int
    contradicted: int
    also_tied: int
    ceiling_identical: float
    ceiling: float

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a dict that JSON can hold."""
        return asdict(self)


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
    answers = np.bincount(preferences.answers, minlength=len(ANSWERS)).tolist()
    strict = int(preferences.strict.sum())
    ids = [
        {i for i in column if i is not None} for column in (preferences.queries, preferences.judges)
    ]
    filled = preferences.lists != NO_DOCUMENT
    return Summary(
        judgments=len(preferences),
        strict=strict,
        ties=len(preferences) - strict,
        answers=dict(zip(ANSWERS, answers, strict=True)),
        queries=len(ids[0]),
        judges=len(ids[1]),
        without_query=sum(query is None for query in preferences.queries),
        weightless=int((preferences.pair_weights == 0).sum()),
        n_ranks=preferences.n_ranks,
        n_grades=preferences.n_grades,
        shorter_lists=int((~filled).any(axis=2).sum()),
        grade_counts=np.bincount(
            preferences.lists[filled], minlength=preferences.n_grades
        ).tolist(),
        **_sides(answers[0], strict),
        **_repeats(preferences),
    )


def _sides(a_wins: int, strict: int) -> dict[str, Any]:
    from scipy.stats import binomtest

    if not strict:
        return {"a_share": float("nan"), "a_share_interval": (float("nan"), float("nan"))}
    interval = binomtest(a_wins, strict).proportion_ci(0.95, "wilson")
    return {
        "a_share": a_wins / strict,
        "a_share_interval": (float(interval.low), float(interval.high)),
    }


def _repeats(preferences: Preferences) -> dict[str, Any]:
    pairs, weights = preferences.pairs, preferences.pair_weights
    keys, forward = _unordered(pairs)
    tied_keys = {key.tobytes() for key in _unordered(preferences.lists[~preferences.strict])[0]}
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    same = (pairs[:, 0] == pairs[:, 1]).all(axis=1)
    n = len(distinct)
    times = np.bincount(group, minlength=n)
    sides = (forward & ~same, ~forward & ~same)
    ways = [np.bincount(group[side], minlength=n) for side in sides]
    both = (ways[0] > 0) & (ways[1] > 0)
    total = float(weights.sum())
    won = [np.bincount(group[side], weights[side], minlength=n) for side in sides]
    halves = float(weights[same].sum()) / 2
    return {
        "identical": int(same.sum()),
        "repeated_pairs": int((times > 1).sum()),
        "contradicted_pairs": int(both.sum()),
        "contradicted": int(both[group].sum()),
        "also_tied": int(sum(key.tobytes() in tied_keys for key in keys)),
        "ceiling_identical": _share(total - halves, total),
        "ceiling": _share(float(np.maximum(*won).sum()) + halves, total),
    }


def _unordered(pairs: Pairs) -> tuple[Pairs, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return each pair as a row, the lexically smaller list first, and whether it was first."""
    first, second = pairs[:, 0], pairs[:, 1]
    differs = first != second
    at = np.argmax(differs, axis=1)
    rows = np.arange(len(pairs))
    forward = first[rows, at] <= second[rows, at]
    ordered = np.where(forward[:, None, None], pairs, pairs[:, ::-1])
    return ordered.reshape(len(pairs), 2 * pairs.shape[2]), forward


def _share(part: float, total: float) -> float:
    return part / total if total > 0 else float("nan")
