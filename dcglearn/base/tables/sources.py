"""Where records are read from: files in any usual format, compression and encoding, and frames.

A suffix names the format, otherwise the content shows it. Each format has one decoder into
columns: Arrow arrays, or lists of values where Arrow cannot hold a column. A sheet of Excel is read
as CSV. The place of a record is found by reading again: only errors take the time for it.
"""

import csv
import glob
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO, ClassVar, Literal, TypeAlias, cast, get_args
from urllib.parse import unquote

import numpy as np

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import (
    guarded,
    numbered_lines,
    open_text,
    split_compression,
    unpacked,
)
from dcglearn.base.tables import delimited, json_records
from dcglearn.base.tables.columns import Block, check_distinct

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow", "xlsx"]

SUFFIXES: dict[str, Format] = {
    **{f".{one}": one for one in get_args(Format)},
    ".ndjson": "jsonl",
    ".txt": "csv",
    ".feather": "arrow",
}
"""Whether JSON is a document or an object per line shows in its content."""

ROWS = 1 << 14
"""Rows of a table in a block."""

_UNITS = {"json": "record", "jsonl": "line", "csv": "line", "tsv": "line"}
"""What the number of a record counts; elsewhere rows."""

_MAGIC: dict[bytes, Format] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream of batches
    b"PK\x03\x04": "xlsx",
}
_BLANKS = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""Byte order marks and blanks before a text."""

Place: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]
"""``-`` is standard input."""

ChooseColumns = Callable[[Sequence[str]], Collection[str]]
"""Returns which of all columns of a table are read; may refuse names."""


@dataclass(frozen=True)
class Source:
    """The records of one file."""

    name: str
    format: Format
    encoding: str
    file: Path | bytes

    def open(self) -> io.BufferedReader:
        """Open text as UTF-8 at its beginning, again and again; a sheet as CSV."""
        if self.format == "xlsx":
            return open_text(self._sheet, self.name)
        return open_text(self.file, self.name, self.encoding)

    @contextmanager
    def open_bytes(self) -> Iterator[BinaryIO]:
        """Open the file, or what a compressed one unpacks to."""
        with unpacked(self.file, self.name, self.format.title()) as file:
            plain = isinstance(file, io.BytesIO | io.BufferedReader)
            yield file if plain else io.BytesIO(file.read())

    @cached_property
    def partition(self) -> dict[str, str]:
        """The columns that the names of the file's folders are (``key=value``)."""
        folders = PurePath(self.name).parts[:-1]
        pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
        return {
            unquote(key): "" if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value)
            for key, value in pairs
        }

    @cached_property
    def layout(self) -> delimited.Layout:
        """The layout of delimited text."""
        with self.open() as text:
            head = text.read(delimited.HEAD)
        return delimited.find_layout(head, self.name, tabs=self.format == "tsv")

    def place(self, row: int) -> str:
        """Return the place of a record, counted from 0: its line, or its row."""
        number = next(islice(self._numbers(), row, None), row + 1)
        return f"{self.name}, {_UNITS.get(self.format, 'row')} {number}"

    def blocks(self, choose: ChooseColumns) -> Iterator[Block]:
        """Read the records block by block; formats of text hold columns besides the chosen."""
        for columns in self._columns(lambda names: choose([*self.partition, *names])):
            if columns:
                rows = rows_of(columns)
                parts = {key: [value or None] * rows for key, value in self.partition.items()}
                yield parts | columns

    def _columns(self, choose: ChooseColumns) -> Iterator[Block]:
        if self.format in ("parquet", "arrow"):
            yield from _read_columnar(self, choose)
            return
        with self.open() as file:
            if self.format == "json":
                yield from json_records.read_document(file, self.name)
            elif self.format == "jsonl":
                yield from json_records.read_lines(file, self.name)
            else:
                yield from delimited.read_columns(file, self.layout, self.name, self._check)

    def _check(self) -> None:
        """Read text by Python, which names the line of a fault."""
        for _ in self._numbers():
            pass

    def _numbers(self) -> Iterator[int]:
        """Iterate over the line of each record of a text, or its row in a sheet."""
        if self.format in ("json", "parquet", "arrow"):
            return
        with self.open() as file:
            if self.format == "jsonl":
                for line, _ in numbered_lines(file):
                    yield line
            else:
                for line, row in delimited.places_of_records(file, self.layout, self.name):
                    yield row if self.format == "xlsx" else line

    @cached_property
    def _sheet(self) -> bytes:
        """The first sheet as CSV, one record per row."""
        try:
            import openpyxl
        except ModuleNotFoundError as error:
            remedy = "install dcglearn[excel], or save the sheet as CSV"
            raise InputError("is a spreadsheet, which needs openpyxl", remedy, self.name) from error
        text = io.StringIO(newline="")
        with self.open_bytes() as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            sheet, *others = book.worksheets
            if others:
                count = 1 + len(others)
                warn_of_input(f"the first of {count} sheets is read: {sheet.title!r}")
            csv.writer(text, lineterminator="\n").writerows(sheet.values)
        return text.getvalue().encode()


