"""Figures of experiments: legible at the width of a column, whatever they hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Drawing
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dcglearn import InputError
from dcglearn.lab.claims import Claim, Finding
from dcglearn.lab.config import config_files, read_config
from dcglearn.lab.experiment_figures import draw_figure, draw_on
from dcglearn.lab.findings import findings_latex
from dcglearn.lab.plots import Figure, Plot, differences
from dcglearn.lab.provenance import read_provenance
from dcglearn.lab.repetitions import mean_interval
from dcglearn.lab.results import make_figures
from dcglearn.report.figures.style import DARK, LIGHT, Palette, missing_glyphs_as_boxes, save
from helpers.drawn_figures import (
    CASES,
    made,
    rising,
)
from helpers.places import ROOT


def texts_of(drawing: Drawing) -> list[tuple[Text, Bbox]]:
    """The texts that are visible, with their boxes in pixels."""
    renderer = drawing.canvas.get_renderer()  # type: ignore[attr-defined]  # Agg has one
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
    drawing = draw_figure(CASES[name], width, title=True)
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
    for legend in drawing.findobj(Legend):
        box = legend.get_window_extent()
        for axes in drawing.axes:
            both = Bbox.intersection(box, axes.get_window_extent())
            assert both is None or both.height < 2 or both.width < 2


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "configs").glob("*.toml")))
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
    config = read_config(ROOT / "configs" / f"{name}.toml")
    path = ROOT / "results" / name / "table.csv"
    if not path.exists():
        pytest.skip("its results are not committed yet")
    table = pd.read_csv(path)
    try:
        return make_figures(config, table)
    except InputError:
        made_from = read_provenance(path.parent).get("experiment")
        if made_from == json.loads(json.dumps(config.content)):
            raise
        pytest.skip("its results are those of an earlier config")


def tick_labels(axes: Axes) -> list[str]:
    axes.figure.draw_without_rendering()
    return [tick.label1.get_text() for tick in axes.xaxis.get_major_ticks() if in_view(tick)]


def test_a_logarithmic_axis_has_room_for_0() -> None:
    (axes,) = draw_figure(CASES["logarithms of 0"]).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("symlog", "symlog")
    assert tick_labels(axes) == ["0", "1", "10", "100"]
    (axes,) = draw_figure(CASES["logarithms"]).axes
    assert axes.get_yscale() == "log"
    (axes,) = draw_figure(made(Plot("x", "y", (rising("a", 0.5, (-2, -1, 0)),), log_x=True))).axes
    assert axes.get_xscale() == "linear"


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
    width, height = map(
        float, re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content).groups()
    )  # type: ignore[union-attr]  # each page has a size
    assert width == pytest.approx(3.3 * 72)
    assert 100 < height < 300


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


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours (WCAG 2.2, 1.4.3)."""
    light = []
    for colour in (one, other):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        light.append(float(np.dot(linear, [0.2126, 0.7152, 0.0722])))
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_has_contrast_on_its_background(palette: Palette) -> None:
    for colour in (palette.ink, palette.soft, palette.colours[0]):
        assert contrast(colour, palette.paper) >= 4.5
    assert len(set(palette.colours)) == 8


# --- on the caller's own axes


def test_a_figure_of_several_panels_takes_as_many_axes() -> None:
    drawing = Drawing()
    axes = drawing.subplots(1, 3)
    draw_on(axes[:2], CASES["differences"])
    assert axes[1].get_ylabel() == "One minus other"
    with pytest.raises(InputError, match="3 axes for 2 panels"):
        draw_on(axes, CASES["differences"])
    with pytest.raises(InputError, match="ax: 1 axes for 2 panels; give as many, such as"):
        draw_on(axes[2], CASES["differences"])
    draw_on(axes[2], CASES["differences"].panel(1))
    with pytest.raises(InputError, match="2 axes for 1 panels"):
        draw_on(axes[:2], CASES["differences"].panel(1))
    for wrong in (0, 3):
        with pytest.raises(InputError, match=r"has no panel .*use 1 to 2"):
            draw_on(axes[2], CASES["differences"].panel(wrong))
    column = Drawing(layout="constrained").subplots(2, 1, squeeze=False)
    draw_on(column, CASES["differences"])
    assert all(one.lines for one in column.flat)
    assert axes[2].get_ylabel() == "Precision"


# --- LaTeX


def test_findings_are_a_latex_table() -> None:
    odd = r"50% of \input{x} & $y_1$ #"
    mine = Claim(odd, Finding("undecided", (mean_interval([0.5], f"{odd}:"),)))
    paper = Claim(
        "Grows.", Finding("holds", (mean_interval([-0.2, -0.1, -0.3], "a:"),)), section="6.3"
    )
    figure = Figure("2b", "t", Plot("x", "y", ()), (mine, paper))
    text = findings_latex([figure])
    assert text.startswith(r"% needs \usepackage{array,booktabs,longtable}")
    body = text.split(r"\endlastfoot")[1].split(r"\end{longtable}")[0]
    rows = [line for line in body.splitlines() if line]
    assert len(rows) == 2
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == 4
        assert not re.search(r"(?<!\\)[%#_$]", row)
    assert r"\textbackslash{}input\{x\}" in rows[0]
    assert rows[0].startswith("2b & this project & ")
    assert rows[0].endswith(r": 0.500 (n = 1) \\")
    assert rows[1] == r"2b & 6.3 & Grows. & holds & a: -0.200 (-0.448 to 0.048) \\"
    assert text.count("{") == text.count("}")


def test_latex_sets_the_findings_of_the_shipped_experiments(tmp_path: Path) -> None:
    """Without an error, and without a line that is wider than the page."""
    program = shutil.which("pdflatex")
    styles = shutil.which("kpsewhich")
    needed = [f"{name}.sty" for name in ("array", "booktabs", "longtable")]
    if program is None or styles is None:
        pytest.skip("no pdflatex here")
    if subprocess.run([styles, *needed], capture_output=True, check=False).returncode:
        pytest.skip("LaTeX lacks booktabs or longtable here")
    figures = []
    for path in config_files():
        config = read_config(path)
        table = pd.read_csv(ROOT / "results" / config.name / "table.csv")
        figures += make_figures(config, table)
    (tmp_path / "findings.tex").write_text(findings_latex(figures), "utf-8")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\usepackage{array,booktabs,longtable}\n"
        "\\begin{document}\n\\input{findings}\n\\end{document}\n"
    )
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    log = (tmp_path / "paper.log").read_text("latin-1")
    assert done.returncode == 0, log
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
    assert "Missing character" not in log
    assert not re.findall(r"Overfull .hbox \((?:[2-9]|\d\d)", log)
