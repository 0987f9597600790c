"""The figure of coherence: what it shows of each pair, and that nothing covers anything."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    DCG,
    PairConclusion,
    Rules,
    SystemConclusions,
    Verdict,
    evaluate,
    system_conclusions,
)
from dcglearn.report.figures.style import save
from dcglearn.report.figures.system_figures import draw_pairs

NAMES = ("first", "another system with a long name", "b", "c", "d")
MEANS = np.array([0.1, 0.5, 0.4, 0.3, 0.2])
KINDS = [("a", "a"), ("depends", "b"), ("equal", "equal"), ("depends", "depends")]
"""Winners by mean DCG with any of both and by mean nDCG with any gains."""


def with_names(
    one: PairConclusion, a: str, b: str, kind: tuple[str, str], significant: bool
) -> PairConclusion:
    return replace(
        one,
        a=a,
        b=b,
        any_parameters=Verdict(kind[0]),  # type: ignore[arg-type]  # names of winners
        mean_ndcg=replace(one.mean_ndcg, winner=kind[1]),
        significant=significant,
    )


@pytest.fixture(scope="module")
def found() -> SystemConclusions:
    """Ten pairs of five systems, of which every second one is significant."""
    qrels = {"q": {"d1": 1, "d2": 0}}
    runs = {"one": {"q": {"d1": 1.0}}, "two": {"q": {"d2": 1.0}}}
    measure = DCG({1: 1, 0: 0}, "log2", 2, "ideal")
    evaluation = evaluate(qrels, runs, measure, rules=Rules("input"))
    some = system_conclusions(evaluation, 2, np.random.default_rng(0))
    pairs = tuple(
        with_names(some.pairs[0], a, b, KINDS[k % 4], k % 2 == 1)
        for k, (a, b) in enumerate(combinations(NAMES, 2))
    )
    name = "nDCG(a measure with a name that is longer than the figure is wide.json) @ 10"
    renamed = replace(
        some.evaluation,
        measures=tuple(replace(one, name=name) for one in some.evaluation.measures),
        systems=NAMES,
        runs=some.evaluation.runs[:1] * 5,
        extra=((),) * 5,
        values=MEANS[:, None, None],
    )
    return replace(some, evaluation=renamed, pairs=pairs)


def test_five_systems(found: SystemConclusions, tmp_path: Path) -> None:
    drawing = draw_pairs(found)
    save(drawing, tmp_path / "pairs.png")
    drawing.draw_without_rendering()
    axes: Any = drawing.axes[0]
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "nDCG any gains, DCG both: 3",
        "nDCG any gains: 3",
        "depends on the gains: 2",
        "equal: 2",
        "significant",
    ]
    order = [*NAMES[1:], NAMES[0]]
    assert [text.get_text() for text in axes.get_xticklabels()] == order[:-1]
    assert [text.get_text() for text in axes.get_yticklabels()] == order[1:]
    *kinds, significant = axes.lines

    def pairs_of(line: Any) -> set[frozenset[str]]:
        return {frozenset(order[int(place)] for place in places) for places in line.get_xydata()}

    assert pairs_of(significant) == {frozenset((x.a, x.b)) for x in found.pairs if x.significant}
    for line, kind in zip(kinds, (0, 1, 3, 2), strict=True):
        assert pairs_of(line) == {
            frozenset((one.a, one.b))
            for one in found.pairs
            if (one.any_parameters.winner, one.mean_ndcg.winner) == KINDS[kind]
        }
    title: Any = drawing._suptitle  # type: ignore[attr-defined]  # it has no public name
    texts = [*axes.get_xticklabels(), *axes.get_yticklabels(), title]
    boxes = [text.get_window_extent() for text in texts]
    inside = drawing.bbox
    for box in boxes:
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1
        assert inside.y0 <= box.y0 < box.y1 <= inside.y1
        assert not legend.get_window_extent().overlaps(box)
    assert not any(title.get_window_extent().overlaps(box) for box in boxes[:-1])
