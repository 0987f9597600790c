"""A DCG as text for other tools: evaluators, scikit-learn, PyTerrier, LightGBM and XGBoost.

Tested on the tools: trec_eval, ir_measures and ranx discount by 1 / log2(i + 1), and all but ranx's
``dcg`` divide by the ideal. trec_eval's ``ndcg`` takes gains by level (``-m ndcg.1=3,2=7``), treats
gains that differ by less than 1 as equal, and gives a level that is not named its own number;
``ndcg_cut`` takes no gains, so they are written into the qrels. ir_measures writes whole gains into
the qrels and calls trec_eval. ranx ignores documents that gain less than 1. scikit-learn and
XGBoost (with ``ndcg_exp_gain`` off) take the gains as labels. LightGBM sorts by label for the
ideal, so gains must increase with the label.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from dcglearn.base.errors import InputError
from dcglearn.interop.requirements import (
    ITSELF,
    UNJUDGED_NOTE,
    Export,
    check_ndcg,
    gains_by_label,
    labels_of,
    spread_gains,
    whole_gains,
    whole_labels,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number

_Gain = TypeVar("_Gain", int, str)

_MOST_INT = 2**31 - 1
"""trec_eval compares gains as C ints."""

_MOST_LEVEL = 1_000_000
"""trec_eval counts the documents of every level up to the largest."""

_MOST_LEVEL_UNCUT = 1_000
"""Without a cutoff, its time grows with the square of the number of levels."""

_UNNAMED = "A level of the qrels that is not on the scale gains its own number: check the qrels."
_PYTREC = "pytrec_eval's Python part drops the gains: use trec_eval itself, or ir_measures."
_TREC_TIES = "Documents with equal scores are ordered by id, the largest first."


def to_trec_eval(measure: DCG) -> Export:
    """Return a command of trec_eval."""
    notes = [*check_ndcg(measure, "trec_eval"), _TREC_TIES, UNJUDGED_NOTE]
    if measure.n_ranks is not None:
        return _trec_cut(measure, notes)
    texts = spread_gains(measure, "trec_eval", 1.0, _MOST_INT)
    named = _by_level(measure, texts, "trec_eval")
    between = [level for level in range(1, max(named, default=0)) if level not in named]
    flags = ",".join(
        f"{k}={v}" for k, v in sorted({**dict.fromkeys(between, "0"), **named}.items())
    )
    if between:
        notes.append(f"Levels between those of the scale gain 0: {', '.join(map(str, between))}.")
    return Export(f"trec_eval -m ndcg.{flags} QRELS RUN", (*notes, _UNNAMED, _PYTREC))


def to_ir_measures(measure: DCG) -> Export:
    """Return a measure of ir_measures by name."""
    notes = [*check_ndcg(measure, "ir_measures"), _TREC_TIES, UNJUDGED_NOTE]
    gains = _by_level(measure, _in_qrels(measure, "ir_measures"), "ir_measures")
    inside = ",".join(f"{level}:{gain}" for level, gain in sorted(gains.items()))
    cut = "" if measure.n_ranks is None else f"@{measure.n_ranks}"
    mixed = "ir_measures can mix up this measure and a plain nDCG in one call: compute each alone."
    return Export(f"nDCG(gains={{{inside}}}){cut}", (*notes, _UNNAMED, mixed))


def to_ranx(measure: DCG) -> Export:
    """Return Python text that relabels the qrels for ranx and names the metric."""
    plain = measure.normalise is None
    notes = check_ndcg(measure, "ranx", has_dcg=True)
    cut = "" if measure.n_ranks is None else f"@{measure.n_ranks}"
    metric = "dcg" if plain else "ndcg"
    notes += ["Documents with equal scores keep the order of the run.", UNJUDGED_NOTE]
    whole, factor = whole_gains(measure, "ranx", 2**53)
    if plain and factor != 1:
        notes.append(f"Gains are multiplied by {factor}, and so is every value.")
    text = f'''\
# {measure}
GAINS = {dict(zip(labels_of(measure), whole, strict=True))}


def relabelled(qrels):
    """Return {{query: {{document: label}}}} with gains as labels."""
    return {{
        query: {{document: GAINS[label] for document, label in judged.items()}}
        for query, judged in qrels.items()
    }}


METRIC = "{metric}{cut}"
'''
    return Export(text, tuple(notes))


def _trec_cut(measure: DCG, notes: list[str]) -> Export:
    gains = _in_qrels(measure, "trec_eval's ndcg_cut")
    levels = whole_labels(measure, "trec_eval")
    _by_level(measure, gains, "trec_eval")
    table = "".join(
        f"g[{level}]={gain};" for level, gain in sorted(zip(levels, gains, strict=True))
    )
    text = (
        f"awk 'BEGIN{{{table}}}!($4 in g)"
        '{print "level " $4 " is not on the scale" > "/dev/stderr";exit 1}'
        "{$4=g[$4];print}' QRELS > QRELS.gains &&\n"
        f"trec_eval -m ndcg_cut.{measure.n_ranks} QRELS.gains RUN"
    )
    note = "ndcg_cut takes no gains, so the command writes them into the qrels."
    return Export(text, (*notes, note))


def _in_qrels(measure: DCG, tool: str) -> list[int]:
    """Return whole gains, small enough to be levels themselves, best grade first."""
    most = _MOST_LEVEL_UNCUT if measure.n_ranks is None else _MOST_LEVEL
    return whole_gains(measure, tool, most)[0]


def _by_level(measure: DCG, gains: Iterable[_Gain], tool: str) -> dict[int, _Gain]:
    """Return gains by level of the qrels; levels below 0 gain 0 in trec_eval and are left out."""
    found = dict(zip(whole_labels(measure, tool), gains, strict=True))
    for level, gain in found.items():
        if level < 0 and float(gain):
            raise InputError(
                f"grade {level} gains {gain}, and {tool} treats levels below 0 as unjudged",
                ITSELF,
            )
        if level > _MOST_LEVEL_UNCUT:
            raise InputError(f"grade {level}", f"use levels up to {_MOST_LEVEL_UNCUT}")
    return {level: gain for level, gain in found.items() if level >= 0}


def to_pyterrier(measure: DCG) -> Export:
    """Return Python text with the measure as an object for ``pyterrier.Experiment``."""
    text = f"""\
