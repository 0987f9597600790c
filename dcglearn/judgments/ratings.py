"""Ratings of single lists, such as satisfaction, and judgments made of pairs of them.

Of two lists of one query, the one rated higher is better. The n (n - 1) / 2 pairs of n rated lists
hold no more than n - 1 independent comparisons. A pair of lists i and j of a group (a query, or one
judge's lists of a query) therefore has the weight

    2 w_i w_j / (sum of w in the group),        2 / n if all lists have the weight 1

so that all pairs of a group together weigh n - 1, and a list of weight 2 counts as two lists. Pairs
that are left out take their weight with them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, unknown_name, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import parse_id
from dcglearn.base.tables.frames import FrameLike
from dcglearn.base.tables.places import Place
from dcglearn.base.types import Floats, Ids, Integers, Rankings
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.meaning.cells import LARGEST_WEIGHT, GivenMap, parse_given_map
from dcglearn.judgments.meaning.columns import RATED_LISTS
from dcglearn.judgments.meaning.unjudged import UnjudgedRule, grade_unjudged, unjudged_words
from dcglearn.judgments.numbering import id_numbers
from dcglearn.judgments.options import Note, ReadOptions
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.reading.fields import graded_lists, read_table
from dcglearn.measures.scale import Scale, ScaleLike

if TYPE_CHECKING:
    import pandas as pd

Within = Literal["query", "judge", "all"]
WITHIN: tuple[Within, ...] = ("query", "judge", "all")

MAX_COMPARED, MAX_PAIRS = 2**24, 2**21
"""The largest number of pairs that are compared, and that are made into judgments."""

LARGEST_RATING = 1e100

_ROUNDING = 16 * np.finfo(float).eps


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Lists that were rated one by one.

    Read them by :func:`read_ratings`, or build them with :meth:`from_frame`, which checks them.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, K)
        Grade indices, -1 for no document.
    ratings : ndarray of float, shape (n,)
        Finite; a higher one is better.
    scale : Scale
        The L grades, best first.
    weights : ndarray of float, shape (n,)
    queries, judges : ndarray of object, shape (n,)
        Ids as text, None where unknown.
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

    @classmethod
    def from_frame(
        cls,
        frame: FrameLike,
        rating: str | None = None,
        scale: ScaleLike | None = None,
        n_ranks: int | None = None,
        *,
        columns: GivenMap | None = None,
        unjudged: UnjudgedRule = "worst",
        strict: bool = False,
    ) -> Ratings:
        """Build ratings from a frame with one list per row.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame, DuckDB relation, pyarrow.Table or mapping
            Columns ``grades`` (each cell a list of grades) and the rating; optionally ``query``,
            ``judge`` and ``weight``.
        rating, scale, n_ranks, columns, unjudged, strict
            As those of :func:`read_ratings`.

        Returns
        -------
        Ratings

        Raises
        ------
        InputError
            Naming the row (the first is row 1), as :func:`read_ratings`.

        Warns
        -----
        InputWarning
            For what is taken without being told.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"grades": [[2, 0], [1]], "score": [4.5, 3]})
        >>> Ratings.from_frame(frame)
        Ratings(2 lists of 2, grades 2 > 1 > 0)
        """
        return read_ratings(
            frame, rating, scale, n_ranks, columns=columns, unjudged=unjudged, strict=strict
        )


def read_ratings(
    path: Place | Iterable[Place] | FrameLike,
    rating: str | None = None,
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    advance: Advance = silent,
    *,
    columns: GivenMap | None = None,
    unjudged: UnjudgedRule = "worst",
    null_values: str | float | Sequence[str | float] = (),
    strict: bool = False,
    encoding: str = "utf-8",
    note: Note = warn_of_input,
) -> Ratings:
    r"""Read files of rated lists.

    Parameters
    ----------
    path : path-like, open file, or iterable of these, or a frame
        In any format, one list per row: ``grades`` (from the first rank down), the rating and,
        where known, ``query``, ``judge`` and ``weight``.
    rating : str, optional
        The column of the rating; by default the one of ``rating``, ``score`` and
        ``satisfaction`` that is there.
    scale : Scale, str or sequence of labels, optional
        The grades, best first. By default the numbers that occur, the highest first.
    n_ranks : int, optional
        K: longer lists are refused. By default the longest list sets it.
    advance : callable, optional
        Called with (bytes read, bytes in all).
    columns : mapping or str, optional
        Which column is which field, such as ``grades=labels,rating=stars``.
    unjudged : {"worst", "drop", "nothing"} or label, default "worst"
        What a document without a grade counts as, above the last grade of a list.
    null_values, strict, encoding
        As for :func:`read_preferences`.
    note : callable, optional
        Called with a line about each thing that was taken without being told; by default an
        :class:`~dcglearn.base.errors.InputWarning`.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        Naming the file and the line or row, what is wrong and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "ratings.csv")
    ...     _ = path.write_text("query,grades,rating\nq1,2 0 1,4\nq1,0 0 1,2.5\n")
    ...     read_ratings(path).ratings
    array([4. , 2.5])
    """
    told = parse_given_map(columns, "columns", "grades=labels,rating=stars")
    if rating is not None and told.setdefault("rating", rating) != rating:
        raise InputError(f"`rating` is {rating!r}, and `columns` says another", "name it once")
    options = ReadOptions(
        scale, n_ranks, told, None, unjudged, null_values, strict=strict, encoding=encoding
    )
    table, name, notes = read_table(path, RATED_LISTS, options, advance)
    lists, scale = graded_lists(table, "grades", options, name)
    lists, count = grade_unjudged(lists, scale, unjudged)
    weights = table.weights()
    found = Ratings(
        lists,
        table.numbers("rating"),
        scale,
        np.ones(len(lists)) if weights is None else weights,
        *(np.array(table.values(name, parse_id), object) for name in ("query", "judge")),
    )
    of = f"within the lists {'has' if count == 1 else 'have'} no grade (null)"
    for line in (*notes, *([unjudged_words(count, of, unjudged, scale)] if count else [])):
        note(line)
    return found


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
        Rated lists; a path is read by :func:`read_ratings`.
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
    if within not in WITHIN:
        raise unknown_name("`within`", within, WITHIN)
    if not 0 <= min_difference < np.inf:
        raise InputError(f"`min_difference` is {min_difference}", "use a finite number, 0 or more")
    if at_most is not None and not 1 <= at_most <= MAX_PAIRS:
        raise InputError(f"`at_most` is {at_most}", f"use 1 ... {MAX_PAIRS:,}")
    if isinstance(ratings, str | os.PathLike):
        try:
            return pairs_from_ratings(
                read_ratings(ratings), within, min_difference, ties, equal_weights, at_most, seed
            )
        except InputError as error:
            raise error if error.place else error.at(str(ratings)) from error
    if not isinstance(ratings, Ratings):
        ratings = Ratings.from_frame(ratings)

    groups = _groups(ratings, within)
    sizes = np.bincount(groups[groups >= 0])
    _check_groups(sizes, within)
    first, second = _all_pairs(groups, sizes)
    one, other = ratings.ratings[first], ratings.ratings[second]
    lead = np.sign(one - other).astype(np.int8)
    equal = lead == 0
    rounding = _ROUNDING * np.maximum(np.abs(one), np.abs(other))
    large = ~equal & (np.abs(one - other) >= min_difference - rounding)
    if not large.any():
        by = f" by {min_difference:g} or more" if min_difference and not equal.all() else ""
        of = "" if within == "all" else f" of one {within}"
        raise InputError(f"no two ratings{of} differ{by}", "rate more lists")
    kept = np.flatnonzero(large | equal if ties else large)
    drawn = _drawn(kept, at_most, seed)
    weights = _weights(ratings, groups, first, second, equal_weights)
    share = weights[kept].sum() / (weights[drawn].sum() or 1.0) if len(drawn) < len(kept) else 1.0
    a_first = _a_is_first(lead[drawn], seed)
    pairs = first[drawn], second[drawn]
    a, b = np.where(a_first, pairs, pairs[::-1])
    won = np.where(a_first, lead[drawn], -lead[drawn])
    answers = np.array([ANSWERS.index("tie"), 0, 1], np.int8)[won]  # -1, b, is the last
    preferences = Preferences(
        np.stack([ratings.lists[a], ratings.lists[b]], axis=1),
        answers,
        ratings.scale,
        weights[drawn] * share,
        *(
            np.where(ids[a] == ids[b], ids[a], np.array(None))
            for ids in (ratings.queries, ratings.judges)
        ),
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
    columns = {"query": [ratings.queries], "judge": [ratings.queries, ratings.judges], "all": []}
    rows = zip([""] * len(ratings), *columns[within], strict=True)
    groups, known = id_numbers(None if None in ids else ids for ids in rows)
    return np.where(groups < len(known), groups, -1)


def _check_groups(sizes: Integers, within: Within) -> None:
    pair_all = "" if within == "all" else ', or pair all lists: `within="all"`'
    if not len(sizes):
        ids = "query" if within == "query" else "query and judge"
        raise InputError(f"no list has a {ids}", "name them" + pair_all)
    if sizes.max() < 2:
        alone = f"no {within} has two rated lists" if pair_all else "one rated list only"
        raise InputError(alone, "rate more lists" + pair_all)
    pairs = int((sizes * (sizes - 1) // 2).sum())
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
        largest = (one * other).max()
        if largest > LARGEST_WEIGHT:
            raise InputError(f"a pair has the weight {largest:g}", f"use 0 ... {LARGEST_WEIGHT:g}")
        return one * other
    totals = np.bincount(groups[groups >= 0], ratings.weights[groups >= 0])[groups[first]]
    return 2 * one * np.divide(other, totals, out=np.zeros(len(first)), where=totals > 0)


def _a_is_first(lead: NDArray[np.int8], seed: int | None) -> NDArray[np.bool_]:
    """Return whether the first list of each pair is shown as a."""
    if seed is not None:
        return np.asarray(np.random.default_rng([seed, 1]).random(len(lead)) < 0.5)
    a_wins = np.cumsum(lead != 0) % 2 == 1
    return np.asarray((lead == 0) | (a_wins == (lead > 0)))
