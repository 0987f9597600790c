"""Tests of a smaller model against a larger one that holds it.

The statistic is the likelihood ratio, LR = 2 (l_larger - l_smaller). With independent judgments it
has a chi-square distribution with d degrees of freedom; in clusters it is a weighted sum of d
chi-squares, whose weights are the eigenvalues of the robust covariance of the d directions that
the smaller model gives up, relative to the model's own (Kent, Biometrika 69, 1982; Rotnitzky
& Jewell, Biometrika 77, 1990). LR divided by d times their mean is compared with F(d, df), df being
Satterthwaite's degrees of freedom of these directions (:mod:`dcglearn.inference.covariance`).

That no answer is random lies on the border of the model, since a share cannot be negative: half the
time the estimated share is 0, and LR with it. Its distribution is then half chi-square with d and
half with d - 1 degrees of freedom (Self & Liang, J. Amer. Statist. Assoc. 82, 1987, case 5). In
simulation without random answers it is below .05 in 3 to 4% of studies of 200 to 5,000 judgments:
less than 5%, since the prior pulls the share to 0.

All of this needs answers that depend on the grades. Where they may not, no hypothesis on gains and
discounts is rejected (:mod:`dcglearn.hypotheses.no_effect`).

d is counted, not looked up: directions in which the judgments do not tell the two models apart do
not count (Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 5.2, propose the test of gains that depend
on the position).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.families.given import FamilyLike
from dcglearn.families.vectors import FREE_FAMILY
from dcglearn.families.weights import WeightFamily
from dcglearn.hypotheses.no_effect import no_effect, tail
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel

_SEEN = 0.5
"""A direction counts if the judgments give at least this share of its information."""


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
    p : float
        1 if `df` is 0. Unless the side bias alone is tested, at least the p-value of the hypothesis
        that answers do not depend on the grades (:mod:`dcglearn.hypotheses.no_effect`).
    """

    statistic: float
    df: int
    inflation: float
    cluster_df: float
    p: float


def verdict_of(p: float) -> TestVerdict:
    """Return what a p-value says.

    Parameters
    ----------
    p : float
        Corrected, if several hypotheses are tested.

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
        What :func:`~dcglearn.hypotheses.no_effect.no_effect` returns for these judgments, if it
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
    d = directions.shape[1] + held
    if larger.covariance.one_cluster:
        return LikelihoodRatio(statistic, 0, 1.0, math.inf, 1.0)
    if d == held:  # nothing is told apart, or the share of lapses is estimated as 0
        return LikelihoodRatio(statistic, d, 1.0, math.inf, 1.0)
    inflation, df = larger.covariance.inflation(directions)
    p = tail(statistic / inflation, d, df)
    if border:
        p = (p + tail(statistic / inflation, d - 1, df)) / 2
    if is_about_grades(smaller, larger):
        p = max(p, no_effect(larger) if without_effect is None else without_effect)
    return LikelihoodRatio(statistic, d, inflation, df, p)


def is_about_grades(smaller: JudgmentFit, larger: JudgmentFit) -> bool:
    """Return whether a hypothesis says anything if answers do not depend on the grades.

    Parameters
    ----------
    smaller, larger : JudgmentFit

    Returns
    -------
    bool
        False if they differ in the side bias alone. What share of answers is random cannot be told
        if all answers may be.
    """
    return replace(smaller.model, side=larger.model.side) != larger.model


def check_nested(smaller: JudgmentModel, larger: JudgmentModel) -> None:
    """Refuse models of which one does not hold the other.

    Parameters
    ----------
    smaller, larger : JudgmentModel

    Raises
    ------
    InputError
        Naming what does not fit.
    """
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
    W = smaller.weights
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
    of_larger = big.family.jacobian(_as_larger(smaller, big.family))
    of_smaller = small.family.jacobian(smaller.parameters[: small.n_weights])
    tangent = np.zeros((big.n_parameters, small.n_parameters))
    tangent[: big.n_weights, : small.n_weights] = np.linalg.lstsq(of_larger, of_smaller)[0]
    for name in small.names:
        tangent[big.index(name), small.index(name)] = 1.0
    root = larger.covariance.root
    information = -larger.maximum.at.hessian
    free = larger.maximum.free
    whitened = root.T @ information @ (tangent * free[:, None])
    spanned = np.hstack([whitened, np.diag(~free).astype(float)])
    left, sizes, _ = np.linalg.svd(spanned, full_matrices=False)
    complement = left[:, int((sizes > 1e-8 * sizes[0]).sum()) :]
    of_data = information - big.prior_information(larger.parameters)
    shares, axes = np.linalg.eigh(complement.T @ root.T @ of_data @ root @ complement)
    return np.asarray(complement @ axes[:, shares > _SEEN])
