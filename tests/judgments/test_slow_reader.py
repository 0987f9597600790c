"""Judgments in CSV and JSON lines against the slow reader; scored documents."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import DocumentGrades, InputError, qrels_of, read_preferences
from dcglearn.systems.beta_gamma import read_scored
from helpers.slow_reader import ANSWERS, QRELS, rows_of, twin_judgments
from helpers.twins import mostly, outcome

Reader = Callable[[Path], Any]


def check(read: Reader, twin: Callable[[bytes, str], Any], content: bytes, suffix: str) -> None:
    def refused(found: object) -> object:
        return "refused" if isinstance(found, str) else found

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{suffix}")
        path.write_bytes(content)
        expected = refused(outcome(lambda text: twin(text, suffix), content))
        assert refused(outcome(read, path)) == expected


names = mostly(
    ["q1", "7", "d1", "d2", ""],
    ["caf\xe9", "a b", "\u2028", "\x85", "\x1c", "-", "\ufeff", "\x00", "\xa0", "x" * 300],
)
ODD_NUMERALS = ["1_0", "nan", "inf", "\u0663", "1e3", "007", "-0", "+1", "1e400", ""]
ODD_NUMERALS += ["9007199254740993", "9007199254740992", "9007199254740993.0"]
ODD_NUMERALS += ["9" * 18, "9" * 19, "0." + "1" * 18]
numerals = mostly(["0", "1", "2", "3", "-1", "0.5", "2.0", "1.50"], ODD_NUMERALS)
weights = mostly(
    ["1", "2", "0.5", "1e3", ".25", "", "+1", " 1 "],
    ["-1", "1_0", "nan", "1e13", "\u0661", "x", "1e400", "1\xa0"],
)
answers = mostly(ANSWERS, ["A", "", "c", "tie "])
line_ends = mostly(["\n", "\n", "\r\n"], ["\r", "\n\n", "\n \n", "\r\r\n"])
lists = st.lists(mostly(["0", "1", "2", "0.5"], ["-"]) | numerals, min_size=1, max_size=4)
document_lists = st.lists(
    mostly(["d1", "d2", "7", "d9", "caf\xe9"], ["-", "", "\xa0"]),
    min_size=1,
    max_size=3,
    unique=True,
)


def damaged(draw: st.DrawFn, text: str) -> bytes:
    """Text as bytes, one file of ten with a byte put in or taken away."""
    content = draw(mostly(["", "", "\ufeff"], [" ", "\n"])).encode() + text.encode()
    if draw(st.integers(0, 14)) == 0:
        at = draw(st.integers(0, len(content)))
        inserted = draw(st.sampled_from([b"\xff", b"\xc2", b'"', b",", b"\n", b"\r", b"\x00", b""]))
        content = content[:at] + inserted + content[at + (not inserted) :]
    return content


@st.composite
def csv_files(draw: st.DrawFn, cells: dict[str, Any], kept: tuple[str, ...]) -> bytes:
    header = draw(st.permutations(list(cells)))
    header = [name for name in header if name in kept or draw(st.booleans())]
    if draw(st.integers(0, 19)) == 0:
        header.append(draw(st.sampled_from([header[0], "note", "", " a", "A"])))
    text = ",".join(header) + draw(line_ends)
    for _ in range(draw(st.integers(0, 3))):
        row = [draw(cells.get(name, names)) for name in header]
        row = row[1:] if draw(st.integers(0, 39)) == 0 else row
        text += ",".join(draw(quoted(cell)) for cell in row) + draw(line_ends)
    return damaged(draw, text)


@st.composite
def quoted(draw: st.DrawFn, cell: str) -> str:
    if draw(st.integers(0, 3)) == 0:
        return '"' + cell.replace('"', '""') + draw(mostly([""], ['""', "\n", "\r\n", ","])) + '"'
    return cell


@st.composite
def json_files(draw: st.DrawFn, values: dict[str, Any], kept: tuple[str, ...]) -> bytes:
    """Lines of objects, made as text."""
    text = ""
    for _ in range(draw(st.integers(0, 3))):
        fields = [name for name in values if name in kept or draw(st.booleans())]
        if draw(st.integers(0, 29)) == 0:
            fields.append(draw(st.sampled_from([fields[0], "note"])))
        pairs = [f'"{name}": {draw(values.get(name, json_ids))}' for name in fields]
        text += "{" + ", ".join(pairs) + "}" + draw(line_ends)
    return damaged(draw, text)


json_ids = mostly(
    ['"q1"', "7", '"7"', "null", '""'],
    ["1.5", "true", "[]", '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', "NaN", "1" * 30],
) | names.map(lambda name: json.dumps(name, ensure_ascii=False))
ODD_NUMBERS = ["NaN", "-Infinity", "1e400", "9007199254740993", "9007199254740992", "true", "[1]"]
ODD_NUMBERS += ["-0.0", '"x"', '""', "1_0", "01", "+1", "9007199254740993.0", "9" * 19, '"1e3"']
ODD_NUMBERS += ["{}", "1" * 5000]
json_numbers = mostly(["0", "1", "2", "0.5", "2.0", "null", "1e0", '"2"', '"0.50"'], ODD_NUMBERS)
json_lists = mostly(["[2, 0]", "[1]", "[0, null, 1]", '["2", 0.5]'], ["[]", "null", '"2 0"', "2"])
json_lists = json_lists | (
    st.lists(json_numbers, min_size=1, max_size=3).map(lambda entries: f"[{', '.join(entries)}]")
)
json_documents = st.lists(
    mostly(['"d1"', '"d2"', "7", '"d9"'], ["null", '"7"', "1.5", "true", '"\\ud800"', '""', "[]"]),
    min_size=1,
    max_size=3,
    unique=True,
).map(lambda entries: f"[{', '.join(entries)}]")
json_answers = mostly(['"a"', '"b"', '"tie"', '"good"'], ["1", "null", '["a"]', '"A"', '""'])
json_weights = mostly(["1", "2", "0.5", "null", "0"], ["-1", "NaN", "1e13", '"1"', "true", "1e400"])

judgment_cells = {
    "query": names,
    "a": lists.map(" ".join),
    "b": lists.map("\t".join),
    "answer": answers,
    "weight": weights,
    "judge": names,
}
document_cells = judgment_cells | {
    "query": mostly(["q1", "7"], ["", "q2"]),
    "a": document_lists.map(" ".join),
    "b": document_lists.map("\t".join),
}
judgment_values = {
    "query": json_ids,
    "a": json_lists,
    "b": json_lists,
    "answer": json_answers,
    "weight": json_weights,
    "judge": json_ids,
}
document_values = judgment_values | {
    "query": mostly(['"q1"', '"7"', "7"], ["null", "7.0", '"q2"', "true", "[]"]),
    "a": json_documents,
    "b": json_documents,
}
NEEDED = ("a", "b", "answer")


def read_judged(path: Path) -> list[Any]:
    grades = DocumentGrades.of(qrels_of(QRELS))
    found = read_preferences(path, document_grades=grades, strict=True, unjudged="nothing")
    return rows_of(found)


def read_rows(path: Path) -> list[Any]:
    return rows_of(read_preferences(path, strict=True, unjudged="nothing"))


@given(csv_files(judgment_cells, NEEDED))
def test_judgments_in_csv_equal_a_slow_reader(content: bytes) -> None:
    check(read_rows, twin_judgments, content, ".csv")


@given(json_files(judgment_values, NEEDED))
def test_judgments_in_json_lines_equal_a_slow_reader(content: bytes) -> None:
    check(read_rows, twin_judgments, content, ".jsonl")


@given(csv_files(document_cells, ("query", *NEEDED)))
def test_judgments_of_documents_in_csv_equal_a_slow_reader(content: bytes) -> None:
    check(read_judged, lambda text, kind: twin_judgments(text, kind, True), content, ".csv")


@given(json_files(document_values, ("query", *NEEDED)))
def test_judgments_of_documents_in_json_lines_equal_a_slow_reader(content: bytes) -> None:
    check(read_judged, lambda text, kind: twin_judgments(text, kind, True), content, ".jsonl")


@pytest.mark.parametrize(
    ("row", "problem"),
    [("d1,2,0", "'d1' is also in"), ("d2,1_0,0", "'1_0'"), ("d2,,0", "score"), ("d2,nan,0", "nan")],
)
def test_scored_documents(tmp_path: Path, row: str, problem: str) -> None:
    path = tmp_path / "scored.csv"
    path.write_text("id,score,grade\nd1,0.5,2\n,-1e3,\n")
    found = read_scored(path)
    assert (found.scores.tolist(), found.grades) == ([0.5, -1000.0], (2, None))
    path.write_text(f"id,score,grade\nd1,0.5,2\n{row}\n")
    with pytest.raises(InputError) as refused:
        read_scored(path)
    assert problem in refused.value.problem
    assert refused.value.place == f"{path}, line 3"
