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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Integers
from dcglearn.inference.answers import A, B
from dcglearn.inference.covariance import joined
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
            total = float(predicted.likelihood.evidence.weights.sum())
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
    parts = likelihood.sum_over_rows(x, lambda rows: _link_rows(fit, rows))
    scores, of_gamma, information, bent = (joined(part) for part in zip(*parts, strict=True))
    flat = information.reshape(-1, information.shape[2])
    slopes = fit.covariance.model @ (bent.ravel() @ flat)  # gamma's score moves by this with theta
    efficient = of_gamma - scores @ slopes
    rows = bent - information @ slopes
    size = beyond_rounding(float((rows**2).sum()), float((bent**2).sum()))
    found: list[tuple[float, float]] = []
    clusters: Sequence[Integers] = [likelihood.evidence.queries]
    if likelihood.evidence.judges is not None and np.ptp(likelihood.evidence.judges):
        clusters = [*clusters, likelihood.evidence.judges]
    for numbers in clusters:
        totals = np.bincount(numbers, efficient)
        shares = np.bincount(numbers, (rows**2).sum(axis=1))
        found.append((float(totals @ totals), size**2 / max(float(shares @ shares), 1e-300)))
    variance, df = max(one for one, _ in found), min(df for _, df in found)
    return link_test_of_scores(float(efficient.sum()), size, variance, df)


def beyond_rounding(information: float, whole: float) -> float:
    """Return the information on gamma beyond that on other parameters, 0 if it is rounding.

    Parameters
    ----------
    information : float
    whole : float
        That on gamma, if all else were known.

    Examples
    --------
    >>> beyond_rounding(2.0, 3.0), beyond_rounding(1e-16, 3.0), beyond_rounding(1e-30, 1e-30)
    (2.0, 0.0, 0.0)
    """
    return information if information > _NOTHING * max(whole, 1.0) else 0.0


def link_test_of_scores(total: float, information: float, variance: float, df: float) -> LinkTest:
    """Return the test of the link from the sum of scores in gamma.

    Parameters
    ----------
    total : float
        Of the scores in gamma, without what moves with the other parameters.
    information : float
        On gamma, beyond that on the other parameters; 0 if there is none.
    variance : float
        Of the total, robust to clusters.
    df : float
        Degrees of freedom of the variance.

    Examples
    --------
    >>> round(link_test_of_scores(3.0, 2.0, 1.0, 1e9).p, 4)
    0.0027
    """
    if not (information and variance):
        return LinkTest(0.0, 0.0, math.inf, 1.0)
    t = total / math.sqrt(variance)
    return LinkTest(total / information, t, df, float(2 * stdtr(df, -abs(t))))


def _link_rows(fit: JudgmentFit, rows: Rows) -> tuple[Floats, Floats, Floats, Floats]:
    """Return scores of parameters (n, P) and of gamma (n,), and rows of information on both.

    The latter have the shapes (n, answers, P) and (n, answers).
    """
    likelihood, x = fit.likelihood, fit.parameters
    weights = likelihood.evidence.weights[rows.rows]
    bend = rows.v * np.abs(rows.v)
    scores = weights[:, None] * likelihood.scores(x, rows)
    of_gamma = weights * bend * likelihood.answer_terms(x, rows)[1]
    factors = likelihood.information_factors(x, rows)
    information = [
        likelihood.scores(x, rows, answer) * factor[:, None] for answer, factor in factors
    ]
    bent = [
        bend * likelihood.answer_terms(x, rows, answer)[1] * factor for answer, factor in factors
    ]
    return scores, of_gamma, np.stack(information, axis=1), np.stack(bent, axis=1)


def _strict_answers(fit: JudgmentFit) -> tuple[Floats, Floats, Floats, Floats]:
    """Return v, the probability of a among strict answers, whether it was a, and weights."""
    likelihood, x = fit.likelihood, fit.parameters
    evidence = likelihood.evidence
    strict = evidence.answers <= B
    v = np.concatenate(likelihood.sum_over_rows(x, lambda rows: rows.v))[strict]
    p = likelihood.probabilities(x)[strict]
    p_a = p[:, A] / (p[:, A] + p[:, B])
    return v, p_a, (evidence.answers[strict] == A).astype(float), evidence.weights[strict]


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
