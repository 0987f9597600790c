"""The committed results, experiments on two cells, and the verdicts that follow from intervals."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import AxLine
from matplotlib.text import Text

from dcglearn.lab import provenance
from dcglearn.lab.claims import Finding, judge_all, judge_between, judge_together
from dcglearn.lab.compute import run_cell
from dcglearn.lab.config import CELL_VERSION, Config, config_files, read_config
from dcglearn.lab.experiment_figures import draw_figure
from dcglearn.lab.page import write_page
from dcglearn.lab.plots import Figure, Plot, findings_latex
from dcglearn.lab.provenance import changed_files, read_provenance
from dcglearn.lab.repetitions import MeanInterval, mean_interval
from dcglearn.lab.results import CellCounts, ReportedExperiment, Store, make_figures, result_table
from dcglearn.lab.setting import Setting
from helpers.commands import Run
from helpers.own_functions import computed
from helpers.places import GOLDEN, ROOT
from helpers.typeset import typeset

RESULTS = ROOT / "results"
CONFIGS = {path.stem: path for path in config_files()}
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
        assert Setting(**config.setting).test_pairs >= 2000
    assert len(pd.read_csv(RESULTS / name / "table.csv")) == cells["total"]


@pytest.mark.parametrize("name", [*NAMES, "side-by-side"])
def test_every_committed_file_is_what_was_made(name: str) -> None:
    made = read_provenance(RESULTS / name)
    assert made is not None
    names = {path.name for path in (RESULTS / name).iterdir()}
    assert {*made["files"], "provenance.json"} == names
    assert changed_files(RESULTS / name, made) == []


@pytest.mark.parametrize("command", ["inspect", "test"])
def test_the_committed_study_is_that_of_this_code_and_of_the_judgments(
    command: str, prepared: Path, run: Run
) -> None:
    """Otherwise run scripts/reproduce.py, and commit results/side-by-side."""
    made = read_provenance(RESULTS / "side-by-side")
    assert made["data"]["sha256"] == provenance.sha256_of(prepared.read_bytes())
    printed = run(command, prepared.name, cwd=prepared.parent).stdout
    assert printed == (RESULTS / "side-by-side" / f"{command}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_row_equals_its_cell(name: str) -> None:
    """Compute the first cell of every table again."""
    config = read_config(ROOT / "configs" / f"{name}.toml")
    result = run_cell(config.cells()[0][1], config.code.functions)["result"]
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
    (tmp_path / "fit.txt").write_bytes(b"fit")
    found = {"files": provenance.hashes_of([tmp_path / "fit.txt"])}
    assert found["files"] == {"fit.txt": hashlib.sha256(b"fit").hexdigest()}
    assert provenance.changed_files(tmp_path, found) == []
    (tmp_path / "fit.txt").write_bytes(b"fat")
    assert provenance.changed_files(tmp_path, found) == ["fit.txt"]
    assert provenance.changed_files(tmp_path, {"files": {}}) == []
    elsewhere = {"files": {str(tmp_path / "fit.txt"): hashlib.sha256(b"fat").hexdigest()}}
    assert provenance.changed_files(tmp_path, elsewhere) == list(elsewhere["files"])


# --- experiments: what their figures show, and verdicts


VERDICTS_ON_TWO_CELLS = {"ad_hoc": {"does not hold"}, "hamming": {"undecided", "holds"}}
"""All others are undecided. At 20 judgments presets are better; Hamming distances hardly vary."""


def smallest(name: str) -> Config:
    """A config with one point and two repetitions: two cells."""
    config = read_config(CONFIGS[name])
    sweep = {key: values[:1] for key, values in config.sweep.items()}
    setting = {**config.setting, "test_pairs": 100, "validation_pairs": 50}
    one_each = name == "ad_hoc"  # a figure per truth
    figures = config.figures[:1] if one_each else config.figures
    changed = {"sweep": sweep, "setting": setting, "repetitions": 2, "figures": figures}
    return config.model_copy(update=changed)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_figure_draws_on_two_cells(name: str, tmp_path: Path) -> None:
    config = smallest(name)
    store = Store(tmp_path)
    computed(config, store)
    table = result_table(config, store)
    assert len(table) == 2
    figures = make_figures(config, table)
    expected = VERDICTS_ON_TWO_CELLS.get(name, {"undecided"})
    assert {claim.finding.verdict for f in figures for claim in f.claims} == expected
    for figure in figures:
        assert_drawn(figure)
        assert "95% intervals" in figure.caption


def assert_drawn(figure: Figure) -> None:
    """Compare the lines, bands and labels of the drawing with the plot."""
    drawing = draw_figure(figure, 7.0)
    shown = [" ".join(text.get_text().split()) for text in drawing.findobj(Text)]
    assert len(drawing.axes) == len(figure.panels)
    for axes, plot in zip(drawing.axes, figure.panels, strict=True):
        for label in (plot.x_label, plot.y_label, plot.title):
            assert label.lower() in (text.lower() for text in shown)
        names = [s.label for s in plot.series] + [name for name in plot.levels if name]
        assert set(names) <= set(shown)
        assert_series_drawn(axes, plot)


def assert_series_drawn(axes: Axes, plot: Plot) -> None:
    drawn = {str(line.get_label()): line for line in axes.lines}
    curves = [series for series in plot.series if not series.is_level]
    for series in curves:
        named = any(isinstance(x, str) for x in series.x)  # categories, in their order
        x = np.arange(len(series.x)) if named else np.asarray(series.x, float)
        order = np.argsort(x, kind="stable")
        line = drawn[series.label]
        if plot.points:  # beside each other
            assert np.rint(line.get_xdata()) == pytest.approx(x)
            assert line.get_linestyle() == "None"
        else:
            assert np.asarray(line.get_xdata()) == pytest.approx(x[order])
        assert np.asarray(line.get_ydata()) == pytest.approx(np.asarray(series.mean)[order])
    lines = [line for line in axes.lines if not isinstance(line, AxLine)]
    heights = [line.get_ydata()[0] for line in lines if [*line.get_xdata()] == [0, 1]]
    levels = [series.mean[0] for series in plot.series if series.is_level]
    assert heights == [*levels, *plot.levels.values()]


# --- verdicts


def interval(mean: float, half: float = 0.01, n: int = 50) -> MeanInterval:
    return MeanInterval("x", mean, mean - half, mean + half, n)


H, R, U, N = "holds", "holds, with a reason", "undecided", "does not hold"
UNDECIDED, WRONG = judge_all([interval(0.5)], above=0.495), judge_all([interval(0.5)], above=0.6)
RIGHT = judge_all([interval(0.5), interval(0.6)], above=0.48, below=0.65)


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        (RIGHT, H),
        (judge_all([interval(0.5)], above=0.4, reason="a reason"), R),
        (UNDECIDED, U),
        (WRONG, N),
        (judge_all([interval(0.5), interval(0.6)], below=0.58), N),
        (judge_all([interval(0.5)], above=0.6, also=[interval(0.7)]), N),
        (judge_all([]), U),
        (judge_all([interval(0.5, np.nan)]), U),
        (judge_between([interval(0.94), interval(0.969)], 0.93, 0.97), H),
        (judge_between([interval(0.925)], 0.93, 0.97), U),
        (judge_between([interval(0.95), interval(0.91)], 0.93, 0.97), N),
        (judge_between([interval(0.95), interval(0.99)], 0.93, 0.97), N),
        (judge_between([interval(0.95, n=19)], 0.93, 0.97), U),
        (judge_together(RIGHT, RIGHT), H),
        (judge_together(RIGHT, UNDECIDED), U),
        (judge_together(RIGHT, WRONG, UNDECIDED), N),
    ],
)
def test_a_verdict_follows_from_intervals(finding: Finding, verdict: str) -> None:
    assert finding.verdict == verdict


# --- statistics over repetitions


def test_intervals_have_their_coverage() -> None:
    rng = np.random.default_rng(1)
    covered = [
        n.low <= 0.3 <= n.high for n in (mean_interval(rng.normal(0.3, 1, 8)) for _ in range(2000))
    ]
    assert 0.935 <= np.mean(covered) <= 0.965


def test_few_repetitions_have_no_interval() -> None:
    assert mean_interval([]).n == 0
    one = mean_interval([0.5], "x")
    assert (one.mean, one.n) == (0.5, 1)
    assert np.isnan(one.low)
    assert str(one) == "x 0.500 (n = 1)"


def test_a_claim_about_enough_data_has_no_verdict_in_a_quick_run() -> None:
    config = read_config(CONFIGS["documents"])
    table = pd.read_csv(ROOT / "results/documents/table.csv")
    full, quick = (
        make_figures(part, table)[0].claims[0].finding for part in (config, config.quick_part())
    )
    assert full.verdict == R
    assert quick.verdict == "not judged (quick)"
    assert quick.intervals == full.intervals
