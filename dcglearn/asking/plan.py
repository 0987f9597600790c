"""Which pairs to judge next, and how well gains and discounts will be known then.

Widths are foretold by the model whose intervals they are, where these are narrower than 1 now.
Otherwise they are medians over draws of what is known, without the prior's gains and discounts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from dcglearn.asking.candidates import Candidates
from dcglearn.asking.information import Design, Forecast, forecast_of_fit, information, tie_strength
from dcglearn.asking.questions import PairQuestion, batch_name
from dcglearn.base.errors import InputError, SolverError, check_name, warn_of_input
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.types import Floats, Pairs, ShortRepr
from dcglearn.inference.centres import Posterior, before_judgments
from dcglearn.inference.estimate import JudgmentModel
from dcglearn.inference.questions import ask as test_hypothesis
from dcglearn.inference.usual import learn_dcg, members_of, why_no_prior
from dcglearn.judgments.preferences import Preferences, concatenated
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.names import NamedMeasure, measure_for
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import sum_over_ranks

COUNTS = (25, 50, 100, 200, 400)
"""Numbers of answers for which widths are foretold."""

UNKNOWN = 1.0
"""A half width from here on says nothing: gains and discounts are between 0 and 1."""

ROUGH = 100
"""From fewer strict judgments than so many, widths are rough."""

_SAMPLE, _MANY_DRAWS, _MANY = 500, 256, 10_000


@dataclass(frozen=True, eq=False, repr=False)
class Plan(ShortRepr):
    """Which pairs to judge next, and what to expect.

    Attributes
    ----------
    candidates : Candidates
    chosen : list of int
        The candidates to judge, those that say most first.
    numbers, asked : tuple of str
        What widths are of, ``gain 1`` and ``discount 2``; and those of them that are asked for.
    judged : int
        The judgments so far.
    counts : tuple of int
        Numbers of answers, of those asked for that so many questions can be chosen for.
    possible : int
        The questions that the pool allows, at most so many of each query.
    now, at_most : ndarray of float, shape (q,)
        Half widths of 95% intervals now, and after all possible questions: those chosen for
        `counts`, and others at random. From 1 on, a number is not determined.
    after, after_random : ndarray of float, shape (len(counts), q)
        Those after so many answers, chosen or at random.
    rough : bool
        Whether widths may come out half or twice as large, as there are few strict judgments.
    undetermined, rejected : tuple of str
        The numbers that no answers to such pairs determine; measures that `judged` contradict.
    """

    candidates: Candidates
    chosen: list[int]
    numbers: tuple[str, ...]
    asked: tuple[str, ...]
    judged: int
    counts: tuple[int, ...]
    possible: int
    now: Floats
    after: Floats
    after_random: Floats
    at_most: Floats
    rough: bool
    undetermined: tuple[str, ...]
    rejected: tuple[str, ...] = ()

    def answers_for(self, widths: Mapping[str, float]) -> int | None:
        """Return the fewest answers of `counts` that give half widths: 0 if reached, or None."""
        at = [self.numbers.index(name) for name in widths]
        wanted = [*widths.values()]
        widths_after = zip((0, *self.counts), (self.now, *self.after), strict=True)
        return next((count for count, found in widths_after if (found[at] <= wanted).all()), None)

    def widths_named(self, texts: Iterable[str]) -> dict[str, float]:
        """Return half widths that are given as NAME=HALF; gains and discounts are all of them."""
        widths: dict[str, float] = {}
        for text in texts:
            name, _, number = text.rpartition("=")
            names, half = _named(name, self.numbers), parse_number(number)
            if not names or not half > 0:
                known = f"gains, discounts, {', '.join(self.numbers)}"
                raise InputError(f"`to_within={text}`", f"write NAME=HALF; names: {known}")
            widths |= {name: min(half, widths.get(name, half)) for name in names}
        return widths

    def questions(self, rng: np.random.Generator, repeated: float = 0.0) -> list[PairQuestion]:
        """Return the chosen pairs as questions, sides at random; a share is asked once more."""
        n_repeated = round(repeated * len(self.chosen))
        rows = [*self.chosen, *rng.choice(self.chosen, n_repeated, replace=False).tolist()]
        swapped = rng.permutation(np.arange(len(rows)) % 2 == 1).tolist()
        asked = [*map(self.candidates.question, rows, swapped)]
        batch = batch_name(asked)
        return [replace(one, id=f"{batch}-{k:04d}") for k, one in enumerate(asked, 1)]


def plan(
    candidates: Candidates,
    n: int = 100,
    rng: np.random.Generator | None = None,
    *,
    ask: str = "everything",
    judged: Preferences | None = None,
    most_per_query: int = 3,
    prior: str | DCG = "usual",
    counts: Sequence[int] = COUNTS,
) -> Plan:
    """Choose the pairs whose answers are expected to say most.

    Parameters
    ----------
    candidates : Candidates
    n : int, default 100
        The number of pairs.
    rng : numpy.random.Generator, optional
        By default with seed 0.
    ask : str, default "everything"
        ``everything``, ``order`` (of lists, by judges who make few errors), ``gains``,
        ``discounts``, ``gain 1``, ``discount 3``, or two measures whose difference decides:
        ``linear-log2:exponential-log2``.
    judged : Preferences, optional
        The judgments so far, on the scale of the candidates.
    most_per_query : int, default 3
        Answers about one query are not independent; 0 for any number.
    prior : str or DCG, default "usual"
        As for :func:`dcglearn.learn_dcg`.
    counts : sequence of int
        Numbers of answers for which widths are foretold.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If there is no candidate, nothing that is asked for depends on them, or the judgments have
        another scale or longer lists.

    Examples
    --------
    >>> lists = np.random.default_rng(0).integers(0, 3, (500, 2, 4)).astype(np.int8)
    >>> pool = Candidates(lists, Scale((2, 1, 0)), np.full(500, ""))
    >>> found = plan(pool, 20, ask="gain 1", counts=[20])
    >>> len(found.chosen), found.numbers
    (20, ('gain 1', 'discount 2', 'discount 3', 'discount 4'))
    """
    rng = np.random.default_rng(rng or 0)
    scale, K = candidates.scale, candidates.lists.shape[2]
    if reason := why_no_prior(scale, K):
        raise InputError(reason, "give other grades, or shorter lists")
    names, contrasts = _numbers(scale, K)
    pair = _pair(ask, scale, K) if ":" in ask else []
    asked, wanted = _asked(ask, names, contrasts, pair)
    judged = _so_far(judged, scale, K)
    n_judged, about = len(judged), Counter(judged.queries.tolist())
    fit, rejected, answered = None, list[str](), candidates.answered(judged)
    with suppress(InputError, SolverError):  # they say too little without a prior
        fit = JudgmentModel().fit(judged)
        for one in pair:
            model = JudgmentModel(measure=one.measure)
            if test_hypothesis(judged, model, fit.model, one.name).verdict == "rejected":
                rejected.append(one.name)
    pool, rows = candidates.without(answered, "that were judged"), np.flatnonzero(~answered)
    if not len(pool):
        why = "; ".join(f"{count:,} {one}" for one, count in pool.left_out.items())
        problem = f"no pair to choose from{f' (left out: {why})' if why else ''}"
        raise InputError(problem, "give lists with different grades")
    effect = 1.0 if fit is None else fit.covariance.design_effect
    posterior, ties = known_so_far(judged, scale, pool.lists, prior, effect)
    design = Design(posterior, pool.lists, wanted, rng, ties, effect, order=ask == "order")
    sample = rng.permutation(len(pool))[:_SAMPLE]
    every = Design(posterior, pool.lists[sample], contrasts, rng, ties, effect, _MANY_DRAWS)
    by_draws = every.forecast(judged=fit is not None)
    mean = information(*by_draws.of_lists(pool.lists[sample])) / len(sample)
    undetermined = tuple(compress(names, by_draws.half_widths(_MANY * mean) >= UNKNOWN))
    if len(wanted) and {*asked} <= {*undetermined}:
        problem = f"no answer to these {counted(len(pool), 'pair')} depends on {ask}"
        remedy = "give lists that hold the grades and ranks it is about, such as made ones"
        raise InputError(problem, remedy)
    queries, most = pool.query_numbers, most_per_query or len(pool) + n_judged
    room = np.zeros(queries.max() + 1, np.int64)
    room[queries] = [max(most - about[one], 0) for one in pool.queries.tolist()]
    possible = int(np.minimum(np.bincount(queries), room).sum())
    ordered = design.choose(max(n, *counts, 0), queries, room, exchanged=n)
    if not len(ordered):
        problem = f"each query of these pairs has {counted(most_per_query, 'question')} already"
        raise InputError(problem, "allow more questions about one query, or give other queries")
    if len(ordered) < n:
        limit = f", at most {most_per_query} about each query" if most_per_query else ""
        warn_of_input(f"{counted(len(ordered), 'question')} can be chosen{limit}: fewer than {n:,}")
    counts = tuple(sorted({*counts, min(n, len(ordered))} & {*range(1, len(ordered) + 1)}))
    others = ~np.isin(sample, ordered)

    def foretold(by: Forecast) -> Floats:
        """Return half widths (1 + 2 counts, q) after all, so many chosen, and so many at random."""
        slopes, weights = by.of_lists(pool.lists[sample])
        mean = information(slopes, weights) / len(sample)
        rest = information(slopes[:, others], weights[:, others])
        slopes, weights = by.of_lists(pool.lists[ordered])
        rest *= (possible - len(ordered)) / max(int(others.sum()), 1)
        after = [(possible, information(slopes, weights) + rest)]
        after += ((n, information(slopes[:, :n], weights[:, :n])) for n in counts)
        after += ((n, n * mean) for n in counts)
        return np.array([by.half_widths(more, 1 + n / max(n_judged, 1)) for n, more in after])

    now, widths = by_draws.half_widths(0.0), foretold(by_draws)
    if fit is not None:
        with suppress(SolverError):
            now, by_fit = forecast_of_fit(fit, posterior, ties)
            widths = np.where(now < UNKNOWN, foretold(by_fit), widths)
    now = np.fmin(now, UNKNOWN)  # nan is not known, either
    at_most, after, after_random = np.split(np.minimum(widths, now), [1, 1 + len(counts)])
    return Plan(
        candidates=replace(candidates, left_out=pool.left_out),
        chosen=rows[ordered[:n]].tolist(),
        numbers=names,
        asked=asked,
        judged=n_judged,
        counts=counts,
        possible=possible,
        now=now,
        after=after,
        after_random=after_random,
        at_most=at_most[0],
        rough=int(judged.strict.sum()) < ROUGH,
        undetermined=undetermined,
        rejected=tuple(rejected),
    )


def _so_far(judged: Preferences | None, scale: Scale, n_ranks: int) -> Preferences:
    """Return the judgments so far, if any, with empty ranks at the end of shorter lists."""
    none = Preferences.of(np.zeros((1, 2, n_ranks), np.int8), ["tie"], scale)[:0]
    judged = concatenated([none, judged or none])
    if judged.n_ranks > n_ranks:
        problem = f"judgments of {judged.n_ranks} ranks for lists of {n_ranks} ranks"
        raise InputError(problem, "give lists that are as long")
    if len(judged) and not judged.strict.any():
        warn_of_input("all answers so far are ties, which tell no gain and no discount")
    return judged


def _numbers(scale: Scale, n_ranks: int) -> tuple[tuple[str, ...], Floats]:
    """Return the names of gains and discounts that are to be learned, and their rows (q, L + K)."""
    names = [f"gain {label}" for label in scale.labels[1:-1]]
    names += [f"discount {k}" for k in range(2, n_ranks + 1)]
    if not names:
        raise InputError("one rank and two grades", "there is nothing to learn")
    L = len(scale)
    return tuple(names), np.delete(np.eye(L + n_ranks), [0, L - 1, L], axis=0)


def _named(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the one that a text names, or all gains, or all discounts."""
    return tuple(name for name in names if text in (name, f"{name.split()[0]}s"))


