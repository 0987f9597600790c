"""Simulated judgments: pairs of lists, and judges who compare them by a truth, perhaps with errors.

Lists are drawn in the designs of Zhou, Zha, Xue & Yu (arXiv 1212.5650, section 6). Their judge
prefers the list of higher utility; pairs of equal utility are dropped. A human-like judge perceives
the difference with logistic noise, and may call small ones a tie:

    x = u(a) - u(b) + bias + noise,    tie if |x| < indifference

:data:`DESIGNS` are studies as teams run them: whose judgments, of which queries, answered how.
What one concludes should be right whoever judged: people who are careless, do not judge by a sum
over documents, or do not look at grades; few queries, many judges of one pair, lists of different
length. There are three grades and five ranks; each query has its own lists.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr

from dcglearn.base.checks import checked_count, checked_number, checked_rng, finite_array
from dcglearn.base.errors import InputError
from dcglearn.base.types import Booleans, Floats, Integers, Pairs
from dcglearn.inference.answers import TIE, A, B
from dcglearn.judgments.preferences import Preferences, swap_lists
from dcglearn.measures.agreement import checked_pairs, score_differences
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT, Scale, checked_grades

BASE_LIST = (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)
"""The list of section 6, [5,5,4,4,3,3,2,2,1,1], as grade indices."""


def permuted_lists(n: int, rng: Generator, base: ArrayLike = BASE_LIST) -> Pairs:
    """Draw pairs of random permutations of one list.

    Parameters
    ----------
    n : int
        Number of pairs.
    rng : numpy.random.Generator
    base : array-like of int, shape (K,)
        Grade indices.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)
    """
    lists = np.tile(checked_grades(base, MAX_GRADES, "`base`").astype(np.int8), (n, 2, 1))
    return checked_rng(rng).permuted(lists, axis=2)


def drawn_lists(
    n: int,
    n_ranks: int,
    probabilities: Sequence[float],
    rng: Generator,
    shortest: int | None = None,
) -> Pairs:
    """Draw pairs of lists of independent grades.

    Parameters
    ----------
    n, n_ranks : int
        Number of pairs, and K.
    probabilities : sequence of float, length L
        The probability of each grade, best first; they add up to 1.
    rng : numpy.random.Generator
    shortest : int, optional
        Lists have random lengths from this to K. By default all lists have length K.

    Returns
    -------
    ndarray of int8, shape (n, 2, K)

    Raises
    ------
    InputError
        If a probability is negative, they do not add up to 1, or `shortest` is outside
        1 ... K.
    """
    checked_rng(rng)
    shares = finite_array(probabilities, "grade probabilities", (None,), low=0.0)
    if abs(shares.sum() - 1) > 1e-9:
        raise InputError(f"grade probabilities {shares.tolist()}", "use numbers that add up to 1")
    uniform, cumulated = rng.random((n, 2, n_ranks)), np.cumsum(shares)
    lists = np.zeros(uniform.shape, np.int8)
    for bound in cumulated[:-1] / cumulated[-1]:  # as rng.choice, which searches for each number
        lists += uniform >= bound
    if shortest is not None:
        checked_count(shortest, "`shortest`", 1, n_ranks)
        lengths = rng.integers(shortest, n_ranks + 1, (n, 2, 1))
        lists[np.arange(n_ranks) >= lengths] = NO_DOCUMENT
    return lists


def sorted_against_shuffled(n: int, rng: Generator, base: ArrayLike = BASE_LIST) -> Pairs:
    """Draw pairs of the best ordering of a list and a random one (section 6, figure 9)."""
    lists = permuted_lists(n, rng, base)
    lists[:, 0] = np.sort(base)
    return lists


def sorted_against_another(n: int, n_ranks: int, n_grades: int, rng: Generator) -> Pairs:
    """Draw pairs of a sorted list and an unsorted one, of uniform grades (figure 10)."""
    lists = rng.integers(n_grades, size=(n, 2, n_ranks)).astype(np.int8)
    lists[:, 0] = np.sort(lists[:, 0], axis=1)
    return lists


def flip_pairs(pairs: Pairs, n_flips: int, rng: Generator) -> Pairs:
    """Reverse a given number of pairs (figures 5 and 6)."""
    noisy = pairs.copy()
    chosen = rng.permutation(len(pairs))[:n_flips]
    noisy[chosen] = noisy[chosen][:, ::-1]
    return noisy


def misgrade_pairs(pairs: Pairs, n_wrong: int, n_grades: int, rng: Generator) -> Pairs:
    """Replace a given number of grades by different ones (figures 7 and 8).

    The order of the lists in a pair stays: preferences are labelled with the true grades.
    """
    documents = np.flatnonzero(pairs.ravel() != NO_DOCUMENT)
    if n_wrong > len(documents):
        raise InputError(
            f"{n_wrong} wrong grades among {len(documents)} documents", "lower it", "wrong_grades"
        )
    noisy = pairs.copy()
    chosen = rng.permutation(documents)[:n_wrong]
    steps = rng.integers(1, n_grades, n_wrong)  # 1 ... L - 1: never back to the same grade
    grades = noisy.reshape(-1)
    grades[chosen] = (grades[chosen] + steps) % n_grades
    return noisy


def true_pairs(truth: Measure, lists: Pairs) -> Pairs:
    """Order the two lists of each pair by the truth.

    Parameters
    ----------
    truth : DCG or LinearUtility
    lists : ndarray of int8, shape (n, 2, K)

    Returns
    -------
    ndarray of int8, shape (m, 2, K)
        The better list first; pairs of equal true utility are dropped.

    Examples
    --------
    >>> lists = np.array([[[4, 0], [0, 4]], [[1, 1], [1, 1]]], np.int8)
    >>> true_pairs(DCG([5, 4, 3, 2, 1], "log2"), lists).tolist()
    [[[0, 4], [4, 0]]]
    """
    return judged_pairs(truth, lists, np.random.default_rng(0))  # without noise, nothing is drawn


def noise_scale(truth_differences: Floats, reliability: float) -> float:
    """Return the scale s of logistic noise that gives a judge a certain reliability.

    That is the mean over pairs of 1 / (1 + exp(-|d| / s)), with d the true difference.
    """
    from scipy.optimize import brentq

    sizes = np.abs(truth_differences[truth_differences != 0])
    if not len(sizes):
        raise InputError(
            "the truth gives all lists the same utility", "choose another truth or other lists"
        )
    if reliability == 1:
        return 0.0

    # With noise of e^-40 times the smallest difference all judgments are correct; with e^40
    # times the largest, half of them.
    low, high = np.log(sizes.min()) - 40, np.log(sizes.max()) + 40
    found = brentq(lambda x: expit(sizes / np.exp(x)).mean() - reliability, low, high, xtol=1e-12)
    return float(np.exp(found))


def judged_pairs(
    truth: Measure, lists: Pairs, rng: Generator, noise: float = 0.0, bias: float = 0.0
) -> Pairs:
    """Order the two lists of each pair by a judge with noise and a bias for one side."""
    difference = score_differences(truth, lists)
    perceived = difference + bias
    if noise:
        perceived = perceived + noise * rng.logistic(size=len(lists))
    kept = (difference != 0) & (perceived != 0)
    pairs: Pairs = lists[kept].copy()
    swap_lists(pairs, perceived[kept] < 0)
    return pairs


def side_by_side(
    truth: Measure,
    lists: Pairs,
    scale: Scale,
    rng: Generator,
    reliability: float = 4.0,
    indifference: float = 0.5,
    bias: float = 0.0,
    n_queries: int | None = None,
    n_judges: int = 0,
) -> Preferences:
    """Judge pairs of lists side by side, as a human-like judge with noise, bias and ties.

    Parameters
    ----------
    truth : DCG or LinearUtility
        The utility of the lists for the judge.
    lists : ndarray of int8, shape (n, 2, K)
        The lists shown as a and b.
    scale : Scale
    rng : numpy.random.Generator
    reliability : float, default 4
        1 / scale of the logistic noise, in units of 1 / utility.
    indifference : float, default 0.5
        Perceived differences smaller than this are called a tie, "good" or "bad" by the mean
        utility of the two lists.
    bias : float, default 0
        Added to the difference in favour of the list shown as a.
    n_queries : int, optional
        The number of queries; a fifth of the number of judgments by default.
    n_judges : int, default 0
        The number of judges, who take turns; with 0 the judgments name no judge.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        If a number is not finite, the reliability not positive or the indifference negative.
    """
    reliability = checked_number(reliability, "`reliability`", 0, above=True)
    checked_number(indifference, "`indifference`", 0)
    bias = checked_number(bias, "`bias`")
    checked_pairs(lists, truth.n_grades)
    n = len(lists)
    draws, differences = checked_rng(rng).logistic(size=n), score_differences(truth, lists)
    perceived = differences + bias + draws / reliability
    queries = rng.integers(max(1, n // 5) if n_queries is None else n_queries, size=n)
    weights = truth.matrix_for(lists.shape[2])
    low, high = weights.min(axis=1).sum(), weights.max(axis=1).sum()
    utility = (truth.plain() if isinstance(truth, DCG) else truth).score(lists).mean(axis=1)
    levels = np.where((utility - low) / max(high - low, 1e-300) > 0.5, "good", "bad")
    sides = np.where(perceived > 0, "a", "b")
    answers = np.where(np.abs(perceived) < indifference, levels, sides)
    return Preferences.of(
        lists,
        answers,
        scale,
        queries=[f"q{query + 1:03d}" for query in queries],
        judges=[f"j{i % n_judges + 1}" for i in range(n)] if n_judges else None,
    )


Noise = Literal["logistic", "normal", "cauchy"]

NOISES: dict[str, Callable[[Floats], Floats]] = {
    "logistic": expit,
    "normal": lambda v: ndtr(v * np.sqrt(2 * np.pi) / 4),
    "cauchy": lambda v: 0.5 + np.arctan(v * np.pi / 4) / np.pi,
}
"""The probability of preferring a, given v, for each shape of the noise."""


def simulated_answers(
    v: Floats, rng: Generator, noise: Noise = "logistic", lapses: float = 0.0, ties: bool = False
) -> NDArray[np.int8]:
    """Draw answers to differences v, in log odds; a share of them is given at random."""
    lapse, u = rng.random((len(v), 2)).T
    tie = 1 / (1 + 2 * np.cosh(v / 2)) if ties else np.zeros(len(v))
    return answers_by(u, (1 - tie) * NOISES[noise](v), tie, lapse < lapses, 2 + ties)


def answers_by(
    u: Floats, a: Floats, tie: Floats, at_random: Booleans, n_answers: int
) -> NDArray[np.int8]:
    """Return answers by uniform numbers and the probabilities of a and of a tie."""
    a = np.where(at_random, 1 / n_answers, a)
    tie = np.where(at_random, (n_answers - 2) / n_answers, tie)
    return np.where(u < a, A, np.where(u < a + tie, TIE, B)).astype(np.int8)


N_RANKS = 5
SCALE = Scale((2, 1, 0))
SHARES = (0.25, 0.35, 0.4)
"""Of the grades, best first."""

PER_QUERY = 5
"""Judgments of a query, unless a design says otherwise."""

FEW_QUERIES = (40, 80)
"""Queries with one pair of lists each, up to MANY judgments and beyond."""

MANY = 1000


@dataclass(frozen=True)
class Design:
    """One kind of study."""

    about: str
    gains: tuple[float, float, float] = (1.0, 0.5, 0.0)
    worth: str = "dcg"  # or max, err
    queries: str = "even"  # or heavy-tailed, few
    unseen: float = 0.0
    tilt: float = 0.0
    judges: int = 0
    random: int = 0
    swapped: int = 0
    lapses: float = 0.05
    lapses_by_query: bool = False
    side: float = 0.0
    ties: str = ""  # or davidson, rao-kupper, random
    noise: Noise = "logistic"
    shortest: int | None = None
    coin: str = ""  # or one per judgment, query
    decided: float = 4.0

    @property
    def allowed(self) -> bool:
        """Whether the model of the judgment, or W = 0, may describe it."""
        return self.worth == "dcg" and self.noise == "logistic" and not self.swapped

    @property
    def middle_gain(self) -> float | None:
        """What the middle grade is worth, None if there is no such number."""
        if self.coin or self.worth != "dcg":
            return None
        best, middle, worst = self.gains
        return (middle - worst) / (best - worst)


DESIGNS: dict[str, Design] = {
    "even": Design("queries of even size"),
    "exponential": Design("gains 2^g - 1", gains=(1.0, 1 / 3, 0.0)),
    "heavy-tailed": Design("few queries hold most judgments", queries="heavy-tailed", tilt=0.6),
    "few-queries": Design("few queries, many judges", queries="few", unseen=2.0, judges=25),
    "spammer": Design("one judge of five at random", judges=5, random=1, lapses=0.02, decided=7.0),
    "swapped": Design("one judge of ten swaps answers", judges=10, swapped=1),
    "lapses-by-query": Design("careless on some queries", lapses=0.2, lapses_by_query=True),
    "ties-davidson": Design("ties after Davidson", ties="davidson"),
    "ties-rao-kupper": Design("ties after Rao & Kupper", ties="rao-kupper"),
    "ties-random": Design("ties at random", ties="random"),
    "side": Design("list a is liked more", side=0.7),
    "lengths": Design("lists of different length", gains=(1.0, 0.6, 0.2), shortest=2),
    "probit": Design("normal noise", noise="normal"),
    "cauchy": Design("Cauchy noise", noise="cauchy"),
    "coin": Design("a coin per judgment", coin="judgment"),
    "coin-by-query": Design("a coin per query", queries="few", judges=25, coin="query"),
    "max": Design("the best document decides", worth="max", decided=6.0),
    "err": Design("ERR decides", worth="err", decided=6.0),
}


def simulated_study(design: Design, n: int, rng: Generator) -> Preferences:
    """Draw n judgments of a design; with few queries, as many as they share evenly."""
    count, shown = n, np.arange(n)
    if design.queries == "few":
        count = FEW_QUERIES[n > MANY]
        shown = queries = np.repeat(np.arange(count), n // count)
    elif design.queries == "heavy-tailed":
        share = np.arange(1, 61) ** -1.2
        queries = rng.choice(60, n, p=share / share.sum())
    else:
        queries = shown % max(2, n // PER_QUERY)
    lists = drawn_lists(count, N_RANKS, SHARES, rng, design.shortest)[shown]
    n, names = len(queries), np.array([f"q{one}" for one in queries.tolist()], object)
    judge = rng.integers(0, max(design.judges, 1), n)
    judges = [f"judge {one}" if design.judges else None for one in judge.tolist()]
    v = _differences(design, queries, lists, rng) + design.side
    answers = _answers(design, v, queries, rng)
    answers = np.where(judge < design.random, rng.integers(0, 2, n), answers)
    answers = np.where(judge < design.swapped, 1 - answers, answers).astype(np.int8)
    return Preferences(lists, answers, SCALE, np.ones(n), names, np.array(judges, object))


def _differences(design: Design, queries: Integers, lists: Pairs, rng: Generator) -> Floats:
    """Return by how much list a is better, in log odds."""
    gains = np.array(design.gains)
    worth = DCG(design.gains).score(lists)
    if design.worth == "max":
        worth = (gains[lists] / np.log2(np.arange(2, N_RANKS + 2))).max(axis=2)
    elif design.worth == "err":  # satisfied by a document with the probability (2^g - 1) / 2^2
        satisfied = np.array([0.75, 0.25, 0.0])[lists]
        seen = np.insert(1 - satisfied[..., :-1], 0, 1.0, axis=2).cumprod(axis=2)
        worth = (satisfied * seen / np.arange(1, N_RANKS + 1)).sum(axis=2)
    v = design.decided * (worth[:, 0] - worth[:, 1])
    first = gains[lists[:, 0, 0]] - gains[lists[:, 1, 0]]
    tilts, unseen = rng.standard_normal((2, queries.max() + 1))
    return np.asarray(v + design.tilt * tilts[queries] * first + design.unseen * unseen[queries])


def _answers(design: Design, v: Floats, queries: Integers, rng: Generator) -> NDArray[np.int8]:
    u, lapse = rng.random((2, len(v)))
    if design.coin == "query":
        says = rng.integers(0, 2, queries.max() + 1)[queries]
        return np.asarray(np.where(u < 0.9, says, 1 - says), np.int8)
    if design.coin == "judgment":
        return np.asarray(u < 0.5, np.int8)
    share = np.array(design.lapses)
    if design.lapses_by_query:
        share = rng.beta(1, 1 / design.lapses - 1, queries.max() + 1)[queries]
    tie = np.zeros(len(v))
    if design.ties == "davidson":
        tie = 1 / (1 + 2 * np.exp(-0.8) * np.cosh(v / 2))
    elif design.ties == "random":
        tie[:] = 0.3
    a = (1 - tie) * NOISES[design.noise](v)
    if design.ties == "rao-kupper":
        a = expit(v - 0.8)
        tie = 1 - a - expit(-v - 0.8)
    return answers_by(u, a, tie, lapse < share, 2 + bool(design.ties))
