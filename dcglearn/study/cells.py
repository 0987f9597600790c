"""A cell: one setting, one repetition, one result; a pure function of a JSON-able dict.

What a cell draws comes from streams that are seeded by named axes only (:data:`AXES`), not
by the cell's place in a grid. So two cells that differ in the margin, in C, in the number of
pairs or of errors, or in the truth, see the same lists; and a grid that grows or is
reordered asks for the same cells again.

A cell is written down by what differs from the defaults, and is known by the hash of that
and of :data:`VERSION`.
"""

from __future__ import annotations

import hashlib
import json
import threading
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from dcglearn.base.errors import InputError, SolverError
from dcglearn.data.preferences import Pairs
from dcglearn.learning.factorise import is_order
from dcglearn.learning.learner import DCGLearner
from dcglearn.learning.solve import solve
from dcglearn.measures.agreement import Measure, agreement
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import Floats
from dcglearn.measures.presets import preset
from dcglearn.measures.utility import LinearUtility
from dcglearn.study.designs import judge_of, lists_to_test_on, strict_pairs, truth_of
from dcglearn.study.evaluate import (
    identifiable_similarity,
    mapped,
    offset_similarity,
    similarity,
)
from dcglearn.study.judges import flipped, misgraded
from dcglearn.study.setting import Setting, check_sense
from dcglearn.study.simulate import grade_scale

VERSION = 1
"""To be raised by hand with every change that changes results; a golden cell watches."""

_LISTS = ("base", "grades", "ranks", "probabilities", "queries")

_ONE_AT_A_TIME = threading.Lock()

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


def cell_of(setting: Setting, seed: int, repetition: int) -> dict[str, Any]:
    """Write a cell down.

    Parameters
    ----------
    setting : Setting
    seed, repetition : int

    Returns
    -------
    dict
        JSON-able: seed, repetition, and what in the setting is not a default.

    Examples
    --------
    >>> cell_of(Setting(flips=5), 1, 0)
    {'seed': 1, 'repetition': 0, 'flips': 5}
    """
    changed = setting.model_dump(exclude_defaults=True)
    return {"seed": seed, "repetition": repetition, **changed}


def key_of(cell: dict[str, Any]) -> str:
    """Return the name under which a cell's result is kept.

    Parameters
    ----------
    cell : dict

    Returns
    -------
    str
        Of the cell and :data:`VERSION`; the order of its entries does not matter.
    """
    return _hash([VERSION, cell]).hex()[:32]


def stream(cell: dict[str, Any], name: str) -> np.random.Generator:
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
    >>> stream(one, "training").random() == stream(other, "training").random()
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
        # The order of additions must not vary. The limit is the whole process's, so cells
        # that a cluster runs in threads take turns.
        with _ONE_AT_A_TIME, _threads().limit(limits=1):
            return {"result": compute(cell)}
    except (InputError, SolverError, ArithmeticError, ValueError, MemoryError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


@cache
def _threads() -> ThreadpoolController:
    """Find the linear algebra's threads once a process: looking takes milliseconds."""
    return ThreadpoolController()


def compute(cell: dict[str, Any]) -> dict[str, Any]:
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
    >>> round(compute({"seed": 1, "repetition": 0, "test_pairs": 100})["precision"], 2)
    0.95
    """
    setting = Setting(**{k: v for k, v in cell.items() if k not in ("seed", "repetition")})
    check_sense(setting)
    truth = truth_of(setting, stream(cell, "truth"))
    judge = judge_of(setting, truth, stream(cell, "calibration"), stream(cell, "judge"))
    train, draws, drawn = strict_pairs(
        setting, setting.lists, setting.pairs, truth, stream(cell, "training"), judge
    )
    train = _with_errors(setting, train, stream(cell, "errors"))
    learner = _learn(setting, train, stream(cell, "validation"), truth)
    test, _, _ = strict_pairs(
        setting, lists_to_test_on(setting), setting.test_pairs, truth, stream(cell, "test")
    )
    W, true_W = learner.weights_, truth.matrix_for(setting.n_ranks)
    tested = learner.dcg_ if setting.learner == "qp-dcg" else learner.utility_
    scale = grade_scale(setting.grades)
    return {
        "precision": agreement(tested, test),
        "similarity": similarity(true_W, W),
        "identifiable": identifiable_similarity(true_W, W),
        "offset": offset_similarity(true_W, W),
        **_parameters(truth, learner, setting.n_ranks),
        "chosen_C": learner.C,
        "draws": draws,
        "drawn": drawn,
        **{
            f"precision:{name}": agreement(preset(name, scale, setting.n_ranks), test)
            for name in setting.against
        },
    }


def _with_errors(setting: Setting, pairs: Pairs, rng: np.random.Generator) -> Pairs:
    """Turn preferences round, then replace grades."""
    if setting.flips:
        pairs = flipped(pairs, setting.flips, rng)
    if setting.wrong_grades:
        pairs = misgraded(pairs, setting.wrong_grades, setting.grades, rng)
    return pairs


def _learn(setting: Setting, train: Pairs, rng: np.random.Generator, truth: Measure) -> DCGLearner:
    """Learn with the C that is given, or that agrees best with independent exact pairs."""
    learner = DCGLearner(
        encoding="documents" if setting.documents else "grades",
        margin=setting.margin,
        C=1.0,
        n_grades=None if setting.documents else setting.grades,
    )
    if setting.C != "validation":
        learner.set_params(C=setting.C)
        return learner.fit(train)
    held_out, _, _ = strict_pairs(setting, setting.lists, setting.validation_pairs, truth, rng)
    scores = []
    for C in setting.C_grid:
        W = solve(learner.set_params(C=C).problem(train)).W
        scores.append(agreement(LinearUtility(W), held_out))
    learner.set_params(C=setting.C_grid[int(np.argmax(scores))])
    return learner.fit(train)


def _parameters(truth: Measure, learner: DCGLearner, n_ranks: int) -> dict[str, Any]:
    """Return learned gains and discounts on the truth's scale, where the truth has such."""
    if not isinstance(truth, DCG):
        return {}
    factors = learner.factors_
    c = truth.discounts_for(n_ranks)
    gains = mapped(factors.gains, truth.gains)
    discounts = mapped(factors.discounts, c, is_order(factors.gauge))
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
