"""Records from JSON lines, CSV, Parquet and Arrow, whatever their fields mean.

:mod:`dcglearn.judgments.reading.judgment_files` and :mod:`dcglearn.filtering.scored` check what the fields
hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import parse_number
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.old.places import Place
from dcglearn.base.tables.old.sources import Source, find_sources
from dcglearn.judgments.meaning.list_cells import parse_list_text
from dcglearn.judgments.reading.blocks import ChooseColumns, FieldKind, FieldKinds, RecordBlock
from dcglearn.judgments.reading.csv_blocks import read_csv_blocks
from dcglearn.judgments.reading.json_blocks import read_json_array, read_json_lines
from dcglearn.judgments.reading.table_blocks import read_arrow_blocks, read_parquet_blocks

PlacedRecord = tuple[str, dict[str, Any]]
"""The place of a record in its file, for messages, and its fields."""

Records = list[dict[str, Any]]


def read_blocks(
    source: Source,
    choose: ChooseColumns,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
) -> Iterator[RecordBlock]:
    """Read a file block by block.

    Parameters
    ----------
    source : Source
    choose : callable
        Given the names of the columns of a table, returns what those that are used hold.
        Partition keys in the names of folders are columns, too, unless the file has them.
    ignored : IgnoredInput, optional
        If given, repeated keys (the last one counts) are counted there; by default they are
        refused.
    advance : callable, optional
        Called with how many bytes or rows are read, and how many there are.

    Yields
    ------
    RecordBlock

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    if source.partition:
        whole = replace(source, partition={})
        for block in read_blocks(
            whole, lambda names: choose([*names, *source.partition]), ignored, advance
        ):
            yield block.with_partition(source.partition)
    elif source.format == "parquet":
        yield from read_parquet_blocks(source.path, source.name, choose, advance)
    elif source.format == "arrow":
        yield from read_arrow_blocks(source.path, source.name, choose)
    else:
        with source.open(advance) as file:
            if source.format == "jsonl":
                yield from read_json_lines(file, source.name, ignored)
            elif source.format == "json":
                yield from read_json_array(file, source.name, ignored)
            else:
                delimiter = source.delimiter or ","
                yield from read_csv_blocks(file, source.name, ignored, delimiter)


def read_records(
    place: Place | Source, kinds: FieldKinds, ignored: IgnoredInput | None = None
) -> Iterator[PlacedRecord]:
    """Read the records of a file one by one.

    Parameters
    ----------
    place : path, open file or Source
        As for :func:`dcglearn.base.tables.old.sources.find_sources`.
    kinds : mapping of str to str
        What the fields that are used hold.
    ignored : IgnoredInput, optional
        As for :func:`read_blocks`.

    Yields
    ------
    place : str
        Such as ``line 17``.
    record : dict

    Raises
    ------
    InputError
        Naming the file and the line or row.
    """
    for source in [place] if isinstance(place, Source) else find_sources(place):
        for block in read_blocks(source, lambda names: kinds, ignored):
            for number, record in block.read():
                where = f"{block.unit} {number}"
                if not block.textual:
                    yield where, record
                    continue
                try:
                    yield where, {name: _cell(kinds.get(name), record[name]) for name in record}
                except InputError as error:
                    raise error.at(f"{source.name}, {where}") from error


def _cell(kind: FieldKind | None, text: str) -> object:
    """Return what a cell of delimited text holds."""
    if kind == "labels":
        return parse_list_text(text)
    if kind == "number" and text:
        number = parse_number(text)
        return text if math.isnan(number) else number
    return text or None
