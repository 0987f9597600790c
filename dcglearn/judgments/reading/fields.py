"""The fields of records: which columns of a file they are, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import Column, column_of, parse_id
from dcglearn.base.tables.delimited import is_second_header
from dcglearn.base.tables.frames import FrameLike, FrameSource, is_frame
from dcglearn.base.tables.places import Place
from dcglearn.base.tables.sources import Block, Source, find_sources, name_sources
from dcglearn.base.types import Floats, Rankings
from dcglearn.judgments.meaning.cells import number_of, parse_weight
from dcglearn.judgments.meaning.columns import ColumnMap, RecordFields, resolve_columns
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.reading import lists
from dcglearn.measures.scale import Scale

LARGEST = 1e100
"""Larger numbers are refused, whose differences and squares would overflow."""


@dataclass(frozen=True)
class FieldBlock:
    """Consecutive records: the cells of each field that is there, and where the records are.

    A field of ranks or of raters has a tuple of columns.
    """

    cells: dict[str, Any]
    rows: int
    found: ColumnMap
    place: lists.Place
    unknown: dict[str, Any]

    def column(self, field: str) -> Column | None:
        """Return a field as a column, None where it is not there."""
        return column_of(self.cells[field]) if field in self.cells else None

    def ids(self, field: str) -> Column | None:
        """Return a field of ids as a column of texts."""
        column = self.column(field)
        return None if column is None else column.parsed(lambda v: parse_id(v, field), self.place)

    def lists_of(self, field: str) -> lists.ListColumn:
        """Return the lists of a field, which every record must have."""
        if field not in self.cells:
            raise InputError(f'"{field}" is missing', "every record needs it", self.place(0))
        return lists.lists_of(self.cells[field], field, self.place)

    def take(self, rows: NDArray[np.intp]) -> FieldBlock:
        """Return some of the records, in that order; a row may be there several times."""

        def taken(cells: Any) -> Any:
            if isinstance(cells, tuple):
                return tuple(map(taken, cells))
            held = _listed(cells)
            return [held[row] for row in rows.tolist()]

        cells = {name: taken(held) for name, held in self.cells.items()}
        return replace(
            self, cells=cells, rows=len(rows), place=lambda row: self.place(int(rows[row]))
        )

    def values(self, field: str, parse: Callable[[Any], Any]) -> list[Any]:
        """Return what the cells of a field mean, None where there is none."""
        column = self.column(field)
        if column is None:
            return [None] * self.rows
        found: list[Any] = column.parsed(parse, self.place).decoded().tolist()
        return found

    def numbers(self, field: str) -> Floats:
        """Return the numbers of a field, of at most 1e100, which every record must have."""

        def parse(value: Any) -> float | None:
            number = number_of(value)
            if value == "":
                return None
            if not abs(number) <= LARGEST:
                raise InputError(f'"{field}" is {value!r:.40}', "use a finite number")
            return number

        numbers = self.values(field, parse)
        if None in numbers:
            where = self.place(numbers.index(None))
            raise InputError(f'"{field}" is missing', "every record needs it", where)
        return np.array(numbers, float)

    def weights(self) -> Floats | None:
        """Return the weights, 1 where there is none; None without a column of them."""
        column = self.column("weight")
        if column is None:
            return None
        parsed = column.parsed(parse_weight, self.place)
        return np.array([*parsed.values, 1.0], float)[parsed.codes]


def _listed(cells: Any) -> list[Any]:
    found: list[Any] = cells.to_pylist() if hasattr(cells, "to_pylist") else list(cells)
    return found


def joined(blocks: Sequence[FieldBlock]) -> FieldBlock:
    """Return consecutive blocks as one, whose cells are Python's values."""
    starts = np.cumsum([0, *(block.rows for block in blocks)])

    def place(row: int) -> str:
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return blocks[at].place(row - int(starts[at]))

    def cells(field: str) -> Any:
        held = [(block.cells.get(field), block.rows) for block in blocks]
        ranks = next((len(one) for one, _ in held if isinstance(one, tuple)), 0)
        if ranks:
            columns = [one or ([None] * n,) * ranks for one, n in held]
            most = max(map(len, columns))
            return tuple(
                [
                    cell
                    for (_, n), column in zip(held, columns, strict=True)
                    for cell in (_listed(column[rank]) if rank < len(column) else [None] * n)
                ]
                for rank in range(most)
            )
        return [cell for one, n in held for cell in ([None] * n if one is None else _listed(one))]

    fields = dict.fromkeys(field for block in blocks for field in block.cells)
    last = blocks[-1]  # which knows the columns of all
    return replace(
        last, cells={field: cells(field) for field in fields}, rows=int(starts[-1]), place=place
    )


