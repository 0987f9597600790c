"""Figures 3 and 4: the discounts and gains that are read from W, against the true ones."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dcglearn.study.findings import Figure, Finding, Plot, Series, judged
from dcglearn.study.means import Number, at, mean_of, mean_over, name_of
from dcglearn.study.simulate import named_truth

COLUMNS = ("gains", "gains_correlation", "discounts", "discounts_correlation")

STRAIGHT = 0.98
"""The correlation from which a line is called close to straight."""

TOP = 3

RELATIVE = (
    "Best at the top ranks holds of relative errors: an error of one size is a smaller share of "
    "a larger discount. In absolute terms the top ranks are not learned clearly better."
)

CAPTION = (
    "Means over repetitions of the {0} read from the rank-1 part of W, mapped on the true ones "
    "by least squares (an affine map, which is as far as pairs that reorder one list determine "
    "them), as shares of the largest. Bars: 95% intervals of the mean over repetitions."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 3 and 4."""
    return [_figure(table, "3", "discounts"), _figure(table, "4", "gains")]


def _figure(table: pd.DataFrame, number: str, what: str) -> Figure:
    truths = table["truth"].unique()
    return Figure(
        number,
        f"Estimated against true {what}",
        Plot(
            f"true {what[:-1]}, share of the largest",
            f"estimated {what[:-1]}",
            tuple(_series(at(table, truth=truth), truth, what) for truth in truths),
            diagonal=True,
        ),
        f"Estimated and true {what} lie close to a straight line"
        + (", best at the top ranks." if what == "discounts" else "."),
        _straight(table, what),
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
    points = [mean_of(table[column] / largest) for column in _columns(what, len(true))]
    return Series(
        name_of(truth),
        tuple((true / largest).tolist()),
        tuple(p.mean for p in points),
        tuple(p.low for p in points),
        tuple(p.high for p in points),
        tuple(p.n for p in points),
    )


def _straight(table: pd.DataFrame, what: str) -> Finding:
    numbers = [
        mean_over(at(table, truth=truth), f"{what}_correlation", f"{name_of(truth)}, correlation:")
        for truth in table["truth"].unique()
    ]
    straight = all(number.low > STRAIGHT for number in numbers)
    bent = any(number.high < STRAIGHT for number in numbers)
    if what == "gains":
        return judged(numbers, straight, bent)
    shares, sizes = (
        [_top_minus_last(table, truth, kind) for truth in table["truth"].unique()]
        for kind in ("relative", "absolute")
    )
    best = all(number.high < 0 for number in shares)
    reason = "" if all(number.high < 0 for number in sizes) else RELATIVE
    contrary = bent or any(number.low > 0 for number in shares)
    return judged([*numbers, *shares, *sizes], straight and best, contrary, reason)


def _top_minus_last(table: pd.DataFrame, truth: str, kind: str) -> Number:
    """How much larger errors are at the first ranks than at the last, by repetition."""
    table = at(table, truth=truth)
    true = _true(table, truth, "discounts")
    errors = np.abs(table[_columns("discounts", len(true))].to_numpy(float) - true)
    if kind == "relative":
        errors = errors / true
    gap = errors[:, :TOP].mean(axis=1) - errors[:, -TOP:].mean(axis=1)
    label = f"{name_of(truth)}, {kind} error at ranks 1 to {TOP} minus at the last {TOP}:"
    return mean_over(table.assign(gap=gap), "gap", label)
