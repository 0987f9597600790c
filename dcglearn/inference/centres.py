"""Gains and discounts around usual measures: sums of steps that may be larger or smaller.

    c_k = sum_{j >= k} d_j exp(z_j),    g_l = sum_{m >= l} e_m exp(y_m),    z, y ~ N(0, spread^2)

d and e are the steps of a usual measure, the *centre*, from rank to rank and from grade to grade.
So gains and discounts fall whatever the parameters. The utility is W = s c g' with
log s ~ N(1, 1.5^2); answers have a share e of lapses, logit e ~ N(-2.5, 1.5^2), and a side bias
~ N(0, 1.5^2). Where lists have different lengths, the worst grade may be worth more or less than an
empty rank, by h ~ N(that of linear gains, .5^2), relative to the best grade at the centre.

A *member* is a centre with a spread. Arrays hold one row for each of f members. With the encoded
difference x of two lists, (K, L), cumulated over ranks and grades, <W, x> = s sum_jm d_j e_m x_jm.

Measures as probable as judgments make them are drawn around members m,

    theta ~ sum_m share_m N(theta_m, H_m^-1)

each with its share of the evidence, its most probable parameters and the information there:
Laplace's approximation (MacKay, Neural Computation 4, 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers, ShortRepr
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale

SPREADS = (0.25, 0.5, 1.0, 2.0)
"""How far the logarithm of a step may be from that of the centre, as a standard deviation.

Its own logarithm is normal around log .35, by 1.2: a usual measure that is true is left rarely.
"""

MOST_USED = ("linear-log2", "exponential-log2")
"""Each has a quarter of the prior: 7 times as much as each of the other 14 centres."""

SMALLEST_STEP = 0.05
"""A centre's steps are at least this share of their mean: a factor moves them."""

Index = Integers | slice

_SCALE, _LAPSES, _SIDE, _EMPTY_SD = (1.0, 1.5), (-2.5, 1.5), (0.0, 1.5), 0.5


class Centre(NamedTuple):
    """A usual measure: gains (L,) from 1 to 0, discounts (K,) from 1 down, and its log prior."""

    name: str
    gains: Floats
    discounts: Floats
    log_prior: float = 0.0


def usual_centres(scale: Scale, n_ranks: int) -> list[Centre]:
    """Return the centres: four gains by four discounts."""
    r = np.array(scale.values) - scale.values[-1]
    gains = {
        "linear": r,
        "exponential": 2.0 ** (r - r[0]) - 2.0 ** -r[0],
        "root": np.sqrt(r),
        "binary": (r == r[0]).astype(float),
    }
    i = np.arange(1.0, n_ranks + 1)
    discounts = {
        "log2": 1 / np.log2(i + 1),
        "zipf": 1.0 / i,
        "rbp:0.95": 0.95 ** (i - 1),
        "rbp:0.7": 0.7 ** (i - 1),
    }
    return [
        Centre(name := f"{gain}-{discount}", g / g[0], c, (name in MOST_USED) * np.log(7))
        for gain, g in gains.items()
        for discount, c in discounts.items()
    ]


def centre_of(measure: DCG, name: str, n_ranks: int) -> Centre:
    """Return a measure as a centre; its gains and discounts may not rise."""
    gains = np.array(measure.gains)
    discounts = measure.discounts_for(n_ranks)
    rises = (np.diff(gains) > 0).any() or (np.diff(discounts) > 0).any()
    if rises or gains[0] == gains[-1] or discounts[0] <= 0 or discounts[-1] < 0:
        remedy = "name a measure whose gains and discounts fall, or `prior='usual'`"
        raise InputError(f"{name} cannot be a prior", remedy)
    span = gains[0] - gains[-1]
    return Centre(name, (gains - gains[-1]) / span, discounts / discounts[0])


