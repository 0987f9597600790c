"""Figures 3 and 4: discounts and gains estimated from W, against the true ones."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dcglearn.lab.claims import Claim, Finding, judge_claim
from dcglearn.lab.plots import Figure, Plot, Series
from dcglearn.lab.repetitions import (
    MeanInterval,
    display_name,
    mean_interval,
    mean_over_repetitions,
    rows_where,
)
from dcglearn.simulation.truths import named_truth

COLUMNS = ("gains", "gains_correlation", "discounts", "discounts_correlation")

STRAIGHT = 0.98
"""The correlation above which points count as close to a straight line."""

TOP = 3
"""The number of ranks compared at each end of the list in figure 3b."""

CAPTION = (
    "Means over repetitions of the {0} estimated from the rank-1 part of W, as shares of the "
    "largest. They are mapped onto the true ones by least squares: pairs that reorder one list "
    "determine them only up to an affine map. Bars, mostly shorter than a marker: 95% intervals "
    "of the mean over repetitions."
)

BY_RANK = (
    "Standardised residuals of the least-squares line through the learned and the true "
    "discounts, by rank, as shares of the largest discount. They are standardised because the "
    "first rank, far from the others, attracts the line: errors that are equally large at all "
    "ranks give a flat curve. As shares of the discount at the same rank, errors decrease towards "
    "the top, where discounts are larger. Bands: 95% intervals of the mean over repetitions."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 3 and 4, and figure 3b, about the second claim on figure 3."""
    return [_figure(table, "3", "discounts"), _by_rank(table), _figure(table, "4", "gains")]


def _figure(table: pd.DataFrame, number: str, what: str) -> Figure:
    truths = table["truth"].unique()
    return Figure(
        number,
        f"Estimated against true {what}",
        Plot(
            f"true {what[:-1]}, share of the largest",
            f"estimated {what[:-1]}",
            tuple(_series(rows_where(table, truth=truth), truth, what) for truth in truths),
            diagonal=True,
        ),
        (
            Claim(
                f"Estimated and true {what} lie close to a straight line (correlation above "
                f"{STRAIGHT}).",
                _straight(table, what),
                section="6.3",
            ),
        ),
        CAPTION.format(what),
    )


def _true(table: pd.DataFrame, truth: str, what: str) -> np.ndarray:
    K, L = int(table["ranks"].iloc[0]), int(table["grades"].iloc[0])
    dcg = named_truth(truth, K, L, np.random.default_rng())
    return np.array(dcg.gains) if what == "gains" else dcg.discounts_for(K)


def _columns(what: str, n: int) -> list[str]:
    return [f"{what}_{i}" for i in range(1, n + 1)]


def _series(table: pd.DataFrame, truth: str, what: str) -> Series:
    true = _true(table, truth, what)
    largest = true.max()
    points = [mean_interval(table[column] / largest) for column in _columns(what, len(true))]
    return Series(
        display_name(truth),
        tuple((true / largest).tolist()),
        tuple(p.mean for p in points),
        tuple(p.low for p in points),
        tuple(p.high for p in points),
        tuple(p.n for p in points),
    )


def _straight(table: pd.DataFrame, what: str) -> Finding:
    numbers = [
        mean_over_repetitions(
            rows_where(table, truth=truth),
            f"{what}_correlation",
            f"{display_name(truth)}, correlation:",
        )
        for truth in table["truth"].unique()
    ]
    straight = all(number.low > STRAIGHT for number in numbers)
    return judge_claim(numbers, straight, any(number.high < STRAIGHT for number in numbers))


def _by_rank(table: pd.DataFrame) -> Figure:
    truths = table["truth"].unique()
    errors = {truth: _errors(rows_where(table, truth=truth), truth) for truth in truths}
    series = []
    for truth, error in errors.items():
        points = [mean_interval(column) for column in error.T]
        mean, low, high, n = (
            tuple(getattr(p, name) for p in points) for name in ("mean", "low", "high", "n")
        )
        series.append(
            Series(display_name(truth), tuple(range(1, len(points) + 1)), mean, low, high, n)
        )
    gaps = [_top_minus_last(error, display_name(truth)) for truth, error in errors.items()]
    best = all(number.high < 0 for number in gaps)
    return Figure(
        "3b",
        "Errors of the discounts by rank",
        Plot("rank", "error, share of the largest discount", tuple(series)),
        (
            Claim(
                "Discounts are learned best at the top ranks.",
                judge_claim(gaps, best, any(number.low > 0 for number in gaps)),
                section="6.3",
            ),
        ),
        BY_RANK,
    )


def _errors(table: pd.DataFrame, truth: str) -> np.ndarray:
    """Return the standardised residuals of the line through (true, learned) discounts.

    Shape (repetitions, K). The variance of a least-squares residual e is proportional to
    1 - h, where h is the leverage, so e / sqrt(1 - h) is equally large where errors are (Cook &
    Weisberg, Residuals and Influence in Regression, 2.2.1). Dividing by the slope converts to
    the scale of the truth.
    """
    true = _true(table, truth, "discounts")
    learned = table[_columns("discounts", len(true))].to_numpy(float)
    centred = true - true.mean()
    slopes = (learned @ centred / (centred @ centred))[:, None]
    residuals = learned - learned.mean(axis=1, keepdims=True) - slopes * centred
    leverage = 1 / len(true) + centred**2 / (centred @ centred)
    errors: np.ndarray = np.abs(residuals) / np.sqrt(1 - leverage) / np.abs(slopes) / true.max()
    return errors


def _top_minus_last(errors: np.ndarray, name: str) -> MeanInterval:
    """Return the mean error at the first ranks minus the mean error at the last."""
    gaps = errors[:, :TOP].mean(axis=1) - errors[:, -TOP:].mean(axis=1)
    return mean_interval(gaps, f"{name}, error at ranks 1 to {TOP} minus at the last {TOP}:")
