"""Tests of a smaller model against a larger one that holds it.

The statistic is the likelihood ratio, LR = 2 (l_larger - l_smaller). With independent judgments it
has a chi-square distribution with d degrees of freedom; in clusters it is a weighted sum of d
chi-squares, whose weights are the eigenvalues of the robust covariance of the d directions that
the smaller model gives up, relative to the model's own (Kent, Biometrika 69, 1982; Rotnitzky
& Jewell, Biometrika 77, 1990). LR divided by d times their mean is compared with F(d, df), df being
Satterthwaite's degrees of freedom of these directions (:mod:`dcglearn.inference.covariance`).

d is counted, not looked up: directions in which the judgments do not tell the two models apart do
not count (Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 5.2, propose the test of gains that depend
on the position).

That no answer is random lies on the border of the model, since a share cannot be negative: half the
time the estimated share is 0, and LR with it. Its distribution is then half chi-square with d and
half with d - 1 degrees of freedom (Self & Liang, J. Amer. Statist. Assoc. 82, 1987, case 5). In
simulation without random answers it is below .05 in 3 to 4% of studies of 200 to 5,000 judgments:
less than 5%, since the prior pulls the share to 0.

Every hypothesis about gains and discounts holds for W = 0, too. There a likelihood ratio has no
chi-square distribution: gains, discounts and the share of random answers mean nothing where W is 0,
and estimates of them are wild. (Judgments that are answered by a coin would reject linear gains a
quarter of the time, and the same gains at every rank more than half of it, in simulations of 1,000
judgments.) A p-value that allows for W = 0 is the larger one of that of the hypothesis and that of
W = 0 itself (Berger & Hsu, Statist. Sci. 11, 1996, on unions of hypotheses).

The score test of W = 0 needs an estimate where W = 0, of the side bias and of ties. With H and u,
the information and the score of W there, u'H^-1 u is compared with F. How much clusters inflate it
is taken from the estimate of W without random answers, where scores have a mean of 0 even if W is
not. Two tests are made, and corrected for that: of multiples of linear gains with the discount
log2, which needs few queries or judges to be sure, and of any W.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import fdtrc

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.inference.covariance import Covariance, inverse_root
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.families import FREE_FAMILY, FamilyLike
from dcglearn.inference.maximise import maximise
from dcglearn.inference.weights import Products, WeightFamily, any_weights, multiples_of

_SEEN = 0.5
"""A direction counts if the judgments give at least this share of its information."""

BEYOND_DOUBT = 1e-6
"""If the usual multiples of W have a smaller p-value, any W is not tested."""

MANY = 1e12
"""Degrees of freedom of independent judgments."""

_GAUSS_NEWTON_STEPS = 12
_NEAR_ENOUGH = 1e-7
"""The error of W, relative to its largest entry, from which the next step is the last."""

TestVerdict = Literal["rejected", "near the line", "not rejected"]

REJECTED, NEAR = 0.02, 0.10
"""A p-value below the first rejects; between the two, it is near the line."""


@dataclass(frozen=True)
class LikelihoodRatio:
    """A test of a smaller model against a larger one.

    Attributes
    ----------
    statistic : float
        LR, as of independent judgments.
    df : int
        d, the directions that are tested; 0 if the judgments cannot tell the models apart, or are
        of a single query.
    inflation : float
        By how much clusters inflate LR: the mean of the weights.
    cluster_df : float
        Degrees of freedom of the clusters.
    effective : float
        How many queries, or judges, of equal weight the judgments are worth.
    p : float
        1 if `df` is 0. Unless the side bias alone is tested, at least the p-value of the hypothesis
        that answers do not depend on the grades (:func:`no_effect`).
    """

    statistic: float
    df: int
    inflation: float
    cluster_df: float
    effective: float
    p: float


def verdict_of(p: float) -> TestVerdict:
    """Return what a p-value says.

    Examples
    --------
    >>> verdict_of(0.05)
    'near the line'
    """
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
        What :func:`no_effect` returns for these judgments, if it
        is known already.

    Returns
    -------
    LikelihoodRatio

    Raises
    ------
    InputError
        If the larger model does not hold the smaller one.
    """
    check_nested(smaller.model, larger.model)
    statistic = max(0.0, 2 * (larger.log_likelihood - smaller.log_likelihood))
    directions = _given_up(smaller, larger)
    border = larger.model.lapses and not smaller.model.lapses
    held = border and not larger.maximum.free[larger.likelihood.index("lapses")]
    d, effective = directions.shape[1] + held, larger.covariance.effective
    if larger.covariance.one_cluster:
        return LikelihoodRatio(statistic, 0, 1.0, math.inf, effective, 1.0)
    if d == held:  # nothing is told apart, or the share of lapses is estimated as 0
        return LikelihoodRatio(statistic, d, 1.0, math.inf, effective, 1.0)
    inflation, df = larger.covariance.inflation(directions)
    p = tail(statistic / inflation, d, df)
    if border:
        p = (p + tail(statistic / inflation, d - 1, df)) / 2
    if is_about_grades(smaller, larger):
        p = max(p, no_effect(larger) if without_effect is None else without_effect)
    return LikelihoodRatio(statistic, d, inflation, df, effective, p)


