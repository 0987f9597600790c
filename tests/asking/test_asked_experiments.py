"""What follows from the cells of the experiments on chosen pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dcglearn.lab.config import config_files, read_config
from dcglearn.lab.plots import Figure
from dcglearn.lab.results import make_figures

CONFIGS = {path.stem: path for path in config_files()}


def figures_of(name: str, value: Callable[[dict[str, Any]], dict[str, float]]) -> list[Figure]:
    """The figures of a made-up table with all cells of an experiment."""
    config = read_config(CONFIGS[name])
    rows = [{**point, **value(point), "pool": 1} for point, _ in config.cells()]
    return list(make_figures(config, pd.DataFrame(rows)))


def verdicts(figure: Figure) -> list[str]:
    return [claim.finding.verdict for claim in figure.claims]


def test_shares_of_the_error_at_random() -> None:
    """In the mean over truths; the errors of the truths differ, and repetitions vary."""

    def choosing(shares: dict[int, float], worse: float = 1.0) -> Figure:
        def value(point: dict[str, Any]) -> dict[str, float]:
            first = point["truth"] == "data-2"
            error = (0.01 if first else 0.1) * (1 + 0.01 * (point["repetition"] % 3))
            if point["policy"] == "everything":
                error *= shares[point["pairs"]] * (worse if first else 1)
            return {"precision": 1 - error, "gain_error": error}

        return figures_of("choosing", value)[0]

    found = choosing({20: 0.9, 50: 0.3, 100: 0.05})
    assert verdicts(found) == ["holds"] * 3
    exact = found.claims[0].finding.intervals
    assert [one.mean for one in exact] == pytest.approx([0.9, 0.3, 0.05])
    assert verdicts(choosing({20: 0.9, 50: 0.5, 100: 0.2})) == ["does not hold", "holds", "holds"]
    uneven = choosing({20: 0.1, 50: 0.1, 100: 0.01}, worse=15.0)  # on one of three truths
    assert verdicts(uneven)[2] == "does not hold"
    assert uneven.claims[0].finding.intervals[0].mean == pytest.approx((1.5 + 0.1 + 0.1) / 3)


def test_coverage_and_widths_after_chosen_pairs() -> None:
    def asked(share: float, came: float) -> list[Figure]:
        def value(point: dict[str, Any]) -> dict[str, float]:
            covered = float((point["repetition"] + 0.5) / 80 < share)
            width = 0.1 * (1 + 0.01 * (point["repetition"] % 3))
            return {"intervals_1": covered, "intervals_2": width, "intervals_3": came * width}

        return figures_of("asked", value)

    for share, came, expected in (
        (0.95, 1.1, ["holds", "holds"]),
        (0.8, 1.3, ["does not hold", "does not hold"]),
        (1.0, 0.9, ["does not hold", "holds"]),
    ):
        found = asked(share, came)
        assert [one.number for one in found] == ["Q3", "Q4"]
        assert [verdict for one in found for verdict in verdicts(one)] == expected
        ratios = [one.mean for one in found[1].claims[0].finding.intervals]
        assert ratios == pytest.approx(np.full(10, came))
