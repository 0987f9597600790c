"""Records from and to JSON lines, CSV and Parquet, whatever their fields mean.

:mod:`dcglearn.reading.judgment_files` and :mod:`dcglearn.evaluation.scored` check what the fields
hold.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.numbers import parse_number
from dcglearn.base.text_lines import ASCII_BLANKS, split_fields
from dcglearn.data.packed_pairs import PACKED_METADATA
from dcglearn.files.files import atomic_write, read_lines, write_text
from dcglearn.files.json_text import decode_json
from dcglearn.files.parquet import MAX_TEXT, iterate_columns, open_parquet
from dcglearn.measures.scale import Label, canonical_label

PlacedRecord = tuple[str, dict[str, Any]]
"""The place of a record in its file, for messages, and its fields."""

Records = list[dict[str, Any]]

FieldKind = Literal["labels", "label", "text", "number", "id"]
"""What a field holds: the grades of a list, a number or text, text, a number, an id."""

FieldKinds = Mapping[str, FieldKind]
"""The fields that are used, by name; others are read as None from Parquet."""


def _read_jsonl(
    path: Path, _kinds: FieldKinds, ignored: IgnoredInput | None
) -> Iterator[PlacedRecord]:
    def count(name: str) -> None:
        if ignored is not None:
            ignored.counts[f"repeated key {name!r}"] += 1

    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip(ASCII_BLANKS):
            continue
        place = f"line {number}"
        try:
            record = decode_json(
                line, "give one JSON object per line", None if ignored is None else count
            )
            if not isinstance(record, dict):
                raise InputError("is not a JSON object", 'write {"field": value, ...}')
        except InputError as error:
            raise InputError(error.problem, error.remedy, f"{path}, {place}") from error
        yield place, record


def _read_csv(
    path: Path, kinds: FieldKinds, ignored: IgnoredInput | None
) -> Iterator[PlacedRecord]:
    reader = csv.reader(read_lines(path), strict=True)
    try:
        header = next(reader, [])
        twice = [name for name, times in Counter(header).items() if times > 1]
        if twice:
            if ignored is None:
                raise InputError(
                    f"the column {twice[0]!r} appears twice", "keep one", f"{path}, line 1"
                )
            ignored.counts.update(f"repeated key {name!r}" for name in twice)
        if not any(header):
            raise InputError("no column names", "name them in the first line", f"{path}, line 1")
        if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
            raise InputError("columns are not separated by commas", "use commas", f"{path}, line 1")
        for cells in reader:
            if not cells:
                continue
            place = f"line {reader.line_num}"
            if len(cells) != len(header):
                problem = f"{len(cells)} fields under {len(header)} column names"
                remedy = "give every row the same fields, and quote those that hold commas"
                raise InputError(problem, remedy, f"{path}, {place}")
            yield (
                place,
                {
                    name: _cell(kinds.get(name), cell)
                    for name, cell in zip(header, cells, strict=True)
                },
            )
    except csv.Error as error:
        place = f"{path}, line {reader.line_num}"
        raise InputError(f"is not CSV ({error})", "check its quotes", place) from error


def _cell(kind: FieldKind | None, text: str) -> object:
    if kind == "labels":
        return [None if part == "-" else part for part in split_fields(text)]
    if kind == "number" and text:
        number = parse_number(text)
        return text if math.isnan(number) else number
    return text or None


def _read_parquet(
    path: Path, kinds: FieldKinds, ignored: IgnoredInput | None
) -> Iterator[PlacedRecord]:
    with open_parquet(path, dictionaries=True) as file:
        schema = file.schema_arrow
        if PACKED_METADATA in (schema.metadata or {}):
            raise InputError("holds packed pairs", "only `fit` reads them", str(path))
        names = [name for name in kinds if name in schema.names]
        for name in names:
            _check_column(schema, name, kinds[name], path)
        unused: dict[str, Any] = dict.fromkeys(name for name in schema.names if name not in kinds)
        if not names and file.metadata.num_rows:
            yield "row 1", unused
        row = 0
        for columns in iterate_columns(file, names, path):
            for values in zip(*columns, strict=True):
                row += 1
                yield f"row {row}", dict(zip(names, values, strict=True)) | unused


def _check_column(schema: Any, name: str, kind: FieldKind, path: Path) -> None:
    """Check that a column appears once and has a type that its kind allows."""
    import pyarrow.types as types

    def is_one(column: Any) -> bool:  # pyarrow has no type hints
        wanted = _TYPES[kind][0]
        value = column.value_type if types.is_dictionary(column) else column
        return any(getattr(types, f"is_{one}")(value) for one in ("null", *wanted))

    if schema.names.count(name) > 1:
        raise InputError(f"the column {name!r} appears twice", "keep one", str(path))
    found = schema.field(name).type
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    is_list = any(test(found) for test in lists)
    fits = (is_list and is_one(found.value_type)) if kind == "labels" else is_one(found)
    if not fits:
        plain = re.sub(r"dictionary<values=(\w+)[^>]*>", r"\1", str(found))
        problem = f'the column "{name}" holds {plain:.60}'
        raise InputError(problem, f"it must hold {_TYPES[kind][1]}", str(path))


_TYPES: dict[FieldKind, tuple[tuple[str, ...], str]] = {
    "labels": (("integer", "floating", "string", "large_string"), "lists of numbers or text"),
    "label": (("integer", "floating", "string", "large_string"), "numbers or text"),
    "text": (("string", "large_string"), "text"),
    "number": (("integer", "floating"), "numbers"),
    "id": (("integer", "string", "large_string"), "text or whole numbers"),
}
"""The Arrow types of each kind, and what a message calls them."""


def _write_jsonl(path: Path, records: Records) -> None:
    write_text(path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))


def _write_csv(path: Path, records: Records) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [], lineterminator="\n")
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
        if text and (split_fields(text) != [text] or text == "-" or canonical_label(text) != label):
            raise InputError(
                f"the grade {label!r} cannot be written in a CSV list", "use .jsonl", str(path)
            )
    return " ".join("-" if label is None else str(label) for label in labels)


def _write_parquet(path: Path, records: Records) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = (value for record in records for value in record.values() if isinstance(value, str))
    longest = max(len(text.encode()) for text in texts)
    if longest > MAX_TEXT:
        raise InputError(f"an id of {longest:,} bytes", "use .jsonl", str(path))
    try:
        table = pa.Table.from_pylist(records)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        problem = f"cannot be written as Parquet ({' '.join(str(error).split())[:100]})"
        raise InputError(problem, "use .jsonl", str(path)) from error
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary)


RecordReader = Callable[[Path, FieldKinds, IgnoredInput | None], Iterator[PlacedRecord]]
"""Reads the records of a file."""

RECORD_READERS: dict[str, RecordReader] = {
    ".jsonl": _read_jsonl,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
"""By a file's suffix. Given an :class:`IgnoredInput`, readers count repeated keys there instead of
refusing them."""

RECORD_WRITERS: dict[str, Callable[[Path, Records], None]] = {
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
"""By a file's suffix. A file is written whole or not at all."""
