"""Judgments and scored documents: files read against slow twins, and written and read again."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dcglearn import (
    DocumentGrades,
    InputError,
    Preferences,
    Scale,
    qrels_of,
    read_preferences,
    write_preferences,
)
from dcglearn.filtering.scored import read_scored
from dcglearn.judgments.rankings import decode_list
from helpers.twins import BLANKS, RefusedError, mostly, outcome, twin_fields, twin_number, twin_text

Record = dict[str, Any]
Reader = Callable[[Path], Any]

QRELS = {"q1": {"d1": 2, "d2": 0, "7": 1}, "7": {"d1": 1, "caf\xe9": 2}}
ANSWERS = ["a", "b", "tie", "good", "bad"]
FIELDS = ["query", "a", "b", "answer", "weight", "judge"]


def refuse(where: int = 0) -> RefusedError:
    return RefusedError(where)


def twin_records(content: bytes, suffix: str) -> list[Record]:
    """The records of a file; cells of CSV are text."""
    text = twin_text(content)
    if suffix == ".csv":
        return twin_csv(text)
    return [twin_json(line) for line in text.split("\n") if line.strip(BLANKS)]


def twin_csv(text: str) -> list[Record]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if any(row)]
    except csv.Error as error:
        raise refuse() from error
    if not rows or len(set(rows[0])) < len(rows[0]):
        raise refuse()
    cells = rows[1:]
    if any(len(row) != len(rows[0]) for row in cells):
        raise refuse()
    return [dict(zip(rows[0], row, strict=True)) for row in cells]


def twin_json(line: str) -> Record:
    def once(pairs: list[tuple[str, Any]]) -> Record:
        if len({name for name, _ in pairs}) < len(pairs):
            raise refuse()
        return dict(pairs)

    def no_constant(_: str) -> None:
        raise refuse()

    try:
        found = json.loads(line, object_pairs_hook=once, parse_constant=no_constant)
        str(found).encode() if "\\" not in str(found) else json.dumps(
            found, ensure_ascii=False
        ).encode()
    except (ValueError, RecursionError) as error:
        raise refuse() from error
    if not isinstance(found, dict):
        raise refuse()
    return found


def twin_label(value: Any) -> float | str:
    """A grade: a number, or a name."""
    if isinstance(value, str):
        if value == "":
            raise refuse()
        number = re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?", value)
        whole = value.lstrip("-").partition(".")[0]
        if number is None or len(whole) > 18 or len(number[1] or "") > 17:
            return value
        value = float(value) if number[1] else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refuse()
    if (isinstance(value, int) and abs(value) >= 10**18) or not math.isfinite(value):
        raise refuse()
    if isinstance(value, float) and abs(value) >= 2**53:
        raise refuse()
    return value


def twin_id(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise refuse()
    return str(value)


def twin_weight(value: Any, suffix: str) -> float:
    if value is None or (suffix == ".csv" and value == ""):
        return 1.0
    if isinstance(value, str):
        try:
            value = twin_number(value.strip(" \t\n\r\v\f"))
        except ValueError as error:
            raise refuse() from error
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e12:
        raise refuse()
    return float(value)


def twin_list(value: Any, suffix: str) -> list[Any]:
    if isinstance(value, str):
        text = value.replace("\n", " ")
        parts = [one.strip(BLANKS) for one in text.split(",")] if "," in text else twin_fields(text)
        value = [None if part in ("-", "") else part for part in parts]
    if not isinstance(value, list) or all(entry is None for entry in value):
        raise refuse()
    return value


def twin_field(name: str, record: Record) -> str:
    """The field of a column: capitals, blanks and signs do not count where no column is exact."""
    plain = "".join(one for one in name.lower() if one.isalnum())
    return plain if name not in FIELDS and plain in FIELDS and plain not in record else name


def trimmed(labels: list[Any]) -> list[Any]:
    while labels and labels[-1] is None:
        labels = labels[:-1]
    return labels


def twin_judgments(content: bytes, suffix: str, documents: bool = False) -> list[Any]:
    """Rows of query, lists, answer, weight and judge."""
    rows: list[Any] = []
    labels: set[Any] = set()
    for record in twin_records(content, suffix):
        record = {twin_field(name, record): value for name, value in record.items()}
        if set(record) - set(FIELDS) or any(record.get(name) is None for name in ("a", "b")):
            raise refuse()
        answer = record.get("answer")
        if not isinstance(answer, str) or answer.strip().lower() not in ANSWERS:
            raise refuse()
        lists = [twin_list(record[side], suffix) for side in "ab"]
        if documents:
            lists = [twin_documents(entries, record.get("query")) for entries in lists]
        lists = [[None if x is None else twin_label(x) for x in side] for side in lists]
        labels |= {label for side in lists for label in side if label is not None}
        rows.append(
            [
                twin_id(record.get("query")),
                *map(trimmed, lists),
                answer.strip().lower(),
                twin_weight(record.get("weight"), suffix),
                twin_id(record.get("judge")),
            ]
        )
    if not rows or any(isinstance(label, str) for label in labels):
        raise refuse()
    if len({float(label) for label in labels}) < len(labels):
        raise refuse()
    return rows


def twin_documents(entries: list[Any], query: Any) -> list[int | None]:
    """The grades of documents; one without a judgment has the worst."""
    if query is None or str(query) not in QRELS:
        raise refuse()
    names = [twin_document(entry) for entry in entries]
    held = [name for name in names if name is not None]
    if len(set(held)) < len(held):
        raise refuse()
    return [None if name is None else QRELS[str(query)].get(name, 0) for name in names]


def twin_document(entry: Any) -> str | None:
    if entry is None:
        return None
    if isinstance(entry, bool) or not isinstance(entry, str | int):
        raise refuse()
    return str(entry)


def twin_scored(content: bytes, suffix: str) -> list[tuple[float, Any]]:
    """Rows of score and grade."""
    rows: list[tuple[float, Any]] = []
    ids: list[str] = []
    for record in twin_records(content, suffix):
        if set(record) - {"id", "score", "grade"}:
            raise refuse()
        score, grade, name = (record.get(field) for field in ("score", "grade", "id"))
        if isinstance(score, str):
            try:
                score = twin_number(score.strip(" \t\n\r\v\f"))
            except ValueError as error:
                raise refuse() from error
        if isinstance(score, bool) or not isinstance(score, int | float) or abs(score) > 1.7e308:
            raise refuse()
        name = twin_id(name)
        if name in ids:
            raise refuse()
        ids += [] if name is None else [name]
        rows.append((float(score), None if grade is None or grade == "" else twin_label(grade)))
    if not rows:
        raise refuse()
    return rows


def rows_of(found: Preferences) -> list[Any]:
    columns = found.queries, found.answers, found.weights, found.judges
    return [
        [
            query,
            *(decode_list(side, found.scale) for side in lists),
            ANSWERS[answer],
            weight,
            judge,
        ]
        for lists, query, answer, weight, judge in zip(
            found.lists, *(column.tolist() for column in columns), strict=True
        )
    ]


def check(read: Reader, twin: Callable[[bytes, str], Any], content: bytes, suffix: str) -> None:
    def refused(found: object) -> object:
        return "refused" if isinstance(found, str) else found

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{suffix}")
        path.write_bytes(content)
        expected = refused(outcome(lambda text: twin(text, suffix), content))
        assert refused(outcome(read, path)) == expected


def is_utf_8(content: bytes) -> bool:
    """Files in other encodings are read, too; that they are is tested with their sources."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


