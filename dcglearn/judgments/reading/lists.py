"""Columns of lists as codes: arrays of Arrow, texts, Python's lists, or a column per rank."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import column_of, is_missing
from dcglearn.base.types import Grades, Integers, Pairs
from dcglearn.judgments.meaning.cells import (
    LONGEST_LIST,
    UnmappedValueError,
    parse_list_text,
    resolve_labels,
    with_point,
)
from dcglearn.judgments.options import ReadOptions
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

Place = Callable[[int], str]
"""Returns the place of a row, for errors."""

_DIGITS = frozenset(string.digits.encode())
_SINGLE = _DIGITS | frozenset(string.ascii_letters.encode())
_MOST_WIDTHS = 64
"""Texts of more different lengths are read one by one."""


@dataclass(frozen=True)
class ListColumn:
    """Lists one after the other: codes of their entries, -1 for none, and distinct values."""

    codes: Grades
    lengths: Integers
    values: list[Any]
    in_text: bool = False
    """Whether lists are written as text."""

    def __len__(self) -> int:
        return len(self.lengths)

    def position(self, entry: int) -> tuple[int, int]:
        """Return the row and the rank, from 0, of an entry of `codes`."""
        ends = np.cumsum(self.lengths)
        row = int(np.searchsorted(ends, entry, side="right"))
        return row, entry - int(ends[row] - self.lengths[row])

    def check(self, side: str, place: Place, n_ranks: int | None) -> None:
        """Refuse lists without an entry, and those that are longer than K."""
        most = LONGEST_LIST if n_ranks is None else n_ranks
        if self.lengths.max(initial=0) > most:
            row = int(np.argmax(self.lengths > most))
            problem = f"a list of {self.lengths[row]:,} grades, and K = {most:,}"
            raise InputError(problem, "raise `n_ranks` or cut the list", f'{place(row)}, "{side}"')
        filled = self.codes >= 0
        if not filled.all() or not self.lengths.all():
            before = np.append(0, np.cumsum(filled))
            ends = np.cumsum(self.lengths)
            empty = before[ends] == before[ends - self.lengths]
            if empty.any():
                where = place(int(np.argmax(empty)))
                raise InputError(f'"{side}": an empty list', "give at least one grade", where)


def lists_of(cells: Any, side: str, place: Place) -> ListColumn:
    """Return the lists of a side; `cells` is a column, or a tuple of those of the ranks."""
    if isinstance(cells, tuple):
        return _of_ranks(cells)
    if not hasattr(cells, "type"):
        return _of_values(cells, side, place)
    import pyarrow.types as kinds

    array = cells.combine_chunks() if hasattr(cells, "num_chunks") else cells
    if array.null_count:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f'"{side}" is missing', "every row needs one", place(row))
    if kinds.is_string(array.type) or kinds.is_large_string(array.type):
        return _of_texts(array, side, place)
    if kinds.is_list(array.type) or kinds.is_large_list(array.type):
        lengths = array.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        column = column_of(array.flatten())
        return ListColumn(column.codes, lengths, column.values)
    return _of_values(array.to_pylist(), side, place)


def _of_ranks(columns: Sequence[Any]) -> ListColumn:
    """Return lists whose ranks are columns of their own; an empty cell or a dash is no document."""

    def parse(value: Any) -> Any:
        if value in ("", "-"):
            return None
        return with_point(value) if isinstance(value, str) else value

    values: list[Any] = []
    tables = []
    for one in columns:
        column = column_of(one).parsed(parse, str)
        tables.append(np.where(column.codes < 0, -1, column.codes + len(values)))
        values += column.values
    codes = np.stack(tables, axis=1)
    return ListColumn(codes.ravel(), np.full(len(codes), len(columns), np.int64), values)


def _of_values(cells: Any, side: str, place: Place) -> ListColumn:
    """Return lists of Python's values, some of which may be texts."""
    if isinstance(cells, np.ndarray) and cells.ndim == 2:
        column = column_of(cells.ravel())
        lengths = np.full(len(cells), cells.shape[1], np.int64)
        return ListColumn(column.codes, lengths, column.values)
    lists: list[Sequence[Any]] = []
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            lists.append(_entries(cell, side, partial(place, row)))
        elif isinstance(cell, np.ndarray):
            lists.append(cell.tolist())
        elif isinstance(cell, list | tuple):
            lists.append(cell)
        elif is_missing(cell):
            raise InputError(f'"{side}" is missing', "every row needs one", place(row))
        else:
            remedy = "give the grades in rank order"
            raise InputError(f'"{side}" is {cell!r:.60}, not a list', remedy, place(row))
    column = column_of(list(chain.from_iterable(lists)))
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    in_text = any(isinstance(cell, str) for cell in cells)
    return ListColumn(column.codes, lengths, column.values, in_text)


