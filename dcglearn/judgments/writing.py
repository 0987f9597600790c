"""Judgments as files, column by column and a block of rows at a time.

A file holds few distinct ids, answers and grades, so each of them is turned into text once. The
result is what writing record by record gives (:func:`json.dumps`, :class:`csv.writer`,
``pyarrow.Table.from_pylist``), byte by byte.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, checked_suffix, write_text_blocks
from dcglearn.base.tables.text import split_compression
from dcglearn.base.types import Grades
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.meaning.cells import parse_list_text
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT, Label, canonical_label

_ROWS = 1 << 15
"""Judgments that become text at a time."""

_SIDES = ("a", "b")

Columns = dict[str, NDArray[Any]]


def write_preferences(preferences: Preferences, path: str | os.PathLike[str]) -> None:
    """Write judgments as JSON, CSV, Parquet or Arrow, according to the file's suffix.

    Parameters
    ----------
    preferences : Preferences
    path : path-like
        ``.jsonl``, ``.json``, ``.csv``, ``.tsv``, ``.parquet`` or ``.arrow``; text may also be
        compressed, such as ``.jsonl.gz``. Columns without content (no query ids, no judges, all
        weights 1) are left out. An empty rank above the last document of a list is read back as
        one with ``unjudged="nothing"`` only.

    Raises
    ------
    InputError
        If the suffix is unknown, the file cannot be written, a list is empty, or the format
        cannot hold an id or a grade so that it is read back the same.
    """
    write = judgment_writer(path)
    if not len(preferences):
        raise InputError("no judgment to write", "give at least one", str(path))
    empty = (preferences.lists == NO_DOCUMENT).all(axis=2).any(axis=1)
    if empty.any():
        problem = f"row {int(empty.argmax()) + 1} holds an empty list"
        raise InputError(problem, "give lists of at least one document", str(path))
    write(Path(path), preferences)


def judgment_writer(path: str | os.PathLike[str]) -> Callable[[Path, Preferences], None]:
    """Return what writes a file whole or not at all, in the format that its name says."""
    rest, compression = split_compression(os.fspath(path))
    suffix = checked_suffix(rest, _WRITERS)
    if compression and suffix in (".parquet", ".arrow"):
        remedy = f"use a name that ends in {suffix}, or a text format"
        raise InputError(f"{suffix} compressed as a whole", remedy, os.fspath(path))
    return _WRITERS[suffix]


def _columns(preferences: Preferences) -> Columns:
    """Return the columns that have content; those of lists hold grade indices."""
    found: Columns = {
        "query": preferences.queries,
        "a": preferences.lists[:, 0],
        "b": preferences.lists[:, 1],
        "answer": np.array(ANSWERS, object)[preferences.answers],
        "weight": preferences.weights,
        "judge": preferences.judges,
    }
    for name, nothing in (("query", None), ("weight", 1), ("judge", None)):
        if set(found[name].tolist()) == {nothing}:
            del found[name]
    return found


def _blocks(columns: Columns) -> Iterator[Columns]:
    for row in range(0, len(columns["a"]), _ROWS):
        yield {name: column[row : row + _ROWS] for name, column in columns.items()}


def _arrow_lists(lists: Grades, labels: Sequence[Any]) -> Any:
    """Return lists as an Arrow array; the last label is that of empty ranks, also at the end."""
    import pyarrow as pa

    K = lists.shape[1]
    lengths = K - (lists[:, ::-1] != NO_DOCUMENT).argmax(axis=1)
    flat = lists[np.arange(K) < lengths[:, None]].astype(np.int16) % len(labels)
    occur = set(np.unique(flat).tolist())  # the type is that of the grades that occur
    values = pa.array([label if grade in occur else None for grade, label in enumerate(labels)])
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), values.take(pa.array(flat)))


def _json_objects(preferences: Preferences) -> Iterator[list[str]]:
    """Iterate over blocks of JSON objects."""
    import pyarrow as pa
    import pyarrow.compute as pc

    dumps = partial(json.dumps, ensure_ascii=False)
    labels = [*map(dumps, preferences.scale.labels), "null"]
    for block in _blocks(_columns(preferences)):
        parts, before = [], "{"
        for name, column in block.items():
            if name in _SIDES:
                texts = pc.binary_join(_arrow_lists(column, labels), ", ")
                parts += [f'{before}"{name}": [', texts, "]"]
            else:
                values = column.tolist()
                known = {value: dumps(value) for value in set(values)}
                shown = map(repr if name == "weight" else known.__getitem__, values)
                parts += [f'{before}"{name}": ', pa.array(shown, pa.string())]
            before = ", "
        yield pc.binary_join_element_wise(*parts, "}", "").to_pylist()


def _write_lines(path: Path, preferences: Preferences) -> None:
    write_text_blocks(path, ("\n".join([*block, ""]) for block in _json_objects(preferences)))


def _write_array(path: Path, preferences: Preferences) -> None:
    def blocks() -> Iterator[str]:
        before = "["
        for objects in _json_objects(preferences):
            yield before + ",\n".join(objects)
            before = ",\n"
        yield "]\n"

    write_text_blocks(path, blocks())


def _write_csv(path: Path, preferences: Preferences, delimiter: str = ",") -> None:
    import pyarrow.compute as pc

    _check_cells(preferences, path)
    labels = [*map(str, preferences.scale.labels), "-"]

    columns = _columns(preferences)

    def blocks() -> Iterator[str]:
        yield delimiter.join(columns) + "\n"
        for block in _blocks(columns):
            cells = (
                pc.binary_join(_arrow_lists(column, labels), " ").to_pylist()
                if name in _SIDES
                else column.tolist()
                for name, column in block.items()
            )
            text = io.StringIO()
            writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
            writer.writerows(zip(*cells, strict=True))
            yield text.getvalue()

    write_text_blocks(path, blocks())


def _check_cells(preferences: Preferences, path: Path) -> None:
    """Refuse what would not be read back the same: grades in lists, lone returns, zero bytes."""
    for grade in np.unique(preferences.lists[preferences.lists != NO_DOCUMENT]).tolist():
        label: Label = preferences.scale.labels[grade]
        text = str(label)
        if parse_list_text(text) != [text] or canonical_label(text) != label:
            problem = f"the grade {label!r} cannot be written in a CSV list"
            raise InputError(problem, "use .jsonl", str(path))
    for name, ids in (("query", preferences.queries), ("judge", preferences.judges)):
        for one in dict.fromkeys(ids.tolist()):
            if one is not None and ("\0" in one or "\r" in one.replace("\r\n", "")):
                problem = f"the {name} {one[:40]!r} cannot be written in CSV"
                raise InputError(problem, "use .jsonl", str(path))


def _write_parquet(path: Path, preferences: Preferences) -> None:
    import pyarrow.parquet as pq

    table = _arrow_table(path, preferences)
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary)


def _write_arrow(path: Path, preferences: Preferences) -> None:
    import pyarrow as pa

    table = _arrow_table(path, preferences)
    with atomic_write(path) as temporary, pa.ipc.new_file(temporary, table.schema) as writer:
        writer.write_table(table)


def _arrow_table(path: Path, preferences: Preferences) -> Any:
    import pyarrow as pa

    labels = [*preferences.scale.labels, None]
    try:
        return pa.table(
            {
                name: _arrow_lists(column, labels) if name in _SIDES else pa.array(column)
                for name, column in _columns(preferences).items()
            }
        )
    except (pa.ArrowException, TypeError, OverflowError) as error:
        problem = f"cannot be written as columns ({' '.join(str(error).split())[:100]})"
        raise InputError(problem, "use .jsonl", str(path)) from error


_WRITERS: dict[str, Callable[[Path, Preferences], None]] = {
    ".jsonl": _write_lines,
    ".ndjson": _write_lines,
    ".json": _write_array,
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, delimiter="\t"),
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}
