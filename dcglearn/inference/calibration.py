"""Whether the probabilities of a model are those that occur.

* Reliability: judgments in groups of equal size by |v|, the difference of utilities with the side
  bias; in each, the share whose answer is the likelier one, beside the share that is expected.
* Held-out log loss: the mean of -log P(answer) over judgments of queries that the model has not
  seen, in nats; a coin scores log 2 = .693.
* The link: a model with v + gamma v |v| in place of v has lighter tails than the logistic function
  if gamma > 0, and heavier ones if gamma < 0 (Stukel, JASA 83, 1988, with one parameter for both
  tails). The score test of gamma = 0, robust to clusters, notices judges whose answers depend on
  the difference in another way than assumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, stdtr

from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Integers
from dcglearn.inference.answers import A, B, V
from dcglearn.inference.covariance import ways_of
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.likelihood import Rows
from dcglearn.judgments.folds import group_numbers, query_folds
from dcglearn.judgments.preferences import Preferences

_NOTHING = 1e-12
"""Less information on gamma, or less than this share of it beyond that of others, is rounding."""


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
    """

    log_loss: float
    groups: tuple[ReliabilityGroup, ...]
    n_folds: int


def reliability(fit: JudgmentFit, n_groups: int = 5) -> tuple[ReliabilityGroup, ...]:
    """Compare the answers expected with those that occurred, by the size of the difference.

    Parameters
    ----------
    fit : JudgmentFit
    n_groups : int, default 5

    Returns
    -------
    tuple of ReliabilityGroup
        Largest differences first. Ties are left out: shares are those among strict answers.
    """
    v, p_a, a, weights = _strict_answers(fit)
    return _groups(v, p_a, a, weights, n_groups)


def held_out(
    model: JudgmentModel,
    preferences: Preferences,
    rng: np.random.Generator,
    n_folds: int = 10,
    n_groups: int = 5,
    advance: Advance = silent,
) -> HeldOut:
    """Predict the judgments of each query from those of others.

    Parameters
    ----------
    model : JudgmentModel
    preferences : Preferences
    rng : numpy.random.Generator
        Draws the folds.
    n_folds : int, default 10
        Fewer if there are fewer queries.
    n_groups : int, default 5
    advance : callable
        Called with (folds done, folds in all).

    Returns
    -------
    HeldOut

    Raises
    ------
    InputError
        If there is only one query.
    """
    groups = group_numbers(preferences.queries)
    n_folds = min(n_folds, max(2, int(groups.max(initial=0)) + 1))
    losses: list[tuple[float, float]] = []
    answers: list[tuple[Floats, Floats, Floats, Floats]] = []
    for done, (train, test) in enumerate(query_folds(groups, n_folds, rng), start=1):
        learned = model.fit(preferences[train])
        predicted = learned.on(preferences[test])
        if predicted is not None:
            total = float(predicted.evidence.judged.weights.sum())
            losses.append((-predicted.log_likelihood, total))
            answers.append(_strict_answers(predicted))
        advance(done, n_folds)
    loss = math.fsum(one for one, _ in losses) / math.fsum(total for _, total in losses)
    v, p_a, a, weights = (np.concatenate(part) for part in zip(*answers, strict=True))
    return HeldOut(loss, _groups(v, p_a, a, weights, n_groups), n_folds)


def link_test(fit: JudgmentFit) -> LinkTest:
    """Test whether answers depend on the difference of utilities as the model says.

    Parameters
    ----------
    fit : JudgmentFit

    Returns
    -------
    LinkTest
    """
    likelihood, x = fit.likelihood, fit.parameters
    evidence = likelihood.evidence.independent or likelihood.evidence
    ways = ways_of(likelihood.evidence)[:2]

    def along(rows: Rows) -> Floats:
        _, bent, Z = _bent(fit, rows)
        return np.asarray(np.einsum("na,nap->p", bent, Z))

    total = np.asarray(sum(likelihood.map(evidence, x, along, with_ids=True)))
    slopes = fit.covariance.model @ total  # gamma's score moves by this with theta

    def sums(rows: Rows) -> tuple[Floats, list[tuple[Integers, Floats, Floats]]]:
        judged, copies = rows.judged, rows.judged.copies
        terms = likelihood.terms(x, rows)
        bend, bent, Z = _bent(fit, rows)
        efficient = bend * terms.first[V] - likelihood.scores(rows, terms) @ slopes
        shares = ((bent - Z @ slopes) ** 2).sum(axis=1) / copies
        pair = np.stack([efficient * judged.weights / copies, shares], axis=1)
        found = []
        for way in ways:
            own = way.alone(judged)
            found.append((*way.sums(judged, pair), copies[own] @ pair[own] ** 2))
        return np.append(copies @ pair, (bent**2).sum()), found

    of_all, squares = np.zeros(3), np.zeros((len(ways), 2))
    of_clusters = [np.zeros((way.count, 2)) for way in ways]
    for part, of_ways in likelihood.map(evidence, x, sums, with_ids=True):
        of_all += part
        for i, (numbers, found, own) in enumerate(of_ways):
            of_clusters[i][numbers] += found
            squares[i] += own
    squares += [(one**2).sum(axis=0) for one in of_clusters]
    score, size, whole = of_all.tolist()
    variance, of_shares = squares.max(axis=0).tolist()
    if size <= _NOTHING * max(whole, 1.0) or not variance:
        return LinkTest(0.0, 0.0, math.inf, 1.0)
    t, df = score / math.sqrt(variance), size**2 / max(of_shares, 1e-300)
    return LinkTest(score / size, t, df, float(2 * stdtr(df, -abs(t))))


def _bent(fit: JudgmentFit, rows: Rows) -> tuple[Floats, Floats, Floats]:
    """Return v |v| (n,); rows of information on gamma (n, answers), on the rest (n, answers, P)."""
    bend, likelihood = rows.v * np.abs(rows.v), fit.likelihood
    parts = likelihood.expected_answers(fit.parameters, rows)
    bent = [bend * terms.first[V] * factor for terms, factor in parts]
    Z = [likelihood.scores(rows, terms) * factor[:, None] for terms, factor in parts]
    return bend, np.stack(bent, axis=1), np.stack(Z, axis=1)


def _strict_answers(fit: JudgmentFit) -> tuple[Floats, Floats, Floats, Floats]:
    """Return v, the probability of a among strict answers, whether it was a, and weights."""
    likelihood, judged = fit.likelihood, fit.evidence.judged

    def of_rows(rows: Rows) -> tuple[Floats, Floats]:
        a, b = (likelihood.terms(fit.parameters, rows, one).value for one in (A, B))
        return rows.v, expit(a - b)

    parts = likelihood.map(fit.evidence, fit.parameters, of_rows)
    v, p_a = (np.concatenate(one) for one in zip(*parts, strict=True))
    strict = judged.answers <= B
    right = (judged.answers[strict] == A).astype(float)
    return v[strict], p_a[strict], right, judged.weights[strict]


def _groups(
    v: Floats, p_a: Floats, a: Floats, weights: Floats, n_groups: int
) -> tuple[ReliabilityGroup, ...]:
    likelier = np.maximum(p_a, 1 - p_a)
    right = np.where(p_a >= 0.5, a, 1 - a)
    order = np.argsort(-np.abs(v), kind="stable")
    return tuple(
        ReliabilityGroup(
            len(part),
            float(np.abs(v[part[-1]])),
            float(np.abs(v[part[0]])),
            float(np.average(likelier[part], weights=weights[part])),
            float(np.average(right[part], weights=weights[part])),
        )
        for part in np.array_split(order, min(n_groups, len(order)))
        if len(part)
    )
