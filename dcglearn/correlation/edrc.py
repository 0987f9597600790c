"""Expected discounted rank correlation (EDRC) of incomplete pairwise preferences.

The truth G and the prediction P are sets of preferences, v above w; G+ and P+ are their transitive
closures. S is the set of items to which no true preference prefers another item. The rank R(v) of
an item is 1 in S, and otherwise 1 + the largest rank of the items preferred to it. W(v) is the set
of all items except v and those below v in G+: the items that may be above v. Then

    EDRC = 2 / Z  sum_{v not in S} C(v) / D(v)  -  1        C(v) = sum_{w in W(v)} EP(v, w)
    Z    =        sum_{v not in S} |W(v)| / D(v)

EP(v, w) is the expected correctness of the prediction about w and v. If w is above v in G+, it is
1 if w is above v in P+ too, 0 if v is above w in P+, and 1/2 otherwise. If G+ does not relate the
two, EP is 1/2; or, where a likelihood p of w above v is given, p if w is above v in P+, 1 - p if v
is above w, and 1/2 otherwise. D is R, 2^R, log2(1 + R) or R - 1; with complete orders, the last
gives AP correlation with the ranks of the *truth*. In terms of 2 EP - 1, the pairs with 1/2 vanish:

    EDRC = 1 / Z  sum_{v not in S} (concordant - discordant pairs of v with items above it) / D(v)

So a perfect prediction has an EDRC below 1 where the truth is incomplete, because Z counts the
pairs that the truth does not relate.

Ackerman & Chen, *Evaluating Rank Accuracy based on Incomplete Pairwise Preferences*, 2011. Their
Table 1 lacks B > E, without which their example gives 2/29 and not the printed 5/29, and their
procedure starts the ranks at 2; this implementation follows their example and their definition.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Literal

import numpy as np

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Floats, Integers
from dcglearn.correlation.preference_graph import (
    Edges,
    check_preferences,
    number_items,
    transitive_closure,
)

EdrcDiscount = Literal["linear", "linear-from-0", "exponential", "log2"]
"""D(R) = R, R - 1, 2^R or log2(1 + R)."""

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
        All items, each once. By default those that occur in the truth or the prediction.
        More items mean more pairs that the truth does not relate, which changes the value.
    discount : {"linear", "linear-from-0", "exponential", "log2"}, default "linear"
        D = R, R - 1, 2^R or log2(1 + R).
    likelihoods : mapping from (v, w) to float, optional
        How likely v is above w, from 0 to 1, for pairs that the truth does not relate. The
        likelihood of a pair that the truth relates is ignored. One direction is enough; the
        other is 1 minus it. Pairs without a likelihood count 1/2.
    normalise : {None, "attainable"}, default None
        "attainable" divides by the value of a prediction that is correct on every pair that
        the truth relates and takes the likelier side of every pair with a likelihood. Without
        likelihoods this is the value of the truth itself as a prediction. With them it is an
        upper bound, attained if the likelier sides and the truth together have no cycle.

    Returns
    -------
    float
        From -1 to 1. Reversing the prediction changes the sign.

    Raises
    ------
    InputError
        If the truth is empty, preferences form a cycle (the message names it), an item is
        unknown, a likelihood is outside 0 ... 1, or two likelihoods contradict each other.

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
    _check_names(discount, normalise)
    true_edges = check_preferences(truth, "truth")
    predicted_edges = check_preferences(prediction, "prediction")
    numbers = number_items(items, truth=true_edges, prediction=predicted_edges)
    true = transitive_closure(true_edges, numbers, "truth")
    predicted = transitive_closure(predicted_edges, numbers, "prediction")
    surplus = np.array(
        [
            (true_above & above).bit_count() - (true_above & below).bit_count()
            for true_above, above, below in zip(
                true.above, predicted.above, predicted.below, strict=True
            )
        ],
        float,
    )
    attainable = _set_sizes(true.above)
    possible = len(numbers) - 1 - _set_sizes(true.below)
    for (first, second), likelihood in _checked_likelihoods(likelihoods or {}, numbers).items():
        if true.side(first, second) == 0:  # each may be above the other, so both count the pair
            expected = 2 * likelihood - 1
            surplus[[first, second]] += expected * predicted.side(first, second)
            attainable[[first, second]] += abs(expected)
    total = attainable if normalise == "attainable" else possible
    return _discounted_ratio(surplus, total, true.ranks, discount)


def _discounted_ratio(
    surplus: Floats, total: Floats, ranks: Integers, discount: EdrcDiscount
) -> float:
    """Return sum surplus / D over sum total / D, over the items that are not in S."""
    counted = ranks > 1
    if not counted.any():
        raise InputError(
            "the truth prefers no item to another", "give at least one preference", "truth"
        )
    weights = DISCOUNT_WEIGHTS[discount](ranks[counted].astype(float))
    return float(weights @ surplus[counted] / (weights @ total[counted]))


def _set_sizes(sets: list[int]) -> Floats:
    return np.array([members.bit_count() for members in sets], float)


def _check_names(discount: str, normalise: str | None) -> None:
    """Refuse unknown names before any computation."""
    if not is_one_of(discount, DISCOUNT_WEIGHTS):
        raise unknown_name("discount", discount, DISCOUNT_WEIGHTS)
    if not is_one_of(normalise, (None, "attainable")):
        raise unknown_name("normalisation", normalise, ["attainable", "None"])


def _checked_likelihoods(
    likelihoods: Likelihoods, numbers: Mapping[Hashable, int]
) -> dict[tuple[int, int], float]:
    """Return the likelihood of each pair, in one of its directions, by the numbers of its items."""
    found: dict[tuple[int, int], float] = {}
    for pair, given in likelihoods.items():
        first, second = _pair_numbers(pair, numbers)
        likelihood = _checked_likelihood(given, pair)
        if (second, first) not in found:
            found[first, second] = likelihood
        elif abs(found[second, first] + likelihood - 1) > 5e-10:
            raise InputError(
                f"likelihood {given} of {pair[0]} over {pair[1]}, and "
                f"{likelihoods[pair[1], pair[0]]} of {pair[1]} over {pair[0]}",
                "give one of them, or two that add up to 1",
                "likelihoods",
            )
    return found


def _pair_numbers(
    pair: tuple[Hashable, Hashable], numbers: Mapping[Hashable, int]
) -> tuple[int, int]:
    """Return the numbers of the two different items of a key of the likelihoods."""
    if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
        raise InputError(f"{pair!r} is not a pair", "give (one item, another item)", "likelihoods")
    for item in pair:
        if item not in numbers:
            raise InputError(
                f"{item} is not one of the items", "omit it, or add it to `items`", "likelihoods"
            )
    return numbers[pair[0]], numbers[pair[1]]


def _checked_likelihood(given: float, pair: tuple[Hashable, Hashable]) -> float:
    """Return a likelihood as a number from 0 to 1."""
    number = isinstance(given, (int, float, np.integer, np.floating))
    if not number or not 0 <= given <= 1:  # NaN fails too
        raise InputError(
            f"likelihood {given} of {pair[0]} over {pair[1]}", "use 0 ... 1", "likelihoods"
        )
    return float(given)
