"""Expected discounted rank correlation: agreement with preferences that leave much unsaid.

Truth G and prediction P are sets of preferences, v above w; G+ and P+ are all that follows from
them (their transitive closures). S holds the items that no true preference puts below another.
An item's rank R(v) is 1 in S, and elsewhere 1 + the largest rank among the items above it.
W(v) holds all items but v and those below v in G+: all that may be above v. Then

    EDRC = 2 / Z  sum_{v not in S} C(v) / D(v)  -  1        C(v) = sum_{w in W(v)} EP(v, w)
    Z    =        sum_{v not in S} |W(v)| / D(v)

EP is how often the prediction is expected to be right about w and v. If G+ has w above v: 1 if
P+ has so too, 0 if it has the opposite, else 1/2. If G+ does not relate them: 1/2, or, where
the likelihood p of w above v is given, p if P+ has w above v, 1 - p if the opposite, else 1/2.
D is R, 2^R, log2(1 + R) or R - 1; on complete orders the last gives AP correlation with the
positions of the *truth*. Written with 2 EP - 1, every pair that counts 1/2 drops out:

    EDRC = 1 / Z  sum_{v not in S} (right - wrong pairs among v and the items above it) / D(v)

So a perfect prediction stays below 1 where the truth is incomplete: Z counts what it leaves open.

Ackerman & Chen, *Evaluating Rank Accuracy based on Incomplete Pairwise Preferences*, 2011. Its
Table 1 lacks B > E, without which the example there gives 2/29 and not 5/29, and its procedure
starts the ranks at 2; here the example and the definition hold.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats, Integers
from dcglearn.correlation.concordance import count_above, count_above_in_both, paired_ranks
from dcglearn.correlation.preference_graph import (
    Edges,
    check_preferences,
    number_items,
    transitive_closure,
)

EdrcDiscount = Literal["linear", "linear-from-0", "exponential", "log2"]
Likelihoods = Mapping[tuple[Hashable, Hashable], float]

DISCOUNT_WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda R: 1 / R,
    "linear-from-0": lambda R: 1 / (R - 1),  # only ranks from 2 on are in the sums
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
    """Return the expected discounted rank correlation of predicted with true preferences.

    Parameters
    ----------
    truth, prediction : iterable of (better, worse)
        Pairs of hashable items, in any order; what follows from them is added.
    items : iterable of hashable, optional
        All items, each once. By default those that occur in the truth or the prediction; more
        items leave more open, and so change the value.
    discount : {"linear", "linear-from-0", "exponential", "log2"}, default "linear"
        D = R, R - 1, 2^R or log2(1 + R).
    likelihoods : mapping from (v, w) to float, optional
        How likely it is, 0 ... 1, that v is above w, for pairs that the truth leaves open (a
        pair that it relates needs none, and its likelihood is not used). One direction is
        enough; the other is 1 minus it. Pairs without one count 1/2.
    normalise : {None, "attainable"}, default None
        "attainable" divides by the value of a prediction that is right on every pair the truth
        relates and takes the likelier side of every pair with a likelihood. Without
        likelihoods this is what the truth itself scores as a prediction. With them it is a
        bound, reached if the likelier sides and the truth together have no circle.

    Returns
    -------
    float
        From -1 to 1. Turning the prediction round changes the sign.

    Raises
    ------
    InputError
        If the truth is empty, preferences go round in a circle (the circle is named), an
        item is unknown, a likelihood is outside 0 ... 1, or two of them contradict each other.

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
    true_pairs, predicted_pairs = (
        check_preferences(truth, "truth"),
        check_preferences(prediction, "prediction"),
    )
    numbers = number_items(items, truth=true_pairs, prediction=predicted_pairs)
    true = transitive_closure(true_pairs, numbers, "truth")
    predicted = transitive_closure(predicted_pairs, numbers, "prediction")
    gained = np.array(
        [
            (up & above).bit_count() - (up & below).bit_count()
            for up, above, below in zip(true.above, predicted.above, predicted.below, strict=True)
        ],
        float,
    )
    attainable = _counts(true.above)
    possible = len(numbers) - 1 - _counts(true.below)
    for (first, second), surplus in _surpluses(likelihoods or {}, numbers).items():
        if true.side(first, second) == 0:  # each may be above the other: both count the pair
            gained[[first, second]] += surplus * predicted.side(first, second)
            attainable[[first, second]] += abs(surplus)
    whole = attainable if normalise == "attainable" else possible
    return _discounted(gained, whole, true.ranks, discount)


