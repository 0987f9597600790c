"""PairQuestion files, and which answers belong to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcglearn import InputWarning, read_preferences
from dcglearn.asking.questions import (
    PairQuestion,
    batch_name,
    match_answers,
    read_questions,
    write_questions,
)
from dcglearn.base.errors import InputError
from helpers.written import write, write_records

QUESTIONS = [
    PairQuestion("x-1", "q1", (2, 1, 0), (0, 2, 2), ("d1", "d2", "d3"), ("d3", "d4", "d5")),
    PairQuestion("x-2", None, (1, None, 0), (2, 0)),
    PairQuestion("x-3", "q1", (2, 1, 0), (0, 2, 2), ("d1", "d2", "d3"), ("d3", "d4", "d5")),
]
LINE = {"question": "x-1", "query": "q1", "a": [2, 1], "b": [0, 1]}


def test_questions_are_read_as_written(tmp_path: Path) -> None:
    for name in ("questions.jsonl", "questions.jsonl.gz"):
        write_questions(tmp_path / name, QUESTIONS)
        assert read_questions(tmp_path / name) == QUESTIONS


def test_a_batch_is_named_by_what_is_asked() -> None:
    name = batch_name(QUESTIONS)
    assert batch_name([replace(one, id=one.id + "0") for one in QUESTIONS]) == name
    for other in (QUESTIONS[:2], QUESTIONS[1::-1], [replace(QUESTIONS[0], a=(2, 1, 1))]):
        assert batch_name(other) != name


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"question": None}, '"question" is missing'),
        ({"b": "0 1"}, "\"b\" is '0 1'; give a list of grades"),
        ({"a_documents": ["d1"]}, "a list has 2 grades and 1 documents"),
        ({"a": [2, 0]}, "the question 'x-1' is also in line 1; give each question an id"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: dict[str, object], problem: str) -> None:
    path = write_records(tmp_path / "questions.jsonl", LINE, {**LINE, **line})
    with pytest.raises(InputError) as error:
        read_questions(path)
    assert str(error.value).startswith(f"{path}, line 2: ")
    assert problem in str(error.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content, problem in (("", "holds no question"), ("[]", "line 1: is not a JSON obj")):
        with pytest.raises(InputError, match=problem):
            read_questions(write(tmp_path / "questions.jsonl", content))


def test_answers_are_matched_and_those_left_out_counted() -> None:
    lists = [*((list(one.a), list(one.b)) for one in QUESTIONS)]
    given = [
        ("x-1", *lists[0], "a", "ann"),
        ("x-1", *lists[0][::-1], "b", "bob"),  # shown the other way round
        ("x-2", *lists[1], "tie", "ann"),
        ("x-3", *lists[2], "a", "ann"),
        ("x-3", [2, 1, 1], lists[2][1], "a", "bob"),
        ("y-1", *lists[0], "a", "ann"),
    ]
    ids, a, b, answers, judges = zip(*given, strict=True)
    with pytest.warns(InputWarning, match="without a grade"):
        data = read_preferences({"a": a, "b": b, "answer": answers, "judge": judges})
    with pytest.warns(InputWarning) as notes:
        found = match_answers(QUESTIONS, data, np.array(ids, object))
    assert [str(one.message) for one in notes] == [
        "1 answer to questions of another batch left out",
        "1 answer whose lists are not those of their question left out",
    ]
    assert found == data[[0, 1, 2, 3]]


def test_answers_that_were_given_twice_are_counted_once(tmp_path: Path) -> None:
    """As if a page's answers had been downloaded in the middle and at the end."""
    questions = [f"0a1b2c-{k:04d}" for k in (1, 2, 3)]
    lines = [
        {"question": q, "a": [2, 0], "b": [1, 1], "answer": answer, "judge": judge}
        for q, answer, judge in zip(questions, "aab", ("ann", "ann", "bob"), strict=True)
    ]
    again = [
        {**lines[1], "answer": "b"},
        {**lines[1], "judge": None},
        {**lines[0], "question": "q"},
    ]
    early = write_records(tmp_path / "early.jsonl", *lines[:2])
    late = write_records(tmp_path / "late.jsonl", *lines, *again, again[2])
    with pytest.warns(InputWarning, match="3 answers that the same judge gave .* left out"):
        data = read_preferences([early, late])
    assert data.columns()["answer"].tolist() == ["a", "b", "b", "a", "a", "a"]


def test_answers_of_pages_are_judgments(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """What a page writes besides is not an unknown column; a skipped question is left out."""
    beside = {"turn": 1, "reversed": True, "seconds": 2.5, "shown_at": "2026-01-02T03:04:05Z"}
    lines = [{**LINE, "answer": word, "judge": "ann", **beside} for word in ("a", "bad", "skip")]
    path = write_records(tmp_path / "answers.jsonl", {**lines[0], "comment": "hm"}, *lines[1:])
    data = read_preferences(path, strict=True)
    assert data.columns()["answer"].tolist() == ["a", "bad"]
    assert [str(one.message) for one in recwarn] == ["judgments left out for their answers: 1"]
