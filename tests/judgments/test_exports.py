"""Files as spreadsheets, pandas, warehouses, judging tools and forms export them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dcglearn import InputError, Preferences, read_preferences
from helpers.notes import noted

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

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


@pytest.mark.parametrize("name", GOES_THROUGH)
def test_what_spreadsheets_leave_around_a_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(GOES_THROUGH[name], newline="")
    found = read_preferences(path)
    assert found.lists.tolist() == Preferences.from_frame(FRAME).lists.tolist()
    assert found.queries.tolist() == [row[0] for row in ROWS]


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_go_through(tmp_path: Path, name: str) -> None:
    file, make = EXPORTS[name]
    path = tmp_path / file
    content = make()
    path.write_bytes(content)
    encoding = "cp1252" if b"caf\xe9" in content else "utf-8"
    found = read_preferences(path, encoding=encoding)
    expected = Preferences.from_frame(FRAME)
    assert found.scale == expected.scale
    assert found.lists.tolist() == expected.lists.tolist()
    assert found.answers.tolist() == [ANSWERS[row[3]] for row in ROWS]
    assert found.weights.tolist() == [row[4] for row in ROWS]
    assert found.queries.tolist() == [row[0] for row in ROWS]


def test_titles_are_said_and_lines_counted_below_them(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("Meine Studie;;;;\n\n2026;;;;\n" + text(sheet(), ";", "\n"), encoding="utf-16")
    with noted() as notes:
        read_preferences(path)
    assert notes == [
        "3 rows are above the names of the columns and left out: 'Meine Studie 2026'",
        "columns are separated by semicolons",
    ]
    path.write_text(path.read_text(encoding="utf-16").replace("tie", "dunno"), encoding="utf-16")
    with pytest.raises(InputError) as refused:
        read_preferences(path)
    assert refused.value.place == f"{path}, line 7"


TOLD = [("p", [2, 0, 1], [1, 1, 0], "a"), ("q", [0, 2, 0], [1, 2, 0], "b")]
TOLD += [("7", [1, 1, 1], [2, 0, 0], "tie")]
TOLD_AS = Preferences.from_frame(
    dict(zip(("query", "a", "b", "answer"), zip(*TOLD, strict=True), strict=True))
)


def table(
    names: str, values: Callable[[str, list[int], list[int], str], Sequence[object]], mark: str
) -> str:
    held = io.StringIO()
    writer = csv.writer(held, delimiter=mark)
    writer.writerow(names.split(mark))
    writer.writerows(values(*row) for row in TOLD)
    return held.getvalue()


def told_lines(record: Callable[[str, list[int], list[int], str], dict[str, Any]]) -> str:
    return "".join(json.dumps(record(*row)) + "\n" for row in TOLD)


def joined(grades: list[int], mark: str = " ") -> str:
    return mark.join(map(str, grades))


def in_words(a: str, b: str, tie: str) -> Callable[[str], str]:
    return {"a": a, "b": b, "tie": tie}.__getitem__


TAKEN: dict[str, tuple[str, str]] = {
    "Excel, German": (
        "x.csv",
        table(
            "Suchanfrage;Liste A;Liste B;Urteil;Gewicht",
            lambda q, a, b, s: [
                q,
                joined(a),
                joined(b),
                in_words("links", "rechts", "gleich")(s),
                "1,0",
            ],
            ";",
        ),
    ),
    "Excel, French": (
        "x.csv",
        table(
            "requ\xeate;gauche;droite;pr\xe9f\xe9rence",
            lambda q, a, b, s: [
                q,
                joined(a, ";"),
                joined(b, ";"),
                in_words("gauche", "droite", "\xe9gal")(s),
            ],
            ";",
        ),
    ),
    "Excel, German, a column per rank": (
        "x.csv",
        table(
            "query;a1;a2;a3;b1;b2;b3;answer",
            lambda q, a, b, s: [q, *(f"{grade},0" for grade in (*a, *b)), s],
            ";",
        ),
    ),
    "Excel, German, decimals in lists": (
        "x.csv",
        table(
            "query;a;b;answer",
            lambda q, a, b, s: [q, *(" ".join(f"{x},0" for x in side) for side in (a, b)), s],
            ";",
        ),
    ),
    "Mechanical Turk": (
        "x.csv",
        table(
            "HITId,WorkerId,Input.query,Input.list_a,Input.list_b,Answer.preference",
            lambda q, a, b, s: ["h", "w", q, joined(a), joined(b), in_words("A", "B", "Same")(s)],
            ",",
        ),
    ),
    "Toloka": (
        "x.tsv",
        table(
            "INPUT:query\tINPUT:left\tINPUT:right\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:worker_id",
            lambda q, a, b, s: [
                q,
                joined(a),
                joined(b),
                in_words("left", "right", "same")(s),
                "",
                "w",
            ],
            "\t",
        ),
    ),
    "Label Studio, JSON-MIN": (
        "x.json",
        json.dumps(
            [
                {
                    "query": q,
                    "left": a,
                    "right": b,
                    "id": 1,
                    "annotator": 2,
                    "comparison": in_words("left", "right", "same")(s),
                    "lead_time": 3.2,
                }
                for q, a, b, s in TOLD
            ]
        ),
    ),
    "Argilla": (
        "x.csv",
        table(
            "id,query,response_a,response_b,preference",
            lambda q, a, b, s: [
                1,
                q,
                joined(a),
                joined(b),
                in_words("response_a", "response_b", "tie")(s),
            ],
            ",",
        ),
    ),
    "Chatbot Arena": (
        "x.jsonl",
        told_lines(
            lambda q, a, b, s: {
                "question_id": q,
                "model_a": "x",
                "model_b": "y",
                "grades_a": a,
                "grades_b": b,
                "winner": in_words("model_a", "model_b", "tie")(s),
                "judge": "expert",
                "turn": 1,
            }
        ),
    ),
    "a language model": (
        "x.jsonl",
        told_lines(
            lambda q, a, b, s: {
                "prompt": q,
                "ranking_a": a,
                "ranking_b": b,
                "verdict": in_words("[[A]]", "[[B]]", "[[C]]")(s),
            }
        ),
    ),
    "Google Forms": (
        "x.csv",
        table(
            "Timestamp,Query,Results A,Results B,Which result list is better?",
            lambda q, a, b, s: [
                "1/2/2026",
                q,
                joined(a, ", "),
                joined(b, ", "),
                in_words("List A is much better", "List B is slightly better", "About the same")(s),
            ],
            ",",
        ),
    ),
    **{
        f"lists between {mark!r}": (
            "x.csv",
            table(
                "query,a,b,answer",
                lambda q, a, b, s, mark=mark: [q, joined(a, mark), joined(b, mark), s],
                ",",
            ),
        )
        for mark in ("|", ";", "/", " | ")
    },
}


@pytest.mark.parametrize("name", TAKEN)
def test_exports_of_tools_are_read(tmp_path: Path, name: str) -> None:
    file, held = TAKEN[name]
    (tmp_path / file).write_text(held, newline="")
    found = read_preferences(tmp_path / file)
    assert found.scale == TOLD_AS.scale
    assert found.lists.tolist() == TOLD_AS.lists.tolist()
    assert found.answers.tolist() == TOLD_AS.answers.tolist()
    assert found.queries.tolist() == TOLD_AS.queries.tolist()


def test_ties_of_two_levels(tmp_path: Path) -> None:
    answers = ["tie (bothbad)", "tie (both good)", "bothbad", "Neutral", "system B", "model_1"]
    (tmp_path / "x.csv").write_text(
        "a,b,winner\n" + "".join(f"2 0,1 1,{answer}\n" for answer in answers)
    )
    found = read_preferences(tmp_path / "x.csv")
    assert found.answers.tolist() == [4, 3, 4, 2, 1, 0]


def test_query_numbers_of_which_some_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query": [3, None], "a": [[1]] * 2, "b": [[0]] * 2, "answer": ["a", "b"]})
    for name, write in (("x.parquet", frame.to_parquet), ("x.feather", frame.to_feather)):
        write(tmp_path / name)
        assert read_preferences(tmp_path / name).queries.tolist() == ["3", None]
