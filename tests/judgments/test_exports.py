"""Files and frames of spreadsheets, warehouses, judging tools, forms, pandas, Arrow, polars."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dcglearn import InputError, Preferences, read_preferences
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.read import JudgmentTable
from helpers.notes import noted

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

COLUMNS = {
    "query": ["caf\xe9", "q", "7"],
    "a": [[2, 0, 1], [0, 2, 0], [1, 1, 1]],
    "b": [[1, 1, 0], [1, 2, 0], [2, 0, 0]],
    "answer": ["a", "b", "tie"],
}
EXPECTED = Preferences.from_frame(COLUMNS)
FRAME = pd.DataFrame(COLUMNS, [2, 1, 0])

SHEET = """query,a,b,answer
caf\xe9,2 0 1,1 1 0,a
q,0 2 0,1 2 0,b
7,1 1 1,2 0 0,tie
"""

ORIENTS: tuple[Any, ...] = ("columns", "index", "split", "records")
TEXTS = {
    "empty rows below": SHEET + ",,,\n,,,\n",
    "a title": "My study,,,\n\n" + SHEET,
    "a title in quotes": '"Ours,\nand yours",,,\n' + SHEET,
    "a title without semicolons": "Meine Studie\n2026\n" + SHEET.replace(",", ";"),
    "blanks after commas": SHEET.replace(",", ", "),
    "empty columns, carriage returns": SHEET.replace("\n", ",,\r\n"),
    "with sep=;": "sep=;\n" + SHEET.replace(",", ";"),
    "lists between bars": SHEET.replace(" ", "|"),
    "lists between slashes": SHEET.replace(" ", " / "),
    "pandas, arrays and an index": """,query,a,b,answer
0,caf\xe9,[2 0 1],[1 1 0],a
1,q,[0 2 0],[1 2 0],b
2,7,[1 1 1],[2 0 0],tie
""",
    "PostgreSQL": """query,a,b,answer
caf\xe9,"{2,0,1}","{1,1,0}",a
q,"{0,2,0}","{1,2,0}",b
7,"{1,1,1}","{2,0,0}",tie
""",
    "ClickHouse": """query\ta\tb\tanswer
caf\xe9\t[2,0,1]\t[1,1,0]\ta
q\t[0,2,0]\t[1,2,0]\tb
7\t[1,1,1]\t[2,0,0]\ttie
""",
    "BigQuery, arrays as texts": """
{"query": "caf\xe9", "a": "[2, 0, 1]", "b": "[1, 1, 0]", "answer": "a"}
{"query": "q", "a": "[0, 2, 0]", "b": "[1, 2, 0]", "answer": "b"}
{"query": "7", "a": "[1, 1, 1]", "b": "[2, 0, 0]", "answer": "tie"}
""",
    "a column per rank": """query,List A 1,List A 2,List A 3,List B 1,List B 2,List B 3,answer
caf\xe9,2,0,1,1,1,0,a
q,0,2,0,1,2,0,b
7,1,1,1,2,0,0,tie
""",
    "Excel, German": """Suchanfrage;Liste A;Liste B;Urteil;Gewicht
caf\xe9;2,0 0,0 1,0;1,0 1,0 0,0;links;1,0
q;0,0 2,0 0,0;1,0 2,0 0,0;rechts;1,0
7;1,0 1,0 1,0;2,0 0,0 0,0;gleich;1,00
""",
    "Mechanical Turk": """HITId,WorkerId,Input.query,Input.list_a,Input.list_b,Answer.preference
h,w,caf\xe9,2 0 1,1 1 0,A
h,w,q,0 2 0,1 2 0,B
h,w,7,1 1 1,2 0 0,Same
""",
    "Label Studio": """[{"query": "caf\xe9", "left": [2, 0, 1], "right": [1, 1, 0], "id": 1,
  "annotator": 2, "comparison": "left", "lead_time": 3.2},
 {"query": "q", "left": [0, 2, 0], "right": [1, 2, 0], "comparison": "right"},
 {"query": "7", "left": [1, 1, 1], "right": [2, 0, 0], "comparison": "same"}]
""",
    "Chatbot Arena": """
{"question_id": "caf\xe9", "grades_a": [2, 0, 1], "grades_b": [1, 1, 0], "winner": "model_a"}
{"question_id": "q", "grades_a": [0, 2, 0], "grades_b": [1, 2, 0], "winner": "model_b"}
{"question_id": "7", "grades_a": [1, 1, 1], "grades_b": [2, 0, 0], "winner": "tie"}
""",
    "Google Forms": """Timestamp,Query,Results A,Results B,Which result list is better?
