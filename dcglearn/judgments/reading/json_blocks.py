r"""Blocks of JSON lines, and of JSON arrays of objects.

A block of lines is decoded by Arrow only if each line begins with ``{`` and ends with ``}`` and
gives one record: within a JSON value no line break follows ``}`` and precedes ``{``, so each break
then lies between two records. An array becomes lines first (:mod:`dcglearn.base.tables.json_arrays`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import decode_json
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.tables.json_arrays import array_as_lines
from dcglearn.base.tables.json_tables import MAX_DOCUMENT, records_of_document
from dcglearn.base.text import ASCII_BLANKS
from dcglearn.base.text_lines import decode_line
from dcglearn.base.types import Integers
from dcglearn.judgments.reading.blocks import (
    NumberedRecord,
    RecordBlock,
    Unit,
    is_plain_text,
    read_chunks,
    takes_arrow,
)
from dcglearn.judgments.reading.json_decoder import JsonDecoder

_BATCH = 4096
"""The records of a table that make a chunk of lines."""

_FEWEST_LINES = 64
"""A block of fewer lines is not split where Arrow cannot decode it."""

_BLANKS = ASCII_BLANKS.encode()


def read_json_lines(
    file: BinaryIO, name: str, ignored: IgnoredInput | None
) -> Iterator[RecordBlock]:
    """Read JSON lines block by block, or the table that one JSON object holds.

    Parameters
    ----------
    file : binary file
        UTF-8.
    name : str
        For messages.
    ignored : IgnoredInput or None
        If given, repeated keys are counted there; otherwise they are refused.

    Yields
    ------
    RecordBlock
        The records of one object (:mod:`dcglearn.base.tables.json_tables`) are numbered as such.

    Raises
    ------
    InputError
        If the object may hold a table, but does not say which.
    """
    chunks = read_chunks(file)
    start = list(islice(chunks, 2))
    if _may_be_whole(start):
        while sum(map(len, start)) <= MAX_DOCUMENT and (more := next(chunks, b"")):
            start.append(more)
        records = _records_of(b"".join(start), name, ignored)
        if records is not None:
            yield from _blocks(_as_lines(records), "record", name, ignored)
            return
    yield from _blocks(chain(start, chunks), "line", name, ignored)


def _may_be_whole(chunks: list[bytes]) -> bool:
    """Return whether a file may hold one JSON object only, given its first chunks."""
    head = b"".join(chunks).lstrip(_BLANKS)
    line, _, rest = head.partition(b"\n")
    line = line.strip(_BLANKS)
    return line.startswith(b"{") and not (line.endswith(b"}") and rest.strip(_BLANKS))


def _records_of(
    content: bytes, name: str, ignored: IgnoredInput | None
) -> list[dict[str, Any]] | None:
    """Return the records of a table in one JSON object; None if the text is something else."""
    if len(content) > MAX_DOCUMENT:
        return None
    repeated = None if ignored is None else IgnoredInput()
    try:
        document = decode_json(content, "", _counter(repeated))
    except InputError:
        return None  # the reader of lines says why
    try:
        records = records_of_document(document)
    except InputError as error:
        raise error.at(name) from error
    if records is None and isinstance(document, dict) and b"\n" in content.strip(_BLANKS):
        records = [document]  # one record on several lines
    if records is not None and ignored is not None and repeated is not None:
        ignored.counts.update(repeated.counts)
    return records


def _as_lines(records: list[dict[str, Any]]) -> Iterator[bytes]:
    for start in range(0, len(records), _BATCH):
        lines = (json.dumps(one, ensure_ascii=False) for one in records[start : start + _BATCH])
        yield "".join(f"{line}\n" for line in lines).encode()


def read_json_array(
    file: BinaryIO, name: str, ignored: IgnoredInput | None
) -> Iterator[RecordBlock]:
    """Read a JSON array of objects block by block.

    Parameters
    ----------
    file : binary file
        UTF-8.
    name : str
        For messages.
    ignored : IgnoredInput or None
        As for :func:`read_json_lines`.

    Yields
    ------
    RecordBlock

    Raises
    ------
    InputError
        If it is not an array of objects.
    """
    return _blocks(array_as_lines(file, name), "record", name, ignored)


def _blocks(
    chunks: Iterator[bytes], unit: Unit, name: str, ignored: IgnoredInput | None
) -> Iterator[RecordBlock]:
    """Iterate over blocks of lines, which are numbered from 1."""
    decoder = JsonDecoder()
    first = 1
    for chunk in chunks:
        if not chunk.strip(b"\r\n"):  # blank lines by the million take no time
            first += chunk.count(b"\n")
            continue
        whole = first == 1 and not takes_arrow(chunk)
        parts = [(chunk, 1, None, range(0))] if whole else _decoded(chunk, first, decoder)
        for content, start, columns, numbers in parts:
            read = partial(_records, content, start, f"{name}, {unit}", ignored)
            yield RecordBlock(columns, numbers, unit, read)
        first += chunk.count(b"\n")


def _decoded(
    content: bytes, first: int, decoder: JsonDecoder
) -> Iterator[tuple[bytes, int, dict[str, Any] | None, range | Integers]]:
    """Split lines where Arrow cannot decode some of them.

    Yields
    ------
    content : bytes
    first : int
        The number of its first line.
    columns : dict or None
    numbers : range or ndarray of int
        The lines of the records.
    """
    found = _one_object_per_line(content) if is_plain_text(content) else None
    if found is not None:
        text, numbers = found
        objects = len(numbers)
        columns = decoder.decode(text, objects) if objects else {}
        if columns is not None:
            shifted = (
                range(first, first + objects) if isinstance(numbers, range) else numbers + first
            )
            yield content, first, columns, shifted
            return
    middle = content.find(b"\n", len(content) // 2) + 1
    if content.count(b"\n") <= _FEWEST_LINES or not 0 < middle < len(content):
        yield content, first, None, range(0)
        return
    yield from _decoded(content[:middle], first, decoder)
    yield from _decoded(content[middle:], first + content.count(b"\n", 0, middle), decoder)


def _records(
    content: bytes, first: int, where: str, ignored: IgnoredInput | None
) -> Iterator[NumberedRecord]:
    """Decode lines one by one; the first of them has the number `first`."""
    for number, line in enumerate(io.BytesIO(content), first):
        place = f"{where} {number}"
        text = decode_line(line, place)
        if not text.strip(ASCII_BLANKS):
            continue
        try:
            record = decode_json(text, "give one JSON object per line", _counter(ignored))
            if not isinstance(record, dict):
                raise InputError("is not a JSON object", 'write {"field": value, ...}')
        except InputError as error:
            raise InputError(error.problem, error.remedy, place) from error
        yield number, record


def _counter(ignored: IgnoredInput | None) -> Callable[[str], None] | None:
    """Return what counts repeated keys, None if they are refused."""
    return None if ignored is None else lambda key: ignored.counts.update([f"repeated key {key!r}"])


def _one_object_per_line(content: bytes) -> tuple[bytes, range | Integers] | None:
    """Return lines that each begin with { and end with }, without the blank ones.

    Returns
    -------
    text : bytes
    numbers : range or ndarray of int
        Which lines they are, from 0.
    """
    whole = content.endswith(b"\n")
    lines = content.count(b"\n") + (not whole)
    end = content[-3:].rstrip(b"\r\n")
    if content.startswith(b"{") and end.endswith(b"}"):
        breaks = content.count(b"}\n{") + content.count(b"}\r\n{")
        if breaks == lines - 1:
            return content, range(lines)
    stripped = [line.strip(b" \t\r") for line in content.split(b"\n")]
    numbers = [number for number, line in enumerate(stripped) if line.strip(_BLANKS)]
    kept = [stripped[number] for number in numbers]
    if all(line[:1] == b"{" and line[-1:] == b"}" for line in kept):
        return b"\n".join(kept), np.array(numbers, np.int64)
    return None
