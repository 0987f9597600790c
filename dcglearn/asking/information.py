"""What one more answer is expected to say, and the answers that say most together.

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
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from scipy.special import expit

from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Booleans, Floats, Integers, Pairs
from dcglearn.inference.answers import strict_probability
from dcglearn.inference.ascent import Answers
from dcglearn.inference.centres import Posterior

N_DRAWS, N_ORDERS = 16, 256
"""Draws that the information is averaged over, and those whose orders of lists are compared."""

CAREFUL, LAPSES = 20.0, 0.05
"""Careful judges see differences that are so many times smaller, and answer so many at random."""

MOST_GREEDY = 5_000
"""Of more candidates so many are chosen from: those that say most alone, and as many others.

What says most alone is alike, and says little together.
"""

_TINY, _CHUNK, _ALIKE = 1e-12, 1 << 13, 1e-9


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
        self.covariances = np.linalg.inv(posterior.hessian[self.some]).astype(float)
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

    def choose(
        self,
        n: int,
        queries: Integers | None = None,
        most: int | Integers = 1,
        exchanged: int | None = None,
    ) -> list[int]:
        """Choose up to n candidates, at most so many of each query, best first.

        Greedily; then each of the first `exchanged`, by default all, is exchanged for a better one.
        Of candidates that are worth the same but for rounding, the first is chosen.
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
            for k in chain(range(n), range(n if exchanged is None else exchanged)):
                if k < len(chosen):
                    count(chosen[k], -1)
                possible = free & (room[queries] > 0)
                if possible.any():
                    worth = sum(one.worth() for one in self.known)
                    worth = np.where(possible, worth, -np.inf)
                    chosen[k : k + 1] = [int((worth >= worth.max() - _ALIKE).argmax())]
                    count(chosen[k], 1)
        return [int(i) for i in self.kept[chosen]]


def _of_order(posterior: Posterior, lists: Pairs, rng: np.random.Generator) -> Knowledge:
    """Return what is known of which list of each candidate is better."""
    drawn, L = posterior.draw(N_ORDERS, rng), posterior.members.L
    shown = np.eye(L + 1)[lists, :L]  # no document, -1, is the last row
    v = np.tensordot(drawn.weights, shown[:, 0] - shown[:, 1], ((1, 2), (1, 2)))
    p = strict_probability(CAREFUL * v, LAPSES)
    slopes = (p - p.mean(axis=0)).T / np.sqrt(N_ORDERS)
    weights = 1 / (p * (1 - p)).mean(axis=0)
    return Knowledge(
        np.eye(N_ORDERS)[None], slopes[None], weights[None], np.zeros((1, 0, N_ORDERS))
    )


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
