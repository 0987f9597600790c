"""Estimates of gains and discounts from a model of the judgment, with intervals.

The estimate is the maximum of the posterior (:mod:`dcglearn.inference.likelihood`). Intervals are
those of ratios, robust to clusters (:mod:`dcglearn.inference.covariance`). In simulation they cover
the truth 93 to 98 times in 100 from 200 judgments on, where a plain sandwich interval covers 85 to
92.

Discounts that have to decrease may lie on the border of what is allowed. Their intervals are those
of free discounts, put in order, which cover a monotone truth at least as often (Chernozhukov,
Fernandez-Val & Galichon, Biometrika 96, 2009).

How often each judge lapses is shrunk to what is common. A judge j answers at random with
probability e_j. The e_j of all judges follow a Beta distribution; those of a grid of means and
concentrations count as all judgments make them probable (Efron & Morris, JASA 70, 1975, take the
most probable one, which jumps where several are alike). The probability of an answer that is no
lapse is that of the fitted model. The integral over e is a sum over cells of a grid that is finer
near 0, each with the prior's mass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import betainc, expit, softmax

from dcglearn.base.errors import InputError, check_name
from dcglearn.base.types import Floats, Integers
from dcglearn.inference.answers import TieModel
from dcglearn.inference.covariance import (
    MIN_SHARE,
    Covariance,
    Estimates,
    estimated_parameter,
    estimated_ratios,
    monotone_discounts,
    ratio_slopes,
)
from dcglearn.inference.evidence import SAMPLE, Evidence, Judgments
from dcglearn.inference.families import (
    FREE_FAMILY,
    ORDERED,
    Family,
    FamilyLike,
    WeightFamily,
    any_weights,
    discount_family,
    gain_family,
    multiples_of,
)
from dcglearn.inference.likelihood import Likelihood, Rows
from dcglearn.inference.maximise import Maximum, highest_posterior
from dcglearn.learning.record import Estimated
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Scale

_FAR_LARGER = 10.0
"""Discounts are read from the best grade, unless another is worth so many times as much."""

_CELLS = 200
_EDGES = np.linspace(0, 1, _CELLS + 1) ** 2
_MIDDLES = (_EDGES[1:] + _EDGES[:-1]) / 2

_MEANS, _ALIKE = expit(np.linspace(-7, 1, 17)), np.geomspace(0.5, 1e4, 10)
"""Means and concentrations of the prior; with the largest, judges are alike."""


@dataclass(frozen=True)
class JudgmentModel:
    """How people judge: a family of measures, and how they lapse, lean and tie.

    Parameters
    ----------
    gains, discounts : str or sequence of float
        Families (:mod:`dcglearn.inference.families`), or numbers that are given.
    ties : {"strict", "davidson", "rao-kupper"}, default "strict"
        What is modelled: strict judgments only, or ties as well.
    side, lapses : bool, default True
        Whether the side may matter, and a share of the answers may be random.
    judges : bool, default True
        Whether judges may lapse more or less often than others, where all judgments name theirs.
    position_dependent : bool, default False
        Whether each rank has gains of its own, whatever `gains` and `discounts`.
    measure : DCG or LinearUtility, optional
        Only the multiples of this measure, whatever `gains` and `discounts`.

    Examples
    --------
    >>> from dcglearn.judgments.preferences import Preferences
    >>> lists = [[[0, 1], [1, 0]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]] * 20
    >>> data = Preferences.of(lists, ["a", "a", "a", "b"] * 20, Scale((1, 0)))
    >>> found = JudgmentModel(discounts="log2").fit(data)
    >>> found.gains()[0].estimate
    1.0
    """

    gains: FamilyLike = FREE_FAMILY
    discounts: FamilyLike = FREE_FAMILY
    ties: TieModel = "strict"
    side: bool = True
    lapses: bool = True
    judges: bool = True
    position_dependent: bool = False
    measure: Measure | None = None

    def fit(self, judgments: Judgments, near: JudgmentFit | None = None) -> JudgmentFit:
        """Estimate the parameters; packed judgments are read part by part.

        Of many judgments, the search may begin near to what a model says of these or others.
        """
        evidence = self.evidence(judgments)
        likelihood = self.likelihood(evidence)
        free = None
        if likelihood.family.factored and self.discounts in ORDERED:
            free = replace(self, discounts=FREE_FAMILY).fit(evidence, near)
        start = None
        if near is not None:
            others = [near.likelihood.value_of(one, near.parameters) for one in likelihood.names]
            start = np.append(next(likelihood.family.near(near.table)), others)
        return JudgmentFit(self, likelihood, highest_posterior(likelihood, start), free)

    def evidence(self, judgments: Judgments) -> Evidence:
        """Return judgments as the model uses them; how often judges lapse is estimated once."""
        found = Evidence.of(judgments, self.ties)
        lapsing = self.judges and self.lapses and found.has_judges
        if found.relative_lapses is not None or not lapsing:
            return found
        likelihood = JudgmentModel(ties=self.ties, side=self.side).likelihood(found)
        some = found.sample(SAMPLE)
        last = some if found.parts else found
        for judged in (some, some, last):  # the third time changes the last digits
            at = highest_posterior(replace(likelihood, evidence=some)).parameters
            lapses = judge_lapses(replace(likelihood, evidence=judged), at)
            known = np.maximum(lapses.judgments, 1e-9)
            relative = lapses.mean / np.average(lapses.mean, weights=known)
            some, found = (replace(one, relative_lapses=relative) for one in (some, found))
        return found

    def likelihood(self, evidence: Evidence) -> Likelihood:
        """Return the likelihood of judgments under this model."""
        K, empty = evidence.layout.n_ranks, evidence.layout.empty
        if self.measure is not None:
            W = np.array(self.measure.matrix_for(K))
            family = multiples_of(W, str(self.measure), empty)
        elif self.position_dependent:
            family = any_weights(K, len(evidence.scale), empty)
        else:
            gains = gain_family(self.gains, np.array(evidence.scale.values, float), empty)
            family = WeightFamily(gains, discount_family(self.discounts, K), K)
        return Likelihood(evidence, family, self.ties, self.side, self.lapses)


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentFit:
    """The estimate of a model.

    Attributes
    ----------
    model : JudgmentModel
    likelihood : Likelihood
    maximum : Maximum
    free : JudgmentFit or None
        The same with free discounts, whose intervals are used where discounts are ordered.
    """

    model: JudgmentModel
    likelihood: Likelihood
    maximum: Maximum
    free: JudgmentFit | None

    def __repr__(self) -> str:
        return f"JudgmentFit({self.likelihood.family.name}; {len(self.evidence):,} judgments)"

    @property
    def evidence(self) -> Evidence:
        """The judgments that were used."""
        return self.likelihood.evidence

    @property
    def clusters(self) -> tuple[str, ...]:
        """What judgments that are not independent share: ``"query"``, ``"judge"``."""
        evidence = self.evidence
        return ("query",) * evidence.has_query_ids + ("judge",) * evidence.has_many_judges

    @property
    def scale(self) -> Scale:
        """The grades, best first."""
        return self.evidence.scale

    @property
    def parameters(self) -> Floats:
        """The estimate, shape (P,)."""
        return self.maximum.parameters

    @cached_property
    def table(self) -> Floats:
        """W in log odds, shape (K, L), or (K, L + 1) if an empty rank is a grade of its own."""
        return self.likelihood.family.weights(self.parameters)

    @property
    def weights(self) -> Floats:
        """W in log odds, shape (K, L)."""
        return self.table[:, : len(self.scale)]

    @property
    def log_likelihood(self) -> float:
        """The log likelihood, without the prior."""
        return self.maximum.value - float(self.likelihood.prior(self.parameters).value)

    @cached_property
    def covariance(self) -> Covariance:
        """The covariance of the parameters."""
        return Covariance(self.likelihood, self.maximum)

    @cached_property
    def dcg(self) -> DCG:
        """The measure: gains 1 for the best and 0 for the worst grade, first discount 1.

        For gains that depend on the position, their means over ranks. InputError if the best grade
        is worth 0, and there is nothing that others are relative to.
        """
        gains, discounts = self.weights.mean(axis=0), self.weights[:, 0]
        if not gains[0] * discounts[0]:
            raise InputError("the best grade is worth as little as the worst", "judge other lists")
        return DCG(gains / gains[0], discounts / discounts[0])

    @property
    def for_tools(self) -> DCG:
        """The measure as tools take it: gains of four digits, none below 0; empty ranks add 0."""
        gains = [round(max(0.0, gain), 4) for gain in self.dcg.gains]
        discounts = "log2" if self.model.discounts == "log2" else self.dcg.discounts
        return DCG(gains, discounts, len(self.table), grades=self.scale.labels)

    def gains(self) -> Estimates:
        """Return the gain of each grade, with its 95% interval; the best is 1, the worst 0."""
        return self._gains[: len(self.scale)]

    def empty_rank(self) -> Estimated | None:
        """Return what an empty rank is worth, relative to the best grade; the worst grade has 0.

        None unless lists of a pair differ in their empty ranks.
        """
        return self._gains[-1] if self.evidence.layout.empty else None

    def discounts(self) -> Estimates:
        """Return the discount of each rank, with its 95% interval; the first is 1."""
        if self.free is None:
            return self._discounts
        column, free = self.weights[:, self._reference], self.free.discounts()
        return monotone_discounts(column / column[0], free) if column[0] else free

    @property
    def gain_slopes(self) -> Floats:
        """The derivative of each gain in the parameters, shape (L, P)."""
        return ratio_slopes(*self.products(self.grade_rows[: len(self.scale)]))

    @property
    def discount_slopes(self) -> Floats:
        """The derivative of each discount in the parameters, shape (K, P)."""
        return ratio_slopes(*self.products(self.rank_rows))

    def other(self, name: str) -> Estimated:
        """Return one of ``fit.likelihood.names``, such as the side bias, with its interval."""
        check_name(name, "parameter of the model", self.likelihood.names)
        return estimated_parameter(self.covariance, name)

    def products(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return products of W with rows (m, K L), and their derivatives in parameters, (m, P)."""
        slopes = rows @ self.likelihood.family.at(self.parameters).jacobian
        others = (0, 0), (0, len(self.likelihood.names))
        return rows @ self.table.ravel(), np.pad(slopes, others)

    @cached_property
    def grade_rows(self) -> Floats:
        """Rows, one per column of W, whose products with W are in proportion to the gains.

        Mean weights over ranks; where lists that permute each other leave these undetermined,
        ranks count by the deviation of their discount from the mean.
        """
        K, L = self.table.shape
        rows = np.tile(np.eye(L) / K, K)
        if not self.likelihood.family.factored:
            return rows
        share = self.covariance.share_of_data(self.products(rows[:1])[1][0])
        column = self.table[:, self._reference]
        deviations = column - column.mean()
        return np.kron(deviations, np.eye(L)) if share < MIN_SHARE and deviations.any() else rows

    @property
    def rank_rows(self) -> Floats:
        """Return rows (K, K L) whose products with W are the weights of one grade."""
        return np.eye(self.table.size)[self._reference :: self.table.shape[1]]

    @property
    def _reference(self) -> int:
        """The grade that discounts are read from."""
        sizes = np.abs(self.weights).max(axis=0)
        return int(sizes.argmax()) if sizes.max() > _FAR_LARGER * sizes[0] else 0

    @cached_property
    def _gains(self) -> Estimates:
        """The gains, and what an empty rank is worth if it is a grade of its own."""
        family, rows = self.likelihood.family, self.grade_rows
        names = [*(f"gain {label}" for label in self.scale.labels), "empty rank"][: len(rows)]
        return self._ratios(names, rows, family.gains, family.scale_of_gains.start)

    @cached_property
    def _discounts(self) -> Estimates:
        names = [f"discount {rank}" for rank in range(1, len(self.table) + 1)]
        return self._ratios(names, self.rank_rows, self.likelihood.family.discounts, 0)

    def _ratios(self, names: list[str], rows: Floats, family: Family, begin: int) -> Estimates:
        """Return gains or discounts, whose parameters begin there, relative to the first."""
        products, linear = self.products(rows), None
        if not self.likelihood.family.factored:
            linear = products[1]
        elif not family.formula and family.n_coefficients:
            after = self.likelihood.n_parameters - begin - family.n_coefficients
            linear = np.pad(family.generators, ((0, 0), (begin, after)))
        return estimated_ratios(names, *products, self.covariance, linear)


