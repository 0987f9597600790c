"""TREC's text: ``query 0 document grade`` in qrels, ``query Q0 document rank score tag`` in runs.

Tabs separate fields, which may then hold blanks, if they give the right number of fields;
otherwise any blanks do. Lines that begin with ``#`` are comments. The rank is not used: the order
follows from the scores. Arrow reads the columns; Python goes through the lines to find the place of
a row or of a fault.
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
from dcglearn.collections.columns import Kind, Part

_AT_ONCE = 1 << 20
"""Bytes of text that are parsed at a time: they stay in the processor's cache."""

_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def read_trec(source: Source, kind: Kind) -> Iterator[Part]:
    """Read the rows, and the tag of the first."""
    rows = 0
    with source.open() as file:
        for text in whole_lines(file, _AT_ONCE):
            text = re.sub(rb"(?m)^#.*$", b"", text) if b"#" in text else text
            table = _table(text, "\t", kind) if b"\t" in text else None
            table = table or _table(_single_blanks(text), " ", kind)
            if table is None:
                raise _fault(source, kind)
            if len(table):
                query, document, number, *tags = (column.chunk(0) for column in table.columns)
                tag = tags[0][0].as_py() if tags else ""
                yield Part(query, document, number, partial(_place, source, rows), tag)
            rows += len(table)


def _table(text: bytes, delimiter: str, kind: Kind) -> Any:
    """Return query, document, number and any tag as text; None if a line has other fields."""
    import pyarrow as pa
    import pyarrow.csv as pv

    few = pa.dictionary(pa.int32(), pa.string())
    types = {"query": few, "document": pa.string(), kind.number: pa.string(), "tag": few}
    names = kind.layout.split()
    try:
        return pv.read_csv(
            pa.BufferReader(text or b"\n"),
            pv.ReadOptions(column_names=names, block_size=len(text) + 1, use_threads=False),
            pv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False),
            pv.ConvertOptions(
                column_types=types,
                include_columns=[name for name in types if name in names],
                null_values=[],
                check_utf8=False,  # it was checked when the file was opened
            ),
            memory_pool=pa.system_memory_pool(),  # the others keep what was freed, per thread
        )
    except pa.ArrowException:
        return None


def _single_blanks(text: bytes) -> bytes:
    blank = np.frombuffer(text, np.uint8) <= ord(" ")
    odd = text[:1] <= b" " or text.endswith(b" ") or any(other in text for other in b"\t\r\v\f")
    if not odd and not (blank[1:] & blank[:-1]).any():
        return text
    text = text.translate(_BLANKS)
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip()


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    with source.open() as file:
        for number, line in enumerate(file, start=1):
            if line.strip() and not line.startswith(b"#"):
                yield number, line


def _place(source: Source, first: int, row: int) -> str:
    number, _ = next(islice(_lines(source), first + row, None))
    return f"{source.name}, line {number}"


def _fault(source: Source, kind: Kind) -> InputError:
    wanted = len(kind.layout.split())
    lines = ((n, len(line.split()), line.count(b"\t") + 1) for n, line in _lines(source))
    wrong = [(tabs == wanted, number, fields) for number, fields, tabs in lines if fields != wanted]
    _, number, fields = min(wrong)
    place, problem = f"{source.name}, line {number}", counted(fields, "field")
    return InputError(f"{problem}, not {wanted}", f"write: {kind.layout}", place)
