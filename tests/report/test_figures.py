"""Figures of experiments: legible at the width of a column, whatever they hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from itertools import combinations, pairwise
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
from dcglearn.lab.experiment_figures import WIDTHS, draw_figure, draw_on, figure_width
from dcglearn.lab.findings import findings_latex
from dcglearn.lab.plots import SHARE, Figure, Plot, differences, level
from dcglearn.lab.provenance import read_provenance
from dcglearn.lab.repetitions import mean_interval
from dcglearn.lab.results import make_figures
from dcglearn.report.figures.style import DARK, LIGHT, Palette, missing_glyphs_as_boxes, save
from helpers.drawn_figures import (
    CASES,
    PRESETS,
    TWO,
    made,
    rising,
    series,
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
    for figure in figures_of(name):
        drawing = draw_figure(figure, 3.3)
        for text, _ in texts_of(drawing):
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


def test_neither_axis_nor_band_goes_beyond_what_is_possible() -> None:
    curve = series("a", (1, 2, 3), [0.01, 0.5, 0.99], 0.1)
    for within, ends in ((SHARE, (0.0, 1.0)), ((-np.inf, np.inf), (-0.09, 1.09))):
        (axes,) = draw_figure(made(Plot("x", "y", (curve,), within=within))).axes
        (band,) = axes.collections
        heights = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
        assert (heights.min(), heights.max()) == pytest.approx(ends)
        if within == SHARE:
            assert axes.get_ylim() == ends
        else:
            assert axes.get_ylim()[0] < ends[0] < ends[1] < axes.get_ylim()[1]


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


def test_names_begin_with_a_capital() -> None:
    (axes,) = draw_figure(CASES["two curves"]).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Training pairs", "Precision")


def test_a_level_is_a_point_at_every_x() -> None:
    table = pd.DataFrame(
        {"repetition": [0, 0, 1, 1], "pairs": [20, 40] * 2, "zipf": [0.8, 0.8, 0.9, 0.9]}
    )
    found = level(table, "zipf", "Zipf")
    assert (found.x, found.n, found.is_level) == ((None,), (2,), True)
    assert found.mean == pytest.approx([0.85])
    points = Plot("pairs", "y", (rising("a", 0.1, (20, 40)), found)).table()
    assert points["pairs"].isna().tolist() == [False, False, True]


def test_series_that_hide_each_other_differ_in_size() -> None:
    """The first is the widest, so it is seen around the others."""
    same = tuple(rising(f"Series {n}", 0.5) for n in range(4))
    (axes,) = draw_figure(made(Plot("x", "y", same))).axes
    widths = [(line.get_linewidth(), line.get_markersize()) for line in axes.lines]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4


def test_twelve_series_look_different() -> None:
    (axes,) = draw_figure(CASES["twelve series"]).axes
    looks = [(x.get_color(), x.get_marker(), x.get_markerfacecolor()) for x in axes.lines]
    assert len(set(looks)) == 12


def test_bars_are_side_by_side_from_0() -> None:
    (axes,) = draw_figure(CASES["bars"]).axes
    assert axes.get_ylim() == (0.0, 1.0)
    assert len({bar.get_hatch() for bar in axes.patches}) == 2  # in greyscale too
    boxes = sorted((bar.get_x(), bar.get_width(), bar.get_height()) for bar in axes.patches)
    assert [height for *_, height in boxes] == pytest.approx([0.9, 0.99, 1.0])
    for (x, width, _), (after, *_) in pairwise(boxes):
        assert x + width <= after
    assert tick_labels(axes) == ["normal", "Cauchy"]
    tops = [segment[1][1] for c in axes.collections for segment in c.get_segments()]
    assert tops == pytest.approx([0.92, 1.0, 1.0])  # 1.02 and 1.01 are no shares


def test_panels_share_limits_and_a_legend() -> None:
    one = Plot("pairs", "y", TWO)
    other = Plot("pairs", "y", (rising("Data 1", 0.1), rising("Data 2", 0.3)))
    drawing = draw_figure(made(one, other), 7.0)
    first, second = drawing.axes
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylim()[0] < 0.1
    assert len(drawing.findobj(Legend)) == 1  # both have the same series
    assert len(draw_figure(CASES["differences"]).findobj(Legend)) == 2


def test_levels_are_lines_that_the_legend_names() -> None:
    drawing = draw_figure(CASES["presets"])
    (axes,) = drawing.axes
    (legend,) = drawing.findobj(Legend)
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["Data 1", *(preset.label for preset in PRESETS)]
    lines = [line for line in axes.lines if [*line.get_xdata()] == [0, 1]]
    assert [line.get_ydata()[0] for line in lines] == [s.mean[0] for s in PRESETS]


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


def test_points_of_all_panels_are_in_one_table() -> None:
    table = CASES["differences"].table()
    assert table.columns.tolist() == [
        "panel",
        "series",
        "pairs",
        "mean",
        "low",
        "high",
        "repetitions",
    ]
    assert table["panel"].unique().tolist() == ["precision", "one minus other"]
    assert CASES["two curves"].table().columns[0] == "series"


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


def test_a_dark_figure_is_drawn_in_the_dark_palette() -> None:
    drawing = draw_figure(CASES["two curves"], dark=True)
    assert to_rgb(drawing.get_facecolor()) == to_rgb(DARK.paper)
    (axes,) = drawing.axes
    assert axes.xaxis.label.get_color() == DARK.ink
    assert [line.get_color() for line in axes.lines] == [*DARK.colours[:2]]


def test_the_width_of_a_figure() -> None:
    assert [figure_width(name) for name in ("column", "page", "4.5")] == [3.3, 7.0, 4.5]
    assert figure_width("column") == WIDTHS["column"]
    for text in ("", "wide", "0", "-3", "nan", "inf", "1e3"):
        with pytest.raises(InputError, match="is not the width of a figure; give `width` as"):
            figure_width(text)


# --- on the caller's own axes


def test_figure_5_on_axes_of_the_caller() -> None:
    (figure, _) = figures_of("flips")
    drawing = Drawing(figsize=(6, 4), layout="constrained")
    mpl.backends.backend_agg.FigureCanvasAgg(drawing)
    left, right = drawing.subplots(1, 2)
    right.plot([1, 2], [3, 4])
    draw_on(left, figure)
    assert [line.get_label() for line in left.lines] == ["Data 1", "Data 2"]
    assert left.lines[0].get_ydata() == pytest.approx(figure.plot.series[0].mean)
    assert left.get_legend() is not None
    assert len(right.lines) == 1
    boxes = [box for _, box in texts_of(drawing)]
    for one, other in combinations(boxes, 2):
        both = Bbox.intersection(one, other)
        assert both is None or min(both.width, both.height) < 1.5


def test_a_figure_of_several_panels_takes_as_many_axes() -> None:
    drawing = Drawing()
    axes = drawing.subplots(1, 3)
    draw_on(axes[:2], CASES["differences"])
    assert axes[1].get_ylabel() == "One minus other"
    with pytest.raises(InputError, match="3 axes for 2 panels"):
        draw_on(axes, CASES["differences"])
    with pytest.raises(InputError, match="ax: 1 axes for 2 panels; give as many, such as"):
        draw_on(axes[2], CASES["differences"])
    draw_on(axes[2], CASES["differences"], panel=1)
    with pytest.raises(InputError, match="2 axes for 1 panels"):
        draw_on(axes[:2], CASES["differences"], panel=1)
    for wrong in (0, 3):
        with pytest.raises(InputError, match=r"has no panel .*use 1 to 2"):
            draw_on(axes[2], CASES["differences"], panel=wrong)
    column = Drawing(layout="constrained").subplots(2, 1, squeeze=False)
    draw_on(column, CASES["differences"])
    assert all(one.lines for one in column.flat)
    assert axes[2].get_ylabel() == "Precision"


def test_settings_of_the_caller_are_kept() -> None:
    before = dict(mpl.rcParams)
    draw_figure(CASES["two curves"])
    draw_on(Drawing().subplots(), CASES["two curves"])
    assert dict(mpl.rcParams) == before


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
