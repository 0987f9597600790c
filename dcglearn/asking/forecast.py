"""How wide intervals will be after more answers.

With H the information of the judgments so far, an answer to two lists adds w z z', with z the
slopes of log P(a) and w = P(strict) P(a) / (1 - P(a)). So

    V = (H + sum_i w_i z_i z_i')^-1,    half width = t sqrt(f a'V a / (1 - t^2 f d'V d)),

with a the slopes of a ratio and d those of the logarithm of its denominator: Fieller's interval
(:mod:`dcglearn.inference.ratios`), where the error of the denominator says nothing of that of the
ratio. f is by how much clusters inflate the variance, and the degrees of freedom of t grow with the
answers. Where the denominator may be 0, the likelihood itself is asked for intervals; few are more
than 1.5 times as wide as normal ones.

From few answers the share of lapses is often estimated as 0, its bound, and then taken as known: so
answers say less of each difference and more of the scale. Therefore widths are foretold with the
share e that is expected and without lapses. The first count as often as the estimate of e, which
the prior lowers, will not be at the bound: with v its variance,

    P(free) = Phi((e - (10 - 1) v / (1 - e)) / sqrt(v)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, stdtrit

from dcglearn.asking.information import Design, strict_share
from dcglearn.base.types import Floats, Pairs
from dcglearn.inference.answers import E, V, strict_terms
from dcglearn.inference.centres import Index, Members, Posterior, cumulated
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.likelihood import LAPSE_PRIOR
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

    def covariances(self, more: Floats | float) -> Floats:
        """Return V (M, P, P) with so much more information (M, P, P)."""
        total = self.known + more
        size = np.einsum("mpp->m", total)[:, None, None] + 1e-300
        return np.linalg.inv(total + _RIDGE * size * np.eye(total.shape[1]))

    def half_widths(self, more: Floats | float, growth: float = 1.0) -> Floats:
        """Return half widths of 95% intervals (q,), their median over the distributions.

        With more information (M, P, P), from so many times as many answers.
        """
        covariances = self.covariances(more)
        variances, of_denominators = (
            ((rows @ covariances) * rows).sum(axis=2) for rows in (self.slopes, self.denominators)
        )
        t2 = self.inflation * stdtrit(self.degrees * growth, 0.975) ** 2
        kind = np.where(np.arange(variances.shape[1]) < self.n_gains, 0, 1)
        squares = t2 * variances / np.maximum(1 - t2 * of_denominators[:, kind], MOST_WIDER**-2)
        return self.combined(np.sqrt(np.maximum(squares, 0.0)), covariances)

    def combined(self, half_widths: Floats, covariances: Floats) -> Floats:
        """Return those of all distributions (M, q) as one (q,)."""
        return np.asarray(np.median(half_widths, axis=0))


class FitForecast(Forecast):
    """What a fit says of gains between the best and the worst, and of discounts after the first.

    `ties` say how often people tie (nu of Davidson), `lapses` how often they answer at random;
    `now` are the half widths of its intervals, nan or infinite if it has none.
    """

    def __init__(self, fit: JudgmentFit, lapses: float, ties: float) -> None:
        likelihood = fit.likelihood
        self.ties, self.lapses = ties, likelihood.index("lapses")
        held, most = np.arange(likelihood.n_parameters) == self.lapses, likelihood.bounds[1]
        shares = (np.minimum(lapses, most), 0.0)
        starts = (np.where(held, share, fit.parameters) for share in shares)
        self.fits = [
            replace(fit, maximum=maximum_from(likelihood, start, held)) for start in starts
        ]
        places = (one.parameters for one in self.fits)
        estimates = (*fit.gains()[1:-1], *fit.discounts()[1:])
        self.now = np.array([(one.high - one.low) / 2 for one in estimates])
        determined = np.isfinite(self.now)
        super().__init__(
            known=np.stack(
                [likelihood.information(x) + likelihood.prior_information(x) for x in places]
            ),
            slopes=np.stack([_contrasts(one) for one in self.fits]),
            denominators=np.stack([one.denominator_slopes for one in self.fits]),
            n_gains=len(fit.scale) - 2,
            of_lists=self._of_lists,
            degrees=np.where(determined, [one.df for one in estimates], np.inf),
            inflation=np.array(
                [
                    fit.covariance.inflation(contrast) if known else 1.0
                    for contrast, known in zip(_contrasts(fit), determined, strict=True)
                ]
            ),
        )

    def _of_lists(self, lists: Pairs) -> tuple[Floats, Floats]:
        """Return slopes and weights of answers, the lists shown on either side in turn."""
        found = [self._of_fit(fit, lists) for fit in self.fits]
        slopes, weights = map(np.stack, zip(*found, strict=True))
        return slopes, weights

    def _of_fit(self, fit: JudgmentFit, lists: Pairs) -> tuple[Floats, Floats]:
        likelihood = fit.likelihood
        shown = np.eye(len(fit.scale) + 1)[lists][..., : fit.table.shape[1]]
        rows = (shown[:, 0] - shown[:, 1]).reshape(-1, fit.table.size)
        (v, slopes), sides = fit.products(rows), np.where(np.arange(len(lists)) % 2, -1.0, 1.0)
        side = likelihood.value_of("side", fit.parameters)
        a = strict_terms(1.0, v + side * sides, float(fit.parameters[self.lapses]))
        slopes[:, likelihood.index("side")] = sides
        slopes *= a.first[V][:, None]
        slopes[:, self.lapses] = a.first[E]
        weights = strict_share(v, self.ties) * np.exp(a.value) / -np.expm1(a.value)
        return slopes, weights

    def covariances(self, more: Floats | float) -> Floats:
        """Return V; the second, without lapses."""
        found, at = super().covariances(more), self.lapses
        of_lapses = found[1, :, at]
        found[1] -= np.outer(of_lapses, of_lapses) / found[1, at, at]
        return found

    def combined(self, half_widths: Floats, covariances: Floats) -> Floats:
        """Return the expected half width: lapses are estimated as 0, or not."""
        e, v = self.fits[0].parameters[self.lapses], covariances[0, self.lapses, self.lapses]
        free = ndtr((e - (LAPSE_PRIOR - 1) * v / (1 - e)) / np.sqrt(v))
        return np.asarray(free * half_widths[0] + (1 - free) * half_widths[1])


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
