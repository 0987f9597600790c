"""Whether answers depend on the grades at all: score tests of W = 0.

Every hypothesis about gains and discounts holds for W = 0, too. There a likelihood ratio has no
chi-square distribution: gains, discounts and the share of random answers mean nothing where W is 0,
and estimates of them are wild. (Judgments that are answered by a coin would reject linear gains a
quarter of the time, and the same gains at every rank more than half of it, in simulations of 1,000
judgments.) A p-value that allows for W = 0 is the larger one of that of the hypothesis and that of
W = 0 itself (Berger & Hsu, Statist. Sci. 11, 1996, on unions of hypotheses).

The score test needs an estimate where W = 0, of the side bias and of ties. With H and u, the
information and the score of W there, u'H^-1 u is compared with F. How much clusters inflate it is
taken from the estimate of W without random answers, where scores have a mean of 0 even if W is not,
as other tests do (:mod:`dcglearn.hypotheses.likelihood_ratios`). Two tests are made, and corrected
for that: of multiples of linear gains with the discount log2, which needs few queries or judges to
be sure, and of any W.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from dcglearn.base.types import Floats
from dcglearn.families.weights import AnyWeights, GivenWeights, WeightFamily
from dcglearn.inference.covariance import inverse_root
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.maximise import maximise

BEYOND_DOUBT = 1e-6
"""If the usual multiples of W have a smaller p-value, any W is not tested."""

MANY = 1e12
"""Degrees of freedom of independent judgments."""

_SEEN = 0.5
"""A direction counts if the judgments give at least this share of its information."""


def no_effect(fit: JudgmentFit, independent: bool = False) -> float:
    """Return the p-value of the hypothesis that answers do not depend on the grades.

    Parameters
    ----------
    fit : JudgmentFit
        Whose judgments, and whose model of ties and of the side, are taken.
    independent : bool, default False
        Whether judgments are known to be independent, so that there are no clusters to look for.

    Returns
    -------
    float
        1 if the judgments cannot tell, as those of a single query.

    Raises
    ------
    SolverError
        If the side bias and the frequency of ties are not found.

    Examples
    --------
    >>> from dcglearn.judgments.preferences import Preferences
    >>> from dcglearn.inference.estimate import JudgmentModel
    >>> from dcglearn.measures.scale import Scale
    >>> data = Preferences.of([[[0, 1], [1, 0]]] * 20, ["a"] * 15 + ["b"] * 5, Scale((1, 0)))
    >>> round(no_effect(JudgmentModel(side=False).fit(data)), 3)
    0.079
    """
    K, L = fit.weights.shape
    usual = np.outer(1 / np.log2(np.arange(2, K + 2)), np.linspace(1.0, 0.0, L))
    p = _score_test(fit, GivenWeights(usual, "linear gains, log2"), independent)
    if p > BEYOND_DOUBT:
        p = min(p, _score_test(fit, AnyWeights(K, L), independent))
    return min(1.0, 2 * p)


def _score_test(fit: JudgmentFit, family: WeightFamily, independent: bool) -> float:
    """Return the p-value of W = 0 in a family that is linear in its parameters."""
    null = _without_random_answers(fit, family, nothing_counts=True)
    score, n = null.maximum.at.gradient.copy(), null.likelihood.n_weights
    score[n:] = 0.0  # of what is estimated, to rounding
    of_weights = np.arange(len(score)) < n
    root = inverse_root(-null.maximum.at.hessian, null.maximum.free | of_weights)
    directions = _directions_of_weights(null, root, null.maximum.free | of_weights)
    d = directions.shape[1]
    inflation, df = (1.0, MANY) if independent else _inflation(fit, family)
    if not (d and inflation):
        return 1.0
    statistic = float(((directions.T @ (root.T @ score)) ** 2).sum())
    return tail(statistic / inflation, d, df)


def _inflation(fit: JudgmentFit, family: WeightFamily) -> tuple[float, float]:
    """Return by how much clusters inflate the statistic, 0 if they cannot tell, and their df."""
    free = _without_random_answers(fit, family)
    directions = _directions_of_weights(free, free.covariance.root, free.maximum.free)
    if free.covariance.one_cluster or not directions.shape[1]:
        return 0.0, 0.0
    return free.covariance.inflation(directions)


def tail(x: float, d: int, df: float) -> float:
    """Return the share of d times F(d, df) above x > 0; for d = 0 there is none.

    Parameters
    ----------
    x : float
    d : int
    df : float

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


def _directions_of_weights(fit: JudgmentFit, root: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return the directions of W that the judgments tell from all else, whitened, (P, d)."""
    likelihood, information = fit.likelihood, -fit.maximum.at.hessian
    others = np.eye(likelihood.n_parameters)[:, likelihood.n_weights :] * free[:, None]
    held = np.diag(~free).astype(float)
    left, sizes, _ = np.linalg.svd(np.hstack([root.T @ information @ others, held]))
    complement = left[:, int((sizes > 1e-8 * sizes.max(initial=0.0)).sum()) :]
    of_data = information - likelihood.prior_information(fit.parameters)
    shares, axes = np.linalg.eigh(complement.T @ root.T @ of_data @ root @ complement)
    return np.asarray(complement @ axes[:, shares > _SEEN])
