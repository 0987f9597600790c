"""Figures 3 and 4: discounts and gains estimated from W, against the true ones."""

from math import inf

import numpy as np
import pandas as pd

from dcglearn.lab.claims import Claim, judge_all
from dcglearn.lab.plots import Figure, Plot, curves, paneled
from dcglearn.lab.repetitions import means, rows_where
from dcglearn.lab.simulation.truths import named_truth

COLUMNS = ("gains", "gains_correlation", "discounts", "discounts_correlation")

STRAIGHT = 0.98
"""The correlation above which points count as close to a straight line; of this project."""

ENDS = {"discounts": ("rank", "first", "last", 3), "gains": ("grade", "best", "worst", 2)}
"""Whose numbers they are, its ends, and how many are compared at each end; of this project."""

SENSES = {
    "line": "distance from the line",
    "own": "share of its own size",
    "standardised": "standardised distance",
}
BEST = {
    "discounts": "The discounts are learned best at the top ranks.",
    "gains": "The gains, likewise, are learned best for the best grades.",
}
"""What the paper says, in our words."""

CAPTION = (
    "Means over repetitions of the {0} estimated from the rank-1 part of W, as shares of the "
    "largest. They are mapped onto the true ones by least squares: pairs that reorder one list "
    "determine them only up to an affine map. Bars, mostly shorter than a marker: 95% intervals."
)
ERRORS = (
    "Distances from the least-squares line through the true and the learned {0}, by {1}: as shares "
    "of the largest {2}; of the {2} itself; and of the largest, corrected for leverage, so that "
    "equal errors give a flat curve. Bands: 95% intervals of the mean over repetitions."
)
LEVERAGE = (
    "The {0}, far from the others, attracts the line (its leverage is {1}, of at most 1): it would "
    "be closest even if all errors were equal. Whether the claim holds depends on what best means."
)


def figures(table: pd.DataFrame) -> list[Figure]:
    """Return figures 3 and 4, and 3b and 4b, about what is learned best."""
    drawn = []
    for number, what in (("3", "discounts"), ("4", "gains")):
        numbers = _by_place(table, what)
        found = judge_all(means(table, f"{what}_correlation", "{truth}, correlation:"), STRAIGHT)
        tested = f"Estimated and true {what} have a correlation above {STRAIGHT}."
        quote = f"The points of estimated and true {what} lie close to a straight line."
        limits = (f"close to a straight line: correlation above {STRAIGHT}",)
        claim = Claim(tested, found, quote, "6.3", limits)
        labels = f"true {what[:-1]}, share of the largest", f"estimated {what[:-1]}"
        plot = Plot(*labels, curves(numbers, "true", "learned", "truth"), diagonal=True)
        title, caption = f"Estimated against true {what}", CAPTION.format(what)
        drawn.append(Figure(number, title, plot, (claim,), caption))
        drawn.append(_errors(numbers, f"{number}b", what))
    return drawn


def _by_place(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return a row for each truth, repetition and rank or grade, with errors in three senses.

    They are distances of learned numbers from the least-squares line on the true ones. Dividing by
    the slope converts to the scale of the truth. The variance of a least-squares residual e is
    proportional to 1 - h, where h is the leverage, so e / sqrt(1 - h) is equally large where errors
    are (Cook & Weisberg, Residuals and Influence in Regression, 2.2.1).
    """
    found = []
    for truth, rows in table.groupby("truth", sort=False):
        K, L = int(rows["ranks"].iloc[0]), int(rows["grades"].iloc[0])
        dcg = named_truth(truth, K, L, np.random.default_rng())
        true = np.array(dcg.gains) if what == "gains" else dcg.discounts_for(K)
        learned = rows[[f"{what}_{i + 1}" for i in range(len(true))]].to_numpy(float)
        centred = true - true.mean()
        leverage = 1 / len(true) + centred**2 / (centred @ centred)
        slopes = learned @ centred / (centred @ centred)
        residuals = learned.T - learned.mean(axis=1) - np.outer(centred, slopes)
        errors = np.abs(residuals / slopes) / true.max()
        grades = [f"{L} (best)", *map(str, range(L - 1, 0, -1))]
        for index, place in enumerate(grades if what == "gains" else range(1, K + 1)):
            at = rows[["truth", "repetition"]].assign(index=index, place=place)
            at["true"], at["learned"] = true[index] / true.max(), learned[:, index] / true.max()
            found.append(at.assign(line=errors[index], leverage=leverage[index]))
    long = pd.concat(found, ignore_index=True)
    standardised = long["line"] / np.sqrt(1 - long["leverage"])
    return long.assign(own=long["line"] / long["true"], standardised=standardised)


def _errors(numbers: pd.DataFrame, number: str, what: str) -> Figure:
    """Return the figure of errors by rank or grade."""
    one, (place, first, last, n) = what[:-1], ENDS[what]
    panels = []
    for sense, title in SENSES.items():
        y_label = f"error, share of {'its own' if sense == 'own' else 'the largest'} {one}"
        series = curves(numbers, "place", sense, "truth")
        panels.append(Plot(place, y_label, series, within=(0.0, inf), title=title))
    claims = [_first_claim(numbers, what)]
    top, index = f"{first} {n} {place}s", numbers["index"]
    of_top, of_last = numbers[index < n], numbers[index > index.max() - n]
    best = f"the {'top ranks' if what == 'discounts' else 'best grades'}: the {top}"
    for sense in ("own", "standardised"):
        label = f"{{truth}}, error at the {top} minus at the {last} {n}:"
        found = judge_all(means(of_top, sense, label, minus=of_last), below=0)
        tested = f"As a {SENSES[sense]}, the error is smaller at the {top} than at the {last} {n}."
        claims.append(Claim(tested, found, BEST[what], "6.3", (best,)))
    caption = ERRORS.format(what, place, one)
    return paneled(number, f"Errors of the {what} by {place}", panels, claims, caption)


def _first_claim(numbers: pd.DataFrame, what: str) -> Claim:
    """Return the claim that the first error is smaller than the mean of the others."""
    kind, end, *_ = ENDS[what]
    place, first = f"{end} {kind}", rows_where(numbers, index=0)
    others = numbers[numbers["index"] > 0]
    size = others.groupby(["truth", "index"])["line"].transform("mean")
    closest = others[size == size.groupby(others["truth"]).transform("min")]
    leverage = " and ".join(dict.fromkeys(f"{one:.2f}"[1:] for one in first["leverage"]))
    label = f"{{truth}}, {place} minus"
    found = judge_all(
        means(first, "line", f"{label} all others:", minus=others),
        below=0,
        also=means(first, "line", f"{label} the closest other:", minus=closest),
        reason=LEVERAGE.format(place, leverage),
    )
    tested = f"As a distance from the line, the error at the {place} is below the mean of others."
    return Claim(tested, found, BEST[what], "6.3")
