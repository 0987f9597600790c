"""Judgments that name documents or runs."""

from __future__ import annotations

import json
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import (
    DocumentGrades,
    InputError,
    Scale,
    index_qrels,
    qrels_of,
    read_preferences,
    run_of,
)
from dcglearn.base.errors import InputWarning
from dcglearn.collections.join import Unjudged
from dcglearn.evaluation.lookup import look_up
from dcglearn.judgments.reading import document_judgments
from dcglearn.judgments.reading.judgment_files import gather_judgments
from helpers.written import write_records

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 1\n"
ONE = "q1 Q0 d2 1 2.5 one\nq1 Q0 d1 2 1.5 one\nq2 Q0 d1 1 1 one\n"
TWO = "q1 Q0 d3 1 2.5 two\nq1 Q0 d9 2 2.5 two\nq1 Q0 d1 3 1 two\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("qrels", QRELS), ("one", ONE), ("two", TWO)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_documents_and_runs_get_their_grades(files: Path) -> None:
    by_id = write_records(
        files / "p.jsonl",
        {"query": "q1", "a": ["d1", "d2"], "b": ["d9", None, "d3"], "answer": "a"},
        {"query": "q2", "a": ["d1"], "b": ["d2"], "answer": "tie"},
    )
    join = DocumentGrades.read(files / "qrels")
    with pytest.warns(InputWarning, match="1 document within the lists has no grade"):
        found = read_preferences(by_id, document_grades=join)
    assert found.scale.labels == (2, 1, 0)
    assert found.lists.tolist() == [[[0, 2, -1], [2, 2, 1]], [[1, -1, -1], [2, -1, -1]]]
    assert join.counts == {"documents": 6, "unjudged": 2}
    by_run = write_records(
        files / "r.jsonl", {"query": "q1", "run_a": "one", "run_b": "two", "answer": "b"}
    )
    join = DocumentGrades.read(files / "qrels", [files / "one", files / "two"], 2)
    assert read_preferences(by_run, document_grades=join).pairs.tolist() == [[[1, 2], [2, 0]]]
    parts = list(gather_judgments(by_id, document_grades=join, memory=0).batches())
    assert [row for part in parts for row in part.lists.tolist()] == found.lists.tolist()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"a": ["d1"], "b": ["d2"]}, 'line 1: "query" is missing'),
        ({"query": "q9", "a": ["d1"], "b": ["d2"]}, "line 1: the query q9 has no qrels"),
        (
            {"query": "q1", "a": ["d3", "d1", "d1"], "b": ["d2"]},
            '"a": the document d1 appears twice',
        ),
        ({"query": "q1", "run_a": "on", "run_b": "two"}, "unknown run 'on'; did you mean 'one'"),
        ({"query": "q2", "run_a": "one", "run_b": "two"}, "the run two holds nothing for"),
        ({"query": "q1", "run_a": "one", "a": ["d1"], "b": ["d2"]}, '"a" and "run_a"; give one'),
        ({"query": "q1", "run_a": "one"}, '"b" is missing'),
        ({"query": "q1", "run_a": ["one"], "run_b": "two"}, r"\"run_a\": \['one'\] is not a name"),
        ({"query": "q1", "a": [["d1"]], "b": ["d2"]}, r"\"a\": \['d1'\] is not a document"),
    ],
)
def test_a_record_that_cannot_be_joined_is_named(
    files: Path, record: dict[str, Any], message: str
) -> None:
    path = write_records(files / "p.jsonl", {**record, "answer": "a"})
    join = DocumentGrades.read(files / "qrels", [files / "one", files / "two"], 2)
    with pytest.raises(InputError, match=message):
        read_preferences(path, document_grades=join)


