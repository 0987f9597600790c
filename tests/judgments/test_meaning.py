"""Which column is which field, what answers and grades mean, how lists and files are laid out."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, InputWarning, Preferences, read_preferences
from dcglearn.base.tables.columns import column_of
from dcglearn.judgments.meaning.answers import ANSWERS, given_codes, resolve_answers
from dcglearn.judgments.meaning.columns import JUDGMENTS, resolve_columns
from dcglearn.judgments.options import parse_given_map
from dcglearn.judgments.reading.lists import lists_of, parse_list_text
from dcglearn.measures.scale import canonical_label
from helpers.commands import run_program
from helpers.notes import noted
from helpers.slow_reader import trimmed

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" left = a , =tie", {"left": "a", "": "tie"}),
        ('"both, good"=good,x=y=a', {"both, good": "good", "x=y": "a"}),
        ({"left": "a", 1: "b"}, {"left": "a", "1": "b"}),
        ("left", None),
        ("left=a,left=b", None),
        ({"left": ""}, None),
    ],
)
def test_what_users_say_is_parsed_or_refused(text: Any, expected: dict[str, str] | None) -> None:
    if expected is not None:
        assert parse_given_map(text, "answers", "left=a") == expected
        return
    with pytest.raises(InputError, match="'left'"):
        parse_given_map(text, "answers", "left=a")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("A B Answer", "a=A b=B answer=Answer"),
        ("list_a list_b preference query_id", "a=list_a b=list_b answer=preference query=query_id"),
        ("list1 list2 Choice Assessor-ID", "a=list1 b=list2 answer=Choice judge=Assessor-ID"),
        ("a left b right answer preference", "a=a b=b answer=answer"),
        ("query query_id a b answer", "query=query"),
        ("b2 a2 a1 b1 a10 a3 a4 a5 a6 a7 a8 a9", "a=a1...a10 b=b1...b2"),
        ("left_0 left_1 right_0 right_1", "a=left_0...left_1 b=right_0...right_1"),
        ("a.1 a.2 b.1 b.2", "a=a.1...a.2 b=b.1...b.2"),
        ("a[1] a[2] b[1] b[2]", "a=a[1]...a[2] b=b[1]...b[2]"),
        ("list_1_1 list_1_2 list_2_1", "a=list_1_1...list_1_2 b=list_2_1...list_2_1"),
    ],
)
def test_columns_are_known_by_their_names(names: str, expected: str) -> None:
    columns = resolve_columns(names.split()).columns
    for part in expected.split():
        field, name = part.split("=")
        found = columns[field]
        assert (found if isinstance(found, str) else f"{found[0]}...{found[-1]}") == name


@pytest.mark.parametrize(
    ("names", "told", "word"),
    [
        ("left right list_a list_b answer", None, "a=left,b=right"),
        ("qid topic a b answer", None, "query=qid"),
        ("a b answer", "a=a,b=a", "'a'"),
        ("a1 a2 a4 b1 answer", None, "'a2'"),
    ],
)
def test_columns_that_cannot_be_taken_are_refused(names: str, told: str | None, word: str) -> None:
    with pytest.raises(InputError) as refused:
        resolve_columns(names.split(), told).check_complete(JUDGMENTS)
    assert word in str(refused.value)


YES = "yes=a,no=b,neither=bad,skip=out,=tie"


def meanings(values: Sequence[Any], told: Any = None, **more: Any) -> list[tuple[int, float]]:
    """The code and weight of each answer."""
    columns = {"answer": column_of([*values]), **more.pop("others", {})}
    return resolve_answers(columns, str, given_codes(told), **more).decoded().tolist()


def words(values: Sequence[Any], told: Any = None, **more: Any) -> str:
    """What answers mean."""
    codes = [code for code, _ in meanings(values, told, **more)]
    return " ".join("out" if code < 0 else ANSWERS[code] for code in codes)


def weights(values: Sequence[Any], told: Any = None, **more: Any) -> list[float]:
    return [weight for _, weight in meanings(values, told, **more)]


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        (["a", "b", "tie", "good", "bad"], {}, "a b tie good bad"),
        (["left", "Right", "same"], {}, "a b tie"),
        (["Left is much better", "right slightly better", "About the same"], {}, "a b tie"),
        (["both good", "equally bad"], {}, "good bad"),
        (["1", "0", "-1"], {}, "a tie b"),
        ([np.int64(-1), np.float64(1)], {}, "b a"),
        ([-3, -1, 0, 2], {}, "b b tie a"),
        ([-3, 0, 40], {"told": "positive=b,negative=a,0=tie"}, "a tie b"),
        (["control", "Treatment", "same"], {"sides": ("Control", "treatment")}, "a b tie"),
        (["left", "right"], {"sides": ("right", "left")}, "b a"),
        (["a", "b"], {"sides": ("b", "a")}, "b a"),
        (["yes", "NO", "neither", None, "skip", ""], {"told": YES}, "a b bad tie out tie"),
        ([1.0, 2], {"told": "1=a,2=b"}, "a b"),
        (["left", "", float("nan")], {"told": "=tie"}, "a tie tie"),
        (["x", "X"], {"told": "x=a,X=b"}, "a b"),
    ],
)
def test_what_answers_mean(values: list[Any], options: dict[str, Any], expected: str) -> None:
    usual = options or all(value in ANSWERS for value in values)
    with nullcontext() if usual else pytest.warns(InputWarning, match="answers"):
        assert words(values, **options) == expected


def test_the_size_of_a_number_is_its_weight() -> None:
    assert weights([-3, -1, 0, 2]) == [3.0, 1.0, 1.0, 2.0]
    assert weights([-3, 2], others={"weight": column_of([1, 1])}) == [1.0, 1.0]
    assert weights([-3, 3], {"-3": "b", "3": "a"}) == [1.0, 1.0]
    with pytest.raises(InputError, match="did you mean 'tie'"):
        words(["x"], "x=tied")


@pytest.mark.parametrize(
    ("values", "told", "position", "remedy"),
    [
        (["left", "same"], "left=a,right=b", 1, "same=out"),
        (["1", "2"], None, 0, "`answers='1=...,2=...'`"),
        ([0, 1, -7], None, 2, "`answers='positive=...,negative=...,0=tie'`"),
        (["-1", "1", "tie"], None, 0, "`answers='-1=...,1=...,tie=...'`"),
        ([0, 3], "positive=a,negative=b", 0, "0=out"),
    ],
)
def test_answers_that_say_nothing_are_refused(
    values: list[Any], told: str | None, position: int, remedy: str
) -> None:
    with pytest.raises(InputError) as refused:
        words(values, told)
    assert remedy in refused.value.remedy
    assert refused.value.place == str(position)


@given(st.lists(st.sampled_from(["left", "RIGHT", "same ", "A", "b"]), unique=True))
def test_each_value_means_the_same_among_others(values: Sequence[str]) -> None:
    assert meanings(values) == [meanings([value])[0] for value in values]


Labels = list[str | None]


def quoted_for_postgres(labels: Labels) -> str:
    return "{" + ",".join("NULL" if one is None else one for one in labels) + "}"


def with_gaps(separator: str) -> Callable[[Labels], str]:
    return lambda labels: separator.join("-" if one is None else one for one in labels)


NUMBER_WRITERS: dict[str, Callable[[Labels], str]] = {
    "blanks": with_gaps(" "),
    "commas": with_gaps(","),
    "commas and blanks": with_gaps(", "),
    "nothing between commas": lambda labels: ",".join(one or "" for one in labels),
    "JSON": lambda labels: json.dumps([None if one is None else int(one) for one in labels]),
    "Python": lambda labels: str([None if one is None else int(one) for one in labels]),
    "tuple": lambda labels: str(tuple(labels)).replace("'", ""),
    "NumPy": lambda labels: str(np.array([np.nan if x is None else float(x) for x in labels])),
    "PostgreSQL": quoted_for_postgres,
}
numbers = st.sampled_from(["0", "1", "2", "10"])
lists_of_numbers = st.lists(numbers | st.none(), min_size=2, max_size=5).filter(any)


def whole_column(cells: list[str]) -> list[list[object]]:
    """The lists of a column of texts, which is split at once where it can be."""
    found = lists_of(pa.array(cells, pa.string()), str).decoded()
    return [canonical(trimmed(row)) for row in found.tolist()]


def canonical(labels: Labels) -> list[object]:
    return [None if one is None else canonical_label(one) for one in labels]


def one_by_one(cells: list[str]) -> list[list[object]]:
    return [canonical(trimmed(parse_list_text(cell))) for cell in cells]


def or_refused(
    read: Callable[[list[str]], list[list[object]]], cells: list[str]
) -> list[list[object]] | str:
    try:
        return read(cells)
    except InputError:
        return "refused"


@settings(max_examples=40)
@given(st.lists(lists_of_numbers, min_size=1, max_size=4))
@pytest.mark.parametrize("writer", NUMBER_WRITERS)
def test_lists_of_numbers_are_read_as_written(writer: str, lists: list[Labels]) -> None:
    cells = [NUMBER_WRITERS[writer](labels) for labels in lists]
    for cell, labels in zip(cells, lists, strict=True):
        found = [x and x.removesuffix(".") for x in parse_list_text(cell)]
        assert canonical(found) == canonical(labels)
    assert whole_column(cells) == one_by_one(cells)


@pytest.mark.parametrize("write", [partial(json.dumps, ensure_ascii=False), str])
def test_lists_of_names_are_read_as_written(write: Callable[[Labels], str]) -> None:
    names: Labels = ["good", "very good", "b,ad", "it's", None, "null"]
    assert whole_column([write(names), write(["caf\xe9"])])[0] == names
    assert or_refused(whole_column, [json.dumps(["caf\xe9"])]) == "refused"


PATTERNS = ["x x x", "[x, x]", "x/x", "x|x", "x,x", "{x,x}", "x,x x", "['x', \"x\"]", "x"]
marks = st.sampled_from([*"xxxx", *" ,;|/[](){}'\"-.", "\t", "\u00e9"])
patterns = st.one_of(st.sampled_from(PATTERNS), st.lists(marks, max_size=9).map("".join))


@given(
    pattern=patterns,
    characters=st.lists(st.sampled_from(["0", "1", "a", "N", "-"]), min_size=9, max_size=36),
    digits=st.booleans(),
)
def test_lists_written_alike_are_read_as_others(
    pattern: str, characters: list[str], digits: bool
) -> None:
    cells = []
    for row in range(len(characters) // 9):
        some = iter(characters[9 * row :])
        cell = "".join(next(some) if one == "x" else one for one in pattern)
        cells.append(cell.replace("a", "7").replace("N", "2") if digits else cell)
    assert or_refused(whole_column, cells) == or_refused(one_by_one, cells)


def test_other_separators_between_digits_than_between_letters() -> None:
    assert whole_column(["1/2", "0/1"]) == [[1, 2], [0, 1]]
    assert whole_column(["1/2", "a/b"]) == [[1, 2], ["a/b"]]
    assert whole_column(["a b", "1 2"]) == [["a", "b"], [1, 2]]


# Shuffled sides, a column per rater, a row per document, Excel


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


def answered(text: str, columns: str | None = None) -> str:
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
    assert answered(text, columns) == expected


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
from dcglearn.cli import WithoutPandas
sys.meta_path.insert(0, WithoutPandas())
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
    child = run_program([sys.executable, "-X", "faulthandler", "-c", NO_PANDAS], tmp_path)
    assert child.returncode == 0, child.stdout + child.stderr


def test_a_grade_named_like_a_rule() -> None:
    rows = [{"a": ["keep", None, "drop"], "b": ["drop", "keep", "drop"], "answer": "a"}]
    moved, _ = read(rows, scale="keep,drop", unjudged="drop")
    assert moved.lists[0, 0].tolist() == [0, 1, -1]
    graded, _ = read(rows, scale="keep,drop", unjudged="=drop")
    assert graded.lists[0, 0].tolist() == [0, 1, 1]
