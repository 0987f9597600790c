"""Ratings of single lists, such as satisfaction, and judgments made of pairs of them.

The pairs of n rated lists of a group (a query, or one judge's lists of a query) hold no more than
n - 1 independent comparisons. A pair of lists i and j therefore has the weight

    2 w_i w_j / (sum of w in the group),        2 / n if all lists have the weight 1

and all pairs of a group together weigh n - 1. Pairs that are left out take their weight with them.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np

from dcglearn.base.errors import InputError, check_name
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import column_of
from dcglearn.base.tables.sources import Readable
from dcglearn.base.types import Booleans, Floats, Grades, Ids, Integers, Rankings
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.meaning.columns import RATED_LISTS
from dcglearn.judgments.options import (
    GivenMap,
    NullValues,
    ReadOptions,
    UnjudgedRule,
    grade_unjudged,
    parse_given_map,
    warn_of_unjudged,
)
from dcglearn.judgments.preferences import Preferences, count_true
from dcglearn.judgments.reading.fields import read_records
from dcglearn.judgments.reading.lists import grade_indices, graded_lists
from dcglearn.measures.scale import Scale, ScaleLike

Within = Literal["query", "judge", "all"]

MAX_PAIRS = 2**24


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Lists that were rated one by one.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, K)
    ratings : ndarray of float, shape (n,)
        A higher one is better.
    scale, weights, queries, judges
        As for :class:`Preferences`.
    """

    lists: Rankings
    ratings: Floats
    scale: Scale
    weights: Floats
    queries: Ids
    judges: Ids

    def __len__(self) -> int:
        return len(self.ratings)

    def __repr__(self) -> str:
        return (
            f"Ratings({counted(len(self), 'list')} of {self.lists.shape[1]}, grades {self.scale})"
        )


def read_ratings(
    path: Readable,
    rating: str | None = None,
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    advance: Advance = silent,
    *,
    columns: GivenMap | None = None,
    unjudged: UnjudgedRule = "worst",
    null_values: NullValues = (),
    strict: bool = False,
    encoding: str = "utf-8",
) -> Ratings:
    """Read rated lists from files or a frame.

    Parameters
    ----------
    path : path-like, open file, or iterable of these, or a frame
        One list per row: ``grades`` (from the first rank down), the rating and, where known,
        ``query``, ``judge`` and ``weight``.
    rating : str, optional
        The column of the rating; by default ``rating``, ``score`` or ``satisfaction``.
    scale, n_ranks, advance, columns, unjudged, null_values, strict, encoding
        As for :func:`read_preferences`.

    Returns
    -------
    Ratings

    Examples
    --------
    >>> read_ratings({"grades": [[2, 0], [1]], "score": [4.5, 3]})
    Ratings(2 lists of 2, grades 2 > 1 > 0)
    """
    told = parse_given_map(columns, "columns", "grades=labels,rating=stars")
    if rating is not None:
        told["rating"] = rating
    options = ReadOptions(scale, n_ranks, told, None, unjudged, null_values, strict, encoding)
    records = read_records(path, RATED_LISTS, options, advance)
    graded, of_lists = graded_lists(
        {"grades": records.column("grades")}, options, records.name, records.place
    )
    lists, count = grade_unjudged(grade_indices(graded)[:, 0], of_lists, unjudged)
    if count:
        warn_of_unjudged(count, unjudged, of_lists)
    return Ratings(
        lists,
        records.numbers("rating"),
        of_lists,
        records.weights(),
        records.ids("query").decoded(),
        records.ids("judge").decoded(),
    )