def test_lists_and_runs_in_one_table(files: Path) -> None:
    (files / "1").write_text(ONE.replace(" one\n", " 1\n"))
    join = DocumentGrades.read(files / "qrels", [files / "1", files / "two"], 2)
    expected = [[[1, 2], [2, 0]], [[0, 1], [2, 2]]]
    (files / "p.csv").write_text("query,a,b,run_a,run_b,answer\nq1,,,1,two,b\nq1,d1 d3,d2 d7,,,a\n")
    records = [
        {"query": "q1", "a": None, "b": None, "run_a": "1", "run_b": "two", "answer": "b"},
        {"query": "q1", "a": ["d1", "d3"], "b": ["d2", "d7"], "answer": "a"},
    ]
    pd.DataFrame(records).to_parquet(files / "p.parquet")
    write_records(files / "p.jsonl", {**records[0], "run_a": 1}, records[1])
    for name in ("p.csv", "p.parquet", "p.jsonl"):
        assert read_preferences(files / name, document_grades=join).pairs.tolist() == expected
    with pytest.raises(InputError, match=r'line 1: "run_a": the run 1, and no runs; give its file'):
        read_preferences(files / "p.jsonl", document_grades=DocumentGrades.read(files / "qrels"))


def test_commands_take_qrels_and_runs(
    run: Callable[..., subprocess.CompletedProcess[str]],
    refused: Callable[..., str],
    files: Path,
) -> None:
    write_records(
        files / "p.jsonl",
        {"query": "q1", "a": ["d1", "d2"], "b": ["d2", "d1"], "answer": "a"},
        {"query": "q1", "run_a": "one", "run_b": "two", "answer": "b"},
    )
    joined = ("--qrels", "qrels", "--run", "one", "--run", "two", "--K", "2")
    learned = run("fit", "p.jsonl", *joined, "-o", "m.json")
    assert learned.returncode == 0, learned.stderr
    assert "1 of 8 documents is unjudged and counts as the grade 0" in learned.stderr
    assert run("pack", "p.jsonl", "p.parquet", *joined).stdout.startswith(
        "wrote p.parquet: 2 judgments"
    )
    agreed = run("agree", "p.jsonl", "zipf", "--json", *joined)
    assert json.loads(agreed.stdout)["rows"][0]["right"] == 1
    write_records(files / "u.jsonl", {"query": "q1", "a": ["d2"], "b": ["new"], "answer": "a"})
    reversed_scale = run(
        "agree", "u.jsonl", "zipf", "--qrels", "qrels", "--scale", "0,1,2", "--json"
    )
    assert "as the grade 2" in reversed_scale.stderr  # the worst of the scale that is declared
    assert json.loads(reversed_scale.stdout)["rows"][0]["right"] == 1
    write_records(files / "g.jsonl", {"query": "q1", "a": [2, 1], "b": [0, 1], "answer": "a"})
    for arguments, message in (
        (("agree", "g.jsonl", "zipf", "--qrels", "qrels"), "none of 4 documents is in the qr"),
        (("pack", "g.jsonl", "g.parquet", "--qrels", "qrels"), "leave out --qrels"),
        (("inspect", "p.jsonl", "--run", "one"), "--run without --qrels"),
        (("inspect", "p.jsonl", "--qrels", "qrels", "--run", "one"), "runs without K"),
        (("inspect", "p.jsonl", "--qrels", "none"), "none: no such file"),
        (("fit", "p.parquet", "--qrels", "qrels"), "--qrels does not apply to packed pairs"),
    ):
        assert message in refused(*arguments)


def test_documents_and_runs_under_other_names(files: Path) -> None:
    notes: list[str] = []
    join = DocumentGrades.read(files / "qrels", [files / "one", files / "two"], 2)
    arena = write_records(
        files / "r.jsonl",
        {"question_id": "q1", "model_a": "one", "model_b": "two", "winner": "model_b"},
        {"question_id": "q1", "model_a": "two", "model_b": "one", "winner": "tie (bothbad)"},
    )
    found = read_preferences(arena, document_grades=join, note=notes.append)
    assert found.pairs.tolist() == [[[1, 2], [2, 0]]]
    assert found.answers.tolist() == [1, 4]
    assert notes == [
        "columns taken: answer=winner, query=question_id, run_a=model_a, run_b=model_b",
        "answers taken: model_b=b, tie (bothbad)=bad",
    ]
    shown = files / "shown.csv"
    shown.write_text("topic,first,second,pref\nq1,d1|d2,d9|d3,left\n")
    told = {"columns": "a=first,b=second", "document_grades": join, "note": notes.append}
    assert read_preferences(shown, **told).lists.tolist() == [[[0, 2], [2, 1]]]  # type: ignore[arg-type]  # of all arguments
    shown.write_text("topic,sys1,sys2,pref\nq1,one,two,right\n")
    told["columns"] = "run_a=sys1,run_b=sys2"
    assert read_preferences(shown, **told).pairs.tolist() == [[[1, 2], [2, 0]]]  # type: ignore[arg-type]  # of all arguments
    with pytest.raises(InputError) as refused:
        read_preferences(shown, document_grades=join)
    assert str(refused.value) == (
        f'{shown}: the columns "a" and "b" are missing; every judgment needs a, b, answer; if they '
        "are among 'sys1', 'sys2', say `columns='a=...,b=...'`; the fields of judgments of runs "
        "are run_a and run_b"
    )