def find_sources(places: Place | Iterable[Place], encoding: str = "utf-8") -> list[Source]:
    """Return each file of the places, and what it is; a file that appears twice is refused."""
    if hasattr(places, "read") or not isinstance(places, list | tuple | Iterator):
        places = [cast(Place, places)]
    found = list[Source]()
    for place in places:
        sources = [_recognised(name, file, encoding) for name, file in _expand(place)]
        formats = sorted({source.format.removesuffix("l") for source in sources})
        if len(formats) > 1:  # perhaps copies of each other; objects and lines of JSON are not
            problem = f"holds files of several formats: {', '.join(formats)}"
            raise InputError(problem, "name those of one format", str(place))
        found += sources
    if not found:
        raise InputError("no file", "name at least one")
    seen = set()
    for source in found:
        if isinstance(source.file, Path):
            whole = source.file.resolve()
            if whole in seen:
                raise InputError("appears twice", "name it once", source.name)
            seen.add(whole)
    return found


def rows_of(block: Block) -> int:
    """Return the number of records."""
    return len(next(iter(block.values()), ()))


def format_of_name(name: str) -> Format | None:
    """Return the format that a name says, None if it says none."""
    return SUFFIXES.get(PurePath(split_compression(name)[0]).suffix.lower())


def _recognised(name: str, file: Path | bytes, encoding: str) -> Source:
    with unpacked(file, name) as content:
        start = content.read(delimited.HEAD)
    if not start:
        raise InputError("is empty", "give at least one record", name)
    named, text = format_of_name(name), start.replace(b"\r", b"\n").strip(_BLANKS)
    found = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), named)
    if named in ("json", "jsonl") or (not found and text.startswith((b"[", b"{"))):
        found = "json" if _is_document(text, named == "jsonl") else "jsonl"
    return Source(name, found or "csv", encoding, file)


def _is_document(text: bytes, named_lines: bool) -> bool:
    """Return whether a beginning is that of one JSON document, not of an object per line."""
    line, end, rest = text.partition(b"\n")
    if not line.startswith(b"{"):
        return bool(line)
    whole = line.rstrip(_BLANKS).endswith(b"}")
    return not whole and bool(end) if named_lines else not (whole and rest)


def _expand(place: Any) -> list[tuple[str, Path | bytes]]:
    """Return the names and the files of a place, or the content of what is read only once."""
    if hasattr(place, "read"):
        given = getattr(place, "name", None)
        name = given if isinstance(given, str) else "an open file"
        return [_read_once(place, name)]
    if os.fspath(place) == "-":
        return [_read_once(sys.stdin.buffer, "standard input")]
    path, name = Path(place), os.fspath(place)
    with guarded(name):
        if path.is_file():
            return [(name, path)]
        if path.exists() and not path.is_dir():  # a pipe
            return [(name, path.read_bytes())]
        found = glob.glob(name, recursive=True)  # noqa: PTH207 - Path's are relative
        files = _files_below(path, name) if path.is_dir() else map(Path, found)
        kept = [one for one in sorted(files) if not _is_hidden(one) and one.is_file()]
    if not kept:
        problem = "is a folder without files" if path.is_dir() else "no such file"
        raise InputError(problem, "check the path", name)
    return [(str(one), one) for one in kept]