def _asked(
    ask: str, names: tuple[str, ...], every: Floats, pair: Sequence[NamedMeasure]
) -> tuple[tuple[str, ...], Floats]:
    """Return the names that are asked for, and their rows or the difference of two measures."""
    if pair:
        one, other = (_from_1(one.measure, every.shape[1]) for one in pair)
        if np.abs(one - other).max() <= 1e-9:
            raise InputError(f"{ask}: one measure", "name two that differ")
        return names, np.array([other - one])
    kinds = {f"{name.split()[0]}s" for name in names}
    check_name(ask, "question", {"everything", "order", *kinds, *names})
    wanted = _named(ask, names)
    return wanted or names, every[[name in wanted for name in names]]


def _pair(ask: str, scale: Scale, n_ranks: int) -> list[NamedMeasure]:
    """Return the measures between which some colon of the text is."""
    for i in (i for i, letter in enumerate(ask) if letter == ":"):
        try:
            return [measure_for(name, scale, n_ranks) for name in (ask[:i], ask[i + 1 :])]
        except InputError as wrong:
            error = wrong
    raise error


def _from_1(measure: Measure, n: int) -> Floats:
    """Return gains from 1 to 0 and discounts from 1, n numbers together."""
    W = measure.matrix_for(n - measure.n_grades)
    if not isinstance(measure, DCG) or W[0, 0] == W[0, -1]:
        problem = f"{measure} has no gains and discounts that differ"
        raise InputError(problem, "name another measure")
    return np.asarray(np.append(W[0] - W[0, -1], W[:, 0] - W[:, -1]) / (W[0, 0] - W[0, -1]))


def known_so_far(
    judged: Preferences | None, scale: Scale, lists: Pairs, prior: str | DCG, effect: float = 1.0
) -> tuple[Posterior, float]:
    """Return what is known before some lists are judged, and how often people tie (nu)."""
    if judged is None or not judged.strict.any():
        return before_judgments(members_of(prior, scale, lists)), 0.0
    learned = learn_dcg(judged, prior, effect)
    a, b = sum_over_ranks(learned.weights * learned.scale, judged.lists).T
    return learned.posterior, tie_strength(a - b, ~judged.strict)
