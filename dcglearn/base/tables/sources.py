"""Where records are read from: files in any usual format, compression and encoding, and frames.

A suffix names the format, otherwise the content shows it. Each format has one decoder into
columns: Arrow arrays, or lists of values where Arrow cannot hold a column. A sheet of Excel is read
as CSV. The place of a record is found by reading again: only errors take the time for it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.tables import delimited, json_records
from dcglearn.base.tables.columns import check_distinct
from dcglearn.base.tables.places import Part, Place, TemporaryCopies, expand_places
from dcglearn.base.tables.text import decompressed, guarded, open_text, split_compression

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "xlsx"]

SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".xlsx": "xlsx",
}
"""Whether JSON is a document or an object per line shows in its content."""

ROWS = 1 << 14
"""Rows of a table in a block."""

_START = 1 << 10
"""Bytes of a beginning."""

_MAGIC: dict[bytes, Format] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream of batches
}
_REFUSED = {
    b"PK\x03\x04": "a spreadsheet not named .xlsx, or an archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (.xls)",
    b"SQLite format 3": "a database",
    b"%PDF": "a PDF",
    b"<": "a web page or XML, perhaps an error of the server",
}
_BLANKS = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""Byte order marks and blanks before a text."""

ChooseColumns = Callable[[Sequence[str]], Collection[str]]
"""Returns which of all columns of a table are read; may refuse names."""


Block: TypeAlias = dict[str, Any]
"""Consecutive records of a file as columns: Arrow arrays, or lists of values."""


@dataclass(frozen=True)
class Source:
    """The records of one file."""

    name: str
    format: Format
    partition: dict[str, str]
    encoding: str = field(repr=False)
    start: bytes = field(repr=False)
    _file: Path = field(repr=False)
    _copies: TemporaryCopies = field(repr=False)

    def open(self) -> BinaryIO:
        """Open text as UTF-8 at its beginning, again and again; a sheet as CSV."""
        if self.format == "xlsx":
            return self._sheet.open("rb")
        return open_text(self._file, self.name, self.encoding)

    @cached_property
    def layout(self) -> delimited.Layout:
        """The layout of delimited text."""
        with self.open() as text:
            head = text.read(delimited.HEAD)
        try:
            return delimited.find_layout(head, tabs=self.format == "tsv")
        except InputError as error:
            raise error.at(self.name) from error

    @cached_property
    def path(self) -> Path:
        """The file on disk; a copy of what a compressed one unpacks to."""
        with guarded(self.name), self._file.open("rb") as file:
            content = decompressed(file)
            return self._file if content is file else self._copies.add(content, self.name)

    def place(self, row: int) -> str:
        """Return the place of a record, counted from 0: its line, or its row."""
        unit, number = "record" if self.format == "json" else "row", row + 1
        if self.format in ("csv", "tsv", "jsonl", "xlsx"):
            unit = "row" if self.format == "xlsx" else "line"
            with self.open() as file:
                number = next(islice(self._numbers(file), row, None), number)
        return f"{self.name}, {unit} {number}"

    def blocks(self, choose: ChooseColumns = lambda names: names) -> Iterator[Block]:
        """Read the records block by block; formats of text hold columns besides the chosen."""
        for columns in self._columns(choose):
            if columns:
                rows = rows_of(columns)
                parts = {key: [value or None] * rows for key, value in self.partition.items()}
                yield parts | columns

    def _columns(self, choose: ChooseColumns) -> Iterator[dict[str, Any]]:
        if self.format in ("parquet", "arrow"):
            yield from _read_columnar(self, choose)
        else:
            layout = self.layout if self.format in ("csv", "tsv", "xlsx") else None
            with self.open() as file:
                if layout:
                    yield from delimited.read_columns(file, layout, self.name, self._check)
                elif self.format == "json":
                    yield from json_records.read_document(file, self.name)
                else:
                    yield from json_records.read_lines(file, self.name)

    def _check(self) -> None:
        """Read text by Python, which names the line of a fault."""
        with self.open() as file:
            for _ in self._numbers(file):
                pass

    def _numbers(self, file: BinaryIO) -> Iterator[int]:
        """Iterate over the line of each record, or its row in a sheet."""
        if self.format == "jsonl":
            for line, _ in json_records.read_records(file, self.name):
                yield line
        else:
            for row in delimited.read_records(file, self.layout, self.name):
                yield row.number if self.format == "xlsx" else row.line

    @cached_property
    def _sheet(self) -> Path:
        """A copy of the first sheet as CSV, one record per row."""
        try:
            import openpyxl
        except ModuleNotFoundError as error:
            remedy = "install dcglearn[excel], or save the sheet as CSV"
            problem = "is a spreadsheet, which needs openpyxl"
            raise InputError(problem, remedy, self.name) from error
        path = self._copies.new_path()
        with (
            guarded(self.name, "a spreadsheet (.xlsx)"),
            path.open("w", newline="", encoding="utf-8") as copy,
        ):
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
            sheet, *others = book.worksheets
            if others:
                count = 1 + len(others)
                warn_of_input(f"the first of {count} sheets is read: {sheet.title!r}")
            csv.writer(copy, lineterminator="\n").writerows(sheet.values)
            book.close()
        return path


def find_sources(places: Place | Iterable[Place], encoding: str = "utf-8") -> list[Source]:
    """Return each file of the places, and what it is."""
    copies = TemporaryCopies()
    found: list[Source] = []
    for name, parts in expand_places(places, copies):
        sources = [_recognised(part, encoding, copies) for part in parts]
        formats = sorted({source.format.removesuffix("l") for source in sources})
        if len(formats) > 1:  # perhaps copies of each other; objects and lines of JSON are not
            problem = f"holds files of several formats: {', '.join(formats)}"
            raise InputError(problem, "name those of one format", name)
        found += sources
    return found