def is_about_grades(smaller: JudgmentFit, larger: JudgmentFit) -> bool:
    """Return whether a hypothesis says anything if answers do not depend on the grades."""
    return replace(smaller.model, side=larger.model.side) != larger.model


def check_nested(smaller: JudgmentModel, larger: JudgmentModel) -> None:
    """Refuse models of which one does not hold the other."""
    if smaller.ties != larger.ties:
        raise InputError("the models treat ties differently", "give both the same `ties`")
    for name in ("side", "lapses"):
        if getattr(smaller, name) and not getattr(larger, name):
            raise InputError(f"only the smaller model has {name}", f"give both `{name}`")
    if larger.position_dependent or larger.measure == smaller.measure is not None:
        return
    free = larger.gains == larger.discounts == FREE_FAMILY
    if smaller.measure is not None and larger.measure is None and free:
        return
    if (
        smaller.has_own_family
        or larger.has_own_family
        or not (_holds(larger.gains, smaller.gains) and _holds(larger.discounts, smaller.discounts))
    ):
        raise InputError(
            f"gains {larger.gains} and discounts {larger.discounts} do not hold all measures of "
            f"gains {smaller.gains} and discounts {smaller.discounts}",
            "give the larger model the same families, or free ones",
        )


def _holds(larger: FamilyLike, smaller: FamilyLike) -> bool:
    if larger in (FREE_FAMILY, smaller):
        return True
    if not isinstance(larger, str) or not isinstance(smaller, str):
        return False
    kind, _, parameter = larger.partition(":")
    if parameter != FREE_FAMILY:
        return False
    special = {"power": ("linear",), "exponential": ("linear", "exponential"), "log": ("log2",)}
    special["zipf"] = ("zipf", "constant")
    return smaller in special.get(kind, ()) or smaller.partition(":")[0] == kind


def _as_larger(smaller: JudgmentFit, larger: WeightFamily) -> Floats:
    """Return the parameters at which W of the larger model is that of the smaller one.

    Gauss and Newton's steps mostly lead there; where they do not, a trust region does.
    """
    W = smaller.table
    theta, size = larger.start, np.abs(W).max()
    for _ in range(_GAUSS_NEWTON_STEPS):
        with np.errstate(all="ignore"):  # where it leads away
            missing, J = (W - larger.weights(theta)).ravel(), larger.jacobian(theta)
        if not (np.isfinite(missing).all() and np.isfinite(J).all()):
            break
        theta = theta + np.linalg.lstsq(J, missing)[0]
        if np.abs(missing).max() <= _NEAR_ENOUGH * size:  # and the step squares that
            return theta
    from scipy.optimize import least_squares

    def residuals(theta: Floats) -> Floats:
        return (larger.weights(theta) - W).ravel()

    return np.asarray(
        least_squares(residuals, larger.start, larger.jacobian, xtol=1e-15, ftol=1e-15).x
    )


def _given_up(smaller: JudgmentFit, larger: JudgmentFit) -> Floats:
    """Return the directions of the larger model that the smaller one lacks, whitened, (P, d)."""
    big, small = larger.likelihood, smaller.likelihood
    as_larger = _as_larger(smaller, big.family)
    of_larger = big.family.jacobian(as_larger)
    of_smaller = small.family.jacobian(smaller.parameters[: small.n_weights])
    tangent = np.zeros((big.n_parameters, small.n_parameters))
    moved = np.asarray(np.linalg.lstsq(of_larger, of_smaller)[0], float)
    n = big.n_weights
    if isinstance(big.family, Products):
        moved = big.family.ratios(as_larger, moved)
        unseen = np.zeros(big.n_parameters)
        unseen[:n] = big.family.unseen(larger.parameters[:n])
        tangent = np.column_stack([tangent, unseen])
    tangent[:n, : small.n_weights] = moved
    for name in small.names:
        tangent[big.index(name), small.index(name)] = 1.0
    return _beyond(larger.covariance, tangent)


