"""Files of judgments are those that json, csv and Arrow write record by record, byte by byte."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, Preferences, Scale, read_preferences, write_preferences
from dcglearn.judgments import writing
from helpers.generated import preferences
from helpers.notes import noted

ANSWERS = ("a", "b", "tie", "good", "bad")


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


def delimited(records: list[dict[str, Any]], delimiter: str) -> str:
    """Return records as the csv module writes them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for record in records:
        sides = {side: json.dumps(record[side], ensure_ascii=False) for side in "ab"}
        writer.writerow(record | sides)
    return text.getvalue()


@settings(max_examples=40)
@given(data=preferences(11), rows=st.sampled_from([1, 2, 1000]))
def test_files_are_those_of_records(
    tmp_path_factory: pytest.TempPathFactory, data: Preferences, rows: int
) -> None:
    folder = tmp_path_factory.mktemp("p")
    records = as_records(data)
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    table = pa.Table.from_pylist(records, columns_of(records, data.scale))
    pq.write_table(table, folder / "of_records.parquet")
    expected = {
        "p.jsonl": "".join(line + "\n" for line in lines).encode(),
        "p.json": ("[" + ",\n".join(lines) + "]\n").encode(),
        "p.csv": delimited(records, ",").encode(),
        "p.tsv": delimited(records, "\t").encode(),
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
        with noted():
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
