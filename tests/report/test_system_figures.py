"""The figure of coherence: what it shows of each pair, and that nothing covers anything."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    DCG,
    Rules,
    SystemConclusions,
    evaluate,
    system_conclusions,
)
from dcglearn.report.figures.style import save
from dcglearn.report.figures.system_figures import draw_pairs

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
