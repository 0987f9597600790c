"""Columns of lists as codes: arrays of Arrow, texts, Python's lists, or a column per rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import Column, column_of, is_missing
from dcglearn.base.types import Grades, Pairs
from dcglearn.judgments.folds import GatheredColumn
from dcglearn.judgments.meaning.cells import (
    PLAIN_ENTRY,
    UnmappedValueError,
    parse_list_text,
    resolve_labels,
    with_point,
)
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
        gathered, rows = GatheredColumn(), len(cells[0])
        for rank, one in enumerate(cells):
            gathered.add(column_of(one).parsed(_rank_cell, str), rank * rows)
        every = gathered.column(len(cells) * rows)
        return Column(every.codes.reshape(-1, rows).T, every.values)
    if isinstance(cells, np.ndarray) and cells.ndim == 2:
        column = column_of(cells.ravel())
        return Column(column.codes.reshape(cells.shape), column.values)
    if hasattr(cells, "type"):
        import pyarrow.types as kinds

        array = cells.combine_chunks() if hasattr(cells, "num_chunks") else cells
        if kinds.is_string(array.type) or kinds.is_large_string(array.type):
            return _split_alike(array) or _of_texts(column_of(array), side, place)
        if kinds.is_list(array.type) or kinds.is_large_list(array.type):
            lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            return table_of(column_of(array.flatten()), lengths)
        cells = array.to_pylist()
    return _of_values(cells, side, place)


def table_of(entries: Column, lengths: Grades) -> Column:
    """Return lists whose entries follow one another as a column of shape (n, K)."""
    K, n = int(lengths.max(initial=0)), len(lengths)
    codes = entries.codes.reshape(n, K) if len(entries) == n * K else np.full((n, K), -1, np.int32)
    if len(entries) < n * K:
        codes[np.arange(K) < lengths[:, None]] = entries.codes
    return Column(codes, entries.values)


def _check_lengths(lists: Column, side: str, place: RowPlace, n_ranks: int | None) -> None:
    filled = lists.codes >= 0
    longer = filled[:, filled.shape[1] if n_ranks is None else n_ranks :].any(axis=1)
    if longer.any():
        row = int(np.argmax(longer))
        problem = f"a list of {np.flatnonzero(filled[row])[-1] + 1:,} grades, and K = {n_ranks:,}"
        raise InputError(problem, "raise `n_ranks` or cut the list", f'{place(row)}, "{side}"')
    empty = ~filled.any(axis=1)
    if empty.any():
        where, remedy = place(int(np.argmax(empty))), "give at least one, or leave the judgment out"
        raise InputError(f'"{side}" holds no grade', remedy, where)


def _rank_cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return None if value.strip() in ("", "-") else with_point(value)


def _of_values(cells: Sequence[Any], side: str, place: RowPlace) -> Column:
    lists: list[Sequence[Any]] = []
    for row, cell in enumerate(cells):
        try:
            lists.append(_entries(cell))
        except InputError as error:
            raise error.at(f'{place(row)}, "{side}"') from error
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return table_of(column_of(list(chain.from_iterable(lists))), lengths)


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


def _split_alike(array: Any) -> Column | None:
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
    return table_of(column, lists.value_lengths().to_numpy(zero_copy_only=False))


def _check_joined(lists: dict[str, Column], place: RowPlace) -> None:
    """Refuse a list such as 012, or 2.1, into which a spreadsheet made 2,1."""
    found = list[tuple[int, str, str]]()
    for name, column in lists.items():
        joined = [isinstance(one, str) and bool(_JOINED.fullmatch(one)) for one in column.values]
        rows = np.flatnonzero(np.array([*joined, False])[column.codes].any(axis=1))
        if (column.codes[rows, 1:] >= 0).any():
            return  # such entries are grades of longer lists
        found += [(int(row), name, column.values[column.codes[row, 0]]) for row in rows[:1]]
    if found:
        row, name, value = min(found)
        raise InputError(
            f"the list {value} may be several grades",
            "separate the grades of a list with blanks, or say `n_ranks=1` if it is one",
            f'{place(row)}, "{name}"',
        )


class GradedLists:
    """Lists by name as codes, and the scale of their grades."""

    def __init__(
        self,
        lists: dict[str, Column],
        options: ReadOptions,
        path: str,
        place: RowPlace,
    ) -> None:
        self._lists, self._n_ranks = lists, options.n_ranks
        for name, column in lists.items():
            _check_lengths(column, name, place, options.n_ranks)
        values = [value for column in lists.values() for value in column.values]
        declared = options.declared_scale()
        if declared is None and options.n_ranks is None and not options.documents:
            _check_joined(lists, place)
        if options.documents:
            labels: list[Label | None] = [str(value) for value in values]
        else:
            try:
                labels = resolve_labels(values, declared, options.null_marks)
            except UnmappedValueError as error:
                raise error.at(self._first(error.position, place)) from error
        known = [label for label in labels if label is not None]
        if declared is None and not known:
            raise InputError("there are no grades", "give at least one record", path)
        make = Scale.from_documents if options.documents else Scale.from_numbers
        try:
            self.scale = make(known) if declared is None else declared
        except InputError as error:
            raise error.at(path) from error
        self._grades = [NO_DOCUMENT if one is None else self.scale.index(one) for one in labels]

    def indices(self, rows: slice = slice(None)) -> Pairs:
        """Return lists as grade indices, shape (n, names, K), -1 where there is no grade."""
        codes = [column.codes[rows] for column in self._lists.values()]
        K = max(one.shape[1] for one in codes) if self._n_ranks is None else self._n_ranks
        found, first = np.full((len(codes[0]), len(codes), K), NO_DOCUMENT, np.int8), 0
        for side, column in enumerate(self._lists.values()):
            grades = self._grades[first : first + len(column.values)]
            held = codes[side][:, :K]
            found[:, side, : held.shape[1]] = np.array([*grades, NO_DOCUMENT], np.int8)[held]
            first += len(column.values)
        return found

    def _first(self, label: int, place: RowPlace) -> str:
        names = [name for name, column in self._lists.items() for _ in column.values]
        codes = self._lists[names[label]].codes
        row, rank = np.argwhere(codes == label - names.index(names[label]))[0].tolist()
        return f'{place(row)}, "{names[label]}", rank {rank + 1}'