def edrc_of_scores(
    truth: ArrayLike,
    estimate: ArrayLike,
    *,
    discount: EdrcDiscount = "linear",
    normalise: Literal["attainable"] | None = None,
) -> float:
    """Return the EDRC of an estimate with true grades, without listing the preferences.

    Every item is preferred to those of lower score, in the truth and in the estimate; items
    of equal score are not related.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Grades and scores of the same items, higher is better.
    discount : {"linear", "linear-from-0", "exponential", "log2"}, default "linear"
        D = R, R - 1, 2^R or log2(1 + R), R = 1 for the best grade that occurs, 2 for the next.
    normalise : {None, "attainable"}, default None
        "attainable" divides by the value of an estimate that separates the grades in their
        order, which is below 1 where items share a grade.

    Returns
    -------
    float
        From -1 to 1.

    Raises
    ------
    InputError
        If the scores are fewer than two, of different lengths or not finite, or if all items
        have the same true score.

    Examples
    --------
    >>> round(edrc_of_scores([2, 1, 1, 0], [9, 8, 7, 6]), 6)
    0.666667
    >>> edrc_of_scores([2, 1, 1, 0], [9, 8, 7, 6], normalise="attainable")
    1.0
    """
    _check_names(discount, normalise)
    true, estimated = paired_ranks(truth, estimate)
    gained = count_above_in_both(true, estimated) - count_above_in_both(true, -estimated)
    attainable = count_above(true)
    possible = len(true) - 1 - count_above(-true)
    whole = attainable if normalise == "attainable" else possible
    return _discounted(gained.astype(float), whole.astype(float), 1 + true.max() - true, discount)


def _discounted(gained: Floats, whole: Floats, ranks: Integers, discount: EdrcDiscount) -> float:
    """Return sum gained / D over sum whole / D, over the items that are not in S."""
    counted = ranks > 1
    if not counted.any():
        raise InputError(
            "the truth prefers no item to another", "give at least one preference", "truth"
        )
    weights = DISCOUNT_WEIGHTS[discount](ranks[counted].astype(float))
    return float(weights @ gained[counted] / (weights @ whole[counted]))


def _counts(sets: list[int]) -> Floats:
    """Return the sizes of sets of items."""
    return np.array([members.bit_count() for members in sets], float)


def _check_names(discount: str, normalise: str | None) -> None:
    """Refuse unknown names before any work."""
    if discount not in DISCOUNT_WEIGHTS:
        raise unknown_name("discount", discount, DISCOUNT_WEIGHTS)
    if normalise not in (None, "attainable"):
        raise unknown_name("normalisation", normalise, ["attainable", "None"])


def _surpluses(
    likelihoods: Likelihoods, numbers: Mapping[Hashable, int]
) -> dict[tuple[int, int], float]:
    """Return 2 p - 1 of each pair that has a likelihood p, once a pair."""
    found: dict[tuple[int, int], float] = {}
    for pair, given in likelihoods.items():
        first, second = _pair_numbers(pair, numbers)
        likelihood = _checked_likelihood(given, pair)
        surplus = 2 * likelihood - 1
        if abs(found.get((second, first), -surplus) + surplus) > 1e-9:
            raise InputError(
                f"likelihood {given} of {pair[0]} over {pair[1]}, and "
                f"{likelihoods[pair[1], pair[0]]} of {pair[1]} over {pair[0]}",
                "give one of them, or two that add up to 1",
                "likelihoods",
            )
        if (second, first) not in found:
            found[first, second] = surplus
    return found


def _pair_numbers(
    pair: tuple[Hashable, Hashable], numbers: Mapping[Hashable, int]
) -> tuple[int, int]:
    """Return the numbers of the two different items of a key of the likelihoods."""
    if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
        raise InputError(f"{pair!r} is no pair", "give (one item, another item)", "likelihoods")
    for item in pair:
        if item not in numbers:
            raise InputError(
                f"{item} is none of the items", "leave it out, or name it in items", "likelihoods"
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
