"""The likelihood of independent strict judgments: for each difference x of lists, a binomial one.

Many pairs of lists differ in the same way: with K = 5 ranks and L = 3 grades there are 7^5 values
of the difference x of two encoded lists. If list a is preferred n_a times, and list b n_b times,
where they differ by x, then

    log likelihood = sum_x  n_a log P_x + n_b log (1 - P_x),    P = e / 2 + (1 - e) p,

with p = 1 / (1 + exp(-v)), v = <W, x> + side and e the share of lapses. Both answers have scores
along the same direction, the gradient of P: that over P, and its negative over 1 - P. So sums of
squares of scores, and the covariance and the test that are made of them, are sums over x too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.types import Floats, Integers, Pairs
from dcglearn.inference.answers import A, B
from dcglearn.inference.calibration import LinkTest, beyond_rounding, link_test_of_scores
from dcglearn.inference.covariance import (
    Clustering,
    Covariance,
    adjustment_of_one,
    inverse_root,
)
from dcglearn.inference.estimate import ORDERED, JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.likelihood import Likelihood
from dcglearn.inference.reach import reach_maximum
from dcglearn.learning.codes import CodeLayout
from dcglearn.measures.scale import NO_DOCUMENT, Scale
from dcglearn.trials.coded_rows import CodedRows

MAX_DIFFERENCES = 1 << 15
"""More are summed in chunks, by the general likelihood."""

_FEWEST_LAPSES = 1e-6
_LARGEST = 100.0
"""Below this share of lapses and beyond this difference in log odds, 1 / P may be too large to be
squared: the general likelihood takes care of that."""


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences that occur among pairs of lists.

    Attributes
    ----------
    coded : CodedRows
        Each x once, m of them; 0 is left out.
    of_pair : ndarray of int, shape (n,)
        The number of each pair's x, from 1; 0 if both lists have the same grades.

    Examples
    --------
    >>> lists = np.array([[[0, 1], [1, 1]], [[0, 0], [1, 0]], [[1, 1], [1, 1]]], np.int8)
    >>> found = Differences.of(lists, 2)
    >>> found.of_pair, found.coded.products(np.eye(4)).T
    (array([1, 1, 0]), array([[ 1., -1.,  0.,  0.]]))
    """

    coded: CodedRows
    of_pair: Integers

    @classmethod
    def of(cls, lists: Pairs, n_grades: int) -> Differences | None:
        """Find the differences of pairs of lists.

        Parameters
        ----------
        lists : ndarray of int8, shape (n, 2, K)
        n_grades : int
            L.

        Returns
        -------
        Differences or None
            None if there may be too many.
        """
        layout = CodeLayout(lists.shape[2], n_grades, bool((lists == NO_DOCUMENT).any()))
        sizes = [len(values) for values, _ in layout.tables]
        if math.prod(sizes) >= 2**63:
            return None
        same = lists[:, 0] == lists[:, 1]
        codes = layout.encode(np.where(same[:, None], 0, lists))  # equal grades cancel out
        keys = np.zeros(len(lists) + 1, np.int64)  # the first is that of no difference
        for code, size in zip(codes, sizes, strict=True):
            keys *= size
            keys[1:] += code
        distinct, number = np.unique(keys, return_inverse=True)
        if len(distinct) > MAX_DIFFERENCES:
            return None
        distinct, found = distinct[1:], np.empty((len(codes), len(distinct) - 1), np.intp)
        for code, size in zip(found[::-1], sizes[::-1], strict=True):
            distinct, code[:] = np.divmod(distinct, size)
        return cls(CodedRows(layout, found), number[1:])

    def scores(self, W: Floats) -> Floats:
        """Return <W, x> of each pair.

        Parameters
        ----------
        W : ndarray of float, shape (K, L)

        Returns
        -------
        ndarray of float, shape (n,)
        """
        return np.append(0.0, self.coded.products(W.reshape(-1, 1))[0])[self.of_pair]


