"""Where records are read from: files in any usual format, compression and encoding, as columns.

Places (:mod:`dcglearn.base.tables.places`) become sources. A suffix names the format; a content
that contradicts it is refused. Standard input and files without a known suffix are recognised by
their content. Each format has one decoder into columns: Arrow arrays, or lists of Python's values
where Arrow cannot hold a column. The place of a record is found by reading again, so that only
errors take the time for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Literal, NamedTuple

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables import delimited, json_records
from dcglearn.base.tables.places import Place, TemporaryCopies, expand_places
from dcglearn.base.tables.text import (
    guarded,
    open_decompressed,
    open_text,
    split_compression,
    whole_lines,
)

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "xlsx"]
"""An object per line, one JSON document, delimited text, Parquet, Arrow's IPC formats, Excel."""

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
"""The formats, by suffix. Whether JSON is a document or an object per line shows in its content."""

ROWS = 1 << 14
"""Rows of a table that are given at a time."""

_START = 1 << 10
"""Bytes at the beginning of a file that are held."""

_MAGIC: dict[bytes, Format] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream of batches
    b"PK\x03\x04": "xlsx",
}
_BINARY = frozenset(_MAGIC.values())
_OTHERS = {
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet (.xls)", "save it as .xlsx or CSV"),
    b"FEA1": ("a file of Feather's first version", "write it as .parquet"),
    b"SQLite format 3": ("a database", "export the table as CSV"),
    b"%PDF": ("a PDF", "save the table as CSV"),
}
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|table|\?xml)", re.IGNORECASE)

ChooseColumns = Callable[[Sequence[str]], Collection[str]]
"""Given the names of all columns of a table, returns those that are to be read."""


class Block(NamedTuple):
    """Consecutive records of a file as columns: Arrow arrays, or lists of values."""

    columns: dict[str, Any]
    rows: int


@dataclass(frozen=True)
class Source:
    """The records of one file; `notes` has a line about each thing taken without being told."""

    name: str
    format: Format
    partition: dict[str, str]
    encoding: str = field(repr=False)
    start: bytes = field(repr=False)
    _file: Path = field(repr=False)
    _copies: TemporaryCopies = field(repr=False)
    notes: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return self._file.stat().st_size

    @property
    def has_text_cells(self) -> bool:
        """Whether all cells are text, in which numbers are written and nothing is empty text."""
        return self.format in ("csv", "tsv")

    def open(self, advance: Advance = silent) -> BinaryIO:
        """Open a text file as UTF-8 at its beginning, again and again."""
        return open_text(self._file, self.name, self.encoding, advance)

    @cached_property
    def layout(self) -> delimited.Layout:
        """The layout of delimited text."""
        with self.open() as text:
            return delimited.find_layout(text.read(delimited.HEAD), tabs=self.format == "tsv")

    @cached_property
    def path(self) -> Path:
        """The file on disk; a copy of what it unpacks to if it is compressed."""
        with open_decompressed(self._file, self.name) as content:
            return self._file if content.seekable() else self._copies.add(content, self.name)

    def place(self, row: int) -> str:
        """Return the place of a record, counted from 0: its line, or its row."""
        if self.format in ("csv", "tsv", "jsonl"):
            with self.open() as file:
                line = next(islice(self._numbered(file), row, None), (row + 1, None))[0]
            return f"{self.name}, line {line}"
        if self.format == "xlsx":
            return f"{self.name}, row {_read_xlsx(self)[row][0]}"
        unit = "record" if self.format == "json" else "row"
        return f"{self.name}, {unit} {row + 1}"

    def blocks(self, choose: ChooseColumns, advance: Advance = silent) -> Iterator[Block]:
        """Read the records block by block, as :func:`read_blocks`."""
        return read_blocks(self, choose, advance)

    def check(self) -> None:
        """Read text record by record; raise the error that names the line of a fault."""
        with self.open() as file:
            for _ in self._numbered(file):
                pass

    def _numbered(self, file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
        if self.format == "jsonl":
            return json_records.read_records(whole_lines(file), self.name)
        return delimited.read_records(file, self.layout, self.name)


def find_sources(
    places: Place | Iterable[Place], encoding: str = "utf-8", file_format: Format | None = None
) -> list[Source]:
    """Find what to read: each file of the places, and what it is."""
    copies = TemporaryCopies()
    found: list[Source] = []
    for group in expand_places(places, copies):
        sources = []
        for part in group.parts:
            kind, start = _recognised(part.path, part.name, encoding, file_format)
            source = Source(part.name, kind, part.partition, encoding, start, part.path, copies)
            sources.append(source)
        _check_one_format(sources, group.name)
        sources[0].notes.extend(group.notes)
        found += sources
    return found


def name_sources(sources: Sequence[Any]) -> str:
    """Return what to call files that are read as one."""
    first, *more = (source.name for source in sources)
    return f"{first} and {len(more):,} more" if more else first


def format_of_name(name: str) -> Format | None:
    """Return the format that a name says, None if it says none."""
    return SUFFIXES.get(PurePath(split_compression(name)[0]).suffix.lower())


def _recognised(
    path: Path, name: str, encoding: str, file_format: Format | None
) -> tuple[Format, bytes]:
    """Return the format of a file, and its first bytes."""
    expected = file_format or format_of_name(name)
    with open_decompressed(path, name) as file:
        start = file.read(_START)
    if not start:
        raise InputError("is empty", "give at least one record", name)
    found = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    _check_content(start, found, expected, name)
    if found is not None:
        return found, start
    first = start.lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1]  # after any byte order mark
    if expected in ("json", "jsonl") or (expected is None and first in (b"[", b"{")):
        with open_text(path, name, encoding) as text:
            whole = json_records.is_document(text.read(delimited.HEAD), lines=expected == "jsonl")
        return "json" if whole else "jsonl", start
    return "tsv" if expected == "tsv" else "csv", start


