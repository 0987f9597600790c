"""The command line as a shell sees it: output, exit codes, and what is left on disk."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from golden.make_transcripts import FOLDER, NAMES, transcript

from helpers.commands import Run, run_commands, run_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with simulated judgments and a measure learned from them."""
    place = tmp_path_factory.mktemp("cli")
    lines = [["simulate", "p.jsonl", "-n", "300"], ["fit", "p.jsonl", "-o", "learned.json"]]
    assert [done.returncode for done in run_commands(lines, place)] == [0, 0]
    return place


def test_fit_says_what_it_writes(run: Run, folder: Path) -> None:
    asked = ("fit", "p.jsonl", "--C", "cv", "--margin", "hamming", "--intervals", "5")
    said = run(*asked, "-o", "chosen.json", cwd=folder).stdout
    assert "how far the numbers of W move with other queries, in 5 fits" in said
    assert "C = " in said
    assert "wrote chosen.json; commands given this file use its DCG" in said
    assert "95% of resamples" in run("show", "chosen.json", "--no-figure", cwd=folder).stdout
    about = json.loads((folder / "chosen.json").read_text())["about"]
    assert len(about["intervals"]["discounts"]) == 5
    assert about["parameters"]["C"] == about["choice"]["C"]
    assert about["choice"]["C"] in about["choice"]["grid"]


def test_show_draws_beside_the_file(run: Run, folder: Path) -> None:
    found = run("show", "learned.json", cwd=folder)
    assert "wrote learned.png" in found.stdout
    assert (folder / "learned.png").read_bytes()[:4] == b"\x89PNG"
    run("show", "rbp:0.8", "--scale", "2,1,0", "--K", "5", "-o", "x.svg", cwd=folder)
    assert (folder / "x.svg").read_text().startswith("<?xml")


def test_agree_takes_presets_files_and_measures_in_full(run: Run, folder: Path) -> None:
    measures = ("zipf", "learned.json", "learned.json:utility", "DCG([2, 1, 0], [1,1,1,1,1])")
    found = run("agree", "p.jsonl", *measures, "--json", cwd=folder)
    document = json.loads(found.stdout)
    rows = document["rows"]
    assert document["file"] == "p.jsonl"
    assert document["strict"] + document["ties"] == document["judgments"] == 300
    assert [row["measure"] for row in rows] == list(measures)
    assert all(row["right"] + row["tied"] + row["wrong"] == document["strict"] for row in rows)
    assert all(0 <= row["low"] < row["agreement"] < row["high"] <= 1 for row in rows)
    assert run("agree", "p.jsonl", cwd=folder).stdout.count("DCG(") >= 8


def test_compare_writes_every_form(run: Run, folder: Path) -> None:
    out = ["c.md", "c.tex", "c.csv", "c.json", "c.svg"]
    asked = ("compare", "p.jsonl", "zipf", "--folds", "3", "--repeats", "2")
    found = run(*asked, *(part for name in out for part in ("-o", name)), cwd=folder)
    assert found.returncode == 0, found.stderr
    assert all((folder / name).stat().st_size > 100 for name in out)
    written = json.loads((folder / "c.json").read_text())
    other = [sys.executable, "-m", "dcglearn", *asked, "--json"]
    again = run_program(other, folder, PYTHONHASHSEED="1")  # depends on the order of no set
    assert json.loads(again.stdout) == written
    numbers = ("right", "tied", "wrong", "agreement")
    agreed = json.loads(run("agree", "p.jsonl", "zipf", "--json", cwd=folder).stdout)["rows"][0]
    given = next(row for row in written["rows"] if row["name"] == "zipf")
    assert [given[one] for one in numbers] == pytest.approx([agreed[one] for one in numbers])
    for row in written["rows"]:
        assert row["right"] + row["tied"] + row["wrong"] == pytest.approx(written["strict"])


def test_agreement_that_is_weighted_is_called_so(run: Run, folder: Path) -> None:
    lines = (folder / "p.jsonl").read_text().splitlines()
    first = json.loads(lines[0]) | {"weight": 2}
    (folder / "w.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    for command in ("agree {} zipf", "compare {} zipf --folds 2 --repeats 1"):
        for name, says in (("p.jsonl", False), ("w.jsonl", True)):
            found = run(*command.format(name).split(), cwd=folder)
            assert ("agreement is weighted" in " ".join(found.stdout.lower().split())) == says


def test_fit_of_documents(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(
        "query,a,b,answer\nq1,d1 d2 d3,d3 d2 d1,a\nq2,d2 d1 d3,d1 d3 d2,a\n"
    )
    found = run("fit", "d.csv", "--documents", "-o", "d.json")
    assert found.returncode == 0, found.stderr
    assert "rankings of the 3 documents d1, d2, d3" in found.stdout
    assert "every document at ranks 1, 3 could gain the same constant" in found.stdout
    assert "no interval: the model of the judgment takes grades" in found.stdout
    assert "have rank 2 of 9" in run("inspect", "d.csv", "--documents").stdout
    agreed = run("agree", "d.csv", "d.json", "--documents", "--json")
    assert json.loads(agreed.stdout)["rows"][0]["agreement"] == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_commands_say_what_the_transcripts_hold(name: str) -> None:
    """Word for word: run ``tests/golden/make_transcripts.py`` after a change."""
    assert transcript(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
