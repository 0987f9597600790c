"""A measure for another tool, as text to paste or save: tools, plain data, and PyTorch.

Notes say what the tool computes differently. A measure that it would silently compute wrongly is
refused. PyTorch has no nDCG, so its text is complete and does not import this package.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcglearn.base.errors import InputError, check_name
from dcglearn.interop.tools import (
    ITSELF,
    Text,
    labelled_dcg,
    numeric_labels,
    to_ir_measures,
    to_lightgbm,
    to_pyterrier,
    to_ranx,
    to_scikit_learn,
    to_trec_eval,
    to_xgboost,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import DISCOUNT_RULES, split_parameter
from dcglearn.measures.measure import Measure, as_json
from dcglearn.measures.names import MeasureLike, as_measure, parse_measure
from dcglearn.measures.scale import Label, as_scale
from dcglearn.measures.utility import LinearUtility

DISCOUNT_TEXT = {
    "log2": "1 / math.log2(rank + 1)",
    "jk": "1 / max(1.0, math.log(rank) / math.log({n}))",
    "zipf": "1 / rank",
    "linear": "max(0.0, ({n} + 1 - rank) / {n})",
    "constant": "1.0",
    "rbp": "(1 - {n}) * {n} ** (rank - 1)",
}


def to_torch(measure: DCG) -> Text:
    """Return the text of a module that computes the measure on PyTorch tensors or NumPy arrays."""
    notes = ["Lists lie along the last axis; documents with equal scores keep their order."]
    if isinstance(measure.discounts, str):
        name, number = split_parameter(measure.discounts)
        at, listed, rising = DISCOUNT_TEXT[name].format(n=number), "", False
    else:
        discounts = measure.discounts[: measure.n_ranks]
        at, listed = "DISCOUNTS[rank - 1]", f"DISCOUNTS = {list(discounts)}\n"
        rising = bool((np.diff(discounts, append=0.0) > 0).any())
    if measure.normalise and (rising or min(measure.gains) < 0):
        raise InputError(
            "the text for PyTorch sorts by gain for its ideal, which is wrong for gains below 0 "
            "and for discounts that increase or end below 0",
            ITSELF,
        )
    labels = numeric_labels(measure)
    if labels != measure.labels:
        pairs = ", ".join(f"{name} is {n}" for name, n in zip(measure.labels, labels, strict=True))
        notes.append(f"Labels are numbers: {pairs}.")
    padding = "math.nan" if -1 in labels else "-1"
    if padding == "-1":
        notes.append("The label -1 means no document: use it to pad short lists.")
    if measure.n_ranks is not None:
        at += f" if rank <= {measure.n_ranks} else 0.0"
    text = _TORCH.format(
        measure=measure,
        gains=dict(zip(labels, measure.gains, strict=True)),
        discounts=listed,
        padding=padding,
        at=at,
        ideal=_IDEAL if measure.normalise else "    return found\n",
    )
    return text, notes


_TORCH = '''\
# {measure}
"""A measure on PyTorch tensors and NumPy arrays."""

import math

import numpy as np

GAINS = {gains}
{discounts}PADDING = {padding}


def discount(rank):
    """Return what a rank counts, 1 for the first."""
    return {at}


def gains(labels):
    """Return the gain of each label, 0 for padding, in 64 bits."""
    found = labels.double() * 0 if _is_torch(labels) else np.zeros(np.shape(labels))
    known = labels == PADDING
    for label, gain in GAINS.items():
        here = labels == label
        found = _filled(found, here, gain)
        known = known | here
    if not known.all():
        raise ValueError("a label has no gain")
    return found


def measure(scores, labels):
    """Return the value of each list; both of shape (..., documents)."""
    if _is_torch(labels):
        scores = scores.double()
    else:
        scores, labels = np.asarray(scores, float), np.asarray(labels)
    if bool((scores != scores).any()):
        raise ValueError("a score is not a number")
    ranked = gains(_padding_last(_by_score(scores, labels)))
    discounts = [discount(rank) for rank in range(1, ranked.shape[-1] + 1)]
    discounts = ranked.new_tensor(discounts) if _is_torch(ranked) else np.array(discounts)
    found = (ranked * discounts).sum(-1)
{ideal}

def _is_torch(values):
    return hasattr(values, "masked_fill")


def _filled(values, where, value):
    if _is_torch(values):
        return values.masked_fill(where, value)
    return np.where(where, value, values)


def _by_score(scores, labels):
    if _is_torch(labels):
        return labels.gather(-1, scores.argsort(stable=True, dim=-1, descending=True))
    return np.take_along_axis(labels, np.argsort(-scores, axis=-1, kind="stable"), -1)


def _padding_last(labels):
    if _is_torch(labels):
        return labels.gather(-1, (labels == PADDING).byte().argsort(stable=True, dim=-1))
    return np.take_along_axis(labels, np.argsort(labels == PADDING, axis=-1, kind="stable"), -1)
'''

_IDEAL = """\
    best = -(-ranked).sort(-1).values if _is_torch(ranked) else -np.sort(-ranked)
    ideal = (best * discounts).sum(-1)
    return found / _filled(ideal, ideal == 0, 1.0)  # 0 where nothing gains
"""


TOOLS: dict[str, Callable[[DCG], Text]] = {
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


@dataclass(frozen=True)
class Export:
    """Text for another tool, and notes on what that computes differently."""

    text: str
    notes: tuple[str, ...]


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
    if isinstance(measure, str | os.PathLike):
        measure = parse_measure(os.fspath(measure), scale, n_ranks)
    measure = as_measure(measure)
    if scale is not None:
        measure = replace(measure, grades=scale.labels)
    if to in DATA_FORMATS:
        text, notes = _as_data(measure, to, n_ranks)
    elif isinstance(measure, LinearUtility):
        raise InputError(
            f"{to} takes one gain per grade, and the gains of a LinearUtility differ by rank",
            f"export a DCG, or use one of {', '.join(DATA_FORMATS)}",
        )
    else:
        text, notes = TOOLS[to](labelled_dcg(measure))
        if measure.n_ranks != measure.cutoff:
            ended = f"The discounts end at rank {measure.n_ranks}: lower ranks do not count."
            notes.insert(0, ended)
    return Export(text, tuple(notes))


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


def _as_data(measure: Measure, to: str, n_ranks: int) -> Text:
    """Return JSON, or CSV with one row per rank and grade; a DCG weighs discount times gain."""
    notes = list[str]()
    if isinstance(measure, DCG):
        measure = labelled_dcg(measure)
    if measure.n_ranks is None:
        notes.append(f"The rule has no last rank; its first {n_ranks} discounts are listed.")
    if to == "pandas":
        import pandas as pd

        notes.append("Read it with pandas.read_csv.")
        if isinstance(measure, DCG) and measure.normalise is not None:
            notes.append("Weights are those of the plain DCG: divide their sum by the ideal.")
        W = measure.matrix_for(measure.n_ranks or n_ranks)
        ranks = pd.DataFrame({"rank": range(1, len(W) + 1)})
        grades = pd.DataFrame({"grade": measure.labels})
        if isinstance(measure, DCG):
            ranks["discount"], grades["gain"] = measure.discounts_for(len(W)), measure.gains
        table = ranks.merge(grades, how="cross").assign(weight=W.ravel())
        return str(table.to_csv(index=False, lineterminator="\n")), notes
    return as_json(plain_data(measure, n_ranks)), notes