1/2/2026,caf\xe9,"2, 0, 1","1, 1, 0",List A is much better
1/2/2026,q,"0, 2, 0","1, 2, 0",List B is slightly better
1/2/2026,7,"1, 1, 1","2, 0, 0",About the same
""",
    **{f"pandas, {one}": FRAME.to_json(orient=one, indent=2) for one in ORIENTS},
    "pandas, list": json.dumps(FRAME.to_dict("list")),
    "pandas, tight": json.dumps(FRAME.to_dict("tight")),
}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
@pytest.mark.parametrize("name", TEXTS)
def test_exports_are_read(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / "20240101_00001"
    path.write_text(TEXTS[name], encoding, newline="")
    found = read_preferences(path, encoding=encoding.removesuffix("-sig"))
    assert replace(found, judges=EXPECTED.judges) == EXPECTED


def test_titles_are_said_and_lines_counted_below_them(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    title = "Meine Studie;;;\n\n2026;;;\n"
    path.write_text(title + SHEET.replace(",", ";"), encoding="utf-16")
    with noted() as notes:
        read_preferences(path)
    assert any("Meine Studie 2026" in note for note in notes)
    path.write_text(path.read_text("utf-16").replace("tie", "dunno"), encoding="utf-16")
    with pytest.raises(InputError) as refused:
        read_preferences(path)
    assert refused.value.place == f"{path}, line 7"


def test_one_record_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(FRAME.to_dict("records")[0], indent=1))
    assert read_preferences(path).queries.tolist() == ["caf\xe9"]


UNUSED = {
    "far times": pa.array([2**62, -(2**62)], pa.timestamp("us")),
    "structs": pa.array([[{"x": [1]}], None]),
    "maps": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
    "durations": pa.array([2**62] * 2, pa.duration("s")),
    "nothing": pa.nulls(2),
    "bytes": pa.array([b"\xff", None]),
}
ROWS: dict[str, Any] = {"a": [[2, 0], [1, None]], "b": [[1, 1], [0]], "answer": ["a", "tie"]}


@pytest.mark.parametrize("name", UNUSED)
def test_columns_that_are_not_used_may_hold_anything(tmp_path: Path, name: str) -> None:
    pq.write_table(pa.table({**ROWS, name: UNUSED[name]}), tmp_path / "x.parquet")
    with noted() as notes:
        assert read_preferences(tmp_path / "x.parquet") == read_preferences(ROWS)
    assert any(repr(name) in note for note in notes)
    with pytest.raises(InputError, match=name):
        read_preferences(tmp_path / "x.parquet", strict=True)


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
    plain, lists = read_preferences(ROWS), pa.array([[2, 0], [1, None]])
    if kind == "half floats":
        column = pa.array([np.array([2, 0], "f2"), [np.float16(1), None]], LISTS[kind])
    elif kind == "views":
        column = pa.array([[2, 0], [1, None]], LISTS[kind])
    else:
        column = lists.cast(LISTS[kind])
    table = pa.table({**ROWS, "a": column, "answer": pa.array(ROWS["answer"]).dictionary_encode()})
    assert read_preferences(table) == plain
    part = pa.concat_tables([table, table]).slice(1, 2)
    assert read_preferences(part).lists.tolist() == plain.lists[::-1].tolist()


# polars and DuckDB: their files, frames and relations

JUDGED = pl.DataFrame(COLUMNS | {"weight": [1.0, 2.0, 1.0], "date": ["2026-01-01", "02", "02"]})
PLAIN = JUDGED.drop("date")
NAMES = pl.col("a", "b").cast(pl.List(pl.String))
QUERIES = COLUMNS["query"]
WEIGHTED = Preferences.from_frame(PLAIN.to_dict(as_series=False))

Write = Callable[[Path], object]


def by_duckdb(select: str = "SELECT * FROM judged", options: str = "") -> Write:
    def write(path: Path) -> None:
        with duckdb.connect() as connection:
            connection.register("judged", PLAIN.to_arrow())
            connection.execute(f"COPY ({select}) TO '{path}' {options and f'({options})'}")

    return write


KINDS = {
    "categories": PLAIN.cast({"answer": pl.Categorical, "query": pl.Enum(QUERIES)}),
    "lists of categories": PLAIN.with_columns(NAMES.cast(pl.List(pl.Categorical))),
    "arrays": PLAIN.with_columns(pl.col("a", "b").list.to_array(3)),
    "decimals": PLAIN.cast({"weight": pl.Decimal(10, 2), "a": pl.List(pl.Decimal(5, 1))}),
}
SELECT_MORE = """SELECT *, now() AS t, uuid() AS u, {'x': 1} AS s, map {'k': 2} AS m,
    INTERVAL 1 day AS i FROM judged"""
TYPED = "SELECT query, answer::ENUM('a', 'b', 'tie') AS answer, weight::DECIMAL(5, 1) AS weight"
FILES: dict[str, Write] = {
    "polars.ndjson": PLAIN.write_ndjson,
    "polars.json": PLAIN.write_json,
    "polars.parquet": PLAIN.write_parquet,
    "small numbers.parquet": lambda path: PLAIN.cast(
        {"a": pl.List(pl.Int8), "b": pl.List(pl.UInt8), "weight": pl.Float32}
    ).write_parquet(path),
    "old.arrow": lambda path: PLAIN.write_ipc(path, compat_level=pl.CompatLevel.oldest()),
    "stream.arrow": PLAIN.write_ipc_stream,
    **{f"{kind}.parquet": frame.write_parquet for kind, frame in KINDS.items()},
    "duckdb.csv": by_duckdb(),
    "duckdb.csv.gz": by_duckdb(options="COMPRESSION gzip"),
    "duckdb.json": by_duckdb(),
    "types.parquet": by_duckdb(f"{TYPED}, a::TINYINT[] AS a, b::FLOAT[3] AS b FROM judged"),
    "huge.parquet": by_duckdb("SELECT * REPLACE (weight::HUGEINT AS weight) FROM judged"),
    "other columns.parquet": by_duckdb(SELECT_MORE),
    "other columns.json": by_duckdb(SELECT_MORE),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_they_write(tmp_path: Path, name: str) -> None:
    FILES[name](tmp_path / name)
    assert read_preferences(tmp_path / name) == WEIGHTED


@pytest.mark.parametrize(
    ("written", "place"),
    [("parquet", "{}"), ("csv", "{}/*/*/*"), ("json", "{}/date=*[12]/**/*.{}")],
)
def test_partitions_of_duckdb(tmp_path: Path, written: str, place: str) -> None:
    folder = tmp_path / "parts"
    with duckdb.connect() as connection:
        connection.register("judged", JUDGED.to_arrow())
        options = f"FORMAT {written}, PARTITION_BY (date, query)"
        connection.execute(f"COPY judged TO '{folder}' ({options})")
    (folder / "_SUCCESS").touch()
    found = read_preferences(place.format(folder, written), strict=True)
    order = [found.queries.tolist().index(query) for query in QUERIES]
    assert found[order] == WEIGHTED
    dates = JudgmentTable(place.format(folder, written), ReadOptions(keep=["date"])).kept("date")
    assert [dates[row] for row in order] == JUDGED["date"].to_list()


def test_the_column_of_a_file_goes_before_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "query=folder"
    folder.mkdir()
    for number, record in enumerate(('"query": "own", ', '"query": null, ', "")):
        line = f'{{{record}"a": [1], "b": [0], "answer": "a"}}\n'
        (folder / f"{number}.jsonl").write_text(line)
    found = read_preferences(tmp_path)
    assert found.queries.tolist() == ["own", None, "folder"]
    missing = tmp_path / "query=folder" / "query=__HIVE_DEFAULT_PARTITION__"
    missing.mkdir()
    (folder / "2.jsonl").rename(missing / "2.jsonl")
    assert read_preferences(missing).queries.tolist() == [None]


def test_other_folders_are_refused_with_the_pattern_that_works(tmp_path: Path) -> None:
    inside = tmp_path / "2026" / "01"
    inside.mkdir(parents=True)
    FILES["duckdb.csv.gz"](inside / "day.1.csv.gz")
    with pytest.raises(InputError) as refused:
        read_preferences(tmp_path)
    pattern = refused.value.remedy.split("'")[1]
    assert read_preferences(pattern) == WEIGHTED


FRAMES: dict[str, Callable[[], Any]] = {
    "lazy frame": PLAIN.lazy,
    "relation": lambda: duckdb.from_arrow(PLAIN.to_arrow()),
    "table": PLAIN.to_arrow,
    "stream of batches": lambda: PLAIN.to_arrow().to_reader(),
    "pandas": lambda: PLAIN.to_arrow().to_pandas(),
    **{name: frame.clone for name, frame in KINDS.items()},
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_and_relations(name: str) -> None:
    assert Preferences.from_frame(FRAMES[name]()) == WEIGHTED
    assert read_preferences(FRAMES[name]()) == WEIGHTED