names = mostly(
    ["q1", "7", "d1", "d2", ""],
    ["caf\xe9", "a b", "\u2028", "\x85", "\x1c", "-", "\ufeff", "\x00", "\xa0", "x" * 300],
)
numerals = mostly(
    ["0", "1", "2", "3", "-1", "0.5", "2.0", "1.50"],
    [
        "1_0",
        "nan",
        "inf",
        "\u0663",
        "1e3",
        "007",
        "9007199254740993",
        "9007199254740992",
        "9007199254740993.0",
        "9" * 18,
        "9" * 19,
        "-0",
        "0." + "1" * 18,
        "+1",
        "1e400",
        "",
    ],
)
weights = mostly(
    ["1", "2", "0.5", "1e3", ".25", "", "+1", " 1 "],
    ["-1", "1_0", "nan", "1e13", "\u0661", "x", "1e400", "1\xa0"],
)
answers = mostly(ANSWERS, ["A", "", "c", "tie "])
line_ends = mostly(["\n", "\n", "\r\n"], ["\r", "\n\n", "\n \n", "\x85", "\u2028", "\r\r\n"])
lists = st.lists(mostly(["0", "1", "2", "0.5"], ["-"]) | numerals, min_size=1, max_size=4)
document_lists = st.lists(
    mostly(["d1", "d2", "7", "d9", "caf\xe9"], ["-", "", "\xa0"]),
    min_size=1,
    max_size=3,
    unique=True,
)


def damaged(draw: st.DrawFn, text: str) -> bytes:
    """Text as bytes, one file of ten with a byte put in or taken away."""
    content = draw(mostly(["", "", "\ufeff"], ["\ufeff\ufeff", " ", "\n"])).encode() + text.encode()
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
json_numbers = mostly(
    ["0", "1", "2", "0.5", "2.0", "null", "1e0", '"2"', '"0.50"'],
    [
        "NaN",
        "-Infinity",
        "1e400",
        "9007199254740993",
        "9007199254740992",
        "true",
        "[1]",
        "-0.0",
        '"x"',
        '""',
        "1_0",
        "01",
        "+1",
        "9007199254740993.0",
        "9" * 19,
        '"1e3"',
        "{}",
        "1" * 5000,
    ],
)
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


