"""Computing a cell: draw lists, judge them, learn from the judgments, test what was learned.

The result is a pure function of the cell (and of its table of queries): the same in any process
and in any order. This is all that workers run.
"""

from __future__ import annotations

import json
import traceback
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats, Pairs
from dcglearn.correlation.agreement import agreement, score_differences
from dcglearn.design.cells import AXES, QueryTable, rng_for
from dcglearn.design.sampling import (
    CalibratedJudge,
    base_list,
    judge_of,
    lists_to_test_on,
    strict_pairs,
    truth_of,
)
from dcglearn.design.setting import JUDGMENT_MODEL, Setting, check_setting
from dcglearn.encoding.margins import margins
from dcglearn.learning.choose_c import choose_C
from dcglearn.learning.fit import Fit, fit
from dcglearn.learning.gauge import is_affine
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.naming.measure_files import MeasurePart
from dcglearn.naming.presets import preset
from dcglearn.simulation.judges import flip_pairs, misgrade_pairs
from dcglearn.simulation.truths import grade_scale, named_truth
from dcglearn.solver.c_path import solve_path
from dcglearn.solver.problem import Problem
from dcglearn.trials.certainty_cells import certainty
from dcglearn.trials.similarity import (
    align_to_truth,
    identifiable_similarity,
    offset_similarity,
    similarity,
)

FRAMES = 8
"""Innermost frames of a traceback that are kept."""

_TRUTH = ("truth",)
_JUDGE = ("truth", "reliability", "bias")


def run_cell(cell: dict[str, Any], queries: QueryTable | None = None) -> dict[str, Any]:
    """Compute a cell without ever raising an error.

    Parameters
    ----------
    cell : dict
    queries : list of list of int, optional
        The table of queries that the cell refers to.

    Returns
    -------
    dict
        ``result``, as :func:`compute_cell` returns it; or ``error``, in one line, with a
        ``traceback`` if the error is a bug: neither an InputError nor a SolverError.
    """
    try:
        with one_blas_thread():  # the order of additions must not vary
            return {"result": compute_cell(cell, queries)}
    except (InputError, SolverError) as error:
        return {"error": _one_line(error)}
    except Exception as error:
        return {"error": _one_line(error), "traceback": _short_traceback(error)}


def compute_cell(cell: dict[str, Any], queries: QueryTable | None = None) -> dict[str, Any]:
    """Compute the result of a cell.

    Parameters
    ----------
    cell : dict
        As :func:`dcglearn.design.cells.cell_of` describes it.
    queries : list of list of int, optional
        The table of queries that the cell refers to.

    Returns
    -------
    dict
        ``precision``; ``similarity``, ``identifiable`` and ``offset`` similarity; ``gains``
        and ``discounts`` aligned to the truth, and their ``_correlation`` with it (if the
        truth is a DCG, or has a gain for each document); with a margin that depends on the
        pair, ``margin_correlation``, that of the margin and the true difference on the test
        pairs; ``chosen_C``; ``draws`` and ``drawn``, the number of pairs of equal
        true utility and of all pairs drawn; and ``precision:PRESET`` for each preset of
        ``against``. For a model of the judgment, what
        :func:`~dcglearn.trials.certainty_cells.certainty` returns.

    Raises
    ------
    InputError
        If the setting does not make sense, or a table of queries is missing.
    SolverError
        If an optimum is not confirmed.

    Examples
    --------
    >>> round(compute_cell({"seed": 1, "repetition": 0, "test_pairs": 100})["precision"], 2)
    0.95
    """
    cell = _with_queries(cell, queries)
    setting = _setting(cell)
    check_setting(setting)
    truth = truth_of(setting, rng_for(cell, "truth"))
    if setting.learner == JUDGMENT_MODEL:
        return certainty(setting, truth, rng_for(cell, "training"), rng_for(cell, "judge"))
    judged = strict_pairs(
        setting,
        setting.lists,
        setting.pairs,
        truth,
        rng_for(cell, "training"),
        _judge(_cache_key(cell, "calibration", _JUDGE)),
        rng_for(cell, "judge"),
    )
    train = judged.pairs
    if setting.flips or setting.wrong_grades:
        train = _with_errors(setting, train, rng_for(cell, "errors"))
    learned = _learn(setting, train, cell)
    W = learned.weights
    tests = _cache_key(cell, "test", (*_TRUTH, "test_pairs"))
    true_W = truth.matrix_for(setting.n_ranks)
    return {
        "precision": agreement(_learned_measure(setting, learned), _pairs(tests)),
        "similarity": similarity(true_W, W),
        "identifiable": identifiable_similarity(true_W, W),
        "offset": offset_similarity(true_W, W),
        **_parameters(setting, learned, cell),
        **_margin_correlation(setting, tests),
        "chosen_C": learned.problem.C,
        "draws": judged.draws,
        "drawn": judged.drawn,
        **{f"precision:{name}": _precision_of(name, tests) for name in setting.against},
    }


def _with_queries(cell: dict[str, Any], queries: QueryTable | None) -> dict[str, Any]:
    """Put the table of queries in place of its hash: its content seeds the generators."""
    if queries is not None and "queries" in cell:
        return {**cell, "queries": queries}
    if isinstance(cell.get("queries"), str):
        raise InputError("the table of queries is missing", "pass it as `queries`", "queries")
    return cell


def _setting(cell: dict[str, Any]) -> Setting:
    return Setting(**{k: v for k, v in cell.items() if k not in ("seed", "repetition")})


def _cache_key(cell: dict[str, Any], name: str, more: tuple[str, ...]) -> str:
    """Return, as JSON, the part of a cell that a generator and the keys in `more` depend on."""
    kept = {"seed", "repetition", *AXES[name], *AXES["truth"], *more} & cell.keys()
    return json.dumps([name, {key: cell[key] for key in sorted(kept)}])


