"""Columns of lists as codes: arrays of Arrow, texts, Python's lists, or a column per rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from dcglearn.judgments.numbering import GatheredColumn
from dcglearn.judgments.options import ReadOptions
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

RowPlace = Callable[[int], str]
"""Returns the place of a row, for errors."""

_JOINED = re.compile(r"0[0-9]+|[0-9]+(?:[^\w\s][0-9]+)+")
"""Digits that may be several grades of a list, where they are all of it."""

_WRITTEN = re.compile(rf"([\[({{]?){PLAIN_ENTRY}([ ,|;]+){PLAIN_ENTRY}.*?([\])}}]?)")


@dataclass(frozen=True)
class ListColumn:
    """Lists, whose entries are a column, one list after the other."""

    entries: Column
    lengths: Grades
    in_text: bool = False
    """Whether lists are written as text."""

    def __len__(self) -> int:
        return len(self.lengths)

    def positions(self, entries: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the rows and the ranks, from 0, of some entries."""
        ends = np.cumsum(self.lengths)
        rows = np.searchsorted(ends, entries, side="right")
        return rows, entries - (ends[rows] - self.lengths[rows]).astype(np.int64)

    def take(self, rows: NDArray[Any]) -> ListColumn:
        """Return some of the lists, in that order; a list may be there several times."""
        starts, lengths = np.cumsum(self.lengths) - self.lengths, self.lengths[rows]
        entries = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        codes = self.entries.codes[entries + np.repeat(starts[rows], lengths)]
        return replace(self, entries=Column(codes, self.entries.values), lengths=lengths)

    def check(self, side: str, place: RowPlace, n_ranks: int | None) -> None:
        """Refuse lists without an entry, and those that are longer than K."""
        most = LONGEST_LIST if n_ranks is None else n_ranks
        if self.lengths.max(initial=0) > most:
            row = int(np.argmax(self.lengths > most))
            problem = f"a list of {self.lengths[row]:,} grades, and K = {most:,}"
            raise InputError(problem, "raise `n_ranks` or cut the list", f'{place(row)}, "{side}"')
        if (self.entries.codes < 0).any() or not self.lengths.all():
            rows = np.repeat(np.arange(len(self)), self.lengths)
            entries = np.bincount(rows[self.entries.codes >= 0], minlength=len(self))
            if not entries.all():
                problem = f'"{side}" is missing, or an empty list'
                raise InputError(problem, "give at least one grade", place(int(entries.argmin())))


def lists_of(cells: Any, side: str, place: RowPlace) -> ListColumn:
    """Return a column of lists, or a tuple of the columns of ranks; a missing list is empty."""
    if isinstance(cells, tuple):
        return _of_ranks(cells)
    if hasattr(cells, "type"):
        import pyarrow.types as kinds

        array = cells.combine_chunks() if hasattr(cells, "num_chunks") else cells
        if kinds.is_string(array.type) or kinds.is_large_string(array.type):
            return _split_alike(array) or _of_texts(column_of(array), side, place)
        if kinds.is_list(array.type) or kinds.is_large_list(array.type):
            lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            return ListColumn(column_of(array.flatten()), lengths.astype(np.int64))
        cells = array.to_pylist()
    return _of_values(cells, side, place)


