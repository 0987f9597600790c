"""The covariance of estimates when judgments come in clusters, and the intervals that follow.

Judgments of one query, or of one judge, are not independent. The sandwich estimate

    V = H^-1 (sum_q A_q u_q u_q' A_q') H^-1

takes the scores u_q of whole clusters, with H the expected information of all judgments and of the
prior. The adjustment CR2 of Bell & McCaffrey (Survey Methodology 28, 2002), A_q = (I - F_q
H^-1)^-1/2 with F_q the information of the cluster, makes it unbiased when the model is right; the
variance of a contrast a'theta has the degrees of freedom of Satterthwaite,

    df = (sum_q p_q)^2 / sum_q p_q^2,      p_q = a' H^-1 F_q H^-1 a,

as many as there are clusters if all count the same, and few if one query holds most judgments.
Judgments of a single query say nothing about others: then there is no interval.

With clusters by query and by judge, V = V_query + V_judge - V_both (Cameron, Gelbach & Miller,
J. Bus. Econ. Stat. 29, 2011), but never less than either of the first two.

Two passes find V: the first sums the scores of each cluster, the second what its information does
to them; only such sums are in memory.

Gains and discounts are ratios, and skewed. The set of all r for which N - r D does not differ
from 0,

    (N - r D)^2 <= t^2 Var(N - r D),

needs no approximation of the ratio itself (Fieller, J. Roy. Statist. Soc. B 16, 1954). It is an
interval where D differs from 0. Where D may be 0 for all that its variance says, the likelihood
itself is asked: the interval holds all r for which the posterior, maximised over all else, has
fallen by no more than half the quantile of F, inflated as clusters inflate the variance of the
ratio. It is unbounded if D = 0 is among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri, stdtrit

from dcglearn.base.errors import SolverError
from dcglearn.base.types import Booleans, Floats
from dcglearn.inference.evidence import ClusterSums, Judged, Way, cluster_sums
from dcglearn.inference.likelihood import Expanded, Likelihood, Rows, gram_of, lapse_prior
from dcglearn.inference.maximise import Maximum, maximise, maximum_from
from dcglearn.learning.record import Estimated
from dcglearn.learning.source import Statistic

SMALL_CLUSTER = 0.02
"""Up to this trace of F_q H^-1, I + F_q H^-1 / 2 is the root to within 2e-4."""

FEW = 20
"""From fewer queries of equal weight, a variance has at most one degree of freedom less: in
simulation, tests with Satterthwaite's reject too often there."""

MIN_SHARE = 0.9
"""An estimate is determined if the data give at least this share of its information."""

_UNBOUNDED = -math.inf, math.inf

Estimates = tuple[Estimated, ...]
"""Gains of all grades, or discounts of all ranks."""

_FIRMEST = 0.02
"""Lower limit of the eigenvalues of I - F_q H^-1: a cluster that decides a direction alone."""

_MOST_KEPT = 1 << 20
"""Up to so many numbers, 8 megabytes, are kept from one pass to the next."""


class Whitened(NamedTuple):
    """Some judgments: weighted scores (n, P), and rows of information (n, answers, P) times R.

    `leverage`, (n,), are the traces of F_i H^-1.
    """

    judged: Judged
    scores: Floats
    information: Floats
    leverage: Floats


class Clustering(NamedTuple):
    """One way to group judgments into clusters, at an estimate.

    `steps`, (clusters, P), are by how much each cluster has moved the estimate, adjusted; `alone`,
    (P, P), is the covariance from judgments that are clusters of their own, and `covariance` CR2 of
    all; 0 for parameters that are held by a bound.
    """

    steps: Floats
    alone: Floats
    covariance: Floats


