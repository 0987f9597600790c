"""What a team asks of judgments in packed files, as of those in memory.

The share of judgments that two models order differently is counted in one pass for all questions;
that of pairs of lists is of the lists in the sample that is in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dcglearn.base.threads import map_in_order
from dcglearn.base.types import Floats
from dcglearn.hypotheses.questions import (
    AskedPair,
    Question,
    answered,
    ask,
    reversed_of_all,
    usual_pairs,
    usual_questions,
)
from dcglearn.inference.estimate import JudgmentModel
from dcglearn.inference.evidence import features
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.measure import Measure
from dcglearn.streaming.packed_evidence import PackedEvidence
from dcglearn.streaming.streamed_likelihood import fit_packed_evidence

_CHUNK = 1 << 15


def usual_questions_of(
    judgments: Preferences | PackedEvidence,
    model: JudgmentModel | None = None,
    measures: Mapping[str, Measure] | None = None,
) -> tuple[Question, ...]:
    """Ask the usual questions of judgments in memory or in packed files.

    Parameters
    ----------
    judgments : Preferences or PackedEvidence
    model, measures
        As those of :func:`dcglearn.hypotheses.questions.usual_questions`.

    Returns
    -------
    tuple of Question
    """
    if isinstance(judgments, Preferences):
        return usual_questions(judgments, model, measures)
    pairs = usual_pairs(
        partial(fit_packed_evidence, evidence=judgments),
        judgments.scale,
        judgments.n_ranks,
        JudgmentModel() if model is None else model,
        measures,
    )
    return answered(pairs, partial(_reversed_shares, judgments))


def ask_of(
    judgments: Preferences | PackedEvidence,
    hypothesis: JudgmentModel,
    model: JudgmentModel,
    name: str,
) -> Question:
    """Ask one question of judgments in memory or in packed files.

    Parameters
    ----------
    judgments : Preferences or PackedEvidence
    hypothesis, model, name
        As those of :func:`dcglearn.hypotheses.questions.ask`.

    Returns
    -------
    Question
    """
    if isinstance(judgments, Preferences):
        return ask(judgments, hypothesis, model, name)
    fits = (fit_packed_evidence(one, judgments) for one in (hypothesis, model))
    pair = AskedPair("hypothesis", name, *fits)
    return answered([pair], partial(_reversed_shares, judgments))[0]


def _reversed_shares(
    evidence: PackedEvidence, pairs: Sequence[AskedPair]
) -> list[tuple[float, float]]:
    tables = np.stack([fit.weights.ravel() for pair in pairs for fit in pair[2:]], axis=1)

    def sums(group: int) -> tuple[Floats, float]:
        part = evidence.read(group)
        total = np.zeros(len(pairs))
        for begin in range(0, len(part), _CHUNK):
            some = slice(begin, begin + _CHUNK)
            v = features(part.layout, part.codes[:, some], tables)
            orders = np.sign(np.round(v, 9))
            total += part.weights[some] @ (np.abs(orders[:, ::2] - orders[:, 1::2]) / 2)
        return total, float(part.weights.sum())

    groups = range(len(evidence.pairs.row_groups))
    found = list(map_in_order(sums, groups))
    judged = sum(total for total, _ in found) / sum(weight for _, weight in found)
    across = reversed_of_all(evidence.sample_lists, pairs)
    return list(zip(np.asarray(judged).tolist(), across, strict=True))
