"""Question files, pages and tasks on which they are judged, and answers that belong to them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dcglearn import InputWarning, read_preferences
from dcglearn.asking.questions import (
    PairQuestion,
    batch_name,
    match_answers,
    questions_of_judges,
    read_questions,
    write_questions,
)
from helpers.asked import asked_by, drawn_questions, written_texts
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


# --- pages and tasks for judges


def data_of(page: Path) -> dict[str, Any]:
    found = re.search(r'<script id="data"[^>]*>(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_page_shows_texts_or_ids_or_grades(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = [*drawn_questions(2, documents=True), PairQuestion("x-1", None, (2, None), (0, 1))]
    page = asked_by(tmp_path, questions, **written_texts(tmp_path, questions))
    data = data_of(page)
    assert capsys.readouterr().out == f"wrote {page}: 3 questions of batch {data['batch']}\n"
    first, _, last = data["questions"]
    assert first["title"] == "words of q0"
    assert first["shown"]["b"][0] == ["Title d0-5", "Text of d0-5.", "https://d0-5"]
    assert (last["query"], last["title"]) == (None, "")
    assert last["shown"]["a"] == [["grade 2", "", ""], ["no grade", "", ""]]
    first, *_ = data_of(asked_by(tmp_path, questions))["questions"]
    assert (first["title"], first["shown"]["a"][0]) == ("q0", ["d0-0", "", ""])


def test_unknown_documents_are_counted(tmp_path: Path) -> None:
    some = [{"id": "d0-0", "title": "One", "url": "javascript:alert(1)"}, {"id": "d0-1"}]
    texts = write_records(tmp_path / "docs.jsonl", *some)
    with pytest.warns(InputWarning) as notes:
        page = asked_by(tmp_path, drawn_questions(2, documents=True), documents=str(texts))
    assert [str(one.message) for one in notes] == [
        f"18 of 20 documents are not in {texts}; their ids are shown",
        f"1 of 20 documents are without a title in {texts}; their ids are shown",
    ]
    shown = data_of(page)["questions"][0]["shown"]["a"]
    assert shown[:3] == [["One", "", ""], ["d0-1", "", ""], ["d0-2", "", ""]]


def test_a_page_per_judge_shares_some_questions(tmp_path: Path) -> None:
    questions = drawn_questions(20, repeated=4)
    asked = {one.id: one.asked() for one in questions}
    asked_by(tmp_path, questions, "p.html", judges="ann, bob b,cy", overlap=0.25)
    pages = [data_of(tmp_path / f"p-{name}.html") for name in ("ann", "bob-b", "cy")]
    assert [page["judge"] for page in pages] == ["ann", "bob b", "cy"]
    given = [{one["id"] for one in page["questions"]} for page in pages]
    assert set.union(*given) == {*asked}
    shared = {asked[one] for one in set.intersection(*given)}
    assert len(shared) == 5
    for one, other in zip(given, [*given[1:], given[0]], strict=True):
        assert {asked[each] for each in one & other} == shared
    for first, again in zip(questions[:4], questions[20:], strict=True):
        assert all((first.id in one) == (again.id in one) for one in given)
    asked_by(tmp_path, questions, "q.html", judges="ann,bob", overlap=0)
    none = [data_of(tmp_path / f"q-{name}.html")["questions"] for name in ("ann", "bob")]
    assert sum(map(len, none)) == 24


def test_a_question_with_its_sides_exchanged_is_for_the_same_judge() -> None:
    sides = [*(pairs := [(k, k + 1) for k in range(12)]), *(pair[::-1] for pair in pairs)]
    shown = [{"query": "q", "a": a, "b": b, "shown": {"a": a, "b": b}} for a, b in sides]
    for given in questions_of_judges(shown, ["ann", "bob"], 0.0, 0).values():
        assert len({frozenset((one["a"], one["b"])) for one in given}) == len(given) / 2 == 6


def test_tasks_of_label_studio(tmp_path: Path) -> None:
    """Its exports JSON_MIN and CSV hold the data of a task and the value of each control."""
    drawn = drawn_questions(20, documents=True)
    options = {"to": "label-studio", **written_texts(tmp_path, drawn)}
    tasks = json.loads(asked_by(tmp_path, drawn, "tasks.json", **options).read_text("utf-8"))
    labelling = ElementTree.fromstring((tmp_path / "tasks.xml").read_text())  # noqa: S314 - ours
    used = {one.get("value", "")[1:] for one in labelling.iter() if one.get("value", "")[:1] == "$"}
    assert used == {"title", "shown_left", "shown_right"} < tasks[0]["data"].keys()
    names = {one.get("name") for one in labelling.iter()}
    assert all(one.get("toName", "left") in names for one in labelling.iter())
    answers = [str(one.get("alias")) for one in labelling.iter("Choice")]
    questions = {one.id: one for one in drawn}
    assert 3 < sum(one["data"]["reversed"] for one in tasks) < 17
    rows = []
    for number, task in enumerate(tasks):
        data = task["data"]
        question = questions[data["question"]]
        left, right = (question.b, question.a) if data["reversed"] else (question.a, question.b)
        assert (data["a"], data["b"]) == (list(left), list(right))
        documents = question.b_documents if data["reversed"] else question.a_documents
        first = {"id": "1", "title": f"Title {documents[0]}", "body": f"Text of {documents[0]}."}
        assert data["shown_left"][0] == first
        beside = {"annotator": 1, "annotation_id": number, "lead_time": 3.5}
        rows.append({"id": number, **data, "answer": answers[number % 5], **beside})
    write(tmp_path / "min.json", json.dumps(rows))
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    kept = [row for row in rows if row["answer"] != "skip"]
    for name in ("min.json", "table.csv"):
        with pytest.warns(InputWarning) as notes:
            found = read_preferences(tmp_path / name)
        assert "judgments left out for their answers: 4" in [str(one.message) for one in notes]
        assert found.columns()["answer"].tolist() == [row["answer"] for row in kept]
        assert (2 - found.lists).tolist() == [[row["a"], row["b"]] for row in kept]
        assert {*found.judges} == {"1"}