class Members:
    """Centres with spreads: gains and discounts as functions of parameters, shape (F, P).

    The parameters are z (K), y (L - 1), log s, logit e, the side, and the worth h of the worst
    grade over an empty rank, by `worst` before any judgment, if lists have such.
    """

    def __init__(self, centres: list[Centre], worst: float, has_empty: bool) -> None:
        self.names = [one.name for one in centres]
        discounts, gains = (np.stack([one[k] for one in centres]) for k in (2, 1))
        n, self.K, self.L = len(SPREADS), discounts.shape[1], gains.shape[1]
        self.spreads = np.tile(SPREADS, len(centres))
        self.rank_steps = np.repeat(_steps(discounts), n, axis=0)
        self.grade_steps = np.repeat(_steps(gains[:, :-1]), n, axis=0)
        self.log_prior = np.repeat([one.log_prior for one in centres], n)
        self.log_prior -= (np.log(self.spreads / 0.35) / 1.2) ** 2 / 2
        at = self.K + self.L - 1
        self.ranks, self.grades = slice(self.K), slice(self.K, at)
        self.scale, self.lapse, self.side, self.empty = range(at, at + 4)
        self.has_empty = has_empty
        more = [_SCALE, _LAPSES, _SIDE] + has_empty * [(worst, _EMPTY_SD)]
        means, deviations = np.array(more).T
        self.mean = np.append(np.zeros(at), means)
        of_steps = np.repeat(self.spreads[:, None], at, axis=1)
        self.precision = np.hstack([of_steps, np.tile(deviations, (len(self), 1))]) ** -2

    def __len__(self) -> int:
        return len(self.spreads)

    def steps(self, theta: Floats, some: Index) -> tuple[Floats, Floats]:
        """Return the steps of the discounts, (f, K), and the gains, (f, L), of some members.

        The last one of the gains is h, by which all are above an empty rank.
        """
        factors = np.exp(theta[:, : self.scale])
        by_grade = np.zeros((len(theta), self.L))
        by_grade[:, :-1] = self.grade_steps[some] * factors[:, self.K :]
        if self.has_empty:
            by_grade[:, -1] = theta[:, self.empty]
        return self.rank_steps[some] * factors[:, : self.K], by_grade

    def measures(self, theta: Floats, some: Index = slice(None)) -> Draws:
        """Return the measures, W = s c g', and judges of some members."""
        c, g = map(sums_from, self.steps(theta, some))
        W = np.exp(theta[:, self.scale])[:, None, None] * c[:, :, None] * g[:, None, :]
        return Draws(W, expit(theta[:, self.lapse]), theta[:, self.side])

    def place(self, theta: Floats, some: Index) -> Floats:
        """Return (W, side, e) of some members, shape (f, K L + 2)."""
        at = self.measures(theta, some)
        return np.column_stack([at.weights.reshape(len(theta), -1), at.side, at.lapses])

    def slopes(self, theta: Floats, some: Index, x: Floats) -> tuple[Floats, Floats]:
        """Return <W, x>, shape (f, n), and its derivatives, shape (f, n, P), for cumulated x."""
        by_rank, by_grade = self.steps(theta, some)
        by_rank *= np.exp(theta[:, [self.scale]])
        x = np.ascontiguousarray(x.transpose(1, 2, 0))  # long rows are faster: answers come last
        of_grades = (by_rank @ x.reshape(self.K, -1)).reshape(len(theta), self.L, -1)
        found = np.empty((len(theta), self.mean.size, x.shape[2]))
        steps = by_rank[..., None, None] * by_grade[:, None, None]
        np.matmul(steps, x, out=found[:, self.ranks, None])
        np.multiply(by_grade[:, :-1, None], of_grades[:, :-1], out=found[:, self.grades])
        found[:, self.scale] = v = found[:, self.ranks].sum(axis=1)
        found[:, self.lapse :] = 0.0
        if self.has_empty:
            found[:, self.empty] = of_grades[:, -1]
        return v, found.mT

    def number_slopes(self, theta: Floats, some: Index) -> Floats:
        """Return the derivatives of gains and discounts, shape (f, L + K, P)."""
        by_rank, by_grade = self.steps(theta, some)
        found = np.zeros((len(theta), self.L + self.K, theta.shape[1]))
        found[:, : self.L - 1, self.grades] = _sum_slopes(by_grade[:, :-1])
        found[:, self.L :, self.ranks] = _sum_slopes(by_rank)
        return found

    def curvature(self, theta: Floats, some: Index, pull: Floats, of_lapses: Floats) -> Floats:
        """Return the second derivatives of <W, pull> + e of_lapses, shape (f, P, P).

        `pull` are cumulated, (f, K, L), and `of_lapses` (f,).
        """
        by_rank, by_grade = self.steps(theta, some)
        both = np.exp(theta[:, self.scale])[:, None, None] * by_rank[..., None] * pull
        found = np.zeros((len(theta), self.mean.size, self.mean.size))
        steps = range(self.scale)
        if self.has_empty:
            found[:, self.ranks, self.empty] = both[..., -1]
            found[:, self.scale, self.empty] = both[..., -1].sum(axis=1)
        both *= by_grade[:, None]
        of_steps = np.hstack([both.sum(axis=2), both.sum(axis=1)[:, :-1]])
        found[:, steps, steps] = found[:, steps, self.scale] = of_steps
        found[:, self.ranks, self.grades] = both[..., :-1]
        found[:, self.scale, self.scale] = of_steps[:, self.ranks].sum(axis=1)
        e = expit(theta[:, self.lapse])
        found[:, self.lapse, self.lapse] = e * (1 - e) * (1 - 2 * e) * of_lapses
        return found + np.triu(found, 1).mT

    def translated(self, theta: Floats, member: int) -> Floats:
        """Return parameters of all members with the W of one at its parameters, shape (F, P)."""
        by_rank, by_grade = self.steps(theta[None], np.array([member]))
        found = np.tile(theta, (len(self), 1))
        found[:, self.ranks] = np.log(by_rank / self.rank_steps)
        found[:, self.grades] = np.log(by_grade[:, :-1] / self.grade_steps)
        for part in (self.ranks, self.grades):
            mean = found[:, part].mean(axis=1, keepdims=True)
            found[:, part] -= mean
            found[:, [self.scale]] += mean
        return found

    def prior(self, theta: Floats, some: Index) -> tuple[Floats, Floats]:
        """Return minus the log density of the prior, up to a constant, and its gradient."""
        away = theta - self.mean
        pull = self.precision[some] * away
        return np.vecdot(pull, away) / 2, pull