@lru_cache(32)
def _pairs(part: str) -> Pairs:
    """Draw the exact pairs of a generator; neighbouring cells of a grid share them."""
    name, cell = json.loads(part)
    setting = _setting(cell)
    truth = truth_of(setting, rng_for(cell, "truth"))
    lists, n = setting.lists, setting.validation_pairs
    if name == "test":
        lists, n = lists_to_test_on(setting), setting.test_pairs
    pairs = strict_pairs(setting, lists, n, truth, rng_for(cell, name)).pairs
    by_rank = np.ascontiguousarray(pairs.transpose(1, 2, 0)).transpose(2, 0, 1)  # faster to read
    by_rank.flags.writeable = False
    return by_rank


@lru_cache(256)
def _precision_of(name: str, tests: str) -> float:
    """Return the precision of a preset on test pairs."""
    setting = _setting(json.loads(tests)[1])
    return agreement(preset(name, grade_scale(setting.grades), setting.n_ranks), _pairs(tests))


@lru_cache(32)
def _judge(part: str) -> CalibratedJudge:
    """Return the calibrated judge; neighbouring cells of a grid share it."""
    name, cell = json.loads(part)
    setting = _setting(cell)
    return judge_of(setting, truth_of(setting, rng_for(cell, "truth")), rng_for(cell, name))


def _with_errors(setting: Setting, pairs: Pairs, rng: np.random.Generator) -> Pairs:
    """Reverse some preferences, then replace some grades."""
    if setting.flips:
        pairs = flip_pairs(pairs, setting.flips, rng)
    if setting.wrong_grades:
        pairs = misgrade_pairs(pairs, setting.wrong_grades, setting.grades, rng)
    return pairs


def _learn(setting: Setting, train: Pairs, cell: dict[str, Any]) -> Fit:
    """Learn; C is given, chosen by cross-validation, or agrees best with exact pairs."""
    C = 1.0 if isinstance(setting.C, str) else setting.C
    L, ordered = setting.grades, not setting.documents
    if setting.documents:
        L = setting.n_ranks
    problem = Problem.of(train, L, setting.margin, C=C, monotone=ordered)
    if setting.C == "cv":  # each pair is a query of its own; they are divided into folds once
        rng, grid = rng_for(cell, "folds"), setting.C_grid
        part: MeasurePart = "dcg" if setting.learner == "qp-dcg" else "utility"
        choice = choose_C(
            problem, np.arange(problem.n_pairs), rng, grid=grid, use=part, n_repeats=1
        )
        return fit(problem.with_C(choice.C))
    if setting.C != "validation":
        return fit(problem)
    held_out = _pairs(_cache_key(cell, "validation", (*_TRUTH, "validation_pairs")))
    fits = [
        Fit(problem.with_C(C), solution)
        for C, solution in zip(setting.C_grid, solve_path(problem, setting.C_grid), strict=True)
    ]
    scores = [agreement(_learned_measure(setting, learned), held_out) for learned in fits]
    return fits[int(np.argmax(scores))]


def _learned_measure(setting: Setting, learned: Fit) -> Measure:
    return learned.dcg if setting.learner == "qp-dcg" else learned.utility


def _parameters(setting: Setting, learned: Fit, cell: dict[str, Any]) -> dict[str, Any]:
    """Return learned gains and discounts on the scale of the truth, if the truth is a DCG."""
    L, K, rng = setting.grades, setting.n_ranks, rng_for(cell, "truth")
    truth = named_truth(setting.truth, K, L, rng)
    if not isinstance(truth, DCG):
        return {}
    factors = learned.factors
    c, g = truth.discounts_for(K), np.array(truth.gains)
    if setting.documents:  # as many gains as documents
        g = g[base_list(setting)]
    gains = align_to_truth(factors.gains, g)
    discounts = align_to_truth(factors.discounts, c, is_affine(factors.gauge))
    return {
        "gains": gains.tolist(),
        "gains_correlation": _correlation(factors.gains, g),
        "discounts": discounts.tolist(),
        "discounts_correlation": _correlation(factors.discounts, c),
    }


def _margin_correlation(setting: Setting, tests: str) -> dict[str, float]:
    """Return how a margin that depends on the pair goes with the true difference."""
    if setting.margin == "unit":
        return {}
    return {"margin_correlation": _correlation_with_truth(setting.margin, tests)}


@lru_cache(32)
def _correlation_with_truth(margin: str, tests: str) -> float:
    cell, pairs = json.loads(tests)[1], _pairs(tests)
    truth = truth_of(_setting(cell), rng_for(cell, "truth"))
    return float(np.corrcoef(margins(pairs, margin), score_differences(truth, pairs))[0, 1])


def _correlation(a: Floats, b: Floats) -> float:
    """Return |r|, or 0 if one of them is constant."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return abs(float(a @ b)) / size if size else 0.0


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _short_traceback(error: Exception) -> str:
    """Return the innermost frames, without the folders of this machine."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    lines = [f"{_short_path(f.filename)}:{f.lineno} in {f.name}: {f.line}" for f in frames]
    return "\n".join([*lines, _one_line(error)])


def _short_path(filename: str) -> str:
    """Shorten a path to the part that begins with the package, or to the file name.

    >>> _short_path("/home/a/lib/python3.11/site-packages/numpy/linalg/_linalg.py")
    'numpy/linalg/_linalg.py'
    """
    path = Path(filename)
    parts = path.parts
    if "site-packages" in parts:
        return "/".join(parts[parts.index("site-packages") + 1 :])
    package = Path(__file__).resolve().parent.parent
    if path.is_relative_to(package):
        return path.relative_to(package.parent).as_posix()
    return path.name
