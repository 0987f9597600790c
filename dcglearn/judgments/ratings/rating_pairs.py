"""Judgments made of ratings: of two lists of one query, the one rated higher is better.

The n (n - 1) / 2 pairs of n rated lists hold no more than n - 1 independent comparisons. A pair of
lists i and j of a group (a query, or one judge's lists of a query) therefore has the weight

    2 w_i w_j / (sum of w in the group),        2 / n if all lists have the weight 1

so that all pairs of a group together weigh n - 1, and a list of weight 2 counts as two lists. Pairs
that are left out take their weight with them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats, Ids, Integers
from dcglearn.judgments.folds import group_numbers
from dcglearn.judgments.meaning.judgment_fields import ANSWERS, LARGEST_WEIGHT
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.ratings.rated_lists import Ratings, read_ratings

if TYPE_CHECKING:
    import pandas as pd

Within = Literal["query", "judge", "all"]
WITHIN: tuple[Within, ...] = ("query", "judge", "all")
"""Lists that are paired with each other: of one query, of one query and judge, or all."""

MAX_COMPARED, MAX_PAIRS = 2**24, 2**21
"""The largest number of pairs that are compared, and that are made into judgments."""

_ROUNDING = 8 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class RatingPairs:
    """Judgments made of ratings, and what was left out.

    Attributes
    ----------
    preferences : Preferences
    lists, groups : int
        The number of rated lists, and of groups of two or more.
    without_id : int
        Lists without the query (or judge) that they need.
    alone : int
        Lists that are the only one of their group.
    possible : int
        Pairs of lists of one group.
    equal, small : int
        Pairs left out because their ratings are equal, or differ by less than the minimum.
    not_drawn : int
        Pairs left out because others were drawn.
    """

    preferences: Preferences
    lists: int
    groups: int
    without_id: int
    alone: int
    possible: int
    equal: int
    small: int
    not_drawn: int


def pairs_from_ratings(
    ratings: Ratings | pd.DataFrame | str | os.PathLike[str],
    within: Within = "query",
    min_difference: float = 0.0,
    ties: bool = True,
    equal_weights: bool = False,
    at_most: int | None = None,
    seed: int | None = None,
) -> RatingPairs:
    """Make judgments of pairs of rated lists.

    Groups come in the order in which they first occur, their pairs in the order of their lists.
    A pair has its query, and its judge if both lists have the same.

    Parameters
    ----------
    ratings : Ratings, pandas.DataFrame or path-like
        Rated lists; a path is read by :func:`~dcglearn.judgments.ratings.rated_lists.read_ratings`.
    within : {"query", "judge", "all"}, default "query"
        Whether lists of one query are paired, those of one query that one judge rated, or all
        lists. Pairs of different queries have no query.
    min_difference : float, default 0
        Pairs whose ratings differ by less, but do differ, are left out. Differences that fall
        short of it by no more than rounding count.
    ties : bool, default True
        Whether pairs of equal ratings become ties or are left out.
    equal_weights : bool, default False
        Whether a pair has the weight w_i w_j, 1 if the lists have no weights, instead of
        2 w_i w_j over the sum of weights of its group.
    at_most : int, optional
        Draw this many of the pairs if there are more. They get all of the weight.
    seed : int, optional
        Draws which list of a pair is shown as a. By default side a wins every other strict
        judgment. With `at_most`, it also draws the pairs, by default with the seed 0.

    Returns
    -------
    RatingPairs

    Raises
    ------
    InputError
        If an argument cannot be used, no group has two lists, no rating differs, or there are
        too many pairs.

    Examples
    --------
    >>> import pandas as pd
    >>> lists = [[2, 1], [1, 0], [0, 0]]
    >>> frame = pd.DataFrame({"query": "q", "grades": lists, "rating": [5, 3, 3]})
    >>> pairs_from_ratings(frame).preferences.to_frame()[["a", "b", "answer", "weight"]]
            a       b answer    weight
    0  [2, 1]  [1, 0]      a  0.666667
    1  [0, 0]  [2, 1]      b  0.666667
    2  [1, 0]  [0, 0]    tie  0.666667
    """
    _check_arguments(within, min_difference, at_most)
    place = ""
    if isinstance(ratings, str | os.PathLike):
        place, ratings = str(ratings), read_ratings(ratings)
    elif not isinstance(ratings, Ratings):
        ratings = Ratings.from_frame(ratings)
    try:
        return _pairs(ratings, within, min_difference, ties, equal_weights, at_most, seed)
    except InputError as error:
        raise (error.at(place) if place else error) from error


def _check_arguments(within: str, min_difference: float, at_most: int | None) -> None:
    if within not in WITHIN:
        raise unknown_name("`within`", within, WITHIN)
    if not 0 <= min_difference < np.inf:
        raise InputError(f"`min_difference` is {min_difference}", "use a finite number, 0 or more")
    if at_most is not None and not 1 <= at_most <= MAX_PAIRS:
        raise InputError(f"`at_most` is {at_most}", f"use 1 ... {MAX_PAIRS:,}")


def _pairs(
    ratings: Ratings,
    within: Within,
    min_difference: float,
    ties: bool,
    equal_weights: bool,
    at_most: int | None,
    seed: int | None,
) -> RatingPairs:
    groups = _groups(ratings, within)
    sizes = np.bincount(groups[groups >= 0])
    _check_groups(sizes, within)
    first, second = _all_pairs(groups, sizes)
    lead, large = _compared(ratings.ratings[first], ratings.ratings[second], min_difference)
    equal = lead == 0
    if not large.any():
        by = f" by {min_difference:g} or more" if min_difference and not equal.all() else ""
        of = "" if within == "all" else f" of one {within}"
        raise InputError(f"no two ratings{of} differ{by}", "rate more lists")
    kept = np.flatnonzero(large | equal if ties else large)
    drawn = _drawn(kept, at_most, seed)
    weights = _weights(ratings, groups, first, second, equal_weights)
    share = weights[kept].sum() / (weights[drawn].sum() or 1.0) if len(drawn) < len(kept) else 1.0
    a_first = _a_is_first(lead[drawn], seed)
    a = np.where(a_first, first[drawn], second[drawn])
    b = np.where(a_first, second[drawn], first[drawn])
    won = np.where(a_first, lead[drawn], -lead[drawn])
    codes = np.select([won > 0, won < 0], [0, 1], ANSWERS.index("tie"))
    preferences = Preferences(
        np.stack([ratings.lists[a], ratings.lists[b]], axis=1),
        codes.astype(np.int8),
        ratings.scale,
        weights[drawn] * share,
        _common(ratings.queries, a, b),
        _common(ratings.judges, a, b),
    )
    return RatingPairs(
        preferences,
        lists=len(ratings),
        groups=int((sizes > 1).sum()),
        without_id=int((groups < 0).sum()),
        alone=int((sizes == 1).sum()),
        possible=len(first),
        equal=0 if ties else int(equal.sum()),
        small=int((~equal & ~large).sum()),
        not_drawn=len(kept) - len(drawn),
    )


def _groups(ratings: Ratings, within: Within) -> Integers:
    """Return the number of the group of each list, -1 for a list without the ids it needs."""
    if within == "all":
        return np.zeros(len(ratings), np.int64)
    columns = [ratings.queries] if within == "query" else [ratings.queries, ratings.judges]
    known = np.array([None not in ids for ids in zip(*columns, strict=True)], bool)
    groups = np.full(len(ratings), -1, np.int64)
    keys = np.empty(int(known.sum()), object)
    keys[:] = list(zip(*(column[known] for column in columns), strict=True))
    groups[known] = group_numbers(keys)
    return groups


def _check_groups(sizes: Integers, within: Within) -> None:
    if not len(sizes):
        ids = "query" if within == "query" else "query and judge"
        raise InputError(f"no list has a {ids}", 'name them, or pair all lists: `within="all"`')
    if sizes.max() < 2:
        raise InputError(
            "one rated list only" if within == "all" else f"no {within} has two rated lists",
            "rate more lists" + ("" if within == "all" else ', or pair all lists: `within="all"`'),
        )
    pairs = sum(n * (n - 1) // 2 for n in sizes.tolist())
    if pairs > MAX_COMPARED:
        raise InputError(
            f"{pairs:,} pairs of lists, and at most {MAX_COMPARED:,} can be compared",
            "give fewer lists of a query, or part of the file",
        )


def _all_pairs(groups: Integers, sizes: Integers) -> tuple[Integers, Integers]:
    """Return the rows of all pairs of lists of one group, group by group in order."""
    order = np.argsort(groups, kind="stable")[(groups < 0).sum() :]
    ends = np.repeat(np.cumsum(sizes), sizes)
    later = ends - 1 - np.arange(len(order))
    first = np.repeat(np.arange(len(order)), later)
    start = np.repeat(np.cumsum(later) - later, later)
    second = first + 1 + np.arange(len(first)) - start
    return order[first], order[second]


def _compared(
    one: Floats, other: Floats, min_difference: float
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Return the sign of each difference, and whether it is as large as it must be."""
    lead = (one > other).astype(np.int8) - (one < other).astype(np.int8)
    rounding = _ROUNDING * np.maximum(np.abs(one), np.abs(other))
    halves = np.abs(one / 2 - other / 2)  # the difference itself can overflow
    return lead, (lead != 0) & (halves >= min_difference / 2 - rounding)


