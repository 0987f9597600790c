"""Judgments as files, column by column and a block of rows at a time.

A file holds few distinct ids, answers and lists of a few grades, so each of them is turned into
text once. The result is what writing record by record gives (:func:`json.dumps`,
:class:`csv.writer`, ``pyarrow.Table.from_pylist``), byte by byte.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import atomic_write, checked_suffix, write_text_blocks
from dcglearn.base.tables.old.compressed import split_compression
from dcglearn.base.tables.old.parquet import MAX_TEXT
from dcglearn.base.types import Grades
from dcglearn.judgments.meaning.judgment_fields import ANSWERS
from dcglearn.judgments.meaning.list_cells import parse_list_text
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT, Label, canonical_label

_ROWS = 1 << 15
"""Judgments that become text at a time."""

_MOST_TEXTS = 5_000
"""Texts of several ranks together that are made beforehand, at most."""


def judgment_writer(path: str | os.PathLike[str]) -> Callable[[Path, Preferences], None]:
    """Return what writes judgments in the format that a file's name says.

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


def list_texts(lists: Grades, labels: Sequence[str], empty: str, separator: str) -> list[str]:
    """Return lists as text.

    Parameters
    ----------
    lists : ndarray of int8, shape (n, K)
        Grade indices, -1 for an empty rank; those at the end of a list are left out.
    labels : sequence of str
        The text of each grade.
    empty : str
        The text of an empty rank.
    separator : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> list_texts(np.array([[0, -1, 1], [1, -1, -1]], np.int8), ["2", "0"], "-", " ")
    ['2 - 0', '0']
    """
    texts = [*labels, empty]
    n, K = lists.shape
    together = 1
    while together < K and len(texts) ** (together + 1) <= min(_MOST_TEXTS, 4 * n):
        together += 1
    parts = []
    for first in range(0, K, together):
        ranks = lists[:, first : first + together] % len(texts)  # the last is that of -1
        codes = np.zeros(n, np.intp)
        for rank in range(ranks.shape[1]):
            codes = codes * len(texts) + ranks[:, rank]
        joined = [separator.join(some) for some in product(texts, repeat=ranks.shape[1])]
        parts.append([joined[code] for code in codes.tolist()])
    found = parts[0] if len(parts) == 1 else list(map(separator.join, zip(*parts, strict=True)))
    lengths = _lengths(lists)
    for row in np.flatnonzero(lengths < K).tolist():
        ranks = lists[row, : lengths[row]]
        found[row] = separator.join([texts[grade] for grade in ranks.tolist()])
    return found


def _lengths(lists: Grades) -> NDArray[np.intp]:
    """Return the rank of the last document of each list, from 1; 0 without one."""
    filled = lists[:, ::-1] != NO_DOCUMENT
    found: NDArray[np.intp] = np.where(
        filled.any(axis=1), lists.shape[1] - filled.argmax(axis=1), 0
    )
    return found


def _blocks(preferences: Preferences) -> Iterator[Preferences]:
    for row in range(0, len(preferences), _ROWS):
        yield preferences[row : row + _ROWS]


def _names(preferences: Preferences) -> list[str]:
    """Return the names of the columns that have content."""
    names = ["a", "b", "answer"]
    if any(query is not None for query in preferences.queries):
        names.insert(0, "query")
    if (preferences.weights != 1).any():
        names.append("weight")
    if any(judge is not None for judge in preferences.judges):
        names.append("judge")
    return names


def _values(preferences: Preferences, name: str) -> list[Any]:
    """Return the values of a column that does not hold lists."""
    if name == "answer":
        return [ANSWERS[code] for code in preferences.answers.tolist()]
    columns = {"query": preferences.queries, "judge": preferences.judges}
    found: list[Any] = columns.get(name, preferences.weights).tolist()
    return found


def _texts(values: list[Any], text_of: Callable[[Any], str]) -> list[str]:
    """Return the texts of values; that of a distinct one is made once, but 0.0 equals -0.0."""
    if values and isinstance(values[0], float):
        return list(map(repr, values))  # as json and csv do
    texts = {value: text_of(value) for value in set(values)}
    return [texts[value] for value in values]


def _json_objects(preferences: Preferences) -> Iterator[list[str]]:
    """Iterate over blocks of JSON objects."""
    names = _names(preferences)
    pairs = (f'"{name}": ' + ("[%s]" if name in ("a", "b") else "%s") for name in names)
    template = "{" + ", ".join(pairs) + "}"
    dumps = partial(json.dumps, ensure_ascii=False)
    labels = list(map(dumps, preferences.scale.labels))
    for block in _blocks(preferences):
        columns = [
            list_texts(block.lists[:, "ab".index(name)], labels, "null", ", ")
            if name in ("a", "b")
            else _texts(_values(block, name), dumps)
            for name in names
        ]
        yield list(map(template.__mod__, zip(*columns, strict=True)))


