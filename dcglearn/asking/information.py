"""What more answers are expected to say: which say most together, and how wide intervals will be.

At measures theta_m drawn from what is known, an answer has information w s s' about theta, with s
the slopes of the probability P that list a is preferred, and w of 0 for a tie, which is left out:

    w = P(strict) / (P (1 - P)),    P = e / 2 + (1 - e) / (1 + exp(-v)),    v = <W, x> + side.

It changes the covariance S of draw m to S - S s s'S / (s'S s + 1 / w), a rank-one update. The next
question is that with the largest mean, over the draws, of

    log(1 + w s'S s)                             everything: D-optimal,
    -log(1 - (a'S s)^2 / ((s'S s + 1 / w) a'S a))    a number a'theta that is asked for,

Bayesian optimal design (Chaloner & Verdinelli, Statistical Science 10, 1995), greedy with exchange.

For the order of lists, what an answer says about it is added to what it says about everything. More
draws are then one normal distribution: s are the deviations of P from its mean, S the identity over
draws. So an answer says most where draws disagree, and otherwise than about the answers before. P
is that of careful judges: what is learned of the judges has no part in it.

With H the information of the judgments so far, intervals after more answers are of

    V = (H + sum_i w_i s_i s_i')^-1,    half width = t sqrt(f a'V a / (1 - t^2 f d'V d)),

with a the slopes of a ratio and d those of the logarithm of its denominator: Fieller's interval
(:mod:`dcglearn.inference.covariance`), where the error of the denominator says nothing of that of
the ratio. f is by how much clusters inflate the variance, and the degrees of freedom of t grow with
the answers. Where the denominator may be 0, the likelihood itself is asked for intervals; few are
more than 1.5 times as wide as normal ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from scipy.special import expit, stdtrit

from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Booleans, Floats, Integers, Pairs
from dcglearn.inference.answers import E, V, strict_probability, strict_terms
from dcglearn.inference.ascent import Answers
from dcglearn.inference.centres import Index, Members, Posterior, cumulated
from dcglearn.inference.estimate import JudgmentFit
from dcglearn.inference.maximise import maximum_from

N_DRAWS, N_ORDERS = 16, 256
"""Draws that the information is averaged over, and those whose orders of lists are compared."""

CAREFUL, LAPSES = 20.0, 0.05
"""Careful judges see differences that are so many times smaller, and answer so many at random."""

MOST_GREEDY = 5_000
"""So many of more candidates are looked at: half say most alone, and are alike; half are drawn."""

_TINY, _CHUNK, _ALIKE, _RIDGE, _MOST_WIDER = 1e-12, 1 << 13, 1e-9, 1e-9, 1.5


class Knowledge:
    """Normal distributions of M draws, and what answers to n candidates say about them.

    Arrays hold one row for each draw: covariances (M, P, P), slopes (M, n, P), weights w (M, n),
    and slopes of the numbers that are asked for (M, q, P), or of none if that is everything.
    """

    def __init__(self, covariances: Floats, slopes: Floats, weights: Floats, asked: Floats) -> None:
        self.covariances, self.slopes, self.weights = covariances.copy(), slopes, weights
        self.asked = asked
        moved = slopes @ covariances
        self.variances, self.toward = (slopes * moved).sum(axis=2), moved @ asked.swapaxes(1, 2)
        self.asked_variances = np.einsum("mqp,mpr,mqr->mq", asked, covariances, asked)

    def worth(self) -> Floats:
        """Return the mean over draws of the logarithm of what is left, for each candidate (n,)."""
        if not self.toward.shape[2]:
            return np.asarray(np.log1p(self.weights * self.variances).mean(axis=0))
        total = self.variances + 1 / np.maximum(self.weights, _TINY)
        known = np.maximum(self.asked_variances, _TINY)[:, None]
        share = self.toward**2 / (total[..., None] * known)
        return np.asarray(-np.log1p(-np.minimum(share, 1 - 1e-9)).mean(axis=(0, 2)))

    def update(self, i: int, sign: float = 1.0) -> None:
        """Count an answer to a candidate, or with -1 take it back."""
        s = self.slopes[:, i, :, None]
        h = self.covariances @ s
        total = s.swapaxes(1, 2) @ h + sign / np.maximum(self.weights[:, i, None, None], _TINY)
        r, to_asked = self.slopes @ h, self.asked @ h
        self.covariances -= h * h.swapaxes(1, 2) / total
        self.variances -= (r * r / total)[..., 0]
        self.toward -= r * to_asked.swapaxes(1, 2) / total
        self.asked_variances -= (to_asked**2 / total)[..., 0]


class Design:
    """Candidates, and draws of what is known before they are judged.

    Asked are sums of gains and discounts (q, L + K), or everything if there are none; and the order
    of lists, if so said.
    """

    def __init__(
        self,
        posterior: Posterior,
        lists: Pairs,
        asked: Floats,
        rng: np.random.Generator,
        ties: float = 0.0,
        design_effect: float = 1.0,
        n_draws: int = N_DRAWS,
        order: bool = False,
    ) -> None:
        self.members, self.lists = posterior.members, lists
        self.ties, self.design_effect = ties, design_effect
        self.some = np.sort(rng.choice(len(posterior.share), n_draws, p=posterior.share))
        self.hessian = posterior.hessian[self.some]
        self.covariances = np.linalg.inv(self.hessian).astype(float)
        roots = np.linalg.cholesky(self.covariances)
        normal = rng.standard_normal((n_draws, posterior.theta.shape[1]))
        self.theta = posterior.theta[self.some] + np.einsum("mpq,mq->mp", roots, normal)
        self.asked = asked @ self.members.number_slopes(self.theta, self.some)
        self.kept = np.arange(len(lists))
        if len(lists) > MOST_GREEDY:
            chunks = (lists[begin : begin + _CHUNK] for begin in range(0, len(lists), _CHUNK))
            alone = np.concatenate([self._knowledge(chunk).worth() for chunk in chunks])
            best_first, half = np.argsort(-alone, kind="stable"), MOST_GREEDY // 2
            others = rng.choice(best_first[half:], MOST_GREEDY - half, replace=False)
            self.kept = np.sort(np.append(best_first[:half], others))
        self.known = [self._knowledge(lists[self.kept])]
        if order:
            self.known.append(_of_order(posterior, lists[self.kept], rng))

    def _knowledge(self, lists: Pairs) -> Knowledge:
        return Knowledge(self.covariances, *self.of_lists(lists), self.asked)

    def of_lists(self, lists: Pairs) -> tuple[Floats, Floats]:
        """Return slopes (M, n, P) and weights (M, n) of some candidates, shown on either side."""
        members = self.members
        x = Answers(lists, np.zeros(0), np.zeros(0)).encoded(members.L)
        sides = np.where(np.arange(len(lists)) % 2, -1.0, 1.0)
        v, slopes = members.slopes(self.theta, self.some, x)
        slopes[..., members.side] = sides
        e = expit(self.theta[:, [members.lapse]])
        p = expit(v + self.theta[:, [members.side]] * sides)
        slopes *= ((1 - e) * p * (1 - p))[..., None]
        slopes[..., members.lapse] = (0.5 - p) * e * (1 - e)
        chosen = e / 2 + (1 - e) * p
        both = np.maximum(chosen * (1 - chosen), _TINY)
        return slopes, strict_share(v, self.ties) / (both * self.design_effect)

    def forecast(self, judged: bool) -> Forecast:
        """Return what the draws say of gains and discounts, without the prior of these."""
        members, some, identity = self.members, self.some, np.eye(self.members.mean.size)
        precision = np.where(np.arange(len(identity)) < members.lapse, members.precision[some], 0.0)
        known = self.hessian - precision[..., None] * identity
        denominators = denominator_slopes(members, self.theta, some) * judged  # before, a guess
        return Forecast(known, self.asked, denominators, members.L - 2, self.of_lists)

    def choose(
        self,
        n: int,
        queries: Integers | None = None,
        most: int | Integers = 1,
        exchanged: int = 0,
    ) -> Integers:
        """Choose up to n candidates, at most so many of each query, best first.

        Greedily; then each of the first `exchanged` is exchanged for a better one. Of candidates
        that are worth the same but for rounding, the first is chosen.
        """
        every = np.arange(len(self.lists)) if queries is None else queries
        room = np.zeros(every.max(initial=0) + 1, np.int64) + most
        queries, chosen = every[self.kept], list[int]()
        free = np.ones(len(self.kept), bool)

        def count(i: int, sign: int) -> None:
            free[i] = sign < 0
            room[queries[i]] -= sign
            for one in self.known:
                one.update(i, sign)

        with one_blas_thread():
            for k in chain(range(n), range(exchanged)):
                if k < len(chosen):
                    count(chosen[k], -1)
                possible = free & (room[queries] > 0)
                if possible.any():
                    worth = sum(one.worth() for one in self.known)
                    worth = np.where(possible, worth, -np.inf)
                    chosen[k : k + 1] = [int((worth >= worth.max() - _ALIKE).argmax())]
                    count(chosen[k], 1)
        return self.kept[chosen]


def _of_order(posterior: Posterior, lists: Pairs, rng: np.random.Generator) -> Knowledge:
    """Return what is known of which list of each candidate is better."""
    drawn, L = posterior.draw(N_ORDERS, rng), posterior.members.L
    shown = np.eye(L + 1)[lists, :L]  # no document, -1, is the last row
    v = np.tensordot(drawn.weights, shown[:, 0] - shown[:, 1], ((1, 2), (1, 2)))
    p = strict_probability(CAREFUL * v, LAPSES)
    slopes = (p - p.mean(axis=0)).T / np.sqrt(N_ORDERS)
    weights = 1 / (p * (1 - p)).mean(axis=0)
    asked = np.zeros((1, 0, N_ORDERS))
    return Knowledge(np.eye(N_ORDERS)[None], slopes[None], weights[None], asked)


def information(slopes: Floats, weights: Floats) -> Floats:
    """Return the summed information (M, P, P) of answers."""
    return np.asarray((slopes * weights[..., None]).swapaxes(1, 2) @ slopes)


def strict_share(v: Floats, ties: float) -> Floats:
    """Return how often an answer is no tie in Davidson's model, with nu = e^t for `ties`."""
    p = expit(v)
    return np.asarray(1.0 / (1.0 + ties * np.sqrt(p * (1 - p))))


