"""The probability of an answer, given how much better one list is, with two derivatives.

v is the utility of list a minus that of list b, plus the side bias. Strict answers follow a
logistic function, P(a) = 1 / (1 + exp(-v)). With ties, t says how frequent they are:

* Davidson (JASA 65, 1970): with p_a = exp(v / 2) and p_b = exp(-v / 2),
  P(tie) = e^t / (p_a + p_b + e^t), P(a) = p_a / (p_a + p_b + e^t).
* Rao & Kupper (JASA 62, 1967): P(a) = 1 / (1 + exp(t - v)), P(b) = 1 / (1 + exp(t + v)), t > 0; a
  tie is a difference that is too small to be seen.

A tie may have a level, both lists good or both bad, with log odds h.

A lapse is an answer given at random. A share e of all judgments are lapses, whatever the lists,

    P = e q + (1 - e) p,

where q is 1 over the number of possible answers (Wichmann & Hill, Perception & Psychophysics 63,
2001).
"""

from itertools import combinations_with_replacement
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from dcglearn.base.types import Floats

TieModel = Literal["strict", "davidson", "rao-kupper"]
"""What is modelled: strict judgments only, or ties as well, and how."""

A, B, TIE, GOOD, BAD = range(5)
"""Answers, as in :data:`dcglearn.judgments.meaning.answers.ANSWERS`."""

_SIGNS, _LEVELS = np.array([1.0, -1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0, -1.0])

V, T, H, E = "vthe"
"""The inputs of a probability: difference, frequency of ties, level, lapses."""

_LARGEST = 150.0
"""Differences beyond it, in log odds, are as certain; products of 1 / P are finite up to it."""


class Terms(NamedTuple):
    """The logarithm of a probability, and its derivatives in inputs.

    Each array has the shape (n,). Of two inputs, the key is in the order of the inputs.
    """

    value: Floats
    first: dict[str, Floats]
    second: dict[str, Floats]


def answer_terms(
    answers: NDArray[np.int8],
    v: Floats,
    t: Floats,
    h: Floats,
    e: float | Floats,
    ties: TieModel,
    q: float,
) -> Terms:
    """Return the log probability of each answer."""
    if ties == "strict":
        return strict_terms(1.0 - 2.0 * answers.astype(float), v, e)
    sign, level = _SIGNS[answers], _LEVELS[answers]
    v = np.clip(v, -_LARGEST, _LARGEST)
    terms = _davidson(sign, v, t) if ties == "davidson" else _rao_kupper(sign, v, t)
    terms.value[:] += np.abs(level) * log_expit(level * h)
    terms.first[H] = level * expit(-level * h)
    terms.second[H + H] = -np.abs(level) * expit(h) * expit(-h)
    return _with_lapses(terms, e, q)


def strict_probability(z: Floats, e: float | Floats) -> Floats:
    """Return the probability of a strict answer whose list is better by z."""
    return e / 2 + (1 - e) / (1 + np.exp(-np.clip(z, -_LARGEST, _LARGEST)))


def strict_terms(sign: float | Floats, v: Floats, e: float | Floats) -> Terms:
    """Return the terms of strict answers, for list a where the sign is 1, or for b."""
    odds = np.exp(-sign * np.maximum(np.minimum(v, _LARGEST), -_LARGEST))  # faster than clip
    p = 1 / (1 + odds)  # faster than expit
    meant = (1 - e) * p
    P = e / 2 + meant
    in_z, in_e = meant * odds * p / P, (0.5 - p) / P
    in_v = sign * in_z
    second = {
        V + V: in_z * (1 - 2 * p - in_z),
        V + E: -in_v * (1 / (1 - e) + in_e),
        E + E: -in_e * in_e,
    }
    return Terms(np.log(P), {V: in_v, E: in_e}, second)


def _with_lapses(terms: Terms, e: float | Floats, q: float) -> Terms:
    """Return the terms if a share of answers is given at random."""
    chosen = np.log1p(-e) + terms.value
    with np.errstate(divide="ignore"):  # without lapses, the first logarithm is -inf
        value = np.logaddexp(np.log(e * q), chosen)
    meant = np.exp(chosen - value)  # the share of such answers that is meant
    p, inverse = np.exp(terms.value), np.exp(-np.maximum(value, -2 * _LARGEST))
    first = {one: meant * slope for one, slope in terms.first.items()}
    second = {one + E: -slope * (q * p * inverse**2) for one, slope in terms.first.items()}
    for one, another in combinations_with_replacement(terms.first, 2):
        bend = meant * (1 - meant) * terms.first[one] * terms.first[another]
        second[one + another] = bend + meant * terms.second.get(one + another, 0.0)
    first[E] = (q - p) * inverse
    second[E + E] = -(first[E] ** 2)
    return Terms(value, first, second)


def _davidson(sign: Floats, v: Floats, t: Floats) -> Terms:
    numerators = np.stack(np.broadcast_arrays(v / 2, -v / 2, t))
    log_sum = np.logaddexp.reduce(numerators)
    p_a, p_b, p_tie = np.exp(numerators - log_sum)
    tie, lean = sign == 0, p_a - p_b
    return Terms(
        np.where(tie, t, sign * v / 2) - log_sum,
        {V: sign / 2 - lean / 2, T: tie - p_tie},
        {
            V + V: -(p_a + p_b - lean**2) / 4,
            V + T: p_tie * lean / 2,
            T + T: -p_tie * (1 - p_tie),
        },
    )


def _rao_kupper(sign: Floats, v: Floats, t: Floats) -> Terms:
    """Return the terms; for a tie, P = (e^2t - 1) P(a) P(b)."""
    tie, sign = sign == 0, np.broadcast_to(sign, v.shape)
    shrink = -np.expm1(-2 * t)  # e^2t - 1 = e^2t shrink
    rows, z = np.stack([sign >= 0, sign <= 0]), np.stack([v - t, -v - t])  # of a, and of b
    slopes, bends = rows * expit(-z), rows * expit(z) * expit(-z)
    return Terms(
        tie * (2 * t + np.log(shrink)) + (rows * log_expit(z)).sum(axis=0),
        {V: slopes[0] - slopes[1], T: tie * (2 / shrink) - slopes.sum(axis=0)},
        {
            V + V: -bends.sum(axis=0),
            V + T: bends[0] - bends[1],
            T + T: tie * (-4 * np.exp(-2 * t) / shrink**2) - bends.sum(axis=0),
        },
    )