def rows_of(block: Block) -> int:
    """Return the number of records."""
    return len(next(iter(block.values()), ()))


def name_sources(sources: Sequence[Any]) -> str:
    """Return what to call files that are read as one."""
    first, *more = (source.name for source in sources)
    return f"{first} and {len(more):,} more" if more else first


def format_of_name(name: str) -> Format | None:
    """Return the format that a name says, None if it says none."""
    return SUFFIXES.get(PurePath(split_compression(name)[0]).suffix.lower())


def _recognised(part: Part, encoding: str, copies: TemporaryCopies) -> Source:
    name, path, partition = part
    with guarded(name), path.open("rb") as file:
        start = decompressed(file).read(_START)
    if not start:
        raise InputError("is empty", "give at least one record", name)
    text = start.lstrip(_BLANKS)
    named = format_of_name(name)
    refused = next((what for magic, what in _REFUSED.items() if text.startswith(magic)), "")
    if refused and named != "xlsx":
        raise InputError(f"is {refused}", "save or export the table as CSV", name)
    found = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    source = Source(name, found or named or "csv", partition, encoding, start, path, copies)
    if named in ("json", "jsonl") or (not found and not named and text[:1] in (b"[", b"{")):
        with source.open() as file:
            whole = json_records.is_document(file.read(delimited.HEAD), lines=named == "jsonl")
        return replace(source, format="json" if whole else "jsonl")
    return source


def _read_columnar(source: Source, choose: ChooseColumns) -> Iterator[dict[str, Any]]:
    """Read Parquet, or a file or a stream of Arrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with guarded(source.name, source.format.title()), ExitStack() as opened:
        if source.format == "parquet":
            file = opened.enter_context(pq.ParquetFile(source.path))
            names = _chosen(file.schema_arrow.names, choose, source.name)
            batches = file.iter_batches(ROWS, columns=names, use_threads=False)
        else:
            content = opened.enter_context(pa.memory_map(str(source.path)))
            is_file = source.start.startswith(b"ARROW1")
            file = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(content)
            names = _chosen(file.schema.names, choose, source.name)
            batches = map(file.get_batch, range(file.num_record_batches)) if is_file else file
        for batch in batches:
            for start in range(0, len(batch), ROWS):
                part = batch.slice(start, ROWS)
                part.validate(full=True)  # Arrow trusts what it reads; text may not be UTF-8
                yield {name: usual_type(part.column(name)) for name in names}


def _chosen(names: list[str], choose: ChooseColumns, place: str) -> list[str]:
    wanted = choose(names)
    chosen = [name for name in names if name in wanted]
    check_distinct(chosen, place)
    return chosen


def usual_type(column: Any) -> Any:
    """Cast what polars, DuckDB or a warehouse writes to types that Arrow computes with."""
    import pyarrow as pa

    wanted = _usual(column.type)
    try:
        return column.cast(wanted)
    except pa.ArrowNotImplementedError:  # of a dictionary of views of text
        return pa.array(column.to_pylist(), wanted)


def _usual(found: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_string_view(found):
        return pa.large_string()
    if kinds.is_decimal(found):
        return pa.float64() if found.scale else pa.int64()
    if kinds.is_dictionary(found):
        return _usual(found.value_type)
    if kinds.is_large_list(found) or kinds.is_list(found) or kinds.is_fixed_size_list(found):
        return pa.large_list(_usual(found.value_type))
    return found


FrameLike = Any
"""A frame of pandas or polars, a relation of DuckDB, a table of Arrow, or a mapping from names to
columns."""

_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")


@dataclass(frozen=True)
class FrameSource:
    """The rows of a frame, as a source of records."""

    frame: FrameLike
    name: str = ""
    partition: Mapping[str, str] = field(default_factory=dict)

    def place(self, row: int) -> str:
        """Return the place of a row, counted from 0."""
        return f"row {row + 1}"

    def blocks(self, choose: ChooseColumns) -> Iterator[Block]:
        """Return all rows as one block."""
        columns = columns_of_frame(self.frame)
        choose(list(columns))
        yield from [columns] if rows_of(columns) else []


def is_frame(value: object) -> bool:
    """Return whether a value is a frame, a table or a mapping from names to columns."""
    names = (*_ARROW, "iloc", "collect")
    return isinstance(value, Mapping) or any(hasattr(value, name) for name in names)


def columns_of_frame(frame: FrameLike) -> dict[str, Any]:
    """Return the columns of a frame: Arrow arrays, or lists of values."""
    if hasattr(frame, "iloc"):
        check_distinct(frame.columns)
        held: dict[str, Any] = {str(name): frame[name].tolist() for name in frame.columns}
    elif isinstance(frame, Mapping):
        held = {
            str(name): values if isinstance(values, np.ndarray) else list(values)
            for name, values in frame.items()
        }
    elif is_frame(frame):
        import pyarrow as pa

        table = pa.table(frame if any(hasattr(frame, one) for one in _ARROW) else frame.collect())
        check_distinct(table.column_names)
        held = {name: usual_type(table.column(name)) for name in table.column_names}
    else:
        raise InputError(f"a frame of type {type(frame).__name__}", "give a frame of pandas")
    if len(set(map(len, held.values()))) > 1:
        raise InputError("the columns differ in length", "give one value per row in each")
    return held
