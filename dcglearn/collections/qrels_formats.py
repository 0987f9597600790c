"""The rows of qrels and runs as columns, from text, JSON, Parquet, Arrow and pandas.

Text is read by a fast reader of columns; if that fails, the text is read again line by line, which
reads what the fast reader does not know, such as ``+1``, or names the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import numpy as np

from dcglearn.base.arrow_arrays import numbers_of_arrow
from dcglearn.base.errors import InputError
from dcglearn.base.files import decode_json
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.tables.old.compressed import read_content, split_compression
from dcglearn.base.tables.old.sources import find_sources
from dcglearn.base.text_lines import BYTE_ORDER_MARK, check_text, numbered_lines
from dcglearn.collections.qrels_delimited import columns_of_delimited, names_columns
from dcglearn.collections.qrels_records import (
    columns_of_arrow,
    columns_of_lines,
    columns_of_records,
    records_in,
)
from dcglearn.collections.qrels_tables import (
    QRELS,
    DocumentColumns,
    FileKind,
    columns_of_parquet,
    columns_of_table,
)

_BLOCK = 1 << 24
"""Bytes of text that one thread of pyarrow parses at a time."""

Tags: TypeAlias = tuple[str, ...]


def read_document_columns(path: Path, kind: FileKind) -> tuple[DocumentColumns, Tags]:
    """Read the columns of a file, and the tags of its lines.

    Parameters
    ----------
    path : pathlib.Path
    kind : FileKind

    Returns
    -------
    columns : DocumentColumns
    tags : tuple of str
        The distinct names of the system, in the order in which they occur; empty if the file has
        none.

    Raises
    ------
    InputError
        Naming the file and line.
    """
    ending = PurePath(split_compression(str(path))[0]).suffix.lower()
    if ending == ".parquet":
        if path.is_file():
            (source,) = find_sources(path)
            return columns_of_parquet(source.path, kind, str(path)), ()
        return columns_of_parquet(path, kind), ()
    if ending == ".csv":
        (source,) = find_sources(path, "csv")
        with source.open() as file:
            content = file.read()
        return columns_of_delimited(content, str(path), kind, source.delimiter or ","), ()
    if ending in (".arrow", ".feather"):
        (source,) = find_sources(path)
        return columns_of_arrow(source.path, str(path), kind), ()
    content = read_content(path)
    if ending in (".jsonl", ".ndjson"):
        check_text(content, str(path))
        return columns_of_lines(content.removeprefix(BYTE_ORDER_MARK), str(path), kind), ()
    if ending == ".json":
        return _of_json(path, content, kind), ()
    if names_columns(content, kind):
        check_text(content, str(path))
        content = content.removeprefix(BYTE_ORDER_MARK)
        return columns_of_delimited(content, str(path), kind, "\t"), ()
    return _of_text(path, content, kind)


def _of_text(path: Path, content: bytes, kind: FileKind) -> tuple[DocumentColumns, Tags]:
    import pyarrow as pa
    import pyarrow.csv as csv

    check_text(content, str(path))
    plain = _single_blanks(content)
    if plain.startswith(BYTE_ORDER_MARK):  # a second one is text, which pyarrow would drop
        return _of_lines(path, content, kind)
    names = [name or f"unused {i}" for i, name in enumerate(kind.fields)]
    ids = pa.dictionary(pa.int32(), pa.string())
    pool = pa.system_memory_pool()  # the others keep what was freed, per thread
    try:
        table = csv.read_csv(
            pa.BufferReader(plain),
            csv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=len(plain) > _BLOCK),
            csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False),
            csv.ConvertOptions(
                column_types={
                    "query": ids,
                    "document": pa.string(),
                    "number": pa.float64(),
                    "tag": ids,
                },
                include_columns=[name for name in kind.fields if name],
                null_values=[],
                check_utf8=False,  # it was checked with the rest of the text
            ),
            memory_pool=pool,
        )
    except pa.ArrowException:
        return _of_lines(path, content, kind)
    table = table.unify_dictionaries(pool).combine_chunks(pool)
    number = numbers_of_arrow(table.column("number").chunk(0))
    if not np.isfinite(number).all():
        return _of_lines(path, content, kind)

    def place(row: int) -> str:
        return f"{path}, line {_line_of(content, row)}"

    columns = DocumentColumns(table.column("query"), table.column("document"), number, place)
    if kind is QRELS:
        return columns, ()
    return columns, tuple(table.column("tag").chunk(0).dictionary.to_pylist())


def _of_lines(path: Path, content: bytes, kind: FileKind) -> tuple[DocumentColumns, Tags]:
    """Read text line by line: slowly, and naming the line that cannot be read."""
    import pyarrow as pa

    rows, numbers, places = [], [], []
    split = _split_of(content, kind)
    for line_number, line in _lines(content):
        place = f"{path}, line {line_number}"
        try:
            fields, number = _checked_fields(split(line), kind)
        except InputError as error:
            raise error.at(place) from error
        rows.append(fields)
        numbers.append(number)
        places.append(place)
    if not rows:
        raise InputError("is empty", f"give {kind.article} of at least one document", str(path))
    ids = [
        pa.array([fields[kind.fields.index(name)].decode() for fields in rows], pa.string())
        for name in ("query", "document")
    ]
    columns = DocumentColumns(ids[0], ids[1], np.array(numbers), places.__getitem__)
    if kind is QRELS:
        return columns, ()
    return columns, _distinct(fields[-1] for fields in rows)


def _distinct(tags: Iterable[bytes]) -> Tags:
    return tuple(tag.decode() for tag in dict.fromkeys(tags))


def _single_blanks(content: bytes) -> bytes:
    """Return the text without comments and empty lines, with one blank between fields."""
    text = content.removeprefix(BYTE_ORDER_MARK)
    if b"\r" in text:  # they end lines: others were refused
        text = text.replace(b"\r\n", b"\n")
    if any(blank in text for blank in _OTHER_BLANKS):
        text = text.translate(_BLANKS)
    if b"#" not in text and not _has_adjacent_blanks(text):
        return text
    if text.startswith(b"#") or b"\n#" in text:
        text = re.sub(rb"(?m)^#.*$", b"", text)
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    if b" \n" in text or b"\n " in text:
        text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return text.strip() + b"\n"


_SEARCHED_AT_ONCE = 2**17
"""Characters: few enough to stay in the processor's cache."""