@dataclass(frozen=True, eq=False)
class Covariance:
    """How much estimates vary: by query, and by judge as well, if there are many.

    Parameters that are not free are held by a bound.
    """

    likelihood: Likelihood
    maximum: Maximum

    @cached_property
    def prior(self) -> Floats:
        """The prior's part of H, shape (P, P)."""
        return -self.likelihood.prior(self.maximum.parameters).hessian

    @cached_property
    def root(self) -> Floats:
        """R with R R' = H^-1, shape (P, P), 0 where not free."""
        of_data = self.likelihood.information(self.maximum.parameters)
        return inverse_root(of_data + self.prior, self.maximum.free)

    @property
    def one_cluster(self) -> bool:
        """Whether all judgments are of one query, so that nothing varies."""
        return self.likelihood.evidence.effective[0] == 1

    @property
    def effective(self) -> float:
        """How many queries, or judges, of equal weight the judgments are worth: the fewest."""
        return min(self.likelihood.evidence.effective)

    def variance(self, contrast: Floats) -> float:
        """Return the variance of contrast'theta, for a contrast (P,)."""
        found = [float(contrast @ one.covariance @ contrast) for one in self.clusterings]
        return found[0] if len(found) == 1 else max(*found[:2], found[0] + found[1] - found[2])

    def errors(self, contrasts: Floats) -> tuple[Floats, Floats]:
        """Return standard errors of contrast'theta, (m, P), and their degrees of freedom."""
        variances = np.array([max(0.0, self.variance(one)) for one in contrasts])
        return np.sqrt(variances), self.degrees_of_freedom(contrasts)

    def of_parameter(self, name: str) -> tuple[Floats, Covariance]:
        """Return the contrast (P,) of a parameter after those of W, and this as if it were free."""
        maximum, at = self.maximum, self.likelihood.places[name]
        contrast = np.zeros(len(maximum.free))
        contrast[at] = 1.0
        free = maximum._replace(free=maximum.free | (contrast > 0))
        return contrast, self if maximum.free[at] else replace(self, maximum=free)

    def inflation(self, contrast: Floats) -> float:
        """Return by how much clusters inflate the variance of contrast'theta, (P,)."""
        return self.variance(contrast) / float(contrast @ self.model @ contrast)

    def degrees_of_freedom(self, contrasts: Floats, pooled: bool = False) -> Floats:
        """Return those of the variance of each contrast, (m, P): the smallest of any clustering.

        Where they are `pooled`, return those of the mean variance, (1,).
        """
        columns = self.root.T @ contrasts.T

        def shares(rows: Whitened) -> tuple[Judged, Floats]:
            squares = (np.tensordot(rows.information, columns, 1) ** 2).sum(axis=1)
            return rows.judged, squares.sum(axis=1, keepdims=True) if pooled else squares

        ways = self.likelihood.evidence.ways[:2]  # smaller clusters have more
        sums = [one.of_all for one in cluster_sums(ways, self.whitened(shares))]
        found = [total**2 / np.maximum(np.diag(squares), 1e-300) for total, squares in sums]
        fewest: Floats = np.min(found, axis=0)
        most = max(self.effective - 1, 1.0) if self.effective < FEW else np.inf
        return np.minimum(fewest, most)

    @cached_property
    def model(self) -> Floats:
        """H^-1, shape (P, P): the covariance if the model is right and judgments independent."""
        return self.root @ self.root.T

    @property
    def design_effect(self) -> float:
        """How many times larger variances are than of independent judgments, at least 1.

        The mean of all parameters (Rao & Scott, Annals of Statistics 12, 1984).
        """
        free = np.ix_(self.maximum.free, self.maximum.free)
        ratio = np.trace(np.linalg.solve(self.model[free], self.robust[free]))
        return max(1.0, float(ratio) / max(int(self.maximum.free.sum()), 1))

    def share_of_data(self, contrast: Floats) -> float:
        """Return how much of the information on contrast'theta, (P,), is not the prior's."""
        step = self.model @ contrast
        total = float(contrast @ step)
        return 1 - float(step @ self.prior @ step) / total if total > 0 else 1.0

    @cached_property
    def robust(self) -> Floats:
        """The covariance of all parameters, shape (P, P), positive semidefinite.

        With two clusterings, negative eigenvalues of the sum are set to 0.
        """
        by_query, *others = (one.covariance for one in self.clusterings)
        if not others:
            return by_query
        by_judge, by_both = others
        values, vectors = np.linalg.eigh(by_query + by_judge - by_both)
        return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)

    def whitened(self, statistic: Callable[[Whitened], Statistic]) -> Iterable[Statistic]:
        """Return a statistic of each chunk of judgments, times the root, in order."""
        return self._read(statistic) if self._kept is None else map(statistic, self._kept)

    @cached_property
    def _kept(self) -> list[Whitened] | None:
        """What all passes read, if that needs little memory."""
        likelihood = self.likelihood
        numbers = len(likelihood.evidence) * len(likelihood.answers) * len(self.root)
        return list(self._read(lambda rows: rows)) if numbers <= _MOST_KEPT else None

    def _read(self, statistic: Callable[[Whitened], Statistic]) -> Iterable[Statistic]:
        likelihood, root = self.likelihood, self.root

        def of_rows(rows: Rows) -> Statistic:
            scores, information = likelihood.scores_and_information(self.maximum.parameters, rows)
            z = np.tensordot(information, root, 1)
            return statistic(Whitened(rows.judged, scores, z, np.einsum("nap,nap->n", z, z)))

        in_order = replace(likelihood, evidence=likelihood.evidence.by_cluster)
        return in_order.map(self.maximum.parameters, of_rows)

    @cached_property
    def clusterings(self) -> list[Clustering]:
        """By query; by judge and by both, if judges are many."""
        root, ways, P = self.root, self.likelihood.evidence.ways, len(self.root)
        chunks = self.whitened(
            lambda rows: (rows.judged, np.column_stack([rows.scores, rows.leverage]))
        )
        first = []
        for one in cluster_sums(ways, chunks):
            one.known[-1] = 0.0  # of judgments alone, whose own scores count
            first.append((one.way, one.known[:, :P] @ root, one.known[:, P] > SMALL_CLUSTER))

        def parts_of(rows: Whitened) -> tuple[Judged, list[tuple[Floats, dict[int, Floats]]]]:
            return rows.judged, [_adjustment(*one, rows, root) for one in first]

        moves, known = [ClusterSums(way, P) for way in ways], [dict[int, Floats]() for _ in ways]
        for judged, parts in self.whitened(parts_of):
            for move, of_way, (adjustment, information) in zip(moves, known, parts, strict=True):
                move.add(judged, adjustment)
                for number, part in information.items():
                    of_way[number] = of_way.get(number, 0.0) + part
        found = []
        for (_, total, _), move, of_way in zip(first, moves, known, strict=True):
            adjusted = (total + move.known)[:-1]
            if of_way:
                numbers = [*of_way]
                adjusted[numbers] = _adjusted(total[numbers], np.stack([*of_way.values()]))
            steps, alone = adjusted @ root.T, root @ move.squares @ root.T
            found.append(Clustering(steps, alone, steps.T @ steps + alone))
        return found


