"""Beta-Gamma thresholding: which score a document must reach to be delivered.

    theta = (1 - alpha) theta_opt + alpha theta_zero
    alpha = beta + (1 - beta) exp(-gamma N)

(Zhai, Notes on Selected Topics of CS410, 2008; Zhai, Jansen, Stoica, Grot & Evans, TREC-7.)
Training documents are ranked by score and their utility adds up down the ranking.
theta_opt is the score at which the sum is largest, the first one where several are;
theta_zero, below it, the score at which the sum is first back at zero, or the lowest
training score if it never is. N documents have been judged: with few, more than the
optimum is delivered, so that more is learned.

A document passes when its score is theta or more. Documents with equal scores pass
together, so the sum is looked at only where a group of them ends.

Delivering nothing has the utility 0. Where no cut brings the sum above it, theta_opt is the
smallest number above the highest training score, and theta_zero that score, where the sum is
first at zero or below. theta is one of the two: the highest score still passes while alpha
is above a half.

An unjudged document counts as non-relevant. It must have a utility that says so, 0 or
less, and is not among the N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import checked_grades

_ROUNDING = 1e-12
"""Sums that differ by less than this share of what was added up are equal: utilities such as
.1 - .3 + .2 are back at zero."""


@dataclass(frozen=True)
class UtilityCurve:
    """What a threshold at each training score delivers.

    Attributes
    ----------
    thresholds : ndarray of float, shape (m,)
        The distinct scores, the highest first.
    documents : ndarray of int, shape (m,)
        How many documents have that score or a higher one.
    utilities : ndarray of float, shape (m,)
        What they are worth together.
    """

    thresholds: Floats
    documents: NDArray[np.int64]
    utilities: Floats

    def passing(self, theta: float) -> tuple[int, float]:
        """Return how many training documents score `theta` or more, and their utility.

        Parameters
        ----------
        theta : float

        Returns
        -------
        documents : int
        utility : float
        """
        passed = int((self.thresholds >= theta).sum())
        if not passed:
            return 0, 0.0
        return int(self.documents[passed - 1]), float(self.utilities[passed - 1])


@dataclass(frozen=True)
class Threshold:
    """A threshold and what it was made of.

    Attributes
    ----------
    theta : float
        A document passes when its score is this or more.
    theta_optimal, theta_zero, alpha : float
        See the module.
    n_judged : int
        N.
    curve : UtilityCurve
        Of the training documents.
    """

    theta: float
    theta_optimal: float
    theta_zero: float
    alpha: float
    n_judged: int
    curve: UtilityCurve


def alpha_of(n_judged: int, beta: float = 0.1, gamma: float = 0.05) -> float:
    """Return alpha, how far the threshold moves from the optimal one to that of zero utility.

    Parameters
    ----------
    n_judged : int
        N, the number of documents judged so far.
    beta : float, default 0.1
        What is left of alpha when N is large, 0 ... 1.
    gamma : float, default 0.05
        How quickly alpha falls with N, 0 or more.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If a number is out of its range.

    Examples
    --------
    >>> alpha_of(0), round(alpha_of(10), 6)
    (1.0, 0.645878)
    """
    if isinstance(n_judged, bool) or not isinstance(n_judged, int | np.integer) or n_judged < 0:
        raise InputError(f"{n_judged!r} documents judged", "give a whole number, 0 or more")
    _check_number(beta, "beta", 0.0, 1.0)
    _check_number(gamma, "gamma", 0.0)
    return beta + (1 - beta) * math.exp(-gamma * int(n_judged))


def beta_gamma(
    theta_optimal: float,
    theta_zero: float,
    n_judged: int,
    beta: float = 0.1,
    gamma: float = 0.05,
) -> float:
    """Return the threshold between the optimal one and that of zero utility.

    Parameters
    ----------
    theta_optimal : float
    theta_zero : float
        At or below `theta_optimal`.
    n_judged, beta, gamma
        As for :func:`alpha_of`.

    Returns
    -------
    float
        From `theta_zero`, where nothing is judged, upwards.

    Raises
    ------
    InputError
        If a number is out of its range, or `theta_zero` is above `theta_optimal`.

    Examples
    --------
    >>> [round(beta_gamma(0.8, 0.3, N), 6) for N in (0, 1, 10, 100)]
    [0.3, 0.321947, 0.477061, 0.746968]
    """
    _check_number(theta_optimal, "theta_optimal")
    _check_number(theta_zero, "theta_zero")
    if theta_zero > theta_optimal:
        raise InputError(
            f"theta_zero {theta_zero:g} is above theta_optimal {theta_optimal:g}",
            "utility returns to zero below the optimum",
        )
    width = theta_optimal - theta_zero
    _check_number(width, "theta_optimal - theta_zero")
    alpha = alpha_of(n_judged, beta, gamma)
    if alpha > 0.5:  # from the nearer end: exact at both, where documents of that score pass
        return float(theta_zero + (1 - alpha) * width)
    return float(theta_optimal - alpha * width)


def threshold(
    scores: ArrayLike,
    utilities: ArrayLike,
    judged: ArrayLike | None = None,
    beta: float = 0.1,
    gamma: float = 0.05,
) -> Threshold:
    """Learn a threshold from scored training documents.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
    utilities : array-like of float, shape (n,)
        What it is worth that a document is delivered: :func:`relevance_utilities`,
        :func:`gain_utilities`, or any.
    judged : array-like of bool, shape (n,), optional
        Which documents have been judged; all by default.
    beta, gamma
        As for :func:`alpha_of`.

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
    >>> found = threshold([0.9, 0.8, 0.5, 0.3, 0.1], [3, 3, -2, -4, 1])
    >>> found.theta_optimal, found.theta_zero, found.curve.passing(found.theta)
    (0.8, 0.3, (3, 4.0))
    """
    curve = utility_curve(scores, utilities)
    values = np.asarray(utilities, float)
    known = _checked_judged(judged, values)
    N = int(known.sum())
    theta_optimal, theta_zero = _ends(curve, _ROUNDING * float(np.abs(values).sum()))
    return Threshold(
        theta=beta_gamma(theta_optimal, theta_zero, N, beta, gamma),
        theta_optimal=theta_optimal,
        theta_zero=theta_zero,
        alpha=alpha_of(N, beta, gamma),
        n_judged=N,
        curve=curve,
    )


def utility_curve(scores: ArrayLike, utilities: ArrayLike) -> UtilityCurve:
    """Add up utilities down the ranking by score, to the end of each group of equal scores.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
    utilities : array-like of float, shape (n,)

    Returns
    -------
    UtilityCurve
        A sum that is 0 but for rounding is 0.

    Raises
    ------
    InputError
        If there is no document, or a number is not finite (naming the row).

    Examples
    --------
    >>> utility_curve([0.5, 0.9, 0.5], [-2, 3, 3]).utilities
    array([3., 4.])
    """
    points = _checked_numbers(scores, "score")
    values = _checked_numbers(utilities, "utility")
    if len(points) != len(values):
        raise InputError(f"{len(points)} scores and {len(values)} utilities", "give one of each")
    if not len(points):
        raise InputError("no document", "give at least one with a score")
    order = np.argsort(-points, kind="stable")
    ranked = points[order]
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    totals = np.cumsum(values[order])[last]
    totals[np.abs(totals) <= _ROUNDING * np.cumsum(np.abs(values[order]))[last]] = 0.0
    return UtilityCurve(ranked[last], last + 1, totals)


def relevance_utilities(relevant: ArrayLike, credit: float = 3.0, debit: float = 2.0) -> Floats:
    """Return the linear utility: `credit` for a relevant document, - `debit` for another.

    Parameters
    ----------
    relevant : array-like of bool, shape (n,)
        False for an unjudged document.
    credit : float, default 3
        Above 0. With the debit of 2 it is the LF1 of the filtering track of TREC.
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
    _check_number(credit, "credit", 0.0)
    _check_number(debit, "debit", 0.0)
    if credit == 0:
        raise InputError("a credit of 0", "use a number above 0, or nothing is worth delivering")
    return np.where(_as_bools(relevant, "relevant"), float(credit), -float(debit))