@dataclass(frozen=True, eq=False)
class RatingPairs:
    """Judgments made of ratings, and what was left out.

    Attributes
    ----------
    preferences : Preferences
    groups, possible : int
        Groups of two or more lists, and their pairs.
    without_id, alone : int
        Lists without a query or judge, or alone in their group.
    equal, small, not_drawn : int
        Pairs left out: of equal ratings, of too small a difference, or not drawn.
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
    ratings: Ratings | Readable,
    within: Within = "query",
    min_difference: float = 0.0,
    ties: bool = True,
    equal_weights: bool = False,
    at_most: int | None = None,
    seed: int | None = None,
) -> RatingPairs:
    """Make judgments of pairs of rated lists.

    A pair has the query, and the judge, that both of its lists have.

    Parameters
    ----------
    ratings : Ratings, or what :func:`read_ratings` reads
    within : {"query", "judge", "all"}, default "query"
        Pair lists of one query, of one query and judge, or all lists.
    min_difference : float, default 0
        Pairs whose ratings differ by less, but do differ, are left out.
    ties : bool, default True
        Whether pairs of equal ratings become ties or are left out.
    equal_weights : bool, default False
        Whether a pair of lists has the product of their weights alone.
    at_most : int, optional
        Draw this many of the pairs if there are more. They get all of the weight.
    seed : int, optional
        Draws the `at_most` pairs, and which list is shown as a; by default sides win in turn.

    Returns
    -------
    RatingPairs

    Examples
    --------
    >>> rated = {"query": ["q"] * 3, "grades": [[2, 1], [1, 0], [0, 0]], "rating": [5, 3, 3]}
    >>> pairs_from_ratings(rated).preferences
    Preferences(3 judgments, 2 strict, 1 query, lists of 2, grades 2 > 1 > 0)
    """
    check_name(within, "`within`", get_args(Within))
    if not isinstance(ratings, Ratings):
        ratings = read_ratings(ratings)

    groups = _groups(ratings, within)
    sizes = np.bincount(groups[groups >= 0])
    possible = int((sizes * (sizes - 1) // 2).sum())
    if possible > MAX_PAIRS:
        problem = f"{possible:,} pairs of lists, and at most {MAX_PAIRS:,} can be compared"
        raise InputError(problem, "give fewer lists of a query, or part of the file")
    first, second = _all_pairs(groups, sizes)
    one, other = ratings.ratings[first], ratings.ratings[second]
    equal = one == other
    rounding = 16 * np.finfo(float).eps * np.maximum(np.abs(one), np.abs(other))
    large = ~equal & (np.abs(one - other) >= min_difference - rounding)
    if not large.any():
        of = "" if within == "all" else f" of one {within}"
        by = f" by {min_difference:g} or more" if min_difference else ""
        remedy = 'rate more lists, name their queries, or pair all: `within="all"`'
        raise InputError(f"no two ratings{of} differ{by}", remedy)
    kept = drawn = np.flatnonzero(large | (equal & ties))
    if at_most is not None and at_most < len(kept):
        drawn = np.sort(np.random.default_rng(seed or 0).choice(kept, at_most, replace=False))
    factors = ratings.weights
    if not equal_weights:
        totals = np.bincount(groups + 1, factors)[groups + 1]
        factors = 2 * factors / np.where(totals > 0, totals, 1)
    weights = ratings.weights[first] * factors[second]
    total, weights = weights[kept].sum(), weights[drawn]

    first, second, lead = first[drawn], second[drawn], np.sign(one - other)[drawn]
    a_first = _a_is_first(lead, seed)
    a, b = np.where(a_first, (first, second), (second, first))
    preferences = Preferences(
        np.stack([ratings.lists[a], ratings.lists[b]], axis=1),
        np.where(lead, (lead > 0) != a_first, ANSWERS.index("tie")).astype(np.int8),
        ratings.scale,
        weights * (total / (weights.sum() or 1.0)),
        *(
            np.where(ids[a] == ids[b], ids[a], np.array(None))
            for ids in (ratings.queries, ratings.judges)
        ),
    )
    return RatingPairs(
        preferences,
        lists=len(ratings),
        groups=count_true(sizes > 1),
        without_id=count_true(groups < 0),
        alone=count_true(sizes == 1),
        possible=possible,
        equal=0 if ties else count_true(equal),
        small=count_true(~equal & ~large),
        not_drawn=len(kept) - len(drawn),
    )


def _groups(ratings: Ratings, within: Within) -> Grades:
    columns = {"query": [ratings.queries], "judge": [ratings.queries, ratings.judges], "all": []}
    rows = zip([""] * len(ratings), *columns[within], strict=True)
    return column_of([None if None in ids else ids for ids in rows]).codes


def _all_pairs(groups: Grades, sizes: Integers) -> Integers:
    pairs_of = cache(lambda n: np.stack(np.triu_indices(n, 1)))
    starts = (groups < 0).sum() + sizes.cumsum() - sizes
    pairs = [start + pairs_of(n) for start, n in zip(starts, sizes.tolist(), strict=True)]
    rows = np.concatenate([np.empty((2, 0), np.int64), *pairs], axis=1)
    return np.argsort(groups, kind="stable").take(rows)


def _a_is_first(lead: Floats, seed: int | None) -> Booleans:
    if seed is not None:
        return np.random.default_rng([seed, 1]).random(len(lead)) < 0.5
    in_turn = np.cumsum(lead != 0) % 2 == 1
    return np.asarray((lead == 0) | (in_turn == (lead > 0)))
