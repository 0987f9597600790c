"""The command judge: pages and tasks, who gets which question, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcglearn import InputWarning, read_preferences
from dcglearn.asking.questions import PairQuestion, read_questions
from helpers.asked import drawn_questions, written_questions
from helpers.written import write, write_records

Run = Callable[..., "subprocess.CompletedProcess[str]"]
TEXTS = ("--documents", "docs.jsonl", "--queries", "queries.jsonl")


def data_of(page: Path) -> dict[str, Any]:
    found = re.search(r'<script id="data"[^>]*>(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def ids_of(page: Path) -> list[str]:
    return [one["id"] for one in data_of(page)["questions"]]


def test_a_page_shows_texts_or_ids_or_grades(tmp_path: Path, run: Run) -> None:
    questions = [*drawn_questions(2, documents=True), PairQuestion("x-1", None, (2, None), (0, 1))]
    path = written_questions(tmp_path, questions)
    done = run("judge", path, "-o", "page.html", *TEXTS, "--seed", 3)
    batch = data_of(tmp_path / "page.html")["batch"]
    assert done.stdout == f"wrote page.html: 3 questions of batch {batch}\n"
    assert (done.returncode, done.stderr) == (0, "")
    first, _, last = data_of(tmp_path / "page.html")["questions"]
    assert first["title"] == "words of q0"
    assert first["shown"]["b"][0] == ["Title d0-5", "Text of d0-5.", "https://x.org/d0-5"]
    assert (last["query"], last["title"]) == (None, "")
    assert last["shown"]["a"] == [["grade 2", "", ""], ["no grade", "", ""]]
    assert run("judge", path, "-o", "ids.html").returncode == 0
    first, *_ = data_of(tmp_path / "ids.html")["questions"]
    assert (first["title"], first["shown"]["a"][0]) == ("q0", ["d0-0", "", ""])


def test_unknown_documents_are_counted(tmp_path: Path, run: Run) -> None:
    path = written_questions(tmp_path, drawn_questions(2, documents=True))
    some = [{"id": "d0-0", "title": "One", "url": "javascript:alert(1)"}, {"id": "d0-1"}]
    write_records(tmp_path / "docs.jsonl", *some)
    done = run("judge", path, "-o", "page.html", *TEXTS)
    assert done.stderr.splitlines() == [
        "18 of 20 documents are not in docs.jsonl; their ids are shown",
        "1 of 20 documents are without a title in docs.jsonl; their ids are shown",
    ]
    shown = data_of(tmp_path / "page.html")["questions"][0]["shown"]["a"]
    assert shown[:3] == [["One", "", ""], ["d0-1", "", ""], ["d0-2", "", ""]]


def test_a_page_per_judge_shares_some_questions(tmp_path: Path, run: Run) -> None:
    questions = drawn_questions(20, repeated=4)
    path = written_questions(tmp_path, questions)
    done = run("judge", path, "-o", "p.html", "--judges", "ann, bob b,cy", "--overlap", 0.25)
    pages = [tmp_path / f"p-{name}.html" for name in ("ann", "bob-b", "cy")]
    assert done.stdout.count("wrote p-") == 3
    assert [data_of(page)["judge"] for page in pages] == ["ann", "bob b", "cy"]
    given = [{*ids_of(page)} for page in pages]
    assert set.union(*given) == {one.id for one in questions}
    asked = {one.id: one.asked() for one in questions}
    shared = {asked[one] for one in set.intersection(*given)}
    assert len(shared) == 5
    for one, other in zip(given, [*given[1:], given[0]], strict=True):
        assert {asked[each] for each in one & other} == shared
    for one in given:  # a repeated question is for the same judge
        assert all({*ids} <= one or not {*ids} & one for ids in _repeated(questions))
    again = run("judge", path, "-o", "q.html", "--judges", "ann,bob b,cy", "--overlap", 0)
    assert again.returncode == 0
    assert sum(len(ids_of(tmp_path / f"q-{name}.html")) for name in ("ann", "bob-b", "cy")) == 24


def _repeated(questions: list[PairQuestion]) -> list[list[str]]:
    each = {one.asked(): list[str]() for one in questions}
    for one in questions:
        each[one.asked()].append(one.id)
    return [ids for ids in each.values() if len(ids) > 1]


def test_tasks_of_label_studio(tmp_path: Path, run: Run) -> None:
    """Its exports JSON_MIN and CSV hold the data of a task and the value of each control."""
    path = written_questions(tmp_path, drawn_questions(20, documents=True))
    done = run("judge", path, "-o", "tasks.json", "--to", "label-studio", *TEXTS)
    assert (done.returncode, done.stderr) == (0, "")
    tasks = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    labelling = ElementTree.fromstring((tmp_path / "tasks.xml").read_text())  # noqa: S314 - ours
    used = {one.get("value", "")[1:] for one in labelling.iter() if one.get("value", "")[:1] == "$"}
    assert used == {"title", "shown_left", "shown_right"} < tasks[0]["data"].keys()
    names = {one.get("name") for one in labelling.iter()}
    assert all(one.get("toName", "left") in names for one in labelling.iter())
    answers = [str(one.get("alias")) for one in labelling.iter("Choice")]
    questions = {one.id: one for one in read_questions(path)}
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
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]))
    writer.writeheader()
    cells = [{k: json.dumps(v) if isinstance(v, list) else v for k, v in r.items()} for r in rows]
    writer.writerows(cells)
    write(tmp_path / "table.csv", table.getvalue())
    kept = [row for row in rows if row["answer"] != "skip"]
    for name in ("min.json", "table.csv"):
        with pytest.warns(InputWarning) as notes:
            data = read_preferences(tmp_path / name)
        assert "judgments left out for their answers: 4" in [str(one.message) for one in notes]
        assert data.columns()["answer"].tolist() == [row["answer"] for row in kept]
        assert (2 - data.lists).tolist() == [[row["a"], row["b"]] for row in kept]
        assert {*data.judges} == {"1"}


LINE = {"question": "x-1", "a": [2, 1], "b": [0, 1], "a_documents": ["d1", "d2"]}
DOCUMENT = {"id": "d1", "title": "One"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("questions.jsonl -o questions.jsonl", "questions.jsonl: ends in '.jsonl'"),
        ("empty.jsonl -o p.html", "empty.jsonl: holds no question"),
        ("twice.jsonl -o p.html", "twice.jsonl, line 2: the question 'x-1' is also in line 1"),
        ("questions.jsonl -o p.html --documents names.jsonl", "has no ids and titles of documents"),
        ("questions.jsonl -o p.html --documents other.jsonl", "holds none of the documents"),
        ("questions.jsonl -o p.html --documents same.jsonl", "line 2: the document 'd1' appears"),
        ("questions.jsonl -o p.html --overlap .1", "--overlap without --judges"),
        ("questions.jsonl -o p.html --judges a/b,a.b,a-b", "p-a-b.html: is to be written twice"),
        ("questions.jsonl -o t.json --to labelstudio", "did you mean 'label-studio'"),
        (
            "questions.jsonl -o t.json --to label-studio --judges ann",
            "--to label-studio with --judges",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(
    tmp_path: Path, run: Run, words: str, problem: str
) -> None:
    write(tmp_path / "empty.jsonl", "")
    write_records(tmp_path / "questions.jsonl", LINE)
    write_records(tmp_path / "twice.jsonl", LINE, LINE)
    write_records(tmp_path / "names.jsonl", {"id": "d1", "name": "One"})
    write_records(tmp_path / "other.jsonl", {"id": "e1", "title": "One"})
    write_records(tmp_path / "same.jsonl", DOCUMENT, DOCUMENT)
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    done = run("judge", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert done.stderr.splitlines()[-1].startswith("dcglearn: ")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before
