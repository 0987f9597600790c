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
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError, Preferences, read_preferences
from helpers.notes import noted

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

BETTER, WORSE = "2 1 0", "0 1 0"


def read(rows: list[dict[str, Any]], **options: Any) -> tuple[Preferences, list[str]]:
    """Read rows as a frame; return the judgments and what was said."""
    with noted() as notes:
        found = read_preferences(pd.DataFrame(rows), **options)
    return found, notes


def answers(rows: list[dict[str, Any]], **options: Any) -> list[str]:
    return read(rows, **options)[0].to_frame()["answer"].tolist()


def refused(rows: list[dict[str, Any]], **options: Any) -> InputError:
    with pytest.raises(InputError) as error:
        read(rows, **options)
    return error.value


def shuffled(column: str, left: str, right: str) -> list[dict[str, Any]]:
    """Two judgments of one judge who prefers list a, which is shown left and then right."""
    lists = {"a": BETTER, "b": WORSE}
    return [
        {**lists, "answer": "left", column: left},
        {**lists, "answer": "right", column: right},
        {**lists, "answer": "same", column: left},
    ]


@pytest.mark.parametrize(
    ("column", "left", "right"),
    [
        ("a_shown_on", "left", "right"),
        ("side_of_a", "Left", "RIGHT"),
        ("swapped", "no", "yes"),
        ("swapped", 0, 1),
        ("is_swapped", False, True),
    ],
)
def test_sides_that_were_shuffled_are_read_by_row(column: str, left: Any, right: Any) -> None:
    assert answers(shuffled(column, left, right)) == ["a", "a", "tie"]


def test_a_column_of_sides_is_named_or_refused() -> None:
    rows = shuffled("position", "left", "right")
    error = refused(rows)
    assert "position" in error.problem
    assert "a_shown_on=position" in error.remedy
    assert "ignore=position" in error.remedy
    assert answers(rows, columns="a_shown_on=position") == ["a", "a", "tie"]
    assert answers(rows, columns="ignore=position") == ["a", "b", "tie"]


def test_answers_that_name_lists_do_not_ask_for_sides() -> None:
    rows = [
        {"a": BETTER, "b": WORSE, "answer": "a", "position": side} for side in ("left", "right")
    ]
    found, notes = read(rows)
    assert found.to_frame()["answer"].tolist() == ["a", "a"]
    assert any("position" in note for note in notes)
    shown = [
        {"left": BETTER, "right": WORSE, "answer": "a", "a_shown_on": "left"},
        {"left": WORSE, "right": BETTER, "answer": "a", "a_shown_on": "right"},
    ]
    assert answers(shown) == ["a", "b"], "columns named after sides hold lists as they were shown"


def test_numbers_as_sides_are_refused_where_sides_were_shuffled() -> None:
    rows = [{**row, "answer": "1"} for row in shuffled("swapped", "no", "yes")]
    assert refused(rows, answers=None).problem
    assert answers(rows, answers="1=a") == ["a", "a", "a"], "what is explained names lists"


def test_winners_that_are_systems_in_changing_places() -> None:
    rows = [
        {"left": BETTER, "right": WORSE, "left_system": "x", "right_system": "y", "winner": "x"},
        {"left": WORSE, "right": BETTER, "left_system": "y", "right_system": "x", "winner": "x"},
        {"left": WORSE, "right": BETTER, "left_system": "y", "right_system": "x", "winner": "tie"},
    ]
    assert answers(rows) == ["a", "b", "tie"]
    renamed = [
        {
            "p" if k == "left_system" else "q" if k == "right_system" else k: v
            for k, v in row.items()
        }
        for row in rows
    ]
    error = refused(renamed)
    assert "left_system=p,right_system=q" in error.remedy
    assert answers(renamed, columns="left_system=p,right_system=q") == ["a", "b", "tie"]


def test_lists_named_after_systems_that_change_places() -> None:
    rows = [
        {"control": WORSE, "treatment": BETTER, "left_system": "control", "answer": "right"},
        {"control": WORSE, "treatment": BETTER, "left_system": "treatment", "answer": "left"},
    ]
    for row in rows:
        others = {"control": "treatment", "treatment": "control"}
        row["right_system"] = others[row["left_system"]]
    assert answers(rows, columns="a=control,b=treatment") == ["b", "b"]
    names = {"control": "a", "treatment": "b"}
    unnamed = [{names.get(name, name): cell for name, cell in row.items()} for row in rows]
    assert "ignore" in refused(unnamed).remedy
    ignored = {"columns": "ignore=left_system+right_system"}
    assert answers(unnamed, **ignored) == ["b", "a"]


