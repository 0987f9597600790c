"""The same judgments in every format, however blocks end, and the place of a fault in each."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, Preferences, read_preferences
from dcglearn.base.tables import delimited, json_records, sources
from dcglearn.base.tables.text import whole_lines
from helpers.notes import noted
from helpers.slow_reader import ANSWERS, rows_of, trimmed

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

Records = list[dict[str, Any]]

NUMBERS, NAMES = [2, 1, 0.5, 0], ["very good", "good", "bad"]
IDS = ["q1", "a b", "caf\xe9", "a,b", 'the "best"', "x;y", "a|b", "line\nend", "007", "1e3", "7.0"]
IDS += ["NULL", "nan", "None", "-", " x ", "\u2028", "true", "2024-01-01", "2024-01-02T10:00:00Z"]
COLUMNS = ["query", "a", "b", "answer", "weight", "judge"]


def in_text(labels: list[Any]) -> str:
    if any(isinstance(one, str) for one in labels):
        return json.dumps(labels)
    return " ".join("-" if one is None else str(one) for one in labels)


def cells(record: dict[str, Any]) -> list[Any]:
    """The cells of a table that holds only text and numbers."""
    values = [record.get(name) for name in COLUMNS]
    return [in_text(one) if isinstance(one, list) else one for one in values]


def delimited_text(records: Records, delimiter: str) -> str:
    held = io.StringIO()
    csv.writer(held, delimiter=delimiter, lineterminator="\n").writerows(
        [COLUMNS, *map(cells, records)]
    )
    return held.getvalue()


def frame(records: Records) -> pd.DataFrame:
    found = pd.DataFrame({name: [one.get(name) for one in records] for name in COLUMNS})
    for name in ("query", "judge"):
        ids = (one.get(name) for one in records)
        found[name] = pd.Series([None if x is None else str(x) for x in ids], dtype=object)
    for name in "ab":
        names = any(isinstance(x, str) for labels in found[name] for x in labels)
        found[name] = [
            labels if names else [None if x is None else float(x) for x in labels]
            for labels in found[name]
        ]
    return found.astype({"weight": float})


def sheet(records: Records, path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [COLUMNS, *map(cells, records)]:
        book.active.append(row)
    book.save(path)


def lines(records: Records) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


WRITERS: dict[str, Callable[[Records, Path], object]] = {
    "x.jsonl": lambda records, path: path.write_text(lines(records)),
    "x.json": lambda records, path: path.write_text(json.dumps(records)),
    "x.csv": lambda records, path: path.write_text(delimited_text(records, ",")),
    "utf16.csv": lambda records, path: path.write_text(delimited_text(records, "\t"), "utf-16"),
    "x.csv.gz": lambda records, path: path.write_bytes(
        gzip.compress(delimited_text(records, ",").encode())
    ),
    "x.jsonl.gz": lambda records, path: path.write_bytes(gzip.compress(lines(records).encode())),
    "x.parquet": lambda records, path: frame(records).to_parquet(path),
    "x.feather": lambda records, path: frame(records).to_feather(path),
    "x.xlsx": sheet,
}


@st.composite
def judged(draw: st.DrawFn) -> Records:
    labels = st.sampled_from(draw(st.sampled_from([NUMBERS, NAMES])))
    lists = st.lists(labels | st.none(), min_size=1, max_size=4).filter(
        lambda one: any(x is not None for x in one)
    )
    optional = {
        "query": st.sampled_from(IDS) | st.integers(0, 99),
        "weight": st.sampled_from([0, 1, 2.5, 0.001, 10**12]),
        "judge": st.sampled_from(IDS),
    }
    record = st.fixed_dictionaries(
        {"a": lists, "b": lists, "answer": st.sampled_from(ANSWERS)}, optional=optional
    )
    return draw(st.lists(record, min_size=1, max_size=12))


def expected_rows(records: Records) -> list[Any]:
    def text(value: Any) -> str | None:
        return None if value is None else str(value)

    return [
        [
            text(one.get("query")),
            *(trimmed(one[side]) for side in "ab"),
            one["answer"],
            float(one.get("weight", 1)),
            text(one.get("judge")),
        ]
        for one in records
    ]


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    """Read by blocks of so many bytes of JSON lines, rows of tables, and some more of CSV."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "whole_lines", partial(whole_lines, size=size))
        patch.setattr(json_records, "ROWS", size)
        patch.setattr(sources, "ROWS", size)
        patch.setattr(delimited, "BLOCK", 500 + size)
        yield


def read(path: Any, **options: Any) -> tuple[Preferences, list[str]]:
    with noted() as notes:
        found = read_preferences(path, **options)
    return found, notes


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=15)
@given(records=judged(), size=st.sampled_from([1, 2, 7, 10_000]))
def test_every_format_holds_what_was_written(name: str, records: Records, size: int) -> None:
    scale = NAMES if isinstance(next(x for x in records[0]["a"] if x is not None), str) else NUMBERS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        WRITERS[name](records, path)
        with blocks_of(size):
            found = read_preferences(path, scale, unjudged="nothing")
    assert rows_of(found) == expected_rows(records)


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
    table = pd.DataFrame(rows)

    def write(part: pd.DataFrame, name: str) -> Path:
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".jsonl":
            part.to_json(path, orient="records", lines=True)
        elif suffix == ".xlsx":
            part.to_excel(path, index=False)
        else:
            (part.to_parquet if suffix == ".parquet" else part.to_csv)(path, index=False)
        return path

    whole, notes = read(table, **options)
    path = write(table, "whole")
    for size in (1, 3, 10_000):
        with blocks_of(size):
            found, said = read(path, **options)
            assert found == whole, size
            assert said == notes
    parts = [write(table[:6], "first"), write(table[6:], "second")]
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
    text, json_lines, places = title + ",".join(COLUMNS) + "\n", "", {}
    for row, record in enumerate(records):
        held = io.StringIO()
        csv.writer(held, lineterminator="\n").writerow(cells(record))
        text += "\n,,,,,\n" * (row in blank) + held.getvalue()
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
                WRITERS[path.name](records, path)
            first = Path(folder, f"first{suffix}")
            WRITERS[f"x{suffix}"]([good], first)
            with pytest.raises(InputError) as refused:
                read([first, path] if second else path, scale=[2, 1, 0])
            assert refused.value.place.startswith(f"{path}, {place}"), refused.value
            assert refused.value.place[len(f"{path}, {place}") :][:1] in ("", ",")
