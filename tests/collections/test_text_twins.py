"""Readers of text against slow twins that share no code with them, on generated files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import qrels_of, read_qrels, read_run
from dcglearn.base.numbers import parse_number
from dcglearn.collections.letor import read_graded_lists, read_predictions
from dcglearn.collections.runs import DocumentTable
from helpers.twins import BLANKS, mostly, outcome, twin_fields, twin_number

Row = tuple[str, str, float]


def twin_trec(content: bytes, n_fields: int) -> list[Row] | set[int]:
    """Rows of query, document and number; or lines, one of which is named as faulty."""
    if faults := text_faults(content):
        return faults
    text = content.decode().removeprefix("\ufeff")
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), 1)
        if line and not line.startswith("#")
    ]
    split = [(n, [field.strip(BLANKS) for field in line.split("\t")]) for n, line in lines]
    if any(len(fields) != n_fields for _, fields in split):
        lines = [(number, line) for number, line in lines if line.strip(BLANKS)]
        split = [(number, twin_fields(line)) for number, line in lines]
        wrong = [number for number, fields in split if len(fields) != n_fields]
        if wrong:
            by_tabs = {number for number, line in lines if line.count("\t") == n_fields - 1}
            return {min(set(wrong) - by_tabs or wrong)}
    written = [fields[3 if n_fields == 4 else 4] for _, fields in split]
    values, faults = [], set()
    for (number, _), one in zip(split, written, strict=True):
        try:
            values.append(twin_number(one) if one else None)
        except ValueError:
            values.append(one)
            faults.add(number)
    if n_fields == 4 and not any(isinstance(value, float) for value in values):
        names = list(dict.fromkeys(filter(None, written)))
        values, faults = [float(names.index(one)) if one else None for one in written], set()
    if faults:
        return {min(faults)}
    rows = [(fields[0], fields[2], value) for (_, fields), value in zip(split, values, strict=True)]
    missing = [n for (n, _), row in zip(split, rows, strict=True) if None in row or "" in row]
    if missing or not rows:
        return {missing[0] if missing else 0}
    ids = [row[:2] for row in rows]
    again = [number for i, (number, _) in enumerate(split) if ids[i] in ids[:i]]
    return {again[0]} if again else rows


def twin_letor(content: bytes) -> list[tuple[str, float]] | set[int]:
    """Rows of query and grade; or lines, one of which is named as faulty."""
    faults = text_faults(content)
    rows: list[tuple[str, float]] = []
    for number, line in enumerate(readable(content).split("\n"), 1):
        fields = twin_fields(line.partition("#")[0])
        if not fields:
            continue
        try:
            grade = twin_number(fields[0])
        except ValueError:
            grade = -1
        if grade not in range(100) or len(fields) < 2 or not re.match("qid:.", fields[1], re.S):
            faults.add(number)
        else:
            rows.append((fields[1][4:], grade))
    return faults or rows or {0}


def text_faults(content: bytes) -> set[int]:
    """The first line that is not UTF-8."""
    faults: dict[str, int] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            faults.setdefault("encoding", number)
    return set(faults.values())


def readable(content: bytes) -> str:
    return content.decode(errors="replace").removeprefix("\ufeff")


def rows_of(found: DocumentTable) -> list[tuple[str, str, float]]:
    ids = [found.queries[query] for query in found.query]
    return list(zip(ids, found.documents.to_pylist(), found.number.tolist(), strict=True))


def check(read: Callable[[Path], Any], twin: Callable[[bytes], Any], content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(content)
        with_line_feeds = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        found, expected = outcome(read, path), twin(with_line_feeds)
        if isinstance(expected, set):
            assert found in {f"line {number}" for number in expected}
        else:
            assert found == expected


ids = st.sampled_from(
    ["q1", "q2", "d1", "d2", "7", "#1", '"', *("caf\xe9", "a\xa0b", "\u2028", "x\x85", "\x1c")]
)
numbers = mostly(
    ["0", "1", "2", "-1", "+1", "1.", ".5", "1e2", "2E-3", "007", "9" * 16],
    ["1_0", "nan", "inf", "infinity", "\u0663", "1e999", "0x1", "", "e1", "1e", "--1", "1\xa0"],
)
blanks = mostly([" ", "\t", "  ", " \t"], ["", "\xa0", "\v", "\f", "\x1c"])
ends = mostly(
    ["\n", "\n", "\r\n"], ["\r", "\n\n", "\r\r\n", "\x85", "\u2028", "\n# note\n", "\n \n"]
)


@st.composite
def files(draw: st.DrawFn, *columns: st.SearchStrategy[str]) -> bytes:
    """Lines of such columns, with a few faults."""
    text = draw(mostly(["", "\ufeff", "# head\n"], [" ", "\r"]))
    for _ in range(draw(st.integers(0, 6))):
        for i, column in enumerate(columns):
            text += (draw(blanks) if i else draw(mostly([""], [" ", "#", "\t"]))) + draw(column)
        text += draw(ends)
    content = text.encode()
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.sampled_from([b"\xff", b"\xe9", b"\xc2"])) + content[at:]
    return content


fixed = st.sampled_from(["0", "Q0"])


@settings(max_examples=60)
@given(files(ids, fixed, ids, numbers))
def test_qrels_equal_a_slow_reader(content: bytes) -> None:
    check(lambda path: rows_of(read_qrels(path)), lambda text: twin_trec(text, 4), content)


@settings(max_examples=60)
@given(files(ids, fixed, ids, fixed, numbers, ids))
def test_runs_equal_a_slow_reader(content: bytes) -> None:
    check(lambda path: rows_of(read_run(path)), lambda text: twin_trec(text, 6), content)


@settings(max_examples=60)
@given(files(numbers, ids.map(lambda name: f"qid:{name}"), st.just("1:.5")))
def test_graded_lists_equal_a_slow_reader(content: bytes) -> None:
    def read(path: Path) -> list[tuple[str, float]]:
        return [(query, grade) for query, _, grade in rows_of(read_graded_lists(path))]

    check(read, twin_letor, content)


@settings(max_examples=60)
@given(files(numbers))
def test_predictions_equal_a_slow_reader(content: bytes) -> None:
    def twin(content: bytes) -> list[float] | set[int]:
        scores, faults = [], text_faults(content)
        for number, line in enumerate(readable(content).split("\n"), 1):
            if line.partition("#")[0].strip(BLANKS):
                try:
                    scores.append(twin_number(line.partition("#")[0].strip(BLANKS)))
                except ValueError:
                    faults.add(number)
        return faults or (scores if len(scores) == 3 else {0})

    lists = qrels_of({"q": {"1": 1, "2": 0, "3": 0}})
    check(lambda path: read_predictions(path, lists).number.tolist(), twin, content)


@given(numbers | st.text("0123456789+-.eE_ ", max_size=6))
def test_numbers_equal_those_of_decimal(text: str) -> None:
    try:
        expected = twin_number(text.strip(" "))
    except ValueError:
        assert parse_number(text) != parse_number(text)
    else:
        assert parse_number(text) == expected
