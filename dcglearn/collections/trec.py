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

from dcglearn.base.arrow_arrays import numbers_of_arrow
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.tables.sources import Source
from dcglearn.base.tables.text import whole_lines
from dcglearn.collections.columns import Kind, Part, texts

_AT_ONCE = 1 << 24
"""Bytes of text that are parsed at a time."""

_CACHED = 1 << 17
"""Bytes that stay in the processor's cache."""

_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def read_trec(source: Source, kind: Kind) -> Iterator[Part]:
    """Read the rows, and the distinct tags of runs."""
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
            query, document, number, tag = columns
            yield Part(
                query, document, number, partial(_place, source, rows), tag.unique().to_pylist()
            )
            rows += len(query)


def _columns(text: bytes, delimiter: str, kind: Kind, number: str = "string") -> list[Any] | None:
    """Return query, document, number and tag as Arrow arrays, None if a line has other fields."""
    import pyarrow as pa
    import pyarrow.csv as pv

    few = pa.dictionary(pa.int32(), pa.string())
    types = {"query": few, "document": pa.string(), kind.number: number, "tag": few}
    try:
        table = pv.read_csv(
            pa.BufferReader(text or b"\n"),
            pv.ReadOptions(
                column_names=kind.layout.split(), block_size=len(text) + 1, use_threads=False
            ),
            pv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False),
            pv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                include_missing_columns=True,
                null_values=[],
                check_utf8=False,  # it was checked when the file was opened
            ),
            memory_pool=pa.system_memory_pool(),  # the others keep what was freed, per thread
        )
    except pa.ArrowException:
        return None
    columns = [table.column(name).chunk(0) for name in types]
    finite = number != "float64" or np.isfinite(numbers_of_arrow(columns[2])).all()
    return columns if finite else None


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


def _between_tabs(text: bytes, kind: Kind) -> list[Any] | None:
    columns = _columns(re.sub(rb"(?m)^(#.*|[ \t\v\f\r]*)$", b"", text), "\t", kind)
    if columns is None:
        return None
    query, *rest = (texts(column.cast("string")) for column in columns)
    return [query.dictionary_encode(), *rest]


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
    """Return what is wrong with the first line without the fields; tabs may separate them."""
    wanted = len(kind.layout.split())
    lines = ((n, len(line.split()), line.count(b"\t") + 1) for n, line in _lines(source))
    wrong = [(tabs == wanted, number, fields) for number, fields, tabs in lines if fields != wanted]
    _, number, fields = min(wrong)
    place, problem = f"{source.name}, line {number}", counted(fields, "field")
    if fields == 10 - wanted:
        remedy = f"give {kind.name} here; qrels come first, then runs"
        return InputError(f"{problem}: this looks like {kind.other}", remedy, place)
    return InputError(f"{problem}, not {wanted}", f"write: {kind.layout}", place)
