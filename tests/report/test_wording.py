"""Words that depend on the data: nouns are counted, and queries mentioned where there are any."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dcglearn.base.numbers import counted
from helpers.commands import run_commands
from helpers.written import write, write_records

Run = Callable[..., "subprocess.CompletedProcess[str]"]

JUDGMENT = {"query": "q1", "a": [2, 0], "b": [0, 1], "answer": "a", "judge": "j1"}
TIE = {**JUDGMENT, "query": "q2", "a": [1, 0], "b": [0, 1], "answer": "tie"}
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


COMMANDS = """
inspect p.jsonl
fit p.jsonl --intervals 1 -o m.json
agree p.jsonl zipf
compare p.jsonl zipf
test p.jsonl --gains linear
study p.jsonl -o s.md
pack p.jsonl packed.parquet
fit packed.parquet
evaluate qrels run -m zipf
simulate s.jsonl -n 1
agree p.jsonl m.json
"""


@pytest.mark.parametrize("records", [[JUDGMENT], [JUDGMENT, TIE]], ids=["one", "tie"])
def test_one_is_not_many(records: Sequence[dict[str, object]], tmp_path: Path) -> None:
    write_records(tmp_path / "p.jsonl", *records)
    write(tmp_path / "qrels", "q1 0 d1 1\nq1 0 d2 0\n")
    write(tmp_path / "run", "q1 Q0 d1 1 2 one\nq1 Q0 d2 2 1 one\n")
    for found in run_commands([line.split() for line in COMMANDS.split("\n") if line], tmp_path):
        assert found.returncode in (0, 2), found.stderr
        said = found.stdout + found.stderr
        assert not ONE_OF_MANY.search(said), (found.args, said)


QUERYLESS = """
inspect p.jsonl
fit p.jsonl --C cv
fit p.jsonl --intervals 3 -o m.json
show m.json --no-figure
agree p.jsonl zipf
compare p.jsonl zipf --folds 2 --repeats 1
test p.jsonl --gains linear
study p.jsonl -o s.md
"""


def test_no_queries_without_query_ids(run: Run, tmp_path: Path) -> None:
    made = run("simulate", "q.jsonl", "-n", "60", "--seed", "1", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    records = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    kept = [{name: one[name] for name in ("a", "b", "answer")} for one in records]
    write_records(tmp_path / "p.jsonl", *kept)
    for found in run_commands([line.split() for line in QUERYLESS.split("\n") if line], tmp_path):
        assert found.returncode == 0, found.stderr
        said = found.stdout + found.stderr
        assert not re.search("queries|by query|keep a query", said), (found.args, said)
    page = (tmp_path / "s.md").read_text()
    assert not re.search("queries|by query|keep a query", page)
