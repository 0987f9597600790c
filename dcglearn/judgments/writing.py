"""Judgments as files, column by column and a block of rows at a time.

Each distinct id, answer or grade becomes text once.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import (
    PathLike,
    atomic_write,
    checked_suffix,
    split_compression,
    write_text_blocks,
)
from dcglearn.base.types import Grades
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT, Label

_ROWS = 1 << 15
"""Judgments that become text at a time."""

_dumps = lru_cache(_ROWS)(partial(json.dumps, ensure_ascii=False))

Columns = dict[str, NDArray[Any]]


def write_preferences(preferences: Preferences, path: PathLike) -> None:
    """Write judgments as JSON, CSV, Parquet or Arrow, according to the file's suffix.

    Parameters
    ----------
    preferences : Preferences
    path : path-like
        ``.jsonl``, ``.json``, ``.csv``, ``.tsv``, ``.parquet`` or ``.arrow``; text may also be
        compressed, such as ``.jsonl.gz``. Columns without content are left out. Empty ranks within
        a list are read back as such with ``unjudged="nothing"`` only.

    Raises
    ------
    InputError
        If the file cannot be written, or there is no judgment.
    """
    suffix = check_judgment_format(path)
    if not len(preferences):
        raise InputError("no judgment to write", "give at least one", str(path))
    columns, labels = preferences.columns(), preferences.scale.labels
    for column, nothing in (("query", None), ("weight", 1), ("judge", None)):
        if set(columns[column].tolist()) == {nothing}:
            del columns[column]
    if suffix in _TEXT:
        write_text_blocks(path, _TEXT[suffix](columns, labels))
        return

    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    if any(isinstance(label, str) for label in labels):  # names, perhaps with numbers
        labels = tuple(map(str, labels))
    arrays = {
        name: _arrow_lists(column, [*labels, None]) if name in "ab" else pa.array(column)
        for name, column in columns.items()
    }
    write = pq.write_table if suffix == ".parquet" else feather.write_feather
    with atomic_write(path) as temporary:
        write(pa.table(arrays), temporary)


def check_judgment_format(path: PathLike) -> str:
    """Return the suffix of a file's name that says how judgments are written."""
    rest, compression = split_compression(str(path))
    return checked_suffix(rest, [*_TEXT] if compression else [*_TEXT, ".parquet", ".arrow"])


def _arrow_lists(lists: Grades, labels: Sequence[Any]) -> Any:
    """Return lists as an Arrow array; the last label is that of an empty rank."""
    import pyarrow as pa

    K = lists.shape[1]
    lengths = K - (lists[:, ::-1] != NO_DOCUMENT).argmax(axis=1)
    flat = lists[np.arange(K) < lengths[:, None]].astype(np.int16) % len(labels)
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(labels).take(pa.array(flat)))


def _blocks(columns: Columns, labels: Sequence[Label]) -> Iterator[dict[str, Any]]:
    """Iterate over blocks of rows, with lists as the text of JSON, ``["good", null]``."""
    import pyarrow.compute as pc

    entries = [*map(_dumps, labels), "null"]
    for row in range(0, len(columns["a"]), _ROWS):
        block = {name: column[row : row + _ROWS] for name, column in columns.items()}
        for name in "ab":
            lists = pc.binary_join(_arrow_lists(block[name], entries), ", ")
            block[name] = pc.binary_join_element_wise("[", lists, "]", "")
        yield {name: column.tolist() for name, column in block.items()}


def _json(
    columns: Columns,
    labels: Sequence[Label],
    start: str = "",
    between: str = "\n",
    end: str = "\n",
) -> Iterator[str]:
    form = "{{{}}}".format(", ".join(f'"{name}": %s' for name in columns))
    for block in _blocks(columns, labels):
        for name in block.keys() - {"a", "b", "weight"}:
            block[name] = map(_dumps, block[name])
        yield start + between.join(map(form.__mod__, zip(*block.values(), strict=True)))
        start = between
    yield end


def _csv(columns: Columns, labels: Sequence[Label], delimiter: str = ",") -> Iterator[str]:
    yield delimiter.join(columns) + "\n"
    for block in _blocks(columns, labels):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerows(zip(*block.values(), strict=True))
        yield text.getvalue()


_TEXT: dict[str, Callable[[Columns, Sequence[Label]], Iterator[str]]] = {
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": partial(_json, start="[", between=",\n", end="]\n"),
    ".csv": _csv,
    ".tsv": partial(_csv, delimiter="\t"),
}
