"""Which comparisons of systems hold whatever the gains and discounts, and which can be reversed.

Each pair of systems is compared with more and more parameters free
(:mod:`dcglearn.coherence.verdict`): by mean DCG with free gains, free discounts or both, and by
mean nDCG with free gains (:mod:`dcglearn.coherence.mean_ndcg`). For pairs that can be
reversed, the smallest change of the given gains, and of the given discounts, that does so
(:mod:`dcglearn.coherence.smallest_change`) is computed as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Integers
from dcglearn.coherence.advantage import WorstGain, advantage_by_step, total_counts
from dcglearn.coherence.mean_ndcg import MeanVerdict, MeanWinner, mean_verdicts
from dcglearn.coherence.smallest_change import (
    SmallestChange,
    smallest_change_of_discounts,
    smallest_change_of_gains,
)
from dcglearn.coherence.verdict import Verdict, verdict
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.measures.dcg import DCG
from dcglearn.systems.graded_rankings import GradedRankings, graded_rankings

USUAL_DISCOUNTS = ("log2", "jk(2)", "zipf", "linear", "constant", "rbp(0.8)")
"""Discounts under which verdicts on mean nDCG are repeated; linear falls to 0 below the depth."""

_BOXES = 64
"""Boxes of each of these searches; few, because there are many of them."""

_PAIRS_AT_ONCE = 200
"""Number of pairs whose gains are searched at once; progress is reported after each so many."""


@dataclass(frozen=True)
class SystemPair:
    """What is certain about two systems.

    Attributes
    ----------
    a, b : str
        The names of the systems.
    difference : float
        Mean DCG of `a` minus mean DCG of `b`, with the given gains and discounts.
    any_parameters : Verdict
        By mean DCG with any gains and any discounts.
    any_gains : Verdict
        By mean DCG with any gains and the given discounts.
    any_discounts : Verdict
        By mean DCG with the given gains and any discounts.
    mean_ndcg : MeanVerdict
        By mean nDCG with any gains, zeros included, and the given discounts.
    gains_change : SmallestChange or None
        The smallest change of the gains that reverses the order by mean DCG; None if no change
        does.
    discounts_change : SmallestChange or None
        The smallest change of the discounts that does.
    usual_discounts : bool
        Whether the same system is ahead or equal by mean nDCG with any gains at each of
        :data:`USUAL_DISCOUNTS` and at every cutoff.
    """

    a: str
    b: str
    difference: float
    any_parameters: Verdict
    any_gains: Verdict
    any_discounts: Verdict
    mean_ndcg: MeanVerdict
    gains_change: SmallestChange | None
    discounts_change: SmallestChange | None
    usual_discounts: bool


def system_pairs(
    evaluation: Evaluation,
    measure: DCG,
    n_ranks: int,
    max_boxes: int = 4096,
    between: Sequence[tuple[str, str]] | None = None,
    advance: Advance = silent,
) -> list[SystemPair]:
    """Compare pairs of systems with given and with free gains and discounts.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more, under the rules of
        :func:`~dcglearn.systems.graded_rankings.coherence_rules`. Only its runs are used, not its
        measures; but where the worst gain is above 0 and documents are not judged, it is an
        evaluation of such a measure, whose ideals count them.
    measure : DCG
        The given gains and discounts. If its worst gain is 0, the worst gain stays 0 when gains
        are free; otherwise it is 0 or more.
    n_ranks : int
        Lower ranks do not count.
    max_boxes : int, default 4096
        See :func:`dcglearn.coherence.mean_ndcg.mean_verdict`.
    between : sequence of pair of str, optional
        The names of the systems to compare; by default every system with every other.
    advance : callable, optional
        Called with (done, total) as pairs are done.

    Returns
    -------
    list of SystemPair
        In the order of `between`.

    Raises
    ------
    InputError
        If there is only one system, the gains or discounts increase or fall below 0, the rules
        leave out worthless queries or average over ties, the ideal of a query depends on the
        system, or `between` names a system that is not there.

    Examples
    --------
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> from dcglearn.evaluation.rules import Rules
    >>> from dcglearn.systems.graded_rankings import coherence_rules
    >>> qrels = {"q": {"d1": 2, "d2": 1, "d3": 1}}
    >>> runs = {"one": {"q": {"d1": 2.0, "new": 1.0}}, "two": {"q": {"d2": 2.0, "d3": 1.0}}}
    >>> evaluation = evaluate(qrels, runs, "zipf", rules=coherence_rules(Rules()))
    >>> (pair,) = system_pairs(evaluation, DCG({2: 2, 1: 1, 0: 0}, "zipf"), 2)
    >>> pair.difference, pair.any_gains.winner, pair.any_discounts.winner
    (0.5, 'depends', 'a')
    """
    graded = graded_rankings(evaluation, measure, n_ranks)
    names, L = evaluation.systems, len(evaluation.qrels.scale)
    chosen = chosen_pairs(names, between)
    totals = np.array([total_counts(rows, L) for rows in graded.rankings])
    given = graded.gains, graded.discounts, graded.worst_gain
    pairs: list[SystemPair] = []
    for at in range(0, len(chosen), _PAIRS_AT_ONCE):
        block = chosen[at : at + _PAIRS_AT_ONCE]
        means = mean_verdicts(
            graded.rankings,
            graded.pools,
            graded.discounts,
            L,
            graded.worst_gain,
            max_boxes,
            graded.counted,
            block,
        )
        usual = _at_usual_discounts(graded, {(i, j): means[i, j].winner for i, j in block}, L)
        for i, j in block:
            n_queries = [int(graded.n_queries[k]) for k in (i, j)]
            D = _difference_of_means(totals[[i, j]], n_queries)
            pairs.append(_pair((names[i], names[j]), D, given, means[i, j], (i, j) in usual))
        advance(len(pairs), len(chosen))
    return pairs


def chosen_pairs(
    names: Sequence[str], between: Sequence[tuple[str, str]] | None = None
) -> list[tuple[int, int]]:
    """Return the places of the systems of each pair.

    In the order of `between`, pairs by name; by default all.

    >>> chosen_pairs(("a", "b", "c")), chosen_pairs(("a", "b", "c"), [("c", "a")])
    ([(0, 1), (0, 2), (1, 2)], [(2, 0)])
    """
    if between is None:
        return list(combinations(range(len(names)), 2))
    given: object = between
    if not isinstance(given, list | tuple) or not given:
        raise InputError(f"`between` is {given!r}", "give pairs of systems: [('one', 'two')]")
    found: list[tuple[int, int]] = []
    for pair in given:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InputError(f"`between` holds {pair!r}", "give pairs of names")
        for name in pair:
            if not is_one_of(name, names):
                raise unknown_name("system", name, names)
        i, j = (names.index(name) for name in pair)
        if i == j:
            raise InputError(
                f"`between` holds {pair[0]!r} compared with itself", "give two systems per pair"
            )
        if (i, j) in found or (j, i) in found:
            raise InputError(f"{pair[0]!r} and {pair[1]!r} are named twice", "name each pair once")
        found.append((i, j))
    return found


def _pair(
    names: tuple[str, str],
    D: Floats,
    given: tuple[Floats, Floats, WorstGain],
    mean_ndcg: MeanVerdict,
    usual_discounts: bool,
) -> SystemPair:
    """Compare two systems by their mean advantage D with given gains, discounts, worst gain."""
    gains, discounts, worst = given
    return SystemPair(
        *names,
        difference=advantage_by_step(D, gains, discounts).item(),
        any_parameters=verdict(D, worst_gain=worst),
        any_gains=verdict(D, discounts=discounts, worst_gain=worst),
        any_discounts=verdict(D, gains=gains),
        mean_ndcg=mean_ndcg,
        gains_change=smallest_change_of_gains(D, gains, discounts, worst_gain=worst),
        discounts_change=smallest_change_of_discounts(D, gains, discounts),
        usual_discounts=usual_discounts,
    )


def _at_usual_discounts(
    graded: GradedRankings, winners: dict[tuple[int, int], MeanWinner], n_grades: int
) -> set[tuple[int, int]]:
    """Return the decided pairs whose winner is never behind at any usual discount and cutoff."""
    left = [pair for pair, winner in winners.items() if winner in ("a", "b")]
    n_ranks = graded.rankings.shape[2]
    for rule, cutoff in product(USUAL_DISCOUNTS, range(1, n_ranks + 1)):
        if not left:
            break
        found = mean_verdicts(
            graded.rankings[:, :, :cutoff],
            graded.pools,
            f"linear({n_ranks})" if rule == "linear" else rule,
            n_grades,
            graded.worst_gain,
            _BOXES,
            graded.counted,
            left,
        )
        left = [pair for pair in left if found[pair].winner in (winners[pair], "equal")]
    return set(left)


def _difference_of_means(totals: Integers, n_queries: list[int]) -> Floats:
    """Return totals[0] / n_queries[0] - totals[1] / n_queries[1], with exact signs."""
    m, n = n_queries
    if m == n:
        same: Floats = (totals[0] - totals[1]) / n
        return same
    found: Floats = (totals[0] * n - totals[1] * m) / (m * n)
    return found
