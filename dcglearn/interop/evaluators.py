"""A DCG for tools that evaluate runs: trec_eval, ir_measures, ranx.

All of them discount by 1 / log2(i + 1), and all but ranx's ``dcg`` divide by the ideal. The rest
was read in their sources and is tested on the tools:

* trec_eval's ``ndcg`` takes gains by level (``-m ndcg.1=3,2=7``) and sorts the levels by an
  integer difference, so it treats gains that differ by less than 1 as equal. A level that is not
  named gains its own number. ``ndcg_cut`` takes no gains: they are written into the qrels.
* ir_measures writes whole gains into the qrels and calls trec_eval.
* ranx ignores documents that gain less than 1, and rounds the grades of qrels to whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from dcglearn.base.errors import InputError
from dcglearn.interop.requirements import (
    ITSELF,
    UNJUDGED_NOTE,
    Export,
    check_gains,
    check_log2,
    gains_by_label,
    ndcg_notes,
    spread_gains,
    whole_gains,
    whole_labels,
)
from dcglearn.measures.dcg import DCG

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
    """Return a command of trec_eval.

    >>> print(to_trec_eval(DCG({3: 1, 1: 0.65, 0: 0}, normalise="ideal")).text)
    trec_eval -m ndcg.0=0,1=6.5,2=0,3=10 QRELS RUN
    """
    notes = _as_trec(measure, "trec_eval")
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
    """Return a measure of ir_measures by name.

    >>> print(to_ir_measures(DCG({2: 1, 1: 0.5, 0: 0}, "log2", 10, "ideal")).text)
    nDCG(gains={0:0,1:1,2:2})@10
    """
    notes = _as_trec(measure, "ir_measures")
    gains = _by_level(measure, _in_qrels(measure, "ir_measures"), "ir_measures")
    inside = ",".join(f"{level}:{gain}" for level, gain in sorted(gains.items()))
    cut = "" if measure.n_ranks is None else f"@{measure.n_ranks}"
    mixed = "ir_measures can mix up this measure and a plain nDCG in one call: compute each alone."
    return Export(f"nDCG(gains={{{inside}}}){cut}", (*notes, _UNNAMED, mixed))


def to_ranx(measure: DCG) -> Export:
    """Return Python text that relabels the qrels for ranx and names the metric.

    >>> print(to_ranx(DCG([1, 0.65, 0], "log2", 10, "ideal")).text.splitlines()[-1])
    METRIC = "ndcg@10"
    """
    check_log2(measure, "ranx")
    check_gains(measure, "ranx")
    plain = measure.normalise is None
    notes = [] if plain else ndcg_notes(measure, "ranx")
    cut = "" if measure.n_ranks is None else f"@{measure.n_ranks}"
    metric = "dcg" if plain else "ndcg"
    notes += [
        "Documents with equal scores keep the order of the run.",
        UNJUDGED_NOTE,
    ]
    if _is_exponential(measure):
        text = f'# {measure}\nMETRIC = "{metric}_burges{cut}"\n'
        return Export(text, ("The labels of the qrels stay as they are.", *notes))
    whole = whole_gains(measure, "ranx", 2**53)
    if plain and whole.factor != 1:
        notes.append(f"Gains are multiplied by {whole.factor}, and so is every value.")
    text = f'''\
# {measure}
GAINS = {whole.gains}


def relabelled(qrels):
    """Return {{query: {{document: label}}}} with gains as labels."""
    return {{
        query: {{document: GAINS[label] for document, label in judged.items()}}
        for query, judged in qrels.items()
    }}


METRIC = "{metric}{cut}"
'''
    return Export(text, tuple(notes))


def _as_trec(measure: DCG, tool: str) -> list[str]:
    """Check the discounts and gains that trec_eval requires; return the notes."""
    check_log2(measure, tool)
    check_gains(measure, tool)
    return [*ndcg_notes(measure, tool), _TREC_TIES, UNJUDGED_NOTE]


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
    return list(whole_gains(measure, tool, most).gains.values())


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


def _is_exponential(measure: DCG) -> bool:
    """Whether every label is whole, 0 or more, and gains 2^label - 1."""
    return all(
        isinstance(label, int) and 0 <= label <= 50 and gain == 2.0**label - 1
        for label, gain in gains_by_label(measure).items()
    )
