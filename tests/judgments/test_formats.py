"""The same judgments in every format, compression, encoding, layout and type of column."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

from dcglearn import InputError, Preferences, read_preferences
from helpers.notes import noted
from helpers.written import COMPRESS, write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

RECORDS: list[dict[str, Any]] = [
    {"query": "caf\xe9, bar", "a": [2, 0, 1], "b": [1, 1, 0], "answer": "a", "weight": 1.0},
    {"query": 'the "best"', "a": [0, 2], "b": [1, 2, 0], "answer": "b", "weight": 2.5},
    {"query": "7", "a": [1, 1, 1], "b": [2], "answer": "tie", "weight": 0.5},
    {"query": "caf\xe9, bar", "a": [2, 2, 2], "b": [0], "answer": "good", "weight": 1.0},
] * 3
FRAME = pd.DataFrame(RECORDS)
EXPECTED = Preferences.from_frame(FRAME)
IN_TEXT = FRAME.assign(**{side: FRAME[side].map(lambda v: " ".join(map(str, v))) for side in "ab"})


def delimited(delimiter: str = ",", end: str = "\r\n") -> str:
    return IN_TEXT.to_csv(index=False, sep=delimiter, lineterminator=end)


def ipc(new: Callable[..., Any]) -> bytes:
    sink, table = io.BytesIO(), pa.Table.from_pylist(RECORDS)
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    return sink.getvalue()


def spread(pattern: str) -> pd.DataFrame:
    """Judgments with one column per rank."""
    ranks = {
        pattern.format(side, rank + 1): FRAME[side].str[rank] for side in "ab" for rank in range(3)
    }
    return FRAME.drop(columns=["a", "b"]).assign(**ranks)


LINES = FRAME.to_json(orient="records", lines=True, force_ascii=False)
FILES: dict[str, bytes] = {
    "x.jsonl": LINES.encode(),
    "indented.json": json.dumps(RECORDS, indent=2, ensure_ascii=False).encode(),
    "utf16.jsonl": LINES.encode("utf-16"),
    "semicolons.csv": delimited(";").encode("utf-8-sig"),
    "tabs.txt": delimited("\t").encode("utf-16"),
    "big-endian.csv": b"\xfe\xff" + delimited(end="\n").encode("utf-16-be"),
    "x.parquet": FRAME.to_parquet(),
    "x.arrow": ipc(pa.ipc.new_stream),
    "file.arrow": ipc(pa.ipc.new_file),
    "ranks.csv": spread("{}{}").to_csv(index=False).encode(),
    "ranks..parquet": spread("{}.{}").to_parquet(),
    "ranks[].json": spread("{}[{}]").to_json(orient="records").encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_in_every_compression(tmp_path: Path, name: str) -> None:
    for suffix, compress in COMPRESS.items():
        path = write(tmp_path / (name + suffix), compress(FILES[name]))
        assert read_preferences(path) == EXPECTED, suffix
        with path.open("rb") as file:
            assert read_preferences(file) == EXPECTED, suffix


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "list", "tight"])
def test_documents_of_pandas(tmp_path: Path, orient: Any) -> None:
    path = tmp_path / "x.json"
    if orient in ("list", "tight"):
        path.write_text(json.dumps(FRAME.to_dict(orient)))
    else:
        FRAME.set_index(np.arange(len(FRAME))[::-1]).to_json(path, orient=orient, indent=2)
    assert read_preferences(path) == EXPECTED


def test_one_record_over_several_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", json.dumps(RECORDS[0], indent=1))
    assert read_preferences(path).lists.tolist() == EXPECTED.lists[:1].tolist()


ROWS: dict[str, Any] = {"a": [[2, 0], [1, None]], "b": [[1, 1], [0]], "answer": ["a", "tie"]}
UNUSED = {
    "far times": pa.array([2**62, -(2**62)], pa.timestamp("us")),
    "structs": pa.array([[{"x": [1]}], None]),
    "maps": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
    "durations": pa.array([2**62] * 2, pa.duration("s")),
    "nothing": pa.nulls(2),
    "bytes": pa.array([b"\xff", None]),
}


def write_columns(path: Path, columns: dict[str, Any]) -> Path:
    (pq.write_table if path.suffix == ".parquet" else pf.write_feather)(pa.table(columns), path)
    return path


@pytest.mark.parametrize("answers", [["a", "tie"], ["left", "same"]])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_columns_that_are_not_used_may_hold_anything(
    tmp_path: Path, suffix: str, answers: list[str]
) -> None:
    rows = {**ROWS, "answer": answers}
    plain = read_preferences(write_columns(tmp_path / f"plain{suffix}", rows))
    for name, column in UNUSED.items():
        path = write_columns(tmp_path / f"x{suffix}", {**rows, name: column})
        with noted() as notes:
            assert read_preferences(path) == plain, name
        assert any(repr(name) in note for note in notes)
        with pytest.raises(InputError, match=name):
            read_preferences(path, strict=True)


LISTS = {
    "small floats": pa.list_(pa.float32()),
    "half floats": pa.list_(pa.float16()),
    "large lists": pa.large_list(pa.int8()),
    "unsigned": pa.list_(pa.uint64()),
    "text": pa.list_(pa.string()),
    "large text": pa.large_list(pa.large_string()),
    "views": pa.list_view(pa.int64()),
}


@pytest.mark.parametrize("kind", LISTS)
def test_all_types_of_lists_are_read_alike(kind: str) -> None:
    plain = read_preferences(ROWS)
    lists = pa.array([[2, 0], [1, None]])
    if kind == "half floats":
        column = pa.array([np.array([2, 0], "f2"), [np.float16(1), None]], LISTS[kind])
    elif kind == "views":
        column = pa.array([[2, 0], [1, None]], LISTS[kind])
    else:
        column = lists.cast(LISTS[kind])
    table = pa.table({**ROWS, "a": column, "answer": pa.array(ROWS["answer"]).dictionary_encode()})
    assert read_preferences(table) == plain
    assert read_preferences(table.slice(0)) == plain
    assert read_preferences(pa.concat_tables([table, table]).slice(1, 2)).lists.tolist() == [
        plain.lists[1].tolist(),
        plain.lists[0].tolist(),
    ]