class JudgeLapses(NamedTuple):
    """The share of random answers of judges: mean and middle 95% of the posterior, (judges,)."""

    judgments: Integers
    mean: Floats
    low: Floats
    high: Floats


def judge_lapses(likelihood: Likelihood, parameters: Floats) -> JudgeLapses:
    """Estimate how often each judge answers at random."""
    q, n = 1 / len(likelihood.answers), likelihood.evidence.n_judges

    def of_rows(rows: Rows) -> tuple[Integers, Floats]:
        """Return some judges, and the log likelihood for each share of lapses, (judges, cells)."""
        p = np.exp(likelihood.terms(parameters, rows._replace(e=np.zeros(1))).value)
        # rows of a judge together are summed faster
        order = np.argsort(rows.judged.judges, kind="stable")
        p, weights = p[order], rows.judged.weights[order]
        judges, first = np.unique(rows.judged.judges[order], return_index=True)
        logs = (weights * np.log(e * q + (1 - e) * p) for e in _MIDDLES)
        return judges, np.stack([np.add.reduceat(one, first) for one in logs], axis=1)

    logs = np.zeros((n, _CELLS))
    for judges, part in likelihood.map(parameters, of_rows):
        logs[judges] += part
    scaled, priors = softmax(logs, axis=1), _prior_masses()
    by_prior = np.maximum(scaled @ priors.T, 1e-300)
    shares = softmax(np.log(by_prior).sum(axis=0))
    posterior = scaled * ((shares / by_prior) @ priors)
    posterior /= posterior.sum(axis=1, keepdims=True)
    cumulated = np.cumsum(posterior, axis=1)
    low, high = (
        _EDGES[1:][np.minimum((cumulated < level).sum(axis=1), _CELLS - 1)]
        for level in (0.025, 0.975)
    )
    judgments = np.bincount(likelihood.evidence.judged.judges, minlength=n)
    return JudgeLapses(judgments, posterior @ _MIDDLES, low, high)


@lru_cache(1)
def _prior_masses() -> Floats:
    """Return the mass of each cell for each mean and concentration, (priors, cells)."""
    mean, alike = _MEANS[:, None, None], _ALIKE[:, None]
    mass: Floats = np.diff(betainc(mean * alike, (1 - mean) * alike, _EDGES))
    return mass.reshape(-1, _CELLS)
