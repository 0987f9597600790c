"""A DCG as text for other tools: evaluators, scikit-learn, PyTerrier, LightGBM and XGBoost.

Tested on the tools: trec_eval, ir_measures and ranx discount by 1 / log2(i + 1), and all but ranx's
``dcg`` divide by the ideal. trec_eval's ``ndcg`` takes gains by level (``-m ndcg.1=3,2=7``), treats
gains that differ by less than 1 as equal, and gives a level that is not named its own number;
``ndcg_cut`` takes no gains, so they are written into the qrels. ir_measures writes whole gains into
the qrels and calls trec_eval. ranx ignores documents that gain less than 1. scikit-learn and
XGBoost (with ``ndcg_exp_gain`` off) take the gains as labels. LightGBM sorts by label for the
ideal, so gains must increase with the label.

nDCG does not change when all gains are multiplied by a positive number, so gains are scaled until
they are whole or far enough apart.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.measures.dcg import DCG, cut_text, gains_text
from dcglearn.measures.discounts import format_number, rule_discounts
from dcglearn.measures.names import MeasureLike, as_dcg

ITSELF = "export the measure as an object, which pyterrier and scikit-learn call"

_OBJECTIVE = "train on it with dcglearn.lambdarank_objective(measure), see docs/systems.md"

_TELL_APART = 10
"""Ranks after which no rule equals 1 / log2(i + 1)."""

UNJUDGED_NOTE = "A document without a judgment gains 0."


Text = tuple[str, list[str]]
"""Text for another tool, and notes on what that computes differently."""


def labelled_dcg(measure: MeasureLike) -> DCG:
    """Return a DCG from any of its forms, with labels, and cut where its discounts end."""
    dcg = as_dcg(measure)
    return replace(dcg, cutoff=dcg.n_ranks, grades=dcg.labels)


def numeric_labels(measure: DCG) -> tuple[int | float, ...]:
    """Return the labels of the grades, best first, if all are numbers; otherwise L - 1, ..., 0."""
    numbers = tuple(label for label in measure.labels if not isinstance(label, str))
    return numbers if len(numbers) == measure.n_grades else tuple(range(measure.n_grades))[::-1]


def check_ndcg(measure: DCG, tool: str, ordered: bool = False, has_dcg: bool = False) -> list[str]:
    """Refuse what a tool's nDCG computes differently; return a note on what it divides by."""
    problem = _what_differs(measure, ordered)
    if problem:
        remedy = _OBJECTIVE if tool in ("LightGBM", "XGBoost") else ITSELF
        raise InputError(f"{tool} {problem}", remedy)
    if measure.normalise is None and not has_dcg:
        return [f"{tool} divides each query by its ideal: it reports {measure.normalised()}."]
    return []


def _what_differs(measure: DCG, ordered: bool = False, positive: bool = True) -> str:
    """Say what of a measure a tool's nDCG does not have; nothing if it has all.

    Gains must be 0 or more if `positive`, and increase with the label if `ordered`.
    """
    own = measure.discounts_for(measure.n_ranks or _TELL_APART)
    log2 = rule_discounts("log2", len(own))
    labels, gains = measure.labels, measure.gains
    least = min(gains)
    different = np.flatnonzero(np.abs(own - log2) > 1e-12)
    rising = np.flatnonzero(np.diff(gains) > 0)
    if len(different):
        rank = different[0]
        return (
            f"discounts only by 1/log2(i + 1), which is {log2[rank]:.4g} at rank {rank + 1}, and "
            f"this measure has {own[rank]:.4g} there"
        )
    if positive and least < 0:
        worst = f"grade {labels[gains.index(least)]!r} gains {format_number(least)}"
        return f"takes only gains of 0 or more, and {worst}"
    if ordered and len(rising):
        better = rising[0]
        return (
            "assumes for its ideal that gains increase with the label, and grade "
            f"{labels[better + 1]!r} gains {format_number(gains[better + 1])}, more than the "
            f"better {labels[better]!r}"
        )
    return ""


def whole_gains(measure: DCG, tool: str, most: int) -> tuple[list[int], Fraction]:
    """Scale the gains, as decimals, to the smallest whole numbers; return the factor, too."""
    exact = [Fraction(repr(gain)) for gain in measure.gains]
    factor = Fraction(math.lcm(*(gain.denominator for gain in exact)))
    factor /= math.gcd(*(int(gain * factor) for gain in exact)) or 1
    whole = [int(gain * factor) for gain in exact]
    if max(whole) > most:
        raise InputError(
            f"{tool} takes whole gains up to {most}, and the gains "
            f"{', '.join(map(format_number, measure.gains))} become whole only as "
            f"{', '.join(map(str, whole))}",
            f"round them, or {ITSELF}",
        )
    return whole, factor


