"""A measure in another tool's terms, as text to paste or save.

``export(measure, to)`` says the same measure to an evaluator, a ranker or a table, with notes
on what differs there, and refuses what the tool would compute wrongly without a word.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.interop.callables import to_pyterrier, to_scikit_learn
from dcglearn.interop.evaluators import to_ir_measures, to_ranx, to_trec_eval
from dcglearn.interop.rankers import to_lightgbm, to_xgboost
from dcglearn.interop.requirements import Export, labels_of, with_labels
from dcglearn.interop.tensors import to_tf_ranking, to_torch
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import DISCOUNT_RULES, split_parameter
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Label
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
    "tf-ranking": to_tf_ranking,
}
"""Who takes a DCG."""

DATA = ("pandas", "python", "json")
"""Plain numbers, of a utility too."""

TARGETS = (*TOOLS, *DATA)


def export(
    measure: Measure, to: str, labels: Sequence[Label] | None = None, n_ranks: int = 10
) -> Export:
    """Return a measure in another tool's terms.

    Parameters
    ----------
    measure : DCG or LinearUtility
    to : str
        One of `TARGETS`. A utility, whose gains differ by rank, goes to pandas, python and
        json alone.
    labels : sequence of labels, optional
        What the tool's data call the grades, best first. By default the measure's grades,
        or L - 1, ..., 0.
    n_ranks : int, default 10
        How many discounts to list as numbers where a rule goes on for ever.

    Returns
    -------
    Export

    Raises
    ------
    InputError
        If there is no such target, or it cannot express the measure.

    Examples
    --------
    >>> print(export(DCG([7, 3, 1, 0]), "trec_eval").text)
    trec_eval -m ndcg.0=0,1=1,2=3,3=7 QRELS RUN
    """
    if to not in TARGETS:
        raise unknown_name("target", to, TARGETS)
    if isinstance(measure, LinearUtility):
        if to in TOOLS:
            raise InputError(
                f"{to} takes a gain a grade, and the gains of a LinearUtility differ by rank",
                f"use its reading as a DCG, or one of {', '.join(DATA)}",
            )
        named: Measure = LinearUtility(
            measure.weights, measure.grades if labels is None else labels
        )
    else:
        named = with_labels(measure, labels)
        if named.n_ranks != measure.cutoff:
            ended = f"The discounts end at rank {named.n_ranks}: nothing below it counts."
        else:
            ended = ""
        if to in TOOLS:
            found = TOOLS[to](named)
            return Export(found.text, (*filter(None, [ended]), *found.notes))
    return _as_data(named, to, n_ranks)


def plain_data(measure: Measure, n_ranks: int = 10) -> dict[str, object]:
    """Return a measure's numbers as dicts and lists.

    Parameters
    ----------
    measure : DCG or LinearUtility
    n_ranks : int, default 10
        How many discounts to list where a rule goes on for ever.

    Returns
    -------
    dict
        Of a DCG: measure (its name), grades (best first), gains, discounts (by rank), rule
        and formula (or None), cutoff, normalise. Of a utility: measure, grades, weights.

    Examples
    --------
    >>> plain_data(DCG([1, 0.5, 0], "zipf"), 3)["discounts"]
    [1.0, 0.5, 0.3333333333333333]
    """
    grades: list[Label] = list(measure.grades or range(measure.n_grades)[::-1])
    found: dict[str, object] = {"measure": str(measure), "grades": grades}
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
        notes.append(f"The rule goes on for ever; its first {n_ranks} discounts are listed.")
    if to == "pandas":
        notes.append("Read it with pandas.read_csv; dcglearn.interop.metrics.frames is shorter.")
        if isinstance(measure, DCG) and measure.normalise is not None:
            notes.append(
                "Weights are of the plain DCG: divide their sum by the ideal's."
                if measure.normalise == "ideal"
                else "Weights are of the plain DCG: the least sum comes off theirs and the ideal's."
            )
        return Export(_csv(measure, n_ranks), tuple(notes))
    data = plain_data(measure, n_ranks)
    if to == "json":
        rows = (f"  {json.dumps(k)}: {_json(v)}" for k, v in data.items())
        return Export("{\n" + ",\n".join(rows) + "\n}\n", tuple(notes))
    rows = (f"    {key!r}: {value!r},\n" for key, value in data.items())
    return Export("MEASURE = {\n" + "".join(rows) + "}\n", tuple(notes))


def _csv(measure: Measure, n_ranks: int) -> str:
    """Return a row a rank and grade: a DCG's weight is discount times gain."""
    if isinstance(measure, LinearUtility):
        labels = measure.grades or tuple(range(measure.n_grades))[::-1]
        header = ["rank", "grade", "weight"]
        rows = [
            [k, label, repr(weight)]
            for k, row in enumerate(measure.weights, start=1)
            for label, weight in zip(labels, row, strict=True)
        ]
    else:
        header = ["rank", "discount", "grade", "gain", "weight"]
        discounts = measure.discounts_for(measure.n_ranks or n_ranks).tolist()
        rows = [
            [k, repr(c), label, repr(gain), repr(c * gain)]
            for k, c in enumerate(discounts, start=1)
            for label, gain in zip(labels_of(measure), measure.gains, strict=True)
        ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    return text.getvalue()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
