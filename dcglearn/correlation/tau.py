"""AP correlation and Kendall's tau: how well an estimated order agrees with a true one.

For the items of one list in order, C(i) is how many items above rank i are above that item in
the other list too:

    tau_ap = 2 / (N - 1) sum_{i = 2 ... N} C(i) / (i - 1)  -  1

A swap near the top costs more than one near the end (Yilmaz, Aslam & Robertson, *A New Rank
Correlation Coefficient for Information Retrieval*, SIGIR 2008). The coefficient is not
symmetric: in the usual form the positions are those of the estimate and the truth says what
is correct. Ties as in Urbano & Marrero, *The Treatment of Ties in AP Correlation*, ICTIR 2017:

* a, accuracy: the truth is strict, the estimate may have ties; the mean over all orders of the
  tied items. In a group of t tied items below m others, the k-th (k = 0 ... t - 1) has k others
  of its group above it, half of them rightly on average, and of the m others as many as an item
  of the group has on average: its share is (mean C + k / 2) / (m + k).
* b, agreement: both may have ties; the mean of both directions, where an item counts the items
  strictly above it, and the sum is divided by the number of items that have any.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Integers
from dcglearn.correlation.concordance import count_above, count_above_in_both, paired_ranks

Positions = Literal["estimate", "truth"]
TauVariant = Literal["a", "b"]


def tau_ap(
    truth: ArrayLike,
    estimate: ArrayLike,
    positions: Positions = "estimate",
    variant: TauVariant | None = None,
) -> float:
    """Return the AP correlation of an estimated order with the true one.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Scores of the same items, higher is better. Only their order counts.
    positions : {"estimate", "truth"}, default "estimate"
        Which list the ranks are taken from; the other one says what is correct.
    variant : {None, "a", "b"}, default None
        None refuses ties. "a": the truth is strict and the estimate may have ties, the mean
        over all orders of the tied items. "b": both may have ties, the mean of both
        directions; it knows no `positions` and is symmetric.

    Returns
    -------
    float
        1 for the same order, -1 for the reverse, 0 on average for a random order.

    Raises
    ------
    InputError
        If the scores are fewer than two, of different lengths or not finite; if they have ties
        that the variant does not allow, or all scores of a list are tied under "b".

    References
    ----------
    E. Yilmaz, J. A. Aslam, S. Robertson, SIGIR 2008; J. Urbano, M. Marrero, ICTIR 2017.

    Examples
    --------
    The truth is A B C D, the estimate B C D A:

    >>> round(tau_ap([4, 3, 2, 1], [1, 4, 3, 2]), 6)
    0.333333
    >>> round(tau_ap([4, 3, 2, 1], [1, 4, 3, 2], positions="truth"), 6)
    -0.222222
    >>> round(tau_ap([4, 3, 2, 1], [2, 2, 2, 1], variant="a"), 6)
    0.333333
    """
    if positions not in ("estimate", "truth"):
        raise unknown_name("positions", positions, ["estimate", "truth"])
    if variant not in (None, "a", "b"):
        raise unknown_name("variant", variant, ["None", "a", "b"])
    true, estimated = paired_ranks(truth, estimate)
    if variant == "b":
        return _both_directions(true, estimated, positions)
    _refuse_ties(true, estimated, variant)
    if positions == "truth":
        return _mean_over_correctness(true, estimated)
    return _mean_over_positions(true, estimated)


def _one_direction(positions: Integers, correctness: Integers) -> float:
    """Return the coefficient with the ranks of one list, counting items strictly above."""
    above = count_above(positions)
    counted = above > 0
    shares = count_above_in_both(positions, correctness)[counted] / above[counted]
    return float(2 * shares.mean() - 1)


def _both_directions(true: Integers, estimated: Integers, positions: Positions) -> float:
    """Return variant b."""
    if positions != "estimate":
        raise InputError(
            f"positions={positions!r} with variant='b'", "variant b takes both: leave positions out"
        )
    _refuse_one_group(true, estimated)
    return (_one_direction(true, estimated) + _one_direction(estimated, true)) / 2


def _mean_over_positions(true: Integers, estimated: Integers) -> float:
    """Return the mean over the orders of tied estimates; the estimate says the positions."""
    above, right = count_above(estimated), count_above_in_both(estimated, true)
    mean_right = np.bincount(estimated, right) / np.bincount(estimated)
    order = np.argsort(-estimated, kind="stable")
    ranks = np.arange(1, len(order))  # how many are above positions 2 ... N
    tied_above = ranks - above[order][1:]
    shares = (mean_right[estimated[order]][1:] + tied_above / 2) / ranks
    return float(2 * shares.mean() - 1)


def _mean_over_correctness(true: Integers, estimated: Integers) -> float:
    """Return the mean over the orders of tied estimates; the truth says the positions.

    An item tied with one that is truly above it is rightly below it in half of the orders.
    """
    above = count_above(true)
    right, wrong = count_above_in_both(true, estimated), count_above_in_both(true, -estimated)
    counted = above > 0
    return float(((right - wrong)[counted] / above[counted]).mean())


def _refuse_ties(true: Integers, estimated: Integers, variant: TauVariant | None) -> None:
    """Refuse the ties that plain AP correlation, or variant a, cannot take."""
    tied = _tied_items(true)
    if tied:
        raise InputError(
            f"items {tied[0]} and {tied[1]} are tied",
            "use `variant` b: both may have ties",
            "truth",
        )
    tied = None if variant else _tied_items(estimated)
    if tied:
        raise InputError(
            f"items {tied[0]} and {tied[1]} are tied",
            "use `variant` a (the mean over all orders of tied items) or b (both directions)",
            "estimate",
        )


def _refuse_one_group(true: Integers, estimated: Integers) -> None:
    """Refuse a list that orders nothing."""
    for name, ranks in (("truth", true), ("estimate", estimated)):
        if not ranks.any():
            raise InputError(
                f"all {len(ranks)} items are tied", "give at least two different scores", name
            )


def _tied_items(ranks: Integers) -> tuple[int, int] | None:
    """Return the numbers of two items of equal rank, if there are any."""
    order = np.argsort(ranks, kind="stable")
    equal = np.flatnonzero(np.diff(ranks[order]) == 0)
    return (int(order[equal[0]]), int(order[equal[0] + 1])) if len(equal) else None


def kendall_tau(truth: ArrayLike, estimate: ArrayLike, variant: TauVariant = "b") -> float:
    """Return Kendall's rank correlation of two score vectors.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Scores of the same items, higher is better. Only their order counts.
    variant : {"a", "b"}, default "b"
        "a": (concordant - discordant pairs) / all pairs, so that ties keep it below 1. "b":
        divided by the root of the pairs untied in the truth times those untied in the estimate.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the scores are fewer than two, of different lengths or not finite, or all scores of
        a list are tied, under "b".

    References
    ----------
    M. G. Kendall, *Rank Correlation Methods*, 1948.

    Examples
    --------
    >>> round(kendall_tau([4, 3, 2, 1], [1, 4, 3, 2]), 6)
    0.0
    >>> round(kendall_tau([3, 2, 1], [2, 2, 1], variant="a"), 6)
    0.666667
    """
    if variant not in ("a", "b"):
        raise unknown_name("variant", variant, ["a", "b"])
    true, estimated = paired_ranks(truth, estimate)
    if variant == "a":
        concordant = count_above_in_both(true, estimated).sum()
        discordant = count_above_in_both(true, -estimated).sum()
        return float((concordant - discordant) / math.comb(len(true), 2))
    _refuse_one_group(true, estimated)
    from scipy.stats import kendalltau  # loads for more than a second, for this alone

    return float(kendalltau(true, estimated).statistic)
