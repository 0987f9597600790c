"""Exports of other shapes: shuffled sides, a column per rater, a row per document, Excel."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, Preferences, read_preferences
from helpers.notes import noted

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")


def rows_of(text: str) -> list[dict[str, Any]]:
    """Rows of words; + is a good list, - a bad one, and . nothing."""
    meant = {"+": "2 1 0", "-": "0 1 0", ".": ""}
    names, *rows = (line.split() for line in text.strip().splitlines())
    return [{n: meant.get(w, w) for n, w in zip(names, row, strict=True)} for row in rows]


def read(rows: list[dict[str, Any]], **options: Any) -> tuple[Preferences, list[str]]:
    """Read rows as a frame; return the judgments and what was said."""
    with noted() as notes:
        found = read_preferences(pd.DataFrame(rows), **options)
    return found, notes


def answers(text: str, columns: str | None = None) -> str:
    return " ".join(read(rows_of(text), columns=columns)[0].to_frame()["answer"])


def refused(rows: list[dict[str, Any]], **options: Any) -> InputError:
    with pytest.raises(InputError) as error:
        read(rows, **options)
    return error.value


SHUFFLED = """
a b answer {}
+ - left   {}
+ - right  {}
+ - same   {}
"""
"""One judge who prefers list a, which is shown left and then right."""

SYSTEMS = """
left right left_system right_system winner
+    -     x           y            x
-    +     y           x            x
-    +     y           x            tie
"""

RENAMED = SYSTEMS.replace("left_s", "p_s").replace("right_s", "q_s")

ARMS = """
control treatment left_system right_system answer
-       +         control     treatment    right
-       +         treatment   control      left
"""

SAME_PLACES = """
control treatment left_system right_system answer
-       +         treatment   control      left
-       +         treatment   control      left
"""

SHAPES = [
    (SHUFFLED.format("a_shown_on", "left", "right", "left"), None, "a a tie"),
    (SHUFFLED.format("swapped", "No", "YES", "No"), None, "a a tie"),
    (SHUFFLED.format("is_swapped", "0", "1", "0"), None, "a a tie"),
    (SHUFFLED.format("position", "left", "right", "left"), "a_shown_on=position", "a a tie"),
    (SHUFFLED.format("position", "left", "right", "left"), "ignore=position", "a b tie"),
    ("left right answer a_shown_on\n + - a left\n - + a right", None, "a b"),
    ("a b answer position\n + - a left\n + - a right", None, "a a"),
    (SYSTEMS, None, "a b tie"),
    (RENAMED, "left_system=p_system,right_system=q_system", "a b tie"),
    (ARMS, "a=control,b=treatment", "b b"),
    (ARMS.replace("control treatment", "a b"), "ignore=left_system+right_system", "b a"),
    (SAME_PLACES, "a=control,b=treatment", "b b"),
    (SAME_PLACES, "a=treatment,b=control", "a a"),
    (SAME_PLACES.replace("control treatment", "a b"), None, "a a"),
    ("a b answer answer_2 answer_3\n + - a a b", "answer=answer+answer_2+answer_3", "a a b"),
    ("a b answer answer_2 answer_3\n + - a a b", "answer=answer_3", "b"),
]


@pytest.mark.parametrize(("text", "columns", "expected"), SHAPES)
def test_answers_are_about_the_lists_and_not_about_their_sides(
    text: str, columns: str | None, expected: str
) -> None:
    assert answers(text, columns) == expected


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (SHUFFLED.format("position", "left", "right", "left"), "a_shown_on=position"),
        (RENAMED, "left_system=p_system,right_system=q_system"),
        (ARMS.replace("control treatment", "a b"), "ignore"),
        ("left right left_system right_system answer\n + - x x x", "x=..."),
        ("a b answer swapped\n + - 1 no\n + - -1 yes", "left and right"),
        ("query answer list rank grade\n q a a 1 2", "both lists"),
    ],
)
def test_shapes_that_could_mean_several_things_are_refused(text: str, remedy: str) -> None:
    assert remedy in refused(rows_of(text)).remedy


def test_a_column_per_rater() -> None:
    rows = rows_of("query a b ann bob\n q1 + - a b\n q2 + - . tie")
    found, notes = read(rows, columns="answer=ann+bob")
    frame = found.to_frame()
    assert frame["judge"].tolist() == ["ann", "bob", "bob"]
    assert frame["answer"].tolist() == ["a", "b", "tie"]
    assert frame["query"].tolist() == ["q1", "q1", "q2"]
    assert any("empty answers of raters left out: 1" in note for note in notes)


def long_rows(data: Preferences) -> list[dict[str, Any]]:
    """A row per document, the last rank first."""
    rows = []
    for row, one in enumerate(data.to_frame().to_dict("records")):
        for side in "ba":
            for rank, grade in reversed(list(enumerate(one[side], start=1))):
                if grade is not None:
                    about = {"query": f"q{row}", "judge": "j", "answer": one["answer"]}
                    rows.append({**about, "list": side, "rank": rank, "grade": grade})
    return rows


@settings(max_examples=40)
@given(
    lists=st.lists(
        st.tuples(*[st.lists(st.integers(0, 2), min_size=1, max_size=4)] * 2),
        min_size=1,
        max_size=6,
    ),
    seed=st.integers(0, 9),
)
def test_a_row_per_document_is_the_judgment_it_came_from(
    lists: list[tuple[list[int], list[int]]], seed: int
) -> None:
    codes = np.random.default_rng(seed).choice(["a", "b", "tie"], len(lists))
    frame = {"a": [a for a, _ in lists], "b": [b for _, b in lists], "answer": codes.tolist()}
    wide = read_preferences({**frame, "query": [f"q{i}" for i in range(len(lists))]}, "2,1,0")
    found, _ = read(long_rows(wide), scale="2,1,0")
    assert np.array_equal(found.lists, wide.lists)
    assert np.array_equal(found.answers, wide.answers)
    assert found.queries.tolist() == wide.queries.tolist()


@pytest.mark.parametrize(("name", "value"), [("rank", "3"), ("rank", "first"), ("list", "c")])
def test_faults_of_a_row_per_document_name_the_row(name: str, value: str) -> None:
    rows = rows_of("query answer list rank grade\n q a a 1 2\n q a a 2 1\n q a b 1 0")
    rows[1][name] = value
    error = refused(rows)
    assert name in error.problem
    assert "row" in error.place


@pytest.mark.parametrize("mark", [-1, "-1", "n/a"])
def test_a_mark_of_unjudged_documents_is_no_grade(mark: Any) -> None:
    rows = [{"a": [2, mark, 0], "b": [1, 0, 0], "answer": "a"}]
    error = refused(rows)
    assert error.place.startswith("row 1")
    found, notes = read(rows, null_values=mark)
    assert found.scale.labels == (2, 1, 0)
    assert found.lists[0, 0].tolist() == [0, 2, 2], "an unjudged document counts as the worst grade"
    assert any(": 1, counted" in note for note in notes)
    if mark == -1:
        declared, _ = read(rows, scale="2,1,0,-1")
        assert declared.lists[0, 0].tolist() == [0, 3, 2]


def test_the_first_of_several_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Judged"
    for row in (
        ["Study of May", None, None, None, None],
        ["query", "a", "b", "answer", "when"],
        [1, "2 0", "1 1", "a", datetime.date(2024, 5, 1)],
        [None] * 5,
        [2.0, "0 2", "1 0", "b", None],
        ["q3", 2, 1, None, "=A1"],
    ):
        book.active.append(row)
    book.create_sheet("Notes").append(["x"])
    path = tmp_path / "x.xlsx"
    book.save(path)
    with pytest.raises(InputError) as refused:
        read_preferences(path)
    assert refused.value.place == f"{path}, row 6"
    with noted() as notes:
        found = read_preferences(path, answers="=tie,a=a,b=b")
    assert found.queries.tolist() == ["1", "2", "q3"]
    assert found.lists.tolist() == [[[0, 2], [1, 1]], [[2, 0], [1, 2]], [[0, -1], [1, -1]]]
    assert any("2 sheets" in note and "Judged" in note for note in notes)
    assert any("above" in note for note in notes)
    assert any("'when'" in note for note in notes)


NO_PANDAS = """
import sys
from dcglearn.cli import KeptOut
sys.meta_path.insert(0, KeptOut("pandas"))
from dcglearn import read_preferences, write_preferences
for name in ("long.csv", "raters.csv", "sheet.xlsx"):
    judged = read_preferences(name)
    for suffix in ("jsonl", "csv", "parquet", "arrow"):
        write_preferences(judged, f"again.{suffix}")
        assert read_preferences(f"again.{suffix}") == judged, (name, suffix)
"""


def test_commands_which_keep_pandas_out_read_every_shape(tmp_path: Path) -> None:
    rows = ["q,a,1,2,a", "q,a,2,0,a", "q,b,1,1,a", "q,b,2,0,a"]
    (tmp_path / "long.csv").write_text("\n".join(["query,list,rank,grade,answer", *rows]))
    (tmp_path / "raters.csv").write_text("query,a1,a2,b1,b2,answer\nq,2,0,1,0,b\n")
    pd.DataFrame({"a": ["2 0"], "b": ["1 0"], "answer": ["a"]}).to_excel(
        tmp_path / "sheet.xlsx", index=False
    )
    child = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", NO_PANDAS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr


def test_a_grade_named_like_a_rule() -> None:
    rows = [{"a": ["keep", None, "drop"], "b": ["drop", "keep", "drop"], "answer": "a"}]
    moved, _ = read(rows, scale="keep,drop", unjudged="drop")
    assert moved.lists[0, 0].tolist() == [0, 1, -1]
    graded, _ = read(rows, scale="keep,drop", unjudged="=drop")
    assert graded.lists[0, 0].tolist() == [0, 1, 1]
