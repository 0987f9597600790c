"""Figures: legible at the width of a column, whatever they hold."""

from __future__ import annotations

import re
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dcglearn import DCG, Rules, SystemConclusions, evaluate, system_conclusions
from dcglearn.lab.claims import Claim, Finding
from dcglearn.lab.experiment_figures import draw_figure
from dcglearn.lab.plots import Figure, Plot, findings_latex
from dcglearn.lab.repetitions import mean_interval
from dcglearn.report.figures.command_figures import draw_pairs
from dcglearn.report.figures.style import missing_glyphs_as_boxes, save
from helpers.drawn_figures import CASES


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


def test_an_axis_with_0_is_linear() -> None:
    cases = ("one point", "logarithms of 0")
    scales = [draw_figure(CASES[name]).axes[0].get_xscale() for name in cases]
    assert scales == ["log", "linear"]


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
    for name in ("twelve series", "presets", "points", "diagonal"):
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


# --- the figure of pairs of systems


NAMES = ("first", "another system with a long name", "b", "c", "d")


@pytest.fixture(scope="module")
def found() -> SystemConclusions:
    """Ten pairs of five systems; the last two are equal."""
    rng = np.random.default_rng(0)
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(0, 4)) for d in range(9)} for q in range(12)}
    runs = {
        name: {
            q: {d: float(rng.random()) + s / 9 * grade for d, grade in judged.items()}
            for q, judged in qrels.items()
        }
        for s, name in enumerate(NAMES)
    }
    runs["d"] = runs["c"]
    measure = DCG({3: 3, 2: 2, 1: 1, 0: 0}, "log2", 4, "ideal")
    name = "nDCG(a measure with a name that is longer than the figure is wide.json) @ 10"
    evaluation = evaluate(qrels, runs, {name: measure}, rules=Rules("input"))
    return system_conclusions(evaluation, 4, rng, alpha=0.2)


def test_five_systems(found: SystemConclusions, tmp_path: Path) -> None:
    drawing = draw_pairs(found)
    save(drawing, tmp_path / "pairs.png")
    drawing.draw_without_rendering()
    axes: Any = drawing.axes[0]
    (legend,) = drawing.legends
    counts = Counter(one.holds_for for one in found.pairs)
    assert len(counts) > 2
    shown = {
        f"{kind}: {n}".replace("depends", "depends on the gains") for kind, n in counts.items()
    }
    assert {text.get_text() for text in legend.get_texts()} == {*shown, "significant"}
    order = list(found.evaluation.best_first().systems)
    assert [text.get_text() for text in axes.get_xticklabels()] == order[:-1]
    assert [text.get_text() for text in axes.get_yticklabels()] == order[1:]
    *kinds, significant = axes.lines

    def pairs_of(line: Any) -> set[frozenset[str]]:
        return {frozenset(order[int(place)] for place in places) for places in line.get_xydata()}

    assert pairs_of(significant) == {frozenset((x.a, x.b)) for x in found.pairs if x.significant}
    for line in kinds:
        kind = line.get_label().partition(":")[0].removesuffix(" on the gains")
        assert pairs_of(line) == {frozenset((x.a, x.b)) for x in found.pairs if x.holds_for == kind}
    title: Any = drawing._suptitle  # type: ignore[attr-defined]  # it has no public name
    texts = [*axes.get_xticklabels(), *axes.get_yticklabels(), title]
    boxes = [text.get_window_extent() for text in texts]
    inside = drawing.bbox
    for box in boxes:
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1
        assert inside.y0 <= box.y0 < box.y1 <= inside.y1
        assert not legend.get_window_extent().overlaps(box)
    assert not any(title.get_window_extent().overlaps(box) for box in boxes[:-1])
