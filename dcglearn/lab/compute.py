"""Computing a cell: draw lists, judge them, learn from the judgments, test what was learned.

The result is a pure function of the cell (and of the code whose hashes it holds): the same in any
process and in any order.

Gains are identified up to an affine map; discounts up to scale, or an affine map where all pairs
compare lists of the same content. They are compared with the truth after the least-squares map of
that kind, if the truth is a DCG and the learned measure does not tie all lists.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

import numpy as np

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats, Grades, Pairs
from dcglearn.correlation.tau import kendall_tau
from dcglearn.inference.ascent import Answers
from dcglearn.inference.usual import learn_from_answers
from dcglearn.lab.cells import Cell
from dcglearn.lab.decorators import CellData
from dcglearn.lab.draws import Draws
from dcglearn.lab.model_cells import certainty, conclusions
from dcglearn.lab.registry import JUDGMENT_MODEL, STUDY, USUAL, Code, ExperimentCode
from dcglearn.lab.similarity import (
    cosine,
    identifiable_similarity,
    similarity,
)
from dcglearn.lab.simulation.judges import flip_pairs, misgrade_pairs
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.learning.factorise import factorise
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import Factors, Gauge, is_affine
from dcglearn.learning.resample import choose_C
from dcglearn.learning.solve import Fit, fit, fit_path
from dcglearn.measures.agreement import agreement, outcomes, score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.utility import LinearUtility

PAIRS_FOR_TAU = 1000
"""Test pairs whose lists are ordered."""


def run_cell(cell: Cell, codes: Sequence[Code] = ()) -> Cell:
    """Compute a cell without ever raising an error."""
    try:
        with one_blas_thread():  # the order of additions must not vary
            return {"result": compute_cell(cell, codes)}
    except (InputError, SolverError) as error:
        return {"error": str(error)}
    except Exception:
        return {"error": traceback.format_exc(limit=-8)}  # the innermost frames


def compute_cell(cell: Cell, codes: Sequence[Code] = ()) -> Cell:
    """Compute the result of a cell."""
    draws = Draws(cell, ExperimentCode(functions=tuple(codes)))
    kinds = {STUDY: conclusions, JUDGMENT_MODEL: certainty}
    return kinds.get(draws.setting.learner, _tested)(draws)


def _tested(draws: Draws) -> Cell:
    setting, truth = draws.setting, draws.truth
    training, learned, fitted = learn(draws)
    tests = draws.part("test")
    W = learned.matrix_for(setting.n_ranks) if fitted is None else fitted.weights
    true_W = truth.matrix_for(setting.n_ranks)
    result: Cell = {
        "precision": agreement(learned, tests.exact_pairs),
        "similarity": similarity(true_W, W),
        "identifiable": identifiable_similarity(true_W, W),
        "offset": cosine(true_W + 100.0, W + 100.0),
        "margin_correlation": tests.margin_correlation,
        "chosen_C": fitted.problem.C if fitted else None,
    }
    result |= {f"precision:{name}": value for name, value in tests.agreements.items()}
    data = CellData(setting, training, tests.exact_pairs, fitted)
    for name in draws.cell.get("columns", ()):
        own = draws.own_result("result", truth, learned, data, name=name)
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
    found = draws.own_result("learner", pairs, setting, rng)
    if found is not None:
        return pairs, found, None
    if setting.learner == USUAL:
        answers = Answers(pairs, np.ones(len(pairs)), np.zeros(len(pairs)))
        return pairs, learn_from_answers(answers, grade_scale(setting.grades)).dcg, None
    margins = draws.margins(pairs)
    problem = Problem.of(pairs, setting.n_columns, margins, monotone=not setting.documents)
    try:
        fitted = _solve(draws, problem)
    except InputError:  # the optimum is 0, which ties all lists
        return pairs, LinearUtility(np.zeros(problem.shape)), None
    return pairs, getattr(fitted, setting.used), fitted


def _solve(draws: Draws, problem: Problem) -> Fit:
    """Solve; C is given, chosen by cross-validation, or agrees best with exact pairs."""
    setting, C = draws.setting, draws.setting.C
    if C == "cv":  # each pair is a query of its own; they are divided into folds once
        folds, grid, groups = draws.rng("folds"), setting.C_grid, np.arange(problem.n_pairs)
        C = choose_C(problem, groups, folds, grid=grid, use=setting.used, n_repeats=1).C
    if not isinstance(C, str):
        return fit(problem.with_C(C))
    fits, held_out = fit_path(problem, setting.C_grid), draws.part("validation").exact_pairs
    return max(fits, key=lambda one: agreement(getattr(one, setting.used), held_out))


def result_named(
    name: str, truth: Measure, learned: Measure, data: CellData
) -> float | list[float] | None:
    """Return a result; None leaves it out of the cell."""
    if name == "regret":
        return regret(truth, learned, data)
    if name == "kendall_tau":
        return order_of_lists(truth, learned, data)
    factors = _factors(learned, data)
    if factors is None or not isinstance(truth, DCG):
        return None
    found, true, affine = factors.gains, np.array(truth.gains), True
    if name.startswith("discounts"):
        found, affine = factors.discounts, is_affine(factors.gauge)
        true = truth.discounts_for(len(found))
    if name.endswith("correlation"):
        return abs(cosine(found - found.mean(), true - true.mean()))  # the sign is part of the map
    columns = np.column_stack([found, np.ones(len(found))] if affine else [found])
    nearest = columns @ np.linalg.lstsq(columns, true)[0]
    return [*nearest.tolist()]


def _factors(learned: Measure, data: CellData) -> Factors | None:
    """Return learned gains and discounts; None if the measure ties all lists.

    Of a learner of one's own, only the measure is known, whose discounts pairs that reorder one
    list determine up to an affine map.
    """
    try:
        if data.fit is not None:
            return data.fit.factors
        pairs, setting = data.training_pairs, data.setting
        reordered = bool((np.sort(pairs[:, 0], axis=1) == np.sort(pairs[:, 1], axis=1)).all())
        gauge: Gauge = "worst order" if reordered else "worst"
        return factorise(learned.matrix_for(setting.n_ranks), gauge, ordered=not setting.documents)
    except InputError:
        return None


def regret(truth: Measure, learned: Measure, data: CellData) -> float:
    """Share of the true difference that is lost by trusting the order of the learned measure.

    With d_i > 0 the true difference of test pair i, and o_i = 1 where the learned measure prefers
    the better list, 1/2 where it ties them, 0 otherwise:

        regret = sum_i (1 - o_i) d_i / sum_i d_i

    0 if no preference is wrong, 1/2 by chance. Errors on lists that hardly differ cost little.
    """
    differences = score_differences(truth, data.test_pairs)
    wrong = 1 - outcomes(learned, data.test_pairs)
    return float(wrong @ differences / differences.sum())


def order_of_lists(truth: Measure, learned: Measure, data: CellData) -> float:
    """Kendall's tau-b between the true and the learned order of the lists of 1,000 test pairs."""
    pairs = data.test_pairs[:PAIRS_FOR_TAU]
    lists = pairs.reshape(-1, pairs.shape[2])
    try:
        return kendall_tau(_scores(truth, lists), _scores(learned, lists))
    except InputError:  # all lists are tied
        return 0.0


def _scores(measure: Measure, lists: Grades) -> Floats:
    """Score lists; differences that are rounding errors are removed."""
    scores = measure.score(lists)
    return np.asarray(np.round(scores / np.abs(scores).max(initial=1e-300), 12))
