"""TREC's text: ``query 0 document grade`` in qrels, ``query Q0 document rank score tag`` in runs.

Fields are separated by blanks, or by tabs if only they give the right number of fields. Lines that
begin with ``#`` are comments. The rank is not used: the order follows from the scores. Arrow reads
the columns; Python goes through the lines to find the place of a row or of a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.tables.sources import Source
from dcglearn.base.tables.text import whole_lines
from dcglearn.collections.columns import QRELS, Kind, Part, texts

_AT_ONCE = 1 << 24
"""Bytes of text that are parsed at a time."""

_CACHED = 1 << 17
"""Bytes that stay in the processor's cache."""

_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def read_trec(source: Source, kind: Kind) -> tuple[list[Part], tuple[str, ...]]:
    """Return the rows, and the distinct tags in the order in which they occur."""
    parts: list[Part] = []
    tags: dict[str, None] = {}
    rows = 0
    with source.open() as file:
        for text in whole_lines(file, _AT_ONCE):
            plain = _single_blanks(text)
            columns = (
                _columns(plain, " ", kind, "float64")
                or _columns(plain, " ", kind)  # names of grades, or a fault
                or _between_tabs(text, kind)
            )
            if columns is None:
                raise _fault(source, kind)
            if len(columns["query"]):
                ids_and_number = (columns[name] for name in ("query", "document", "number"))
                parts.append(Part(*ids_and_number, partial(_place, source, rows)))
                tags |= dict.fromkeys(columns["tag"].unique().to_pylist())
            rows += len(columns["query"])
    return parts, tuple(tags)


def _columns(
    text: bytes, delimiter: str, kind: Kind, number: str = "string"
) -> dict[str, Any] | None:
    """Return the fields that are used as Arrow arrays, None if a line has others."""
    import pyarrow as pa
    import pyarrow.csv as pv

    names = [name or f"unused {i}" for i, name in enumerate(kind.fields)]
    few = pa.dictionary(pa.int32(), pa.string())
    types = {"query": few, "document": pa.string(), "number": number, "tag": few}
    try:
        table = pv.read_csv(
            pa.BufferReader(text or b"\n"),
            pv.ReadOptions(column_names=names, block_size=len(text) + 1, use_threads=False),
            pv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False),
            pv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                include_missing_columns=True,
                strings_can_be_null=False,
                check_utf8=False,  # it was checked when the file was opened
            ),
            memory_pool=pa.system_memory_pool(),  # the others keep what was freed, per thread
        )
    except pa.ArrowException:
        return None
    if number == "float64" and not np.isfinite(table.column("number")).all():
        return None
    return {name: table.column(name).chunk(0) for name in types}


def _single_blanks(text: bytes) -> bytes:
    """Return lines without comments, with one blank between fields."""
    if not (
        text[0] <= ord(" ")
        or text.endswith(b" ")
        or any(other in text for other in b"#\t\r\v\f")
        or any(_has_adjacent_blanks(text, at) for at in range(0, len(text), _CACHED))
    ):
        return text
    text = re.sub(rb"(?m)^#.*$", b"", text).translate(_BLANKS)
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip()


def _has_adjacent_blanks(text: bytes, at: int) -> bool:
    blank = np.frombuffer(text[at : at + _CACHED + 1], np.uint8) <= ord(" ")
    return bool((blank[1:] & blank[:-1]).any())


def _between_tabs(text: bytes, kind: Kind) -> dict[str, Any] | None:
    columns = _columns(re.sub(rb"(?m)^(#.*|[ \t\v\f\r]*)$", b"", text), "\t", kind)
    if columns is None:
        return None
    found = {name: texts(column.cast("string")) for name, column in columns.items()}
    return found | {"query": found["query"].dictionary_encode()}


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Iterate over the lines that are neither empty nor comments, with their numbers."""
    with source.open() as file:
        for number, line in enumerate(file, start=1):
            if line.strip() and not line.startswith(b"#"):
                yield number, line


def _place(source: Source, first: int, row: int) -> str:
    number, _ = next(islice(_lines(source), first + row, None))
    return f"{source.name}, line {number}"


def _fault(source: Source, kind: Kind) -> InputError:
    """Return what is wrong with the first line that does not have the fields."""
    wanted = len(kind.fields)
    by_tabs = all(line.count(b"\t") == wanted - 1 for _, line in _lines(source))
    for number, line in _lines(source):
        fields = line.split(b"\t" if by_tabs else None)
        if len(fields) != wanted:
            break
    place, problem = f"{source.name}, line {number}", counted(len(fields), "field")
    if len(fields) == 10 - wanted:
        remedy = f"give {kind.name} here; qrels come first, then runs"
        return InputError(f"{problem}: this looks like {kind.other}", remedy, place)
    if len(fields) > 1 and re.match(rb"(qid|[0-9]+):", fields[1]):
        remedy = "save it as a file if it is a pipe: the first line says its format"
        return InputError("looks like a line of a LETOR file", remedy, place)
    layout = "query 0 document grade" if kind is QRELS else "query Q0 document rank score tag"
    return InputError(f"{problem}, not {wanted}", f"write: {layout}", place)
