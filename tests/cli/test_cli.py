"""The command line as a shell sees it: output, exit codes, and what is left on disk."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from golden.make_transcripts import FOLDER, NAMES, transcript

from helpers.commands import Run, run_program


def test_compare_writes_every_form(run: Run, tmp_path: Path) -> None:
    assert run("simulate", "p.jsonl", "-n", "300").returncode == 0
    out = ["c.md", "c.tex", "c.csv", "c.json", "c.svg"]
    asked = ("compare", "p.jsonl", "zipf", "--folds", "3", "--repeats", "2")
    found = run(*asked, *(part for name in out for part in ("-o", name)))
    assert found.returncode == 0, found.stderr
    assert all((tmp_path / name).stat().st_size > 100 for name in out)
    written = json.loads((tmp_path / "c.json").read_text())
    other = [sys.executable, "-m", "dcglearn", *asked, "--json"]
    again = run_program(other, tmp_path, PYTHONHASHSEED="1")  # depends on the order of no set
    assert json.loads(again.stdout) == written
    agreed = json.loads(run("agree", "p.jsonl", "zipf", "--json").stdout)["rows"][0]
    given = next(row for row in written["rows"] if row["name"] == "zipf")
    for name in ("right", "tied", "wrong", "agreement"):
        assert given[name] == pytest.approx(agreed[name])
    for row in written["rows"]:
        assert row["right"] + row["tied"] + row["wrong"] == pytest.approx(written["strict"])


@pytest.mark.parametrize("name", NAMES)
def test_commands_say_what_the_transcripts_hold(name: str) -> None:
    """Word for word: run ``tests/golden/make_transcripts.py`` after a change."""
    assert transcript(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
