"""Figures of experiments: legible at the width of a column, whatever they hold."""

from __future__ import annotations

import re
import shutil
import time
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dcglearn.lab.claims import Claim, Finding
from dcglearn.lab.config import read_config
from dcglearn.lab.experiment_figures import draw_figure
from dcglearn.lab.findings import findings_latex
from dcglearn.lab.plots import Figure, Plot, differences
from dcglearn.lab.repetitions import mean_interval
from dcglearn.lab.results import make_figures
from dcglearn.report.figures.style import missing_glyphs_as_boxes, save
from helpers.drawn_figures import (
    CASES,
)
from helpers.places import ROOT
from helpers.typeset import typeset


def texts_of(drawing: Drawing) -> list[tuple[Text, Bbox]]:
    """The texts that are visible, with their boxes in pixels."""
    renderer = FigureCanvasAgg(drawing).get_renderer()
    drawing.draw(renderer)
    ticks = [
        (tick, kind)
        for axes in drawing.axes
        for axis in (axes.xaxis, axes.yaxis)
        for kind in ("major", "minor")
        for tick in (axis.get_major_ticks() if kind == "major" else axis.get_minor_ticks())
    ]
    shown = {
        id(text)
        for tick, _ in ticks
        for text in (tick.label1, tick.label2)
        if tick.get_loc() is not None and in_view(tick)
    }
    of_ticks = {id(text) for tick, _ in ticks for text in (tick.label1, tick.label2)}
    return [
        (text, text.get_window_extent(renderer))
        for text in drawing.findobj(Text)
        if text.get_visible()
        and text.get_text().strip()
        and (id(text) not in of_ticks or id(text) in shown)
    ]


def in_view(tick: mpl.axis.Tick) -> bool:
    axis = tick.axes.xaxis if isinstance(tick, mpl.axis.XTick) else tick.axes.yaxis
    low, high = sorted(axis.get_view_interval())
    return low - 1e-9 <= tick.get_loc() <= high + 1e-9


WIDE = ("differences", "small multiples", "presets", "long labels")
"""Where the width of a page has another layout than that of a column."""


@pytest.mark.parametrize(
    ("name", "width"), [*((name, 3.3) for name in CASES), *((name, 7.0) for name in WIDE)]
)
def test_text_is_whole_apart_and_large_enough(name: str, width: float) -> None:
    drawing = draw_figure(CASES[name], width)
    assert drawing.get_size_inches()[0] == width
    with missing_glyphs_as_boxes():
        found = texts_of(drawing)
    right, top = drawing.get_size_inches() * drawing.dpi
    for text, box in found:
        assert text.get_fontsize() >= 6, text
        inside = min(box.x0, box.y0) >= -1 and box.x1 <= right + 1 and box.y1 <= top + 1
        assert inside, f"clipped: {text}"
    for (one, first), (other, second) in combinations(found, 2):
        both = Bbox.intersection(first, second)
        apart = both is None or min(both.width, both.height) < 1.5
        assert apart, f"{one} is over {other}"
    for legend in drawing.legends:
        box = legend.get_window_extent()
        for axes in drawing.axes:
            both = Bbox.intersection(box, axes.get_window_extent())
            assert both is None or both.height < 2 or both.width < 2


RESULTS = sorted(path.parent.name for path in (ROOT / "results").glob("*/table.csv"))


@pytest.mark.parametrize("name", RESULTS)
def test_committed_figures_are_legible(name: str) -> None:
    for figure in figures_of(name)[:3]:
        drawing = draw_figure(figure, 3.3)
        for text in drawing.findobj(Text):
            assert figure.title not in text.get_text()
            assert text.get_fontsize() >= 6
        for axes, plot in zip(drawing.axes, figure.panels, strict=True):
            low, high = axes.get_ylim()
            assert plot.within[0] <= low < high <= plot.within[1]


def figures_of(name: str) -> tuple[Figure, ...]:
    """The figures of the committed results."""
    table = pd.read_csv(ROOT / "results" / name / "table.csv")
    return make_figures(read_config(ROOT / "configs" / f"{name}.toml"), table)


