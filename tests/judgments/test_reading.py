"""Files of judgments: what is written is read, however blocks end; the place of a fault in each.

They are those that json, csv and Arrow write record by record, byte by byte.
"""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, Preferences, Scale, read_preferences, write_preferences
from dcglearn.base.files import whole_lines
from dcglearn.base.tables import delimited, json_records, sources
from dcglearn.judgments import writing
from helpers.generated import preferences
from helpers.notes import noted
from helpers.slow_reader import ANSWERS

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

Records = list[dict[str, Any]]


def in_text(value: Any) -> Any:
    """A cell of a table that holds only text and numbers."""
    if not isinstance(value, list):
        return value
    return " ".join("-" if grade is None else str(grade) for grade in value)


def save(records: Records, path: Path) -> Path:
    """Write records in the format of the suffix, by pandas."""
    table = pd.DataFrame(records)
    if path.suffix in (".json", ".jsonl"):
        table.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".xlsx":
        table.map(in_text).to_excel(path, index=False)
    else:
        table.map(in_text).to_csv(path, index=False)
    return path


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    """Read by blocks of so many bytes of JSON lines, rows of tables, and some more of CSV."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "whole_lines", partial(whole_lines, size=size))
        patch.setattr(sources, "ROWS", size)
        patch.setattr(delimited, "BLOCK", 500 + size)
        yield


def read(path: Any, **options: Any) -> tuple[Preferences, list[str]]:
    with noted() as notes:
        found = read_preferences(path, **options)
    return found, notes


def as_records(data: Preferences) -> list[dict[str, Any]]:
    """Return the judgments as records, one by one."""
    records: list[dict[str, Any]] = []
    labels = (*data.scale.labels, None)
    for row in range(len(data)):
        record: dict[str, Any] = {}
        if any(query is not None for query in data.queries):
            record["query"] = data.queries[row]
        for side, name in enumerate("ab"):
            ranks = [labels[grade] for grade in data.lists[row, side]]
            while ranks[-1] is None:
                del ranks[-1]
            record[name] = ranks
        record["answer"] = ANSWERS[data.answers[row]]
        if (data.weights != 1).any():
            record["weight"] = float(data.weights[row])
        if any(judge is not None for judge in data.judges):
            record["judge"] = data.judges[row]
        records.append(record)
    return records


def columns_of(records: list[dict[str, Any]], scale: Scale) -> pa.Schema:
    """Return the types of the columns of records; lists have that of all grades of the scale."""
    found = pa.Table.from_pylist(records).schema
    for side in "ab":
        lists = pa.list_(pa.array(scale.labels).type)
        found = found.set(found.get_field_index(side), pa.field(side, lists))
    return found


def by_csv(records: list[dict[str, Any]], delimiter: str) -> str:
    """Return records as the csv module writes them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for record in records:
        sides = {side: json.dumps(record[side], ensure_ascii=False) for side in "ab"}
        writer.writerow(record | sides)
    return text.getvalue()


@settings(max_examples=40)
@given(
    data=preferences(11),
    rows=st.sampled_from([1, 2, 1000]),
    size=st.sampled_from([1, 2, 7, 10_000]),
)
def test_files_are_those_of_records_and_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: Preferences, rows: int, size: int
) -> None:
    folder = tmp_path_factory.mktemp("p")
    records = as_records(data)
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    table = pa.Table.from_pylist(records, columns_of(records, data.scale))
    pq.write_table(table, folder / "of_records.parquet")
    expected = {
        "p.jsonl": "".join(line + "\n" for line in lines).encode(),
        "p.json": ("[" + ",\n".join(lines) + "]\n").encode(),
        "p.csv": by_csv(records, ",").encode(),
        "p.tsv": by_csv(records, "\t").encode(),
        "p.parquet": (folder / "of_records.parquet").read_bytes(),
    }
    with mock.patch.object(writing, "_ROWS", rows):
        for name, content in expected.items():
            write_preferences(data, folder / name)
            assert (folder / name).read_bytes() == content
        write_preferences(data, folder / "p.arrow")
    with pa.ipc.open_file(folder / "p.arrow") as file:
        assert file.read_all().equals(table)
    for name in (*expected, "p.arrow"):
        with blocks_of(size):
            found = read_preferences(folder / name, data.scale, data.n_ranks, unjudged="nothing")
        assert found == data


def test_the_first_value_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    data = Preferences.of(np.zeros((4, 2, 2), int), ["a"] * 4, Scale((1, 0)))
    for judged, name, problem in (
        (data[:0], "p.jsonl", "no judgment"),
        (data, "p.parquet.gz", "ends in"),
        (data, "p.txt", "ends in"),
    ):
        path = tmp_path / name
        with pytest.raises(InputError, match=problem) as refused:
            write_preferences(judged, path)
        assert str(path.with_suffix("") if path.suffix == ".gz" else path) in str(refused.value)
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["p.jsonl.gz", "p.csv.zst"])
def test_text_is_compressed_as_its_name_says(tmp_path: Path, name: str) -> None:
    data = Preferences.of([[[0, 1], [1, 1]]] * 3, ["a"] * 3, Scale((1, 0)))
    write_preferences(data, tmp_path / name)
    assert (tmp_path / name).read_bytes()[:2] in (b"\x1f\x8b", b"\x28\xb5")
    assert read_preferences(tmp_path / name) == data


