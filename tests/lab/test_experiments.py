"""Experiments: what their figures show, and the verdicts that follow from the cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.lines import AxLine
from matplotlib.text import Text

from dcglearn.lab.claims import Finding, judge_all, judge_between, judge_together
from dcglearn.lab.config import Config, config_files, read_config
from dcglearn.lab.experiment_figures import draw_figure
from dcglearn.lab.plots import Figure, Plot
from dcglearn.lab.repetitions import MeanInterval, mean_interval
from dcglearn.lab.results import make_figures, result_table
from dcglearn.lab.store import Store
from helpers.own_functions import computed
from helpers.places import ROOT

CONFIGS = {path.stem: path for path in config_files()}

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
    store = Store(tmp_path / "store")
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
    drawing = draw_figure(figure, 7.0, title=True)
    shown = [" ".join(text.get_text().split()) for text in drawing.findobj(Text)]
    assert figure.heading in shown
    assert len(drawing.axes) == len(figure.panels)
    for axes, plot in zip(drawing.axes, figure.panels, strict=True):
        for label in (plot.x_label, plot.y_label, plot.title):
            assert label.lower() in (text.lower() for text in shown)
        names = [s.label for s in plot.series] + [name for name in plot.levels if name]
        assert set(names) <= set(shown)
        assert_series_drawn(axes, plot)


def assert_series_drawn(axes: Axes, plot: Plot) -> None:
    if plot.bars:
        containers = [one for one in axes.containers if isinstance(one, BarContainer)]
        bars = {str(one.get_label()): one for one in containers}
        for series in plot.series:
            heights = [bar.get_height() for bar in bars[series.label]]
            assert heights == pytest.approx(list(series.mean), nan_ok=True)
        return
    drawn = {str(line.get_label()): line for line in axes.lines}
    curves = [series for series in plot.series if not series.is_level]
    for series in curves:
        named = any(isinstance(x, str) for x in series.x)  # categories, in their order
        x = np.arange(len(series.x)) if named else np.asarray(series.x, float)
        order = np.argsort(x, kind="stable")
        line = drawn[series.label]
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
