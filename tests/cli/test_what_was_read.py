"""What commands say about their input, in JSON: left out, unjudged and ignored."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

LINES = [
    '{"topic": "p", "left": ["d1", "d2"], "right": ["d2", "x"], "won": "first", "note": 1}',
    '{"topic": "p", "left": ["y", "d2"], "right": ["d2", "d1"], "won": "second", "who": 1}',
    '{"topic": "p", "left": ["d1", "d2"], "right": ["d2", "d1"], "won": "broken"}',
]
TOLD = ["--columns", "answer=won", "--answers", "first=a,second=b,broken=out"]


@pytest.fixture
def reading(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """Return what inspect says about its input."""
    monkeypatch.chdir(tmp_path)
    Path("docs.jsonl").write_text("\n".join(LINES))
    Path("qrels.csv").write_text("query,document,grade\np,d1,2\np,d2,0\n")
    graded = '{"a": [2, null, 1], "b": [1, 0, 0], "answer": "a"}\n'
    Path("graded.jsonl").write_text(graded * 2)

    def call(*arguments: str) -> dict[str, Any]:
        done = run("inspect", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)["reading"]
        return found

    return call


def test_documents_that_are_looked_up(reading: Callable[..., dict[str, Any]]) -> None:
    found = reading("docs.jsonl", "--qrels", "qrels.csv", *TOLD)
    assert found == {
        "judgments_left_out": 1,
        "documents_without_grade": 0,
        "counted_as": None,
        "looked_up": {"documents": 12, "unjudged": 2, "counted_as": "the grade 0, the worst"},
        "ignored_columns": ["note", "who"],
    }
    dropped = reading("docs.jsonl", "--qrels", "qrels.csv", *TOLD, "--unjudged", "drop")
    assert dropped["looked_up"]["counted_as"] == "no part of the list"


def test_grades_that_are_missing(run: Run, reading: Callable[..., dict[str, Any]]) -> None:
    found = reading("graded.jsonl", "--unjudged", "1")
    assert found == {
        "judgments_left_out": 0,
        "documents_without_grade": 2,
        "counted_as": "the grade 1",
        "looked_up": None,
        "ignored_columns": [],
    }
    assert run("pack", "graded.jsonl", "p.parquet").returncode == 0
    packed = reading("p.parquet")
    assert packed.pop("digest")
    assert packed == found | {"documents_without_grade": 0, "counted_as": None}
