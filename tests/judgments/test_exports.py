"""Files as spreadsheets, warehouses, judging tools, forms, pandas and Arrow export them."""

from __future__ import annotations

import json
from dataclasses import replace
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