from dcglearn import DCG
from dcglearn.interop.metrics import ir_measure

measure = ir_measure(DCG.parse({str(measure)!r}))
# pyterrier.Experiment(systems, topics, qrels, eval_metrics=[measure])
"""
    return Export(
        text,
        (
            "dcglearn computes the measure; ir_measures.calc_aggregate([measure], qrels, run) "
            "takes the same object.",
            "Documents with equal scores count the mean over their orders; "
            "ir_measure(..., ties='docid') orders them as trec_eval does.",
            UNJUDGED_NOTE,
        ),
    )


def to_scikit_learn(measure: DCG) -> Export:
    """Return Python text with a metric of true labels and scores."""
    use = "sklearn.metrics.make_scorer takes the metric."
    ties = "Documents with equal scores count the mean over their orders"
    try:
        normalised = measure.normalise is not None
        check_ndcg(measure, "scikit-learn", has_dcg=True, positive=normalised)
    except InputError as why:
        text = f"""\
from dcglearn import DCG
from dcglearn.interop.metrics import sklearn_metric

metric = sklearn_metric(DCG.parse({str(measure)!r}))
"""
        other = f"{ties}; with sklearn_metric(..., ties='input') they keep the order of the input."
        return Export(text, (f"dcglearn computes it: {why.problem}.", other, use))
    table = gains_by_label(measure).items()
    gains = ", ".join(f"{label!r}: {format_number(gain)}" for label, gain in table)
    name = "dcg_score" if measure.normalise is None else "ndcg_score"
    k = "" if measure.n_ranks is None else f", k={measure.n_ranks}"
    text = f'''\
# {measure}
import numpy as np
from sklearn.metrics import {name}

GAINS = {{{gains}}}


def metric(labels, y_score):
    """Return the mean over lists; labels and scores are (lists, documents)."""
    labels = np.atleast_2d(labels)
    y_true = np.array([[GAINS[label] for label in row] for row in labels.tolist()])
    y_score = np.atleast_2d(y_score)
    return {name}(y_true, y_score{k})
'''
    notes = [f"{ties}; with ignore_ties=True they are ordered by position."]
    if name == "ndcg_score":
        notes.append("ndcg_score refuses lists of one document.")
    return Export(text, (*notes, use))


_LIGHTGBM_LONGEST = 10_000
"""LightGBM refuses queries with more documents."""

_XGBOOST_LONGEST = 2**31 - 1
"""A cutoff that covers any group. Without one XGBoost cuts its nDCG at 32."""


def to_lightgbm(measure: DCG) -> Export:
    """Return parameters for LightGBM's lambdarank and ndcg."""
    notes = check_ndcg(measure, "LightGBM", ordered=True)
    gains = ", ".join(format_number(gain) for gain in measure.gains[::-1])
    cut = measure.n_ranks or _LIGHTGBM_LONGEST
    level = "" if measure.n_ranks is None else f'    "lambdarank_truncation_level": {cut},\n'
    labels = {label: len(measure.gains) - 1 - i for i, label in enumerate(labels_of(measure))}
    text = (
        f"# {measure}\nPARAMS = {{\n"
        f'    "objective": "lambdarank",\n    "label_gain": [{gains}],\n'
        f'    "metric": "ndcg",\n    "eval_at": [{cut}],\n{level}}}\n'
        f"LABELS = {labels!r}  # the label of each grade\n"
    )
    if measure.n_ranks is not None:
        notes.append("LightGBM advises a lambdarank_truncation_level a little above eval_at.")
    return Export(
        text,
        (
            *notes,
            "A query without gains counts 1 in LightGBM and 0 in dcglearn.",
            "Documents with equal scores keep the order of the file.",
        ),
    )


def to_xgboost(measure: DCG) -> Export:
    """Return parameters for XGBoost's rank:ndcg and ndcg."""
    notes = check_ndcg(measure, "XGBoost")
    pairs = ""
    if measure.n_ranks is None:
        notes.append(
            f"XGBoost cuts an nDCG without a cutoff at 32, so {_XGBOOST_LONGEST} is written, which "
            "covers every group. Training compares the 32 best-ranked documents with the others; "
            "lambdarank_num_pair_per_sample changes that."
        )
    else:
        pairs = (
            '    "lambdarank_pair_method": "topk",\n'
            f'    "lambdarank_num_pair_per_sample": {measure.n_ranks},\n'
        )
    if any(gain % 1 for gain in measure.gains):
        notes.append("XGBoost before 3.1 refuses labels that are not whole.")
    text = (
        f"# {measure}\nPARAMS = {{\n"
        '    "objective": "rank:ndcg",\n    "ndcg_exp_gain": False,\n'
        f'    "eval_metric": "ndcg@{measure.n_ranks or _XGBOOST_LONGEST}-",\n{pairs}}}\n'
        f"LABELS = {gains_by_label(measure)!r}  # the label of each grade is its gain\n"
    )
    return Export(
        text,
        (
            *notes,
            "XGBoost stores labels as 32-bit floats: values differ from the 7th digit on.",
            "The minus in the metric's name makes a query without gains count 0.",
            "Documents with equal scores keep the order of the file.",
        ),
    )
