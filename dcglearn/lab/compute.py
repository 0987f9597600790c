"""Computing a cell: draw lists, judge them, learn from the judgments, test what was learned.

The result is a pure function of the cell (and of the code whose hashes it holds): the same in any
process and in any order. This is all that workers run.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

import numpy as np

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Pairs
from dcglearn.inference.ascent import Answers
from dcglearn.inference.usual import learn_from_answers
from dcglearn.lab.cells import Cell
from dcglearn.lab.decorators import CellData
from dcglearn.lab.draws import Draws
from dcglearn.lab.model_cells import certainty, conclusions
from dcglearn.lab.own_functions import OwnCodeError, call_own
from dcglearn.lab.registry import JUDGMENT_MODEL, STUDY, USUAL, Code, ExperimentCode
from dcglearn.lab.setting import Setting
from dcglearn.lab.similarity import identifiable_similarity, offset_similarity, similarity
from dcglearn.lab.simulation.judges import flip_pairs, misgrade_pairs
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.lab.success import result_named
from dcglearn.learning.problem import Problem
from dcglearn.learning.resample import choose_C
from dcglearn.learning.solve import Fit, fit, fit_path
from dcglearn.measures.agreement import agreement
from dcglearn.measures.measure import Measure
from dcglearn.measures.measure_files import MeasurePart
from dcglearn.measures.presets import preset

FRAMES = 8
"""Innermost frames of a traceback that are kept."""


def run_cell(cell: Cell, codes: Sequence[Code] = ()) -> Cell:
    """Compute a cell without ever raising an error."""
    try:
        with one_blas_thread():  # the order of additions must not vary
            return {"result": compute_cell(cell, codes)}
    except OwnCodeError as error:
        return {"error": str(error)}
    except (InputError, SolverError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        return {"error": words, "traceback": traceback.format_exc(limit=-FRAMES)}


def compute_cell(cell: Cell, codes: Sequence[Code] = ()) -> Cell:
    """Compute the result of a cell."""
    draws = Draws(cell, ExperimentCode(functions=tuple(codes)))
    if draws.setting.learner == STUDY:
        return dict(conclusions(draws.setting.design, draws.setting.pairs, draws.rng("judge")))
    if draws.setting.learner == JUDGMENT_MODEL:
        return certainty(draws)
    return _tested(draws)


def _tested(draws: Draws) -> Cell:
    """Learn a measure and compare it with the truth."""
    setting, truth = draws.setting, draws.truth
    training, learned, fitted = learn(draws)
    exact = draws.exact_pairs("test")
    W = learned.matrix_for(setting.n_ranks) if fitted is None else fitted.weights
    true_W = truth.matrix_for(setting.n_ranks)
    result: Cell = {
        "precision": agreement(learned, exact),
        "similarity": similarity(true_W, W),
        "identifiable": identifiable_similarity(true_W, W),
        "offset": offset_similarity(true_W, W),
        "margin_correlation": draws.margin_correlation(),
        "chosen_C": fitted.problem.C if fitted else None,
    }
    for name in setting.against:
        measure = preset(name, grade_scale(setting.grades), setting.n_ranks)
        result[f"precision:{name}"] = agreement(measure, exact)
    data = CellData(setting, training, exact, fitted)
    for name in draws.cell.get("columns", ()):
        own = call_own(draws.own, "result", name, setting, truth, learned, data)
        result[name] = result_named(name, truth, learned, data) if own is None else own.tolist()
    return {name: value for name, value in result.items() if value is not None}


def learn(draws: Draws) -> tuple[Pairs, Measure, Fit | None]:
    """Return the training pairs, what is learned, and its fit if it is of the program."""
    setting, pairs, rng = draws.setting, draws.training_pairs(), draws.rng("errors")
    if setting.flips:
        pairs = flip_pairs(pairs, setting.flips, rng)
    if setting.wrong_grades:
        pairs = misgrade_pairs(pairs, setting.wrong_grades, setting.grades, rng)
    pairs.flags.writeable = False
    rng = draws.rng("learner")
    found = call_own(draws.own, "learner", setting.learner, setting, pairs, setting, rng)
    if found is not None:
        return pairs, found, None
    if setting.learner == USUAL:
        answers = Answers(pairs, np.ones(len(pairs)), np.zeros(len(pairs)))
        return pairs, learn_from_answers(answers, grade_scale(setting.grades)).dcg, None
    fitted = _solve(draws, pairs)
    return pairs, _measure_of(setting, fitted), fitted


def _solve(draws: Draws, pairs: Pairs) -> Fit:
    """Solve; C is given, chosen by cross-validation, or agrees best with exact pairs."""
    setting, margins = draws.setting, draws.margins(pairs)
    C = 1.0 if isinstance(setting.C, str) else setting.C
    ordered = not setting.documents
    problem = Problem.of(pairs, setting.n_columns, margins, C=C, monotone=ordered)
    if setting.C == "cv":  # each pair is a query of its own; they are divided into folds once
        folds, grid, groups = draws.rng("folds"), setting.C_grid, np.arange(problem.n_pairs)
        part: MeasurePart = "dcg" if setting.learner == "qp-dcg" else "utility"
        C = choose_C(problem, groups, folds, grid=grid, use=part, n_repeats=1).C
    if setting.C != "validation":
        return fit(problem.with_C(C))
    fits, held_out = fit_path(problem, setting.C_grid), draws.exact_pairs("validation")
    return max(fits, key=lambda one: agreement(_measure_of(setting, one), held_out))


def _measure_of(setting: Setting, learned: Fit) -> Measure:
    return learned.dcg if setting.learner == "qp-dcg" else learned.utility
