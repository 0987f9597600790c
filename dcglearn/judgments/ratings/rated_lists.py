"""Ratings of single lists, such as satisfaction: files and frames in, as arrays.

Fields: ``grades`` (the list, from the first rank down), its rating (``rating``, ``score``,
``satisfaction`` or another name) and, where known, ``query``, ``judge`` and ``weight``.
:func:`dcglearn.judgments.ratings.rating_pairs.pairs_from_ratings` makes judgments of pairs of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.old.places import Place
from dcglearn.base.tables.old.sources import find_sources, name_sources
from dcglearn.base.types import Floats, Ids, Rankings
from dcglearn.judgments.judgment_frames import FrameLike
from dcglearn.judgments.meaning.given_maps import GivenMap, parse_given_map
from dcglearn.judgments.meaning.judgment_fields import parse_id, parse_labels, parse_weight
from dcglearn.judgments.meaning.unjudged_documents import (
    UnjudgedRule,
    grade_unjudged,
    unjudged_words,
)
from dcglearn.judgments.rankings import LabelList, encode_list, pad_lists
from dcglearn.judgments.reading.field_columns import RecordFields
from dcglearn.judgments.reading.field_records import read_field_records, records_of_frame
from dcglearn.judgments.reading.record_formats import PlacedRecord
from dcglearn.measures.scale import Label, Scale, ScaleLike, as_scale

RATED_LISTS = RecordFields(
    "list",
    {"query": "id", "grades": "labels", "rating": "number", "judge": "id", "weight": "number"},
    ("grades", "rating"),
)


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
        told = _columns_told(columns, rating)
        rows = records_of_frame(frame, RATED_LISTS, told, strict, warn_of_input)
        return _ratings_of(rows, "", as_scale(scale), n_ranks, unjudged, silent, warn_of_input)


def read_ratings(
    path: Place | Iterable[Place],
    rating: str | None = None,
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
    *,
    columns: GivenMap | None = None,
    unjudged: UnjudgedRule = "worst",
    strict: bool = False,
    note: Callable[[str], None] = warn_of_input,
) -> Ratings:
    r"""Read files of rated lists.

    Parameters
    ----------
    path : path-like, open file, or iterable of these
        In any format, one list per row, as for :func:`dcglearn.base.tables.old.sources.find_sources`.
    rating : str, optional
        The column of the rating; by default the one of ``rating``, ``score`` and
        ``satisfaction`` that is there.
    scale : Scale, str or sequence of labels, optional
        The grades, best first. By default the numbers that occur, the highest first.
    n_ranks : int, optional
        K: longer lists are refused. By default the longest list sets it.
    ignored : IgnoredInput, optional
        If given, repeated keys are ignored and counted there.
    advance : callable, optional
        Called with (rows read, 0).
    columns : mapping or str, optional
        Which column is which field, such as ``grades=labels,rating=stars``, as for
        :func:`dcglearn.judgments.meaning.column_names.resolve_columns`.
    unjudged : {"worst", "drop", "nothing"} or label, default "worst"
        What a document without a grade counts as, above the last grade of a list, as for
        :func:`dcglearn.judgments.meaning.unjudged_documents.grade_unjudged`.
    strict : bool, default False
        Whether unknown columns are refused. By default a note names them.
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
    told = _columns_told(columns, rating)
    sources = find_sources(path)
    rows = read_field_records(sources, RATED_LISTS, told, strict, ignored, note)
    return _ratings_of(
        rows, name_sources(sources), as_scale(scale), n_ranks, unjudged, advance, note
    )


def _columns_told(columns: GivenMap | None, rating: str | None) -> dict[str, str]:
    """Return what is said about columns, the rating's among them."""
    told = parse_given_map(columns, "columns", "grades=labels,rating=stars")
    if rating is None:
        return told
    if "rating" in told and told["rating"] != rating:
        raise InputError(f"`rating` is {rating!r}, and `columns` says another", "name it once")
    return {**told, "rating": rating}


def _ratings_of(
    rows: Iterable[PlacedRecord],
    path: str,
    scale: Scale | None,
    n_ranks: int | None,
    unjudged: UnjudgedRule,
    advance: Advance,
    note: Callable[[str], None],
) -> Ratings:
    lists: list[LabelList] = []
    places: list[str] = []
    ratings: list[float] = []
    weights: list[float] = []
    queries: list[str | None] = []
    judges: list[str | None] = []
    for number, (place, record) in enumerate(rows):
        try:
            _check_fields(record)
            lists.append(parse_labels(record["grades"], "grades"))
            ratings.append(_rating(record["rating"]))
            weight = record.get("weight")
            weights.append(1.0 if weight is None else parse_weight(weight))
            queries.append(parse_id(record.get("query"), "query"))
            judges.append(parse_id(record.get("judge"), "judge"))
        except InputError as error:
            raise error.at(place) from error
        places.append(place)
        if number % 1000 == 0:
            advance(number, 0)
    if not lists:
        raise InputError("holds no rated list", "give one list per line", path)
    if scale is None:
        labels: set[Label] = {label for one in lists for label in one if label is not None}
        try:
            scale = Scale.from_numbers(labels)
        except InputError as error:
            raise (error.at(path) if path else error) from error
    encoded = _encoded(lists, scale, n_ranks, places)
    graded, count, words = grade_unjudged(encoded, scale, unjudged)
    if count:
        note(unjudged_words(count, words))
    return Ratings(
        graded,
        np.array(ratings),
        scale,
        np.array(weights),
        np.array(queries, object),
        np.array(judges, object),
    )


def _check_fields(record: dict[str, Any]) -> None:
    for name in RATED_LISTS.required:
        if record.get(name) is None:
            needs = " and ".join(RATED_LISTS.required)
            raise InputError(f'"{name}" is missing', f"every list needs {needs}")


def _rating(value: object) -> float:
    if not isinstance(value, bool | str):
        try:
            number = float(value)  # type: ignore[arg-type]  # what float() refuses is caught here
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise InputError(f'"rating" is {value!r:.40}', "use a finite number")


def _encoded(
    lists: list[LabelList], scale: Scale, n_ranks: int | None, places: list[str]
) -> NDArray[np.int8]:
    longest = max(map(len, lists)) if n_ranks is None else n_ranks
    if longest * len(lists) > 2**28 + 100 * sum(map(len, lists)):
        raise InputError(
            f"lists of up to {longest:,} ranks do not fit into an array",
            "cut the longest lists, or lower `n_ranks`",
        )
    rows = []
    for place, one in zip(places, lists, strict=True):
        try:
            if len(one) > longest:
                raise InputError(
                    f"a list of {len(one)} grades, and K = {longest}",
                    "raise `n_ranks` or cut the list",
                )
            rows.append(encode_list(one, scale))
        except InputError as error:
            raise error.at(place) from error
    return pad_lists(rows, longest)
