"""Learn gains and discounts that start from the usual measures and depart from them on evidence.

Centres are four gains by four discounts, each with four spreads
(:mod:`dcglearn.inference.centres`); the evidence of each (:mod:`dcglearn.inference.ascent`) is its
weight in the mean of W. linear-log2 and exponential-log2, the most used, begin with half of it.
"""

from dataclasses import dataclass, field

import numpy as np

from dcglearn.base.checks import check_kind
from dcglearn.base.errors import InputError, errors_at
from dcglearn.base.threads import map_threads, one_blas_thread
from dcglearn.base.types import Floats, Pairs, ShortRepr
from dcglearn.inference.ascent import Answers, estimate
from dcglearn.inference.centres import Draws, Members, Posterior, centre_of, usual_centres
from dcglearn.judgments.packed import PackedPairs, RowGroup
from dcglearn.judgments.preferences import B, Preferences, check_worth_learning
from dcglearn.learning.record import PriorRecord
from dcglearn.measures.dcg import DCG
from dcglearn.measures.names import as_measure
from dcglearn.measures.scale import NO_DOCUMENT, Scale

MOST_PACKED = 10_000_000
"""Of more packed judgments, some row groups are read."""

MAX_RANKS = 200
"""Longer lists have more discounts than can be estimated around 64 centres."""


@dataclass(frozen=True, eq=False, repr=False)
class LearnedDCG(PriorRecord, ShortRepr):
    """Gains and discounts that start from usual measures.

    Attributes
    ----------
    name : str
        What they start from: ``usual``, or the name of a measure.
    centres : dict of str to float
        The share of each centre, the largest first.
    judgments : int
        Strict judgments that were used; of more that have next to no noise, 20,000.
    gains_from_data, discounts_from_data : ndarray of float, shapes (L,) and (K,)
        How much of the prior's variance of the logarithm of each, relative to the first, the
        judgments took away; nan for the first and a gain of 0.
    lapses, side : float
        The share of answers at random, and how much list a is preferred for its place, in log odds.
    scale : float
        The utility of the best grade at the first rank over the worst, in log odds.
    dcg : DCG
        The product nearest to the mean.
    weights : ndarray of float, shape (K, L)
        The mean of W over all centres and spreads; its maximum is 1.
    posterior : Posterior
        What else the judgments allow: ``posterior.draw(n, rng)``.
    """

    dcg: DCG
    weights: Floats
    posterior: Posterior = field(repr=False)


