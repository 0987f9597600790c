"""A cell: one setting, one repetition, one result; a pure function of a JSON-able dict.

What a cell draws comes from streams that are seeded by named axes only (:data:`AXES`), not
by the cell's place in a grid. So two cells that differ in the margin, in C, in the number of
pairs or of errors, or in the truth, see the same lists; and a grid that grows or is
reordered asks for the same cells again.

A cell is written down by what differs from the defaults, and is known by the hash of that
and of :data:`CELL_VERSION`.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any

import numpy as np

from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats, Pairs
from dcglearn.lab.sampling import judge_of, lists_to_test_on, strict_pairs, truth_of
from dcglearn.lab.setting import Setting, check_setting, unused_keys
from dcglearn.lab.similarity import (
    align_to_truth,
    identifiable_similarity,
    offset_similarity,
    similarity,
)
from dcglearn.learning.factorise import is_order
from dcglearn.learning.factors import factors_of
from dcglearn.measures.agreement import agreement
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.presets import preset
from dcglearn.measures.utility import LinearUtility
from dcglearn.simulation.judges import flip_pairs, misgrade_pairs
from dcglearn.simulation.truths import grade_scale
from dcglearn.solver.c_path import solve_path
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import Solution, solve

CELL_VERSION = 2
"""To be raised by hand with every change that changes results; a golden cell watches."""

_LISTS = ("base", "grades", "ranks", "probabilities", "queries")

AXES: dict[str, tuple[str, ...]] = {
    "truth": ("grades", "ranks"),
    "training": ("lists", *_LISTS),
    "calibration": ("lists", *_LISTS),
    "validation": ("lists", *_LISTS),
    "test": ("lists", "test_lists", *_LISTS),
    "judge": (),
    "errors": (),
}
"""The axes that seed each stream, beside the seed, the repetition and the stream's name."""

_TRUTH = ("truth",)
_JUDGE = ("truth", "reliability", "bias")


def cell_of(setting: Setting, seed: int, repetition: int) -> dict[str, Any]:
    """Write a cell down.

    Parameters
    ----------
    setting : Setting
    seed, repetition : int

    Returns
    -------
    dict
        JSON-able: seed, repetition, and what in the setting is not a default, nor a default
        spelled out, nor without effect.

    Examples
    --------
    >>> cell_of(Setting(flips=5), 1, 0)
    {'seed': 1, 'repetition': 0, 'flips': 5}
    """
    changed = setting.model_dump(exclude_defaults=True)
    if setting.ranks == len(setting.base):
        changed.pop("ranks", None)
    if setting.test_lists == setting.lists:
        changed.pop("test_lists", None)
    for key in unused_keys(setting):
        changed.pop(key, None)
    return {"seed": seed, "repetition": repetition, **changed}


def key_of(cell: dict[str, Any]) -> str:
    """Return the name under which a cell's result is kept.

    Parameters
    ----------
    cell : dict

    Returns
    -------
    str
        Of the cell and :data:`CELL_VERSION`; the order of its entries does not matter.
    """
    return _hash([CELL_VERSION, cell]).hex()[:32]


def rng_for(cell: dict[str, Any], name: str) -> np.random.Generator:
    """Return a generator for one of the things that a cell draws.

    Parameters
    ----------
    cell : dict
    name : str
        One of :data:`AXES`.

    Returns
    -------
    numpy.random.Generator

    Examples
    --------
    Fewer pairs, or errors in them, are drawn from the same stream:

    >>> one, other = ({"seed": 1, "repetition": 0, "pairs": n} for n in (20, 200))
    >>> rng_for(one, "training").random() == rng_for(other, "training").random()
    True
    """
    axes = {axis: cell[axis] for axis in AXES[name] if axis in cell}
    digest = _hash([name, cell["seed"], cell["repetition"], axes])
    return np.random.default_rng(int.from_bytes(digest))


