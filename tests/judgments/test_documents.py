"""Judgments that name documents or runs, whose grades are looked up in qrels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import (
    DocumentGrades,
    InputError,
    Preferences,
    Ranked,
    Scale,
    index_qrels,
    qrels_of,
    read_preferences,
    run_of,
)
from dcglearn.collections.runs import grade_run
from helpers.notes import noted
from helpers.slow_reader import trimmed
from helpers.written import write_records

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 1\n"
ONE = "q1 Q0 d2 1 2.5 one\nq1 Q0 d1 2 1.5 one\nq2 Q0 d1 1 1 one\n"
TWO = "q1 Q0 d3 1 2.5 two\nq1 Q0 d9 2 2.5 two\nq1 Q0 d1 3 1 two\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("qrels", QRELS), ("one", ONE), ("two", TWO)):
        (tmp_path / name).write_text(text)
    return tmp_path


def read(path: Path, grades: DocumentGrades, **more: Any) -> tuple[Preferences, list[str]]:
    with noted() as notes:
        found = read_preferences(path, document_grades=grades, **more)
    return found, notes


def lists(found: Preferences) -> list[Any]:
    """The lists without the empty ranks below."""
    return [
        [trimmed([None if g < 0 else g for g in side]) for side in pair]
        for pair in found.lists.tolist()
    ]


def both_runs(files: Path) -> DocumentGrades:
    return DocumentGrades.read(files / "qrels", [files / "one", files / "two"])


def test_documents_and_runs_under_other_names(files: Path) -> None:
    grades = both_runs(files)
    arena = write_records(
        files / "r.jsonl",
        {"question_id": "q1", "model_a": "one", "model_b": "two", "winner": "model_b"},
        {"question_id": "q1", "model_a": "two", "model_b": "one", "winner": "tie (bothbad)"},
    )
    found, notes = read(arena, grades, n_ranks=2)
    assert found.pairs.tolist() == [[[1, 2], [2, 0]]]
    assert found.answers.tolist() == [1, 4]
    assert found.scale.labels == (2, 1, 0)
    assert any(note.startswith("documents without a judgment: 2 of 8") for note in notes)
    assert "run_a=model_a, run_b=model_b" in notes[0]
    shown = files / "shown.csv"
    shown.write_text("topic,first,second,pref\nq1,d1|d2,d9|d3,left\n")
    assert lists(read(shown, grades, n_ranks=2, columns="a=first,b=second")[0]) == [
        [[0, 2], [2, 1]]
    ]
    shown.write_text("topic,sys1,sys2,pref\nq1,one,two,right\n")
    told, _ = read(shown, grades, n_ranks=2, columns="run_a=sys1,run_b=sys2")
    assert told.pairs.tolist() == [[[1, 2], [2, 0]]]
    with pytest.raises(InputError, match="a or run_a"):
        read(shown, grades, n_ranks=2)


QUERIES = st.sampled_from(["q1", "q2", "q3"])
DOCUMENTS = st.sampled_from("abcdefgh")
judged_documents = st.dictionaries(
    QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0, 1, 2]), min_size=1), min_size=1
)
retrieved = st.dictionaries(
    QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0.5, 1.0, 2.0]), min_size=1), min_size=1
)


@pytest.mark.parametrize("unjudged", ["worst", "nothing", "drop"])
@settings(max_examples=25)
@given(qrels=judged_documents, run=retrieved, n_ranks=st.integers(1, 5))
def test_unjudged_documents_count_as_when_systems_are_evaluated(
    unjudged: Any, qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], n_ranks: int
) -> None:
    """By run and by the ids of its first documents."""
    scale = Scale((2, 1, 0))
    known = index_qrels(qrels_of(qrels), scale)
    graded = grade_run(run_of(run), known)
    ranked = Ranked(graded.starts, graded.grades, known.pools)
    kept = ranked.keep(ranked.grades < ranked.n_grades) if unjudged == "drop" else ranked
    rows = kept.grade_matrix(n_ranks)
    rows[rows == 3] = 2 if unjudged == "worst" else -1
    expected = {
        query: trimmed([None if g < 0 else g for g in row])
        for query, row in zip(qrels, rows.tolist(), strict=True)
    }
    for query in qrels.keys() & run.keys():
        order = sorted(run[query], key=lambda document, of=run[query]: -of[document])
        if unjudged == "drop":
            judged = [document for document in order if document in qrels[query]]
            order = order[: order.index(judged[:n_ranks][-1]) + 1] if judged else order
        else:
            order = order[:n_ranks]
        for sides in ({"run_a": ["run"], "run_b": ["run"]}, {"a": [order], "b": [order]}):
            options: dict[str, Any] = {
                "document_grades": DocumentGrades.of(qrels_of(qrels), [run_of(run)], scale),
                "n_ranks": n_ranks if "run_a" in sides else len(order),
                "unjudged": unjudged,
            }
            frame = {"query": [query], "answer": ["tie"], **sides}
            if not any(document in qrels[query] for document in order):
                with pytest.raises(InputError, match=r"holds no grade|is in the qrels"):
                    read_preferences(frame, **options)
                continue
            found = read_preferences(frame, **options)
            assert lists(found) == [[expected[query], expected[query]]]


def test_rules_that_give_no_grade_are_refused(files: Path) -> None:
    judged = {"query": ["q1"], "a": [["d1"]], "b": [["d9"]], "answer": ["a"]}
    by_run = {"query": ["q1"], "run_a": ["one"], "run_b": ["two"], "answer": ["b"]}
    alone = DocumentGrades.read(files / "qrels")
    with pytest.raises(InputError, match="n_ranks"):
        read_preferences(judged, document_grades=both_runs(files))
    with pytest.raises(InputError, match="not a known run"):
        read_preferences(by_run, document_grades=alone)
    with pytest.raises(InputError, match="'bounds'"):
        read_preferences(judged, document_grades=alone, unjudged="bounds")
    with pytest.raises(InputError) as refused:
        DocumentGrades.read(files / "qrels", scale=Scale((0, 2)))  # not the grade 1
    assert refused.value.place == str(files / "qrels")