def gain_utilities(grades: ArrayLike, gains: ArrayLike, cost: float = 0.0) -> Floats:
    """Return the gain of each document's grade minus the cost of looking at a document.

    Parameters
    ----------
    grades : array-like of int, shape (n,)
        Grade indices. An unjudged document has that of a non-relevant one: the grade with
        the smallest gain.
    gains : array-like of float, shape (L,)
        One a grade, best grade first, such as those of a learned :class:`DCG`.
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
    _check_number(cost, "cost")
    rows = checked_grades(grades, len(values), "grades") if np.size(grades) else np.zeros(0, int)
    if (rows < 0).any():
        row = int(np.argmax(rows < 0))
        remedy = "give an unjudged document the grade with the smallest gain"
        raise InputError("no grade", remedy, f"row {row}")
    return values[rows] - cost


def _ends(curve: UtilityCurve, slack: float) -> tuple[float, float]:
    """Return theta_opt and theta_zero."""
    scores, utilities = curve.thresholds, curve.utilities
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
            f"judged of shape {known.shape} for {len(utilities)} documents", "give one a document"
        )
    wrong = ~known & (utilities > 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = f"an unjudged document has the utility {utilities[row]:g}"
        raise InputError(problem, "it counts as non-relevant: give it 0 or less", f"row {row}")
    return known


def _as_bools(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    found = np.asarray(values)
    if found.size and found.dtype.kind != "b":
        raise InputError(f"{name} holds {found.dtype} entries", "use true and false")
    return found.astype(bool)


def _checked_numbers(values: ArrayLike, name: str) -> Floats:
    try:
        found = np.asarray(values, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"a {name} is not a number", "give one number a document") from error
    if found.ndim != 1:
        raise InputError(f"{name} array of shape {found.shape}", "give one number a document")
    wrong = ~np.isfinite(found)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"the {name} is {found[row]}", "use finite numbers", f"row {row}")
    return found


def _check_number(value: float, name: str, low: float = -math.inf, high: float = math.inf) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        ends = f"{low:g} ... {high:g}" if high < math.inf else f"{low:g} or more"
        remedy = f"use {ends}" if low > -math.inf else "use a finite number"
        raise InputError(f"{name} is {value!r}", remedy)