def inverse_root(matrix: Floats, free: Booleans) -> Floats:
    """Return R with R R' = matrix^-1 on the free parameters, and 0 elsewhere."""
    root = np.zeros_like(matrix)
    values, vectors = np.linalg.eigh(matrix[np.ix_(free, free)])
    values = np.maximum(values, 1e-12 * values.max(initial=1e-300))
    root[np.ix_(free, free)] = vectors / np.sqrt(values)
    return root


def _adjustment(
    way: Way, totals: Floats, large: Booleans, rows: Whitened, root: Floats
) -> tuple[Floats, dict[int, Floats]]:
    """Return what judgments add to the scores of their clusters; those alone, all, adjusted.

    And the information (P, P) of each large cluster.
    """
    numbers = way.number_of(rows.judged)
    scores, alone = totals.take(numbers, axis=0, mode="wrap"), numbers < 0
    single = slice(None) if alone.all() else alone  # which is faster
    scores[single] = own = rows.scores[single] @ root
    pull = np.einsum("nap,np->na", rows.information, scores) / 2
    found = np.einsum("nap,na->np", rows.information, pull)
    found[single] += own
    firm = alone & (rows.leverage > SMALL_CLUSTER)
    parts = rows.information[firm]
    found[firm] = _adjusted(scores[firm], parts.mT @ parts)
    clusters = np.unique(numbers[large[numbers]]).tolist()
    return found, {one: gram_of(rows.information[numbers == one]) for one in clusters}


