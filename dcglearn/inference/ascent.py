"""The most probable gains and discounts around each of several centres, and the evidence for it.

For the preferred list of an answer, with v = <W, x> + side and a share e of lapses,

    P = e / 2 + (1 - e) / (1 + exp(-v)).

All members (:mod:`dcglearn.inference.centres`) climb together: Fisher scoring, then Newton's steps
(:mod:`dcglearn.inference.maximise`). The log evidence is Laplace's approximation (MacKay, Neural
Computation 4, 1992).

Of many answers, members climb on a part first, and those far behind stay there. Beyond some
thousands, the others share one expansion of the likelihood in (W, side, e), made anew at the
best member until that does not move. (In logit e, it would not hold where hardly any answer is a
lapse.) Where it does not hold, such as for answers without noise, each has its own, of at most
20,000 answers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.answers import E, Terms, V, strict_terms
from dcglearn.inference.centres import SPREADS, Members, cumulated
from dcglearn.inference.maximise import MAX_STEPS, Ascent
from dcglearn.learning.source import Arrays, Block

PARTS = (500, 4000)
"""Sizes of the parts of more answers on which members climb first."""

MOST_ALONE = 20_000
"""Of more answers, evenly spaced ones are used where members cannot share expansions."""

_TOLERANCE, _MOST_EXPANSIONS, _SETTLED, _TINY = 1e-6, 10, 1e-4, 1e-300
_CANNOT_COUNT, _FAR_BEHIND = 15.0, 10.0
_CHUNK, _NUMBERS, _OF_INFORMATION = 1 << 17, 1 << 18, 1 << 17


class Answers(NamedTuple):
    """Strict answers, the preferred list first; `sides` are 1 if it was a, -1 b, 0 unknown."""

    pairs: Pairs
    weights: Floats
    sides: NDArray[Any]

    def take(self, rows: slice) -> Answers:
        """Return some of them."""
        return Answers._make(one[rows] for one in self)

    def spaced(self, most: int) -> Answers:
        """Return at most so many, evenly spaced."""
        return self.take(slice(None, None, -(-len(self.pairs) // most)))

    def parts(self, size: int) -> list[Answers]:
        """Return them in parts of at most so many."""
        return [self.take(slice(k, k + size)) for k in range(0, len(self.pairs), size)]

    def encoded(self, n_grades: int) -> Floats:
        """Return x = s(preferred) - s(other), cumulated, (n, K, L), with answers last in memory."""
        grades, lists = np.arange(n_grades, dtype=self.pairs.dtype), self.pairs.transpose(1, 2, 0)
        first, second = lists[:, :, None] == grades[:, None]
        x = np.subtract(first, second, dtype=float).cumsum(axis=0).cumsum(axis=1)
        return np.asarray(x.transpose(2, 0, 1))


Expansion = tuple[Floats, Floats, Floats]
"""Minus a log likelihood of members (f,), gradients (f, P), and information (f, P, P)."""


class OwnExpansions:
    """The likelihood of answers, for each member at its own parameters."""

    def __init__(self, members: Members, answers: Answers) -> None:
        self.members = members
        self.parts = [(part, part.encoded(members.L)) for part in answers.parts(PARTS[-1])]

    def expand(self, theta: Floats, some: Integers, observed: bool) -> Expansion:
        """Expand it at parameters (f, P); the information is Fisher's, or that observed."""
        parts = []
        for part, x in self.parts:
            at_once = max(1, _NUMBERS // (len(x) * theta.shape[1]))  # members that the cache holds
            cuts = [slice(begin, begin + at_once) for begin in range(0, len(theta), at_once)]
            found = [self._expand(theta[cut], some[cut], observed, part, x) for cut in cuts]
            parts.append([np.concatenate(one) for one in zip(*found, strict=True)])
        sums: Any = map(sum, zip(*parts, strict=True))
        value, gradient, information, pull, of_lapses = sums
        if observed:
            pull = pull.reshape(-1, self.members.K, self.members.L)
            information -= self.members.curvature(theta, some, pull, of_lapses)
        return value, gradient, information

    def _expand(
        self, theta: Floats, some: Integers, observed: bool, part: Answers, x: Floats
    ) -> tuple[Floats, ...]:
        """Return an expansion, and derivatives in W and e."""
        members, lapse = self.members, self.members.lapse
        e = expit(theta[:, lapse])
        v, slopes = members.slopes(theta, some, x)
        v += theta[:, [members.side]] * part.sides
        slopes[..., members.side] = part.sides
        terms, by_logit = strict_terms(1.0, v, e[:, None]), e * (1 - e)
        of_v, of_e = part.weights * terms.first[V], part.weights * terms.first[E]
        gradient, of_lapses = -np.vecmat(of_v, slopes), of_e.sum(axis=1)
        gradient[:, lapse] = -by_logit * of_lapses
        if observed:
            vv, ve, ee = (-part.weights * terms.second[one] for one in (V + V, V + E, E + E))
        else:
            odds = _odds(terms)
            vv, ve, ee = (
                odds * one
                for one in (of_v * terms.first[V], of_v * terms.first[E], of_e * terms.first[E])
            )
        information = (slopes * vv[..., None]).mT @ slopes
        cross = by_logit[:, None] * np.vecmat(ve, slopes)
        information[:, lapse] += cross
        information[:, :, lapse] += cross
        information[:, lapse, lapse] += by_logit**2 * ee.sum(axis=1)
        pull = of_v @ x.reshape(len(x), -1)
        return -(terms.value @ part.weights), gradient, information, pull, of_lapses


class SharedExpansion:
    """The likelihood of many answers, to second order in (W, side, e) at one point.

    Its value and gradient there are those of all answers; of very many, some give the information.
    """

    def __init__(self, members: Members, parts: list[tuple[Answers, Block]], at: Floats) -> None:
        self.members, self.at = members, at
        n = members.K * members.L
        self.unit = cumulated(np.eye(n).reshape(n, members.K, members.L))
        every = -(-len(parts) * _CHUNK // _OF_INFORMATION)
        self.value_at_place, self.gradient = 0.0, np.zeros(len(at))
        self.information = np.zeros((len(at), len(at)))
        for part, block in parts:
            v = block.matvec(at[:n]) + at[n] * part.sides
            terms = strict_terms(1.0, v, at[-1])
            of_v = terms.first[V]
            others = np.stack([of_v * part.sides, terms.first[E]])
            self.value_at_place -= float(terms.value @ part.weights)
            self.gradient[:n] += block.rmatvec(part.weights * of_v, slice(None))
            self.gradient[n:] += others @ part.weights
            rows = np.arange(0, len(v), every)
            variance = every * (part.weights * _odds(terms))[rows]
            of_v, others = of_v[rows], others[:, rows]
            self.information[:n, :n] += block.gram(rows, variance * of_v**2)
            cross = np.stack([block.rmatvec(variance * of_v * other, rows) for other in others])
            self.information[n:, :n] += cross
            self.information[:n, n:] += cross.T
            self.information[n:, n:] += others * variance @ others.T

    def expand(self, theta: Floats, some: Integers, observed: bool) -> Expansion:
        """Expand it at parameters (f, P); the information is Fisher's, or that observed."""
        members, n = self.members, len(self.unit)
        slopes = np.zeros((len(theta), len(self.at), theta.shape[1]))
        slopes[:, :n] = members.slopes(theta, some, self.unit)[1]
        e = expit(theta[:, members.lapse])
        slopes[:, n, members.side], slopes[:, n + 1, members.lapse] = 1.0, e * (1 - e)
        away = members.place(theta, some) - self.at
        bend = away @ self.information
        pull = self.gradient - bend
        information = slopes.mT @ (self.information @ slopes)
        if observed:
            of_weights = cumulated(pull[:, :n].reshape(-1, members.K, members.L))
            information -= members.curvature(theta, some, of_weights, pull[:, -1])
        value = self.value_at_place + np.vecdot(away, bend) / 2 - away @ self.gradient
        return value, -np.vecmat(pull, slopes), information


def _odds(terms: Terms) -> Floats:
    """Return P / (1 - P)."""
    return np.exp(terms.value) / np.maximum(-np.expm1(terms.value), _TINY)


class MembersAscent(Ascent):
    """Members on the way to their highest posteriors."""

    def __init__(
        self,
        members: Members,
        likelihood: OwnExpansions | SharedExpansion,
        theta: Floats,
        some: Integers,
    ) -> None:
        self.members, self.likelihood, self.some = members, likelihood, some
        super().__init__(self._posterior, theta, some)

    def _posterior(self, theta: Floats, some: Integers, observed: bool) -> Expansion:
        """Expand minus the log posterior."""
        value, gradient, hessian = self.likelihood.expand(theta, some, observed)
        away, pull = self.members.prior(theta, some)
        diagonal = np.arange(theta.shape[1])
        hessian[:, diagonal, diagonal] += self.members.precision[some]
        return value + away, gradient + pull, hessian

    def settle(self) -> MembersAscent:
        """Move to the maxima, with Fisher's information there; not where evidence cannot count."""
        late = self.run(self.some, _TOLERANCE)
        rise = self.rise[late]
        self.offer(self.some, self.theta[self.some], observed=False)
        reachable = self.evidence()[late] + 10 * rise
        if (reachable > self.evidence()[self.some].max() - _CANNOT_COUNT).any():
            raise SolverError(f"posteriors ({len(late)}) without a maximum in {MAX_STEPS} steps")
        return self

    def ahead(self) -> Integers:
        """Return the members whose evidence is not far behind the best."""
        evidence = self.evidence()
        return np.flatnonzero(evidence > evidence.max() - _FAR_BEHIND)

    def best_place(self) -> tuple[Floats, float]:
        """Return (W, side, e) of the member of most evidence, and minus its log prior."""
        best = np.array([np.argmax(self.evidence())])
        theta = self.theta[best]
        return self.members.place(theta, best)[0], self.members.prior(theta, best)[0][0]

    def evidence(self) -> Floats:
        """Return the log evidence at the present parameters, by Laplace's approximation."""
        volume = np.log(self.members.precision).sum(axis=1) - np.linalg.slogdet(self.hessian)[1]
        return np.asarray(volume / 2 - self.value + self.members.log_prior)


def start(members: Members, likelihood: OwnExpansions) -> MembersAscent:
    """Return members at their centres, or at what the first has learned if that is more probable.

    The first, with a spread of 1, learns alone: from W near its maximum, no step is too far.
    """
    first, everyone = SPREADS.index(1.0), np.arange(len(members))
    at_centre = np.tile(members.mean, (len(members), 1))
    alone = MembersAscent(members, likelihood, at_centre, np.array([first])).settle()
    moved = members.translated(alone.theta[first], first)
    found = MembersAscent(members, likelihood, at_centre, everyone)
    found.offer(everyone, moved, observed=False)
    return found


def estimate(members: Members, answers: Answers) -> tuple[MembersAscent, int]:
    """Return members at their maxima, but for those far behind on a part, and the answers used."""
    n = len(answers.pairs)
    first, *larger = [*(size for size in PARTS if size < n), n]
    used = answers.spaced(first)
    found = start(members, OwnExpansions(members, used)).settle()
    for size in larger:
        used = answers.spaced(size)
        settled = _settled(members, used, found) if n > PARTS[-1] else None
        if settled is None:
            used = answers.spaced(min(size, MOST_ALONE))
            alone = OwnExpansions(members, used)
            settled = MembersAscent(members, alone, found.theta, found.ahead()).settle()
        found = settled
    return found, len(used.pairs)


def _settled(members: Members, answers: Answers, last: MembersAscent) -> MembersAscent | None:
    """Return members at their maxima by shared expansions; None where these do not hold."""
    parts = [(one, Arrays(one.pairs, members.L).blocks[0]) for one in answers.parts(_CHUNK)]
    found, lowest = last, np.inf
    for _ in range(_MOST_EXPANSIONS):
        place, height = found.best_place()
        shared = SharedExpansion(members, parts, place)
        height += shared.value_at_place
        if height > lowest + _SETTLED:
            break
        lowest = height
        try:
            found = MembersAscent(members, shared, found.theta, last.ahead()).settle()
        except SolverError:
            break
        away = found.best_place()[0] - place
        if away @ shared.information @ away < _SETTLED:
            return found
    return None