def _beyond(covariance: Covariance, tangent: Floats) -> Floats:
    """Return the directions that judgments tell from a tangent (P, q), whitened, (P, d)."""
    root, free = covariance.root, covariance.free
    whitened = root.T @ (covariance.information + covariance.prior) @ (tangent * free[:, None])
    left, sizes, _ = np.linalg.svd(np.hstack([whitened, np.diag(~free).astype(float)]))
    complement = left[:, int((sizes > 1e-8 * sizes.max(initial=0.0)).sum()) :]
    shares, axes = np.linalg.eigh(
        complement.T @ root.T @ covariance.information @ root @ complement
    )
    return np.asarray(complement @ axes[:, shares > _SEEN])


def no_effect(fit: JudgmentFit, independent: bool = False) -> float:
    """Return the p-value of the hypothesis that answers do not depend on the grades.

    Examples
    --------
    >>> from dcglearn.judgments.preferences import Preferences
    >>> from dcglearn.measures.scale import Scale
    >>> data = Preferences.of([[[0, 1], [1, 0]]] * 20, ["a"] * 15 + ["b"] * 5, Scale((1, 0)))
    >>> round(no_effect(JudgmentModel(side=False).fit(data)), 3)
    0.079
    """
    (K, L), empty = fit.weights.shape, fit.evidence.layout.empty
    usual = np.outer(1 / np.log2(np.arange(2, K + 2)), np.linspace(1.0, 0.0, L))
    p = _score_test(fit, multiples_of(usual, "linear gains, log2", empty), independent)
    if p > BEYOND_DOUBT:
        p = min(p, _score_test(fit, any_weights(K, L, empty), independent))
    return min(1.0, 2 * p)


def _score_test(fit: JudgmentFit, family: WeightFamily, independent: bool) -> float:
    """Return the p-value of W = 0 in a family that is linear in its parameters."""
    null = _without_random_answers(fit, family, nothing_counts=True)
    n = null.likelihood.n_weights
    score = null.maximum.at.gradient.copy()
    score[n:] = 0.0  # of what is estimated, to rounding
    free = null.maximum.free | (np.arange(len(score)) < n)
    information = null.likelihood.information(null.parameters)
    prior = null.likelihood.prior_information(null.parameters)
    at_null = replace(
        fit.covariance,
        root=inverse_root(information + prior, free),
        information=information,
        prior=prior,
        free=free,
    )
    others = np.eye(len(score))[:, n:]
    directions = _beyond(at_null, others)
    d = directions.shape[1]
    inflation, df = (1.0, MANY) if independent else _inflation(fit, family)
    if not (d and inflation):
        return 1.0
    statistic = float(((directions.T @ (at_null.root.T @ score)) ** 2).sum())
    return tail(statistic / inflation, d, df)


def _inflation(fit: JudgmentFit, family: WeightFamily) -> tuple[float, float]:
    """Return by how much clusters inflate the statistic, 0 if they cannot tell, and their df."""
    free = _without_random_answers(fit, family)
    others = np.eye(free.likelihood.n_parameters)[:, free.likelihood.n_weights :]
    directions = _beyond(free.covariance, others)
    if free.covariance.one_cluster or not directions.shape[1]:
        return 0.0, 0.0
    return free.covariance.inflation(directions)


def tail(x: float, d: int, df: float) -> float:
    """Return the share of d times F(d, df) above x > 0; for d = 0 there is none.

    Examples
    --------
    >>> round(tail(3.84, 1, 1e9), 3), tail(3.84, 0, 1e9)
    (0.05, 0.0)
    """
    return float(fdtrc(d, df, x / d)) if d else 0.0


def _without_random_answers(
    fit: JudgmentFit, family: WeightFamily, nothing_counts: bool = False
) -> JudgmentFit:
    """Return the estimate of W, or, where nothing counts, that of all else with W = 0."""
    likelihood = replace(fit.likelihood, family=family)
    held = np.zeros(likelihood.n_parameters, bool)
    held[: likelihood.n_weights] = nothing_counts
    if "lapses" in likelihood.names:
        held[likelihood.index("lapses")] = True
    start, (low, high) = likelihood.start.copy(), (one.copy() for one in likelihood.bounds)
    start[held] = low[held] = high[held] = 0.0
    found = maximise(likelihood.expand, start, (low, high))
    return replace(fit, likelihood=likelihood, maximum=found, free=None)
