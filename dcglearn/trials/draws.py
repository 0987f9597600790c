"""What neighbouring cells of a grid share: exact pairs, precision of presets, calibrated judges.

Each is drawn from the part of a cell that seeds it, and kept for the next cell of the process.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from dcglearn.base.types import Pairs
from dcglearn.correlation.agreement import agreement
from dcglearn.design.cells import AXES, rng_for, setting_of
from dcglearn.design.own_functions import OwnFunctions
from dcglearn.design.sampling import (
    CalibratedJudge,
    judge_of,
    lists_to_test_on,
    strict_pairs,
    truth_of,
)
from dcglearn.naming.presets import preset
from dcglearn.simulation.truths import grade_scale

_OF_PAIRS = {"test": ("truth", "test_pairs"), "validation": ("truth", "validation_pairs")}
"""The keys that pairs depend on, besides those that seed them."""


def exact_pairs(cell: dict[str, Any], own: OwnFunctions, name: str) -> Pairs:
    """Return the pairs without errors that a cell is tested on, or that C is chosen on.

    Parameters
    ----------
    cell : dict
        With the table of queries in full, where it has one.
    own : OwnFunctions
    name : {"test", "validation"}

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
        Read-only, the better list first.
    """
    return _pairs(*_part(cell, own, name, _OF_PAIRS[name]))


@lru_cache(32)
def _pairs(part: str, own: OwnFunctions) -> Pairs:
    """Draw the exact pairs of a generator; neighbouring cells of a grid share them."""
    name, cell = json.loads(part)
    setting = setting_of(cell)
    truth = truth_of(setting, rng_for(cell, "truth"), own)
    lists, n = setting.lists, setting.validation_pairs
    if name == "test":
        lists, n = lists_to_test_on(setting), setting.test_pairs
    pairs = strict_pairs(setting, lists, n, truth, rng_for(cell, name), own=own).pairs
    by_rank = np.ascontiguousarray(pairs.transpose(1, 2, 0)).transpose(2, 0, 1)  # faster to read
    by_rank.flags.writeable = False
    return by_rank


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
    return agreement(measure, _pairs(part, own))


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
    return _calibrated(*_part(cell, own, "calibration", ("truth", "reliability", "bias")))


@lru_cache(32)
def _calibrated(part: str, own: OwnFunctions) -> CalibratedJudge:
    """Return the calibrated judge; neighbouring cells of a grid share it."""
    name, cell = json.loads(part)
    setting = setting_of(cell)
    truth = truth_of(setting, rng_for(cell, "truth"), own)
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
