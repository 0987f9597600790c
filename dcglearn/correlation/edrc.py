"""Expected discounted rank correlation (EDRC) of incomplete pairwise preferences.

The truth G and the prediction P are sets of preferences, v above w; G+ and P+ are their transitive
closures. S is the set of items to which no true preference prefers another. The rank R(v) is 1 in
S, and otherwise 1 + the largest rank of the items preferred to v. W(v) is the set of all items
except v and those below v in G+. Then

    EDRC = 2 / Z  sum_{v not in S} C(v) / D(v)  -  1        C(v) = sum_{w in W(v)} EP(v, w)
    Z    =        sum_{v not in S} |W(v)| / D(v)

EP(v, w) is the expected correctness of the prediction: where G+ relates w and v, 1 if P+ agrees, 0
if it disagrees and 1/2 otherwise. Where G+ does not, it is 1/2; or, if a likelihood p of w above v
is given, p if w is above v in P+, 1 - p if below. D is R, 2^R, log2(1 + R) or R - 1; with complete
orders, the last gives AP correlation with the ranks of the *truth*. A perfect prediction has an
EDRC below 1 where the truth is incomplete.

Ackerman & Chen, *Evaluating Rank Accuracy based on Incomplete Pairwise Preferences*, 2011. Their
Table 1 lacks B > E, without which their example gives 2/29 and not 5/29, and their procedure starts
the ranks at 2; this implementation follows their example and definition.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Literal

import numpy as np

from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Booleans, Floats, Integers

EdrcDiscount = Literal["linear", "linear-from-0", "exponential", "log2"]

Edges = Iterable[tuple[Hashable, Hashable]]
"""Preferences: the better item of each pair first. A pair may occur several times."""

DISCOUNT_WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda R: 1 / R,
    "linear-from-0": lambda R: 1 / (R - 1),  # the sums contain only ranks from 2 on
    "exponential": lambda R: np.exp2(-R),
    "log2": lambda R: 1 / np.log2(1 + R),
}
"""1 / D(R) of each discount."""


def edrc(
    truth: Edges,
    prediction: Edges,
    *,
    items: Iterable[Hashable] | None = None,
    discount: EdrcDiscount = "linear",
    likelihoods: Mapping[tuple[Hashable, Hashable], float] | None = None,
    normalise: Literal["attainable"] | None = None,
) -> float:
    """Compute the expected discounted rank correlation of predicted with true preferences.

    Parameters
    ----------
    truth, prediction : iterable of (better, worse)
        Pairs of hashable items, in any order. Their transitive closure is used.
    items : iterable of hashable, optional
        All items, by default those that occur; more of them change the value.
    discount : {"linear", "linear-from-0", "exponential", "log2"}, default "linear"
        D = R, R - 1, 2^R or log2(1 + R).
    likelihoods : mapping from (v, w) to float, optional
        How likely v is above w, 0 to 1, for pairs that the truth does not relate; others count 1/2.
    normalise : {None, "attainable"}, default None
        "attainable" divides by the value of the best prediction.

    Returns
    -------
    float
        From -1 to 1. Reversing the prediction changes the sign.

    Examples
    --------
    >>> truth = ["AC", "AD", "AE", "CD", "BD", "BE"]
    >>> prediction = ["CA", "CB", "CD", "AE", "BE", "DE"]
    >>> round(edrc(map(tuple, truth), map(tuple, prediction)) * 29, 6)
    5.0
    """
    check_name(discount, "discount", DISCOUNT_WEIGHTS)
    check_name(normalise, "normalisation", (None, "attainable"))
    truth, prediction = list(truth), list(prediction)
    known = [item for pair in truth + prediction for item in pair] if items is None else items
    numbers = {item: number for number, item in enumerate(dict.fromkeys(known))}
    true, ranks = _closure(truth, numbers, "truth")
    predicted, _ = _closure(prediction, numbers, "prediction")
    expected = true.astype(float)  # +1 where the column is above the row
    possible = len(numbers) - 1 - true.sum(axis=0)
    likelihoods = likelihoods or {}
    for pair, likelihood in likelihoods.items():
        first, second = _numbered(pair, numbers, "likelihoods")
        if not 0 <= likelihood <= 1:
            problem = f"likelihood {likelihood} of {pair[0]} over {pair[1]}"
            raise InputError(problem, "use 0 ... 1", "likelihoods")
        if (pair[1], pair[0]) in likelihoods:
            problem = f"the likelihoods of {pair[0]} over {pair[1]} and of the reverse"
            raise InputError(problem, "give one of them", "likelihoods")
        if not true[second, first] and not true[first, second]:  # both count the pair
            expected[second, first] = 2 * likelihood - 1
            expected[first, second] = 1 - 2 * likelihood
    surplus = (expected * (predicted.astype(float) - predicted.T)).sum(axis=1)
    attainable = np.abs(expected).sum(axis=1)
    counted = ranks > 1
    if not counted.any():
        problem = "the truth prefers no item to another"
        raise InputError(problem, "give at least one preference", "truth")
    weights = DISCOUNT_WEIGHTS[discount](ranks[counted].astype(float))
    total = attainable if normalise == "attainable" else possible
    return float(weights @ surplus[counted] / (weights @ total[counted]))


def _closure(
    pairs: list[tuple[Hashable, Hashable]], numbers: Mapping[Hashable, int], name: str
) -> tuple[Booleans, Integers]:
    """Return which items (columns) are above each item (rows), and the ranks, shape (N,)."""
    betters: list[list[int]] = [[] for _ in numbers]
    for row, pair in enumerate(dict.fromkeys(pairs)):
        better, worse = _numbered(pair, numbers, f"{name}, preference {row}")
        betters[worse].append(better)
    above, ranks = np.zeros((len(numbers), len(numbers)), bool), np.ones(len(numbers), int)
    try:
        for i in TopologicalSorter(dict(enumerate(betters))).static_order():
            above[i] = above[betters[i]].any(axis=0)
            above[i, betters[i]] = True
            ranks[i] = ranks[betters[i]].max(initial=0) + 1
    except CycleError as error:
        names = list(numbers)
        cycle = " > ".join(str(names[i]) for i in error.args[1])
        problem = f"the preferences form a cycle: {cycle}"
        raise InputError(problem, "remove one of them", name) from error
    return above, ranks


def _numbered(
    pair: tuple[Hashable, Hashable], numbers: Mapping[Hashable, int], place: str
) -> tuple[int, int]:
    try:
        return numbers[pair[0]], numbers[pair[1]]
    except KeyError as error:
        problem = f"{error.args[0]} is not one of the items"
        raise InputError(problem, "add it to `items`", place) from error
