"""Judgments under other names and in other words, from the shell and from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import PackedPairs, read_preferences
from dcglearn.base.errors import InputWarning

EXPORT = """qid,left,right,verdict,rater,note
q1,2 0 1,1 1 0,Left,ann,
q1,0 0 1,2 1 0,right,ann,unsure
q2,1 0 0,1 0 0,Same,bob,
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_groups_by_a_column_that_is_also_a_field(run: Any, place: Path) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for i, (a, b) in enumerate(rng.integers(0, 3, (300, 2, 2)).tolist()):
        left = 2 * a[0] + a[1] + rng.normal() > 2 * b[0] + b[1]
        lists = f"{a[0]} {a[1]},{b[0]} {b[1]}"
        rows.append(f"q{i},{lists},{'Left' if left else 'right'},r{i % 2},x{i % 2}")
    (place / "export.csv").write_text("\n".join(["qid,left,right,verdict,rater,note", *rows]))
    found = [run("test", "export.csv", "--by", name, "--json") for name in ("judge", "rater")]
    assert found[0].returncode == 0, found[0].stderr
    assert found[0].stdout == found[1].stdout
    assert run("test", "export.csv", "--by", "note", "--json").returncode == 0
    left = run("test", "export.csv", "--by", "note", "--answers", "left=a,right=out")
    assert "judgments left out for their answers" in left.stderr


def test_likert_scales_are_weights_with_a_side(run: Any, place: Path) -> None:
    text = EXPORT.replace("Left", "3").replace("right,a", "-1,a").replace("Same", "0")
    (place / "export.csv").write_text(text)
    found = run("inspect", "export.csv", "--json")
    assert "above 0 means a, below 0 means b, 0 a tie; their size is the weight" in found.stderr
    assert "(the other way: --answers positive=b,negative=a,0=tie)" in found.stderr
    with pytest.warns(InputWarning):
        data = read_preferences("export.csv")
    assert data.weights.tolist() == [3.0, 1.0, 1.0]
    assert data.answers.tolist() == [0, 1, 2]


NULLS = '{"a": [2, null, 1], "b": [1, 0, null], "answer": "a"}\n'


@pytest.mark.parametrize(
    ("rule", "first", "words"),
    [
        (None, [0, 2, 1], "counted as the grade 0, the worst"),
        ("worst", [0, 2, 1], "counted as the grade 0, the worst"),
        ("1", [0, 1, 1], "counted as the grade 1"),
        ("drop", [0, 1, -1], "left out"),
        ("nothing", [0, -1, 1], ""),
    ],
)
def test_null_within_a_list_is_a_document_without_a_grade(
    run: Any, place: Path, rule: str | None, first: list[int], words: str
) -> None:
    (place / "p.jsonl").write_text(NULLS)
    options = [] if rule is None else ["--unjudged", rule]
    found = run("pack", "p.jsonl", "packed.parquet", *options)
    expected = f"documents within the lists without a grade (null): 1, {words}\n" if words else ""
    assert found.stderr == expected
    assert PackedPairs.of("packed.parquet").preferences().lists[0, 0].tolist() == first
