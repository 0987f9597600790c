"""The committed results: complete, made from committed code, and close to replications."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dcglearn.lab import provenance
from dcglearn.lab.cells import CELL_VERSION
from dcglearn.lab.compute import run_cell
from dcglearn.lab.config import read_config, with_options
from dcglearn.lab.findings import findings_latex
from dcglearn.lab.page import write_page
from dcglearn.lab.provenance import changed_files, read_provenance
from dcglearn.lab.results import CellCounts, ReportedExperiment, make_figures
from dcglearn.lab.setting import Setting
from helpers.places import GOLDEN, ROOT
from helpers.typeset import typeset

RESULTS = ROOT / "results"
CONFIGS = sorted(path.stem for path in (ROOT / "configs").glob("*.toml"))
NAMES = [name for name in CONFIGS if (RESULTS / name).exists()]  # the others are in the making
WITHIN = 0.02

REPLICATIONS = json.loads((GOLDEN / "replications.json").read_text("utf-8"))
"""Means over about ten seeds by independent programs, as published, with C = 1 unless the config
says otherwise: by the value of the column x, in the rows that `series` chooses."""


@pytest.mark.parametrize("name", NAMES)
def test_results_were_made_from_the_committed_config(name: str) -> None:
    config = read_config(ROOT / "configs" / f"{name}.toml")
    made = json.loads((RESULTS / name / "provenance.json").read_text("utf-8"))
    assert made["experiment"] == json.loads(json.dumps(config.content))
    assert "changed" not in made["revision"], "make results anew from committed code"
    cells = made["cells"]
    assert (cells["version"], cells["quick"], cells["failed"]) == (CELL_VERSION, False, 0)
    assert cells["done"] == cells["total"] == len(config.cells())
    assert config.repetitions >= 50
    if name != "asked":  # which is about intervals, not precision
        assert Setting(**with_options(config.setting)).test_pairs >= 2000
    assert len(pd.read_csv(RESULTS / name / "table.csv")) == cells["total"]


@pytest.mark.parametrize("name", [*NAMES, "side-by-side"])
def test_every_committed_file_is_what_was_made(name: str) -> None:
    made = read_provenance(RESULTS / name)
    assert made is not None
    names = {path.name for path in (RESULTS / name).iterdir()}
    assert {*made["files"], "provenance.json"} == names
    assert changed_files(RESULTS / name, made) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_row_equals_its_cell(name: str) -> None:
    """Compute the first cell of every table again."""
    config = read_config(ROOT / "configs" / f"{name}.toml")
    result = run_cell(config.cells()[0][1], config.queries, config.code.functions)["result"]
    with (RESULTS / name / "table.csv").open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    found = [column for column in row if isinstance(result.get(column), float)]
    assert found or name in ("parameters", "asked")  # whose results are lists
    for column in found:
        assert float(row[column]) == pytest.approx(result[column], abs=1e-6)


@pytest.mark.parametrize(
    "published",
    REPLICATIONS,
    ids=lambda one: "-".join([one["experiment"], *one["series"].values(), one["y"]]),
)
def test_means_are_close_to_those_of_independent_replications(published: dict[str, Any]) -> None:
    name, x = published["experiment"], published["x"]
    table = pd.read_csv(RESULTS / name / "table.csv")
    for column, value in published["series"].items():
        table = table[table[column] == value]
    for point, mean in published["means"].items():
        rows = table if x is None else table[table[x] == int(point)]
        assert len(rows) == read_config(ROOT / "configs" / f"{name}.toml").repetitions
        rounding = 0.5 * 10.0 ** -len(mean.removeprefix("."))
        assert rows[published["y"]].mean() == pytest.approx(float(mean), abs=WITHIN + rounding)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> list[ReportedExperiment]:
    """The figures of all committed tables."""
    shown, folder = [], tmp_path_factory.mktemp("results")
    for name in NAMES:
        config, made = read_config(ROOT / f"configs/{name}.toml"), read_provenance(RESULTS / name)
        config = config.model_copy(update={"path": Path(f"configs/{name}.toml")})
        figures = make_figures(config, pd.read_csv(RESULTS / name / "table.csv"))
        counts = CellCounts(*(made["cells"][key] for key in ("done", "failed", "total")))
        shown.append(ReportedExperiment(config, folder / name, counts, figures, made))
    return shown


def test_the_committed_page_is_what_the_committed_tables_say(
    reported: list[ReportedExperiment],
) -> None:
    """Every point, claim, verdict and caption; ``dcglearn report`` makes them anew."""
    drawn = {figure.name: (one, figure) for one in reported for figure in one.figures}
    assert {f"figure-{number:02d}" for number in range(1, 14)} <= drawn.keys()
    for name, (one, figure) in drawn.items():
        points = figure.table().to_csv(index=False, float_format="%.9g")
        assert points == (RESULTS / one.config.name / f"{name}.csv").read_text("utf-8"), name
    page = write_page(reported)
    for path in (page, page.with_name("README.md")):
        assert path.read_text("utf-8") == (RESULTS / path.name).read_text("utf-8")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_all_findings(reported: list[ReportedExperiment], tmp_path: Path) -> None:
    """Without an error, and without a line that is wider than the page."""
    text = findings_latex([figure for one in reported for figure in one.figures])
    log = typeset(text, tmp_path, "array,booktabs,longtable")
    assert "Missing character" not in log
    assert not re.findall(r"Overfull .hbox \((?:[2-9]|\d\d)", log)


def test_code_outside_a_repository_has_no_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "dcglearn" / "lab" / "x.py"))
    made = provenance.made_with.__wrapped__()
    assert made["revision"] is None


def test_files_of_results_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_bytes(b"{}\n")
    (tmp_path / "fit.txt").write_bytes(b"fit")
    found = provenance.provenance(tmp_path / "j.jsonl", [tmp_path / "fit.txt"])
    assert found["data"] == {"file": "j.jsonl", "sha256": hashlib.sha256(b"{}\n").hexdigest()}
    assert found["files"] == {"fit.txt": hashlib.sha256(b"fit").hexdigest()}
    assert provenance.changed_files(tmp_path, found) == []
    (tmp_path / "fit.txt").write_bytes(b"fat")
    assert provenance.changed_files(tmp_path, found) == ["fit.txt"]
    assert provenance.changed_files(tmp_path, {"files": {}}) == []
    elsewhere = {"files": {str(tmp_path / "fit.txt"): hashlib.sha256(b"fat").hexdigest()}}
    assert provenance.changed_files(tmp_path, elsewhere) == list(elsewhere["files"])