def read_scores(path: Path) -> list[tuple[float, Any]]:
    found = read_scored(path)
    return list(zip(found.scores.tolist(), found.grades, strict=True))


@given(csv_files(judgment_cells, NEEDED))
def test_judgments_in_csv_equal_a_slow_reader(content: bytes) -> None:
    assume(is_utf_8(content))
    check(read_rows, twin_judgments, content, ".csv")


@given(json_files(judgment_values, NEEDED))
def test_judgments_in_json_lines_equal_a_slow_reader(content: bytes) -> None:
    assume(is_utf_8(content))
    check(read_rows, twin_judgments, content, ".jsonl")


@given(csv_files(document_cells, ("query", *NEEDED)))
def test_judgments_of_documents_in_csv_equal_a_slow_reader(content: bytes) -> None:
    assume(is_utf_8(content))
    check(read_judged, lambda text, kind: twin_judgments(text, kind, True), content, ".csv")


@given(json_files(document_values, ("query", *NEEDED)))
def test_judgments_of_documents_in_json_lines_equal_a_slow_reader(content: bytes) -> None:
    assume(is_utf_8(content))
    check(read_judged, lambda text, kind: twin_judgments(text, kind, True), content, ".jsonl")


@given(csv_files({"id": names, "score": weights, "grade": numerals | names}, ("score",)))
def test_scored_documents_in_csv_equal_a_slow_reader(content: bytes) -> None:
    check(read_scores, twin_scored, content, ".csv")


@given(json_files({"id": json_ids, "score": json_numbers, "grade": json_numbers}, ("score",)))
def test_scored_documents_in_json_lines_equal_a_slow_reader(content: bytes) -> None:
    check(read_scores, twin_scored, content, ".jsonl")


odd_text = st.text(
    st.sampled_from("a1-. ,;\"'\\\r\n\t\v\f\x00\x1c\x85\xa0\u2028\ufeff\u0663\xe9\U0001f600"),
    max_size=4,
)
labels_of_scales = st.lists(
    odd_text.filter(bool) | st.integers(-3, 3) | st.floats(-1e3, 1e3) | st.just(10**17),
    min_size=1,
    max_size=4,
)


@given(st.data(), st.sampled_from([".csv", ".jsonl", ".parquet"]))
def test_what_is_written_is_read_back(data: st.DataObject, suffix: str) -> None:
    """Or refused when it is written."""
    try:
        scale = Scale(tuple(data.draw(labels_of_scales)))
    except InputError:
        return
    n, K = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))
    grades = st.integers(-1, len(scale) - 1)
    rows = np.array(data.draw(st.lists(grades, min_size=2 * n * K, max_size=2 * n * K)), int)
    ids = st.lists(st.none() | odd_text | st.just("\ud800"), min_size=n, max_size=n)
    judgments = Preferences.of(
        rows.reshape(n, 2, K),
        data.draw(st.lists(st.sampled_from(ANSWERS), min_size=n, max_size=n)),
        scale,
        weights=data.draw(st.lists(st.floats(0, 1e12), min_size=n, max_size=n)),
        queries=data.draw(ids),
        judges=data.draw(ids),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"judgments{suffix}")
        try:
            write_preferences(judgments, path)
        except InputError:
            assert not path.exists()
            return
        assert read_preferences(path, scale, K, unjudged="nothing") == judgments


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_odd_ids_are_written_and_read_back(tmp_path: Path, suffix: str) -> None:
    odd = ["a\nb", "a\r\nb", 'a"b', "a,b", "\x00", "\x85", "\u2028", "\ufeff", " a ", "-", "1e3"]
    n = len(odd)
    judgments = Preferences.of([[[0], [1]]] * n, ["a"] * n, Scale((1, 0)), None, odd, odd[::-1])
    path = tmp_path / f"judgments{suffix}"
    write_preferences(judgments, path)
    assert read_preferences(path) == judgments


def test_what_csv_cannot_hold_is_refused_when_it_is_written(tmp_path: Path) -> None:
    def written(scale: Scale, query: str, K: int = 1) -> None:
        lists = np.zeros((1, 2, K), int)
        lists[:, 1] = len(scale) - 1
        write_preferences(Preferences.of(lists, ["a"], scale, None, [query]), tmp_path / "j.csv")

    for scale, query, message in (
        (Scale((1, 0)), "a\rb", "cannot be written in CSV"),
        (Scale((1, 0)), "x" * 131_073, "cannot be written in CSV"),
        (Scale(("a b", 0)), "q", "'a b' cannot be written in a CSV list"),
        (Scale((1, 1e-20)), "q", "1e-20 cannot be written in a CSV list"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            written(scale, query)
    with pytest.raises(InputError, match="cannot be written in CSV"):
        written(Scale((1, 0)), "q", 70_000)
    assert not list(tmp_path.iterdir())
