"""AP correlation and Kendall's tau: the agreement of an estimated order with a true one.

    tau_ap = 2 / (N - 1) sum_{i = 2 ... N} C(i) / (i - 1)  -  1

C(i) is the number of items above rank i of one list that are also above that item in the other
list, so that a swap near the top costs more than one near the end (Yilmaz, Aslam & Robertson, SIGIR
2008). The variants for ties are by Urbano & Marrero, ICTIR 2017. With ties in the estimate (a), the
k-th of t tied items with m items above the group (k = 0 ... t - 1) has the term
(mean C + k / 2) / (m + k). With ties in both (b), an item counts the items strictly above it, and
the mean is over both directions.
"""

import math
from bisect import bisect_left
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Integers

Positions = Literal["estimate", "truth"]


def tau_ap(
    truth: ArrayLike,
    estimate: ArrayLike,
    positions: Positions = "estimate",
    variant: Literal["a", "b"] | None = None,
) -> float:
    """Compute the AP correlation of an estimated order with the true one.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Scores of the same items, higher is better. Only their order matters.
    positions : {"estimate", "truth"}, default "estimate"
        The list from which the ranks are taken; the other one defines which pairs are correct.
    variant : {None, "a", "b"}, default None
        None refuses ties. "a": the estimate may have them; the mean over all orders of the tied
        items. "b": both may; the mean of both directions, which takes no `positions`.

    Returns
    -------
    float
        1 for the same order, -1 for the reverse, 0 on average for a random order.

    Examples
    --------
    The truth is A B C D, the estimate B C D A:

    >>> round(tau_ap([4, 3, 2, 1], [1, 4, 3, 2]), 6)
    0.333333
    >>> round(tau_ap([4, 3, 2, 1], [2, 2, 2, 1], variant="a"), 6)
    0.333333
    """
    check_name(positions, "positions", ("estimate", "truth"))
    check_name(variant, "variant", (None, "a", "b"))
    true, estimated = _ranks_of_both(truth, estimate)
    if variant == "b":
        if positions != "estimate":
            problem = f"`positions` {positions} with `variant` b"
            raise InputError(problem, "omit `positions`: variant b takes both")
        _refuse_one_group(true, estimated)
        return (_one_direction(true, estimated) + _one_direction(estimated, true)) / 2
    if true.max() + 1 < len(true):
        raise InputError("items are tied", "use `variant` b: both may have ties", "truth")
    if variant is None and estimated.max() + 1 < len(estimated):
        remedy = "use `variant` a (the mean over all orders of tied items) or b (both directions)"
        raise InputError("items are tied", remedy, "estimate")
    both = (true, estimated) if positions == "truth" else (estimated, true)
    return _mean_over_orders(*both)


def _one_direction(positions: Integers, correctness: Integers) -> float:
    """Return the coefficient with the ranks of one list, counting items strictly above."""
    above, correct = _above_in_both(positions, positions), _above_in_both(positions, correctness)
    return float(2 * (correct[above > 0] / above[above > 0]).mean() - 1)


def _mean_over_orders(positions: Integers, correctness: Integers) -> float:
    """Return the mean over the orders of tied items, with the ranks of one list."""
    above = _above_in_both(positions, positions)
    surplus = _above_in_both(positions, correctness) - _above_in_both(positions, -correctness)
    mean_correct = np.bincount(positions, (above + surplus) / 2) / np.bincount(positions)
    order = np.argsort(-positions, kind="stable")
    n_above = np.arange(1, len(order))  # the number of items above ranks 2 ... N
    tied_above = n_above - above[order][1:]
    precision = (mean_correct[positions[order]][1:] + tied_above / 2) / n_above
    return float(2 * precision.mean() - 1)


def _refuse_one_group(true: Integers, estimated: Integers) -> None:
    for name, ranks in (("truth", true), ("estimate", estimated)):
        if not ranks.any():
            problem = f"all {len(ranks)} items are tied"
            raise InputError(problem, "give at least two different scores", name)


def kendall_tau(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Compute Kendall's rank correlation tau-b of two score vectors.

    Parameters
    ----------
    truth, estimate : array-like of real numbers, shape (N,)
        Scores of the same items, higher is better. Only their order matters.

    Returns
    -------
    float
        (concordant - discordant pairs), divided by the root of the number of pairs untied in the
        truth times the number untied in the estimate.

    Examples
    --------
    >>> round(kendall_tau([3, 2, 1], [2, 2, 1]), 6)
    0.816497
    """
    true, estimated = _ranks_of_both(truth, estimate)
    _refuse_one_group(true, estimated)
    pairs = (true, estimated), (true, -estimated), (true, true), (estimated, estimated)
    concordant, discordant, *untied = (int(_above_in_both(*both).sum()) for both in pairs)
    found = (concordant - discordant) / math.sqrt(untied[0]) / math.sqrt(untied[1])
    return min(1.0, max(-1.0, found))


def _ranks_of_both(truth: ArrayLike, estimate: ArrayLike) -> list[Integers]:
    """Return two score vectors of the same items as ranks from 0, the lowest; ties share one."""
    found = []
    for name, scores in (("truth", truth), ("estimate", estimate)):
        finite_array(scores, f"scores of the {name}", (None,), "give one number per item")
        found.append(np.unique(scores, return_inverse=True)[1])  # integers are compared exactly
    if len(found[0]) != len(found[1]) or len(found[0]) < 2:
        problem = f"{len(found[0])} items in the truth, {len(found[1])} in the estimate"
        raise InputError(problem, "score the same items in both, at least two")
    return found


def _above_in_both(first: Integers, second: Integers) -> Integers:
    """Count for each item those that are above it in both lists."""
    above, numbers, seen = np.empty(len(first), np.int64), (-second).tolist(), list[int]()
    for item in np.lexsort((second, -first)).tolist():  # ties ascend: none counts another
        above[item] = bisect_left(seen, numbers[item])
        seen.insert(above[item], numbers[item])
    return above