@dataclass(frozen=True, eq=False, kw_only=True)
class BinomialEvidence(Evidence):
    """Independent strict judgments, counted; as evidence, each x has a row for each answer.

    Attributes
    ----------
    coded : CodedRows
        The m differences x.
    counts : ndarray of float, shape (2, m)
        n_a and n_b.
    """

    coded: CodedRows
    counts: Floats

    @classmethod
    def of_answers(cls, differences: Differences, answers: NDArray[np.int8]) -> BinomialEvidence:
        """Count the answers to pairs of lists, each ``A`` or ``B``.

        Parameters
        ----------
        differences : Differences
        answers : ndarray of int, shape (n,)
        """
        coded, m = differences.coded, differences.coded.codes.shape[1]
        of_a = np.bincount(differences.of_pair, answers == A, m + 1)[1:]
        counts = np.stack([of_a, np.bincount(differences.of_pair, minlength=m + 1)[1:] - of_a])
        given, x = counts.nonzero()
        rows = np.arange(len(x))
        return cls(
            layout=coded.layout,
            codes=coded.codes[:, x].astype(np.uint32),
            answers=np.where(given, B, A).astype(np.int8),
            weights=counts[given, x],
            queries=rows,
            judges=None,
            rows=rows,
            sum_layout=None,
            same_lists=int((differences.of_pair == 0).sum()),
            coded=coded,
            counts=counts,
        )

    def one_by_one(self) -> Evidence:
        """Return the same judgments with a row for each of them."""
        of_row = np.repeat(self.rows, self.weights.astype(int))
        alone, rows = np.ones(len(of_row)), np.arange(len(of_row))
        return replace(self.take(of_row), weights=alone, queries=rows, rows=rows)


@dataclass(frozen=True, eq=False)
class BinomialLikelihood(Likelihood):
    """The log likelihood of independent strict judgments, with a side bias and lapses."""

    evidence: BinomialEvidence

    def expansions(
        self, parameters: Floats, W: Floats, J: Floats
    ) -> list[tuple[float, Floats, Floats, Floats]]:
        """Return the log likelihood, gradient, Hessian, and the gradient in W, in a list."""
        at = self._at(parameters, W)
        if at is None:
            return super().expansions(parameters, W, J)
        a, b = self.evidence.counts
        slopes_a, slopes_b = at.slope / at.P_a, at.slope / at.P_b
        up, down = a * slopes_a, b * slopes_b
        first = up - down
        second = first * (1 - 2 * at.p) - up * slopes_a - down * slopes_b
        of_a, of_b = at.in_e / at.P_a, at.in_e / at.P_b
        in_e = a * of_a - b * of_b
        mixed = -first / (1 - at.e) - up * of_a - down * of_b
        bend_e = -float((a * of_a) @ of_a + (b * of_b) @ of_b)
        sums, gram = self.evidence.coded.sums(np.stack([first, mixed, second]))
        in_theta = sums @ J
        w, side, lapses = slice(self.n_weights), self.index("side"), self.index("lapses")
        gradient, hessian = np.zeros(self.n_parameters), np.empty((self.n_parameters,) * 2)
        gradient[w], gradient[side], gradient[lapses] = in_theta[0], first.sum(), in_e.sum()
        hessian[w, w] = J.T @ gram @ J
        hessian[w, lapses] = hessian[lapses, w] = in_theta[1]
        hessian[w, side] = hessian[side, w] = in_theta[2]
        hessian[side, side], hessian[lapses, lapses] = second.sum(), bend_e
        hessian[side, lapses] = hessian[lapses, side] = mixed.sum()
        value = float(a @ np.log(at.P_a) + b @ np.log(at.P_b))
        return [(value, gradient, hessian, sums[0])]

    def log_likelihoods(self, parameters: Floats) -> list[float]:
        """Return the log likelihood, without the prior, in a list."""
        at = self.at(parameters)
        if at is None:
            return super().log_likelihoods(parameters)
        a, b = self.evidence.counts
        return [float(a @ np.log(at.P_a) + b @ np.log(at.P_b))]

    def at(self, parameters: Floats) -> _Probabilities | None:
        """Return the probabilities of answers; None where the general likelihood is needed.

        Parameters
        ----------
        parameters : ndarray of float, shape (P,)
        """
        return self._at(parameters, self.family.weights(parameters[: self.n_weights]))

    def _at(self, parameters: Floats, W: Floats) -> _Probabilities | None:
        e = self.value_of("lapses", parameters)
        v = self.evidence.coded.products(W.reshape(-1, 1))[0]
        v += self.value_of("side", parameters)
        if e < _FEWEST_LAPSES and np.abs(v).max(initial=0.0) > _LARGEST:
            return None
        odds = np.exp(-np.abs(v))
        larger = 1 / (1 + odds)
        smaller = odds * larger
        p, other = np.where(v > 0, (larger, smaller), (smaller, larger))
        P_a, P_b = e / 2 + (1 - e) * p, e / 2 + (1 - e) * other
        slope = (1 - e) * larger * smaller
        return _Probabilities(v, e, p, P_a, P_b, slope, 0.5 - p)

    def gradients(self, parameters: Floats, at: _Probabilities) -> Floats:
        """Return the gradient of P in the parameters.

        Parameters
        ----------
        parameters : ndarray of float, shape (P,)
        at : _Probabilities
            At these parameters.

        Returns
        -------
        ndarray of float, shape (m, P)
        """
        J = self.family.jacobian(parameters[: self.n_weights])
        found = np.empty((self.n_parameters, len(at.p)))
        np.multiply(self.evidence.coded.products(J), at.slope, out=found[: self.n_weights])
        found[self.index("side")], found[self.index("lapses")] = at.slope, at.in_e
        return np.asarray(found.T)


