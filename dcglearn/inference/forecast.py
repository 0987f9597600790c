"""How wide intervals will be after more answers.

With H the information of the judgments so far, an answer to two lists adds w z z', with z the
slopes of log P(a) and w = P(strict) P(a) / (1 - P(a)). So

    V = (H + sum_i w_i z_i z_i')^-1,    half width = t sqrt(f a'V a / (1 - t^2 f d'V d)),

with a the slopes of a ratio and d those of the logarithm of its denominator: Fieller's interval
(:mod:`dcglearn.inference.ratios`), where the error of the denominator says nothing of that of the
ratio. f is by how much clusters inflate the variance, and the degrees of freedom of t grow with the
answers. Where the denominator may be 0, the likelihood itself is asked for intervals; they are
hardly ever more than twice as wide as normal ones.

From few answers the share of lapses is often estimated as 0, its bound, and then taken as known: so
answers seem to say more than they will. Therefore it is held at what is expected of it, e, and
its variance v counts as often as its estimate, which the prior lowers, will not be at the bound:

    P(free) = Phi((e - (10 - 1) v / (1 - e)) / sqrt(v)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, stdtrit

from dcglearn.base.types import Floats, Pairs
from dcglearn.inference.answers import E, V, strict_share, strict_terms
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.likelihood import LAPSE_PRIOR
from dcglearn.inference.maximise import maximum_from

MOST_WIDER = 2.0
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
        return np.asarray(np.sqrt(np.maximum(np.median(squares, axis=0), 0.0)))


class FitForecast(Forecast):
    """What a fit says of gains between the best and the worst, and of discounts after the first.

    `ties` say how often people tie (nu of Davidson), `lapses` how often they answer at random;
    `now` are the half widths of its intervals, nan or infinite if it has none.
    """

    def __init__(self, fit: JudgmentFit, lapses: float, ties: float) -> None:
        likelihood = fit.likelihood
        self.ties, self.lapses = ties, likelihood.index("lapses")
        held = np.arange(likelihood.n_parameters) == self.lapses
        start = np.where(held, np.minimum(lapses, likelihood.bounds[1]), fit.parameters)
        self.fit = replace(fit, maximum=maximum_from(likelihood, start, held))
        x = self.fit.parameters
        estimates = (*fit.gains()[1:-1], *fit.discounts()[1:])
        self.now = np.array([(one.high - one.low) / 2 for one in estimates])
        determined = np.isfinite(self.now)
        super().__init__(
            known=(likelihood.information(x) + likelihood.prior_information(x))[None],
            slopes=_contrasts(self.fit)[None],
            denominators=self.fit.denominator_slopes[None],
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
        fit, likelihood = self.fit, self.fit.likelihood
        shown = np.eye(len(fit.scale) + 1)[lists][..., : fit.table.shape[1]]
        rows = (shown[:, 0] - shown[:, 1]).reshape(-1, fit.table.size)
        (v, slopes), sides = fit.products(rows), np.where(np.arange(len(lists)) % 2, -1.0, 1.0)
        side = likelihood.value_of("side", fit.parameters)
        a = strict_terms(1.0, v + side * sides, float(fit.parameters[self.lapses]))
        slopes[:, likelihood.index("side")] = sides
        slopes *= a.first[V][:, None]
        slopes[:, self.lapses] = a.first[E]
        weights = strict_share(v, self.ties) * np.exp(a.value) / -np.expm1(a.value)
        return slopes[None], weights[None]

    def covariances(self, more: Floats | float) -> Floats:
        """Return V, with the variance of lapses as often as they will not be estimated as 0."""
        found, at = super().covariances(more), self.lapses
        e, v = self.fit.parameters[at], found[:, at, at]
        free = ndtr((e - (LAPSE_PRIOR - 1) * v / (1 - e)) / np.sqrt(v))
        of_lapses = found[:, :, at]
        held = of_lapses[:, :, None] * of_lapses[:, None, :] / v[:, None, None]
        return np.asarray(found - (1 - free)[:, None, None] * held)


def _contrasts(fit: JudgmentFit) -> Floats:
    return np.concatenate([fit.gain_slopes[1:-1], fit.discount_slopes[1:]])