def _entries(text: str, side: str, place: Callable[[], str]) -> list[str | None]:
    try:
        return parse_list_text(text)
    except InputError as error:
        raise error.at(f'{place()}, "{side}"') from error


def _of_texts(array: Any, side: str, place: Place) -> ListColumn:
    """Return lists that are written as text: by width where they are alike, else one by one."""
    import pyarrow as pa

    alike = _written_alike(array.cast(pa.string()))
    if alike is not None:
        return alike
    texts = column_of(array)

    def entries(code: int) -> list[str | None]:
        return _entries(
            texts.values[code], side, lambda: place(int(np.argmax(texts.codes == code)))
        )

    lists = [entries(code) for code in range(len(texts.values))]
    column = column_of(list(chain.from_iterable(lists)))
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return ListColumn(*_taken(column.codes, lengths, texts.codes), column.values, in_text=True)


def _taken(codes: Grades, lengths: Integers, rows: Grades) -> tuple[Grades, Integers]:
    """Return the codes and lengths of some of the lists that follow one another."""
    starts, wanted = np.cumsum(lengths) - lengths, lengths[rows]
    before = np.cumsum(wanted) - wanted
    entries = np.arange(wanted.sum()) + np.repeat(starts[rows] - before, wanted)
    return codes[entries], wanted


def _written_alike(array: Any) -> ListColumn | None:
    """Return lists of single letters or digits with the same between them, such as ``2 0 1``.

    Texts of one width have their entries and the characters between them at the same places.
    """
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, 4 * array.offset)
    widths = np.diff(offsets)
    distinct = np.unique(widths)
    if not len(array) or not distinct[0] or len(distinct) > _MOST_WIDTHS:
        return None
    content = np.frombuffer(array.buffers()[2], np.uint8)
    lengths = np.zeros(len(array), np.int64)
    found = []
    for width in distinct.tolist():
        rows = np.flatnonzero(widths == width) if len(distinct) > 1 else slice(None)
        if len(distinct) == 1:
            table = content[offsets[0] : offsets[-1]].reshape(-1, width)
        else:
            table = content[offsets[:-1][rows][:, None] + np.arange(width)]
        entries = _entries_at(table)
        if entries is None:
            return None
        lengths[rows] = entries.shape[1]
        found.append((rows, entries))
    if len(found) == 1:
        flat = found[0][1].ravel()
    else:
        starts = np.cumsum(lengths) - lengths
        flat = np.empty(int(lengths.sum()), np.uint8)
        for rows, entries in found:
            flat[starts[rows][:, None] + np.arange(entries.shape[1])] = entries
    occur = np.flatnonzero(np.bincount(flat, minlength=256))
    numbers = np.zeros(256, np.int32)
    numbers[occur] = np.arange(len(occur), dtype=np.int32)
    return ListColumn(numbers[flat], lengths, [chr(byte) for byte in occur.tolist()])


def _entries_at(table: Any) -> Any:
    """Return the entries of texts of one width, shape (n, entries); None if they are not alike."""
    first = table[0].tobytes()
    at = [place for place, byte in enumerate(first) if byte in _SINGLE]
    between = [place for place in range(len(first)) if place not in at]
    try:
        if not first.isascii() or parse_list_text(first.decode()) != [chr(first[i]) for i in at]:
            return None
    except InputError:
        return None
    if not at or any((table[:, place] != first[place]).any() for place in between):
        return None
    entries = table[:, at]
    allowed = _DIGITS if _DIGITS.issuperset(first[i] for i in at) else _SINGLE
    occur = np.flatnonzero(np.bincount(entries.ravel(), minlength=256)).tolist()
    return entries if allowed.issuperset(occur) else None  # some separators are those of digits


