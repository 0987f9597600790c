"""The figure of coherence: what it shows of each pair, and that nothing covers anything."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import DCG, Rules, SystemPair, Verdict, evaluate, system_pairs
from dcglearn.figures.style import save
from dcglearn.figures.system_figures import CERTAINTIES, draw_pairs, pair_certainty

NAMES = ("first", "another system with a long name", "b", "c", "d")


@pytest.fixture(scope="module")
def some() -> SystemPair:
    qrels = {"q": {"d1": 1, "d2": 0}}
    runs = {"one": {"q": {"d1": 1.0}}, "two": {"q": {"d2": 1.0}}}
    measure = DCG({1: 1, 0: 0}, "log2")
    (pair,) = system_pairs(evaluate(qrels, runs, measure, rules=Rules("input")), measure, 2)
    return pair


def with_winners(pair: SystemPair, anything: str, gains: str, mean: str) -> SystemPair:
    return replace(
        pair,
        any_parameters=Verdict(anything),  # type: ignore[arg-type]  # names of winners
        any_gains=Verdict(gains),  # type: ignore[arg-type]  # names of winners
        mean_ndcg=replace(pair.mean_ndcg, winner=mean),
    )


@pytest.mark.parametrize(
    ("winners", "words", "ahead"),
    [
        (("a", "a", "a"), "DCG with any of both, by mean nDCG with any gains", "one"),
        (("depends", "b", "b"), "DCG and mean nDCG with any gains", "two"),
        (("depends", "depends", "b"), "by mean nDCG, not by DCG", "two"),
        (("equal", "equal", "a"), "by mean nDCG, not by DCG", "one"),
        (("a", "a", "undecided"), "by DCG, not by mean nDCG", "one"),
        (("a", "a", "equal"), "by DCG, not by mean nDCG", "one"),
        (("a", "a", "b"), "for one system by DCG, for the other", None),
        (("equal", "equal", "equal"), "equal by", None),
        (("depends", "depends", "depends"), "by neither", None),
        (("depends", "depends", "equal"), "by neither", None),
    ],
)
def test_what_is_certain_about_a_pair(
    some: SystemPair, winners: tuple[str, str, str], words: str, ahead: str | None
) -> None:
    certainty, name = pair_certainty(with_winners(some, *winners))
    assert words in CERTAINTIES[certainty][0]
    assert name == ahead


def test_five_systems(some: SystemPair, tmp_path: Path) -> None:
    kinds = [("a", "a", "a"), ("depends", "b", "b"), ("equal",) * 3, ("depends",) * 3]
    pairs = [
        replace(with_winners(some, *kinds[k % 4]), a=a, b=b)
        for k, (a, b) in enumerate(combinations(NAMES, 2))
    ]
    name = "nDCG(a measure with a name that is longer than the figure is wide.json) @ 10"
    drawing = draw_pairs(pairs, NAMES, np.array([0.1, 0.5, 0.4, 0.3, 0.2]), name)
    save(drawing, tmp_path / "pairs.png")
    drawing.draw_without_rendering()
    axes: Any = drawing.axes[0]
    (legend,) = drawing.legends
    labels = [text.get_text() for text in legend.get_texts()]
    counts = [int(label.rpartition(": ")[2]) for label in labels[:-2]]
    assert counts == [3, 3, 2, 2]
    assert labels[2].startswith("equal")
    assert labels[-2:] == [
        "the system named below is ahead",
        "the system named at the left is ahead",
    ]
    order = [*NAMES[1:], NAMES[0]]
    assert [text.get_text() for text in axes.get_xticklabels()] == order[:-1]
    assert [text.get_text() for text in axes.get_yticklabels()] == order[1:]
    for line, ahead_of in zip(axes.lines, (True, False), strict=True):
        for x, y in line.get_xydata():
            high, low = order[int(x)], order[int(y) + 1]
            (pair,) = [p for p in pairs if {p.a, p.b} == {high, low}]
            assert pair_certainty(pair)[1] == (high if ahead_of else low)
    title: Any = drawing._suptitle  # type: ignore[attr-defined]  # it has no public name
    texts = [*axes.get_xticklabels(), *axes.get_yticklabels(), title]
    boxes = [text.get_window_extent() for text in texts]
    inside = drawing.bbox
    for box in boxes:
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1
        assert inside.y0 <= box.y0 < box.y1 <= inside.y1
        assert not legend.get_window_extent().overlaps(box)
    assert not any(title.get_window_extent().overlaps(box) for box in boxes[:-1])


def test_only_the_systems_of_the_pairs_and_what_is_significant(some: SystemPair) -> None:
    kinds = [("a", "a", "a"), ("depends", "b", "b"), ("depends",) * 3]
    names = [("b", "d"), ("b", "first"), ("d", "first")]
    pairs = [
        replace(with_winners(some, *kind), a=a, b=b)
        for kind, (a, b) in zip(kinds, names, strict=True)
    ]
    means = np.array([0.1, 0.5, 0.4, 0.3, 0.2])
    drawing = draw_pairs(pairs, NAMES, means, "a measure", ["b", None, "d"])
    axes: Any = drawing.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["b", "d"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["d", "first"]
    drawn = {
        line.get_marker(): (line.get_markerfacecolor(), line.get_xydata().tolist())
        for line in axes.lines
    }
    assert drawn == {"v": ("black", [[0.5, 0.5]]), "<": ("white", [[0.5, 1.5]])}
    labels = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert labels[3:] == [
        "the system named below is ahead, significantly",
        "the system named at the left is ahead, which may be chance",
    ]