def _adjusted(totals: Floats, information: Floats) -> Floats:
    """Return the scores of clusters (m, P), adjusted for their information (m, P, P)."""
    values, vectors = np.linalg.eigh(np.eye(totals.shape[1]) - information)
    values = np.maximum(values, _FIRMEST)
    return np.asarray(np.matvec(vectors, np.vecmat(totals, vectors) / np.sqrt(values)))


def profile_interval(
    spread: Covariance, top: Floats, bottom: Floats, fall: float
) -> tuple[float, float]:
    """Return where the posterior, maximised over all else, falls by no more than so much.

    It is a function of the ratio of two numbers that are linear in the parameters, (P,).
    """
    from scipy.optimize import brentq  # loads slowly

    maximum = spread.maximum

    def excess(angle: float) -> float:
        constraint = math.cos(angle) * top - math.sin(angle) * bottom
        return maximum.value - _highest(spread, constraint) - fall

    x = maximum.parameters
    at, edge = math.atan2(top @ x, bottom @ x), math.pi / 2
    at -= math.pi * round(at / math.pi)
    try:
        low, high = (brentq(excess, at, end, xtol=1e-5) for end in (-edge, edge))
    except (SolverError, ValueError):  # or it does not fall by so much
        return _UNBOUNDED
    return math.tan(low), math.tan(high)


def _highest(spread: Covariance, constraint: Floats) -> float:
    """Return the maximum of the posterior among parameters at a right angle to a vector."""
    at, likelihood = np.abs(constraint).argmax(), spread.likelihood
    others = np.arange(len(constraint)) != at
    T = np.eye(len(constraint))[:, others]
    T[at] = -constraint[others] / constraint[at]

    def expand(y: Floats) -> Expanded:
        found = likelihood.expand(y @ T.T)
        return Expanded(found.value, found.gradient @ T, T.T @ found.hessian @ T)

    bounds = np.stack(likelihood.bounds)[:, others]
    return maximise(expand, spread.maximum.parameters[others], bounds).value


def ratio_interval(
    numerator: float, denominator: float, covariance: Floats, quantile: float
) -> tuple[float, float]:
    """Return the interval of Fieller, unbounded where the denominator may be 0."""
    t2, ((of_numerator, of_both), (_, of_denominator)) = quantile**2, covariance.tolist()
    a = denominator**2 - t2 * of_denominator
    b = numerator * denominator - t2 * of_both
    c = numerator**2 - t2 * of_numerator
    root = b * b - a * c
    if a <= 0 or root < 0:
        return _UNBOUNDED
    half = math.sqrt(root)
    return (b - half) / a, (b + half) / a