def _has_adjacent_blanks(text: bytes) -> bool:
    """Return whether blanks or line ends follow each other, begin the text or do not end it."""
    characters = np.frombuffer(text, np.uint8)
    if not len(characters) or characters[0] <= ord(" ") or characters[-1] != ord("\n"):
        return True
    for begin in range(0, len(characters), _SEARCHED_AT_ONCE):
        blank = characters[begin : begin + _SEARCHED_AT_ONCE + 1] <= ord(" ")
        if (blank[1:] & blank[:-1]).any():
            return True
    return False


_OTHER_BLANKS = (b"\t", b"\r", b"\v", b"\f")
_BLANKS = bytes.maketrans(b"".join(_OTHER_BLANKS), b"    ")


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither empty nor comments, with their numbers."""
    for number, line in numbered_lines(content):
        if line.strip() and not line.startswith(b"#"):
            yield number, line


def _line_of(content: bytes, row: int) -> int:
    return next(number for i, (number, _) in enumerate(_lines(content)) if i == row)


def _split_of(content: bytes, kind: FileKind) -> Callable[[bytes], list[bytes]]:
    """Return what splits a line into fields: at blanks, or at tabs if only they give the fields."""
    wanted = len(kind.fields)
    lines = [line for _, line in _lines(content)]
    if all(len(line.split()) == wanted for line in lines):
        return bytes.split
    if any(line.count(b"\t") != wanted - 1 for line in lines):
        return bytes.split
    return lambda line: [field.strip() for field in line.split(b"\t")]


def _checked_fields(fields: list[bytes], kind: FileKind) -> tuple[list[bytes], float]:
    """Return the fields of a line, and its number."""
    wanted = len(kind.fields)
    layout = "query 0 document grade" if wanted == 4 else "query Q0 document rank score tag"
    if len(fields) == 10 - wanted:
        raise InputError(
            f"{counted(len(fields), 'field')}: this looks like {kind.other}",
            f"give {kind.article} here; qrels come first, then runs",
        )
    if len(fields) > 1 and re.match(rb"(qid|[0-9]+):", fields[1]) and len(fields) != wanted:
        problem = "looks like a line of a LETOR file"
        remedy = "save it as a file if it is a pipe: its format is recognised by the first line"
        raise InputError(problem, remedy)
    if len(fields) != wanted:
        raise InputError(f"{counted(len(fields), 'field')}, not {wanted}", f"write: {layout}")
    if not all(
        field or name in ("", "tag") for field, name in zip(fields, kind.fields, strict=True)
    ):
        raise InputError("an empty field between tabs", f"write: {layout}")
    return fields, _checked_number(fields[kind.fields.index("number")].decode(), kind)


def _checked_number(value: Any, kind: FileKind) -> float:
    if isinstance(value, bool):
        raise InputError(f"the {kind.number[0]} {value} is a truth value", "write a number")
    try:
        number = parse_number(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        noun = kind.number[0]
        raise InputError(f"the {noun} {str(value)[:40]!r} is not a finite number", "correct it")
    return number


def _of_json(path: Path, content: bytes, kind: FileKind) -> DocumentColumns:
    check_text(content, str(path))
    text = content.removeprefix(BYTE_ORDER_MARK)
    first, _, rest = text.strip().partition(b"\n")
    if rest and first.startswith(b"{") and first.rstrip().endswith(b"}"):
        return columns_of_lines(text, str(path), kind)
    try:
        document = decode_json(text, "write {query: {document: number}}, or one object per row")
        records = records_in(document, kind)
    except InputError as error:
        raise error.at(str(path)) from error
    if records is not None:
        return columns_of_records(records, str(path), kind)
    return _of_dicts(document, str(path), kind)


def _of_dicts(content: object, name: str, kind: FileKind) -> DocumentColumns:
    import pyarrow as pa

    if not isinstance(content, dict) or not all(isinstance(v, dict) for v in content.values()):
        raise InputError(
            f"is not {kind.article}", f"write {{query: {{document: {kind.number[0]}}}}}", name
        )
    places = [(str(query), str(doc)) for query, docs in content.items() for doc in docs]
    numbers = []
    for (query, document), value in zip(
        places, (v for docs in content.values() for v in docs.values()), strict=True
    ):
        try:
            numbers.append(_checked_number(value, kind))
        except InputError as error:
            raise error.at(f"{name}, query {query}, document {document}") from error

    def place(row: int) -> str:
        return f"{name}, query {places[row][0]}, document {places[row][1]}"

    try:
        ids = [pa.array([pair[side] for pair in places], pa.string()) for side in (0, 1)]
    except UnicodeEncodeError as error:
        raise InputError(
            f"the id {error.object!r} is not valid text", "correct it", name
        ) from error
    return DocumentColumns(ids[0], ids[1], np.array(numbers, float), place)


def document_columns_of(content: Any, name: str, kind: FileKind) -> DocumentColumns:
    """Return the columns of a table, of a frame or of nested dicts.

    Parameters
    ----------
    content : pyarrow.Table, pandas.DataFrame, polars.DataFrame, DuckDB relation or dict
    name : str
        What to call it in a message.
    kind : FileKind

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        Naming the row, or the query and document.
    """
    import pyarrow as pa

    if hasattr(content, "collect"):  # a lazy frame of polars
        content = content.collect()
    if hasattr(content, "__arrow_c_stream__") and not hasattr(content, "iloc"):
        return columns_of_table(pa.table(content), name, kind)
    if hasattr(content, "columns"):
        try:
            table = pa.Table.from_pandas(content, preserve_index=False)
        except (pa.ArrowException, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())[:100]
            raise InputError(
                f"holds columns of mixed types ({reason})", "convert ids to text", name
            ) from error
        return columns_of_table(table, name, kind)
    return _of_dicts(content, name, kind)
