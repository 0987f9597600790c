"""What is in a set of judgments, and the ceiling it puts on any measure's agreement.

A measure sees grades only. On a pair of identical lists it always ties, which counts
1/2; on two lists judged both ways it can agree with the larger side at most. So no
measure of graded lists agrees with more than

    (sum over unordered pairs {x, y} of max(v_xy, v_yx) + 1/2 sum of v_xx) / sum of v

with v_xy the weight of the judgments that prefer x to y.
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
    """Counts of judgments; shares of weight where a share is meant.

    Attributes
    ----------
    judgments, strict, ties : int
    answers : dict from answer to int
    queries, judges : int
        Distinct ids.
    without_query : int
        Judgments that name no query.
    weightless : int
        Strict judgments of weight 0: counted here, used by nothing.
    n_ranks, n_grades : int
        K and L.
    shorter_lists : int
        Lists with an empty rank.
    grade_counts : list of int
        How often each grade occurs, best first.
    a_share : float
        Among strict judgments, the share that side a wins.
    a_share_interval : (float, float)
        Its 95% interval (Wilson, of counts).
    identical : int
        Strict judgments of identical lists.
    repeated_pairs, contradicted_pairs : int
        Unordered pairs of lists judged strictly more than once; of these, both ways.
    contradicted : int
        Strict judgments of lists that were also judged the other way.
    also_tied : int
        Strict judgments of lists that were also judged a tie.
    ceiling_identical, ceiling : float
        The largest agreement any measure can reach, for the identical lists alone and
        with the contradictions.
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
        """Return the counts as a JSON-able dict."""
        return asdict(self)


def summarise(preferences: Preferences) -> Summary:
    """Count what a set of judgments holds.

    Parameters
    ----------
    preferences : Preferences

    Returns
    -------
    Summary
        With shares of nan where there is no strict judgment, or none with weight.

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
    """Return each pair as one row, the lexically smaller list first, and whether it was so."""
    first, second = pairs[:, 0], pairs[:, 1]
    differs = first != second
    at = np.argmax(differs, axis=1)
    rows = np.arange(len(pairs))
    forward = first[rows, at] <= second[rows, at]
    ordered = np.where(forward[:, None, None], pairs, pairs[:, ::-1])
    return ordered.reshape(len(pairs), 2 * pairs.shape[2]), forward


def _share(part: float, total: float) -> float:
    return part / total if total > 0 else float("nan")
