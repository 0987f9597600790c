"""Words that depend on the data: nouns are counted, and queries mentioned where there are any."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from helpers.commands import run_commands
from helpers.written import write, write_records

JUDGMENT = {"query": "q1", "a": [2, 0], "b": [0, 1], "answer": "a", "judge": "j1"}
TIE = {**JUDGMENT, "query": "q2", "a": [1, 0], "b": [0, 1], "answer": "tie"}
NOUNS = (
    "cells|documents|files|fits|grades|judges|judgments|lists|pairs|preferences|queries|ranks|"
    "resamples|rows|runs|ties|times"
)
ONE_OF_MANY = re.compile(rf"(?<![\w.,])(?<!- )1 ((strict|packed|more|active|tied) )?({NOUNS})\b")


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
