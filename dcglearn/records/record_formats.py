"""Records from and to JSON lines, CSV and Parquet, whatever their fields mean.

:mod:`dcglearn.reading.judgment_files` and :mod:`dcglearn.filtering.scored` check what the fields
hold.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import parse_number
from dcglearn.base.progress import Advance, silent
from dcglearn.fields.list_cells import parse_list_text
from dcglearn.files.compressed import split_compression
from dcglearn.files.files import atomic_write, checked_suffix, write_text
from dcglearn.files.parquet import MAX_TEXT
from dcglearn.files.places import Place
from dcglearn.files.sources import Source, find_sources
from dcglearn.measures.scale import Label, canonical_label
from dcglearn.records.blocks import ChooseColumns, FieldKind, FieldKinds, RecordBlock
from dcglearn.records.csv_blocks import read_csv_blocks
from dcglearn.records.json_blocks import read_json_array, read_json_lines
from dcglearn.records.table_blocks import read_arrow_blocks, read_parquet_blocks

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
        As for :func:`dcglearn.files.sources.find_sources`.
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


def record_writer(path: str | os.PathLike[str]) -> Callable[[Path, Records], None]:
    """Return what writes records in the format that a file's name says.

    Parameters
    ----------
    path : path-like
        Text may also end in ``.gz``, ``.zst``, ``.bz2`` or ``.xz``.

    Returns
    -------
    callable
        Writes a file whole or not at all.

    Raises
    ------
    InputError
        If the suffix is unknown.
    """
    rest, compression = split_compression(os.fspath(path))
    suffix = checked_suffix(rest, _WRITERS)
    if compression and suffix in (".parquet", ".arrow"):
        remedy = f"use a name that ends in {suffix}, or a text format"
        raise InputError(f"{suffix} compressed as a whole", remedy, os.fspath(path))
    return _WRITERS[suffix]


def _write_lines(path: Path, records: Records) -> None:
    write_text(path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))


def _write_array(path: Path, records: Records) -> None:
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    write_text(path, "[" + ",\n".join(lines) + "]\n")


def _write_csv(path: Path, records: Records, delimiter: str = ",") -> None:
    text = io.StringIO()
    names = list(records[0]) if records else []
    writer = csv.DictWriter(text, names, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for record in records:
        cells = record | {side: _csv_list(record[side], path) for side in "ab"}
        for name, cell in cells.items():
            if isinstance(cell, str) and not _fits_csv(cell):
                problem = f"the {name} {cell[:40]!r} cannot be written in CSV"
                raise InputError(problem, "use .jsonl", str(path))
        writer.writerow(cells)
    write_text(path, text.getvalue())


def _fits_csv(cell: str) -> bool:
    """Return whether the cell is read back the same: not too long, and no lone carriage return."""
    return len(cell) <= csv.field_size_limit() and "\r" not in cell.replace("\r\n", "")


def _csv_list(labels: list[Label | None], path: Path) -> str:
    for label in labels:
        text = "" if label is None else str(label)
        if text and (parse_list_text(text) != [text] or canonical_label(text) != label):
            raise InputError(
                f"the grade {label!r} cannot be written in a CSV list", "use .jsonl", str(path)
            )
    return " ".join("-" if label is None else str(label) for label in labels)


def _write_parquet(path: Path, records: Records) -> None:
    import pyarrow.parquet as pq

    table = _arrow_table(path, records)
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary)


def _write_arrow(path: Path, records: Records) -> None:
    import pyarrow as pa

    table = _arrow_table(path, records)
    with atomic_write(path) as temporary, pa.ipc.new_file(temporary, table.schema) as writer:
        writer.write_table(table)


def _arrow_table(path: Path, records: Records) -> Any:
    import pyarrow as pa

    texts = (value for record in records for value in record.values() if isinstance(value, str))
    longest = max(len(text.encode()) for text in texts)
    if longest > MAX_TEXT:
        raise InputError(f"an id of {longest:,} bytes", "use .jsonl", str(path))
    try:
        return pa.Table.from_pylist(records)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        problem = f"cannot be written as columns ({' '.join(str(error).split())[:100]})"
        raise InputError(problem, "use .jsonl", str(path)) from error


_WRITERS: dict[str, Callable[[Path, Records], None]] = {
    ".jsonl": _write_lines,
    ".ndjson": _write_lines,
    ".json": _write_array,
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, delimiter="\t"),
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}
