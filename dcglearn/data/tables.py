"""Judgment files: JSON lines, CSV and Parquet, one judgment a row.

Columns: ``a`` and ``b`` (the lists, from the first rank down), ``answer`` (a, b, tie,
good or bad), and, where known, ``query``, ``weight`` and ``judge``. In JSON lines and
Parquet a list is a list of grade values or names, null where a rank is empty; in CSV
its entries are separated by blanks, ``-`` where a rank is empty.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text, write_text, written_whole
from dcglearn.base.names import unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.data.preferences import ANSWERS, Preferences, answer_code, checked_weight
from dcglearn.data.rankings import decode_list, encode_list, pad
from dcglearn.measures.scale import Label, Scale, label_of, plain_label

REQUIRED = ("a", "b", "answer")
FIELDS = ("query", *REQUIRED, "weight", "judge")

Row = tuple[str, dict[str, Any]]
"""Where a judgment stands, for messages, and its fields."""


@dataclass
class PassedOver:
    """What a lenient reading left out, by reason: ``{"unknown field 'note'": 12}``."""

    counts: Counter[str] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self.counts)


def read_preferences(
    path: str | os.PathLike[str],
    scale: Scale | None = None,
    n_ranks: int | None = None,
    passed_over: PassedOver | None = None,
    advance: Advance = silent,
    documents: bool = False,
) -> Preferences:
    """Read a file of judgments.

    Parameters
    ----------
    path : path-like
        ``.jsonl``, ``.csv`` or ``.parquet``.
    scale : Scale, optional
        The grades, best first. By default the numbers that occur, the highest
        first; names have no order of their own and need a scale.
    n_ranks : int, optional
        K: longer lists are refused. By default the longest list sets it.
    passed_over : PassedOver, optional
        Give one for a lenient reading: unknown fields and repeated keys (the last
        one counts) are passed over and counted there. By default they are refused.
    advance : callable
        Called with (rows read, 0).
    documents : bool, default False
        Whether lists hold documents rather than grades: without a scale they are
        numbered by name.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        Naming the file and the line or row, what is wrong and what to do.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "judgments.jsonl")
    ...     _ = path.write_text('{"a": [2, 0], "b": [1], "answer": "a"}')
    ...     read_preferences(path).lists.tolist()
    [[[0, 2], [1, -1]]]
    """
    rows = _reader(path)(Path(path), passed_over)
    judgments = []
    for number, (place, record) in enumerate(rows):
        try:
            judgments.append((place, _judgment(record, passed_over)))
        except InputError as error:
            raise error.at(f"{path}, {place}") from error
        if number % 1000 == 0:
            advance(number, 0)
    if not judgments:
        raise InputError("holds no judgment", "give one judgment a line", str(path))
    return _assemble(judgments, scale, n_ranks, str(path), documents)


def write_preferences(preferences: Preferences, path: str | os.PathLike[str]) -> None:
    """Write judgments as JSON lines, CSV or Parquet, by the name's ending.

    Parameters
    ----------
    preferences : Preferences
    path : path-like
        ``.jsonl``, ``.csv`` or ``.parquet``. Columns that hold nothing (no query
        ids, no judges, all weights 1) are left out.

    Raises
    ------
    InputError
        If the ending is unknown, the place cannot be written, or a grade's name
        cannot stand in a CSV list.
    """
    writers: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
        ".jsonl": _write_jsonl,
        ".csv": _write_csv,
        ".parquet": _write_parquet,
    }
    suffix = Path(path).suffix.lower()
    if suffix not in writers:
        raise _unknown_suffix(path, writers)
    writers[suffix](Path(path), _records(preferences))


@dataclass(frozen=True)
class _Judgment:
    lists: tuple[list[Label | None], list[Label | None]]
    answer: int
    weight: float
    query: str | None
    judge: str | None


def _judgment(record: dict[str, Any], passed_over: PassedOver | None) -> _Judgment:
    for name in record.keys() - set(FIELDS):
        if passed_over is None:
            raise unknown_name("field", name, FIELDS)
        passed_over.counts[f"unknown field {name!r}"] += 1
    for name in REQUIRED:
        if record.get(name) is None:
            raise InputError(f'"{name}" is missing', f"every judgment needs {', '.join(REQUIRED)}")
    weight = record.get("weight")
    return _Judgment(
        lists=(_labels(record["a"], "a"), _labels(record["b"], "b")),
        answer=answer_code(record["answer"]),
        weight=1.0 if weight is None else checked_weight(weight),
        query=_id(record.get("query"), "query"),
        judge=_id(record.get("judge"), "judge"),
    )


def _labels(value: object, side: str) -> list[Label | None]:
    if not isinstance(value, list):
        raise InputError(f'"{side}" is {value!r}, not a list', "give the grades in rank order")
    try:
        return [None if label is None else plain_label(label) for label in value]
    except (TypeError, ValueError) as error:
        problem = error.problem if isinstance(error, InputError) else f"an entry of {value!r}"
        raise InputError(f'"{side}": {problem}', "use numbers or names") from error


def _id(value: object, name: str) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f'"{name}" is {value!r}', "use text or a whole number")
    return str(value)


def _assemble(
    judgments: Sequence[tuple[str, _Judgment]],
    scale: Scale | None,
    n_ranks: int | None,
    path: str,
    documents: bool,
) -> Preferences:
    found = [judgment for _, judgment in judgments]
    if scale is None:
        labels = (label for j in found for side in j.lists for label in side if label is not None)
        try:
            scale = (Scale.of_documents if documents else Scale.of_numbers)(labels)
        except InputError as error:
            raise error.at(path) from error
    longest = max(len(side) for judgment in found for side in judgment.lists)
    width = longest if n_ranks is None else n_ranks
    sides: tuple[list[list[int]], list[list[int]]] = ([], [])
    for place, judgment in judgments:
        for name, labels_, side in zip("ab", judgment.lists, sides, strict=True):
            try:
                if len(labels_) > width:
                    raise InputError(
                        f"a list of {len(labels_)} grades, and K = {width}", "raise K or cut it"
                    )
                side.append(encode_list(labels_, scale))
            except InputError as error:
                raise error.at(f'{path}, {place}, "{name}"') from error
    return Preferences(
        lists=np.stack([pad(side, width) for side in sides], axis=1),
        answers=np.array([judgment.answer for judgment in found], np.int8),
        scale=scale,
        weights=np.array([judgment.weight for judgment in found]),
        queries=np.array([judgment.query for judgment in found], object),
        judges=np.array([judgment.judge for judgment in found], object),
    )


def _reader(path: str | os.PathLike[str]) -> Callable[[Path, PassedOver | None], Iterator[Row]]:
    readers = {".jsonl": _read_jsonl, ".csv": _read_csv, ".parquet": _read_parquet}
    suffix = Path(path).suffix.lower()
    if suffix not in readers:
        raise _unknown_suffix(path, readers)
    return readers[suffix]


def _unknown_suffix(path: str | os.PathLike[str], known: Iterable[str]) -> InputError:
    problem = f"ends in {Path(path).suffix!r}"
    return InputError(problem, f"name it {', '.join(known)} for its format", str(path))


def _read_jsonl(path: Path, passed_over: PassedOver | None) -> Iterator[Row]:
    def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            name = next(key for key, times in Counter(k for k, _ in pairs).items() if times > 1)
            if passed_over is None:
                raise InputError(f'the key "{name}" stands twice', "keep one")
            passed_over.counts[f"repeated key {name!r}"] += 1
        return record

    decoder = json.JSONDecoder(object_pairs_hook=unrepeated)
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            record = decoder.decode(line)
        except InputError as error:
            raise error.at(f"{path}, {place}") from error
        except (json.JSONDecodeError, RecursionError) as error:
            problem = f"is not JSON ({getattr(error, 'msg', 'nested too deep')})"
            raise InputError(problem, "give one JSON object a line", f"{path}, {place}") from error
        if not isinstance(record, dict):
            raise InputError("is no JSON object", 'write {"a": ...}', f"{path}, {place}")
        yield place, record


def _read_csv(path: Path, passed_over: PassedOver | None) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        header = next(reader, [])
        twice = [name for name, times in Counter(header).items() if times > 1]
        if twice:
            if passed_over is None:
                raise InputError(
                    f"the column {twice[0]!r} stands twice", "keep one", f"{path}, line 1"
                )
            passed_over.counts.update(f"repeated key {name!r}" for name in twice)
        for cells in reader:
            if not cells:
                continue
            place = f"line {reader.line_num}"
            if len(cells) != len(header):
                problem = f"{len(cells)} fields under {len(header)} column names"
                raise InputError(problem, "quote fields that hold commas", f"{path}, {place}")
            yield place, {name: _cell(name, cell) for name, cell in zip(header, cells, strict=True)}
    except csv.Error as error:
        place = f"{path}, line {reader.line_num}"
        raise InputError(f"is not CSV ({error})", "check its quotes", place) from error


def _cell(name: str, text: str) -> object:
    if name in ("a", "b"):
        return [None if part == "-" else label_of(part) for part in text.split()]
    if name == "weight" and text:
        try:
            return float(text)
        except ValueError:
            return text
    return text or None


def _read_parquet(path: Path, passed_over: PassedOver | None) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise InputError("no such file", "check the path", str(path))
    try:
        source = pq.ParquetFile(path)
        _check_types(source.schema_arrow, path)
        row = 0
        for batch in source.iter_batches():
            for record in batch.to_pylist():
                row += 1
                yield f"row {row}", record
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a readable Parquet file ({error})", "", str(path)) from error


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

    wanted: dict[str, tuple[Callable[[Any], bool], str]] = {
        "a": (is_list, "a list of numbers or text"),
        "b": (is_list, "a list of numbers or text"),
        "answer": (is_text, "text"),
        "weight": (is_number, "a number"),
        "query": (is_id, "text or a whole number"),
        "judge": (is_id, "text or a whole number"),
    }
    for column in schema:
        if column.name in wanted:
            fits, expected = wanted[column.name]
            if not fits(column.type):
                problem = f'the column "{column.name}" holds {column.type}'
                raise InputError(problem, f"it must hold {expected}", str(path))


def _records(preferences: Preferences) -> list[dict[str, Any]]:
    columns: dict[str, list[Any]] = {}
    if any(query is not None for query in preferences.queries):
        columns["query"] = preferences.queries.tolist()
    for side, name in enumerate("ab"):
        columns[name] = [decode_list(row, preferences.scale) for row in preferences.lists[:, side]]
    columns["answer"] = [ANSWERS[code] for code in preferences.answers]
    if (preferences.weights != 1).any():
        columns["weight"] = preferences.weights.tolist()
    if any(judge is not None for judge in preferences.judges):
        columns["judge"] = preferences.judges.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _write_jsonl(path: Path, records: list[dict[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))


def _write_csv(path: Path, records: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else FIELDS, lineterminator="\n")
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


def _write_parquet(path: Path, records: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with written_whole(path) as temporary:
        pq.write_table(pa.Table.from_pylist(records), temporary)