def _read_once(file: IO[Any], name: str) -> tuple[str, bytes]:
    with guarded(name):
        content = file.read()
    return name, content.encode() if isinstance(content, str) else content


def _files_below(folder: Path, name: str) -> Iterator[Path]:
    """Iterate over the files of a folder and of its partitions (``key=value``)."""
    for path in folder.iterdir():
        if not path.is_dir():
            yield path
        elif "=" in path.name:
            yield from _files_below(path, name)
        elif not _is_hidden(path):
            pattern = str(folder / "**" / "*")
            remedy = f"name the files by a pattern in quotes, such as {pattern!r}"
            raise InputError(f"holds the folder {path.name}", remedy, name)


def _is_hidden(path: Path) -> bool:
    """Return whether a file is not data: of the file system, or a note of Spark or Hadoop."""
    return path.name.startswith((".", "_")) or path.suffix.lower() == ".crc"


def _read_columnar(source: Source, choose: ChooseColumns) -> Iterator[Block]:
    """Read Parquet, or a file or a stream of Arrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with source.open_bytes() as content:
        if source.format == "parquet":
            file = pq.ParquetFile(content)
            schema = file.schema_arrow
        else:
            is_file = content.read(6) == b"ARROW1"
            content.seek(0)
            file = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(content)
            schema = file.schema
        wanted = choose(schema.names)
        names = [name for name in schema.names if name in wanted]
        check_distinct(names, source.name)
        if source.format == "parquet":
            batches = file.iter_batches(ROWS, columns=names, use_threads=False)
        else:
            batches = map(file.get_batch, range(file.num_record_batches)) if is_file else file
        for batch in batches:
            for start in range(0, len(batch), ROWS):
                part = batch.slice(start, ROWS)
                part.validate(full=True)  # Arrow trusts what it reads; text may not be UTF-8
                yield {name: usual_type(part.column(name)) for name in names}


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
    if str(found).startswith(("list<", "large_list<", "fixed_size_list<")):  # not of views
        return pa.large_list(_usual(found.value_type))
    return found


FrameLike = Any
"""A frame of pandas or polars, a relation of DuckDB, a table of Arrow, or a mapping from names to
columns."""

Readable: TypeAlias = Place | Iterable[Place] | FrameLike
"""Files, or a frame."""


@dataclass(frozen=True)
class FrameSource:
    """The rows of a frame, as a source of records."""

    frame: FrameLike
    name = ""
    partition: ClassVar[Mapping[str, str]] = {}

    def place(self, row: int) -> str:
        """Return the place of a row, counted from 0."""
        return f"row {row + 1}"

    def blocks(self, choose: ChooseColumns) -> Iterator[Block]:
        """Return all rows as one block."""
        columns = columns_of_frame(self.frame)
        if rows_of(columns):
            yield columns


def is_frame(value: object) -> bool:
    """Return whether a value is a frame, a table or a mapping from names to columns."""
    names = ("__arrow_c_stream__", "__arrow_c_array__", "iloc", "collect")
    return isinstance(value, Mapping) or any(hasattr(value, name) for name in names)


def columns_of_frame(frame: FrameLike) -> Block:
    """Return the columns of a frame: Arrow arrays, or lists of values."""
    if not is_frame(frame):
        raise InputError(f"a frame of type {type(frame).__name__}", "give a frame of pandas")
    if hasattr(frame, "iloc"):
        check_distinct(frame.columns)
        held: Block = {str(name): frame[name].tolist() for name in frame.columns}
    elif isinstance(frame, Mapping):
        held = {
            str(name): values if isinstance(values, np.ndarray) else list(values)
            for name, values in frame.items()
        }
    else:
        import pyarrow as pa

        table = pa.table(frame.collect() if hasattr(frame, "collect") else frame)
        check_distinct(names := table.column_names)
        held = {name: usual_type(table.column(name).combine_chunks()) for name in names}
    if len(set(map(len, held.values()))) > 1:
        raise InputError("the columns differ in length", "give one value per row in each")
    return held
