"""Figures 3 and 4: discounts and gains estimated from W, against the true ones."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pandas as pd

from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.plots import Figure, Plot, Series, paneled, series_of
from dcglearn.lab.repetitions import display_name, mean_interval, means
from dcglearn.lab.simulation.truths import named_truth

COLUMNS = ("gains", "gains_correlation", "discounts", "discounts_correlation")

STRAIGHT = 0.98
"""The correlation above which points count as close to a straight line; of this project."""

ENDS = {"discounts": 3, "gains": 2}
"""How many ranks, or grades, are compared at each end of the list; of this project."""

PLACES = {"discounts": "rank", "gains": "grade"}
FIRST = {"discounts": "first rank", "gains": "best grade"}
TOP = {"discounts": "first 3 ranks", "gains": "best 2 grades"}
LAST = {"discounts": "last 3", "gains": "worst 2"}

BEST = {
    "discounts": "The discounts are learned best at the top ranks.",
    "gains": "The gains, likewise, are learned best for the best grades.",
}
"""What the paper says, in our words."""

CAPTION = (
    "Means over repetitions of the {0} estimated from the rank-1 part of W, as shares of the "
    "largest. They are mapped onto the true ones by least squares: pairs that reorder one list "
    "determine them only up to an affine map. Bars, mostly shorter than a marker: 95% intervals "
    "of the mean over repetitions."
)

ERRORS = (
    "Distances from the least-squares line through the true and the learned {0}, by {1}, in three "
    "senses. Distance from the line: as a share of the largest {2}. Share of its own size: of the "
    "{2} at the same {1}. Standardised distance: as a share of the largest {2}, corrected for the "
    "leverage of the point: errors that are equally large at each {1} then give a flat curve. "
    "Bands: 95% intervals of the mean over repetitions."
)

LEVERAGE = (
    "The {0}, far from the others, attracts the line (its leverage is {1}, of at most 1): it would "
    "be closest to it even if all errors were equally large. Whether the claim holds depends on "
    "what best means."
)


SENSES = {
    "line": "distance from the line",
    "own": "share of its own size",
    "standardised": "standardised distance",
}


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 3 and 4, and 3b and 4b, about what is learned best."""
    return [
        one
        for number, what in (("3", "discounts"), ("4", "gains"))
        for one in (_figure(table, number, what), _by_place(table, f"{number}b", what))
    ]


def _figure(table: pd.DataFrame, number: str, what: str) -> Figure:
    one, series = what[:-1], []
    for truth, rows in table.groupby("truth", sort=False):
        true = _true(table, truth, what)
        learned = rows[_columns(what, len(true))].to_numpy(float) / true.max()
        found = series_of(display_name(truth), dict(enumerate(map(mean_interval, learned.T))))
        series.append(replace(found, x=tuple((true / true.max()).tolist())))
    labels = f"true {one}, share of the largest", f"estimated {one}"
    correlations = means(table, f"{what}_correlation", "{truth}, correlation:")
    claim = Claim(
        f"Estimated and true {what} have a correlation above {STRAIGHT}.",
        judge_all(correlations, above=STRAIGHT),
        f"The points of estimated and true {what} lie close to a straight line.",
        "6.3",
        (f"close to a straight line: correlation above {STRAIGHT}",),
    )
    plot = Plot(*labels, tuple(series), diagonal=True)
    return Figure(number, f"Estimated against true {what}", plot, (claim,), CAPTION.format(what))


def _true(table: pd.DataFrame, truth: str, what: str) -> np.ndarray:
    K, L = int(table["ranks"].iloc[0]), int(table["grades"].iloc[0])
    dcg = named_truth(truth, K, L, np.random.default_rng())
    return np.array(dcg.gains) if what == "gains" else dcg.discounts_for(K)


def _columns(what: str, n: int) -> list[str]:
    return [f"{what}_{i}" for i in range(1, n + 1)]


