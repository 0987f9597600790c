"""Tests of a smaller model against a larger one that holds it.

The scores of the larger model, at the estimate of the smaller one, have mean 0 in every query if
the smaller one holds: the scores u_q of clusters, in the d directions that it gives up and cleared
of those that it estimates (efficient scores; Neyman 1959, Rao 1948). With S = sum_q u_q and
V = sum_q u_q u_q',

    T = S' V^-1 S <= Q,      F = (T / d) (Q - P) / (Q - T)

is compared with F(d, Q - P), where Q clusters speak of P parameters: Hotelling's test (Ann. Math.
Stat. 2, 1931), with the degrees of freedom of regression. A query counts as one witness: Q bounds
T, so that few queries never prove much, however many judgments they hold, and one that outweighs
all others proves as little (self-normalised sums: de la Pena, Lai & Shao 2009). The likelihood
ratio, LR = 2 (l_larger - l_smaller), is given beside it, as of independent judgments.

d is counted: directions in which the judgments do not tell the two models apart do not count (Zhou,
Zha, Xue & Yu, arXiv 1212.5650, section 5.2, propose the test of gains that depend on the position).
That no answer is random lies on the border of the model: that test is one-sided, of the share that
is estimated. So is a second test of a measure, or of gains: that better lists win.

Every hypothesis about gains and discounts holds for W = 0, too, where they mean nothing. So a
p-value is at least that of W = 0 itself (Berger & Hsu, Statist. Sci. 11, 1996, on unions of
hypotheses). W = 0 is tested twice, and corrected for that: in the direction of linear gains with
the discount log2, which needs few queries to be sure, and in all directions. A side bias is tested
with W as estimated and with W = 0, and p is the larger one: so it is never seen where as many
answers are for a as for b.

Two departures from the model are tested by the same scores, with v + gamma'z in place of v:

* The link: a model with v + gamma v |v| in place of v has lighter tails than the logistic function
  if gamma > 0, and heavier ones if gamma < 0 (Stukel, JASA 83, 1988, with one parameter).
* Additivity: a document adds as much to DCG whatever else is in the list. For people who look for
  one good document, or stop at it, products of gains, g(i) g(j) for i < j, say more than the sum.

Neither is tested where the prior holds W back, as where hardly any answer is wrong: answers are
more certain then than the model makes them, and that would look like a departure.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from dcglearn.base.errors import InputError
from dcglearn.base.types import Booleans, Floats
from dcglearn.inference.answers import V
from dcglearn.inference.covariance import MIN_SHARE, inverse_root
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.evidence import ClusterSums, Judged
from dcglearn.inference.families import FREE_FAMILY, WeightFamily, any_weights, multiples_of
from dcglearn.inference.likelihood import Bend, Likelihood, Rows, gram_of
from dcglearn.inference.maximise import maximum_from
from dcglearn.measures.discounts import rule_discounts

BEYOND_DOUBT = 1e-6
"""If the usual multiples of W have a smaller p-value, any W is not tested."""

INTERACTING = 5
"""Products of the gains at so many first ranks are tested: those that weigh most."""

_MOST_STEPS = 50
_NEAR_ENOUGH = 1e-7
"""The error of W, relative to its largest entry, from which the next step is the last."""

_SEEN = 0.5
"""A direction counts if the judgments give at least this share of its information."""

_ZERO = 1e-8

REJECTED, NEAR = 0.01, 0.10
"""A p-value below the first rejects; between the two, it is near the line."""


@dataclass(frozen=True)
class LikelihoodRatio:
    """A test of a smaller model against a larger one.

    Attributes
    ----------
    statistic : float
        LR, as of independent judgments.
    score : float
        T, in which each query, or judge, counts once.
    df : int
        d; 0 if the judgments cannot tell the models apart, or have fewer queries than parameters.
    cluster_df : float
        Queries, or judges, less the parameters.
    effective : float
        How many queries, or judges, of equal weight the judgments are worth.
    p : float
        1 if `df` is 0; for hypotheses on grades, at least that of :func:`no_effect`.
    """

    statistic: float
    score: float
    df: int
    cluster_df: float
    effective: float
    p: float


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


def verdict_of(p: float) -> str:
    """Return what a p-value says: ``rejected``, ``near the line`` or ``not rejected``."""
    if p < REJECTED:
        return "rejected"
    return "near the line" if p < NEAR else "not rejected"


def likelihood_ratio(
    smaller: JudgmentFit, larger: JudgmentFit, without_effect: float | None = None
) -> LikelihoodRatio:
    """Test a smaller model against a larger one on the same judgments.

    Parameters
    ----------
    smaller, larger : JudgmentFit
    without_effect : float, optional
        What :func:`no_effect` returns for these judgments, if that is known.

    Returns
    -------
    LikelihoodRatio

    Raises
    ------
    InputError
        If the larger model does not hold the smaller one.
    """
    if smaller.model.ties != larger.model.ties:
        raise InputError("the models treat ties differently", "give both the same `ties`")
    for name in smaller.likelihood.names:
        if name not in larger.likelihood.names:
            raise InputError(f"only the smaller model has {name}", f"give both `{name}`")
    statistic = max(0.0, 2 * (larger.log_likelihood - smaller.log_likelihood))
    found, _ = score_test(larger.likelihood, *_null(smaller, larger))
    only_lapses = replace(smaller.model, lapses=True) == larger.model != smaller.model
    p = _without_lapses(larger) if only_lapses else found.p
    if is_about_grades(smaller, larger):
        p = min(p, _right_way_up(smaller))
        p = max(p, no_effect(larger) if without_effect is None else without_effect)
    elif larger.model.side and not smaller.model.side:
        # Where the people of a query follow each other, W fits what they say, and what is left to
        # the side looks surer than it is. So as many answers for a as for b must be unlikely, too.
        side = larger.likelihood.places["side"]
        p = max(p, _where_nothing_counts(larger.likelihood, side))
    return replace(found, statistic=statistic, p=p if found.df else 1.0)


def _without_lapses(fit: JudgmentFit) -> float:
    """Return the p-value of no random answers: of the estimated share, by its standard error.

    The score of a share of 0 is that of the few answers that then are nearly impossible.
    """
    contrast, covariance = fit.covariance.of_parameter("lapses")
    share = fit.parameters @ contrast
    (error,), (df,) = covariance.errors(contrast[None])
    if covariance.one_cluster or not (share and error):
        return 1.0
    return float(stdtr(df, -share / error))


def _right_way_up(fit: JudgmentFit) -> float:
    """Return the p-value of better lists win, where the model says which are better."""
    family, given = fit.likelihood.family, fit.model.measure or fit.model.gains != FREE_FAMILY
    (along,), slopes = fit.products(family.weights(family.start).reshape(1, -1))
    if not given or along >= 0 or fit.covariance.one_cluster:
        return 1.0
    (error,), (df,) = fit.covariance.errors(slopes)
    return float(stdtr(df, along / error)) if error else 1.0


def is_about_grades(smaller: JudgmentFit, larger: JudgmentFit) -> bool:
    """Return whether a hypothesis says anything if answers do not depend on the grades."""
    return replace(smaller.model, side=larger.model.side) != larger.model


def _as_larger(smaller: JudgmentFit, larger: WeightFamily) -> Floats:
    """Return the parameters at which W of the larger model is that of the smaller one.

    Where the larger family is no formula, the nearest product is; otherwise Gauss and Newton's
    steps lead from there.
    """
    W = smaller.table
    theta, size = next(larger.near(W)), np.abs(W).max()
    for _ in range(_MOST_STEPS):
        missing = (W - larger.weights(theta)).ravel()
        theta = theta + np.linalg.lstsq(larger.at(theta).jacobian, missing)[0]
        if np.abs(missing).max() <= _NEAR_ENOUGH * size:  # and the last step squares that
            break
    low, high = larger.bounds
    if (
        np.abs(W - larger.weights(theta)).max() > _NEAR_ENOUGH * size
        or not ((low - _NEAR_ENOUGH <= theta) & (theta <= high + _NEAR_ENOUGH)).all()
    ):
        raise InputError(
            f"{larger.name} do not hold all measures of {smaller.likelihood.family.name}",
            "give the larger model the same families, or free ones",
        )
    return theta


def _null(smaller: JudgmentFit, larger: JudgmentFit) -> tuple[Floats, Floats, Booleans]:
    """Return the smaller estimate in the larger model (P,), its tangent, what is free.

    What a bound of the smaller model holds is neither estimated nor tested.
    """
    big, small = larger.likelihood, smaller.likelihood
    parameters, n, m = np.zeros(big.n_parameters), big.n_weights, small.n_weights
    free, tangent = np.ones(len(parameters), bool), np.zeros((len(parameters), small.n_parameters))
    parameters[:n] = _as_larger(smaller, big.family)
    of_larger = big.family.at(parameters).jacobian
    of_smaller = small.family.at(smaller.parameters).jacobian
    tangent[:n, :m] = np.linalg.lstsq(of_larger, of_smaller)[0]
    for name in small.names:
        at, of = big.places[name], small.places[name]
        parameters[at], free[at] = smaller.parameters[of], smaller.maximum.free[of]
        tangent[at, of] = 1.0
    return parameters, tangent, free


def no_effect(fit: JudgmentFit) -> float:
    """Return the p-value of the hypothesis that answers do not depend on the grades."""
    (K, L), empty, p = fit.weights.shape, fit.evidence.layout.empty, 1.0
    usual = np.outer(rule_discounts("log2", K), np.linspace(1.0, 0.0, L))
    for family in (multiples_of(usual, "linear gains, log2", empty), any_weights(K, L, empty)):
        if p > BEYOND_DOUBT:
            likelihood = replace(fit.likelihood, family=family)
            p = min(p, _where_nothing_counts(likelihood, slice(likelihood.n_weights)))
    return min(1.0, 2 * p)


def _where_nothing_counts(likelihood: Likelihood, tested: slice) -> float:
    """Return the p-value of some parameters where they, W and the share of lapses are 0."""
    held = np.arange(likelihood.n_parameters) < likelihood.n_weights
    held[tested] = True
    if likelihood.lapses:
        held[likelihood.places["lapses"]] = True
    null = maximum_from(likelihood, np.where(held, 0.0, likelihood.start), held)
    free = null.free & ~held
    tangent = np.eye(len(held))[:, free]
    free[tested] = True
    return score_test(likelihood, null.parameters, tangent, free)[0].p


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
    gamma, t = float(step[-1]), stdtrit(found.cluster_df, found.p / 2)
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
    found, step = score_test(fit.likelihood, x, np.eye(len(x)), fit.maximum.free, bend)
    (slopes,) = fit.products(fit.table.reshape(1, -1))[1]
    if fit.covariance.share_of_data(slopes) < MIN_SHARE:
        found = replace(found, df=0, p=1.0)
    return found, step


def score_test(
    likelihood: Likelihood,
    parameters: Floats,
    tangent: Floats,
    free: Booleans,
    bend: Bend | None = None,
) -> tuple[LikelihoodRatio, Floats]:
    """Test parameters (P,) at which a hypothesis is estimated, with T for LR.

    `tangent`, (P, q), are the directions that it estimates, among the parameters that are `free`;
    a departure `bend` of m columns is tested beside these parameters. The second value, (P + m,),
    is a first estimate of by how much these and what was added depart from the hypothesis.
    """

    def of_rows(rows: Rows) -> tuple[Judged, Floats, Floats]:
        if bend:  # v is v + gamma'z, with a gamma of 0
            z, P = bend(rows), len(parameters)
            rows = rows._replace(design=[*rows.design, (V, slice(P, P + z.shape[1]), z)])
        scores, information = likelihood.scores_and_information(parameters, rows)
        scores = np.column_stack([scores, np.ones(len(scores))])
        return rows.judged, scores, gram_of(information)

    found, information = list[ClusterSums](), np.zeros(())
    in_order = replace(likelihood, evidence=likelihood.evidence.by_cluster)
    for judged, scores, part in in_order.map(parameters, of_rows):
        found = found or [ClusterSums(way, scores.shape[1]) for way in likelihood.evidence.ways[:2]]
        information = information + part
        for one in found:
            one.add(judged, scores)
    m = len(information) - len(parameters)
    prior = np.pad(-likelihood.prior(parameters).hessian, (0, m))
    free = np.pad(free, (0, m), constant_values=True)
    tangent = np.pad(tangent, ((0, m), (0, 0))) * free[:, None]
    directions, n_estimated = _beyond(information, prior, tangent, free)
    effective = min(likelihood.evidence.effective)
    tests = [_hotelling(sums, directions, n_estimated, effective) for sums in found]
    step = directions @ (directions.T @ found[0].of_all[0][:-1])
    return max(tests, key=lambda one: one.p), step


def _beyond(
    information: Floats, prior: Floats, tangent: Floats, free: Booleans
) -> tuple[Floats, int]:
    """Return the directions (P, d) beyond a tangent (P, q) that judgments see, and its rank."""
    root = inverse_root(information + prior, free)
    whitened = root.T @ (information + prior) @ tangent
    left, sizes, _ = np.linalg.svd(np.hstack([whitened, np.diag(~free).astype(float)]))
    rank = int((sizes > _ZERO * sizes.max(initial=0.0)).sum())
    complement = root @ left[:, rank:]
    shares, axes = np.linalg.eigh(complement.T @ information @ complement)
    return complement @ axes[:, shares > _SEEN], rank - int((~free).sum())


def _hotelling(
    sums: ClusterSums, directions: Floats, n_estimated: int, effective: float
) -> LikelihoodRatio:
    """Test that sums of scores (P,) in directions (P, d) over clusters have mean 0.

    The last number that is summed is 1.
    """
    total, squares = sums.of_all
    S, V = directions.T @ total[:-1], directions.T @ squares[:-1, :-1] @ directions
    d, Q = len(S), np.count_nonzero(sums.known[:-1, -1]) + sums.known[-1, -1]
    T, df = float(S @ np.linalg.pinv(V, hermitian=True) @ S), Q - n_estimated - d
    if not d or df < 1:
        return LikelihoodRatio(T, T, 0, 0.0, effective, 1.0)
    F = T / d * df / max(Q - T, 1e-300)
    return LikelihoodRatio(T, T, d, df, effective, float(fdtrc(d, df, F)))
