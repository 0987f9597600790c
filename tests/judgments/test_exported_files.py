"""Files as spreadsheets, pandas, warehouses and judging tools export them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dcglearn import IgnoredInput, InputError, Preferences, read_preferences

Command = Callable[..., subprocess.CompletedProcess[str]]

ROWS = [
    ("new york", [2, 0, 1], [1, 1, 0], "a", 1.0),
    ("caf\xe9", [0, 2, 0], [1, 2, 0], "b", 2.0),
    ("7", [1, 1, 1], [2, 0, 0], "tie", 1.0),
]
FRAME = pd.DataFrame(ROWS, columns=["query", "a", "b", "answer", "weight"])
ANSWERS = {"a": 0, "b": 1, "tie": 2}


def text(
    rows: list[list[Any]], delimiter: str = ",", end: str = "\r\n", quoting: Any = csv.QUOTE_MINIMAL
) -> str:
    held = io.StringIO()
    csv.writer(held, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return held.getvalue()


def sheet(write_list: Callable[[list[int]], str] = lambda x: " ".join(map(str, x))) -> list[Any]:
    rows = [[q, write_list(a), write_list(b), s, int(w)] for q, a, b, s, w in ROWS]
    return [list(FRAME.columns), *rows]


def frame_of(**changes: Any) -> pd.DataFrame:
    return FRAME.assign(**changes)


def sink(write: Callable[[io.BytesIO], object]) -> bytes:
    held = io.BytesIO()
    write(held)
    return held.getvalue()


def ranks(style: str) -> pd.DataFrame:
    columns: dict[str, Any] = {"query": FRAME["query"], "answer": FRAME.answer}
    for side in "ab":
        for rank in range(3):
            columns[style.format(side=side, SIDE=side.upper(), rank=rank + 1)] = [
                row[rank] for row in FRAME[side]
            ]
    return pd.DataFrame(columns).assign(weight=FRAME.weight)


def postgres(labels: list[int]) -> str:
    return "{" + ",".join(map(str, labels)) + "}"


def warehouse_lines(**changes: Callable[[Any], Any]) -> bytes:
    records = json.loads(FRAME.to_json(orient="records"))
    for record in records:
        for name, change in changes.items():
            record[name] = change(record[name])
    return "".join(json.dumps(record) + "\n" for record in records).encode()


EXPORTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "Excel, CSV UTF-8": ("x.csv", lambda: text(sheet()).encode("utf-8-sig")),
    "Excel in Europe, decimal commas": (
        "x.csv",
        lambda: text(sheet(), ";").replace(";1\r", ";1,0\r").replace(";2\r", ";2,00\r").encode(),
    ),
    "Excel in Europe, CSV": ("x.csv", lambda: text(sheet(), ";").encode("cp1252")),
    "Excel, Unicode text": ("x.txt", lambda: text(sheet(), "\t").encode("utf-16")),
    "Excel, with sep=;": ("x.csv", lambda: ("sep=;\r\n" + text(sheet(), ";")).encode("cp1252")),
    "Google Sheets, CSV": ("x.csv", lambda: text(sheet()).strip().encode()),
    "Google Sheets, TSV": ("x.tsv", lambda: text(sheet(), "\t").strip().encode()),
    "LibreOffice, texts quoted": (
        "x.csv",
        lambda: text(sheet(), quoting=csv.QUOTE_NONNUMERIC).encode() + b"\r\n",
    ),
    "pandas, to_csv of lists": ("x.csv", lambda: FRAME.to_csv(index=False).encode()),
    "pandas, to_csv of arrays": (
        "x.csv",
        lambda: (
            frame_of(a=FRAME.a.map(np.array), b=FRAME.b.map(np.array)).to_csv(index=False).encode()
        ),
    ),
    "pandas, to_csv with an index": ("x.csv", lambda: FRAME.to_csv().encode()),
    "pandas, to_json of records": ("x.json", lambda: FRAME.to_json(orient="records").encode()),
    "pandas, to_json of lines": (
        "x.json",
        lambda: FRAME.to_json(orient="records", lines=True).encode(),
    ),
    "pandas, to_parquet": ("x.parquet", lambda: sink(FRAME.to_parquet)),
    "pandas, to_parquet with an index": (
        "x.parquet",
        lambda: sink(FRAME.set_index(np.array([5, 6, 9])).to_parquet),
    ),
    "pandas, to_feather": ("x.feather", lambda: sink(FRAME.to_feather)),
    "pandas, names as categories": (
        "x.parquet",
        lambda: sink(frame_of(answer=FRAME.answer.astype("category")).to_parquet),
    ),
    "PyArrow, large lists": (
        "x.parquet",
        lambda: sink(
            lambda held: pq.write_table(
                pa.table(FRAME).set_column(
                    1, "a", pa.array(FRAME.a.tolist(), pa.large_list(pa.int8()))
                ),
                held,
            )
        ),
    ),
    "DuckDB, CSV": ("x.csv", lambda: text(sheet(str), end="\n").encode()),
    "DuckDB, JSON": ("x.json", lambda: warehouse_lines()),
    "BigQuery, JSON": ("x.json", lambda: warehouse_lines(a=lambda x: [*map(str, x)])),
    "BigQuery, arrays as texts": (
        "000000000000.json",
        lambda: warehouse_lines(a=json.dumps, b=json.dumps),
    ),
    "BigQuery, CSV": ("x.csv", lambda: text(sheet(json.dumps), end="\n").encode()),
    "BigQuery, whole numbers as texts": (
        "x.json",
        lambda: warehouse_lines(weight=lambda weight: str(int(weight))),
    ),
    "Athena, no suffix": ("20240101_00001_abcde", lambda: warehouse_lines()),
    "PostgreSQL, CSV": ("x.csv", lambda: text(sheet(postgres), end="\n").encode()),
    "PostgreSQL, tabs": ("x.tsv", lambda: text(sheet(postgres), "\t", end="\n").encode()),
    "ClickHouse, TSV": (
        "x.tsv",
        lambda: text(sheet(lambda x: str(x).replace(" ", "")), "\t", end="\n").encode(),
    ),
    "a tool, a1": ("x.csv", lambda: ranks("{side}{rank}").to_csv(index=False).encode()),
    "a tool, a_1": ("x.csv", lambda: ranks("{side}_{rank}").to_csv(index=False, sep=";").encode()),
    "a tool, a.1 in Parquet": ("x.parquet", lambda: sink(ranks("{side}.{rank}").to_parquet)),
    "a tool, List A 1": (
        "x.csv",
        lambda: ranks("List {SIDE} {rank}").to_csv(index=False).encode(),
    ),
    "a tool, left and right": (
        "x.csv",
        lambda: (
            frame_of(answer=FRAME.answer.map({"a": "left", "b": "right", "tie": "same"}))
            .set_axis(["Query ID", "Left", "Right", "Verdict", "Weight"], axis=1)
            .to_csv(index=False)
            .encode()
        ),
    ),
    "a tool, 1 and -1": (
        "x.jsonl",
        lambda: warehouse_lines(answer=lambda x: {"a": 1, "b": -1, "tie": 0}[x]),
    ),
}


SHEET = text(sheet())
GOES_THROUGH = {
    "empty rows below": SHEET + ",,,,\r\n,,,,\r\n",
    "empty rows above": "\r\n,,,,\r\n" + SHEET,
    "empty columns": SHEET.replace("\r\n", ",,\r\n"),
    "a title": "My study,,,,\r\n" + SHEET,
    "a title, trimmed": "My study\r\n\r\n" + SHEET,
    "a title between semicolons": "Meine Studie;;;;\r\n" + text(sheet(), ";"),
    "a title without semicolons": "Meine Studie\r\n2026\r\n"
    + text(sheet(lambda x: ",".join(map(str, x))), ";"),
    "a title in quotes": '"Ours,\r\nand yours",,,,\r\n' + SHEET,
    "blanks after commas": SHEET.replace(",", ", "),
}
REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "a spreadsheet": ("x.xlsx", b"PK\x03\x04", "x.xlsx: is a spreadsheet; save it as CSV"),
    "a spreadsheet by another name": ("x.csv", b"PK\x03\x04", "zip archive; save it as CSV"),
    "decimals or thousands": (
        "x.csv",
        text(sheet(), ";").replace(";2\r", ";1,500\r"),
        "x.csv, line 3: the weight is '1,500'; write 1.500 or 1500",
    ),
    "no header": (
        "x.csv",
        FRAME.to_csv(index=False, header=False),
        "are missing; every judgment needs a, b, answer; the first line must name the columns",
    ),
    "old Macs": ("x.csv", SHEET.replace("\r\n", "\r"), r"save it with line ends \n or \r\n"),
    "lists with commas, not quoted": (
        "x.csv",
        SHEET.replace("2 0 1", "2,0,1"),
        "x.csv, line 2: 7 fields under 5 column names; give every row the same fields, and quote",
    ),
    "tabs by name, commas by content": ("x.tsv", SHEET, "name it .csv"),
    "encodings of two exports": (
        "x.csv",
        SHEET.encode("cp1252") + "caf\xe9,1,0,a,1\r\n".encode(),
        "x.csv, line 5: mixed encodings: this line is UTF-8, and line 3 is not; save the whole",
    ),
    "pandas, to_json of values": (
        "x.json",
        FRAME.to_json(orient="values"),
        "x.json, record 1: is not a JSON object",
    ),
    "two objects on a line": ("x.jsonl", '{"a": [1]}{"a": [0]}', "one JSON object per line"),
    "an unknown answer": ("x.csv", SHEET.replace("tie", "dunno"), "line 4: the answer is 'dunno'"),
    "two answers": (
        "x.csv",
        SHEET.replace("answer", "verdict").replace("weight", "winner"),
        "x.csv: the columns 'verdict' and 'winner' could both be the answer; say which one is: "
        "`columns='answer=verdict'`",
    ),
    "grades that are numbers and names": (
        "x.csv",
        SHEET.replace("2 0 1", "Good Bad Good"),
        ") and names (Good, Bad); write all of them one way",
    ),
}


@pytest.mark.parametrize("name", GOES_THROUGH)
def test_what_spreadsheets_leave_around_a_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(GOES_THROUGH[name], newline="")
    found = read_preferences(path, ignored=IgnoredInput(), note=lambda _: None)
    assert found.lists.tolist() == Preferences.from_frame(FRAME).lists.tolist()
    assert found.queries.tolist() == [row[0] for row in ROWS]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_names_the_place_and_what_to_do(tmp_path: Path, name: str) -> None:
    file, held, message = REFUSED[name]
    path = tmp_path / file
    path.write_bytes(held if isinstance(held, bytes) else held.encode())
    with pytest.raises(InputError) as refused:
        read_preferences(path, ignored=IgnoredInput(), note=lambda _: None)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_go_through(tmp_path: Path, name: str) -> None:
    file, make = EXPORTS[name]
    path = tmp_path / file
    path.write_bytes(make())
    found = read_preferences(path, ignored=IgnoredInput(), note=lambda _: None)
    expected = Preferences.from_frame(FRAME)
    assert found.scale == expected.scale
    assert found.lists.tolist() == expected.lists.tolist()
    assert found.answers.tolist() == [ANSWERS[row[3]] for row in ROWS]
    assert found.weights.tolist() == [row[4] for row in ROWS]
    assert found.queries.tolist() == [row[0] for row in ROWS]


def test_titles_are_said_and_lines_counted_below_them(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("Meine Studie;;;;\n\n2026;;;;\n" + text(sheet(), ";", "\n"), encoding="utf-16")
    notes: list[str] = []
    read_preferences(path, note=notes.append)
    assert notes == [
        "the text is UTF-16",
        "lines 1 to 3 are above the names of the columns and left out: 'Meine Studie 2026'",
        "columns are separated by semicolons",
    ]
    path.write_text(path.read_text(encoding="utf-16").replace("tie", "dunno"), encoding="utf-16")
    with pytest.raises(InputError, match="line 7: the answer is 'dunno'"):
        read_preferences(path, note=notes.append)
