"""JSON objects that hold a whole table: by columns, by rows, split, or next to other facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dcglearn import IgnoredInput, InputError, Preferences, read_preferences

FRAME = pd.DataFrame(
    {
        "query": ["new york", "caf\xe9", "7"],
        "a": [[2, 0, 1], [0, 2, 0], [1, 1]],
        "b": [[1, 1, 0], [1, 2, 0], [2]],
        "answer": ["a", "b", "tie"],
        "weight": [1.0, 0.5, 2.0],
    }
)
ORIENTS = ["columns", "index", "split", "records", "table"]
RECORDS = FRAME.to_dict("records")
TOLD: dict[str, Any] = {
    "a list per column": FRAME.to_dict("list"),
    "tight": FRAME.to_dict("tight"),
    "with facts": {"version": 1, "exported": "2026-01-01", "judgments": RECORDS},
    "with facts below": {"data": RECORDS, "meta": {"tool": "x"}},
    "one record": RECORDS[0],
}


def read(path: Path) -> Preferences:
    return read_preferences(path, note=lambda _: None)


@pytest.mark.parametrize("index", [None, [5, 3, 9]])
@pytest.mark.parametrize("orient", ORIENTS)
def test_what_pandas_writes(tmp_path: Path, orient: Any, index: list[int] | None) -> None:
    frame = FRAME if index is None else FRAME.set_index(np.array(index))
    path = tmp_path / "x.json"
    for indent in (0, 2):
        frame.to_json(path, orient=orient, indent=indent)
        assert read(path) == Preferences.from_frame(FRAME)
    frame.to_json(tmp_path / "x.json.gz", orient=orient)
    assert read(tmp_path / "x.json.gz") == Preferences.from_frame(FRAME)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", TOLD)
def test_what_other_programs_write(tmp_path: Path, name: str, indent: int | None) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(TOLD[name], indent=indent))
    rows = FRAME[:1] if name == "one record" else FRAME
    assert read(path) == Preferences.from_frame(rows)


def test_a_table_larger_than_a_block(tmp_path: Path) -> None:
    many = pd.concat([FRAME] * 10_000, ignore_index=True)
    many.to_json(tmp_path / "x.json")
    assert (tmp_path / "x.json").stat().st_size > 2**20
    assert read(tmp_path / "x.json") == Preferences.from_frame(many)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (FRAME.set_axis(["x", "y", "z"]).to_json(), "which may be columns or rows; write one obj"),
        (FRAME.to_json(orient="values"), 'write {"field": value, ...}, as pandas does by to_json('),
        (
            '{"a": [[1]], "b": [[0], [0]], "answer": ["a"]}',
            "lists that differ in length; write one",
        ),
        ('{"a": {"0": [1]}, "b": {"1": [1]}}', "columns that differ in length; write one object"),
        (
            '{"columns": ["a", "b"], "data": [[[1], [0], "a"]]}',
            "rows do not fit its columns; write",
        ),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path: Path, document: str, message: str) -> None:
    (tmp_path / "x.json").write_text(document)
    with pytest.raises(InputError) as refused:
        read(tmp_path / "x.json")
    assert message in str(refused.value)
    assert str(tmp_path / "x.json") in str(refused.value)


def test_faults_are_in_the_record(tmp_path: Path) -> None:
    FRAME.assign(answer=["a", "b", "dunno"]).to_json(tmp_path / "x.json")
    with pytest.raises(InputError, match="record 3: the answer is 'dunno'"):
        read(tmp_path / "x.json")


def test_lines_stay_lines(tmp_path: Path) -> None:
    line = '{"a": [1], "b": [0], "answer": "a", "documents": [{"id": 1}]}'
    (tmp_path / "x.jsonl").write_text(line)
    assert len(read(tmp_path / "x.jsonl")) == 1
    (tmp_path / "x.jsonl").write_text(f"\n{line}\n\n{line}\n")
    assert len(read(tmp_path / "x.jsonl")) == 2
    (tmp_path / "x.jsonl").write_text(f"{line},\n{line}")
    with pytest.raises(InputError, match="line 1: is not JSON"):
        read(tmp_path / "x.jsonl")


def test_repeated_keys_are_counted_once(tmp_path: Path) -> None:
    for text in (
        '{"a": [1], "a": [1], "b": [0], "answer": "a"}',
        '{"data": [{"a": [1], "a": [1], "b": [0], "answer": "a"}]}',
    ):
        (tmp_path / "x.json").write_text(text)
        ignored = IgnoredInput()
        assert len(read_preferences(tmp_path / "x.json", ignored=ignored)) == 1
        assert list(ignored.counts.values()) == [1]
        with pytest.raises(InputError, match='the key "a" appears twice'):
            read(tmp_path / "x.json")
