"""Columns of lists as codes: arrays of Arrow, texts, Python's lists, or a column per rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import Column, column_of, is_missing
from dcglearn.base.types import Grades, Pairs
from dcglearn.judgments.meaning.cells import (
    LONGEST_LIST,
    PLAIN_ENTRY,
    UnmappedValueError,
    parse_list_text,
    resolve_labels,
    with_point,
)
from dcglearn.judgments.numbering import GatheredColumn, stacked
from dcglearn.judgments.options import ReadOptions
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

RowPlace = Callable[[int], str]
"""Returns the place of a row, for errors."""

_JOINED = re.compile(r"0[0-9]+|[0-9](?:[^\w\s][0-9])+")
"""Digits that may be several grades of a list, where they are all of it."""

_WRITTEN = re.compile(rf"([\[({{]?){PLAIN_ENTRY}([ ,|;]+){PLAIN_ENTRY}.*?([\])}}]?)")


def lists_of(cells: Any, side: str, place: RowPlace) -> Column:
    """Return a column of lists, or a tuple of the columns of ranks; a missing list is empty."""
    if isinstance(cells, tuple):
        return stacked(column_of(one).parsed(_rank_cell, str) for one in cells)
    if hasattr(cells, "type"):
        import pyarrow.types as kinds

        array = cells.combine_chunks() if hasattr(cells, "num_chunks") else cells
        if kinds.is_string(array.type) or kinds.is_large_string(array.type):
            return _split_alike(array, place) or _of_texts(column_of(array), side, place)
        if kinds.is_list(array.type) or kinds.is_large_list(array.type):
            lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            return table_of(column_of(array.flatten()), lengths, place)
        cells = array.to_pylist()
    return _of_values(cells, side, place)


def table_of(entries: Column, lengths: Grades, place: RowPlace) -> Column:
    """Return lists whose entries follow one another as a column of shape (n, K)."""
    K, n = int(lengths.max(initial=0)), len(lengths)
    if K > LONGEST_LIST or n * K > max(2**28, 100 * len(entries)):
        problem = f"a list of {K:,} ranks, far longer than others"
        raise InputError(problem, "cut the list", place(int(lengths.argmax())))
    codes = entries.codes.reshape(n, K) if len(entries) == n * K else np.full((n, K), -1, np.int32)
    if len(entries) < n * K:
        codes[np.arange(K) < lengths[:, None]] = entries.codes
    return Column(codes, entries.values)


def check_lists(lists: Column, side: str, place: RowPlace, n_ranks: int | None) -> None:
    """Refuse lists without an entry, and those that are longer than K."""
    filled = lists.codes >= 0
    longer = filled[:, n_ranks:].any(axis=1) if n_ranks is not None else np.zeros(1, bool)
    if longer.any():
        row = int(np.argmax(longer))
        problem = f"a list of {np.flatnonzero(filled[row])[-1] + 1:,} grades, and K = {n_ranks:,}"
        raise InputError(problem, "raise `n_ranks` or cut the list", f'{place(row)}, "{side}"')
    empty = ~filled.any(axis=1)
    if empty.any():
        where, remedy = place(int(np.argmax(empty))), "give at least one, or leave the judgment out"
        raise InputError(f'"{side}" holds no grade', remedy, where)


def _rank_cell(value: Any) -> Any:
    """Return the grade in a column of its own; an empty cell or a dash is no document."""
    if not isinstance(value, str):
        return value
    return None if value.strip() in ("", "-") else with_point(value)


def _of_values(cells: Sequence[Any], side: str, place: RowPlace) -> Column:
    """Return lists of Python's values, some of which may be texts."""
    lists: list[Sequence[Any]] = []
    for row, cell in enumerate(cells):
        try:
            lists.append(_entries(cell))
        except InputError as error:
            raise error.at(f'{place(row)}, "{side}"') from error
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return table_of(column_of(list(chain.from_iterable(lists))), lengths, place)


def _entries(cell: Any) -> Sequence[Any]:
    if isinstance(cell, str):
        return parse_list_text(cell)
    if isinstance(cell, list | tuple | np.ndarray):
        return list(cell)
    if is_missing(cell):
        return []
    raise InputError(f"{cell!r:.60} is not a list", "give the grades in rank order")


def _of_texts(texts: Column, side: str, place: RowPlace) -> Column:
    """Return lists that are written as text, each distinct text parsed once."""
    lists = _of_values(
        [*texts.values, None], side, lambda code: place(int(np.argmax(texts.codes == code)))
    )
    return Column(lists.codes[texts.codes], lists.values)