def system_rows() -> Records:
    """Judgments of lists named after systems that change places in the middle."""
    return [
        {
            "query": f"q{i}",
            "control": "2 0",
            "treatment": "1 1",
            "left_system": "control" if i < 6 else "treatment",
            "right_system": "treatment" if i < 6 else "control",
            "answer": ["left", "right", "same"][i % 3],
            "weight": 1 + i % 2,
        }
        for i in range(12)
    ]


def rater_rows() -> Records:
    answers = ["left", "right", None, "same"]
    return [
        {"query": f"q{i}", "a": "2 0", "b": "1 1", "ann": answers[i % 4], "bob": answers[i % 3]}
        | {"weight": 1 + i % 3, "swapped": ["no", "yes"][i % 2], "left": 1}
        for i in range(12)
    ]


def long_rows() -> Records:
    return [
        {"query": f"q{i}", "answer": "ab"[i % 2], "weight": 1 + i % 3, "list": side, "rank": rank}
        | {"grade": (i + rank) % 3 if side == "a" else 1, "segment": f"s{i % 2}"}
        for i in range(8)
        for side in "ba"
        for rank in (2, 1)
    ]


def rank_rows() -> Records:
    return [
        {"a1": i % 3, "a2": None if i % 2 else 1, "b1": 1, "b2": "-", "answer": "a"}
        for i in range(12)
    ]


SHAPES: dict[str, tuple[Records, dict[str, Any]]] = {
    "systems": (system_rows(), {"columns": "a=control,b=treatment"}),
    "raters": (rater_rows(), {"columns": "answer=ann+bob,ignore=left"}),
    "documents": (long_rows(), {"columns": "ignore=segment"}),
    "ranks": (rank_rows(), {}),
    "numbers": ([{"a": "2 0", "b": "1 1", "answer": i % 5 - 2} for i in range(9)], {}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".xlsx"])
def test_where_blocks_and_files_end_changes_nothing(
    tmp_path: Path, shape: str, suffix: str
) -> None:
    rows, options = SHAPES[shape]
    whole, notes = read(pd.DataFrame(rows), **options)
    path = save(rows, tmp_path / f"whole{suffix}")
    for size in (1, 3, 10_000):
        with blocks_of(size):
            found, said = read(path, **options)
            assert found == whole, size
            assert said == notes
    parts = [save(rows[:6], tmp_path / f"1{suffix}"), save(rows[6:], tmp_path / f"2{suffix}")]
    assert shape == "documents" or read(parts, **options)[0] == whole


FAULTS: dict[str, dict[str, Any]] = {
    "answer": {"answer": "neither"},
    "empty answer": {"answer": None},
    "weight": {"weight": -1},
    "grade": {"b": [1, 9]},
    "list": {"a": [None]},
}


@pytest.mark.parametrize("fault", FAULTS)
@settings(max_examples=10)
@given(
    fault_at=st.integers(0, 11),
    blank=st.sets(st.integers(0, 11)),
    long_ids=st.sets(st.integers(0, 11)),
    title=st.sampled_from(["", "My study\n", "My study\n\nof 2024\n", "sep=,\n"]),
    size=st.sampled_from([1, 3, 10_000]),
    second=st.booleans(),
)
def test_faults_are_placed(
    fault: str,
    fault_at: int,
    blank: set[int],
    long_ids: set[int],
    title: str,
    size: int,
    second: bool,
) -> None:
    """In CSV, JSON lines, JSON, Parquet and Excel; perhaps in the second of two files."""
    good = {"query": "q", "a": [2, 0], "b": [1, 1], "answer": "a", "weight": 2}
    records = [good | {"query": "q\n1" if i in long_ids else f"q{i}"} for i in range(12)]
    records[fault_at] |= FAULTS[fault]
    text, json_lines, places = title + ",".join(good) + "\n", "", {}
    for row, record in enumerate(records):
        held = io.StringIO()
        csv.writer(held, lineterminator="\n").writerow(map(in_text, record.values()))
        text += "\n,,,,\n" * (row in blank) + held.getvalue()
        json_lines += "\n \r\n" * (row in blank) + json.dumps(record) + "\n"
        if row == fault_at:
            places[".csv"] = f"line {text.count(chr(10))}"
            places[".jsonl"] = f"line {json_lines.count(chr(10))}"
    places |= {".json": f"record {fault_at + 1}", ".parquet": f"row {fault_at + 1}"}
    places[".xlsx"] = f"row {fault_at + 2}"
    with tempfile.TemporaryDirectory() as folder, blocks_of(size):
        for suffix, place in places.items():
            path = Path(folder, f"x{suffix}")
            if suffix in (".csv", ".jsonl"):
                path.write_text(text if suffix == ".csv" else json_lines)
            else:
                save(records, path)
            first = save([good], Path(folder, f"first{suffix}"))
            with pytest.raises(InputError) as refused:
                read([first, path] if second else path, scale=[2, 1, 0])
            assert refused.value.place.startswith(f"{path}, {place}"), refused.value
            assert refused.value.place[len(f"{path}, {place}") :][:1] in ("", ",")
