"""AP correlation and Kendall's tau: the agreement of an estimated order with a true one.

C(i) is the number of items above rank i of one list that are also above the item at rank i in the
other list. With it,

    tau_ap = 2 / (N - 1) sum_{i = 2 ... N} C(i) / (i - 1)  -  1

A swap near the top costs more than one near the end (Yilmaz, Aslam & Robertson, *A New Rank
Correlation Coefficient for Information Retrieval*, SIGIR 2008). The coefficient is not symmetric:
in the usual form the ranks are those of the estimate, and the truth defines which pairs are
correct. The variants for ties are those of Urbano & Marrero, *The Treatment of Ties in AP
Correlation*, ICTIR 2017:

* a, accuracy: the truth is strict, the estimate may have ties; the mean over all orders of the
  tied items. Take a group of t tied items with m items above the group. The k-th of them
  (k = 0 ... t - 1) has k items of its group above it, of which half are correct on average, and m
  others, of which on average as many are correct as for a random item of the group. Its term is
  (mean C + k / 2) / (m + k).
* b, agreement: both may have ties; the mean of both directions. An item counts the items strictly
  above it, and the mean is over the items that have any.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Integers
from dcglearn.correlation.concordance import count_above, count_above_in_both, paired_ranks

Positions = Literal["estimate", "truth"]
"""The list from which AP correlation takes the ranks."""

TauVariant = Literal["a", "b"]
"""How a coefficient treats ties (see :func:`tau_ap` and :func:`kendall_tau`)."""


def tau_ap(
    truth: ArrayLike,
    estimate: ArrayLike,
    positions: Positions = "estimate",
    variant: TauVariant | None = None,
) -> float:
    """Compute the AP correlation of an estimated order with the true one.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Scores of the same items, higher is better. Only their order matters.
    positions : {"estimate", "truth"}, default "estimate"
        The list from which the ranks are taken; the other one defines which pairs are correct.
    variant : {None, "a", "b"}, default None
        None refuses ties. "a": the estimate may have ties and the truth may not; the mean
        over all orders of the tied items. "b": both may have ties; the mean of both
        directions, which is symmetric and takes no `positions`.

    Returns
    -------
    float
        1 for the same order, -1 for the reverse, 0 on average for a random order.

    Raises
    ------
    InputError
        If there are fewer than two scores, the lengths differ or a score is not finite; if
        there are ties that the variant does not allow, or all scores of a list are tied with
        variant "b".

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
    if not is_one_of(positions, ("estimate", "truth")):
        raise unknown_name("positions", positions, ["estimate", "truth"])
    if not is_one_of(variant, (None, "a", "b")):
        raise unknown_name("variant", variant, ["None", "a", "b"])
    true, estimated = paired_ranks(truth, estimate)
    if variant == "b":
        return _variant_b(true, estimated, positions)
    _refuse_ties(true, estimated, variant)
    if positions == "truth":
        return _variant_a_by_truth(true, estimated)
    return _variant_a_by_estimate(true, estimated)


def _one_direction(positions: Integers, correctness: Integers) -> float:
    """Return the coefficient with the ranks of one list, counting items strictly above."""
    above = count_above(positions)
    counted = above > 0
    precision = count_above_in_both(positions, correctness)[counted] / above[counted]
    return float(2 * precision.mean() - 1)


def _variant_b(true: Integers, estimated: Integers, positions: Positions) -> float:
    """Return the mean of both directions."""
    if positions != "estimate":
        raise InputError(
            f"`positions` {positions} with `variant` b", "omit `positions`: variant b takes both"
        )
    _refuse_one_group(true, estimated)
    return (_one_direction(true, estimated) + _one_direction(estimated, true)) / 2


def _variant_a_by_estimate(true: Integers, estimated: Integers) -> float:
    """Return the mean over the orders of tied estimates, with the ranks of the estimate."""
    above, correct = count_above(estimated), count_above_in_both(estimated, true)
    mean_correct = np.bincount(estimated, correct) / np.bincount(estimated)
    order = np.argsort(-estimated, kind="stable")
    n_above = np.arange(1, len(order))  # the number of items above ranks 2 ... N
    tied_above = n_above - above[order][1:]
    precision = (mean_correct[estimated[order]][1:] + tied_above / 2) / n_above
    return float(2 * precision.mean() - 1)


def _variant_a_by_truth(true: Integers, estimated: Integers) -> float:
    """Return the mean over the orders of tied estimates, with the ranks of the truth.

    An item tied in the estimate with one that is above it in the truth is below it in half of
    the orders, so the pair adds 0.
    """
    above = count_above(true)
    concordant = count_above_in_both(true, estimated)
    discordant = count_above_in_both(true, -estimated)
    counted = above > 0
    return float(((concordant - discordant)[counted] / above[counted]).mean())


def _refuse_ties(true: Integers, estimated: Integers, variant: TauVariant | None) -> None:
    """Refuse the ties that AP correlation without a variant, or variant a, does not allow."""
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
    """Refuse a list in which all items are tied."""
    for name, ranks in (("truth", true), ("estimate", estimated)):
        if not ranks.any():
            raise InputError(
                f"all {len(ranks)} items are tied", "give at least two different scores", name
            )


def _tied_items(ranks: Integers) -> tuple[int, int] | None:
    """Return the indices of two items of equal rank, or None."""
    order = np.argsort(ranks, kind="stable")
    equal = np.flatnonzero(np.diff(ranks[order]) == 0)
    return (int(order[equal[0]]), int(order[equal[0] + 1])) if len(equal) else None


def kendall_tau(truth: ArrayLike, estimate: ArrayLike, variant: TauVariant = "b") -> float:
    """Compute Kendall's rank correlation of two score vectors.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Scores of the same items, higher is better. Only their order matters.
    variant : {"a", "b"}, default "b"
        "a": (concordant - discordant pairs) / all pairs, which is below 1 where there are
        ties. "b": divided by the root of the number of pairs untied in the truth times the
        number untied in the estimate.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If there are fewer than two scores, the lengths differ or a score is not finite, or
        all scores of a list are tied with variant "b".

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
    if not is_one_of(variant, ("a", "b")):
        raise unknown_name("variant", variant, ["a", "b"])
    true, estimated = paired_ranks(truth, estimate)
    if variant == "a":
        concordant = count_above_in_both(true, estimated).sum()
        discordant = count_above_in_both(true, -estimated).sum()
        return float((concordant - discordant) / math.comb(len(true), 2))
    _refuse_one_group(true, estimated)
    from scipy.stats import kendalltau  # deferred: the import takes more than a second

    return float(kendalltau(true, estimated).statistic)