def _split_alike(array: Any, place: RowPlace) -> Column | None:
    """Return lists that are all written in one simple way, such as ``2 0 1``; None for others."""
    import pyarrow.compute as pc

    longest = max((text or "" for text in array.slice(0, 100).to_pylist()), key=len, default="")
    written = _WRITTEN.fullmatch(longest)
    if written is None:
        return None
    opening, between, closing = written.groups()
    pattern = rf"{PLAIN_ENTRY}(?:{re.escape(between)}{PLAIN_ENTRY})*"
    alike = pc.match_substring_regex(array, f"^{re.escape(opening)}{pattern}{re.escape(closing)}$")
    try:
        entries = len(parse_list_text(longest))
    except InputError:
        return None
    if not pc.all(alike, skip_nulls=False).as_py() or entries != longest.count(between) + 1:
        return None
    lists = pc.split_pattern(pc.utf8_trim(array, f" {opening}{closing}"), between)
    column = column_of(lists.flatten()).parsed(
        lambda entry: parse_list_text(f"{opening}{entry}{closing}")[0], str
    )
    return table_of(column, lists.value_lengths().to_numpy(zero_copy_only=False), place)


class GatheredLists:
    """Lists gathered block by block, one per name; what labels mean is known when all are there."""

    def __init__(self, options: ReadOptions, names: Sequence[str] = ("a", "b")) -> None:
        self._options, self._names, self._labels = options, names, GatheredColumn()
        self._places: list[RowPlace] = []

    def add(self, lists: Sequence[Column], place: RowPlace, check: bool = True) -> None:
        """Add the lists of some rows; without a check, lists may be empty."""
        for name, column in zip(self._names, lists, strict=True) if check else ():
            check_lists(column, name, place, self._options.n_ranks)
        self._labels.add(stacked(lists))
        self._places.append(place)

    @property
    def nbytes(self) -> int:
        """The bytes of the codes."""
        return sum(part.nbytes for part in self._labels.parts)

    @cached_property
    def labels(self) -> list[Label | None]:
        """The meanings of the labels, checked."""
        values, scale = self._labels.values, self._options.declared_scale()
        if self._options.documents:
            return [str(value) for value in values]
        if scale is None and self._options.n_ranks is None:
            self._check_joined()
        try:
            return resolve_labels(values, scale, self._options.null_marks)
        except UnmappedValueError as error:
            raise error.at(self._first([error.position])[0]) from error

    def scale(self, path: str) -> Scale:
        """Return the declared scale, or that of the grades that occur."""
        declared = self._options.declared_scale()
        known = [label for label in self.labels if label is not None]
        if declared is not None:
            return declared
        if not known:
            raise InputError("there are no grades", "give at least one record", path)
        make = Scale.from_documents if self._options.documents else Scale.from_numbers
        try:
            return make(known)
        except InputError as error:
            raise error.at(path) from error

    def filled(self, scale: Scale, which: slice = slice(None)) -> Pairs:
        """Return the lists as grade indices, shape (n, names, K), -1 where there is no grade."""
        K = max((part.shape[2] for part in self._labels.parts), default=0)
        K = K if self._options.n_ranks is None else self._options.n_ranks
        found = [NO_DOCUMENT if one is None else scale.index(one) for one in self.labels]
        labels = self._labels.column(which).codes[..., :K]
        lists = np.full((len(labels), len(self._names), K), NO_DOCUMENT, np.int8)
        lists[..., : labels.shape[-1]] = np.array([*found, NO_DOCUMENT], np.int8)[labels]
        return lists

    def _first(self, labels: list[int]) -> tuple[str, int]:
        """Return the place of the first entry with one of some labels, and its longest list."""
        first, longest = "", 0
        for part, place in zip(self._labels.parts, self._places, strict=True):
            rows, names, ranks = np.nonzero(np.isin(part, labels))
            if len(rows):
                longest = max(longest, int((part[rows, names] >= 0).sum(axis=1).max()))
                name, rank = self._names[names[0]], ranks[0] + 1
                first = first or f'{place(int(rows[0]))}, "{name}", rank {rank}'
        return first, longest

    def _check_joined(self) -> None:
        """Refuse a list such as 012, or 2.1, into which a spreadsheet made 2,1, among others."""
        values = self._labels.values
        joined = [
            at for at, one in enumerate(values) if type(one) is str and _JOINED.fullmatch(one)
        ]
        first, longest = self._first(joined)
        if longest == 1:
            raise InputError(
                f"the list {values[joined[0]]} may be several grades",
                "separate the grades of a list with blanks, or say `n_ranks=1` if it is one",
                first,
            )