QUERIES = st.sampled_from(["q1", "q2", "q3"])
DOCUMENTS = st.sampled_from("abcdefgh")
judged_documents = st.dictionaries(
    QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0, 1, 2]), min_size=1), min_size=1
)
retrieved = st.dictionaries(
    QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0.5, 1.0, 2.0]), min_size=1), min_size=1
)


@pytest.mark.parametrize("unjudged", ["worst", "nothing", "removed"])
@given(qrels=judged_documents, run=retrieved, n_ranks=st.integers(1, 5))
def test_unjudged_documents_count_as_when_systems_are_evaluated(
    unjudged: Unjudged,
    qrels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    n_ranks: int,
) -> None:
    """By run and by the ids of its first documents."""
    scale = Scale((2, 1, 0))
    ranked = look_up(run_of(run), index_qrels(qrels_of(qrels), scale), "input").ranked
    kept = ranked.without_unjudged() if unjudged == "removed" else ranked
    rows = kept.grade_matrix(n_ranks)
    rows[rows == 3] = 2 if unjudged == "worst" else -1
    labels = [2, 1, 0, None]  # the index -1 is the last
    expected = dict(zip(qrels, [[labels[g] for g in row] for row in rows.tolist()], strict=True))
    for query in qrels.keys() & run.keys():
        order = sorted(run[query], key=lambda document, of=run[query]: -of[document])
        if unjudged != "removed":
            order = order[:n_ranks]
        for record in (
            {"query": query, "run_a": "run", "run_b": "run"},
            {"query": query, "a": order, "b": order},
        ):
            grades = DocumentGrades.of(qrels_of(qrels), [run_of(run)], n_ranks, scale, unjudged)
            records = grades.grade_records(iter([("line 1", record)]), "p.jsonl")
            if set(expected[query]) == {None}:
                with pytest.raises(InputError, match=r'line 1: "a": no document of the list is ju'):
                    next(records)
                continue
            ((place, found),) = records
            assert place == "line 1"
            assert found["a"] == found["b"]
            padded = found["a"] + [None] * n_ranks
            assert padded[:n_ranks] == expected[query]