@dataclass(frozen=True, eq=False)
class _Probabilities:
    """P at some parameters: v, e, p, P, 1 - P, and the derivatives of P in v and e.

    Each of shape (m,), but for the share of lapses e.
    """

    v: Floats
    e: float
    p: Floats
    P_a: Floats
    P_b: Floats
    slope: Floats
    in_e: Floats


@dataclass(frozen=True, eq=False, repr=False)
class BinomialFit(JudgmentFit):
    """The estimate of a model from independent strict judgments that were counted."""

    likelihood: BinomialLikelihood

    @cached_property
    def covariance(self) -> Covariance:
        """The covariance of the parameters; each judgment is a cluster of its own."""
        at = self._probabilities
        root = inverse_root(-self.maximum.at.hessian, self.maximum.free)
        whitened = self._gradients @ root
        rows = whitened / np.sqrt(at.P_a * at.P_b)[:, None]
        factors = adjustment_of_one((rows**2).sum(axis=1)) * np.sqrt(self._squares(at))
        counts = self.likelihood.evidence.counts.sum(axis=0)
        steps = (whitened * factors[:, None]) @ root.T
        x = np.arange(len(rows))
        return Covariance(root, (BinomialClustering("query", steps, rows, x, counts),), None)

    def link_test(self) -> LinkTest:
        """Test the link, as :func:`dcglearn.inference.calibration.link_test` does."""
        at = self._probabilities
        a, b = self.likelihood.evidence.counts
        gradients, bend = self._gradients, at.slope * at.v * np.abs(at.v)
        information = (a + b) / (at.P_a * at.P_b)
        slopes = self.covariance.model @ (gradients.T @ (bend * information))
        efficient = bend - gradients @ slopes
        shares = efficient**2 / (at.P_a * at.P_b)
        size, variance = float((a + b) @ shares), float(self._squares(at) @ efficient**2)
        size = beyond_rounding(size, float(information @ bend**2))
        df = size**2 / max(float((a + b) @ shares**2), 1e-300)
        return link_test_of_scores(float((a / at.P_a - b / at.P_b) @ efficient), size, variance, df)

    @cached_property
    def _probabilities(self) -> _Probabilities:
        found = self.likelihood.at(self.parameters)
        assert found is not None  # noqa: S101 - fit_counted has seen that
        return found

    @cached_property
    def _gradients(self) -> Floats:
        return self.likelihood.gradients(self.parameters, self._probabilities)

    def _squares(self, at: _Probabilities) -> Floats:
        """Return the sum of squared scores of each x, for a gradient of P that is 1."""
        a, b = self.likelihood.evidence.counts
        return np.asarray(a / at.P_a**2 + b / at.P_b**2)


def fit_counted(
    model: JudgmentModel, evidence: BinomialEvidence, scale: Scale
) -> BinomialFit | None:
    """Fit as :meth:`JudgmentModel.fit_evidence` does.

    Parameters
    ----------
    model : JudgmentModel
    evidence : BinomialEvidence
    scale : Scale

    Returns
    -------
    BinomialFit or None
        None if the general way is needed: for another kind of model, or for probabilities too
        close to 0 to be squared.

    Raises
    ------
    SolverError
        If the maximum is not reached.
    """
    ordered = not model.has_own_family and model.discounts in ORDERED
    if ordered or model.ties != "strict" or not (model.side and model.lapses):
        return None
    likelihood = BinomialLikelihood(evidence, model.family(scale, evidence.shape[0]))
    likelihood, maximum = reach_maximum(likelihood, likelihood.start)
    if likelihood.at(maximum.parameters) is None:
        return None
    return BinomialFit(model, scale, likelihood, maximum, None)


@dataclass(frozen=True, eq=False)
class BinomialClustering(Clustering):
    """Judgments that are clusters of their own, of which equal ones are counted.

    Attributes
    ----------
    counts : ndarray of float, shape (m,)
        How many judgments each row stands for. Its step is the root of their summed squares.
    """

    counts: Floats

    @property
    def is_one_cluster(self) -> bool:
        """Whether there is a single judgment."""
        return bool(self.counts.sum() == 1)

    def degrees_of_freedom(self, directions: Floats) -> float:
        """Return Satterthwaite's degrees of freedom of a variance.

        Parameters
        ----------
        directions : ndarray of float, shape (P, d)
        """
        shares = ((self.rows @ directions) ** 2).sum(axis=1)
        return float((self.counts @ shares) ** 2 / max(self.counts @ shares**2, 1e-300))