_MOST_INT = 2**31 - 1
"""trec_eval compares gains as C ints."""


def _spread_gains(measure: DCG) -> list[str]:
    """Scale the gains by a power of ten until distinct gains, and 0, differ by 1 at least."""
    exact = [Fraction(repr(gain)) for gain in measure.gains]
    scale = Fraction(1)
    while max(exact) * scale <= _MOST_INT:
        texts = [format_number(float(gain * scale)) for gain in exact]
        values = sorted({0.0, *map(float, texts)})
        if all(b - a >= 1 for a, b in pairwise(values)):
            return texts
        scale *= 10
    raise InputError(
        "trec_eval treats gains that differ by less than 1 as equal, and the gains "
        f"{', '.join(map(format_number, measure.gains))} differ by that much only when scaled "
        f"beyond {_MOST_INT:g}",
        f"round them, or {ITSELF}",
    )


_MOST_LEVEL = 1_000_000
"""trec_eval counts the documents of every level up to the largest."""

_MOST_LEVEL_UNCUT = 1_000
"""Without a cutoff, its time grows with the square of the number of levels."""

_UNNAMED = "A level of the qrels that is not on the scale gains its own number: check the qrels."
_PYTREC = "pytrec_eval's Python part drops the gains: use trec_eval itself, or ir_measures."
_TREC_TIES = "Documents with equal scores are ordered by id, the largest first."


def to_trec_eval(measure: DCG) -> Text:
    """Return a command of trec_eval."""
    notes = [*check_ndcg(measure, "trec_eval"), _TREC_TIES, UNJUDGED_NOTE]
    if measure.n_ranks is not None:
        gains = whole_gains(measure, "trec_eval's ndcg_cut", _MOST_LEVEL)[0]
        cells = sorted(_by_level(measure, gains).items())
        table = "".join(f"g[{level}]={gain};" for level, gain in cells)
        text = (
            f"awk 'BEGIN{{{table}}}!($4 in g)"
            '{print "level " $4 " is not on the scale" > "/dev/stderr";exit 1}'
            "{$4=g[$4];print}' QRELS > QRELS.gains &&\n"
            f"trec_eval -m ndcg_cut.{measure.n_ranks} QRELS.gains RUN"
        )
        note = "ndcg_cut takes no gains, so the command writes them into the qrels."
        return text, [*notes, note]
    named = _by_level(measure, _spread_gains(measure))
    levels = range(0 if 0 in named else 1, max(named) + 1)
    flags = ",".join(f"{level}={named.get(level, '0')}" for level in levels)
    between = [level for level in levels if level not in named]
    if between:
        notes.append(f"Levels between those of the scale gain 0: {', '.join(map(str, between))}.")
    return f"trec_eval -m ndcg.{flags} QRELS RUN", [*notes, _UNNAMED, _PYTREC]


def to_ir_measures(measure: DCG) -> Text:
    """Return a measure of ir_measures by name."""
    notes = [*check_ndcg(measure, "ir_measures"), _TREC_TIES, UNJUDGED_NOTE]
    most = _MOST_LEVEL_UNCUT if measure.n_ranks is None else _MOST_LEVEL
    gains = _by_level(measure, whole_gains(measure, "ir_measures", most)[0])
    inside = ",".join(f"{level}:{gain}" for level, gain in sorted(gains.items()) if level >= 0)
    mixed = "ir_measures can mix up this measure and a plain nDCG in one call: compute each alone."
    name = f"nDCG(gains={{{inside}}})" + cut_text(measure.n_ranks, "@")
    return name, [*notes, _UNNAMED, mixed]


def to_ranx(measure: DCG) -> Text:
    """Return Python text that relabels the qrels for ranx and names the metric."""
    notes = check_ndcg(measure, "ranx", has_dcg=True)
    notes += ["Documents with equal scores keep the order of the run.", UNJUDGED_NOTE]
    whole, factor = whole_gains(measure, "ranx", 2**53)
    if measure.normalise is None and factor != 1:
        notes.append(f"Gains are multiplied by {factor}, and so is every value.")
    text = f'''\
# {measure}
GAINS = {dict(zip(measure.labels, whole, strict=True))}


def relabelled(qrels):
    """Return {{query: {{document: label}}}} with gains as labels."""
    return {{
        query: {{document: GAINS[label] for document, label in judged.items()}}
        for query, judged in qrels.items()
    }}


METRIC = "{measure.form.lower()}{cut_text(measure.n_ranks, "@")}"
'''
    return text, notes


