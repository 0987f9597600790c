"""The probability of an answer, given how much better one list is, with two derivatives.

v is the utility of list a minus that of list b, plus the side bias: how much a is preferred
because of where it is shown. Strict answers follow a logistic function of v,

    P(a) = 1 / (1 + exp(-v)),    P(b) = 1 / (1 + exp(v)).

With ties, p_a = exp(v / 2) and p_b = exp(-v / 2), and t says how frequent ties are:

* Davidson (JASA 65, 1970): P(tie) = e^t / (p_a + p_b + e^t), P(a) = p_a / (p_a + p_b + e^t). The
  odds of a against b are as without ties.
* Rao & Kupper (JASA 62, 1967): P(a) = 1 / (1 + exp(t - v)), P(b) = 1 / (1 + exp(t + v)), t > 0; a
  tie is a difference that is too small to be seen.

A tie may have a level: both lists good, or both bad. The level has log odds h, which depend on the
utility of the two lists together (:mod:`dcglearn.inference.likelihood`).

A lapse is an answer given at random. A share e of all judgments are lapses, whatever the lists:

    P = e q + (1 - e) p,

where q is 1 over the number of possible answers (Wichmann & Hill, Perception & Psychophysics 63,
2001, on what estimates become without it).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from dcglearn.base.types import Floats

TieModel = Literal["strict", "davidson", "rao-kupper"]
"""What is modelled: strict judgments only, or ties as well, and how."""

A, B, TIE, GOOD, BAD = range(5)
"""Answers, as in :data:`dcglearn.judgments.meaning.answers.ANSWERS`."""

V, T, H = range(3)
"""The inputs of a probability: difference, frequency of ties, level. Strict answers have V only."""


_LARGEST = 300.0
"""Logarithm of the largest 1 / P in derivatives, whose square is finite."""


class LogTerms(NamedTuple):
    """The logarithm of a probability, and its derivatives in the inputs v, t and h.

    Attributes
    ----------
    value : ndarray of float, shape (n,)
    first : ndarray of float, shape (n, 3)
    second : ndarray of float, shape (n, 3, 3)
    """

    value: Floats
    first: Floats
    second: Floats


class LapseTerms(NamedTuple):
    """As :class:`LogTerms`, with the share of lapses e as the last input."""

    value: Floats
    first: Floats
    second: Floats


def log_probability(
    answers: NDArray[np.int8], v: Floats, t: float, h: Floats, ties: TieModel
) -> LogTerms:
    """Return the log probability of each answer of somebody who does not lapse.

    Parameters
    ----------
    answers : ndarray of int, shape (n,)
        Indices of answers.
    v : ndarray of float, shape (n,)
        Utility of a minus that of b, with the side bias.
    t : float
        Frequency of ties; without effect for strict judgments.
    h : ndarray of float, shape (n,)
        Log odds that a tie is good; without effect for other answers.
    ties : {"strict", "davidson", "rao-kupper"}

    Returns
    -------
    LogTerms

    Examples
    --------
    >>> terms = log_probability(np.array([0, 1]), np.zeros(2), 0.0, np.zeros(2), "strict")
    >>> np.exp(terms.value), terms.first[:, 0]
    (array([0.5, 0.5]), array([ 0.5, -0.5]))
    """
    sign = np.where(answers == A, 1.0, np.where(answers == B, -1.0, 0.0))
    if ties == "strict":
        return _strict(sign, v)
    terms = _davidson(sign, v, t) if ties == "davidson" else _rao_kupper(sign, v, t)
    level = np.where(answers == GOOD, 1.0, np.where(answers == BAD, -1.0, 0.0))
    if level.any():
        odds = expit(h)
        terms.value[:] += np.where(level != 0, log_expit(level * h), 0.0)
        terms.first[:, H] = level * expit(-level * h)
        terms.second[:, H, H] = -np.abs(level) * odds * (1 - odds)
    return terms


def with_lapses(terms: LogTerms, e: float | Floats, q: float) -> LapseTerms:
    """Return the log probability of each answer if a share of them is given at random.

    Parameters
    ----------
    terms : LogTerms
        Of answers that are no lapses.
    e : float or ndarray of float, shape (n,)
        Share of lapses, from 0 to below 1.
    q : float
        Probability of each answer when it is a lapse.

    Returns
    -------
    LapseTerms
    """
    with np.errstate(divide="ignore"):  # without lapses, the first logarithm is -inf
        value = np.logaddexp(np.log(e * q), np.log1p(-e) + terms.value)
    meant = np.exp(np.log1p(-e) + terms.value - value)  # the share of such answers that is meant
    p, inverse = np.exp(terms.value), np.exp(np.minimum(-value, _LARGEST))
    n, m = terms.first.shape
    first, second = np.empty((n, m + 1)), np.empty((n, m + 1, m + 1))
    first[:, :m] = meant[:, None] * terms.first
    outer = terms.first[:, :, None] * terms.first[:, None, :]
    second[:, :m, :m] = meant[:, None, None] * terms.second
    second[:, :m, :m] += (meant * (1 - meant))[:, None, None] * outer
    first[:, m] = (q - p) * inverse
    second[:, m, m] = -(first[:, m] ** 2)
    mixed = -terms.first * (q * p * inverse**2)[:, None]
    second[:, :m, m] = second[:, m, :m] = mixed
    return LapseTerms(value, first, second)


def _strict(sign: Floats, v: Floats) -> LogTerms:
    terms = _empty(len(v), 1)
    p = expit(v)
    terms.value[:] = log_expit(sign * v)
    terms.first[:, V] = sign * expit(-sign * v)
    terms.second[:, V, V] = -p * (1 - p)
    return terms


def _davidson(sign: Floats, v: Floats, t: float) -> LogTerms:
    terms = _empty(len(v))
    numerators = np.stack([v / 2, -v / 2, np.full(len(v), t)])
    log_sum = np.logaddexp.reduce(numerators)
    p_a, p_b, p_tie = np.exp(numerators - log_sum)
    tie = sign == 0
    terms.value[:] = np.where(tie, t, sign * v / 2) - log_sum
    terms.first[:, V] = sign / 2 - (p_a - p_b) / 2
    terms.first[:, T] = tie - p_tie
    terms.second[:, V, V] = -(p_a + p_b - (p_a - p_b) ** 2) / 4
    terms.second[:, V, T] = terms.second[:, T, V] = p_tie * (p_a - p_b) / 2
    terms.second[:, T, T] = -p_tie * (1 - p_tie)
    return terms


def _rao_kupper(sign: Floats, v: Floats, t: float) -> LogTerms:
    """Return the terms; for a tie, P = (e^2t - 1) P(a) P(b)."""
    terms = _empty(len(v))
    for side in (1.0, -1.0):
        rows = (sign == side) | (sign == 0)
        z = side * v[rows] - t
        slope, bend = expit(-z), -expit(z) * expit(-z)
        terms.value[rows] += log_expit(z)
        terms.first[rows, V] += side * slope
        terms.first[rows, T] -= slope
        terms.second[rows, V, V] += bend
        terms.second[rows, T, T] += bend
        terms.second[rows, V, T] -= side * bend
        terms.second[rows, T, V] -= side * bend
    tie = sign == 0
    shrink = -np.expm1(-2 * t)  # e^2t - 1 = e^2t shrink
    terms.value[tie] += 2 * t + np.log(shrink)
    terms.first[tie, T] += 2 / shrink
    terms.second[tie, T, T] -= 4 * np.exp(-2 * t) / shrink**2
    return terms


def _empty(n: int, m: int = 3) -> LogTerms:
    return LogTerms(np.zeros(n), np.zeros((n, m)), np.zeros((n, m, m)))
