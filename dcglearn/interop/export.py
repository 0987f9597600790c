"""A measure for another tool, as text to paste or save.

Notes say what the tool computes differently. A measure that it would silently compute wrongly is
refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, check_name
from dcglearn.interop.tensors import to_torch
from dcglearn.interop.tools import (
    Export,
    to_ir_measures,
    to_lightgbm,
    to_pyterrier,
    to_ranx,
    to_scikit_learn,
    to_trec_eval,
    to_xgboost,
    with_labels,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import DISCOUNT_RULES, split_parameter
from dcglearn.measures.measure import Measure
from dcglearn.measures.measure_files import as_json
from dcglearn.measures.names import MeasureLike, as_measure, states_its_grades
from dcglearn.measures.scale import Label, as_scale
from dcglearn.measures.utility import LinearUtility

TOOLS: dict[str, Callable[[DCG], Export]] = {
    "trec_eval": to_trec_eval,
    "ir_measures": to_ir_measures,
    "pyterrier": to_pyterrier,
    "ranx": to_ranx,
    "scikit-learn": to_scikit_learn,
    "lightgbm": to_lightgbm,
    "xgboost": to_xgboost,
    "torch": to_torch,
}

DATA_FORMATS = ("pandas", "json")
"""Plain numbers, also of a LinearUtility."""

TARGETS = (*TOOLS, *DATA_FORMATS)


def export(
    measure: MeasureLike, to: str, labels: Sequence[Label] | None = None, n_ranks: int = 10
) -> Export:
    """Return a measure as text for another tool.

    Parameters
    ----------
    measure : DCG, LinearUtility, MeasureFile, or its name
        A preset needs `labels`.
    to : str
        One of `TARGETS`. A LinearUtility, whose gains differ by rank, can only be exported to
        pandas and json.
    labels : sequence of labels, optional
        The labels of the grades in the tool's data, best first. By default the measure's grades,
        or L - 1, ..., 0.
    n_ranks : int, default 10
        Number of discounts to list if a rule of discounts has no last rank.

    Returns
    -------
    Export

    Examples
    --------
    >>> print(export(DCG([7, 3, 1, 0]), "trec_eval").text)
    trec_eval -m ndcg.0=0,1=1,2=3,3=7 QRELS RUN
    """
    check_name(to, "target", TARGETS)
    scale = as_scale(labels)
    checked_count(n_ranks, "`n_ranks`")
    in_full = isinstance(measure, str | os.PathLike) and states_its_grades(os.fspath(measure))
    measure = as_measure(measure, None if in_full else scale, n_ranks)
    if scale is not None:
        measure = replace(measure, grades=scale.labels)
    if isinstance(measure, LinearUtility):
        if to in TOOLS:
            raise InputError(
                f"{to} takes one gain per grade, and the gains of a LinearUtility differ by rank",
                f"export a DCG, or use one of {', '.join(DATA_FORMATS)}",
            )
        return _as_data(measure, to, n_ranks)
    named = with_labels(measure)
    if to not in TOOLS:
        return _as_data(named, to, n_ranks)
    found = TOOLS[to](named)
    if named.n_ranks == measure.cutoff:
        return found
    ended = f"The discounts end at rank {named.n_ranks}: lower ranks do not count."
    return Export(found.text, (ended, *found.notes))


def plain_data(measure: Measure, n_ranks: int = 10) -> dict[str, object]:
    """Return a measure's numbers as dicts and lists."""
    found: dict[str, object] = {"measure": str(measure), "grades": list(measure.labels)}
    if isinstance(measure, LinearUtility):
        return {**found, "weights": [list(row) for row in measure.weights]}
    rule = measure.discounts if isinstance(measure.discounts, str) else None
    return {
        **found,
        "gains": list(measure.gains),
        "discounts": measure.discounts_for(measure.n_ranks or n_ranks).tolist(),
        "rule": rule,
        "formula": None if rule is None else DISCOUNT_RULES[split_parameter(rule)[0]].formula,
        "cutoff": measure.cutoff,
        "normalise": measure.normalise,
    }


def _as_data(measure: Measure, to: str, n_ranks: int) -> Export:
    notes = []
    if isinstance(measure, DCG) and measure.n_ranks is None:
        notes.append(f"The rule has no last rank; its first {n_ranks} discounts are listed.")
    if to == "pandas":
        notes.append("Read it with pandas.read_csv.")
        if isinstance(measure, DCG) and measure.normalise is not None:
            notes.append("Weights are those of the plain DCG: divide their sum by the ideal.")
        return Export(_csv(measure, n_ranks), tuple(notes))
    return Export(as_json(plain_data(measure, n_ranks)), tuple(notes))


def _csv(measure: Measure, n_ranks: int) -> str:
    """Return one row per rank and grade; the weight of a DCG is discount times gain."""
    import pandas as pd

    W = measure.matrix_for(measure.n_ranks or n_ranks)
    K, L = W.shape
    ranks, grades = np.repeat(np.arange(1, K + 1), L), [*measure.labels] * K
    table = pd.DataFrame({"rank": ranks, "grade": grades, "weight": W.ravel()})
    if isinstance(measure, DCG):
        table.insert(1, "discount", measure.discounts_for(K)[ranks - 1])
        table.insert(3, "gain", np.tile(measure.gains, K))
    return str(table.to_csv(index=False, lineterminator="\n"))