def _by_place(table: pd.DataFrame, number: str, what: str) -> Figure:
    """Return the figure of errors by rank or grade, in three senses."""
    one, place = what[:-1], PLACES[what]
    panels, claims = [], []
    for sense, title in SENSES.items():
        errors = {
            str(truth): _errors(rows, truth, what, sense)
            for truth, rows in table.groupby("truth", sort=False)
        }
        y_label = f"error, share of {'its own' if sense == 'own' else 'the largest'} {one}"
        series = tuple(_curve(error, truth, what) for truth, error in errors.items())
        panels.append(Plot(place, y_label, series, within=(0.0, inf), title=title))
        claims.append(_first(table, errors, what) if sense == "line" else _top(errors, what, sense))
    title = f"Errors of the {what} by {place}"
    return paneled(number, title, panels, claims, ERRORS.format(what, place, one))


def _curve(errors: np.ndarray, truth: str, what: str) -> Series:
    n = errors.shape[1]
    grades = [f"{n} (best)", *map(str, range(n - 1, 0, -1))]
    places = grades if what == "gains" else range(1, n + 1)
    return series_of(
        display_name(truth), dict(zip(places, map(mean_interval, errors.T), strict=True))
    )


def _errors(table: pd.DataFrame, truth: str, what: str, sense: str) -> np.ndarray:
    """Return the distances of learned numbers from the least-squares line on the true ones.

    Shape (repetitions, K or L). Dividing by the slope converts to the scale of the truth. The
    variance of a least-squares residual e is proportional to 1 - h, where h is the leverage, so
    e / sqrt(1 - h) is equally large where errors are (Cook & Weisberg, Residuals and Influence in
    Regression, 2.2.1).
    """
    true = _true(table, truth, what)
    learned = table[_columns(what, len(true))].to_numpy(float)
    centred = true - true.mean()
    slopes = (learned @ centred / (centred @ centred))[:, None]
    residuals = learned - learned.mean(axis=1, keepdims=True) - slopes * centred
    errors: np.ndarray = np.abs(residuals) / np.abs(slopes)
    if sense == "own":
        return errors / true
    if sense == "standardised":
        errors = errors / np.sqrt(1 - _leverage(true))
    return errors / true.max()


def _leverage(true: np.ndarray) -> np.ndarray:
    centred = true - true.mean()
    found: np.ndarray = 1 / len(true) + centred**2 / (centred @ centred)
    return found


def _first(table: pd.DataFrame, errors: dict[str, np.ndarray], what: str) -> Claim:
    """Return the claim that the first error is smaller than the others."""
    first, gaps, numbers = FIRST[what], [], []
    for truth, error in errors.items():
        name, others = display_name(truth), error[:, 1:]
        closest = others[:, others.mean(axis=0).argmin()]
        rest = error[:, 0] - others.mean(axis=1)
        gaps.append(mean_interval(rest, f"{name}, {first} minus all others:"))
        label = f"{name}, {first} minus the closest other:"
        numbers += [gaps[-1], mean_interval(error[:, 0] - closest, label)]
    leverage = [_leverage(_true(table, truth, what))[0] for truth in errors]
    shown = " and ".join(dict.fromkeys(f"{one:.2f}"[1:] for one in leverage))
    found = judge_all(gaps, below=0, reason=LEVERAGE.format(first, shown))
    return Claim(
        f"As a distance from the line, the error is smaller at the {first} than in the mean over "
        f"the other {PLACES[what]}s.",
        replace(found, intervals=tuple(numbers)),
        BEST[what],
        "6.3",
    )


def _top(errors: dict[str, np.ndarray], what: str, sense: str) -> Claim:
    """Return the claim that the errors of the first are smaller than those of the last."""
    n, best = ENDS[what], "top ranks" if what == "discounts" else "best grades"
    gaps = [
        mean_interval(
            error[:, :n].mean(axis=1) - error[:, -n:].mean(axis=1),
            f"{display_name(truth)}, error at the {TOP[what]} minus at the {LAST[what]}:",
        )
        for truth, error in errors.items()
    ]
    share = SENSES[sense] if sense == "own" else "standardised distance from the line"
    return Claim(
        f"As a {share}, the error is smaller at the {TOP[what]} than at the {LAST[what]}.",
        judge_all(gaps, below=0),
        BEST[what],
        "6.3",
        (f"the {best}: the {TOP[what]}",),
    )