def read_fields(
    sources: Sequence[Source | FrameSource],
    fields: RecordFields,
    options: ReadOptions,
    notes: dict[str, None],
    advance: Advance = silent,
) -> Iterator[FieldBlock]:
    """Read the fields of sources block by block; add a line to `notes` for each thing taken."""
    total, before = sum(source.size for source in sources), 0
    for source in sources:
        finder = _Finder(source.name, fields, options, source.partition)

        def share(done: int, of: int, before: int = before, size: int = source.size) -> None:
            advance(before + (size * done // of if of else done), total)

        row = 0
        for block in source.blocks(finder.wanted, share):
            if not row:
                _check_one_header(block.columns, source)
            yield finder.block(block, partial(_shifted, source.place, row))
            row += block.rows
        if not row:
            problem = f"holds no {fields.noun}"
            raise InputError(problem, f"give one {fields.noun} per row", source.name)
        before += source.size
        finder.check_kept()
        words = finder.found.unknown_words()
        every = (*source.notes, *finder.found.notes, *([words] if words else []))
        notes.update(dict.fromkeys(every))


def _shifted(place: lists.Place, first: int, row: int) -> str:
    return place(first + row)


def find_records(
    places: Place | Iterable[Place] | FrameLike, options: ReadOptions
) -> Sequence[Source | FrameSource]:
    """Return the sources of records: files, or a frame."""
    return [FrameSource(places)] if is_frame(places) else find_sources(places, options.encoding)


def read_table(
    places: Place | Iterable[Place] | FrameLike,
    fields: RecordFields,
    options: ReadOptions,
    advance: Advance = silent,
) -> tuple[FieldBlock, str, tuple[str, ...]]:
    """Read all records of files or of a frame; return them, what to call them, and notes."""
    sources, notes = find_records(places, options), dict[str, None]()
    table = joined(list(read_fields(sources, fields, options, notes, advance)))
    return table, name_sources(sources), tuple(notes)


def graded_lists(
    table: FieldBlock, field: str, options: ReadOptions, name: str
) -> tuple[Rankings, Scale]:
    """Return the lists of a field as grade indices, shape (n, K), and their scale."""
    gathered, column = lists.GatheredLists(options), table.lists_of(field)
    column.check(field, table.place, options.n_ranks)
    gathered.add((column,), table.place, (field,))
    scale = gathered.scale(name)
    return gathered.filled(scale)[:, 0], scale


def _check_one_header(columns: dict[str, Any], source: Source | FrameSource) -> None:
    """Refuse a survey's export, whose first records are more lines of names."""
    if source.format not in ("csv", "tsv", "xlsx"):
        return
    for row in range(min(2, len(next(iter(columns.values()))))):
        cells = {name: str(column[row]) for name, column in columns.items()}
        if is_second_header(cells):
            raise InputError(
                "is a second line of names of columns, as surveys export them",
                "delete it and what is between it and the first, such as by "
                "pandas.read_csv(file, skiprows=[1, 2]).to_csv(...); answers that are columns "
                "become rows by pandas.wide_to_long",
                source.place(row),
            )


class _Finder:
    """Finds the columns of fields, as the columns of a file become known."""

    def __init__(
        self, path: str, fields: RecordFields, options: ReadOptions, partition: Iterable[str]
    ) -> None:
        self._path, self._fields, self._options = path, fields, options
        self._others = {*options.keep, *partition}
        self._names: dict[str, None] = {}
        self.found = ColumnMap({}, (), (), fields)

    def wanted(self, names: Iterable[str]) -> set[str]:
        """Return the columns of a table that are read: those of fields, and kept ones."""
        found = self._find(names)
        return {*found.used, *found.unknown, *self._options.keep} & {*names}

    def block(self, block: Block, place: lists.Place) -> FieldBlock:
        """Return the fields of some records."""
        columns, rows = block
        found = self._find(columns)
        try:
            found.check_complete()
        except InputError as error:
            raise error.at(self._path) from error
        cells = {}
        for field, column in found.columns.items():
            if isinstance(column, str):
                if column in columns:
                    cells[field] = columns[column]
            elif any(name in columns for name in column):
                cells[field] = tuple(columns.get(name, [None] * rows) for name in column)
        cells |= {name: columns[name] for name in self._options.keep if name in columns}
        unknown = {name: columns[name] for name in found.unknown if name in columns}
        return FieldBlock(cells, rows, found, place, unknown)

    def check_kept(self) -> None:
        """Refuse names of kept columns that the file does not have."""
        for name in self._options.keep:
            if name not in self._names and name not in self.found.columns:
                raise unknown_name("field", name, self._names).at(self._path)

    def _find(self, more: Iterable[str]) -> ColumnMap:
        new = [name for name in more if name not in self._names]
        if not new:
            return self.found
        names = self._names | dict.fromkeys(new)
        try:
            found = resolve_columns(names, self._options.columns, self._fields)
            _check_same(self.found, found)
            unknown = tuple(name for name in found.unknown if name not in self._others)
            if unknown and self._options.strict:
                raise unknown_name("column", unknown[0], self._fields.names)
        except InputError as error:
            raise error.at(self._path) from error
        self._names, self.found = names, replace(found, unknown=unknown)
        return self.found


def _check_same(before: ColumnMap, after: ColumnMap) -> None:
    """Refuse another column for a field that already has one; a list may get more ranks."""
    for field, column in before.columns.items():
        later = after.columns.get(field)
        if isinstance(column, tuple) and isinstance(later, tuple) and set(column) <= set(later):
            continue
        if column != later:
            names = [
                one if isinstance(one, str) else one[0] for one in (column, later or "another")
            ]
            raise InputError(
                f"the columns {' and '.join(names)} could both be the {field}",
                f"say which one is: `columns={f'{field}={names[0]}'!r}`",
            )