def test_a_column_per_rater() -> None:
    rows = [
        {"query": "q1", "a": BETTER, "b": WORSE, "ann": "a", "bob": "b"},
        {"query": "q2", "a": BETTER, "b": WORSE, "ann": "", "bob": "tie"},
    ]
    assert "answer=ann+bob" in refused(rows).remedy
    found, notes = read(rows, columns="answer=ann+bob")
    frame = found.to_frame()
    assert frame["judge"].tolist() == ["ann", "bob", "bob"]
    assert frame["answer"].tolist() == ["a", "b", "tie"]
    assert frame["query"].tolist() == ["q1", "q1", "q2"]
    assert any("empty answers of raters left out: 1" in note for note in notes)


def test_numbered_answers_are_not_dropped() -> None:
    rows = [{"a": BETTER, "b": WORSE, "answer": "a", "answer_2": "a", "answer_3": "b"}]
    with pytest.raises(InputError, match=r"answer=answer\+answer_2\+answer_3"):
        read(rows)
    assert answers(rows, columns="answer=answer+answer_2+answer_3") == ["a", "a", "b"]
    assert answers(rows, columns="answer=answer_3") == ["b"]


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


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rank": 3}, "rank"),
        ({"rank": 1}, "rank"),
        ({"rank": "first"}, "rank"),
        ({"list": "c"}, "list"),
        ({"list": None}, "list"),
    ],
)
def test_faults_of_a_row_per_document_name_the_row(change: dict[str, Any], problem: str) -> None:
    base = {"query": "q", "answer": "a"}
    rows = [
        {**base, "list": "a", "rank": 1, "grade": 2},
        {**base, "list": "a", "rank": 2, "grade": 1},
        {**base, "list": "b", "rank": 1, "grade": 0},
    ]
    rows[1] |= change
    error = refused(rows)
    assert problem in error.problem
    assert "row" in error.place


def test_a_judgment_without_one_of_its_lists_is_refused() -> None:
    error = refused([{"query": "q", "answer": "a", "list": "a", "rank": 1, "grade": 2}])
    assert "list b" in error.problem


