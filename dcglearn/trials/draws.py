"""What neighbouring cells of a grid share: truths, lists, judged and exact pairs, judges, presets.

Each is drawn from the part of a cell that seeds it, and kept for the next cell of the process.
Samples grow in blocks: of cells that differ in the number of pairs, a small sample is the start of
a large one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, count, islice
from threading import Lock
from typing import Any

import numpy as np

from dcglearn.base.types import Floats, Pairs
from dcglearn.design.cells import AXES, rng_for, setting_of
from dcglearn.design.own_functions import OwnFunctions
from dcglearn.design.sampling import (
    PAIRS_PER_BLOCK,
    CalibratedJudge,
    StrictPairs,
    draw_lists,
    first_pairs,
    judge_of,
    judged_blocks,
    lists_to_test_on,
    strict_pairs,
    truth_of,
)
from dcglearn.design.setting import Setting
from dcglearn.learning.problem import margins_of
from dcglearn.measures.agreement import CodedPairs, score_differences
from dcglearn.measures.measure import Measure
from dcglearn.naming.presets import preset
from dcglearn.simulation.truths import grade_scale

_OF_PAIRS = {"test": ("truth", "test_pairs"), "validation": ("truth", "validation_pairs")}
"""The keys that pairs depend on, besides those that seed them."""

_OF_JUDGE = ("truth", "reliability", "bias")


class Blocks:
    """Blocks of a sample, drawn when they are first asked for and then kept.

    Threads may share it. If drawing fails or is interrupted, the next call draws again from the
    start, so that an interrupted run in a notebook continues with the same blocks.

    Parameters
    ----------
    start : callable
        Returns an iterator that draws them; the same ones each time.

    Examples
    --------
    >>> blocks = Blocks(lambda: iter("abc"))
    >>> [next(iter(blocks)) for _ in range(2)], list(blocks)
    (['a', 'a'], ['a', 'b', 'c'])
    """

    def __init__(self, start: Callable[[], Iterator[Any]]) -> None:
        self._start = start
        self._source: Iterator[Any] | None = None
        self._kept: list[Any] = []
        self._lock = Lock()

    def __iter__(self) -> Iterator[Any]:
        """Yield the blocks from the first."""
        for number in count():
            if number == len(self._kept):
                self._draw(number)
            if number == len(self._kept):
                return
            yield self._kept[number]

    def _draw(self, number: int) -> None:
        with self._lock:
            if number < len(self._kept):  # another thread drew it
                return
            source = self._source or islice(self._start(), number, None)
            self._source = None  # an iterator that did not return is of no further use
            self._kept += islice(source, 1)
            self._source = source


def true_measure(cell: dict[str, Any], own: OwnFunctions) -> Measure:
    """Return the truth of a cell.

    Parameters
    ----------
    cell : dict
        With the table of queries in full, where it has one.
    own : OwnFunctions

    Returns
    -------
    DCG or LinearUtility
        For ``documents``, of document numbers.
    """
    return _true_measure(*_part(cell, own, "truth", ("truth", "lists", "base", "ranks")))


@lru_cache(32)
def _true_measure(part: str, own: OwnFunctions) -> Measure:
    name, cell = json.loads(part)
    return truth_of(setting_of(cell), rng_for(cell, name), own)


def training_lists(cell: dict[str, Any], own: OwnFunctions, n: int) -> Pairs:
    """Return the first pairs of lists of a cell, not yet judged.

    Parameters
    ----------
    cell : dict
    own : OwnFunctions
    n : int
        The number of pairs.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
    """
    blocks = _lists(*_part(cell, own, "training", ()))
    return np.concatenate(list(islice(blocks, -(-n // PAIRS_PER_BLOCK))))[:n]


@lru_cache(8)
def _lists(part: str, own: OwnFunctions) -> Blocks:
    """Return blocks of lists; truths and judges share them."""
    name, cell = json.loads(part)
    setting = setting_of(cell)
    lists = lists_to_test_on(setting) if name == "test" else setting.lists

    def drawn() -> Iterator[Pairs]:
        rng = rng_for(cell, name)
        return (draw_lists(setting, lists, PAIRS_PER_BLOCK, rng, own) for _ in count())

    return Blocks(drawn)


def judged_pairs_of(cell: dict[str, Any], own: OwnFunctions, setting: Setting) -> StrictPairs:
    """Return the training pairs of a cell, as its judge orders them.

    Parameters
    ----------
    cell : dict
    own : OwnFunctions
    setting : Setting
        Of the cell.

    Returns
    -------
    StrictPairs
        Without wrong preferences and grades.
    """
    if own.codes and own.get("judge", setting.judge):
        truth = true_measure(cell, own)
        rngs = (rng_for(cell, name) for name in ("training", "judge"))
        rng, judge_rng = rngs
        return strict_pairs(setting, setting.lists, setting.pairs, truth, rng, None, judge_rng, own)
    blocks = _judged(*_part(cell, own, "training", _OF_JUDGE))
    return first_pairs(setting, setting.lists, setting.pairs, blocks)


@lru_cache(8)
def _judged(part: str, own: OwnFunctions) -> Blocks:
    name, cell = json.loads(part)
    setting = setting_of(cell)
    truth = true_measure(cell, own)
    judge, lists = calibrated_judge(cell, own), _lists(*_part(cell, own, name, ()))
    return Blocks(lambda: judged_blocks(setting, truth, lists, rng_for(cell, "judge"), judge, own))


def exact_pairs(cell: dict[str, Any], own: OwnFunctions, name: str) -> CodedPairs:
    """Return the pairs without errors that a cell is tested on, or that C is chosen on.

    Parameters
    ----------
    cell : dict
        With the table of queries in full, where it has one.
    own : OwnFunctions
    name : {"test", "validation"}

    Returns
    -------
    CodedPairs
        Read-only, the better list first.
    """
    return _coded(*_part(cell, own, name, _OF_PAIRS[name]))


@lru_cache(32)
def _pairs(part: str, own: OwnFunctions) -> Pairs:
    """Draw the exact pairs of a generator; neighbouring cells of a grid share them."""
    name, cell = json.loads(part)
    setting = setting_of(cell)
    truth = true_measure(cell, own)
    n = setting.test_pairs if name == "test" else setting.validation_pairs
    blocks = iter(_lists(*_part(cell, own, name, ())))
    at_once = np.concatenate(list(islice(blocks, -(-n // PAIRS_PER_BLOCK))))
    judged = judged_blocks(setting, truth, chain([at_once], blocks), rng_for(cell, "judge"))
    lists = lists_to_test_on(setting) if name == "test" else setting.lists
    pairs = first_pairs(setting, lists, n, judged).pairs
    by_rank = np.ascontiguousarray(pairs.transpose(1, 2, 0)).transpose(2, 0, 1)  # faster to read
    by_rank.flags.writeable = False
    return by_rank


@lru_cache(32)
def _coded(part: str, own: OwnFunctions) -> CodedPairs:
    setting = setting_of(json.loads(part)[1])
    return CodedPairs(_pairs(part, own), setting.n_ranks if setting.documents else setting.grades)


def preset_precision(name: str, cell: dict[str, Any], own: OwnFunctions) -> float:
    """Return the precision of a preset on the test pairs of a cell.

    Parameters
    ----------
    name : str
    cell : dict
    own : OwnFunctions

    Returns
    -------
    float
    """
    return _precision_on(name, *_part(cell, own, "test", _OF_PAIRS["test"]))


@lru_cache(256)
def _precision_on(name: str, part: str, own: OwnFunctions) -> float:
    """Return the precision of a preset on test pairs."""
    setting = setting_of(json.loads(part)[1])
    measure = preset(name, grade_scale(setting.grades), setting.n_ranks)
    return _coded(part, own).agreement(measure)


def margin_correlation(cell: dict[str, Any], own: OwnFunctions, setting: Setting) -> float | None:
    """Return how the margin of the test pairs of a cell goes with their true difference.

    Parameters
    ----------
    cell : dict
    own : OwnFunctions
        A margin of one's own is computed for each cell.
    setting : Setting
        Of the cell.

    Returns
    -------
    float or None
        None if all margins are equal.
    """
    if setting.margin == "unit":
        return None
    part = _part(cell, own, "test", _OF_PAIRS["test"])
    if own.get("margin", setting.margin) is None:
        return _correlation_of_margin(setting.margin, *part)
    return _correlated(own.margin(setting, _coded(*part).pairs), *part)


@lru_cache(32)
def _correlation_of_margin(name: str, part: str, own: OwnFunctions) -> float | None:
    return _correlated(name, part, own)


def _correlated(margin: str | Floats, part: str, own: OwnFunctions) -> float | None:
    pairs, truth = _coded(part, own).pairs, true_measure(json.loads(part)[1], own)
    size = margins_of(margin)(pairs) if isinstance(margin, str) else margin
    if size is None or size.min() == size.max():
        return None
    return float(np.corrcoef(size, score_differences(truth, pairs))[0, 1])


def calibrated_judge(cell: dict[str, Any], own: OwnFunctions) -> CalibratedJudge:
    """Return the judge of a cell, calibrated on lists of its own.

    Parameters
    ----------
    cell : dict
    own : OwnFunctions

    Returns
    -------
    CalibratedJudge
    """
    return _calibrated(*_part(cell, own, "calibration", _OF_JUDGE))


@lru_cache(32)
def _calibrated(part: str, own: OwnFunctions) -> CalibratedJudge:
    """Return the calibrated judge; neighbouring cells of a grid share it."""
    name, cell = json.loads(part)
    setting = setting_of(cell)
    truth = true_measure(cell, own)
    return judge_of(setting, truth, rng_for(cell, name), own)


def _part(
    cell: dict[str, Any], own: OwnFunctions, name: str, more: tuple[str, ...]
) -> tuple[str, OwnFunctions]:
    """Return the part of a cell that a generator and the keys in `more` depend on, as JSON.

    The functions of one's own are those that draw; their options count, whoever has them.
    """
    kept = {"seed", "repetition", "options", *AXES[name], *AXES["truth"], *more} & cell.keys()
    drawing = tuple(code for code in own.codes if code.axis in ("truth", "lists"))
    if not drawing:
        kept.discard("options")
    return json.dumps([name, {key: cell[key] for key in sorted(kept)}]), OwnFunctions(drawing)
