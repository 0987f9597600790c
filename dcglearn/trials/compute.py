"""Computing a cell: draw lists, judge them, learn from the judgments, test what was learned.

The result is a pure function of the cell (and of the table of queries and the code whose hashes it
holds): the same in any process and in any order. This is all that workers run.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dcglearn.axes.decorators import CellData
from dcglearn.axes.own_code import Code, program_of
from dcglearn.axes.registry import JUDGMENT_MODEL, SHIPPED, STUDY, Entry, Registry
from dcglearn.axes.success import SHIPPED_RESULTS
from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.threads import one_blas_thread
from dcglearn.design.cells import QueryTable, rng_for, setting_of
from dcglearn.design.own_functions import OwnCodeError, OwnFunctions, read_only
from dcglearn.design.setting import Setting, check_setting
from dcglearn.measures.measure import Measure
from dcglearn.trials.certainty_cells import certainty
from dcglearn.trials.conclusion_cells import conclusions
from dcglearn.trials.draws import (
    exact_pairs,
    margin_correlation,
    preset_precision,
    training_lists,
    true_measure,
)
from dcglearn.trials.similarity import identifiable_similarity, offset_similarity, similarity
from dcglearn.trials.training import training_of

FRAMES = 8
"""Innermost frames of a traceback that are kept."""


@dataclass(frozen=True)
class CellComputer:
    """What workers are sent: :func:`run_cell` with the queries and the code of an experiment.

    Attributes
    ----------
    queries : list of list of int, optional
    codes : tuple of FileCode or PackageCode
    """

    queries: QueryTable | None = None
    codes: tuple[Code, ...] = ()

    def __call__(self, cell: dict[str, Any]) -> dict[str, Any]:
        """Compute a cell without ever raising an error."""
        return run_cell(cell, self.queries, self.codes)

    def program(self) -> dict[str, str]:
        """Return what the code uses of this process (see :mod:`dcglearn.base.fingerprint`)."""
        return program_of(self.codes)


def run_cell(
    cell: dict[str, Any], queries: QueryTable | None = None, codes: Sequence[Code] = ()
) -> dict[str, Any]:
    """Compute a cell without ever raising an error.

    Parameters
    ----------
    cell : dict
    queries : list of list of int, optional
        The table of queries that the cell refers to.
    codes : sequence of FileCode or PackageCode
        The functions of one's own that the cell refers to; there may be others.

    Returns
    -------
    dict
        ``result``, as :func:`compute_cell` returns it; or ``error``, in one line, with a
        ``traceback`` if the error is a bug: neither an InputError, a SolverError nor an error in
        a function of one's own.
    """
    try:
        with one_blas_thread():  # the order of additions must not vary
            return {"result": compute_cell(cell, queries, codes)}
    except OwnCodeError as error:
        return {"error": str(error)}
    except (InputError, SolverError) as error:
        return {"error": _one_line(error)}
    except Exception as error:
        return {"error": _one_line(error), "traceback": _short_traceback(error)}


def compute_cell(
    cell: dict[str, Any], queries: QueryTable | None = None, codes: Sequence[Code] = ()
) -> dict[str, Any]:
    """Compute the result of a cell.

    Parameters
    ----------
    cell : dict
        As :func:`dcglearn.design.cells.cell_of` describes it.
    queries : list of list of int, optional
        The table of queries that the cell refers to.
    codes : sequence of FileCode or PackageCode
        The functions of one's own that the cell refers to; there may be others.

    Returns
    -------
    dict
        Those of :data:`dcglearn.design.columns.LEARNED_COLUMNS` that there are, such as a chosen C
        if the learner is one of this package; and the results that the cell names: gains and
        discounts if the truth is a DCG. For a model of the judgment, what
        :func:`~dcglearn.trials.certainty_cells.certainty` returns; of a study,
        :func:`~dcglearn.trials.conclusion_cells.conclusions`.

    Raises
    ------
    InputError
        If the setting does not make sense, or a table of queries or code is missing.
    OwnCodeError
        If a function of one's own fails.
    SolverError
        If an optimum is not confirmed.

    Examples
    --------
    >>> round(compute_cell({"seed": 1, "repetition": 0, "test_pairs": 100})["precision"], 2)
    0.95
    """
    cell, own = _with_queries(cell, queries), _own_functions(cell, codes)
    setting = _setting_of(cell, own)
    if setting.learner == STUDY:
        return dict(conclusions(setting.design, setting.pairs, rng_for(cell, "judge")))
    truth = true_measure(cell, own)
    if setting.learner == JUDGMENT_MODEL:
        drawn = None if setting.clusters else training_lists(cell, own, setting.pairs)
        rngs = rng_for(cell, "training"), rng_for(cell, "judge")
        return certainty(setting, truth, *rngs, own, drawn)
    training = training_of(cell, own, setting)
    learned, fitted = training.measure, training.fit
    exact = exact_pairs(cell, own, "test")
    W = learned.matrix_for(setting.n_ranks) if fitted is None else fitted.weights
    true_W = truth.matrix_for(setting.n_ranks)
    correlation = margin_correlation(cell, own, setting)
    data = CellData(setting, read_only(training.pairs), exact.pairs, fitted)
    return {
        "precision": exact.agreement(learned),
        "similarity": similarity(true_W, W),
        "identifiable": identifiable_similarity(true_W, W),
        "offset": offset_similarity(true_W, W),
        **({} if correlation is None else {"margin_correlation": correlation}),
        **({} if fitted is None else {"chosen_C": fitted.problem.C}),
        "draws": training.draws,
        "drawn": training.drawn,
        **{f"precision:{name}": preset_precision(name, cell, own) for name in setting.against},
        **_results(cell, truth, learned, data, own),
    }


def _own_functions(cell: dict[str, Any], codes: Sequence[Code]) -> OwnFunctions:
    """Return the functions that a cell names; their hashes must be those of the cell."""
    found = {f"{code.axis} {code.name}": code for code in codes}
    for name, identity in cell.get("code", {}).items():
        if name not in found or found[name].identity != identity:
            raise InputError(f"the code of the {name} is missing", "pass it as `codes`", "code")
    return OwnFunctions(tuple(found[name] for name in sorted(cell.get("code", {}))))


def _setting_of(cell: dict[str, Any], own: OwnFunctions) -> Setting:
    """Return the setting of a cell, checked; that of every repetition is the same."""
    shared = {key: value for key, value in cell.items() if key not in ("seed", "repetition")}
    return _checked_setting(json.dumps(shared), own)


@lru_cache(256)
def _checked_setting(shared: str, own: OwnFunctions) -> Setting:
    setting = setting_of(json.loads(shared))
    check_setting(setting, _registry_of(own))
    return setting


def _registry_of(own: OwnFunctions) -> Registry:
    """Return the names that a cell may use."""
    return _joined(own.codes) if own.codes else SHIPPED


@lru_cache(64)
def _joined(codes: tuple[Code, ...]) -> Registry:
    return SHIPPED.joined(Entry(code.axis, code.name, code=code) for code in codes)


def _results(
    cell: dict[str, Any], truth: Measure, learned: Measure, data: CellData, own: OwnFunctions
) -> dict[str, float | list[float]]:
    """Return the results that a cell names, as far as there are any."""
    results = {}
    for name in cell.get("columns", ()):
        found = own.result(name, truth, learned, data)
        if found is None:
            found = SHIPPED_RESULTS[name](truth, learned, data)
        if found is not None:
            results[name] = found
    return results


def _with_queries(cell: dict[str, Any], queries: QueryTable | None) -> dict[str, Any]:
    """Put the table of queries in place of its hash: its content seeds the generators."""
    if queries is not None and "queries" in cell:
        return {**cell, "queries": queries}
    if isinstance(cell.get("queries"), str):
        raise InputError("the table of queries is missing", "pass it as `queries`", "queries")
    return cell


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