def run_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """Compute a cell; never raise.

    Parameters
    ----------
    cell : dict

    Returns
    -------
    dict
        ``result``, or ``error`` with what went wrong.
    """
    try:
        with one_blas_thread():  # the order of additions must not vary
            return {"result": compute_cell(cell)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def compute_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """Draw, judge, learn, test.

    Parameters
    ----------
    cell : dict
        As :func:`cell_of` writes it.

    Returns
    -------
    dict
        ``precision``; ``similarity``, ``identifiable`` and ``offset`` similarity;
        ``gains`` and ``discounts``, mapped on the truth's, and their ``_correlation``
        (where the truth is a DCG); ``chosen_C``; ``draws`` and ``drawn``; and
        ``precision:PRESET`` for each preset it is measured against.

    Raises
    ------
    InputError
        If the setting does not make sense.
    SolverError
        If an optimum is not confirmed.

    Examples
    --------
    >>> round(compute_cell({"seed": 1, "repetition": 0, "test_pairs": 100})["precision"], 2)
    0.95
    """
    setting = _setting(cell)
    check_setting(setting)
    truth = truth_of(setting, rng_for(cell, "truth"))
    noise, bias = _judge(_only(cell, "calibration", _JUDGE))
    judge = (rng_for(cell, "judge"), noise, bias) if noise or bias else None
    train, draws, drawn = strict_pairs(
        setting, setting.lists, setting.pairs, truth, rng_for(cell, "training"), judge
    )
    if setting.flips or setting.wrong_grades:
        train = _with_errors(setting, train, rng_for(cell, "errors"))
    problem, solution = _learn(setting, train, cell)
    W = solution.W
    tests = _only(cell, "test", (*_TRUTH, "test_pairs"))
    tested = _dcg(problem, solution) if setting.learner == "qp-dcg" else LinearUtility(W)
    true_W = truth.matrix_for(setting.n_ranks)
    return {
        "precision": agreement(tested, _pairs(tests)),
        "similarity": similarity(true_W, W),
        "identifiable": identifiable_similarity(true_W, W),
        "offset": offset_similarity(true_W, W),
        **_parameters(truth, problem, solution),
        "chosen_C": problem.C,
        "draws": draws,
        "drawn": drawn,
        **{f"precision:{name}": _precision_of(name, tests) for name in setting.against},
    }


def _setting(cell: dict[str, Any]) -> Setting:
    return Setting(**{k: v for k, v in cell.items() if k not in ("seed", "repetition")})


def _only(cell: dict[str, Any], name: str, more: tuple[str, ...]) -> str:
    """Write down the part of a cell that a stream, and `more`, depend on: what is cached by."""
    kept = {"seed", "repetition", *AXES[name], *AXES["truth"], *more} & cell.keys()
    return json.dumps([name, {key: cell[key] for key in sorted(kept)}])


@lru_cache(32)
def _pairs(part: str) -> Pairs:
    """Draw the exact pairs of a stream; neighbouring cells of a grid share them."""
    name, cell = json.loads(part)
    setting = _setting(cell)
    truth = truth_of(setting, rng_for(cell, "truth"))
    lists, n = setting.lists, setting.validation_pairs
    if name == "test":
        lists, n = lists_to_test_on(setting), setting.test_pairs
    pairs, _, _ = strict_pairs(setting, lists, n, truth, rng_for(cell, name))
    by_rank = np.ascontiguousarray(pairs.transpose(1, 2, 0)).transpose(2, 0, 1)  # read faster
    by_rank.flags.writeable = False
    return by_rank


@lru_cache(256)
def _precision_of(name: str, tests: str) -> float:
    """Return a preset's precision on test pairs."""
    setting = _setting(json.loads(tests)[1])
    return agreement(preset(name, grade_scale(setting.grades), setting.n_ranks), _pairs(tests))


@lru_cache(32)
def _judge(part: str) -> tuple[float, float]:
    """Return the noise and the bias of the judge."""
    name, cell = json.loads(part)
    setting = _setting(cell)
    return judge_of(setting, truth_of(setting, rng_for(cell, "truth")), rng_for(cell, name))


def _with_errors(setting: Setting, pairs: Pairs, rng: np.random.Generator) -> Pairs:
    """Turn preferences round, then replace grades."""
    if setting.flips:
        pairs = flip_pairs(pairs, setting.flips, rng)
    if setting.wrong_grades:
        pairs = misgrade_pairs(pairs, setting.wrong_grades, setting.grades, rng)
    return pairs


def _learn(setting: Setting, train: Pairs, cell: dict[str, Any]) -> tuple[Problem, Solution]:
    """Return the problem and its optimum, C given, or that which agrees best with exact pairs."""
    C = 1.0 if setting.C == "validation" else setting.C
    L, ordered = setting.grades, not setting.documents
    if setting.documents:
        L = setting.n_ranks
    problem = Problem.of(train, L, setting.margin, C=C, monotone=ordered)
    if setting.C != "validation":
        return problem, solve(problem)
    held_out = _pairs(_only(cell, "validation", (*_TRUTH, "validation_pairs")))
    found = []
    for C, solution in zip(setting.C_grid, solve_path(problem, setting.C_grid), strict=True):
        here = problem.with_C(C)
        as_dcg = setting.learner == "qp-dcg"
        tested = _dcg(here, solution) if as_dcg else LinearUtility(solution.W)
        found.append((agreement(tested, held_out), here, solution))
    best = int(np.argmax([score for score, _, _ in found]))
    return found[best][1:]


def _dcg(problem: Problem, solution: Solution) -> DCG:
    factors = factors_of(problem, solution)
    return DCG(factors.gains, factors.discounts)


def _parameters(truth: Measure, problem: Problem, solution: Solution) -> dict[str, Any]:
    """Return learned gains and discounts on the truth's scale, where the truth has such."""
    if not isinstance(truth, DCG):
        return {}
    factors = factors_of(problem, solution)
    c = truth.discounts_for(problem.shape[0])
    gains = align_to_truth(factors.gains, truth.gains)
    discounts = align_to_truth(factors.discounts, c, is_order(factors.gauge))
    return {
        "gains": gains.tolist(),
        "gains_correlation": _correlation(factors.gains, np.array(truth.gains)),
        "discounts": discounts.tolist(),
        "discounts_correlation": _correlation(factors.discounts, c),
    }


def _correlation(a: Floats, b: Floats) -> float:
    """Return |r|; 0 where one of them is constant."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return abs(float(a @ b)) / size if size else 0.0


def _hash(content: object) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).digest()
