"""The true measures that order simulated pairs of lists, and how similar a learned one is.

The truths of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6) are

    W[k, l] = G_l / log(k + 1),    Data 1: G_l = l,    Data 2: G_l = 2^l - 1

A truth may also be any other DCG, or have gains that change from rank to rank. What is learned from
such pairs is compared with it:

    precision   = share of test pairs ordered as the truth orders them
    similarity  = cos(T(W), T(W_hat)),   T(W) = W - W[:, worst]          (eq. 3)

(section 6.2). Pairs that reorder one list determine W only up to constants for each rank and each
grade, so similarity does not tend to 1: the smallest monotone W that agrees with them is
(c - c_K) g', and cos(c g', (c - c_K) g') = cos(c, c - c_K), which is .8917 for c = 1 / log(k + 1)
and ten ranks. The identifiable similarity, the cosine of the double-centred matrices, compares what
such pairs determine, and tends to 1.
"""

from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from dcglearn.base.checks import checked_number, finite_array
from dcglearn.base.errors import unknown_name
from dcglearn.base.numbers import parse_number
from dcglearn.base.types import Floats
from dcglearn.learning.factorise import fix_gauge
from dcglearn.learning.record import Gauge
from dcglearn.measures.discounts import split_parameter
from dcglearn.measures.measure import Measure
from dcglearn.measures.names import measure_for, states_its_grades
from dcglearn.measures.presets import PRESETS
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility

TRUTHS = {"data-1": "linear-log2", "data-2": "exponential-log2"}
"""The preset of each truth of the paper, on grades L ... 1."""

FREE = "free"
"""The name of a truth whose gains are drawn independently at each rank."""

BY_RANK = "gains-by-rank"
"""The name, before a colon and a number, of a truth whose gains change from rank to rank."""


@cache
def grade_scale(n_grades: int) -> Scale:
    """Return the scale of section 6: grades L ... 1, best first."""
    return Scale(tuple(range(n_grades, 0, -1)))


def named_truth(name: str, n_ranks: int, n_grades: int, rng: Generator) -> Measure:
    """Return the truth of a given name.

    Parameters
    ----------
    name : str
        ``data-1``, ``data-2``, ``free`` (the gains at each rank are sorted uniform numbers),
        ``gains-by-rank:1`` or another number (see :func:`gains_by_rank`), a preset, a measure
        file, or a measure written in full with any gains and discounts.
    n_ranks, n_grades : int
        K and L.
    rng : numpy.random.Generator
        Used by ``free`` only.

    Returns
    -------
    DCG or LinearUtility

    Raises
    ------
    InputError
        If there is no such truth (the message lists those that exist), or it has another K or
        L.

    Examples
    --------
    >>> named_truth("data-2", 10, 4, np.random.default_rng(0))
    DCG({4: 15, 3: 7, 2: 3, 1: 1}, log2)
    """
    if name == FREE:
        return LinearUtility(np.sort(rng.random((n_ranks, n_grades)), axis=1)[:, ::-1])
    head, _, number = name.partition(":")
    if head == BY_RANK:
        strength = checked_number(parse_number(number), f"the number of {name!r}", 0, 10.0)
        return gains_by_rank(n_ranks, n_grades, strength)
    text = TRUTHS.get(name, name)
    if not states_its_grades(text):
        head = split_parameter(text.partition("@")[0])[0]
        if head not in PRESETS:
            raise unknown_name("truth", name, [*TRUTHS, FREE, f"{BY_RANK}:1", *PRESETS])
    return measure_for(text, grade_scale(n_grades), n_ranks).measure


def gains_by_rank(n_ranks: int, n_grades: int, strength: float) -> LinearUtility:
    """Return a truth that is not a DCG: the gains between the best and the worst fall with rank."""
    down = np.linspace(-1, 1, n_ranks) if n_ranks > 1 else np.zeros(1)
    gains = np.linspace(1, 0, n_grades) ** ((1 + strength) ** down)[:, None]
    return LinearUtility(gains / np.log2(np.arange(2, n_ranks + 2))[:, None])


def similarity(W: ArrayLike, learned: ArrayLike) -> float:
    """Return the paper's similarity of two weight matrices (eq. 3).

    Parameters
    ----------
    W, learned : array-like of float, shape (K, L)
        The truth and what was learned; columns are grades, best first.

    Returns
    -------
    float
        In [-1, 1]; 0 if one of them gives all grades the same weight at every rank.

    Raises
    ------
    InputError
        If the shapes differ.

    Examples
    --------
    The limit for pairs that reorder one list, as in the paper:

    >>> c = 1 / np.log(np.arange(2, 12))
    >>> g = np.array([5, 4, 3, 2, 1])
    >>> round(similarity(np.outer(c, g), np.outer(c - c[-1], g)), 4)
    0.8917
    """
    return _compared(W, learned, "worst", -1)


def limit_on_permutations(n_ranks: int) -> float:
    """Return the limit of the similarity where all pairs reorder one list."""
    c = 1 / np.log(np.arange(2, n_ranks + 2))
    return cosine(c, c - c[-1])


def identifiable_similarity(W: ArrayLike, learned: ArrayLike) -> float:
    """Return the similarity of the part of W that pairs of permutations of one list determine.

    Parameters
    ----------
    W, learned : array-like of float, shape (K, L)

    Returns
    -------
    float
        In [-1, 1]; 0 if that part of one of them is 0.

    Raises
    ------
    InputError
        If the shapes differ.

    Examples
    --------
    >>> W = np.outer([1.0, 0.5, 0.2], [2.0, 1.0, 0.0])
    >>> offsets = np.array([[1.0], [2.0], [3.0]]) + np.array([[4.0, 0.0, -1.0]])
    >>> round(identifiable_similarity(W, W + offsets), 12)
    1.0
    """
    return _compared(W, learned, "worst order", None)  # double-centred


def _compared(W: ArrayLike, learned: ArrayLike, gauge: Gauge, worst: int | None) -> float:
    truth = finite_array(W, "weights", (None, None))
    found = finite_array(learned, "weights", truth.shape)
    return cosine(fix_gauge(truth, gauge, worst), fix_gauge(found, gauge, worst))


def cosine(a: Floats, b: Floats) -> float:
    """Return the cosine of two arrays of one shape; 0 if one of them is 0."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.sum(a * b)) / size if size else 0.0