def _check_content(start: bytes, found: Format | None, expected: Format | None, name: str) -> None:
    """Refuse a file that is not what its name says."""
    for magic, (problem, remedy) in _OTHERS.items():
        if start.startswith(magic):
            raise InputError(f"is {problem}", remedy, name)
    if _PAGE.match(start):
        problem = "is a web page or XML, perhaps an error of the server"
        raise InputError(problem, "fetch or export the table as CSV", name)
    if found == "xlsx" and expected != "xlsx":
        raise InputError("is a spreadsheet or an archive", "name it .xlsx, or unpack it", name)
    if expected in _BINARY and found != expected:
        raise InputError(f"is not {expected}, as its name says", "write it again", name)
    if found is not None and expected not in (None, found):
        problem = f"is {found}, and its name says {expected}"
        raise InputError(problem, f"name it .{found}", name)


def _check_one_format(sources: list[Source], name: str) -> None:
    """Refuse a folder or pattern of mixed formats; documents and lines of JSON go together."""
    kinds: dict[str, Source] = {}
    for source in sources:
        kinds.setdefault(source.format.removesuffix("l"), source)
    if len(kinds) > 1:
        first, second = (Path(source.name).name for source in list(kinds.values())[:2])
        problem = f"holds files of several formats, such as {first} and {second}"
        raise InputError(problem, "name those of one format", name)


def read_blocks(
    source: Source, choose: ChooseColumns | None = None, advance: Advance = silent
) -> Iterator[Block]:
    """Read a file block by block.

    Of tables (Parquet, Arrow) only the columns that `choose` returns are read, and it may refuse
    names; what other formats hold besides is there, too.
    """
    for block in _decoded(source, choose or (lambda names: names), advance):
        for key, value in source.partition.items():
            if key not in block.columns:
                block.columns[key] = [value or None] * block.rows
        yield block


def _decoded(source: Source, choose: ChooseColumns, advance: Advance) -> Iterator[Block]:
    if source.format == "parquet":
        yield from _read_parquet(source, choose, advance)
    elif source.format == "arrow":
        yield from _read_arrow(source, choose)
    elif source.format == "xlsx":
        yield from _of_records([record for _, record in _read_xlsx(source)])
    else:
        with source.open(advance) as file:
            if source.format == "json":
                yield from _of_records(json_records.read_document(file, source.name))
            elif source.format == "jsonl":
                for columns, rows in json_records.read_lines(file, source.name):
                    yield Block(columns, rows)
            else:
                source.notes.extend(one for one in source.layout.notes if one not in source.notes)
                for columns in delimited.read_columns(
                    file, source.layout, source.name, source.check
                ):
                    yield Block(columns, len(next(iter(columns.values()))))


def _of_records(records: list[dict[str, Any]]) -> Iterator[Block]:
    for start in range(0, len(records), ROWS):
        some = records[start : start + ROWS]
        yield Block(json_records.columns_of(some), len(some))


def _read_parquet(source: Source, choose: ChooseColumns, advance: Advance) -> Iterator[Block]:
    import pyarrow.parquet as pq

    with guarded(source.name, "Parquet"), pq.ParquetFile(source.path) as file:
        names = _chosen(file.schema_arrow.names, choose, source.name)
        done, total = 0, file.metadata.num_rows
        for batch in file.iter_batches(ROWS, columns=names, use_threads=False):
            batch.validate(full=True)  # text may not be UTF-8
            yield _block(batch, names)
            done += len(batch)
            advance(done, total)


