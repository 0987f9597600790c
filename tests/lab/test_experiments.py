"""Experiments: what their figures show, and the verdicts that follow from the cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.lines import AxLine
from matplotlib.text import Text

from dcglearn.lab.config import Config, config_files, read_config
from dcglearn.lab.experiment_figures import draw_figure
from dcglearn.lab.plots import Figure, Plot
from dcglearn.lab.repetitions import (
    mean_interval,
)
from dcglearn.lab.results import add_settings, make_figures, result_table
from dcglearn.lab.store import Store
from helpers.own_functions import computed
from helpers.truths import DATA_1

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


# --- verdicts on made-up tables

Point = dict[str, Any]
Value = Callable[[Point], dict[str, float]]


def made_up_table(name: str, value: Value) -> tuple[Config, pd.DataFrame]:
    """The full grid with five repetitions of made-up results."""
    config = read_config(CONFIGS[name]).model_copy(update={"repetitions": 5})
    rng = np.random.default_rng(0)
    rows = []
    for point, _ in config.cells():
        shown = {k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in point.items()}
        noise = 0.001 * rng.normal()
        rows.append({**shown, **{k: v + noise for k, v in value(shown).items()}})
    return config, pd.DataFrame(rows)


def made_up(name: str, value: Value) -> list[Figure]:
    config, table = made_up_table(name, value)
    return config.code.figures(add_settings(config, table))


def figures_of(config: Config, value: Value) -> list[Figure]:
    """The figures of these results, without noise."""
    rows = [{**point, **value(point), "pool": 1} for point, _ in config.cells()]
    return config.code.figures(add_settings(config, pd.DataFrame(rows)))


def shares(name: str, value: Value) -> list[Figure]:
    """With forty repetitions whose shares are 0 or 1 in the given proportion."""

    def said(p: Point) -> dict[str, float]:
        return {k: float((p["repetition"] + 0.5) / 40 < v) for k, v in value(p).items()}

    config = read_config(CONFIGS[name]).model_copy(update={"repetitions": 40})
    return figures_of(config, said)


def verdicts(figure: Figure) -> list[str]:
    return [claim.finding.verdict for claim in figure.claims]


def pairs(p: Point, **other: float) -> dict[str, float]:
    """Figures 1 and 2 as in the paper."""
    second = p["truth"] == "data-2"
    similarity = 0.88 + 0.02 * second - 0.03 * (p["pairs"] == 20)
    if p["lists"] == "drawn":
        similarity = 0.995 - 1 / p["pairs"]
    paper = {
        "precision": 0.95 - 2 / p["pairs"] - 0.004 * second,
        "offset": 0.999,
        "similarity": similarity,
        "identifiable": 0.99,
    }
    return {**paper, **other}


def errors(key: str) -> Value:
    """Figures 5 to 8: precision falls with the number of errors, and similarity grows."""
    return lambda p: {"precision": 0.9 - p[key] / 1000, "similarity": 0.8 + p[key] / 1000}


RESTRICTED = "sorted-against-another"


def growing(slope: float, alike: float = 0.0) -> Value:
    """Figure 10: precision grows with the pairs, and is higher on pairs like them."""
    return lambda p: {
        "precision": 0.8 + slope * p["pairs"] / 5000 + alike * (p["test_lists"] == RESTRICTED)
    }


def ahead(permutations: float, alike: float) -> Value:
    """Figure 10: how far restricted pairs are ahead, by what is predicted."""
    lead = {"permutations": permutations, RESTRICTED: alike, "drawn": 0.0}
    return lambda p: {"precision": 0.8 + lead[p["test_lists"]] * (p["lists"] == RESTRICTED)}


def hamming(size: float) -> Value:
    """Figures 11 and 12: what the other margin gains."""
    return lambda p: {
        "similarity": 0.9 + size * (p["margin"] == "hamming"),
        "precision": 0.9,
        "margin_correlation": 10 * size,
    }


def documents(small: float, large: float, slope: float = 1e-5) -> Value:
    """Figure 13: precision on five documents and on ten."""
    return lambda p: {
        "precision": small + p["pairs"] / 1e5
        if len(p["base"].split()) == 5
        else large + slope * (p["pairs"] - 200),
        "gains_correlation": small + 0.035,
    }


H, R, U, N = "holds", "holds, with a reason", "undecided", "does not hold"
VERDICTS: list[tuple[str, Value, list[str]]] = [
    ("pairs", pairs, [H, H, R, H, R, H]),
    ("pairs", lambda p: pairs(p, precision=0.95, similarity=0.9), [U, H, U, U, R, N]),
    ("pairs", lambda p: pairs(p, similarity=0.9 - p["pairs"] / 1000), [ANY, ANY, N, ANY, ANY, N]),
    (
        "pairs",
        lambda p: pairs(p, similarity=pairs(p)["similarity"] + p["pairs"] / 4000),
        [ANY, ANY, H, ANY, ANY, ANY],
    ),
    ("pairs", lambda p: pairs(p, precision=p["pairs"] / 1000), [N, N, ANY, ANY, ANY, ANY]),
    ("pairs", lambda p: pairs(p, similarity=pairs(p)["precision"]), [ANY, ANY, ANY, N, ANY, ANY]),
    ("pairs", lambda p: pairs(p, offset=0.9), [ANY, ANY, ANY, ANY, N, ANY]),
    ("flips", errors("flips"), [H, N]),
    ("flips", lambda p: {"precision": 0.9, "similarity": 0.8}, [U, U]),
    ("wrong_grades", errors("wrong_grades"), [H, N]),
    ("wrong_grades", lambda p: {"precision": 0.9, "similarity": 0.8}, [U, U]),
    ("sorted", lambda p: {"precision": 0.65}, [R]),
    ("sorted", lambda p: {"precision": 0.5}, [H]),
    ("sorted", lambda p: {"precision": 0.6 + p["pairs"] / 2000}, [N]),
    ("sorted_other", growing(1), [H, ANY]),
    ("sorted_other", growing(1, alike=0.1), [R, ANY]),
    ("sorted_other", growing(0), [U, ANY]),
    ("sorted_other", growing(-1), [N, ANY]),
    ("sorted_other", ahead(-0.1, -0.1), [ANY, H]),
    ("sorted_other", ahead(-0.1, 0.1), [ANY, R]),
    ("sorted_other", ahead(0.1, 0.1), [ANY, N]),
    ("hamming", hamming(0.0), [H, H, H]),
    ("hamming", hamming(0.05), [N, H, N]),
    ("documents", documents(0.96, 0.85, 2e-4), [R, H]),
    ("documents", documents(0.96, 0.96), [H, H]),
    ("documents", documents(0.96, 0.85), [N, ANY]),
    ("documents", documents(0.8, 0.96), [N, N]),
]


@pytest.mark.parametrize(("name", "value", "expected"), VERDICTS)
def test_verdicts(name: str, value: Value, expected: list[str]) -> None:
    found = made_up(name, value)
    assert [claim.finding.verdict for figure in found for claim in figure.claims] == expected


def covering(share: float, discounts: float = 0.95) -> Value:
    return lambda p: {
        "coverage": share if p["pairs"] == 200 else 0.95,
        "coverage:gains": 0.95,
        "coverage:discounts": discounts,
        "bounded": 1.0,
    }


def p_values(size: float, power: float) -> Value:
    """How often true hypotheses are rejected, and false ones."""
    names = read_config(CONFIGS["hypotheses"]).code.columns
    linear, exponential, constant = names[0], names[1], names[3]

    def p(point: Point) -> dict[str, float]:
        wrong = {exponential if point["truth"] == "data-1" else linear, constant}
        return {name: 1 - (power if name in wrong else size) for name in names}

    return p


def by_position(size: float, power: float) -> Value:
    name = read_config(CONFIGS["positions"]).code.columns[0]
    return lambda p: {name: 1 - (size if p["truth"] in ("data-1", "data-2") else power)}


def by_others(coverage: float, bias: float, noticed: float) -> Value:
    return lambda p: {
        "coverage": coverage,
        "middle_gain": bias,
        "p:link": 1 - (noticed if p["noise"] != "logistic" else 0.0),
    }


OF_SHARES: list[tuple[str, Value, list[str]]] = [
    ("coverage", covering(0.95), [H, H]),
    ("coverage", covering(0.9), [U, H]),
    ("coverage", covering(0.7, 0.5), [N, N]),
    ("coverage", covering(1.0), [N, H]),
    ("designs", covering(0.95), [H]),
    ("designs", covering(0.0), [N]),
    ("hypotheses", p_values(0.05, 1.0), [H, H]),
    ("hypotheses", p_values(0.5, 0.5), [N, N]),
    ("hypotheses", p_values(0.05, 0.7), [H, U]),
    ("positions", by_position(0.05, 1.0), [H]),
    ("positions", by_position(0.05, 0.7), [U]),
    ("positions", by_position(0.05, 0.3), [N]),
    ("positions", by_position(0.3, 1.0), [N]),
    ("other_judges", by_others(0.95, 0.0, 0.9), [H, H, H]),
    ("other_judges", by_others(0.5, 0.5, 0.0), [N, N, N]),
]


@pytest.mark.parametrize(("name", "value", "expected"), OF_SHARES)
def test_verdicts_on_shares(name: str, value: Value, expected: list[str]) -> None:
    assert [one.claims[0].finding.verdict for one in shares(name, value)] == expected


def off_the_line(*errors: float) -> np.ndarray:
    """Errors of discounts after the first, less the line on the true ones that fits them best."""
    true = np.column_stack([DATA_1.discounts_for(10)[1:], np.ones(9)])
    return np.array([0.0, *errors - true @ np.linalg.lstsq(true, errors)[0]])


LAST = off_the_line(0.01, -0.01, 0.01, -0.01, 0.01, 0.01, -0.05, 0.1, -0.05)
FIRST = off_the_line(-0.05, 0.1, -0.05, 0.01, -0.01, 0.01, -0.01, 0.01, -0.01)


@pytest.mark.parametrize(
    ("errors", "correlation", "expected"),
    [
        (LAST, 0.995, [H, R, H, H]),
        (FIRST, 0.995, [H, R, N, N]),
        (LAST, 0.9, [N, ANY, ANY, ANY]),
        (0.1 * (np.arange(10) == 1), 0.995, [ANY, N, ANY, ANY]),  # it attracts the line
    ],
)
def test_figures_3_and_4(errors: np.ndarray, correlation: float, expected: list[str]) -> None:
    learned = DATA_1.discounts_for(10) + errors
    cells = {
        **{f"discounts_{k}": c for k, c in enumerate(learned, 1)},
        **{f"gains_{6 - i}": float(i) + 0.1 * (i == 2) for i in range(1, 6)},
        "gains_correlation": 0.995,
        "discounts_correlation": correlation,
    }
    claims = [claim for figure in made_up("parameters", lambda p: cells) for claim in figure.claims]
    assert [claim.finding.verdict for claim in claims[:4]] == expected


def test_learned_against_ad_hoc() -> None:
    presets = read_config(CONFIGS["ad_hoc"]).code.columns[1:-1]

    def value(p: Point) -> dict[str, float]:
        found = dict.fromkeys(presets, 0.9)
        if p["truth"] == "data-1":
            found["precision:linear-log2"] = 0.9999
        more = 0.02 * (p["C"] == "validation")
        return {**found, "precision": 0.85 + more + 0.03 * np.log10(p["pairs"] / 20)}

    findings = [figure.claims[0].finding for figure in made_up("ad_hoc", value)]
    assert [finding.verdict for finding in findings] == [H] * 3
    assert "with C chosen on them: 1,000 (exponential-log2)" in findings[0].reason
    assert "(linear-log2)" not in findings[0].reason  # it is the truth, not a rival
    assert "1,000 (linear-log2)" in findings[1].reason
    gained = [n.mean for n in findings[0].intervals if n.label.startswith("C chosen on more")]
    assert gained == pytest.approx([0.02] * 4, abs=0.005)
    worse = made_up("ad_hoc", lambda p: {**value(p), "precision": 0.85})
    assert [figure.claims[0].finding.verdict for figure in worse] == [N] * 3
    assert "more than 2,000 (zipf)" in worse[0].claims[0].finding.reason


def test_shares_of_the_error_at_random() -> None:
    """In the mean over truths; the errors of the truths differ, and repetitions vary."""

    def choosing(shares: dict[int, float], worse: float = 1.0) -> Figure:
        def value(point: Point) -> dict[str, float]:
            first = point["truth"] == "data-2"
            error = (0.01 if first else 0.1) * (1 + 0.01 * (point["repetition"] % 3))
            if point["policy"] == "everything":
                error *= shares[point["pairs"]] * (worse if first else 1)
            return {"precision": 1 - error, "gain_error": error}

        return figures_of(read_config(CONFIGS["choosing"]), value)[0]

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
        def value(point: Point) -> dict[str, float]:
            covered = float((point["repetition"] + 0.5) / 80 < share)
            width = 0.1 * (1 + 0.01 * (point["repetition"] % 3))
            return {"intervals_1": covered, "intervals_2": width, "intervals_3": came * width}

        return figures_of(read_config(CONFIGS["asked"]), value)

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
    config, table = made_up_table(
        "documents", lambda p: {"precision": 0.5, "gains_correlation": 0.5}
    )
    full, quick = (
        make_figures(part, table)[0].claims[0].finding for part in (config, config.quick_part())
    )
    assert full.verdict == "does not hold"
    assert quick.verdict == "not judged (quick)"
    assert quick.intervals == full.intervals
