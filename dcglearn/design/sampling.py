"""Drawing and judging the lists of a setting.

Lists are drawn in blocks of a fixed size until enough pairs are strict. The first n pairs therefore
do not depend on how many follow, and a learning curve is computed along one growing sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Pairs
from dcglearn.design.own_functions import NO_FUNCTIONS, OwnFunctions
from dcglearn.design.setting import SAME, Setting
from dcglearn.measures.agreement import score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility
from dcglearn.simulation.judges import judged_pairs, noise_scale
from dcglearn.simulation.lists import (
    drawn_lists,
    lists_of_queries,
    permuted_lists,
    sorted_against_another,
    sorted_against_shuffled,
)
from dcglearn.simulation.truths import named_truth

PAIRS_PER_BLOCK = 500
MAX_EMPTY_BLOCKS = 100
"""Consecutive blocks without a strict pair after which drawing is given up."""


@dataclass(frozen=True)
class CalibratedJudge:
    """A judge, in units of the true utility; exact by default.

    Attributes
    ----------
    noise : float
        The scale of the logistic noise.
    bias : float
        Added to the utility of the list shown first.
    """

    noise: float = 0.0
    bias: float = 0.0


@dataclass(frozen=True)
class StrictPairs:
    """Judged pairs of lists.

    Attributes
    ----------
    pairs : ndarray of int8, shape (n, 2, K)
        The preferred list first.
    draws : int
        How many of the pairs drawn were dropped: pairs of equal true or perceived utility.
    drawn : int
        How many pairs were drawn, in whole blocks.
    """

    pairs: Pairs
    draws: int
    drawn: int


def draw_lists(
    setting: Setting,
    name: str,
    n: int,
    rng: np.random.Generator,
    own: OwnFunctions = NO_FUNCTIONS,
) -> Pairs:
    """Draw pairs of lists.

    Parameters
    ----------
    setting : Setting
    name : str
        The generator: one of :data:`dcglearn.design.setting.LISTS`, or of one's own.
    n : int
        The number of pairs.
    rng : numpy.random.Generator
    own : OwnFunctions, default none

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
        Grade indices, 0 the best; for ``documents``, document numbers.

    Examples
    --------
    >>> setting = Setting(base=[2, 1], grades=2)
    >>> draw_lists(setting, "sorted-against-shuffled", 1, np.random.default_rng(0))[0, 0]
    array([0, 1], dtype=int8)
    """
    drawn = own.lists(setting, name, n, rng)
    return GENERATORS[name](setting, n, rng) if drawn is None else drawn


def base_list(setting: Setting) -> NDArray[np.int64]:
    """Return the base list of a setting as grade indices, 0 the best."""
    return setting.grades - np.array(setting.base, np.int64)


def _drawn(setting: Setting, n: int, rng: np.random.Generator) -> Pairs:
    uniform = [1 / setting.grades] * setting.grades
    return drawn_lists(n, setting.n_ranks, setting.probabilities or uniform, rng)


GENERATORS: dict[str, Callable[[Setting, int, np.random.Generator], Pairs]] = {
    "permutations": lambda s, n, rng: permuted_lists(n, rng, base_list(s))[:, :, : s.n_ranks],
    "drawn": _drawn,
    "sorted-against-shuffled": lambda s, n, rng: sorted_against_shuffled(n, rng, base_list(s))[
        :, :, : s.n_ranks
    ],
    "sorted-against-another": lambda s, n, rng: sorted_against_another(n, s.n_ranks, s.grades, rng),
    "documents": lambda s, n, rng: permuted_lists(n, rng, np.arange(s.n_ranks)),
    "queries": lambda s, n, rng: lists_of_queries(n, s.n_ranks, cast(list[int], s.queries), rng),
}


def truth_of(
    setting: Setting, rng: np.random.Generator, own: OwnFunctions = NO_FUNCTIONS
) -> Measure:
    """Return the true measure of a setting.

    Parameters
    ----------
    setting : Setting
    rng : numpy.random.Generator
        Used to draw a ``free`` truth.
    own : OwnFunctions, default none

    Returns
    -------
    DCG or LinearUtility
        For ``documents``, of document numbers instead of grades.

    Raises
    ------
    InputError
        If no truth has this name.

    Examples
    --------
    >>> setting = Setting(lists="documents", base=[2, 1], grades=2)
    >>> truth_of(setting, np.random.default_rng(0))
    DCG([2, 1], log2)
    """
    truth = own.truth(setting, rng)
    if truth is None:
        truth = named_truth(setting.truth, setting.n_ranks, setting.grades, rng)
    return _of_documents(truth, setting) if setting.documents else truth


def _of_documents(truth: Measure, setting: Setting) -> Measure:
    """Return the measure of document numbers, each of which is worth what its grade is."""
    grades = base_list(setting)
    if isinstance(truth, DCG):
        return DCG(np.array(truth.gains)[grades], truth.discounts, truth.cutoff)
    return LinearUtility(truth.matrix_for(setting.n_ranks)[:, grades])


EXACT = CalibratedJudge()


def strict_pairs(
    setting: Setting,
    name: str,
    n: int,
    truth: Measure,
    rng: np.random.Generator,
    judge: CalibratedJudge | None = EXACT,
    judge_rng: np.random.Generator | None = None,
    own: OwnFunctions = NO_FUNCTIONS,
) -> StrictPairs:
    """Draw and judge lists until `n` pairs are strict.

    Parameters
    ----------
    setting : Setting
    name : str
        The generator of the lists.
    n : int
        The number of strict pairs.
    truth : DCG or LinearUtility
    rng : numpy.random.Generator
        Used to draw the lists.
    judge : CalibratedJudge or None, default exact
        None for a judge of one's own.
    judge_rng : numpy.random.Generator, optional
        Used to draw the noise of the judge, and which list is shown first; `rng` by default.
    own : OwnFunctions, default none

    Returns
    -------
    StrictPairs

    Raises
    ------
    InputError
        If the truth gives nearly all lists the same utility.
    OwnCodeError
        If a judge of one's own leaves out all pairs.
    """
    lists = (draw_lists(setting, name, PAIRS_PER_BLOCK, rng, own) for _ in count())
    blocks = judged_blocks(setting, truth, lists, judge_rng or rng, judge, own)
    return first_pairs(setting, name, n, blocks, own if judge is None else None)


def judged_blocks(
    setting: Setting,
    truth: Measure,
    blocks: Iterable[Pairs],
    judge_rng: np.random.Generator,
    judge: CalibratedJudge | None = EXACT,
    own: OwnFunctions = NO_FUNCTIONS,
) -> Iterator[Pairs]:
    """Judge blocks of lists, one after the other.

    Parameters
    ----------
    setting : Setting
    truth : DCG or LinearUtility
    blocks : iterable of ndarray of int8, shape (n, 2, K)
        Lists as they were drawn.
    judge_rng : numpy.random.Generator
        Not used by the exact judge.
    judge, own
        As those of :func:`strict_pairs`.

    Yields
    ------
    ndarray of int8, shape (m, 2, K)
        The strict pairs of a block, the preferred list first.
    """
    for drawn in blocks:
        lists = drawn
        if judge != EXACT:  # some generators put the better list first
            lists = drawn.copy()
            swapped = judge_rng.random(len(lists)) < 0.5
            lists[swapped] = lists[swapped][:, ::-1]
        if judge is None:
            yield own.judged(setting, truth, lists, judge_rng)
        else:
            yield judged_pairs(truth, lists, judge_rng, judge.noise, judge.bias)


def first_pairs(
    setting: Setting,
    name: str,
    n: int,
    blocks: Iterable[Pairs],
    judges: OwnFunctions | None = None,
) -> StrictPairs:
    """Take blocks of judged pairs until `n` pairs are strict.

    Parameters
    ----------
    setting : Setting
    name : str
        The generator of the lists.
    n : int
        The number of strict pairs.
    blocks : iterable of ndarray of int8, shape (m, 2, K)
        As :func:`judged_blocks` yields them.
    judges : OwnFunctions, optional
        Functions with a judge of one's own, if it is that judge.

    Returns
    -------
    StrictPairs

    Raises
    ------
    InputError
        If :data:`MAX_EMPTY_BLOCKS` in a row have no strict pair.
    OwnCodeError
        If that is because of a judge of one's own.
    """
    kept: list[Pairs] = []
    n_kept = empty_blocks = 0
    for pairs in blocks:
        kept.append(pairs)
        n_kept += len(pairs)
        if n_kept >= n:
            drawn = PAIRS_PER_BLOCK * len(kept)
            return StrictPairs(np.concatenate(kept)[:n], drawn - n_kept, drawn)
        empty_blocks = 0 if len(pairs) else empty_blocks + 1
        if empty_blocks == MAX_EMPTY_BLOCKS:
            break
    if judges is not None:
        judges.refuse_empty(
            setting, f"{MAX_EMPTY_BLOCKS * PAIRS_PER_BLOCK:,} pairs of {name} lists"
        )
    raise InputError(
        f"the truth {setting.truth} distinguishes too few {name} lists",
        "choose another truth or other lists",
        "truth",
    )


def judge_of(
    setting: Setting, truth: Measure, rng: np.random.Generator, own: OwnFunctions = NO_FUNCTIONS
) -> CalibratedJudge:
    """Return the judge of a setting, with the noise that gives the required reliability.

    Parameters
    ----------
    setting : Setting
    truth : DCG or LinearUtility
    rng : numpy.random.Generator
        Used to draw the lists on which the judge is calibrated.
    own : OwnFunctions, default none

    Returns
    -------
    CalibratedJudge
    """
    if setting.reliability == 1 and not setting.bias:
        return EXACT
    true_differences = score_differences(
        truth, draw_lists(setting, setting.lists, 10 * PAIRS_PER_BLOCK, rng, own)
    )
    noise = noise_scale(true_differences, setting.reliability)
    return CalibratedJudge(noise, setting.bias * float(true_differences.std()))


def lists_to_test_on(setting: Setting) -> str:
    """Return the name of the generator of the test lists."""
    return setting.lists if setting.test_lists == SAME else setting.test_lists
