"""What commands say about their input, in JSON: left out, unjudged and ignored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.commands import Run

LINES = [
    '{"topic": "p", "left": ["d1", "d2"], "right": ["d2", "x"], "won": "first", "note": 1}',
    '{"topic": "p", "left": ["y", "d2"], "right": ["d2", "d1"], "won": "second", "who": 1}',
    '{"topic": "p", "left": ["d1", "d2"], "right": ["d2", "d1"], "won": "broken"}',
]
TOLD = ["--columns", "answer=won", "--answers", "first=a,second=b,broken=out"]


@pytest.fixture
def inspect(run: Run, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return what inspect says about its input."""
    (tmp_path / "docs.jsonl").write_text("\n".join(LINES))
    (tmp_path / "qrels.csv").write_text("query,document,grade\np,d1,2\np,d2,0\n")
    graded = '{"a": [2, null, 1], "b": [1, 0, 0], "answer": "a"}\n'
    (tmp_path / "graded.jsonl").write_text(graded * 2)

    def call(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(run("inspect", *arguments, "--json").stdout)["reading"]
        return found

    return call


def test_documents_that_are_looked_up(inspect: Callable[..., dict[str, Any]]) -> None:
    asked = ("docs.jsonl", "--qrels", "qrels.csv", *TOLD)
    assert inspect(*asked) == {
        "judgments_left_out": 1,
        "documents_without_grade": 0,
        "counted_as": None,
        "looked_up": {"documents": 12, "unjudged": 2, "counted_as": "the grade 0, the worst"},
        "ignored_columns": ["note", "who"],
    }
    dropped = inspect(*asked, "--unjudged", "drop")
    assert dropped["looked_up"]["counted_as"] == "no part of the list"


def test_grades_that_are_missing(run: Run, inspect: Callable[..., dict[str, Any]]) -> None:
    found = inspect("graded.jsonl", "--unjudged", "1")
    assert (found["documents_without_grade"], found["counted_as"]) == (2, "the grade 1")
    assert run("pack", "graded.jsonl", "p.parquet").returncode == 0
    packed = inspect("p.parquet")
    assert packed.pop("digest")
    assert packed == found | {"documents_without_grade": 0, "counted_as": None}