def _steps(values: Floats) -> Floats:
    """Return the steps (f, n) of gains or discounts (f, n) that fall from 1 to 0 after the last."""
    return np.asarray(np.maximum(-np.diff(values, append=0.0), SMALLEST_STEP / values.shape[1]))


def _sum_slopes(steps: Floats) -> Floats:
    """Return du_l/dz_j, (f, n, n), for u_l = sum_{j >= l} step_j exp(z_j) over u_1."""
    sums = sums_from(steps)
    u, shares = sums / sums[:, :1], steps / sums[:, :1]
    return (np.triu(np.ones((steps.shape[1],) * 2)) - u[..., None]) * shares[:, None]


def cumulated(x: Floats) -> Floats:
    """Return the sums of x (..., K, L) up to each rank and grade, by which steps count."""
    return x.cumsum(axis=-2).cumsum(axis=-1)


def sums_from(steps: Floats) -> Floats:
    """Return at each place the sum of the steps from there to the end."""
    return steps[:, ::-1].cumsum(axis=1)[:, ::-1]


@dataclass(frozen=True, eq=False, repr=False)
class Draws(ShortRepr):
    """Measures and judges.

    Attributes
    ----------
    weights : ndarray of float, shape (n, K, L)
        W, in log odds; the worst grade is worth 0, or more or less than an empty rank.
    lapses, side : ndarray of float, shape (n,)
        The share of answers at random, and by how much list a is preferred for its place.
    """

    weights: Floats
    lapses: Floats
    side: Floats

    @property
    def scale(self) -> Floats:
        """The best grade at the first rank over the worst, in log odds, shape (n,)."""
        return self.weights[:, 0, 0] - self.weights[:, 0, -1]

    @property
    def gains(self) -> Floats:
        """Falling by 1 from the best to the worst: to 0, unless lists have empty ranks, (n, L)."""
        return self.weights[:, 0] / self.scale[:, None]

    @property
    def discounts(self) -> Floats:
        """From 1 for the first rank down, shape (n, K)."""
        return (self.weights[..., 0] - self.weights[..., -1]) / self.scale[:, None]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(ShortRepr):
    """What is known of a measure: members, with log evidence, parameters and information."""

    members: Members
    evidence: Floats
    theta: Floats
    hessian: Floats

    @property
    def share(self) -> Floats:
        """The share of each member."""
        share = np.exp(self.evidence - self.evidence.max())
        return np.asarray(share / share.sum())

    @property
    def lapses(self) -> float:
        """The expected share of answers at random."""
        return float(self.share @ expit(self.theta[:, self.members.lapse]))

    def draw(self, n: int, rng: np.random.Generator) -> Draws:
        """Draw measures and judges.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator

        Returns
        -------
        Draws
        """
        some = np.sort(rng.choice(len(self.share), n, p=self.share))
        roots = np.linalg.inv(np.linalg.cholesky(self.hessian))  # H^-1 = roots' roots
        normal = rng.standard_normal((n, self.theta.shape[1]))
        theta = self.theta[some] + np.einsum("np,npq->nq", normal, roots[some])
        return self.members.measures(theta, some)


def before_judgments(members: Members) -> Posterior:
    """Return what is known before the first judgment: the prior."""
    theta = np.tile(members.mean, (len(members), 1))
    hessian = members.precision[:, :, None] * np.eye(theta.shape[1])
    return Posterior(members, members.log_prior, theta, hessian)