def estimated_ratios(
    names: list[str],
    values: Floats,
    slopes: Floats,
    spread: Covariance,
    linear: Floats | None,
) -> Estimates:
    """Return ratios of estimates to the first of them, with their 95% intervals.

    `linear`, (m, P), are numbers in proportion to the estimates and linear in the parameters.
    """
    if not values[0]:  # nothing bears on it: the prior alone decides
        return tuple(Estimated(name, math.nan, *_UNBOUNDED, determined=False) for name in names)
    contrasts = ratio_slopes(values, slopes)
    given = np.abs(contrasts).max(axis=1) <= 1e-12 * np.abs(slopes[0] / values[0]).max()
    dfs, found = spread.degrees_of_freedom(contrasts), []
    known = zip(names, dfs.tolist(), contrasts, given.tolist(), strict=True)
    for i, (name, df, contrast, fixed) in enumerate(known):
        low = high = ratio = float(values[i] / values[0]) + 0.0  # a gain of 0 is not -0
        flat = contrast @ spread.robust @ contrast
        determined = fixed or spread.share_of_data(contrast) >= MIN_SHARE
        if fixed:
            df = math.inf
        elif spread.one_cluster or not flat:  # flat: held by the bound of a family
            low, high, df = -math.inf, math.inf, math.inf
        else:
            both, variance = [i, 0], spread.variance(contrast)
            V = slopes[both] @ spread.robust @ slopes[both].T * (variance / flat)
            quantile = float(stdtrit(df, 0.975))
            low, high = ratio_interval(float(values[i]), float(values[0]), V, quantile)
            if determined and linear is not None and not math.isfinite(high - low):
                fall = spread.inflation(contrast) * quantile**2 / 2
                low, high = profile_interval(spread, linear[i], linear[0], fall)
        determined = determined and math.isfinite(high - low)
        found.append(Estimated(name, ratio, low, high, df, fixed, determined))
    return tuple(found)


def estimated_parameter(spread: Covariance, name: str) -> Estimated:
    """Return a parameter after those of W, which is the ratio to a number that is 1.

    A share of lapses of 0 has no error: its upper bound is where the likelihood, maximised over all
    else, has fallen by half the quantile of F, inflated as clusters inflate the variance.
    """
    contrast, spread = spread.of_parameter(name)
    estimate, lapses = float(spread.maximum.parameters @ contrast), name == "lapses"
    if lapses and not estimate and not spread.one_cluster:
        return Estimated(name, 0.0, 0.0, _largest_lapses(spread, contrast))
    of_1 = np.array([1.0, estimate]), np.stack([0 * contrast, contrast])
    found = estimated_ratios(["1", name], *of_1, spread, None)[1]
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0)) if lapses else found


def _largest_lapses(spread: Covariance, contrast: Floats) -> float:
    """Return the largest share of lapses that the likelihood does not exclude."""
    from scipy.optimize import brentq  # loads slowly

    maximum, held = spread.maximum, contrast > 0
    quantile = float(fdtri(1, max(1.0, spread.effective - 1), 0.95))
    lowest = maximum.value - max(1.0, spread.inflation(contrast)) * quantile / 2

    @cache  # the ends are asked for twice
    def excess(share: float) -> float:
        at_share = np.where(held, share, maximum.parameters)
        found = maximum_from(spread.likelihood, at_share, held) if share else maximum
        return found.value - float(lapse_prior(share)) - lowest

    largest = float(spread.likelihood.bounds[1][held][0])
    if excess(largest) > 0:
        return largest
    return brentq(excess, 0.0, largest, xtol=1e-4)


def ratio_slopes(values: Floats, slopes: Floats) -> Floats:
    """Return the derivatives of ratios to the first value, (m, P); 0 where that is 0."""
    if not values[0]:
        return np.zeros_like(slopes)
    return np.asarray((slopes - np.outer(values / values[0], slopes[0])) / values[0])


def monotone_discounts(discounts: Floats, free: Estimates) -> Estimates:
    """Return discounts (K,) with the bounds of free ones, made non-increasing."""
    lows = np.maximum.accumulate([one.low for one in reversed(free)])[::-1]
    highs = np.minimum.accumulate([one.high for one in free])
    bounds = np.minimum(lows, discounts), discounts, np.maximum(highs, discounts)
    return tuple(
        replace(one, low=low, estimate=value, high=high)
        for one, (low, value, high) in zip(free, np.stack(bounds, axis=1).tolist(), strict=True)
    )
