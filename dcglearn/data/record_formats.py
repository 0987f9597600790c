"""Records from and to JSON lines, CSV and Parquet, whatever their fields mean.

:mod:`dcglearn.data.judgment_files` and :mod:`dcglearn.evaluation.scored` check what the fields
hold.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, read_lines, write_text
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.json_text import decode_json
from dcglearn.base.numbers import parse_number
from dcglearn.base.parquet import open_parquet
from dcglearn.base.text_lines import ASCII_BLANKS, split_fields
from dcglearn.data.packed_pairs import PACKED_METADATA
from dcglearn.measures.scale import Label

PlacedRecord = tuple[str, dict[str, Any]]
"""The place of a record in its file, for messages, and its fields."""

Records = list[dict[str, Any]]


def _read_jsonl(path: Path, ignored: IgnoredInput | None) -> Iterator[PlacedRecord]:
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


def _read_csv(path: Path, ignored: IgnoredInput | None) -> Iterator[PlacedRecord]:
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
            yield place, {name: _cell(name, cell) for name, cell in zip(header, cells, strict=True)}
    except csv.Error as error:
        place = f"{path}, line {reader.line_num}"
        raise InputError(f"is not CSV ({error})", "check its quotes", place) from error


def _cell(name: str, text: str) -> object:
    if name in ("a", "b"):
        return [None if part == "-" else part for part in split_fields(text)]
    if name == "weight" and text:
        number = parse_number(text)
        return text if math.isnan(number) else number
    return text or None


def _read_parquet(path: Path, ignored: IgnoredInput | None) -> Iterator[PlacedRecord]:
    with open_parquet(path) as file:
        if PACKED_METADATA in (file.schema_arrow.metadata or {}):
            raise InputError("holds packed pairs", "only `fit` reads them", str(path))
        _check_types(file.schema_arrow, path)
        row = 0
        for batch in file.iter_batches():
            for record in batch.to_pylist():
                row += 1
                yield f"row {row}", record


def _check_types(schema: Any, path: Path) -> None:  # pyarrow has no type hints
    import pyarrow.types as kinds

    def is_list(kind: Any) -> bool:
        listed = kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)
        return listed and (
            kinds.is_integer(kind.value_type)
            or kinds.is_floating(kind.value_type)
            or is_text(kind.value_type)
        )

    def is_text(kind: Any) -> bool:
        return bool(kinds.is_string(kind) or kinds.is_large_string(kind))

    def is_id(kind: Any) -> bool:
        return bool(is_text(kind) or kinds.is_integer(kind) or kinds.is_null(kind))

    def is_number(kind: Any) -> bool:
        return bool(kinds.is_floating(kind) or kinds.is_integer(kind) or kinds.is_null(kind))

    twice = [name for name, times in Counter(schema.names).items() if times > 1]
    if twice:
        raise InputError(f"the column {twice[0]!r} appears twice", "keep one", str(path))
    wanted: dict[str, tuple[Callable[[Any], bool], str]] = {
        "a": (is_list, "a list of numbers or text"),
        "b": (is_list, "a list of numbers or text"),
        "answer": (is_text, "text"),
        "weight": (is_number, "a number"),
        "query": (is_id, "text or a whole number"),
        "judge": (is_id, "text or a whole number"),
        "run_a": (is_text, "text"),
        "run_b": (is_text, "text"),
    }
    for column in schema:
        if column.name in wanted:
            fits, expected = wanted[column.name]
            if not fits(column.type):
                problem = f'the column "{column.name}" holds {column.type}'
                raise InputError(problem, f"it must hold {expected}", str(path))


def _write_jsonl(path: Path, records: Records) -> None:
    write_text(path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))


def _write_csv(path: Path, records: Records) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow(record | {side: _csv_list(record[side], path) for side in "ab"})
    write_text(path, text.getvalue())


def _csv_list(labels: list[Label | None], path: Path) -> str:
    for label in labels:
        if isinstance(label, str) and (split_fields(label) != [label] or label == "-"):
            raise InputError(
                f"the grade {label!r} cannot be written in a CSV list", "use .jsonl", str(path)
            )
    return " ".join("-" if label is None else str(label) for label in labels)


def _write_parquet(path: Path, records: Records) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_write(path) as temporary:
        pq.write_table(pa.Table.from_pylist(records), temporary)


RECORD_READERS: dict[str, Callable[[Path, IgnoredInput | None], Iterator[PlacedRecord]]] = {
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