def _by_level(measure: DCG, gains: Sequence[object]) -> dict[int, str]:
    """Return gains by level of the qrels; levels below 0 gain 0, as in trec_eval."""
    found = {}
    for level, gain in zip(measure.labels, map(str, gains), strict=True):
        if not isinstance(level, int):
            raise InputError(
                f"grade {level!r} is not a whole number, and the levels of qrels are",
                "give the level of each grade, best first, such as `labels=(2, 1, 0)`",
            )
        if level < 0 and float(gain):
            problem = f"grade {level} gains {gain}, and levels below 0 are unjudged in trec_eval"
            raise InputError(problem, ITSELF)
        if level > _MOST_LEVEL_UNCUT:
            raise InputError(f"grade {level}", f"use levels up to {_MOST_LEVEL_UNCUT}")
        found[level] = gain
    return found


def to_pyterrier(measure: DCG) -> Text:
    """Return Python text with the measure as an object for ``pyterrier.Experiment``."""
    text = f"""\
from dcglearn import DCG
from dcglearn.interop.metrics import ir_measure

measure = ir_measure(DCG.parse({str(measure)!r}))
# pyterrier.Experiment(systems, topics, qrels, eval_metrics=[measure])
"""
    return text, [
        "dcglearn computes the measure; ir_measures.calc_aggregate([measure], qrels, run) "
        "takes the same object.",
        "Documents with equal scores count the mean over their orders; "
        "ir_measure(..., ties='docid') orders them as trec_eval does.",
        UNJUDGED_NOTE,
    ]


def to_scikit_learn(measure: DCG) -> Text:
    """Return Python text with a metric of true labels and scores."""
    use = "sklearn.metrics.make_scorer takes the metric."
    ties = "Documents with equal scores count the mean over their orders"
    differs = _what_differs(measure, positive=measure.normalise is not None)
    if differs:
        text = f"""\
from dcglearn import DCG
from dcglearn.interop.metrics import sklearn_metric

metric = sklearn_metric(DCG.parse({str(measure)!r}))
"""
        other = f"{ties}; with sklearn_metric(..., ties='input') they keep the order of the input."
        return text, [f"dcglearn computes it: scikit-learn {differs}.", other, use]
    name = f"{measure.form.lower()}_score"
    k = cut_text(measure.n_ranks, ", k=")
    text = f'''\
# {measure}
import numpy as np
from sklearn.metrics import {name}

GAINS = {gains_text(measure.gains, measure.labels)}


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
    return text, [*notes, use]


_LIGHTGBM_LONGEST = 10_000
"""LightGBM refuses queries with more documents."""

_XGBOOST_LONGEST = _MOST_INT
"""A cutoff that covers any group. Without one XGBoost cuts its nDCG at 32."""


def to_lightgbm(measure: DCG) -> Text:
    """Return parameters for LightGBM's lambdarank and ndcg."""
    notes = check_ndcg(measure, "LightGBM", ordered=True)
    gains = ", ".join(map(format_number, measure.gains[::-1]))
    cut = measure.n_ranks or _LIGHTGBM_LONGEST
    level = ""
    if measure.n_ranks is not None:
        level = f'    "lambdarank_truncation_level": {cut},\n'
        notes.append("LightGBM advises a lambdarank_truncation_level a little above eval_at.")
    labels = dict(zip(measure.labels, range(measure.n_grades)[::-1], strict=True))
    text = (
        f"# {measure}\nPARAMS = {{\n"
        f'    "objective": "lambdarank",\n    "label_gain": [{gains}],\n'
        f'    "metric": "ndcg",\n    "eval_at": [{cut}],\n{level}}}\n'
        f"LABELS = {labels!r}  # the label of each grade\n"
    )
    return text, [
        *notes,
        "A query without gains counts 1 in LightGBM and 0 in dcglearn.",
        "Documents with equal scores keep the order of the file.",
    ]


def to_xgboost(measure: DCG) -> Text:
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
    gains = dict(zip(measure.labels, measure.gains, strict=True))
    text = (
        f"# {measure}\nPARAMS = {{\n"
        '    "objective": "rank:ndcg",\n    "ndcg_exp_gain": False,\n'
        f'    "eval_metric": "ndcg@{measure.n_ranks or _XGBOOST_LONGEST}-",\n{pairs}}}\n'
        f"LABELS = {gains!r}  # the label of each grade is its gain\n"
    )
    return text, [
        *notes,
        "XGBoost stores labels as 32-bit floats: values differ from the 7th digit on.",
        "The minus in the metric's name makes a query without gains count 0.",
        "Documents with equal scores keep the order of the file.",
    ]
