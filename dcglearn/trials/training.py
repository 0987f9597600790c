"""What a cell learns from, and what it learns; cells that differ only in their tests share it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dcglearn.axes.registry import USUAL
from dcglearn.base.types import Pairs
from dcglearn.design.cells import rng_for, setting_of
from dcglearn.design.own_functions import NO_FUNCTIONS, OwnFunctions
from dcglearn.design.setting import Setting
from dcglearn.inference.ascent import Answers
from dcglearn.inference.usual import learn_from_answers
from dcglearn.learning.fit import Fit, fit
from dcglearn.learning.problem import Problem
from dcglearn.learning.resample import choose_C
from dcglearn.learning.solve import solve_path
from dcglearn.measures.measure import Measure
from dcglearn.naming.measure_files import MeasurePart
from dcglearn.simulation.judges import flip_pairs, misgrade_pairs
from dcglearn.simulation.truths import grade_scale
from dcglearn.trials.draws import exact_pairs, judged_pairs_of

_OF_TESTS = ("test_lists", "test_pairs", "against", "columns")
"""The keys of a cell on which nothing depends that is learned."""

_KEPT = 16
"""Trainings that are kept: those of one truth and one kind of lists follow each other in a grid."""

_MOST_KEPT_PAIRS = 100_000
"""Trainings on more pairs are not kept: each takes about 35 bytes a pair."""


@dataclass(frozen=True)
class Training:
    """What was learned, and from what.

    Attributes
    ----------
    pairs : ndarray of int8, shape (n, 2, K)
        With their errors, the preferred list first.
    draws, drawn : int
        As in :class:`~dcglearn.design.sampling.StrictPairs`.
    measure : DCG or LinearUtility
    fit : Fit or None
        The fit of a learner of this package.
    """

    pairs: Pairs
    draws: int
    drawn: int
    measure: Measure
    fit: Fit | None


def training_of(cell: dict[str, Any], own: OwnFunctions, setting: Setting) -> Training:
    """Draw and judge the training pairs of a cell, and learn from them.

    Parameters
    ----------
    cell : dict
        With the table of queries in full, where it has one.
    own : OwnFunctions
        With one of these, nothing is kept for other cells: they may change what they are given.
    setting : Setting
        Of the cell.

    Returns
    -------
    Training
    """
    if own.codes or setting.pairs > _MOST_KEPT_PAIRS:
        return _trained(cell, own, setting)
    learned_from = {key: value for key, value in cell.items() if key not in _OF_TESTS}
    return _kept_training(json.dumps(learned_from, sort_keys=True))


@lru_cache(_KEPT)
def _kept_training(learned_from: str) -> Training:
    cell = json.loads(learned_from)
    return _trained(cell, NO_FUNCTIONS, setting_of(cell))


def _trained(cell: dict[str, Any], own: OwnFunctions, setting: Setting) -> Training:
    judged = judged_pairs_of(cell, own, setting)
    pairs = judged.pairs
    if setting.flips or setting.wrong_grades:
        pairs = _with_errors(setting, pairs, rng_for(cell, "errors"))
    found = _learn(setting, pairs, cell, own)
    return Training(pairs, judged.draws, judged.drawn, *found)


def _with_errors(setting: Setting, pairs: Pairs, rng: np.random.Generator) -> Pairs:
    """Reverse some preferences, then replace some grades."""
    if setting.flips:
        pairs = flip_pairs(pairs, setting.flips, rng)
    if setting.wrong_grades:
        pairs = misgrade_pairs(pairs, setting.wrong_grades, setting.grades, rng)
    return pairs


def _learn(
    setting: Setting, pairs: Pairs, cell: dict[str, Any], own: OwnFunctions
) -> tuple[Measure, Fit | None]:
    """Return what is learned, and the fit of the quadratic program if it is that."""
    if own.get("learner", setting.learner):
        measure = own.learned(setting, pairs, rng_for(cell, "learner"))
        assert measure is not None  # noqa: S101 - there is such a learner
        return measure, None
    if setting.learner == USUAL:
        answers = Answers(pairs, np.ones(len(pairs)), np.zeros(len(pairs)))
        return learn_from_answers(answers, grade_scale(setting.grades)).dcg, None
    learned = _solve(setting, pairs, cell, own)
    return _measure_of(setting, learned), learned


def _solve(setting: Setting, pairs: Pairs, cell: dict[str, Any], own: OwnFunctions) -> Fit:
    """Solve; C is given, chosen by cross-validation, or agrees best with exact pairs."""
    C = 1.0 if isinstance(setting.C, str) else setting.C
    L, ordered = setting.grades, not setting.documents
    if setting.documents:
        L = setting.n_ranks
    problem = Problem.of(pairs, L, own.margin(setting, pairs), C=C, monotone=ordered)
    if setting.C == "cv":  # each pair is a query of its own; they are divided into folds once
        rng, grid = rng_for(cell, "folds"), setting.C_grid
        part: MeasurePart = "dcg" if setting.learner == "qp-dcg" else "utility"
        choice = choose_C(
            problem, np.arange(problem.n_pairs), rng, grid=grid, use=part, n_repeats=1
        )
        return fit(problem.with_C(choice.C))
    if setting.C != "validation":
        return fit(problem)
    fits = [
        Fit(problem.with_C(C), solution)
        for C, solution in zip(setting.C_grid, solve_path(problem, setting.C_grid), strict=True)
    ]
    held_out = exact_pairs(cell, own, "validation")
    scores = [held_out.agreement(_measure_of(setting, one)) for one in fits]
    return fits[int(np.argmax(scores))]


def _measure_of(setting: Setting, learned: Fit) -> Measure:
    return learned.dcg if setting.learner == "qp-dcg" else learned.utility
