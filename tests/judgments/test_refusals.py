"""What people have that cannot be read: where, what, and what to do.

These are files that are not text; those that are, are in the golden transcripts.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dcglearn import InputError, read_preferences
from helpers.written import write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

CSV = "query,a,b,answer\nq1,2 0 1,1 1 0,a\nq2,0 2 0,1 2 0,b\n"
ROWS: dict[str, Any] = {"a": [[2, 0], [1, 1]], "b": [[1, 1], [0, 2]], "answer": ["a", "tie"]}


class Case(NamedTuple):
    """A file, the place and a word of the problem in it, and a word of the remedy."""

    name: str
    content: str | bytes
    place: str
    problem: str
    remedy: str = ""


def sink(write_to: Callable[[Any], object]) -> bytes:
    held = io.BytesIO()
    write_to(held)
    return held.getvalue()


def parquet(**columns: Any) -> bytes:
    return sink(lambda held: pq.write_table(pa.table({**ROWS, **columns}), held))


def sheet(*rows: list[Any]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return sink(book.save)


HEADER = ["query", "a", "b", "answer"]
LARGE = "1" + "0" * 400

CASES = {
    "a huge weight": Case(
        "x.jsonl",
        f'{{"a": [1], "b": [2], "answer": "a", "weight": {LARGE}}}',
        ", line 1",
        "weight",
    ),
    "a huge grade": Case(
        "x.jsonl",
        f'{{"a": [{LARGE}], "b": [2], "answer": "a"}}',
        ', line 1, "a", rank 1',
        "digits",
    ),
    "cut UTF-16": Case("x.csv", CSV.encode("utf-16")[:-1], ", line 3", "UTF-16", "encoding"),
    "numbers as lists": Case("x.parquet", parquet(a=[2, 1]), ", row 1", "not a list"),
    "times as weights": Case(
        "x.parquet", parquet(weight=pa.array([1, 2], pa.timestamp("us"))), ", row 1", "weight"
    ),
    "structs as ids": Case("x.parquet", parquet(query=[{"x": 1}] * 2), ", row 1", '"query"'),
    "bytes as ids": Case("x.parquet", parquet(query=[b"x", b"y"]), ", row 1", '"query"'),
    "no rows": Case(
        "x.parquet", sink(lambda held: pq.write_table(pa.table(ROWS)[:0], held)), "", "no judgment"
    ),
    "a row of a sheet": Case(
        "x.xlsx",
        sheet(["Study"], HEADER, ["q", "2 0", "1 1", "a"], [], ["q", "2", "1", "zz"]),
        ", row 5",
        "'zz'",
    ),
    "a number in a sheet": Case(
        "x.xlsx", sheet(HEADER, ["q", 2.1, "1 0", "a"]), ', row 2, "a"', "2.1", "blanks"
    ),
    "a date in a sheet": Case(
        "x.xlsx", sheet(HEADER, ["q", pd.Timestamp(2024, 1, 2), "1 0", "a"]), "", "2024-01-02"
    ),
    "no spreadsheet": Case("x.xlsx", b"PK\x03\x04...", "", "damaged"),
    "cut": Case("x.csv.gz", gzip.compress(CSV.encode())[:-9], "", "damaged", "again"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_refusal_says_where_what_and_what_to_do(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    path = write(tmp_path / case.name, case.content)
    with pytest.raises(InputError) as refused:
        read_preferences(path)
    error = refused.value
    assert error.place.startswith(f"{path}{case.place}"), error
    assert not error.place.removeprefix(f"{path}{case.place}")[:1].isdigit(), error
    assert case.problem in error.problem, error
    assert case.remedy in error.remedy, error