def learn_dcg(
    judgments: Preferences | PackedPairs, prior: str | DCG = "usual", design_effect: float = 1.0
) -> LearnedDCG:
    """Learn gains and discounts that start from usual measures and depart from them on evidence.

    Parameters
    ----------
    judgments : Preferences or PackedPairs
        The strict ones are used; of more than 10^7 packed ones, evenly spaced row groups.
    prior : "usual", name of a measure, or DCG, default "usual"
        The measures to start from: four gains by four discounts, or one.
    design_effect : float, default 1
        Judgments count as so many times fewer, as where those of a query are alike
        (:attr:`dcglearn.inference.covariance.Covariance.design_effect`).

    Returns
    -------
    LearnedDCG

    Raises
    ------
    InputError
        If no judgment is strict, or the prior's gains or discounts rise.
    SolverError
        If a maximum is not reached.

    Examples
    --------
    >>> lists = np.random.default_rng(0).integers(0, 3, (60, 2, 4))
    >>> first, second = DCG([3, 1, 0], "log2").score(lists).T
    >>> judged = Preferences.of(lists, np.where(first > second, "a", "b"), Scale((2, 1, 0)))
    >>> learned = learn_dcg(judged)
    >>> next(iter(learned.centres))
    'exponential-log2'
    """
    remedy = "give what read_preferences returns, or PackedPairs"
    check_kind(judgments, (Preferences, PackedPairs), "judgments", remedy)
    if isinstance(judgments, PackedPairs):
        groups = judgments.row_groups[:: -(-judgments.n_pairs // MOST_PACKED)]
        parts = zip(*map_threads(RowGroup.read, groups), strict=True)
        pairs, weights, b_wins = map(np.concatenate, parts)
        b_wins &= judgments.has_sides
    else:
        pairs, weights = judgments.pairs, judgments.pair_weights
        b_wins = judgments.answers[judgments.strict] == B
    check_worth_learning(pairs, weights)
    several = np.int8(0 < b_wins.sum() < len(b_wins))  # if one side always won, it is not known
    answers = Answers(pairs, weights / design_effect, (1 - 2 * b_wins.astype(np.int8)) * several)
    return learn_from_answers(answers, judgments.scale, prior)


def learn_from_answers(answers: Answers, scale: Scale, prior: str | DCG = "usual") -> LearnedDCG:
    """Learn from strict answers, as :func:`learn_dcg` does from judgments."""
    if reason := why_no_prior(scale, answers.pairs.shape[2]):
        raise InputError(reason, "cut the lists, or use no prior")
    members = members_of(prior, scale, answers.pairs)
    with one_blas_thread():
        found, used = estimate(members, answers)
    posterior = Posterior(members, found.evidence(), found.theta, found.hessian)
    share, each = posterior.share, members.measures(found.theta)
    W = np.tensordot(share, each.weights / each.scale[:, None, None], 1)
    c = (W[:, 0] - W[:, -1]) / (W[0, 0] - W[0, -1])
    g = c @ W
    g /= g[0] - g[-1]
    by_centre = share.reshape(len(members.names), -1).sum(axis=1)
    by_centre /= by_centre.sum()  # which is 1 but for rounding
    order = np.argsort(-by_centre, kind="stable")
    from_data = _taken_away(posterior, each)
    return LearnedDCG(
        name=str(prior),
        centres={members.names[i]: float(by_centre[i]) for i in order},
        judgments=used,
        gains_from_data=from_data[: len(g)],
        discounts_from_data=from_data[len(g) :],
        lapses=posterior.lapses,
        side=float((share @ found.theta)[members.side]),
        scale=float(share @ each.scale),
        dcg=DCG(g.tolist(), c.tolist(), grades=scale.labels),
        weights=W,
        posterior=posterior,
    )


def why_no_prior(scale: Scale, n_ranks: int) -> str:
    """Return why judgments cannot start from usual measures; empty if they can."""
    if scale.values[0] == scale.values[-1]:
        return f"the grades {scale} have one value"
    return f"lists of {n_ranks:,} ranks, more than {MAX_RANKS}" if n_ranks > MAX_RANKS else ""


def members_of(prior: str | DCG, scale: Scale, lists: Pairs) -> Members:
    """Return the members of a prior, for lists that will be judged."""
    n_ranks = lists.shape[2]
    if prior == "usual":
        centres = usual_centres(scale, n_ranks)
    else:
        centres = [centre_of(prior_measure(prior, scale, n_ranks), str(prior), n_ranks)]
    worst = scale.values[-1] / (scale.values[0] - scale.values[-1])
    return Members(centres, float(np.clip(worst, -1, 1)), bool(lists.min() == NO_DOCUMENT))


def prior_measure(prior: str | DCG, scale: Scale, n_ranks: int) -> DCG:
    """Return the measure to start from."""
    with errors_at("the prior"):
        measure = as_measure(prior, scale, n_ranks)
    if not isinstance(measure, DCG):
        raise InputError(
            f"{prior} is not a DCG", "name a preset, a DCG, usual or none", "the prior"
        )
    return measure


def _taken_away(posterior: Posterior, each: Draws) -> Floats:
    """Return the share of the prior variance of log g_l / g_1, then log c_k / c_1, that is gone."""
    members, covariance = posterior.members, np.linalg.inv(posterior.hessian)
    numbers = np.hstack([each.gains - each.gains[:, -1:], each.discounts])
    with np.errstate(invalid="ignore"):
        slopes = members.number_slopes(posterior.theta, slice(None)) / numbers[..., None]
        before = (slopes**2 / members.precision[:, None]).sum(axis=2)
        after = np.einsum("fkj,fji,fki->fk", slopes, covariance, slopes)
        return np.asarray(posterior.share @ (1 - after / before))