def _drawn(kept: Integers, at_most: int | None, seed: int | None) -> Integers:
    if at_most is None and len(kept) > MAX_PAIRS:
        raise InputError(
            f"{len(kept):,} pairs, and at most {MAX_PAIRS:,} become judgments",
            "draw some of them with `at_most`",
        )
    if at_most is None or len(kept) <= at_most:
        return kept
    chosen = np.random.default_rng(seed or 0).choice(len(kept), at_most, replace=False)
    return kept[np.sort(chosen)]


def _weights(
    ratings: Ratings, groups: Integers, first: Integers, second: Integers, equal: bool
) -> Floats:
    one, other = ratings.weights[first], ratings.weights[second]
    if equal:
        if (one * other).max() > LARGEST_WEIGHT:
            raise InputError(
                f"a pair has the weight {(one * other).max():g}", f"use 0 ... {LARGEST_WEIGHT:g}"
            )
        return one * other
    totals = np.bincount(groups[groups >= 0], ratings.weights[groups >= 0])[groups[first]]
    return 2 * one * np.divide(other, totals, out=np.zeros(len(first)), where=totals > 0)


def _a_is_first(lead: NDArray[np.int8], seed: int | None) -> NDArray[np.bool_]:
    """Return whether the first list of each pair is shown as a."""
    if seed is not None:
        drawn: NDArray[np.bool_] = np.random.default_rng([seed, 1]).random(len(lead)) < 0.5
        return drawn
    strict = lead != 0
    a_wins = np.cumsum(strict) % 2 == 1
    return np.where(strict, a_wins == (lead > 0), True)


def _common(ids: Ids, a: Integers, b: Integers) -> Ids:
    """Return the id of each pair whose lists have the same, None for others."""
    found = ids[a].copy()
    found[ids[a] != ids[b]] = None
    return found
