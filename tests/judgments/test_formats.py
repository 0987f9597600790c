"""The same judgments in every format, compression, encoding and layout are the same arrays."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dcglearn import Preferences, read_preferences
from helpers.written import COMPRESS, write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

Records = list[dict[str, Any]]

RECORDS: Records = [
    {"query": "caf\xe9, bar", "a": [2, 0, 1], "b": [1, 1, 0], "answer": "a", "weight": 1.0},
    {"query": 'the "best"', "a": [0, 2], "b": [1, 2, 0], "answer": "b", "weight": 2.5},
    {"query": "7", "a": [1, 1, 1], "b": [2], "answer": "tie", "weight": 0.5},
    {"query": "caf\xe9, bar", "a": [2, 2, 2], "b": [0], "answer": "good", "weight": 1.0},
] * 3


def json_lines(records: Records) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()


def delimited(
    records: Records,
    delimiter: str = ",",
    end: str = "\n",
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(records[0])
    for one in records:
        values = (one[name] for name in records[0])
        writer.writerow(" ".join(map(str, v)) if isinstance(v, list) else v for v in values)
    return text.getvalue()


def table(records: Records) -> pa.Table:
    return pa.Table.from_pylist(records)


def ipc(records: Records, new: Callable[..., Any]) -> bytes:
    sink = io.BytesIO()
    with new(sink, table(records).schema) as writer:
        writer.write_table(table(records), max_chunksize=5)
    return sink.getvalue()


def in_a_sink(write: Callable[[io.BytesIO], object]) -> bytes:
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def spread(records: Records, pattern: str = "{}{}") -> pd.DataFrame:
    """Judgments with one column per rank."""
    rows = []
    for one in records:
        row = {name: value for name, value in one.items() if not isinstance(value, list)}
        for side in "ab":
            for rank in range(3):
                held = one[side]
                row[pattern.format(side, rank + 1)] = held[rank] if rank < len(held) else None
        rows.append(row)
    return pd.DataFrame(rows)


FRAME = pd.DataFrame(RECORDS)
FILES: dict[str, Callable[[], bytes]] = {
    "x.jsonl": lambda: json_lines(RECORDS),
    "x.json": lambda: json.dumps(RECORDS).encode(),
    "indented.json": lambda: json.dumps(RECORDS, indent=2, ensure_ascii=False).encode(),
    "utf16.jsonl": lambda: json_lines(RECORDS).decode().encode("utf-16"),
    "x.csv": lambda: delimited(RECORDS).encode(),
    "semicolons.csv": lambda: delimited(RECORDS, ";", end="\r\n").encode("utf-8-sig"),
    "tabs.txt": lambda: delimited(RECORDS, "\t", end="\r\n").encode("utf-16"),
    "big-endian.csv": lambda: b"\xfe\xff" + delimited(RECORDS).encode("utf-16-be"),
    "x.parquet": lambda: in_a_sink(FRAME.to_parquet),
    "x.feather": lambda: in_a_sink(FRAME.to_feather),
    "x.arrow": lambda: ipc(RECORDS, pa.ipc.new_stream),
    "file.arrow": lambda: ipc(RECORDS, pa.ipc.new_file),
    "ranks.csv": lambda: spread(RECORDS).to_csv(index=False).encode(),
    "ranks..parquet": lambda: in_a_sink(spread(RECORDS, "{}.{}").to_parquet),
    "ranks[].json": lambda: spread(RECORDS, "{}[{}]").to_json(orient="records").encode(),
}


def contents(found: Preferences) -> list[Any]:
    labels = [[[found.scale.labels[g] for g in side if g >= 0] for side in p] for p in found.lists]
    rest = (found.answers, found.weights, found.queries, found.judges)
    return [found.lists.tolist(), labels, *(column.tolist() for column in rest)]


EXPECTED = contents(Preferences.from_frame(FRAME))


@pytest.mark.parametrize("name", FILES)
def test_every_format_in_every_compression(tmp_path: Path, name: str) -> None:
    for suffix, compress in COMPRESS.items():
        path = write(tmp_path / (name + suffix), compress(FILES[name]()))
        assert contents(read_preferences(path)) == EXPECTED, suffix
        with path.open("rb") as file:
            assert contents(read_preferences(file)) == EXPECTED, suffix


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "list", "tight"])
def test_documents_of_pandas(tmp_path: Path, orient: Any) -> None:
    path = tmp_path / "x.json"
    if orient in ("list", "tight"):
        path.write_text(json.dumps(FRAME.to_dict(orient)))
    else:
        FRAME.set_index(np.arange(len(FRAME))[::-1]).to_json(path, orient=orient, indent=2)
    assert contents(read_preferences(path)) == EXPECTED


def test_one_record_over_several_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", json.dumps(RECORDS[0], indent=1))
    assert contents(read_preferences(path))[0] == EXPECTED[0][:1]