def _read_arrow(source: Source, choose: ChooseColumns) -> Iterator[Block]:
    import pyarrow as pa

    with guarded(source.name, "Arrow"), pa.memory_map(str(source.path)) as content:
        try:
            file = pa.ipc.open_file(content)
            batches = map(file.get_batch, range(file.num_record_batches))
        except pa.ArrowInvalid:
            content.seek(0)
            batches = iter(pa.ipc.open_stream(content))
        for batch in batches:
            batch.validate(full=True)  # Arrow trusts what it reads from IPC
            names = _chosen(batch.schema.names, choose, source.name)
            for start in range(0, len(batch), ROWS):
                yield _block(batch.slice(start, ROWS), names)


def _read_xlsx(source: Source) -> list[tuple[int, dict[str, Any]]]:
    """Return the records of the first sheet and their rows in it; rows of one cell are a title."""
    try:
        import openpyxl
    except ModuleNotFoundError as error:
        remedy = "install dcglearn[excel], or save the sheet as CSV"
        raise InputError("is a spreadsheet, which needs openpyxl", remedy, source.name) from error
    with guarded(source.name, "a spreadsheet (.xlsx)"):
        book = openpyxl.load_workbook(source.path, read_only=True, data_only=True)
        sheet = book.worksheets[0]
        if len(book.worksheets) > 1:
            source.notes.append(
                f"the first of {len(book.worksheets)} sheets is read: {sheet.title!r}"
            )
        numbered = enumerate(sheet.iter_rows(values_only=True), start=1)
        rows = [(at, row) for at, row in numbered if row.count(None) < len(row)]
        book.close()
    several = (place for place, (_, row) in enumerate(rows) if len(row) - row.count(None) > 1)
    above = next(several, 0)
    (_, header), *rest = rows[above:] or [(0, ())]
    if not rest:
        raise InputError("has no rows under its names of columns", "check the sheet", source.name)
    if above:
        are = counted(above, "row is", "rows are")
        source.notes.append(f"{are} above the names of the columns and left out")
    names = ["" if one is None else str(one) for one in header]
    _chosen([name for name in names if name], lambda given: given, source.name)
    return [
        (at, {name: _as_written(cell) for name, cell in zip(names, row, strict=False) if name})
        for at, row in rest
    ]


def _as_written(cell: Any) -> Any:
    """Return a number as the text that CSV holds: a list of one grade is a number in a sheet."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell) if type(cell) in (int, float) else cell


def _chosen(names: list[str], choose: ChooseColumns, place: str) -> list[str]:
    """Return the columns that are read; refuse a name that appears twice among them."""
    wanted = choose(names)
    twice = [name for name in wanted if names.count(name) > 1]
    if twice:
        raise InputError(f"the column {twice[0]!r} appears twice", "keep one", place)
    return [name for name in names if name in wanted]


def _block(batch: Any, names: list[str]) -> Block:
    return Block({name: usual_type(batch.column(name)) for name in names}, len(batch))


def usual_type(column: Any) -> Any:
    """Cast what polars, DuckDB or a warehouse writes to types that all functions of Arrow know."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if hasattr(column, "chunks"):
        return pa.chunked_array(map(usual_type, column.chunks), _usual(column.type))
    if kinds.is_dictionary(column.type):  # Arrow cannot cast one of views of text
        return usual_type(column.dictionary).take(column.indices)
    listed = kinds.is_list(column.type) or kinds.is_large_list(column.type)
    if listed and kinds.is_dictionary(column.type.value_type):
        missing = column.is_null() if column.null_count else None
        offsets = column.offsets.cast(pa.int64())
        return pa.LargeListArray.from_arrays(offsets, usual_type(column.values), mask=missing)
    wanted = _usual(column.type)
    return column if wanted == column.type else column.cast(wanted)


def _usual(found: Any) -> Any:
    """Return the type for a view of text, a decimal, or a dictionary or list of them."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_string_view(found):
        return pa.large_string()
    if kinds.is_decimal(found):
        return pa.float64() if found.scale else pa.int64()
    if kinds.is_dictionary(found):
        return _usual(found.value_type)
    if kinds.is_list(found) or kinds.is_large_list(found) or kinds.is_fixed_size_list(found):
        return pa.large_list(_usual(found.value_type))
    return found
