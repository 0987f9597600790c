"""Beta-Gamma thresholding: the score that a document must reach to be delivered.

    theta = (1 - alpha) theta_opt + alpha theta_zero
    alpha = beta + (1 - beta) exp(-gamma N)

(Zhai, Notes on Selected Topics of CS410, 2008; Zhai, Jansen, Stoica, Grot & Evans, TREC-7.)
Training documents are ranked by score, and their utilities are summed down the ranking.
theta_opt is the score at which the sum is largest, the first of several. theta_zero is the first
score below it at which the sum is 0 or less, or the lowest training score if there is none. N
documents have been judged. With few judgments the threshold is lower than the optimum, so that
more documents are delivered and judged.

A document passes if its score is theta or more. Documents with equal scores pass together, so the
sum is taken at the end of each group of equal scores.

Delivering nothing has utility 0. If no cut brings the sum above 0, theta_opt is the smallest
number above the highest training score, and theta_zero is that score. theta is then one of the
two: the highest score passes while alpha is above one half.

An unjudged document counts as non-relevant: its utility must be 0 or less, and it is not one of
the N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_number, finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.overflow import multiplied, refuse_overflow, usual_size
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG
from dcglearn.measures.grade_indices import checked_grades

_ROUNDING = 1e-12
"""Sums that differ by less than this share of the sum of absolute terms are equal: utilities such
as .1 - .3 + .2 sum to 0."""

_ONE_EACH = "give one number per document"


@dataclass(frozen=True)
class Delivery:
    """The documents that pass a threshold.

    Attributes
    ----------
    documents : int
        How many pass.
    utility : float
        The sum of their utilities.
    """

    documents: int
    utility: float


@dataclass(frozen=True)
class UtilityCurve:
    """The number and the utility of documents that pass a threshold at each training score.

    Attributes
    ----------
    thresholds : ndarray of float, shape (m,)
        The distinct scores, the highest first.
    documents : ndarray of int, shape (m,)
        Number of documents with that score or a higher one.
    utilities : ndarray of float, shape (m,)
        Sum of their utilities.
    """

    thresholds: Floats
    documents: NDArray[np.int64]
    utilities: Floats

    def passing(self, theta: float) -> Delivery:
        """Return the training documents that score `theta` or more.

        Parameters
        ----------
        theta : float

        Returns
        -------
        Delivery
        """
        passed = int((self.thresholds >= theta).sum())
        if not passed:
            return Delivery(0, 0.0)
        return Delivery(int(self.documents[passed - 1]), float(self.utilities[passed - 1]))


@dataclass(frozen=True)
class Threshold:
    """A Beta-Gamma threshold and the numbers it is computed from.

    Attributes
    ----------
    theta : float
        A document passes if its score is `theta` or more.
    theta_optimal, theta_zero, alpha : float
        See :mod:`dcglearn.filtering.beta_gamma`.
    n_judged : int
        N, the number of judged training documents.
    curve : UtilityCurve
        Of the training documents.
    """

    theta: float
    theta_optimal: float
    theta_zero: float
    alpha: float
    n_judged: int
    curve: UtilityCurve


def beta_gamma_alpha(n_judged: int, beta: float = 0.1, gamma: float = 0.05) -> float:
    """Return alpha, the weight of theta_zero in the threshold.

    Parameters
    ----------
    n_judged : int
        N, the number of documents judged so far.
    beta : float, default 0.1
        The limit of alpha for large N, 0 ... 1.
    gamma : float, default 0.05
        The rate at which alpha falls with N, 0 or more.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If a number is out of its range.

    Examples
    --------
    >>> beta_gamma_alpha(0), round(beta_gamma_alpha(10), 6)
    (1.0, 0.645878)
    """
    if isinstance(n_judged, bool) or not isinstance(n_judged, int | np.integer) or n_judged < 0:
        raise InputError(f"{n_judged!r} documents judged", "give a whole number, 0 or more")
    checked_number(beta, "`beta`", 0.0, 1.0)
    checked_number(gamma, "`gamma`", 0.0)
    return beta + (1 - beta) * math.exp(-gamma * int(n_judged))


def interpolated_threshold(
    theta_optimal: float,
    theta_zero: float,
    n_judged: int,
    beta: float = 0.1,
    gamma: float = 0.05,
) -> float:
    """Return the threshold between theta_zero and theta_opt for N judgments.

    Parameters
    ----------
    theta_optimal : float
    theta_zero : float
        At or below `theta_optimal`.
    n_judged, beta, gamma
        As for :func:`beta_gamma_alpha`.

    Returns
    -------
    float
        `theta_zero` if N is 0.

    Raises
    ------
    InputError
        If a number is out of its range, or `theta_zero` is above `theta_optimal`.

    Examples
    --------
    >>> [round(interpolated_threshold(0.8, 0.3, N), 6) for N in (0, 1, 10, 100)]
    [0.3, 0.321947, 0.477061, 0.746968]
    """
    checked_number(theta_optimal, "`theta_optimal`")
    checked_number(theta_zero, "`theta_zero`")
    if theta_zero > theta_optimal:
        raise InputError(
            f"`theta_zero` {theta_zero:g} is above `theta_optimal` {theta_optimal:g}",
            "give a `theta_zero` at or below `theta_optimal`",
        )
    width = theta_optimal - theta_zero
    checked_number(width, "`theta_optimal` - `theta_zero`")
    alpha = beta_gamma_alpha(n_judged, beta, gamma)
    if alpha > 0.5:  # from the nearer end: exact at both, so documents with that score pass
        return float(theta_zero + (1 - alpha) * width)
    return float(theta_optimal - alpha * width)


def beta_gamma_threshold(
    scores: ArrayLike,
    utilities: ArrayLike,
    judged: ArrayLike | None = None,
    beta: float = 0.1,
    gamma: float = 0.05,
) -> Threshold:
    """Learn a Beta-Gamma threshold from scored training documents.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
    utilities : array-like of float, shape (n,)
        The utility of delivering each document, such as :func:`relevance_utilities` or
        :func:`gain_utilities`.
    judged : array-like of bool, shape (n,), optional
        Which documents have been judged; all by default.
    beta, gamma
        As for :func:`beta_gamma_alpha`.

    Returns
    -------
    Threshold

    Raises
    ------
    InputError
        If there is no document, a number is not finite, or an unjudged document has a
        utility above 0 (naming the row).

    Examples
    --------
    >>> found = beta_gamma_threshold([0.9, 0.8, 0.5, 0.3, 0.1], [3, 3, -2, -4, 1])
    >>> found.theta_optimal, found.theta_zero, found.curve.passing(found.theta)
    (0.8, 0.3, Delivery(documents=3, utility=4.0))
    """
    curve = utility_curve(scores, utilities)
    values = np.asarray(utilities, float)
    known = _checked_judged(judged, values)
    N = int(known.sum())
    scaled, exponent = usual_size(values)
    slack = _ROUNDING * float(np.abs(scaled).sum())
    theta_optimal, theta_zero = _ends(curve.thresholds, np.ldexp(curve.utilities, -exponent), slack)
    return Threshold(
        theta=interpolated_threshold(theta_optimal, theta_zero, N, beta, gamma),
        theta_optimal=theta_optimal,
        theta_zero=theta_zero,
        alpha=beta_gamma_alpha(N, beta, gamma),
        n_judged=N,
        curve=curve,
    )


def utility_curve(scores: ArrayLike, utilities: ArrayLike) -> UtilityCurve:
    """Sum utilities down the ranking by score, up to the end of each group of equal scores.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
    utilities : array-like of float, shape (n,)

    Returns
    -------
    UtilityCurve
        A sum that is 0 but for rounding is set to 0.

    Raises
    ------
    InputError
        If there is no document, or a number is not finite (naming the row).

    Examples
    --------
    >>> utility_curve([0.5, 0.9, 0.5], [-2, 3, 3]).utilities
    array([3., 4.])
    """
    points = finite_array(scores, "scores", (None,), _ONE_EACH)
    values = finite_array(utilities, "utilities", (len(points),), _ONE_EACH)
    if not len(points):
        raise InputError("no document", "give at least one with a score")
    order = np.argsort(-points, kind="stable")
    ranked = points[order]
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    summed, exponent = usual_size(values[order])
    totals = np.cumsum(summed)[last]
    totals[np.abs(totals) <= _ROUNDING * np.cumsum(np.abs(summed))[last]] = 0.0
    return UtilityCurve(ranked[last], last + 1, multiplied(totals, exponent, "utilities"))


def relevance_utilities(relevant: ArrayLike, credit: float = 3.0, debit: float = 2.0) -> Floats:
    """Return the linear utility: `credit` for a relevant document, -`debit` for any other.

    Parameters
    ----------
    relevant : array-like of bool, shape (n,)
        False for an unjudged document.
    credit : float, default 3
        Above 0. With a debit of 2, this is LF1 of TREC's filtering track.
    debit : float, default 2
        0 or more.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    InputError
        If a number is out of its range.

    Examples
    --------
    >>> relevance_utilities([True, False])
    array([ 3., -2.])
    """
    checked_number(credit, "`credit`", 0.0, above=True)
    checked_number(debit, "`debit`", 0.0)
    return np.where(_as_bools(relevant, "relevant"), float(credit), -float(debit))


def gain_utilities(grades: ArrayLike, gains: ArrayLike, cost: float = 0.0) -> Floats:
    """Return the gain of each document's grade minus the cost of reading a document.

    Parameters
    ----------
    grades : array-like of int, shape (n,)
        Grade indices. Give an unjudged document the index of a non-relevant one: the grade with
        the smallest gain.
    gains : array-like of float, shape (L,)
        One gain per grade, best grade first, such as those of a learned :class:`DCG`.
    cost : float, default 0
        In units of gain.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    InputError
        If a grade has no gain, or a number is not finite.

    Examples
    --------
    >>> gain_utilities([0, 2, 1], [1, 0.6, 0], cost=0.5).round(6)
    array([ 0.5, -0.5,  0.1])
    """
    values = np.array(DCG(np.asarray(gains)).gains)
    checked_number(cost, "`cost`")
    rows = checked_grades(grades, len(values), "grades") if np.size(grades) else np.zeros(0, int)
    if (rows < 0).any():
        row = int(np.argmax(rows < 0))
        remedy = "give an unjudged document the grade with the smallest gain"
        raise InputError("no grade", remedy, f"row {row}")
    with refuse_overflow("gain minus cost"):
        return values[rows] - cost


def _ends(scores: Floats, utilities: Floats, slack: float) -> tuple[float, float]:
    """Return theta_opt and theta_zero."""
    largest = float(utilities.max())
    if largest <= 0:
        return math.nextafter(scores[0], math.inf), float(scores[0])
    best = int(np.argmax((utilities > 0) & (utilities >= largest - slack)))
    back = np.flatnonzero(utilities[best + 1 :] <= 0)
    zero = best + 1 + back[0] if len(back) else -1
    return float(scores[best]), float(scores[zero])


def _checked_judged(judged: ArrayLike | None, utilities: Floats) -> NDArray[np.bool_]:
    if judged is None:
        return np.ones(len(utilities), bool)
    known = _as_bools(judged, "judged")
    if known.shape != utilities.shape:
        raise InputError(
            f"`judged` has shape {known.shape} for {len(utilities)} documents",
            "give one per document",
        )
    wrong = ~known & (utilities > 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = f"an unjudged document has the utility {utilities[row]:g}"
        raise InputError(problem, "it counts as non-relevant: give it 0 or less", f"row {row}")
    return known


def _as_bools(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    try:
        found = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"`{name}` is no vector", "use true and false") from error
    if found.size and found.dtype.kind != "b":
        raise InputError(f"`{name}` holds {found.dtype} entries", "use true and false")
    return found.astype(bool)