@pytest.mark.parametrize("name", ["x.xlsx", "x.XLSX"])
def test_excel_is_read_as_its_csv(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame(
        {
            "query": [1, 2],
            "a": [BETTER, "1 1"],
            "b": [WORSE, "0 2"],
            "answer": ["left", "right"],
            "weight": [1, 0.5],
        }
    )
    path = tmp_path / name
    frame.to_excel(path, index=False, engine="openpyxl")
    frame.to_csv(tmp_path / "x.csv", index=False)
    found = read_preferences(path)
    assert found == read_preferences(tmp_path / "x.csv")
    assert found.queries.tolist() == ["1", "2"]


def test_a_list_that_a_spreadsheet_took_for_a_number(tmp_path: Path) -> None:
    rows = "a,b,answer\n2.1,1 0,a\n0 1,2 0,b\n"
    path = tmp_path / "x.csv"
    path.write_text(rows)
    with pytest.raises(InputError) as error:
        read_preferences(path)
    assert "line 2" in error.value.place
    assert "2.1" in error.value.problem
    one = tmp_path / "one.csv"
    one.write_text("a,b,answer\n2.1,1,a\n0,2.1,b\n")
    with pytest.raises(InputError, match="n_ranks=1"):
        read_preferences(one)
    assert read_preferences(one, n_ranks=1).scale.labels == (2.1, 1, 0)


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


@pytest.mark.parametrize("second", ['{"ImportId":"QID1"}', "Open-Ended Response"])
def test_second_lines_of_names_in_surveys(tmp_path: Path, second: str) -> None:
    path = tmp_path / "survey.csv"
    quoted = second.replace('"', '""')
    path.write_text(f'a,b,answer\nList A,List B,Which?\n"{quoted}","{quoted}","{quoted}"\n2,1,a\n')
    with pytest.raises(InputError) as error:
        read_preferences(path)
    assert error.value.place.endswith("row 3")
    assert "skiprows" in error.value.remedy


@pytest.mark.parametrize(
    "values", [["1", "0"], ["1.0", "0.5", "0.0"], ["1", "2", "tie"], ["0.1", "0.9"], ["1", "dunno"]]
)
def test_the_map_of_answers_that_say_nothing_is_to_be_filled_in(values: list[str]) -> None:
    rows = [{"a": BETTER, "b": WORSE, "answer": value} for value in values]
    suggested = ",".join(f"{value}=..." for value in values)
    assert f"`answers={suggested!r}`" in refused(rows).remedy
    told = suggested.replace("...", "a", 1).replace("...", "b")
    assert answers(rows, answers=told) == ["a", *"b" * (len(values) - 1)]


def test_a_grade_named_like_a_rule() -> None:
    rows = [{"a": ["keep", None, "drop"], "b": ["drop", "keep", "drop"], "answer": "a"}]
    moved, _ = read(rows, scale="keep,drop", unjudged="drop")
    assert moved.lists[0, 0].tolist() == [0, 1, -1]
    graded, _ = read(rows, scale="keep,drop", unjudged="=drop")
    assert graded.lists[0, 0].tolist() == [0, 1, 1]


def test_raters_who_saw_lists_on_changing_sides_and_count_differently() -> None:
    rows = [
        {"query": "p", "a": BETTER, "b": WORSE, "swapped": "no", "weight": 2}
        | {"ann": "left", "bob": "same"},
        {"query": "q", "a": BETTER, "b": WORSE, "swapped": "yes", "weight": 3}
        | {"ann": "right", "bob": "left"},
        {"query": "r", "a": BETTER, "b": WORSE, "swapped": "yes", "weight": 1}
        | {"ann": None, "bob": "right"},
    ]
    frame = read(rows, columns="answer=ann+bob")[0].to_frame()
    assert frame["query"].tolist() == ["p", "p", "q", "q", "r"]
    assert frame["judge"].tolist() == ["ann", "bob", "ann", "bob", "bob"]
    assert frame["answer"].tolist() == ["a", "tie", "a", "b", "a"]
    assert frame["weight"].tolist() == [2, 2, 3, 3, 1]


def test_a_row_per_document_and_a_column_per_rater() -> None:
    rows = [
        {"query": "q", "list": side, "rank": rank, "grade": grade, "ann": "a", "bob": "b"}
        for side, rank, grade in (("a", 1, 2), ("a", 2, 0), ("b", 1, 1))
    ]
    frame = read(rows, columns="answer=ann+bob")[0].to_frame()
    assert frame["answer"].tolist() == ["a", "b"]
    assert frame["judge"].tolist() == ["ann", "bob"]
    assert frame["a"].tolist() == [[2, 0], [2, 0]]


def test_systems_that_do_not_change_places() -> None:
    """Lists named after systems are found by their names; others are as they were shown."""
    rows = [
        {"control": WORSE, "treatment": BETTER, "answer": "left"}
        | {"left_system": "treatment", "right_system": "control"}
    ] * 2
    assert answers(rows, columns="a=control,b=treatment") == ["b", "b"]
    assert answers(rows, columns="a=treatment,b=control") == ["a", "a"]
    names = {"control": "a", "treatment": "b"}
    unnamed = [{names.get(name, name): cell for name, cell in row.items()} for row in rows]
    assert answers(unnamed) == ["a", "a"]


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
    assert any("row" in note and "above" in note for note in notes)
    assert any("'when'" in note for note in notes)


@pytest.mark.parametrize("scale", [None, "2,1,0"])
def test_marks_of_unjudged_documents_are_numbers_or_text(scale: str | None) -> None:
    for lists in ([[2, -1.0, 0.0]], ["2 -1 0"], ["2 -1.0 0"], [[2.0, "-1", 0]]):
        for mark in (-1, -1.0, "-1"):
            found = read_preferences(
                {"a": lists, "b": [[1, 0, 0]], "answer": ["a"]},
                scale,
                null_values=mark,
            )
            assert found.scale.labels == (2, 1, 0)
            assert found.lists[0, 0].tolist() == [0, 2, 2]


@pytest.mark.parametrize("weight", [1, 2])
def test_a_column_of_weights_comes_before_the_size_of_answers(weight: float) -> None:
    rows = [{"a": BETTER, "b": WORSE, "answer": one, "weight": weight} for one in (3, -1, 0)]
    found, notes = read(rows)
    assert found.weights.tolist() == [weight] * 3
    assert any("their size is not used" in note for note in notes)


NO_PANDAS = """
import sys
from dcglearn.base.process import KeptOut
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
    subprocess.run([sys.executable, "-c", NO_PANDAS], cwd=tmp_path, check=True)