class Numbering:
    """The distinct values of a column, numbered as they occur in the whole input."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self.values: list[Any] = []

    def add(self, codes: Grades, values: list[Any]) -> Grades:
        """Return the numbers of coded values in few bytes, -1 for a missing one."""
        found = []
        for value in values:
            key = value if type(value) is str else (type(value), repr(value))
            found.append(self._numbers.setdefault(key, len(self._numbers)))
            if len(self._numbers) > len(self.values):
                self.values.append(value)
        size = len(self.values)
        bits = 8 if size <= 2**7 else 16 if size <= 2**15 else 32
        return np.array([*found, -1], np.dtype(f"int{bits}"))[codes]


class GatheredLists:
    """Lists gathered block by block, one per side, by the numbers of their labels.

    The meaning of the labels, and so the scale, is known when all are there. An error finds the
    first entry with a label, and its place, then.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options, self._labels = options, Numbering()
        self._parts: list[tuple[list[tuple[Grades, Grades]], Place, tuple[str, ...]]] = []
        self.longest = self._entries = self._rows = 0
        self._in_text = False

    def add(self, sides: tuple[ListColumn, ...], place: Place, names: tuple[str, ...]) -> None:
        """Add the lists of some rows."""
        coded: list[tuple[Grades, Grades]] = []
        for side in sides:
            longest = int(side.lengths.max(initial=0))
            self.longest = max(self.longest, longest)
            self._entries += len(side.codes)
            lengths: Grades = side.lengths.astype(np.uint8 if longest < 2**8 else np.int32)
            coded.append((self._labels.add(side.codes, side.values), lengths))
        self._in_text |= any(side.in_text for side in sides)
        self._rows += len(sides[0])
        self._parts.append((coded, place, names))

    @property
    def nbytes(self) -> int:
        """The bytes of the codes."""
        return sum(one.nbytes for part, _, _ in self._parts for side in part for one in side)

    @cached_property
    def labels(self) -> list[Label | None]:
        """The meanings of the labels, checked."""
        options = self._options
        if options.documents:
            return [str(value) for value in self._labels.values]
        try:
            found = resolve_labels(
                self._labels.values, options.declared_scale(), options.null_marks
            )
        except UnmappedValueError as error:
            raise self._joined(error).at(self._place(error.position)) from error
        if self._in_text and options.declared_scale() is None and options.n_ranks is None:
            self._check_spreadsheet(found)
        return found

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
            error = self._joined(error)
            raise error.at(path) from error

    def filled(self, scale: Scale, parts: slice = slice(None)) -> Pairs:
        """Return the lists as grade indices, shape (n, sides, K), -1 where there is no grade."""
        some = self._parts[parts]
        n = sum(len(part[0][1]) for part, _, _ in some)
        K = self.longest if self._options.n_ranks is None else self._options.n_ranks
        if self._rows * K > max(2**28, 100 * self._entries):
            raise InputError(
                f"lists of up to {K:,} ranks do not fit into an array with the others",
                "cut the longest lists, or lower `n_ranks`",
            )
        found = [NO_DOCUMENT if one is None else scale.index(one) for one in self.labels]
        table = np.array([*found, NO_DOCUMENT], np.int8)
        lists = np.full((n, len(some[0][0]) if some else 2, K), NO_DOCUMENT, np.int8)
        start = 0
        for part, _, _ in some:
            end = start + len(part[0][1])
            for side, (codes, lengths) in enumerate(part):
                _fill(lists[start:end, side], table[codes], lengths)
            start = end
        return lists

    def _place(self, label: int) -> str:
        """Return the place of the first entry with a label."""
        for part, place, names in self._parts:
            found = []
            for side, (codes, lengths) in enumerate(part):
                entry = int(np.argmax(codes == label))
                if len(codes) and codes[entry] == label:
                    column = ListColumn(codes, lengths.astype(np.int64), [])
                    row, rank = column.position(entry)
                    found.append((row, side, rank))
            if found:
                row, side, rank = min(found)
                return f'{place(row)}, "{names[side]}", rank {rank + 1}'
        raise LookupError(label)

    def _joined(self, error: InputError) -> InputError:
        """Return another error if lists are perhaps written so that they are taken for grades."""
        values = self._labels.values
        joined = [one for one in values if re.fullmatch(r"[0-9](?:\W?[0-9])+", str(one))]
        if self.longest > 1 or not joined:
            return error
        problem = f"every list holds one grade, such as {joined[0]}"
        return InputError(problem, "separate the grades of a list with blanks or commas")

    def _check_spreadsheet(self, labels: list[Label | None]) -> None:
        """Refuse a list of one number such as 2.1, into which a spreadsheet made the list 2,1."""
        odd = [
            number
            for number, (label, value) in enumerate(zip(labels, self._labels.values, strict=True))
            if isinstance(value, str) and isinstance(label, float)
        ]
        first = None
        for part, place, names in self._parts if odd else []:
            for side, (codes, lengths) in enumerate(part):
                rows = np.repeat(np.arange(len(lengths)), lengths)[np.isin(codes, odd)]
                if (lengths[rows] > 1).any():
                    return  # such grades occur
                if len(rows) and first is None:
                    first = f'{place(int(rows[0]))}, "{names[side]}"'
        if first is not None:
            label = labels[odd[0]]
            raise InputError(
                f"the list {label} may be two grades that a spreadsheet took for a number",
                "write blanks between its grades, or say `n_ranks=1` if it is one",
                first,
            )


def _fill(table: Any, indices: Any, lengths: Grades) -> None:
    """Fill the rows of a table with lists that follow one another."""
    longest = int(lengths.max(initial=0))
    if len(indices) == longest * len(table):
        table[:, :longest] = indices.reshape(len(table), longest)
    else:
        table[np.arange(table.shape[1]) < lengths[:, None]] = indices
