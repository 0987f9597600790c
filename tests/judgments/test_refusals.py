"""What people have that cannot be read: where, what, and what to do.

More of it is in the golden transcripts."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dcglearn import InputError, read_preferences
from helpers.written import write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

GOOD = '{"query": "q1", "a": [2, 0, 1], "b": [1, 1, 0], "answer": "a"}\n'
RECORDS = [json.loads(GOOD), {**json.loads(GOOD), "answer": "b"}]
CSV = "query,a,b,answer,weight\nq1,2 0 1,1 1 0,a,1\nq2,0 2 0,1 2 0,b,2\nq3,1 1 1,2 0 0,tie,1\n"
ROWS: dict[str, Any] = {"a": [[2, 0], [1, 1]], "b": [[1, 1], [0, 2]], "answer": ["a", "tie"]}


class Case(NamedTuple):
    """A file, the place and a word of the problem in it, a word of the remedy, and options."""

    name: str
    content: str | bytes
    place: str
    problem: str
    remedy: str = ""
    options: Mapping[str, str] = MappingProxyType({})


def after_good(line: str, problem: str, place: str = ", line 3", remedy: str = "") -> Case:
    return Case("x.jsonl", f"{GOOD}\n{line}\n", place, problem, remedy)


def field(name: str, value: str) -> str:
    """A judgment with another value in one field."""
    fields = {"query": '"q"', "a": "[1]", "b": "[2]", "answer": '"a"'} | {name: value}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"


def csv_with(old: str, new: str, *about: str, **options: str) -> Case:
    changed = CSV.replace(old, new)
    assert changed != CSV
    return Case("x.csv", changed, *about, options=options)


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

CASES = {
    "an array": after_good("[1]", "not a JSON object"),
    "single quotes": after_good(str(RECORDS[0]), "is not JSON"),
    "a number and words": after_good(field("answer", "1"), "'1'"),
    "a truth value": after_good(field("a", "[true]"), "truth", ', line 3, "a", rank 1'),
    "not a number": after_good(field("a", "[NaN]"), "NaN"),
    "every list empty": Case(
        "x.jsonl", '{"a": [], "b": [null], "answer": "a"}', ', line 1, "a"', "no grade"
    ),
    "an infinite weight": after_good(field("weight", "Infinity"), "Infinity"),
    "a huge weight": after_good(field("weight", "1" + "0" * 400), "weight"),
    "a huge grade": after_good(
        field("a", "[1" + "0" * 400 + "]"), "digits", ', line 3, "a", rank 1'
    ),
    "beyond doubles": after_good(field("a", "[9007199254740993.0]"), "2^53"),
    "a list as id": after_good(field("query", "[1]"), '"query"'),
    "half a character": after_good(field("query", '"\\ud800"'), "not valid text"),
    "a key twice": after_good('{"a": [1], "b": [2], "a": [1], "answer": "a"}', '"a" appears twice'),
    "a name among numbers": after_good(field("a", '["good"]'), "names", ', line 3, "a", rank 1'),
    "a column twice": csv_with("weight", "answer", ", line 1", "'answer' appears twice"),
    "commas, not quoted": csv_with("0 2 0", "0,2,0", ", line 3", "7 fields under 5", "quote"),
    "a bracket": csv_with("0 2 0", "[0 2 0", ', line 3, "a"', "cannot be read"),
    "no blanks": Case(
        "x.csv", "a,b,answer\n012,110,a\n200,021,b\n", "", "012", "separate the grades"
    ),
    "thousands": Case(
        "x.csv", CSV.replace(",", ";").replace("b;2", "b;1,500"), ", line 3", "1,500", "point"
    ),
    "arms of an experiment": Case(
        "x.csv", "query_id,control,treatment,winner\n1,2 0,1 1,control\n", "", '"a" and "b"', "'c"
    ),
    "a column per choice": Case(
        "x.csv", "query,a,b,a_wins,b_wins\n1,2 0,1 1,1,0\n", "", '"answer"', "'a_wins', 'b_wins'"
    ),
    "cut UTF-16": Case("x.csv", CSV.encode("utf-16")[:-1], ", line 4", "UTF-16", "encoding"),
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
    "a cut array": Case("x.json", json.dumps(RECORDS)[:-9], ", line 1", "not JSON"),
    "values alone": Case("x.json", "[[1], [2]]", ", record 1", "not a JSON object"),
    "an empty array": Case("x.json", "[]", "", "no judgment"),
    "a number": Case("x.json", "3", "", "object or array"),
    "columns that differ in length": Case(
        "x.json", '{"a": [[1]], "b": [[0], [0]], "answer": ["a"]}', "", ""
    ),
    "rows that do not fit": Case(
        "x.json", '{"columns": ["a", "b"], "data": [[[1], [0], "a"]]}', "", "do not fit"
    ),
    "cut": Case("x.csv.gz", gzip.compress(CSV.encode())[:-9], "", "damaged", "again"),
    "an unknown column": Case(
        "x.jsonl", GOOD.replace("query", "jugde"), "", "'jugde'", "'judge'", {"strict": "yes"}
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_refusal_says_where_what_and_what_to_do(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    path = write(tmp_path / case.name, case.content)
    options: dict[str, Any] = dict(case.options)
    with pytest.raises(InputError) as refused:
        read_preferences(path, **options)
    error = refused.value
    if not case.options:
        assert error.place.startswith(str(path)), error
    assert error.place.removeprefix(str(path)).startswith(case.place), error
    assert not error.place.removeprefix(str(path) + case.place)[:1].isdigit(), error
    assert case.problem in error.problem, error
    assert case.remedy in error.remedy, error
