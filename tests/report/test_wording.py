"""Words that depend on the data: nouns are counted, and queries mentioned where there are any."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dcglearn.base.numbers import counted
from helpers.written import write_records

Run = Callable[..., "subprocess.CompletedProcess[str]"]

JUDGMENT = {"query": "q1", "a": [2, 0], "b": [0, 1], "answer": "a", "judge": "j1"}
TIE = {**JUDGMENT, "query": "q2", "a": [1, 0], "b": [0, 1], "answer": "tie"}
OTHER = {**JUDGMENT, "query": "q3", "a": [2, 2], "b": [1, 0]}
NOUNS = (
    "cells|documents|files|fits|grades|judges|judgments|lists|pairs|preferences|queries|ranks|"
    "resamples|rows|runs|ties|times"
)
ONE_OF_MANY = re.compile(rf"(?<![\w.,])(?<!- )1 ((strict|packed|more|active|tied) )?({NOUNS})\b")


def test_a_noun_is_counted() -> None:
    assert [counted(n, "tie") for n in (0, 1, 2, 1000)] == [
        "0 ties",
        "1 tie",
        "2 ties",
        "1,000 ties",
    ]
    assert ONE_OF_MANY.search("of 1 judgments")
    assert not ONE_OF_MANY.search("of 1 judgment, 21 ties, .1 files")


@pytest.mark.parametrize(
    "records", [[JUDGMENT], [JUDGMENT, TIE], [JUDGMENT, OTHER]], ids=["one", "tie", "two"]
)
def test_one_is_not_many(records: Sequence[dict[str, object]], run: Run, tmp_path: Path) -> None:
    write_records(tmp_path / "p.jsonl", *records)
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 2 one\nq1 Q0 d2 2 1 one\n")
    for command in (
        ["inspect", "p.jsonl"],
        ["fit", "p.jsonl"],
        ["fit", "p.jsonl", "--intervals", "1"],
        ["fit", "p.jsonl", "--C", "cv"],
        ["agree", "p.jsonl", "zipf"],
        ["compare", "p.jsonl", "zipf"],
        ["test", "p.jsonl", "--gains", "linear"],
        ["study", "p.jsonl", "-o", "s.md"],
        ["pack", "p.jsonl", "packed.parquet"],
        ["fit", "packed.parquet"],
        ["evaluate", "qrels", "run", "-m", "zipf"],
        ["simulate", "s.jsonl", "-n", "1"],
        ["fit", "p.jsonl", "-o", "m.json"],
        ["agree", "p.jsonl", "m.json"],
    ):
        found = run(*command, cwd=tmp_path)
        assert found.returncode in (0, 2), found.stderr
        said = found.stdout + found.stderr
        assert not ONE_OF_MANY.search(said), (command, said)


def test_no_queries_without_query_ids(run: Run, tmp_path: Path) -> None:
    made = run("simulate", "q.jsonl", "-n", "400", "--seed", "1", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    records = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    kept = [{name: one[name] for name in ("a", "b", "answer")} for one in records]
    write_records(tmp_path / "p.jsonl", *kept)
    for command in (
        ["inspect", "p.jsonl"],
        ["fit", "p.jsonl", "--intervals", "5", "-o", "m.json"],
        ["fit", "p.jsonl", "--C", "cv"],
        ["show", "m.json", "--no-figure"],
        ["agree", "p.jsonl", "zipf"],
        ["compare", "p.jsonl", "zipf", "--folds", "3", "--repeats", "2"],
        ["test", "p.jsonl", "--gains", "linear"],
        ["study", "p.jsonl", "-o", "s.md"],
    ):
        found = run(*command, cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        said = found.stdout + found.stderr
        assert not re.search("queries|by query|keep a query", said), (command, said)
    page = (tmp_path / "s.md").read_text()
    assert not re.search("queries|by query|keep a query", page)
