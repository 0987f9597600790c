"""How wide intervals will be after more answers.

With H the information of the judgments so far, an answer to two lists adds w z z', with z the
slopes of log P(a) and w = P(strict) P(a) / (1 - P(a)). So

    V = (H + sum_i w_i z_i z_i')^-1,    half width = t sqrt(f a'V a / (1 - t^2 f d'V d)),

with a the slopes of a ratio and d those of the logarithm of its denominator: Fieller's interval
(:mod:`dcglearn.inference.ratios`), where the error of the denominator says nothing of that of the
ratio. f is by how much clusters inflate the variance, and the degrees of freedom of t grow with the
answers. Where the denominator may be 0, the likelihood itself is asked for intervals; few are more
than 1.5 times as wide as normal ones.

Answers are expected to be given at random as often as a prior makes probable: the estimate of that
share from few answers is often 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from dcglearn.asking.information import Design, strict_share
from dcglearn.base.types import Floats, Pairs
from dcglearn.inference.answers import E, V, strict_terms
from dcglearn.inference.centres import Index, Members, Posterior, cumulated
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.maximise import maximum_from

MOST_WIDER = 1.5
"""So many times as wide as normal ones are intervals of ratios at most."""

_RIDGE = 1e-9


@dataclass(eq=False)
class Forecast:
    """What is known, as M normal distributions, of gains and discounts (q,) that intervals are of.

    Arrays hold one row for each distribution: its information (M, P, P), the slopes of the numbers
    (M, q, P), gains first, and those of the logarithms of what gains and discounts are relative to
    (M, 2, P). Of answers to lists (n, 2, K), there are slopes (M, n, P) and weights (M, n). Each
    number has the degrees of freedom of its variance, and by how much clusters inflate that.
    """

    known: Floats
    slopes: Floats
    denominators: Floats
    n_gains: int
    of_lists: Callable[[Pairs], tuple[Floats, Floats]]
    degrees: Floats | float = np.inf
    inflation: Floats | float = 1.0

    def half_widths(self, more: Floats | float, growth: float = 1.0) -> Floats:
        """Return half widths of 95% intervals (q,), their median over the distributions.

        With more information (M, P, P), from so many times as many answers.
        """
        total = self.known + more
        size = np.einsum("mpp->m", total)[:, None, None] + 1e-300
        covariances = np.linalg.inv(total + _RIDGE * size * np.eye(total.shape[1]))
        variances, of_denominators = (
            ((rows @ covariances) * rows).sum(axis=2) for rows in (self.slopes, self.denominators)
        )
        t2 = self.inflation * stdtrit(self.degrees * growth, 0.975) ** 2
        kind = np.where(np.arange(variances.shape[1]) < self.n_gains, 0, 1)
        squares = t2 * variances / np.maximum(1 - t2 * of_denominators[:, kind], MOST_WIDER**-2)
        return np.asarray(np.median(np.sqrt(np.maximum(squares, 0.0)), axis=0))


def forecast_of_fit(fit: JudgmentFit, lapses: float, ties: float) -> tuple[Floats, Forecast]:
    """Return half widths of a fit's intervals (q,), nan or infinite if it has none; a forecast.

    They are of gains between the best and the worst, and of discounts after the first. People
    answer at random as often as `lapses` says, and tie as `ties` does (nu of Davidson).
    """
    likelihood, estimates = fit.likelihood, (*fit.gains()[1:-1], *fit.discounts()[1:])
    now = np.array([(one.high - one.low) / 2 for one in estimates])
    determined, contrasts = np.isfinite(now), _contrasts(fit)
    at = likelihood.index("lapses")
    held = np.arange(likelihood.n_parameters) == at
    start = np.where(held, np.minimum(lapses, likelihood.bounds[1]), fit.parameters)
    there = replace(fit, maximum=maximum_from(likelihood, start, held))
    x = there.parameters

    def of_lists(lists: Pairs) -> tuple[Floats, Floats]:
        """Return slopes and weights of answers, the lists shown on either side in turn."""
        shown = np.eye(len(fit.scale) + 1)[lists][..., : there.table.shape[1]]
        rows = (shown[:, 0] - shown[:, 1]).reshape(-1, there.table.size)
        (v, slopes), sides = there.products(rows), np.where(np.arange(len(lists)) % 2, -1.0, 1.0)
        a = strict_terms(1.0, v + likelihood.value_of("side", x) * sides, float(x[at]))
        slopes[:, likelihood.index("side")] = sides
        slopes *= a.first[V][:, None]
        slopes[:, at] = a.first[E]
        weights = strict_share(v, ties) * np.exp(a.value) / -np.expm1(a.value)
        return slopes[None], weights[None]

    return now, Forecast(
        known=(likelihood.information(x) + likelihood.prior_information(x))[None],
        slopes=_contrasts(there)[None],
        denominators=there.denominator_slopes[None],
        n_gains=len(fit.scale) - 2,
        of_lists=of_lists,
        degrees=np.where(determined, [one.df for one in estimates], np.inf),
        inflation=np.array(
            [
                fit.covariance.inflation(contrast) if known else 1.0
                for contrast, known in zip(contrasts, determined, strict=True)
            ]
        ),
    )


def _contrasts(fit: JudgmentFit) -> Floats:
    return np.concatenate([fit.gain_slopes[1:-1], fit.discount_slopes[1:]])


def forecast_of_draws(design: Design, posterior: Posterior, judged: bool) -> Forecast:
    """Return what draws say of gains and discounts, without the prior of these."""
    members, some = design.members, design.some
    identity = np.eye(members.mean.size)
    of_numbers = np.where(np.arange(len(identity)) < members.lapse, members.precision[some], 0.0)
    known = posterior.hessian[some] - of_numbers[..., None] * identity
    denominators = denominator_slopes(members, design.theta, some) * judged  # before, a guess
    return Forecast(known, design.asked, denominators, members.L - 2, design.of_lists)


def denominator_slopes(members: Members, theta: Floats, some: Index) -> Floats:
    """Return those of the logarithms of what gains and discounts are relative to, (f, 2, P)."""
    best = np.eye(members.L)[0] - np.eye(members.L)[-1]
    ranks = np.stack([np.ones((members.K, 1)), np.eye(members.K)[:, :1]])
    v, slopes = members.slopes(theta, some, cumulated(ranks * best))
    return np.asarray(slopes / v[..., None])
