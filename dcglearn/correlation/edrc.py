"""Expected discounted rank correlation (EDRC) of incomplete pairwise preferences.

The truth G and the prediction P are sets of preferences, v above w; G+ and P+ are their transitive
closures. S is the set of items to which no true preference prefers another item. The rank R(v) of
an item is 1 in S, and otherwise 1 + the largest rank of the items preferred to it. W(v) is the set
of all items except v and those below v in G+: the items that may be above v. Then

    EDRC = 2 / Z  sum_{v not in S} C(v) / D(v)  -  1        C(v) = sum_{w in W(v)} EP(v, w)
    Z    =        sum_{v not in S} |W(v)| / D(v)

EP(v, w) is the expected correctness of the prediction about w and v: where G+ relates them, 1 if P+
agrees, 0 if it disagrees and 1/2 otherwise. Where G+ does not, it is 1/2; or, if a likelihood p of
w above v is given, p if w is above v in P+, 1 - p if v is above w, and 1/2 otherwise. D is R, 2^R,
log2(1 + R) or R - 1; with complete orders, the last gives AP correlation with the ranks of the
*truth*. In terms of 2 EP - 1, the pairs with 1/2 vanish: so a perfect prediction has an EDRC below
1 where the truth is incomplete, because Z counts the pairs that the truth does not relate.

A set of items is an integer whose bit i is item i, so the closure of N items takes N^2 / 4 bytes.

Ackerman & Chen, *Evaluating Rank Accuracy based on Incomplete Pairwise Preferences*, 2011. Their
Table 1 lacks B > E, without which their example gives 2/29 and not the printed 5/29, and their
procedure starts the ranks at 2; this implementation follows their example and their definition.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Literal

import numpy as np

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Floats, Integers

EdrcDiscount = Literal["linear", "linear-from-0", "exponential", "log2"]
"""D(R) = R, R - 1, 2^R or log2(1 + R)."""

Edges = Iterable[tuple[Hashable, Hashable]]
"""Preferences: the better item of each pair first. A pair may occur several times."""

Likelihoods = Mapping[tuple[Hashable, Hashable], float]
"""How likely the first item of a pair is above the second, from 0 to 1."""

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
    likelihoods: Likelihoods | None = None,
    normalise: Literal["attainable"] | None = None,
) -> float:
    """Compute the expected discounted rank correlation of predicted with true preferences.

    Parameters
    ----------
    truth, prediction : iterable of (better, worse)
        Pairs of hashable items, in any order. Their transitive closure is used.
    items : iterable of hashable, optional
        All items. By default those that occur in the truth or the prediction. More items mean more
        pairs that the truth does not relate, which changes the value.
    discount : {"linear", "linear-from-0", "exponential", "log2"}, default "linear"
        D = R, R - 1, 2^R or log2(1 + R).
    likelihoods : mapping from (v, w) to float, optional
        How likely v is above w, from 0 to 1, in one direction, for pairs that the truth does not
        relate. Pairs without a likelihood count 1/2.
    normalise : {None, "attainable"}, default None
        "attainable" divides by the value of a prediction that is correct on every pair that
        the truth relates and takes the likelier side of every pair with a likelihood, which is
        possible if these have no cycle.

    Returns
    -------
    float
        From -1 to 1. Reversing the prediction changes the sign.

    Raises
    ------
    InputError
        If the truth is empty, preferences form a cycle (the message names it), an item is
        unknown, or a likelihood is outside 0 ... 1.

    References
    ----------
    B. Ackerman, Y. Chen, *Evaluating Rank Accuracy based on Incomplete Pairwise Preferences*,
    2011.

    Examples
    --------
    >>> truth = ["AC", "AD", "AE", "CD", "BD", "BE"]
    >>> prediction = ["CA", "CB", "CD", "AE", "BE", "DE"]
    >>> value = edrc(map(tuple, truth), map(tuple, prediction))
    >>> round(value * 29, 6)
    5.0
    """
    if not is_one_of(discount, DISCOUNT_WEIGHTS):
        raise unknown_name("discount", discount, DISCOUNT_WEIGHTS)
    if not is_one_of(normalise, (None, "attainable")):
        raise unknown_name("normalisation", normalise, ["attainable", "None"])
    edges = _pairs(truth, "truth"), _pairs(prediction, "prediction")
    known = [item for pair in (*edges[0], *edges[1]) for item in pair] if items is None else items
    numbers = {item: number for number, item in enumerate(dict.fromkeys(known))}
    true = _Closure.of(edges[0], numbers, "truth")
    predicted = _Closure.of(edges[1], numbers, "prediction")
    surplus = _sizes(map(int.__and__, true.above, predicted.above))
    surplus -= _sizes(map(int.__and__, true.above, predicted.below))
    attainable = _sizes(true.above)
    possible = len(numbers) - 1 - _sizes(true.below)
    for pair, likelihood in (likelihoods or {}).items():
        first, second = _numbered(pair, numbers, "likelihoods")
        if not 0 <= likelihood <= 1:
            problem = f"likelihood {likelihood} of {pair[0]} over {pair[1]}"
            raise InputError(problem, "use 0 ... 1", "likelihoods")
        if (pair[1], pair[0]) in (likelihoods or {}):
            problem = f"the likelihoods of {pair[0]} over {pair[1]} and of the reverse"
            raise InputError(problem, "give one of them", "likelihoods")
        if true.side(first, second) == 0:  # each may be above the other, so both count the pair
            expected = 2 * likelihood - 1
            surplus[[first, second]] += expected * predicted.side(first, second)
            attainable[[first, second]] += abs(expected)
    counted = true.ranks > 1
    if not counted.any():
        problem = "the truth prefers no item to another"
        raise InputError(problem, "give at least one preference", "truth")
    weights = DISCOUNT_WEIGHTS[discount](true.ranks[counted].astype(float))
    total = attainable if normalise == "attainable" else possible
    return float(weights @ surplus[counted] / (weights @ total[counted]))


@dataclass(frozen=True)
class _Closure:
    """The items above and below each item, as bits, and the ranks, shape (N,)."""

    above: list[int]
    below: list[int]
    ranks: Integers

    @classmethod
    def of(
        cls, pairs: list[tuple[Hashable, Hashable]], numbers: Mapping[Hashable, int], name: str
    ) -> _Closure:
        betters: list[list[int]] = [[] for _ in numbers]
        worses: list[list[int]] = [[] for _ in numbers]
        for row, pair in enumerate(dict.fromkeys(pairs)):
            better, worse = _numbered(pair, numbers, f"{name}, preference {row}")
            betters[worse].append(better)
            worses[better].append(worse)
        try:
            order = list(TopologicalSorter(dict(enumerate(betters))).static_order())
        except CycleError as error:
            names = list(numbers)
            cycle = " > ".join(str(names[i]) for i in error.args[1])
            problem = f"the preferences form a cycle: {cycle}"
            raise InputError(problem, "remove one of them", name) from error
        ranks = [1] * len(numbers)
        for i in order:
            ranks[i] = 1 + max((ranks[j] for j in betters[i]), default=0)
        return cls(_reached(betters, order), _reached(worses, order[::-1]), np.array(ranks))

    def side(self, first: int, second: int) -> int:
        """Return 1 if the item `first` is above `second`, -1 if it is below, 0 otherwise."""
        return (self.above[second] >> first & 1) - (self.below[second] >> first & 1)


def _reached(steps: list[list[int]], order: list[int]) -> list[int]:
    """Return the items reached from each item by one or more steps, as bits."""
    found = [0] * len(steps)
    for i in order:  # each with itself, for the items that come after it
        reached = 1 << i
        for j in steps[i]:
            reached |= found[j]
        found[i] = reached
    return [reached ^ 1 << i for i, reached in enumerate(found)]


def _pairs(edges: Edges, name: str) -> list[tuple[Hashable, Hashable]]:
    found: list[tuple[Hashable, Hashable]] = []
    given: Iterable[object] = edges
    for row, pair in enumerate(given):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            problem = f"{pair!r} is not a pair"
            raise InputError(problem, "give (better, worse)", f"{name}, preference {row}")
        found.append((pair[0], pair[1]))
    return found


def _numbered(
    pair: tuple[Hashable, Hashable], numbers: Mapping[Hashable, int], place: str
) -> tuple[int, int]:
    for item in pair:
        if item not in numbers:
            raise InputError(f"{item} is not one of the items", "add it to `items`", place)
    return numbers[pair[0]], numbers[pair[1]]


def _sizes(sets: Iterable[int]) -> Floats:
    return np.array([members.bit_count() for members in sets], float)
