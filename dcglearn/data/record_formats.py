"""The three formats of judgment files, as rows of fields: JSON lines, CSV and Parquet.

Here a format is only taken apart and put together; what the fields must hold is the
business of :mod:`dcglearn.data.judgment_files` and :mod:`dcglearn.evaluation.scored`.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, read_lines, write_text
from dcglearn.data.packed_pairs import METADATA
from dcglearn.measures.scale import Label

PlacedRecord = tuple[str, dict[str, Any]]
"""Where a judgment stands, for messages, and its fields."""

Records = list[dict[str, Any]]


@dataclass
class IgnoredInput:
    """What a lenient reading left out, by reason: ``{"unknown field 'note'": 12}``."""

    counts: Counter[str] = field(default_factory=Counter)


def _read_jsonl(path: Path, ignored: IgnoredInput | None) -> Iterator[PlacedRecord]:
    def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            name = next(key for key, times in Counter(k for k, _ in pairs).items() if times > 1)
            if ignored is None:
                raise InputError(f'the key "{name}" stands twice', "keep one")
            ignored.counts[f"repeated key {name!r}"] += 1
        return record

    decoder = json.JSONDecoder(object_pairs_hook=unrepeated)
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            record = decoder.decode(line)
        except InputError as error:
            raise error.at(f"{path}, {place}") from error
        except (ValueError, RecursionError) as error:
            problem = f"is not JSON ({getattr(error, 'msg', 'too deep or too long')})"
            raise InputError(problem, "give one JSON object a line", f"{path}, {place}") from error
        if not isinstance(record, dict):
            raise InputError("is no JSON object", 'write {"field": value, ...}', f"{path}, {place}")
        yield place, record


def _read_csv(path: Path, ignored: IgnoredInput | None) -> Iterator[PlacedRecord]:
    reader = csv.reader(read_lines(path), strict=True)
    try:
        header = next(reader, [])
        twice = [name for name, times in Counter(header).items() if times > 1]
        if twice:
            if ignored is None:
                raise InputError(
                    f"the column {twice[0]!r} stands twice", "keep one", f"{path}, line 1"
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
        return [None if part == "-" else part for part in text.split()]
    if name == "weight" and text:
        try:
            return float(text)
        except ValueError:
            return text
    return text or None


def _read_parquet(path: Path, ignored: IgnoredInput | None) -> Iterator[PlacedRecord]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "no such file"
        raise InputError(problem, "name a file", str(path))
    try:
        source = pq.ParquetFile(path)
        if METADATA in (source.schema_arrow.metadata or {}):
            raise InputError("holds packed pairs", "fit reads them, nothing else does", str(path))
        _check_types(source.schema_arrow, path)
        row = 0
        for batch in source.iter_batches():
            for record in batch.to_pylist():
                row += 1
                yield f"row {row}", record
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(
            f"is not a readable Parquet file ({reason})", "write it again", str(path)
        ) from error


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
        raise InputError(f"the column {twice[0]!r} stands twice", "keep one", str(path))
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
        if isinstance(label, str) and (label.split() != [label] or label == "-"):
            raise InputError(
                f"the grade {label!r} cannot stand in a CSV list", "use .jsonl", str(path)
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
"""By a file's ending; with a `IgnoredInput`, repeated keys are counted, not refused."""

RECORD_WRITERS: dict[str, Callable[[Path, Records], None]] = {
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
"""By a file's ending; a file is written whole or not at all."""