def _of_ranks(columns: Sequence[Any]) -> ListColumn:
    """Return lists whose ranks are columns of their own; an empty cell or a dash is no document."""

    def parse(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return None if value.strip() in ("", "-") else with_point(value)

    gathered = GatheredColumn()
    for one in columns:
        gathered.add(column_of(one).parsed(parse, str))
    codes = np.stack(gathered.parts, axis=1)
    lengths = np.full(len(codes), len(columns))
    return ListColumn(Column(codes.ravel(), gathered.values), lengths)


def _of_values(cells: Sequence[Any], side: str, place: RowPlace) -> ListColumn:
    """Return lists of Python's values, some of which may be texts."""
    lists: list[Sequence[Any]] = []
    for row, cell in enumerate(cells):
        try:
            lists.append(_entries(cell))
        except InputError as error:
            raise error.at(f'{place(row)}, "{side}"') from error
    entries = column_of(list(chain.from_iterable(lists)))
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    in_text = any(isinstance(cell, str) for cell in cells)
    return ListColumn(entries, lengths, in_text)


def _entries(cell: Any) -> Sequence[Any]:
    if isinstance(cell, str):
        return parse_list_text(cell)
    if isinstance(cell, list | tuple | np.ndarray):
        return list(cell)
    if is_missing(cell):
        return []
    raise InputError(f"{cell!r:.60} is not a list", "give the grades in rank order")


def _of_texts(texts: Column, side: str, place: RowPlace) -> ListColumn:
    """Return lists that are written as text, each distinct text parsed once."""
    lists = _of_values(
        [*texts.values, None], side, lambda code: place(int(np.argmax(texts.codes == code)))
    )
    return lists.take(texts.codes)


def _split_alike(array: Any) -> ListColumn | None:
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
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    return ListColumn(column, lengths, in_text=True)


class GatheredLists:
    """Lists gathered block by block, one per side, by the numbers of their labels.

    The meaning of the labels, and so the scale, is known when all are there. An error finds the
    first entry with a label, and its place, then.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options, self._labels = options, GatheredColumn()
        self._parts: list[tuple[list[ListColumn], RowPlace, tuple[str, ...]]] = []
        self._longest, self._in_text = 0, False

    def add(self, sides: Sequence[ListColumn], place: RowPlace, names: tuple[str, ...]) -> None:
        """Add the lists of some rows."""
        coded = []
        for side in sides:
            longest = int(side.lengths.max(initial=0))
            lengths: Grades = side.lengths.astype(np.uint8 if longest < 2**8 else np.int32)
            self._labels.add(side.entries)
            coded.append(ListColumn(Column(self._labels.parts[-1], []), lengths))
            self._longest = max(self._longest, longest)
            self._in_text |= side.in_text
        self._parts.append((coded, place, names))

    @property
    def nbytes(self) -> int:
        """The bytes of the codes."""
        sides = [side for sides, _, _ in self._parts for side in sides]
        return sum(one.entries.codes.nbytes + one.lengths.nbytes for one in sides)

    @cached_property
    def labels(self) -> list[Label | None]:
        """The meanings of the labels, checked."""
        values, scale = self._labels.values, self._options.declared_scale()
        if self._options.documents:
            return [str(value) for value in values]
        if self._in_text and scale is None and self._options.n_ranks is None:
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

    def filled(self, scale: Scale, parts: slice = slice(None)) -> Pairs:
        """Return the lists as grade indices, shape (n, sides, K), -1 where there is no grade."""
        some = [sides for sides, _, _ in self._parts[parts]]
        K = self._longest if self._options.n_ranks is None else self._options.n_ranks
        found = [NO_DOCUMENT if one is None else scale.index(one) for one in self.labels]
        indices = np.array([*found, NO_DOCUMENT], np.int8)
        n, sides = sum(len(part[0]) for part in some), len(some[0]) if some else 2
        lists = np.full((n, sides, K), NO_DOCUMENT, np.int8)
        end = 0
        for part in some:
            start, end = end, end + len(part[0])
            for side, column in enumerate(part):
                filled = np.arange(K) < column.lengths[:, None]
                lists[start:end, side][filled] = indices[column.entries.codes]
        return lists

    def _first(self, labels: list[int]) -> tuple[str, int]:
        """Return the place of the first entry with one of some labels, and its longest list."""
        first, longest = "", 0
        for sides, place, names in self._parts:
            found = []
            for number, side in enumerate(sides):
                rows, ranks = side.positions(np.flatnonzero(np.isin(side.entries.codes, labels)))
                longest = max(longest, int(side.lengths[rows].max(initial=0)))
                found += [(int(rows[0]), number, int(ranks[0]))] if len(rows) else []
            if found and not first:
                row, number, rank = min(found)
                first = f'{place(row)}, "{names[number]}", rank {rank + 1}'
        return first, longest

    def _check_joined(self) -> None:
        """Refuse a list such as 012, or 2.1, into which a spreadsheet made 2,1, among others."""
        joined = [at for at, one in enumerate(self._labels.values) if _JOINED.fullmatch(str(one))]
        first, longest = self._first(joined)
        if longest == 1:
            raise InputError(
                f"the list {self._labels.values[joined[0]]} may be several grades",
                "separate the grades of a list with blanks, or say `n_ranks=1` if it is one",
                first,
            )
