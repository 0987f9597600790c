"""Whether the probabilities of a model are those that occur.

* Reliability: judgments in groups of equal size by |v|, the difference of utilities with the side
  bias; in each, the share whose answer is the likelier one, beside the share that is expected.
* Held-out log loss: the mean of -log P(answer) over judgments of queries that the model has not
  seen, in nats; a coin scores log 2 = .693.
* The link: a model with v + gamma v |v| in place of v has lighter tails than the logistic function
  if gamma > 0, and heavier ones if gamma < 0 (Stukel, JASA 83, 1988, with one parameter).
* Additivity: a document adds as much to DCG whatever else is in the list. For people who look for
  one good document, or stop at it, products of gains, g(i) g(j) for i < j, say more than the sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit, stdtrit

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.inference.answers import A, B
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.likelihood import Bend, Likelihood, Rows
from dcglearn.inference.tests import LikelihoodRatio, score_test
from dcglearn.judgments.preferences import Preferences, group_numbers, query_folds

GROUPS = 5
"""Groups of equal size that differences are divided into."""

INTERACTING = 5
"""Products of the gains at so many first ranks are tested: those that weigh most."""


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
class LinkTest:
    """The score test of the link.

    Attributes
    ----------
    gamma : float
        A first estimate; below 0 the tails are heavier than the model's.
    t, df, p : float
        The test of gamma = 0.
    """

    gamma: float
    t: float
    df: float
    p: float


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
        Of each strict judgment: 1 if the measure learned without its query prefers the same list,
        1/2 for ties, 0 otherwise.
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
        u = np.round(learned.utilities(judged.pairs), 9)
        right[test[judged.strict]] = np.heaviside(u[:, 0] - u[:, 1], 0.5)
        if held.any():
            others = replace(learned.likelihood, evidence=evidence.take(held))
            loss = -others.log_likelihood(learned.parameters)
            losses.append((loss, float(others.evidence.judged.weights.sum())))
            answers.append(_strict_answers(others, learned.parameters))
    loss, total = map(math.fsum, zip(*losses, strict=True))
    groups = _groups(np.concatenate(answers, axis=1))
    return HeldOut(loss / total, groups, n_folds, right[preferences.strict])


def link_test(fit: JudgmentFit) -> LinkTest:
    """Test whether answers depend on the difference of utilities as the model says.

    Parameters
    ----------
    fit : JudgmentFit

    Returns
    -------
    LinkTest
    """
    found, step = _departure(fit, lambda rows: (rows.v * np.abs(rows.v))[:, None])
    if not found.df:
        return LinkTest(0.0, 0.0, math.inf, 1.0)
    gamma = float(step[-1])
    t = -float(stdtrit(found.cluster_df, found.p / 2)) if found.p else math.inf
    return LinkTest(gamma, math.copysign(t, gamma), found.cluster_df, found.p)


def additivity_test(fit: JudgmentFit) -> LikelihoodRatio:
    """Test whether the worth of a list is the sum of what its documents are worth, by its score."""
    gains = fit.weights.mean(axis=0)
    gains = np.append(gains / max(np.abs(gains).max(), 1e-300), 0.0)  # an empty rank adds nothing
    first, second = np.triu_indices(min(len(fit.weights), INTERACTING), 1)

    def products(rows: Rows) -> Floats:
        of_ranks = gains[rows.judged.lists]
        both = of_ranks[:, :, first] * of_ranks[:, :, second]
        return np.asarray(both[:, 0] - both[:, 1])

    return _departure(fit, products)[0]


def _departure(fit: JudgmentFit, bend: Bend) -> tuple[LikelihoodRatio, Floats]:
    """Test whether v is v + gamma'z instead, for z (n, m) of each judgment."""
    x = fit.parameters
    return score_test(fit.likelihood, x, np.eye(len(x)), fit.maximum.free, bend)


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
