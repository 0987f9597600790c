"""What one more answer is expected to say, and the answers that say most together.

At measures theta_m drawn from what is known, an answer has information w s s' about theta, with s
the slopes of the probability P that list a is preferred, and w of 0 for a tie, which is left out:

    w = P(strict) / (P (1 - P)),    P = e / 2 + (1 - e) / (1 + exp(-v)),    v = <W, x> + side.

It changes the covariance S of draw m to S - S s s'S / (s'S s + 1 / w), a rank-one update. The next
question is that with the largest mean, over the draws, of

    log(1 + w s'S s)                             everything: D-optimal,
    -log(1 - (a'S s)^2 / ((s'S s + 1 / w) a'S a))    a number a'theta that is asked for,

Bayesian optimal design (Chaloner & Verdinelli, Statistical Science 10, 1995), greedy with exchange.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dcglearn.base.threads import one_blas_thread
from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.ascent import Answers
from dcglearn.inference.centres import Members, Posterior, sums_from

N_DRAWS = 16
"""Draws that the information is averaged over."""

MOST_GREEDY = 5_000
"""Of more candidates so many are chosen from: those that say most alone, and as many others.

What says most alone is alike, and says little together.
"""

_TINY, _CHUNK = 1e-12, 1 << 13


def number_slopes(members: Members, theta: Floats, some: NDArray[np.intp]) -> Floats:
    """Return the derivatives of gains and discounts, (M, L + K, P), at parameters of members."""
    by_rank, by_grade = members.steps(theta, some)
    found = np.zeros((len(theta), members.L + members.K, theta.shape[1]))
    found[:, : members.L - 1, members.K : members.scale] = _sum_slopes(by_grade[:, :-1])
    found[:, members.L :, : members.K] = _sum_slopes(by_rank)
    return found


def _sum_slopes(steps: Floats) -> Floats:
    """Return du_l/dz_j, (M, n, n), for u_l = sum_{j >= l} step_j exp(z_j) over u_1."""
    sums = sums_from(steps)
    u, shares = sums / sums[:, :1], steps / sums[:, :1]
    return np.asarray((np.triu(np.ones((steps.shape[1],) * 2)) - u[..., None]) * shares[:, None])


class Design:
    """Candidates, and what is known before and after answers to some of them.

    Asked are sums of gains and discounts (q, L + K), or everything if there are none. Arrays hold
    one row for each of M draws: slopes of n candidates (M, n, P), the weights w of their
    information (M, n), covariances (M, P, P), and slopes of what is asked (M, q, P).
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
    ) -> None:
        members = posterior.members
        some = np.sort(rng.choice(len(posterior.share), n_draws, p=posterior.share))
        self.covariances = np.linalg.inv(posterior.hessian[some])
        roots = np.linalg.cholesky(self.covariances)
        normal = rng.standard_normal((n_draws, posterior.theta.shape[1]))
        self.theta = posterior.theta[some] + np.einsum("mpq,mq->mp", roots, normal)
        self.members, self.some, self.lists = members, some, lists
        self.ties, self.design_effect = ties, design_effect
        self.asked = asked @ number_slopes(members, self.theta, some)
        self.asked_variances = np.einsum(
            "mqp,mpr,mqr->mq", self.asked, self.covariances, self.asked
        )
        self.kept = np.arange(len(lists))
        if len(lists) > MOST_GREEDY:
            best_first, half = np.argsort(-self._alone(), kind="stable"), MOST_GREEDY // 2
            others = rng.choice(best_first[half:], MOST_GREEDY - half, replace=False)
            self.kept = np.sort(np.append(best_first[:half], others))
        self.slopes, self.weights = self.of_lists(lists[self.kept])
        self.variances, self.toward = self._spread(self.slopes)

    def _spread(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the variances (M, n) along slopes, and their covariances with what is asked."""
        moved = slopes @ self.covariances
        return (slopes * moved).sum(axis=2), moved @ self.asked.swapaxes(1, 2)

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

    def _alone(self) -> Floats:
        """Return what each candidate says by itself, in chunks."""
        found = []
        for begin in range(0, len(self.lists), _CHUNK):
            slopes, weights = self.of_lists(self.lists[begin : begin + _CHUNK])
            spread = self._spread(slopes)
            found.append(_criterion(weights, *spread, self.asked_variances))
        return np.concatenate(found)

    def worth(self) -> Floats:
        """Return what an answer to each candidate is expected to say, (n,)."""
        return _criterion(self.weights, self.variances, self.toward, self.asked_variances)

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

    def choose(
        self,
        n: int,
        queries: Integers | None = None,
        most: int | Integers = 1,
        exchanged: int | None = None,
    ) -> list[int]:
        """Choose up to n candidates, at most so many of each query, best first.

        Greedily; then each of the first `exchanged`, by default all, is exchanged for a better one.
        """
        every = np.arange(len(self.lists)) if queries is None else queries
        room = np.zeros(every.max(initial=0) + 1, np.int64) + most
        queries = every[self.kept]
        free, chosen = np.ones(len(self.kept), bool), list[int]()

        def best() -> int:
            return int(np.argmax(np.where(free & (room[queries] > 0), self.worth(), -np.inf)))

        def count(i: int, sign: int) -> None:
            free[i] = sign < 0
            room[queries[i]] -= sign
            self.update(i, sign)

        with one_blas_thread():
            while len(chosen) < n and (free & (room[queries] > 0)).any():
                chosen.append(best())
                count(chosen[-1], 1)
            for k, i in enumerate(chosen[:exchanged]):
                count(i, -1)
                chosen[k] = best()
                count(chosen[k], 1)
        return [int(i) for i in self.kept[chosen]]


def information(slopes: Floats, weights: Floats) -> Floats:
    """Return the summed information (M, P, P) of answers."""
    return np.asarray((slopes * weights[..., None]).swapaxes(1, 2) @ slopes)


def strict_share(v: Floats, ties: float) -> Floats:
    """Return how often an answer is no tie at utilities v.

    `ties` is nu of Davidson's model (Journal of the American Statistical Association 65, 1970):
    P(tie) = nu / (nu + 2 cosh(v / 2)).
    """
    p = expit(v)
    return np.asarray(1.0 / (1.0 + ties * np.sqrt(p * (1 - p))))


def _criterion(weights: Floats, variances: Floats, toward: Floats, known: Floats) -> Floats:
    """Return the mean over draws of the logarithm of what is left, for each candidate (n,)."""
    if not toward.shape[2]:
        return np.asarray(np.log1p(weights * variances).mean(axis=0))
    total = variances + 1 / np.maximum(weights, _TINY)
    share = toward**2 / (total[..., None] * np.maximum(known, _TINY)[:, None])
    return np.asarray(-np.log1p(-np.minimum(share, 1 - 1e-9)).mean(axis=(0, 2)))


def tie_strength(v: Floats, ties: Sequence[bool] | NDArray[np.bool_]) -> float:
    """Return nu at which as many ties are expected as there are, at utilities v (n,)."""
    share, low, high = float(np.mean(ties)), 0.0, 1e6
    for _ in range(100):
        nu = (low + high) / 2
        low, high = (nu, high) if 1 - strict_share(v, nu).mean() < share else (low, nu)
    return low if share else 0.0