def test_an_axis_with_0_is_linear() -> None:
    cases = ("one series", "logarithms of 0")
    scales = [draw_figure(CASES[name]).axes[0].get_xscale() for name in cases]
    assert scales == ["log", "linear"]


def test_differences_are_paired_within_repetitions() -> None:
    rng = np.random.default_rng(0)
    grid = [(n, r) for n in (20, 40) for r in range(5)]
    one = pd.DataFrame(grid, columns=["pairs", "repetition"]).assign(truth="data-1")
    one["precision"] = rng.random(10)
    other = one.assign(precision=one["precision"] - [0.1, 0.2, 0.3, 0.4, 0.5] * 2)
    other = other.sample(frac=1.0, random_state=1)  # repetitions match by number, not by place
    (found,) = differences(one, other, "pairs", "precision", "truth")
    expected = mean_interval([0.1, 0.2, 0.3, 0.4, 0.5])
    assert (found.label, found.x, found.n) == ("Data 1", (20, 40), (5, 5))
    assert found.mean == pytest.approx([0.3, 0.3])
    assert found.low == pytest.approx([expected.low] * 2)
    (rest,) = differences(one, other[other["pairs"] == 40], "pairs", "precision", "truth")
    assert rest.x == (40,)


# --- files


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".png"])
def test_the_same_figure_has_the_same_bytes_on_another_day(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    now = time.time()
    for days in (0, 400):
        monkeypatch.setattr(time, "time", lambda days=days: now + 86_400 * days)
        path = tmp_path / f"{days}{ending}"
        save(draw_figure(CASES["presets"]), path, dpi=300, adapts=True)
        found.append(path.read_bytes())
    assert found[0] == found[1]


def test_a_pdf_embeds_its_fonts_as_type_42(tmp_path: Path) -> None:
    save(draw_figure(CASES["two curves"]), tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert b"/CreationDate" not in content
    size = re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", content)
    assert size is not None
    assert float(size[1]) == pytest.approx(3.3 * 72)


def test_every_colour_of_an_svg_has_one_for_dark_pages(tmp_path: Path) -> None:
    for name in ("twelve series", "presets", "bars", "diagonal"):
        save(draw_figure(CASES[name]), tmp_path / "a.svg", adapts=True)
        text = (tmp_path / "a.svg").read_text("utf-8")
        rules, drawing = text.split("</style>", 1)
        used = set(re.findall(r"(?:fill|stroke): (#\w+)", drawing))
        assert len(used) >= 3
        for colour in used:
            assert f'[style*="fill: {colour}"]' in rules
        assert "<text" not in drawing  # glyphs are paths, whatever fonts the reader has
        assert not re.search(r"fill: #ffffff", drawing)  # no background
        root = ElementTree.fromstring(text)  # noqa: S314 - a file that this test has written
        assert root.tag.endswith("svg")


# --- LaTeX


def test_findings_are_a_latex_table() -> None:
    odd = r"50% of \input{x} & $y_1$ #"
    mine = Claim(odd, Finding("undecided", (mean_interval([0.5], f"{odd}:"),)))
    paper = Claim(
        "Grows.", Finding("holds", (mean_interval([-0.2, -0.1, -0.3], "a:"),)), section="6.3"
    )
    text = findings_latex([Figure("2b", "t", Plot("x", "y", ()), (mine, paper))])
    body = text.split(r"\endlastfoot")[1].split(r"\end{longtable}")[0]
    first, second = [line for line in body.splitlines() if line]
    assert len(re.findall(r"(?<!\\)&", first)) == 4
    assert not re.search(r"(?<!\\)[%#_$]", first)
    assert r"\textbackslash{}input\{x\}" in first
    assert first.startswith("2b & this project & ")
    assert second == r"2b & 6.3 & Grows. & holds & a: -0.200 (-0.448 to 0.048) \\"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_sets_the_findings_of_the_shipped_experiments(tmp_path: Path) -> None:
    """Without an error, and without a line that is wider than the page."""
    text = findings_latex([figure for name in RESULTS for figure in figures_of(name)])
    log = typeset(text, tmp_path, "array,booktabs,longtable")
    assert "Missing character" not in log
    assert not re.findall(r"Overfull .hbox \((?:[2-9]|\d\d)", log)
