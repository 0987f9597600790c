"""What the values of an evaluation depend on: names of measures, rules, judged documents, ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.numbers import counted
from dcglearn.measures.dcg import DCG
from dcglearn.measures.other_measures import ERR, RBP, BinaryMeasure
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.rules import Rules
from dcglearn.systems.scoring import unjudged_in_ideal

_TIES = {
    "mean": "the mean over their orders",
    "input": "in the order of the run's lines",
    "docid": "by id, the largest first",
}
_UNJUDGED = {
    "worst": "count as the worst grade",
    "nothing": "keep their rank and gain nothing",
    "removed": "are removed",
    "bounds": "may have any grade of the scale: the smallest and the largest possible value",
}

LEAST_MOVE = 0.00005
"""A smaller move of a mean does not show in four decimals."""


def evaluation_in_words(evaluation: Evaluation) -> list[str]:
    """Return what a table of an evaluation means, one sentence per line."""
    queries = counted(len(evaluation.queries), "query", "queries")
    return [
        *_definitions(evaluation),
        f"{queries}; grades {evaluation.qrels.scale}",
        _judged(evaluation.cutoffs),
        *rules_in_words(evaluation.rules, [one.measure for one in evaluation.measures]),
        *_ties(evaluation),
    ]


def _judged(cutoffs: Sequence[int | None]) -> str:
    """Return what the columns of judged documents hold."""
    share = "share of the run's {}documents that have a judgment"
    if not any(cutoffs):
        return f"judged: {share.format('')}"
    return f"judged@k: {share.format('first k ')}{'; judged: of all' if None in cutoffs else ''}"


def rules_in_words(rules: Rules, measures: Sequence[object] = ()) -> list[str]:
    """Return the choices that the numbers depend on, as sentences.

    >>> rules_in_words(Rules())[0]
    'documents with equal scores: by id, the largest first, scores in single precision'
    >>> rules_in_words(Rules(), [BinaryMeasure("AP", levels=(1, 0))])[-1]
    'AP: relevant from grade 1 up, and a document without a judgment is not relevant'
    """

    def counts(value: float | None) -> str:
        return "are left out" if value is None else f"count {value:g}"

    single = ", scores in single precision" if rules.single else ""
    sentences = [
        f"documents with equal scores: {_TIES[rules.ties]}{single}",
        f"documents without a judgment {_UNJUDGED[rules.unjudged]}",
        f"queries whose ideal DCG is 0 (nothing relevant) {counts(rules.worthless)}; "
        f"queries missing from a run {counts(rules.missing)}",
    ]
    if rules.least is not None:
        others = any(isinstance(one, ERR | RBP) for one in measures)
        sentences.append(
            f"gains below {rules.least:g} count 0" + (", but not in ERR and RBP" if others else "")
        )
    if unjudged_in_ideal(rules, measures):
        whose = "those of all runs" if rules.shared_pool else "those of the run itself"
        sentences.append(f"unjudged documents in the ideal ranking: {whose}")
    if any(isinstance(one, DCG) and one.normalise and min(one.gains) < 0 for one in measures):
        sentences.append("the best possible run leaves out documents that gain less than 0")
    return [*sentences, *_other_rules(rules, measures)]


def _other_rules(rules: Rules, measures: Sequence[object]) -> list[str]:
    """Return the choices behind measures that are not a DCG."""
    binary = [one for one in measures if isinstance(one, BinaryMeasure)]
    unjudged = ", and a document without a judgment is not relevant"
    sentences = [
        f"{', '.join(str(one) for one in binary if str(one.rel) == grade)}: relevant from grade "
        f"{grade} up{unjudged if rules.unjudged != 'removed' else ''}"
        for grade in dict.fromkeys(str(one.rel) for one in binary)
    ]
    if any(isinstance(one, RBP) for one in measures):
        sentences.append(
            "most of RBP: with all judgments, and relevant documents below the end of the run"
            if rules.unjudged == "bounds"
            else "residual of RBP: the weight of documents without a judgment and of the ranks "
            "below the run or the cutoff; RBP can be larger by it"
        )
    return sentences


def _definitions(evaluation: Evaluation) -> list[str]:
    """Return what the names of measures mean, and by which only the best grade counts."""
    lines = []
    for one in evaluation.comparable().measures:
        if one.name != str(one.measure):
            lines.append(f"{one.name} is {one.measure}")
        measure = one.measure
        if isinstance(measure, DCG) and measure.n_grades > 2 and not any(measure.gains[1:]):
            lines.append(f"{one.name}: only the best grade counts")
    return lines


def _ties(evaluation: Evaluation) -> list[str]:
    """Return by how much the order of documents with equal scores moves the means, if it does."""
    if evaluation.rules.ties == "mean":
        return []
    moves = np.nan_to_num(np.abs(evaluation.means_over_orders() - evaluation.means()))
    moved = int(np.count_nonzero(moves >= LEAST_MOVE))
    return [f"ties move {counted(moved, 'mean')} by up to {moves.max():.2g}"] if moved else []
