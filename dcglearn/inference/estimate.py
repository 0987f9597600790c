"""Estimates of gains and discounts from a model of the judgment, with intervals.

The estimate is the maximum of the posterior (:mod:`dcglearn.inference.likelihood`). Intervals are
those of Fieller for ratios (:mod:`dcglearn.inference.ratios`), with variances robust to
clusters and Satterthwaite's degrees of freedom (:mod:`dcglearn.inference.covariance`). In
simulation they cover the truth 93 to 98 times in 100 from 200 judgments on, where a plain
sandwich interval covers 85 to 92.

Discounts that have to decrease may lie on the border of what is allowed, where no such theory
holds. Their intervals are those of free discounts, put in order: a band that is made monotone
covers a monotone truth at least as often (Chernozhukov, Fernandez-Val & Galichon, Biometrika 96,
2009).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtr

from dcglearn.base.checks import checked_rng
from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.families.charts import anchor_of
from dcglearn.families.given import FamilyLike, discounts_like, gains_like
from dcglearn.families.vectors import FREE_FAMILY, Anchor
from dcglearn.families.weights import AnyWeights, GivenWeights, Products, WeightFamily
from dcglearn.inference.answers import TieModel
from dcglearn.inference.covariance import Covariance, covariance
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.highest import highest_posterior, with_judges
from dcglearn.inference.likelihood import Likelihood
from dcglearn.inference.maximise import Maximum
from dcglearn.inference.parameters import estimated_parameter
from dcglearn.inference.ratios import (
    MIN_SHARE,
    Estimated,
    estimated_ratios,
    monotone_discounts,
    ratio_slopes,
    share_of_data,
    simultaneous_quantile,
)
from dcglearn.inference.reach import on_scale
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Scale

ORDERED = ("decreasing", "convex")
"""Families of discounts on whose border no theory of intervals holds."""


@dataclass(frozen=True)
class JudgmentModel:
    """How people judge: a family of measures, and how they lapse, lean and tie.

    Parameters
    ----------
    gains, discounts : str or sequence of float
        Families, as in :func:`~dcglearn.families.vectors.gain_family` and
        :func:`~dcglearn.families.vectors.discount_family`, or numbers that are given.
    ties : {"strict", "davidson", "rao-kupper"}, default "strict"
        What is modelled: strict judgments only, or ties as well.
    side, lapses : bool, default True
        Whether the side may matter, and a share of the answers may be random.
    judges : bool, default False
        Whether judges may lapse more or less often than others; every judgment has a judge then.
    position_dependent : bool, default False
        Whether each rank has gains of its own; `gains` and `discounts` have no effect then.
    measure : DCG or LinearUtility, optional
        Only the multiples of this measure; `gains` and `discounts` have no effect then.

    Examples
    --------
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
    judges: bool = False
    position_dependent: bool = False
    measure: Measure | None = None

    def family(self, scale: Scale, n_ranks: int) -> WeightFamily:
        """Return the family of W on a scale.

        Parameters
        ----------
        scale : Scale
        n_ranks : int
        """
        if self.measure is not None:
            return GivenWeights(np.array(self.measure.matrix_for(n_ranks)), str(self.measure))
        if self.position_dependent:
            return AnyWeights(n_ranks, len(scale))
        values = np.array(scale.values, float)
        return Products(gains_like(self.gains, values), discounts_like(self.discounts, n_ranks))

    def fit(self, preferences: Preferences) -> JudgmentFit:
        """Estimate the parameters.

        Parameters
        ----------
        preferences : Preferences

        Returns
        -------
        JudgmentFit

        Raises
        ------
        InputError
            If no judgment can be used, or a family is unknown.
        SolverError
            If the maximum is not reached.
        """
        return self.fit_evidence(Evidence.of(preferences, self.ties), preferences.scale)

    def fit_evidence(self, evidence: Evidence, scale: Scale) -> JudgmentFit:
        """Estimate the parameters from judgments that are encoded already.

        Parameters
        ----------
        evidence : Evidence
        scale : Scale

        Returns
        -------
        JudgmentFit

        Raises
        ------
        InputError, SolverError
            As :meth:`fit`.
        """
        likelihood = self.likelihood(evidence, scale)
        if self.judges and self.lapses:
            likelihood = with_judges(likelihood)
        free = None
        if not self.has_own_family and self.discounts in ORDERED:
            free = replace(self, discounts=FREE_FAMILY).fit_evidence(evidence, scale)
        return JudgmentFit(self, scale, *highest_posterior(likelihood), free)

    def likelihood(self, evidence: Evidence, scale: Scale) -> Likelihood:
        """Return the likelihood of judgments under this model.

        Parameters
        ----------
        evidence : Evidence
        scale : Scale
        """
        family = self.family(scale, evidence.shape[0])
        return Likelihood(evidence, family, self.ties, self.side, self.lapses)

    @property
    def has_own_family(self) -> bool:
        """Whether `gains` and `discounts` have no effect: W is free, or of one measure."""
        return self.position_dependent or self.measure is not None


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentFit:
    """The estimate of a model.

    Attributes
    ----------
    model : JudgmentModel
    scale : Scale
    likelihood : Likelihood
    maximum : Maximum
    free : JudgmentFit or None
        The same with free discounts, whose intervals are used where discounts are ordered.
    """

    model: JudgmentModel
    scale: Scale
    likelihood: Likelihood
    maximum: Maximum
    free: JudgmentFit | None = None

    def __repr__(self) -> str:
        judgments = counted(len(self.likelihood.evidence), "judgment")
        return f"JudgmentFit({self.likelihood.family.name}; {judgments})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the model does not make anew: families hold functions."""
        kept = self.likelihood.evidence, self.likelihood.relative_lapses, self.anchor
        return _restored, (self.model, self.scale, *kept, self.maximum, self.free)

    @property
    def parameters(self) -> Floats:
        """The estimate, shape (P,)."""
        return self.maximum.parameters

    @property
    def anchor(self) -> Anchor:
        """The gain that is fixed, that of the best grade unless another is far larger."""
        return anchor_of(self.likelihood.family)

    @cached_property
    def weights(self) -> Floats:
        """W in log odds, shape (K, L)."""
        return self.likelihood.family.weights(self._of_weights)

    @cached_property
    def log_likelihood(self) -> float:
        """The log likelihood, without the prior."""
        return self.likelihood.log_likelihood(self.parameters)

    @cached_property
    def covariance(self) -> Covariance:
        """The covariance of the parameters."""
        return covariance(self.likelihood, self.maximum)

    @cached_property
    def dcg(self) -> DCG:
        """The measure: gains 1 for the best and 0 for the worst grade, first discount 1.

        For gains that depend on the position, their means over ranks.
        """
        gains, discounts = self.weights.mean(axis=0), self.weights[:, 0]
        return DCG(gains / gains[0], discounts / discounts[0])

    def on(self, preferences: Preferences) -> JudgmentFit | None:
        """Return the same parameters with other judgments, to see how they predict them.

        Parameters
        ----------
        preferences : Preferences
            On the same scale, with lists of the same length.

        Returns
        -------
        JudgmentFit or None
            None if no judgment can be predicted.
        """
        levels = self.likelihood.evidence.sum_layout is not None
        try:
            evidence = Evidence.of(preferences, self.model.ties, levels)
        except InputError:
            return None
        likelihood = replace(self.likelihood, evidence=evidence, relative_lapses=None)
        return replace(self, likelihood=likelihood)

    def gains(self, level: float = 0.95) -> tuple[Estimated, ...]:
        """Return the gain of each grade, with its interval.

        Parameters
        ----------
        level : float, default 0.95

        Returns
        -------
        tuple of Estimated
            One per grade; the best is 1, the worst 0.
        """
        names = [f"gain {label}" for label in self.scale.labels]
        return self._ratios(names, self._grade_rows, level)

    def discounts(self, level: float = 0.95) -> tuple[Estimated, ...]:
        """Return the discount of each rank, with its interval.

        Parameters
        ----------
        level : float, default 0.95

        Returns
        -------
        tuple of Estimated
            One per rank; the first is 1.
        """
        names = [f"discount {rank}" for rank in range(1, len(self.weights) + 1)]
        if self.free is None:
            return self._ratios(names, self._rank_rows, level)
        column, free = self.weights[:, self.anchor.grade], self.free.discounts(level)
        return monotone_discounts(column / column[0], free) if column[0] else free

    @property
    def gain_slopes(self) -> Floats:
        """The derivative of each gain in the parameters, shape (L, P)."""
        rows = self._grade_rows
        return ratio_slopes(rows @ self.weights.ravel(), self._slopes(rows))

    @property
    def discount_slopes(self) -> Floats:
        """The derivative of each discount in the parameters, shape (K, P)."""
        rows = self._rank_rows
        return ratio_slopes(rows @ self.weights.ravel(), self._slopes(rows))

    def simultaneous_level(self, rng: np.random.Generator, level: float = 0.95) -> float:
        """Return the level of single intervals that together hold all numbers with `level`.

        Parameters
        ----------
        rng : numpy.random.Generator
            The quantile of the largest of several t statistics is found by simulation.
        level : float, default 0.95

        Returns
        -------
        float
            At least `level`: give it to :meth:`gains` and :meth:`discounts` for bands.
        """
        checked_rng(rng)
        slopes = np.concatenate([self.gain_slopes, self.discount_slopes])
        V = slopes @ self.covariance.robust @ slopes.T
        sizes = np.sqrt(np.diag(V))
        varies = sizes > 1e-12
        if not varies.any():
            return level
        correlation = (V / np.outer(sizes, sizes).clip(1e-300))[np.ix_(varies, varies)]
        df = min(self.covariance.degrees_of_freedom(one) for one in slopes[varies])
        quantile = simultaneous_quantile(correlation, df, level, rng)
        return max(level, float(2 * stdtr(df, quantile) - 1))

    def other(self, name: str, level: float = 0.95) -> Estimated:
        """Return the side bias, the share of lapses or another parameter, with its interval.

        Parameters
        ----------
        name : str
            One of ``fit.likelihood.names``.
        level : float, default 0.95

        Raises
        ------
        InputError
            If the model does not have it.
        """
        return estimated_parameter(self.likelihood, self.maximum, self.covariance, name, level)

    @property
    def _of_weights(self) -> Floats:
        return self.parameters[: self.likelihood.n_weights]

    @cached_property
    def _grade_rows(self) -> Floats:
        """Return rows (L, K L) whose products with W are in proportion to the gains.

        Mean weights over ranks; where lists that permute each other leave these undetermined,
        ranks count by the deviation of their discount from the mean.
        """
        K, L = self.weights.shape
        rows = np.tile(np.eye(L) / K, K)
        share = share_of_data(self.covariance, self._prior, self._slopes(rows)[0])
        column = self.weights[:, self.anchor.grade]
        deviations = column - column.mean()
        if isinstance(self.likelihood.family, Products) and share < MIN_SHARE and deviations.any():
            return np.kron(deviations, np.eye(L))
        return rows

    @property
    def _rank_rows(self) -> Floats:
        """Return rows (K, K L) whose products with W are the weights of one grade.

        That is the best, unless another is worth far more.
        """
        K, L = self.weights.shape
        return np.kron(np.eye(K), np.eye(L)[self.anchor.grade])

    def _slopes(self, rows: Floats) -> Floats:
        slopes = np.zeros((len(rows), self.likelihood.n_parameters))
        slopes[:, : self.likelihood.n_weights] = rows @ self.likelihood.family.jacobian(
            self._of_weights
        )
        return slopes

    def _ratios(self, names: list[str], rows: Floats, level: float) -> tuple[Estimated, ...]:
        """Return the ratios of rows of W (m, K L) to the first of them."""
        values, slopes = rows @ self.weights.ravel(), self._slopes(rows)
        return estimated_ratios(names, values, slopes, self.covariance, self._prior, level)

    @property
    def _prior(self) -> Floats:
        return self.likelihood.prior_information(self.parameters)


def _restored(
    model: JudgmentModel,
    scale: Scale,
    evidence: Evidence,
    relative_lapses: Floats | None,
    anchor: Anchor,
    maximum: Maximum,
    free: JudgmentFit | None,
) -> JudgmentFit:
    likelihood = replace(model.likelihood(evidence, scale), relative_lapses=relative_lapses)
    return JudgmentFit(model, scale, on_scale(likelihood, anchor), maximum, free)