def tie_strength(v: Floats, ties: Booleans) -> float:
    """Return nu at which as many ties are expected as there are, at utilities v (n,)."""
    share, low, high = float(np.mean(ties)), 0.0, 1e6
    for _ in range(100):
        nu = (low + high) / 2
        low, high = (nu, high) if 1 - strict_share(v, nu).mean() < share else (low, nu)
    return low if share else 0.0


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
        squares = t2 * variances / np.maximum(1 - t2 * of_denominators[:, kind], _MOST_WIDER**-2)
        return np.asarray(np.median(np.sqrt(np.maximum(squares, 0.0)), axis=0))


def forecast_of_fit(fit: JudgmentFit, posterior: Posterior, ties: float) -> tuple[Floats, Forecast]:
    """Return half widths of a fit's intervals (q,), nan or infinite if it has none; a forecast.

    They are of gains between the best and the worst, and of discounts after the first. Answers at
    random are as frequent as is expected, which is as certain as before; ties are nu of Davidson.
    """
    likelihood, estimates = fit.likelihood, (*fit.gains()[1:-1], *fit.discounts()[1:])
    now = np.array([(one.high - one.low) / 2 for one in estimates])
    determined, inflation = np.isfinite(now), np.ones(len(now))
    at = likelihood.places["lapses"].start
    held = np.arange(likelihood.n_parameters) == at
    start = np.where(held, np.minimum(posterior.lapses, likelihood.bounds[1]), fit.parameters)
    there = replace(fit, maximum=maximum_from(likelihood, start, held))
    x = there.parameters
    contrasts, slopes = (
        np.concatenate([one.gain_slopes[1:-1], one.discount_slopes[1:]]) for one in (fit, there)
    )
    inflation[determined] = [*map(fit.covariance.inflation, contrasts[determined])]
    values, denominators = there.products(np.stack([there.grade_rows[0], there.rank_rows[0]]))
    known, members = likelihood.information(x) - likelihood.prior(x).hessian, posterior.members
    known[at, at] += members.precision[0, members.lapse] / (x[at] * (1 - x[at])) ** 2

    def of_lists(lists: Pairs) -> tuple[Floats, Floats]:
        """Return slopes and weights of answers, the lists shown on either side in turn."""
        shown = np.eye(len(fit.scale) + 1)[lists][..., : there.table.shape[1]]
        rows = (shown[:, 0] - shown[:, 1]).reshape(-1, there.table.size)
        (v, slopes), sides = there.products(rows), np.where(np.arange(len(lists)) % 2, -1.0, 1.0)
        a = strict_terms(1.0, v + likelihood.value_of("side", x) * sides, float(x[at]))
        slopes[:, likelihood.places["side"].start] = sides
        slopes *= a.first[V][:, None]
        slopes[:, at] = a.first[E]
        weights = strict_share(v, ties) * np.exp(a.value) / -np.expm1(a.value)
        return slopes[None], weights[None]

    return now, Forecast(
        known=known[None],
        slopes=slopes[None],
        denominators=(denominators / np.where(values == 0, np.nan, values)[:, None])[None],
        n_gains=len(fit.scale) - 2,
        of_lists=of_lists,
        degrees=np.where(determined, [one.df for one in estimates], np.inf),
        inflation=inflation,
    )


def denominator_slopes(members: Members, theta: Floats, some: Index) -> Floats:
    """Return those of the logarithms of what gains and discounts are relative to, (f, 2, P)."""
    best = np.eye(members.L)[0] - np.eye(members.L)[-1]
    ranks = np.stack([np.ones((members.K, 1)), np.eye(members.K)[:, :1]])
    v, slopes = members.slopes(theta, some, cumulated(ranks * best))
    return np.asarray(slopes / v[..., None])
