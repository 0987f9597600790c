"""Qrels and runs as pandas, polars and others write their rows: JSON records, and Arrow."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from dcglearn import InputError, qrels_of, read_qrels, read_run

FRAME = pd.DataFrame(
    {"qid": ["new york", "7", "7"], "docno": ["d1", "caf\xe9", "d1"], "relevance": [2, 0, 1.5]}
)
OTHER = FRAME.assign(text="x", iteration=0)


def by_polars(path: Path) -> None:
    pl = pytest.importorskip("polars", reason="the extra dev is not installed")
    pl.from_pandas(OTHER).write_ipc(path)


def stream(path: Path) -> None:
    table = pa.Table.from_pandas(OTHER)
    with path.open("wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "lines": ("q.jsonl", lambda path: OTHER.to_json(path, orient="records", lines=True)),
    "compressed lines": (
        "q.ndjson.gz",
        lambda path: OTHER.to_json(path, orient="records", lines=True),
    ),
    "array": ("q.json", lambda path: OTHER.to_json(path, orient="records")),
    "columns": ("q.json", lambda path: OTHER.to_json(path)),
    "arrow of polars": ("q.arrow", by_polars),
    "stream": ("q.arrow", stream),
    "compressed arrow": (
        "q.arrow.gz",
        lambda path: (stream(path), path.write_bytes(gzip.compress(path.read_bytes()))),
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_rows_are_read(tmp_path: Path, name: str) -> None:
    file, write = WRITERS[name]
    write(tmp_path / file)
    expected, found = qrels_of(FRAME), read_qrels(tmp_path / file)
    assert found.queries == expected.queries
    assert found.query.tolist() == expected.query.tolist()
    assert found.documents.to_pylist() == FRAME.docno.tolist()
    assert found.number.tolist() == [2, 0, 1.5]


def test_runs_and_names_of_grades(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"qid": 1, "docid": 10, "score": 2.5}\n')
    run = read_run(tmp_path / "x.jsonl")
    assert (run.name, run.queries, run.number.tolist()) == ("x", ("1",), [2.5])
    (tmp_path / "q.jsonl").write_text('{"qid": "1", "url": "d", "label": "good"}\n')
    assert read_qrels(tmp_path / "q.jsonl").names == ("good",)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("q.jsonl", '\n{"qid": 1}\n', "no column 'document' among qid"),
        (
            "q.jsonl",
            '{"qid": 1, "doc": "d", "rel": 1}\n\n{"qid": 2, "rel": 1}',
            "line 3: an id or the grade is",
        ),
        (
            "q.jsonl",
            '{"qid": 1, "doc": "d", "rel": 1}\n{"qid": 2, "doc": "d", "rel": "good"}',
            "line 2: the grade 'good' is not a finite number",
        ),
        (
            "q.json",
            '[{"qid": 1, "doc": "d", "rel": 1}, {"qid": 1, "doc": "e", "rel": null}]',
            "record 2: an id or the grade is missing",
        ),
        ("q.json", "[]", "q.json: is empty"),
        ("q.arrow", "ARROW1\0\0" + "x" * 30, "q.arrow: is damaged"),
    ],
)
def test_faults_are_named(tmp_path: Path, file: str, text: str, message: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(InputError) as refused:
        read_qrels(tmp_path / file)
    assert message in str(refused.value)
    assert file in str(refused.value)
