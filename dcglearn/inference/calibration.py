"""Whether the probabilities of a model are those that occur: the calibration of its predictions.

* Reliability: judgments in groups of equal size by |v|, the difference of utilities with the side
  bias; in each, the share whose answer is the likelier one, beside the share that is expected.
* Held-out log loss: the mean of -log P(answer) over judgments of queries that the model has not
  seen, in nats; a coin scores log 2 = .693.
"""

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.inference.answers import A, B
from dcglearn.inference.estimate import JudgmentModel
from dcglearn.inference.likelihood import Likelihood, Rows
from dcglearn.judgments.preferences import Preferences, group_numbers, query_folds
from dcglearn.measures.agreement import outcomes

GROUPS = 5
"""Groups of equal size that differences are divided into."""


@dataclass(frozen=True)
class ReliabilityGroup:
    """Strict judgments of about equal difference.

    Attributes
    ----------
    judgments : int
    smallest, largest : float
        Of |v|, in log odds.
    expected, observed : float
        The share of answers for the list that the model prefers, weighted.
    """

    judgments: int
    smallest: float
    largest: float
    expected: float
    observed: float


@dataclass(frozen=True)
class HeldOut:
    """How a model predicts judgments of queries it has not seen.

    Attributes
    ----------
    log_loss : float
        Mean of -log P(answer), weighted, in nats.
    groups : tuple of ReliabilityGroup
        Largest differences first.
    n_folds : int
    outcomes : ndarray of float, shape (m,)
        Of each strict judgment: 1 if the measure for tools, learned without its query, prefers the
        same list, 1/2 for ties, 0 otherwise.
    """

    log_loss: float
    groups: tuple[ReliabilityGroup, ...]
    n_folds: int
    outcomes: Floats = field(repr=False, compare=False)


def held_out(
    model: JudgmentModel,
    preferences: Preferences,
    rng: np.random.Generator,
    n_folds: int = 10,
) -> HeldOut:
    """Predict the judgments of each query from those of others.

    Parameters
    ----------
    model : JudgmentModel
    preferences : Preferences
    rng : numpy.random.Generator
    n_folds : int, default 10
        Fewer if there are fewer queries.

    Returns
    -------
    HeldOut

    Raises
    ------
    InputError
        If there is only one query.
    """
    model = replace(model, judges=False)  # whoever judges
    evidence, queries = model.evidence(preferences), group_numbers(preferences.queries)
    n_folds = min(n_folds, max(2, int(queries.max(initial=0)) + 1))
    right = np.full(len(preferences), 0.5)
    losses, answers, learned = [], [], None
    for _, test in query_folds(queries, n_folds, rng):
        held, judged = np.isin(evidence.rows, test), preferences[test]
        if held.all():
            problem = "one query holds all preferences between lists that differ"
            raise InputError(problem, "add judgments of other queries")
        learned = model.fit(evidence.take(~held), learned)
        with suppress(InputError):  # where the best grade is worth nothing
            right[test[judged.strict]] = outcomes(learned.for_tools, judged.pairs)
        if held.any():
            others = replace(learned.likelihood, evidence=evidence.take(held))
            loss = -others.log_likelihood(learned.parameters)
            losses.append((loss, others.evidence.judged.weights.sum()))
            answers.append(_strict_answers(others, learned.parameters))
    loss, total = map(math.fsum, zip(*losses, strict=True))
    groups = _groups(np.concatenate(answers, axis=1))
    return HeldOut(loss / total, groups, n_folds, right[preferences.strict])


def _strict_answers(likelihood: Likelihood, parameters: Floats) -> Floats:
    """Return v, the probability of a among strict answers, whether it was a, weights, (4, n)."""

    def of_rows(rows: Rows) -> Floats:
        a, b = (likelihood.terms(parameters, rows, one).value for one in (A, B))
        answers = rows.judged.answers
        found = np.stack([rows.v, expit(a - b), answers == A, rows.judged.weights])
        return found[:, answers <= B]

    return np.concatenate(list(likelihood.map(parameters, of_rows)), axis=1)


def _groups(answers: Floats) -> tuple[ReliabilityGroup, ...]:
    v, p_a, a, weights = answers[:, np.argsort(-np.abs(answers[0]), kind="stable")]
    likelier, right = np.maximum(p_a, 1 - p_a), np.where(p_a >= 0.5, a, 1 - a)
    sorted_by_size = np.stack([np.abs(v), likelier, right, weights])
    parts = np.array_split(sorted_by_size, min(GROUPS, len(v)), axis=1)
    return tuple(
        ReliabilityGroup(
            len(size),
            float(size[-1]),
            float(size[0]),
            float(np.average(expected, weights=w)),
            float(np.average(observed, weights=w)),
        )
        for size, expected, observed, w in parts
    )
