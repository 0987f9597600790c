"""Ratings of single lists, such as satisfaction: files and frames in, as arrays.

Fields: ``grades`` (the list, from the first rank down), its rating (``rating``, ``score``,
``satisfaction`` or another name) and, where known, ``query``, ``judge`` and ``weight``.
:func:`dcglearn.ratings.rating_pairs.pairs_from_ratings` makes judgments of pairs of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats, Ids, Rankings
from dcglearn.data.judgment_frames import plain_cell
from dcglearn.data.rankings import LabelList, encode_list, pad_lists
from dcglearn.fields.judgment_fields import parse_id, parse_labels, parse_weight
from dcglearn.measures.scale import Label, Scale, ScaleLike, as_scale
from dcglearn.records.blocks import FieldKind, FieldKinds
from dcglearn.records.record_formats import PlacedRecord, read_records

if TYPE_CHECKING:
    import pandas as pd

RATING_FIELDS = ("rating", "score", "satisfaction")
"""The field of the rating, where it is not named."""

_KINDS: FieldKinds = {"query": "id", "grades": "labels", "judge": "id", "weight": "number"}


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
        frame: pd.DataFrame,
        rating: str | None = None,
        scale: ScaleLike | None = None,
        n_ranks: int | None = None,
    ) -> Ratings:
        """Build ratings from a pandas frame with one list per row.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns ``grades`` (each cell a list of grades, None for an empty rank) and the
            rating; optionally ``query``, ``judge`` and ``weight``.
        rating, scale, n_ranks
            As those of :func:`read_ratings`.

        Returns
        -------
        Ratings

        Raises
        ------
        InputError
            Naming the row (the first is row 1), as :func:`read_ratings`.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"grades": [[2, 0], [1]], "score": [4.5, 3]})
        >>> Ratings.from_frame(frame)
        Ratings(2 lists of 2, grades 2 > 1 > 0)
        """
        if not frame.columns.is_unique:
            repeated = frame.columns[frame.columns.duplicated()][0]
            raise InputError(f"the column {repeated!r} appears twice", "keep one")
        columns = [[plain_cell(value) for value in frame[name].tolist()] for name in frame.columns]
        records = (
            (f"row {row}", dict(zip(frame.columns, cells, strict=True)))
            for row, cells in enumerate(zip(*columns, strict=True), start=1)
        )
        return _ratings_of(records, "", rating, as_scale(scale), n_ranks, None, silent)


def read_ratings(
    path: str | os.PathLike[str],
    rating: str | None = None,
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
) -> Ratings:
    r"""Read a file of rated lists.

    Parameters
    ----------
    path : path-like
        ``.jsonl``, ``.csv`` or ``.parquet``, one list per row.
    rating : str, optional
        The field of the rating; by default the one of ``rating``, ``score`` and
        ``satisfaction`` that is there.
    scale : Scale, str or sequence of labels, optional
        The grades, best first. By default the numbers that occur, the highest first.
    n_ranks : int, optional
        K: longer lists are refused. By default the longest list sets it.
    ignored : IgnoredInput, optional
        If given, unknown fields and repeated keys are ignored and counted there.
    advance : callable, optional
        Called with (rows read, 0).

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
    kinds: dict[str, FieldKind] = dict(_KINDS)
    for name in RATING_FIELDS if rating is None else [rating]:
        if name in _KINDS:
            raise InputError(f"{name!r} cannot be the rating", "name another field as `rating`")
        kinds[name] = "number"
    rows = read_records(path, kinds, ignored)
    return _ratings_of(rows, str(path), rating, as_scale(scale), n_ranks, ignored, advance)


def _ratings_of(
    rows: Iterable[PlacedRecord],
    path: str,
    rating: str | None,
    scale: Scale | None,
    n_ranks: int | None,
    ignored: IgnoredInput | None,
    advance: Advance,
) -> Ratings:
    lists: list[LabelList] = []
    places: list[str] = []
    ratings: list[float] = []
    weights: list[float] = []
    queries: list[str | None] = []
    judges: list[str | None] = []
    for number, (line, record) in enumerate(rows):
        place = f"{path}, {line}" if path else line
        try:
            rating = _rating_field(record) if rating is None else rating
            _check_fields(record, rating, ignored)
            lists.append(parse_labels(record["grades"], "grades"))
            ratings.append(_rating(record[rating], rating))
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
    return Ratings(
        _encoded(lists, scale, n_ranks, places),
        np.array(ratings),
        scale,
        np.array(weights),
        np.array(queries, object),
        np.array(judges, object),
    )


def _rating_field(record: dict[str, Any]) -> str:
    found = [name for name in RATING_FIELDS if record.get(name) is not None]
    if not found:
        raise InputError(
            "no rating", f"give the field {', '.join(RATING_FIELDS)}, or name another as `rating`"
        )
    if len(found) > 1:
        raise InputError(
            f"the fields {' and '.join(found)} can both be the rating",
            f"name one, such as `rating={found[0]!r}`, and leave out the other or set `lenient`",
        )
    return found[0]


def _check_fields(record: dict[str, Any], rating: str, ignored: IgnoredInput | None) -> None:
    known = {*_KINDS, rating}
    for name in (name for name in record if name not in known):
        if name in RATING_FIELDS and record[name] is None:
            continue  # readers give every field that was asked for
        if ignored is None:
            raise unknown_name("field", name, known)
        ignored.counts[f"unknown field {name!r}"] += 1
    for name in ("grades", rating):
        if record.get(name) is None:
            raise InputError(f'"{name}" is missing', f"every list needs grades and {rating}")


def _rating(value: object, name: str) -> float:
    if not isinstance(value, bool | str):
        try:
            number = float(value)  # type: ignore[arg-type]  # what float() refuses is caught here
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise InputError(f'"{name}" is {value!r:.40}', "use a finite number")


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
