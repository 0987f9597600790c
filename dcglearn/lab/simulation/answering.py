"""Answers of judges who follow a model of the judgment, or one that differs from it.

A judge sees the difference v of two utilities with noise of one of several shapes, and prefers a
if what is seen is above 0: P(a) = F(v). The shapes are equally steep where v = 0, as F' = 1/4 for
the logistic function, so that small differences are seen equally well; they differ in how often
a large one is missed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from dcglearn.base.types import Floats
from dcglearn.inference.answers import TIE, A, B

Noise = Literal["logistic", "normal", "cauchy"]

NOISES: dict[str, Callable[[Floats], Floats]] = {
    "logistic": expit,
    "normal": lambda v: ndtr(v * np.sqrt(2 * np.pi) / 4),
    "cauchy": lambda v: 0.5 + np.arctan(v * np.pi / 4) / np.pi,
}
"""The probability of preferring a, given v, for each shape of the noise."""


def simulated_answers(
    v: Floats,
    rng: np.random.Generator,
    noise: Noise = "logistic",
    lapses: float = 0.0,
    ties: bool = False,
) -> NDArray[np.int8]:
    """Draw answers to differences v, in log odds; a share of them is given at random."""
    lapse, u = rng.random((len(v), 2)).T
    tie = 1 / (1 + 2 * np.cosh(v / 2)) if ties else np.zeros(len(v))
    a = (1 - tie) * NOISES[noise](v)
    random = lapse < lapses
    a, tie = np.where(random, 1 / (2 + ties), a), np.where(random, ties / 3, tie)
    return np.where(u < a, A, np.where(u < a + tie, TIE, B)).astype(np.int8)