def test_counts_of_unjudged_documents(files: Path) -> None:
    """d9 of the run two is not judged; it is third and last of q1 where one rank is left."""
    path = write_records(
        files / "p.jsonl",
        {"query": "q1", "run_a": "one", "run_b": "two", "answer": "b"},
        {"query": "q1", "a": ["d1", None, "d8"], "b": ["d7", "d2"], "answer": "b"},
    )
    for unjudged, n_ranks, lists, counts in (
        ("worst", 2, [[[2, 0], [1, 2]], [[0, 2, 2], [2, 2]]], (8, 3)),
        (1, 2, [[[2, 0], [1, 1]], [[0, 1, 1], [1, 2]]], (8, 3)),
        ("drop", 2, [[[2, 0], [1, 0]], [[0, -1], [2, -1]]], (9, 3)),
        ("nothing", 2, [[[2, 0], [1, -1]], [[0, -1, -1], [-1, 2]]], (8, 3)),
        ("removed", 2, [[[2, 0], [1, 0]], [[0, -1], [2, -1]]], (9, 3)),
        ("removed", 1, [[[2], [1]], [[0], [2]]], (6, 2)),
        ("worst", 1, [[[2], [1]], [[0, 2, 2], [2, 2]]], (6, 2)),
    ):
        grades = DocumentGrades.read(
            files / "qrels", [files / "one", files / "two"], n_ranks, unjudged=unjudged
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = read_preferences(path, document_grades=grades)
        a_grade = unjudged in ("worst", 1)
        assert [one.category for one in said] == [InputWarning] * a_grade
        expected = [[row + [-1] * (found.n_ranks - len(row)) for row in pair] for pair in lists]
        assert found.lists.tolist() == expected, (unjudged, n_ranks)
        assert (grades.counts["documents"], grades.counts["unjudged"]) == counts


def test_judgments_none_of_whose_documents_is_judged(files: Path) -> None:
    grades = DocumentGrades.read(files / "qrels")
    grades.check_any_judged()  # nothing was read yet
    record = {"query": "q1", "a": ["x", None], "b": ["y"], "answer": "a"}
    read_preferences(write_records(files / "p.jsonl", record), document_grades=grades)
    with pytest.raises(InputError, match=r"none of 2 documents is in the qrels; .* `qrels`"):
        grades.check_any_judged()
    read_preferences(
        write_records(files / "p.jsonl", {**record, "b": ["d1"]}), document_grades=grades
    )
    grades.check_any_judged()


def test_rules_that_give_no_grade_are_refused(files: Path) -> None:
    with pytest.raises(InputError, match="runs without K; give `n_ranks`"):
        DocumentGrades.read(files / "qrels", [files / "one"])
    with pytest.raises(InputError, match="`unjudged` is 'bounds'; use worst, drop, nothing or a"):
        DocumentGrades.read(files / "qrels", unjudged="bounds")


def test_the_first_bad_line_is_named_also_where_documents_are_looked_up_in_batches(
    files: Path,
) -> None:
    good = {"query": "q1", "a": ["d1"], "b": ["d2"], "answer": "a"}
    path = write_records(files / "p.jsonl", good, {**good, "answer": "c"}, {**good, "query": "q9"})
    with pytest.raises(InputError, match="line 2: the answer is 'c'"):
        read_preferences(path, document_grades=DocumentGrades.read(files / "qrels"))
    path.write_text("\n".join([json.dumps(good), json.dumps({**good, "answer": "c"}), "{"]))
    with pytest.raises(InputError, match="line 2: the answer is 'c'"):
        read_preferences(path, document_grades=DocumentGrades.read(files / "qrels"))
    path.write_text("\n".join([json.dumps(good), json.dumps(good), "{"]))
    with pytest.raises(InputError, match="line 3: is not JSON"):
        read_preferences(path, document_grades=DocumentGrades.read(files / "qrels"))


def test_many_judgments_are_looked_up_batch_by_batch(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = ["d1", "d2", "d3", "d9"]
    grades = dict(zip(documents, [0, 2, 1, 2], strict=True))
    records = [
        {"query": "q1", "a": documents[i % 4 :], "b": [documents[i % 3]], "answer": "a"}
        for i in range(50)
    ]
    path = write_records(files / "p.jsonl", *records)
    expected = [
        [[grades[d] for d in record["a"]], [grades[d] for d in record["b"]]] for record in records
    ]
    for size in (1, 7, 25, 50, 4096):
        monkeypatch.setattr(document_judgments, "_BATCH", size)
        join = DocumentGrades.read(files / "qrels")
        found = read_preferences(path, document_grades=join)
        trimmed = [[[g for g in row if g >= 0] for row in pair] for pair in found.lists.tolist()]
        assert trimmed == expected
        assert join.counts["documents"] == sum(len(a) + len(b) for a, b in expected)


def test_a_declared_scale_need_not_hold_every_grade_of_the_qrels(files: Path) -> None:
    path = write_records(
        files / "p.jsonl", {"query": "q1", "a": ["d1"], "b": ["d2"], "answer": "a"}
    )
    scale = Scale((0, 2))  # the qrels also have the grade 1
    grades = DocumentGrades.read(files / "qrels", scale=scale)
    assert read_preferences(path, document_grades=grades).lists.tolist() == [[[1], [0]]]
    write_records(path, {"query": "q1", "a": ["d3"], "b": ["d2"], "answer": "a"})
    with pytest.raises(InputError, match='line 1, "a", rank 1: grade 1 is off the scale'):
        read_preferences(path, document_grades=grades)


def test_ids_that_are_not_text_are_refused(files: Path) -> None:
    path = files / "p.jsonl"
    path.write_text('{"query": "q1", "a": ["\\ud800"], "b": ["d1"], "answer": "a"}')
    with pytest.raises(InputError, match="line 1: is not valid text"):
        read_preferences(path, document_grades=DocumentGrades.read(files / "qrels"))