def _write_lines(path: Path, preferences: Preferences) -> None:
    blocks = ("\n".join(objects) + "\n" for objects in _json_objects(preferences))
    write_text_blocks(path, blocks)


def _write_array(path: Path, preferences: Preferences) -> None:
    def blocks() -> Iterator[str]:
        before = "["
        for objects in _json_objects(preferences):
            yield before + ",\n".join(objects)
            before = ",\n"
        yield "]\n"

    write_text_blocks(path, blocks())


def _write_csv(path: Path, preferences: Preferences, delimiter: str = ",") -> None:
    names = _names(preferences)

    def cell(value: object) -> str:
        """Return a cell as the csv module writes it beside others."""
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow([value, ""])
        return text.getvalue()[: -len(delimiter) - 1]

    labels = list(map(str, preferences.scale.labels))
    plain = all(cell(label) == label for label in labels)

    def blocks() -> Iterator[str]:
        yield delimiter.join(names) + "\n"
        for block in _blocks(preferences):
            columns = []
            _check_labels(block, path)
            for name in names:
                if name in ("a", "b"):
                    values = list_texts(block.lists[:, "ab".index(name)], labels, "-", " ")
                    columns.append(values)
                else:
                    columns.append(_values(block, name))
            _check_cells(names, columns, path)
            texts = [
                column if name in ("a", "b") and plain else _texts(column, cell)
                for name, column in zip(names, columns, strict=True)
            ]
            yield "".join(f"{line}\n" for line in map(delimiter.join, zip(*texts, strict=True)))

    write_text_blocks(path, blocks())


def _check_labels(block: Preferences, path: Path) -> None:
    """Refuse the first grade that a list in a cell would not give back."""
    labels = block.scale.labels
    wrong = [grade for grade, label in enumerate(labels) if not _fits_list(label)]
    if wrong:
        occurs = np.isin(block.lists, wrong).reshape(len(block), -1)
        if occurs.any():
            row = int(occurs.any(axis=1).argmax())
            grade = int(block.lists[row].ravel()[occurs[row].argmax()])
            problem = f"the grade {labels[grade]!r} cannot be written in a CSV list"
            raise InputError(problem, "use .jsonl", str(path))


def _fits_list(label: Label) -> bool:
    text = str(label)  # an empty one is read back as such
    return not text or (parse_list_text(text) == [text] and canonical_label(text) == label)


def _check_cells(names: list[str], columns: list[list[Any]], path: Path) -> None:
    """Refuse the first cell that would not be read back the same."""
    wrong = []
    for number, (name, column) in enumerate(zip(names, columns, strict=True)):
        texts = {one for one in column if isinstance(one, str)}
        if name in ("a", "b"):  # their grades are checked already
            texts = {max(texts, key=len)}
        odd = {one for one in texts if not _fits_csv(one)}
        if odd:
            row = next(row for row, one in enumerate(column) if one in odd)
            wrong.append((row, number, name, column[row]))
    if wrong:
        _, _, name, text = min(wrong)
        problem = f"the {name} {text[:40]!r} cannot be written in CSV"
        raise InputError(problem, "use .jsonl", str(path))


def _fits_csv(text: str) -> bool:
    """Return whether the cell is read back the same: not too long, and no lone carriage return."""
    return len(text) <= csv.field_size_limit() and "\r" not in text.replace("\r\n", "")


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

    ids: Iterable[Any] = {*preferences.queries, *preferences.judges} - {None}
    longest = max((len(one.encode()) for one in ids), default=0)
    if longest > MAX_TEXT:
        raise InputError(f"an id of {longest:,} bytes", "use .jsonl", str(path))
    names = _names(preferences)
    try:
        return pa.table(
            {
                name: _arrow_lists(preferences.lists[:, "ab".index(name)], preferences.scale.labels)
                if name in ("a", "b")
                else pa.array(_values(preferences, name))
                for name in names
            }
        )
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        problem = f"cannot be written as columns ({' '.join(str(error).split())[:100]})"
        raise InputError(problem, "use .jsonl", str(path)) from error


def _arrow_lists(lists: Grades, labels: Sequence[Label]) -> Any:
    """Return an Arrow array of lists, whose type is that of the grades that occur."""
    import pyarrow as pa

    lengths = _lengths(lists)
    flat = lists[np.arange(lists.shape[1]) < lengths[:, None]]
    grades = np.flatnonzero(np.bincount(flat.astype(np.int64) + 1)) - 1
    occur = sorted(grades.tolist(), key=lambda grade: int((flat == grade).argmax()))
    values = pa.array([None if grade == NO_DOCUMENT else labels[grade] for grade in occur])
    numbers = np.zeros(len(labels) + 1, np.int32)
    numbers[occur] = np.arange(len(occur), dtype=np.int32)
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), values.take(pa.array(numbers[flat])))


_WRITERS: dict[str, Callable[[Path, Preferences], None]] = {
    ".jsonl": _write_lines,
    ".ndjson": _write_lines,
    ".json": _write_array,
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, delimiter="\t"),
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}
