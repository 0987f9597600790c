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

Concordant pairs are counted without comparing all pairs. Of two different numbers, the larger has a
1 at the highest binary digit in which they differ. So the items are sorted by the first order, and
for each digit of their ranks in the second order, the ones before each zero are counted among the
items whose higher digits are equal: a merge sort from the top down with O(N log N) steps.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Integers

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
        if positions != "estimate":
            problem = f"`positions` {positions} with `variant` b"
            raise InputError(problem, "omit `positions`: variant b takes both")
        _refuse_one_group(true, estimated)
        return (_one_direction(true, estimated) + _one_direction(estimated, true)) / 2
    _refuse_ties(true, estimated, variant)
    return _by_truth(true, estimated) if positions == "truth" else _by_estimate(true, estimated)


def _one_direction(positions: Integers, correctness: Integers) -> float:
    """Return the coefficient with the ranks of one list, counting items strictly above."""
    above, concordant, _ = concordance(positions, correctness)
    counted = above > 0
    return float(2 * (concordant[counted] / above[counted]).mean() - 1)


def _by_estimate(true: Integers, estimated: Integers) -> float:
    """Return the mean over the orders of tied estimates, with the ranks of the estimate."""
    above, correct, _ = concordance(estimated, true)
    mean_correct = np.bincount(estimated, correct) / np.bincount(estimated)
    order = np.argsort(-estimated, kind="stable")
    n_above = np.arange(1, len(order))  # the number of items above ranks 2 ... N
    tied_above = n_above - above[order][1:]
    precision = (mean_correct[estimated[order]][1:] + tied_above / 2) / n_above
    return float(2 * precision.mean() - 1)


def _by_truth(true: Integers, estimated: Integers) -> float:
    """Return the mean over the orders of tied estimates, with the ranks of the truth.

    An item tied in the estimate with one that is above it in the truth is below it in half of
    the orders, so the pair adds 0.
    """
    above, concordant, discordant = concordance(true, estimated)
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
    above, concordant, discordant = concordance(true, estimated)
    surplus = int(concordant.sum() - discordant.sum())
    if variant == "a":
        return surplus / math.comb(len(true), 2)
    _refuse_one_group(true, estimated)
    untied = int(above.sum()), int(concordance(estimated, true)[0].sum())
    found = surplus / math.sqrt(untied[0]) / math.sqrt(untied[1])
    return min(1.0, max(-1.0, found))


def paired_ranks(truth: ArrayLike, estimate: ArrayLike) -> tuple[Integers, Integers]:
    """Convert two score vectors of the same items to ranks from 0, the lowest; ties share one.

    >>> paired_ranks([0.5, 0.1, 0.5], [3, 9, -2])
    (array([1, 0, 1]), array([1, 2, 0]))
    """
    first, second = _ranks(truth, "truth"), _ranks(estimate, "estimate")
    if len(first) != len(second):
        raise InputError(
            f"{len(first)} items in the truth, {len(second)} in the estimate",
            "score the same items in both",
        )
    if len(first) < 2:
        raise InputError(f"{len(first)} items to order", "give at least two")
    return first, second


def _ranks(scores: ArrayLike, name: str) -> Integers:
    """Return dense ranks of finite scores; integers are compared exactly."""
    try:
        values = np.asarray(scores)
    except ValueError as error:  # rows of different lengths
        raise InputError(
            "scores that are not a vector", "give one number per item", name
        ) from error
    if values.ndim != 1 or (values.dtype.kind not in "biuf" and len(values)):
        raise InputError(
            f"scores of shape {values.shape} and type {values.dtype}",
            "give one number per item",
            name,
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"the score is {values[row]}", "use finite numbers", f"{name}, item {row}")
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def concordance(positions: Integers, other: Integers) -> tuple[Integers, Integers, Integers]:
    """Count the items above each by `positions`; of them, those above it and below it by `other`.

    Ranks from 0, higher is better.

    >>> [counts.tolist() for counts in concordance(np.array([3, 2, 1, 0]), np.array([2, 3, 0, 0]))]
    [[0, 1, 2, 3], [0, 0, 2, 2], [0, 1, 0, 0]]
    """
    above = len(positions) - np.searchsorted(np.sort(positions), positions, side="right")
    same, opposite = np.empty((2, len(positions)), np.int64)
    for counts, second in ((same, other), (opposite, other.max() - other)):
        order = np.lexsort((second, -positions))  # ties ascend: none counts another
        counts[order] = _larger_before(second[order])
    return above, same, opposite


def _larger_before(numbers: Integers) -> Integers:
    """Count for each entry of a vector of numbers >= 0 the larger ones before it.

    >>> _larger_before(np.array([2, 3, 1, 3, 0]))
    array([0, 0, 2, 0, 4])
    """
    found = np.zeros(len(numbers), np.int64)
    for digit in range(int(numbers.max()).bit_length()):
        order = np.argsort(numbers >> (digit + 1), kind="stable")
        prefix = numbers[order] >> (digit + 1)
        bit = numbers[order] >> digit & 1
        ones_before = np.cumsum(bit) - bit
        with_prefix = ones_before - ones_before[np.searchsorted(prefix, prefix)]
        found[order] += np.where(bit == 0, with_prefix, 0)
    return found
