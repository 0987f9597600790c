"""Columns of Parquet and Arrow: their types, and those that are not used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

from dcglearn import InputError, read_preferences
from helpers.notes import noted

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

ROWS: dict[str, Any] = {"a": [[2, 0], [1, None]], "b": [[1, 1], [0]], "answer": ["a", "tie"]}
UNUSED = {
    "far times": pa.array([2**62, -(2**62)], pa.timestamp("us")),
    "structs": pa.array([[{"x": [1]}], None]),
    "maps": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
    "durations": pa.array([2**62] * 2, pa.duration("s")),
    "nothing": pa.nulls(2),
    "bytes": pa.array([b"\xff", None]),
}


def write(path: Path, columns: dict[str, Any]) -> Path:
    (pq.write_table if path.suffix == ".parquet" else pf.write_feather)(pa.table(columns), path)
    return path


@pytest.mark.parametrize("answers", [["a", "tie"], ["left", "same"]])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_columns_that_are_not_used_may_hold_anything(
    tmp_path: Path, suffix: str, answers: list[str]
) -> None:
    rows = {**ROWS, "answer": answers}
    plain = read_preferences(write(tmp_path / f"plain{suffix}", rows))
    for name, column in UNUSED.items():
        path = write(tmp_path / f"x{suffix}", {**rows, name: column})
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


def test_lists_of_fixed_size_with_gaps() -> None:
    column = pa.array([[2, 0], [None, 1], [0, None]], pa.list_(pa.int8(), 2))
    rows = {"a": column, "b": [[1, 1]] * 3, "answer": ["a"] * 3}
    found = read_preferences(pa.table(rows), unjudged="nothing")
    assert found.lists[:, 0].tolist() == [[0, 2], [-1, 1], [2, -1]]
