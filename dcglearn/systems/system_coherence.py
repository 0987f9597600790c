"""Who is ahead by mean DCG with any gains, discounts or both, and by mean nDCG with any gains.

For pairs that can be reversed by mean DCG, also the smallest change of the given gains, and of the
given discounts, that does so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Integers
from dcglearn.coherence.mean_ndcg import MeanVerdict, MeanWinner, mean_verdicts
from dcglearn.coherence.smallest_change import (
    SmallestChange,
    smallest_change_of_discounts,
    smallest_change_of_gains,
)
from dcglearn.coherence.verdict import (
    Verdict,
    WorstGain,
    advantage_by_step,
    cumulative_counts,
    total_counts,
    verdict,
    winners,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.ranked import Ranked, ideal_ranking
from dcglearn.systems.rules import Rules, rules_like
from dcglearn.systems.scoring import rankings_to_score, with_least

_TABLES_AT_ONCE = 2_000_000
"""How many entries of advantage tables are computed at once, which limits the memory."""


@dataclass(frozen=True, eq=False)
class GradedRankings:
    """Rankings (systems, Q, K) and pools (Q, N) of grades, given gains (L,) and discounts (K,).

    `n_queries` (systems,) is the number of queries in the mean of each system.
    """

    rankings: Integers
    pools: Integers
    gains: Floats
    discounts: Floats
    worst_gain: WorstGain
    n_queries: Integers


def graded_rankings(evaluation: Evaluation, measure: DCG, n_ranks: int) -> GradedRankings:
    """Return the rankings of an evaluation as grades, and the gains of a measure on its scale."""
    checked_count(n_ranks, "`n_ranks`")
    if not isinstance(measure, DCG):
        raise InputError(f"a measure of type {type(measure).__name__}", "give a DCG")
    rules, missing = evaluation.rules, evaluation.missing
    if len(evaluation.systems) < 2:
        raise InputError("one run", "give two or more")
    if coherence_rules(rules) != rules and any(run.has_ties for run in evaluation.runs):
        raise InputError(
            'documents with equal scores under `ties="mean"`',
            'evaluate with `ties="input"` or `ties="docid"`: each document needs one rank',
        )
    gains = np.array(with_least(measure.on_scale(evaluation.qrels.scale), rules.least).gains)
    if min(gains) < 0 or (np.diff(gains) > 0).any():
        raise InputError(
            f"gains {list(measure.gains)} that increase or fall below 0",
            "name another measure first",
        )
    ranked = [rankings_to_score(run, rules) for run in evaluation.runs]
    if gains[-1] > 0 and rules.unjudged == "worst":
        _check_pools(evaluation.systems, ranked)
    counts = evaluation.qrels.pools.copy()
    if rules.unjudged == "worst" and ranked[0].pooled is not None:
        counts[:, -1] += ranked[0].pooled
    ideal = ideal_ranking(np.minimum(counts, n_ranks))  # no more of a grade than ranks
    of_unjudged = NO_DOCUMENT if rules.unjudged == "nothing" else len(gains) - 1
    rankings = np.array([one.grade_matrix(n_ranks) for one in ranked])
    return GradedRankings(
        np.where(rankings == len(gains), of_unjudged, rankings),
        ideal.grade_matrix(int(ideal.lengths.max(initial=1))),
        gains,
        measure.discounts_for(n_ranks),
        "zero" if gains[-1] == 0 else "nonnegative",
        missing.shape[1] - (missing.sum(axis=1) if rules.missing is None else 0 * missing[:, 0]),
    )


def coherence_rules(rules: Rules | str) -> Rules:
    """Return rules under which every document has one rank and one grade.

    Parameters
    ----------
    rules : Rules or str
        Or the name of a tool in :data:`~dcglearn.systems.rules.LIKE`, such as ``"trec_eval"``.

    Returns
    -------
    Rules
        The same, with documents of equal scores in the order of the run instead of averaged.

    Examples
    --------
    >>> coherence_rules(Rules()).ties, coherence_rules("sklearn").ties
    ('docid', 'input')
    """
    rules = rules_like(rules) if isinstance(rules, str) else rules
    if rules.unjudged == "bounds":
        raise InputError(
            '`unjudged="bounds"`, and each document needs one grade here',
            'use `unjudged="worst"`, `unjudged="nothing"` or `unjudged="removed"`',
        )
    if rules.worthless != 0:
        raise InputError(
            "queries whose ideal is 0 do not count 0, and which they are depends on the gains",
            "use `worthless=0`",
        )
    if rules.missing not in (0, None):
        raise InputError(
            f"queries missing from a run count {rules.missing:g}",
            "use `missing=0` or leave them out",
        )
    return replace(rules, ties="input") if rules.ties == "mean" else rules


def _check_pools(names: tuple[str, ...], ranked: list[Ranked]) -> None:
    """Refuse ideals that depend on the run: documents without a judgment, each in its own."""
    for name, one in zip(names, ranked, strict=True):
        if one.unjudged.any() and one.pooled is None:
            raise InputError(
                f"documents without a judgment ({int(one.unjudged.sum()):,}), and a worst gain "
                "above 0: the ideal of a query would depend on the run",
                'evaluate under the normalised measure with `pool="all"`, remove them with '
                '`unjudged="removed"`, or name a measure whose worst grade gains 0',
                name,
            )


def _query_winners(
    evaluation: Evaluation, graded: GradedRankings, pairs: list[tuple[int, int]]
) -> list[tuple[str | None, ...]]:
    """Return the winners of each pair by query, for all gains; None where one is left out."""
    counts = cumulative_counts(graded.rankings, len(graded.gains))
    left_out = evaluation.missing & (evaluation.rules.missing is None)
    found = []
    step = max(1, _TABLES_AT_ONCE // max(1, counts[0].size))
    for at in range(0, len(pairs), step):
        i, j = np.transpose(pairs[at : at + step])
        ahead = winners(counts[i] - counts[j], None, graded.discounts, graded.worst_gain)
        known = ahead.astype(object)
        known[left_out[i] | left_out[j]] = None
        found += known.tolist()
    return list(map(tuple, found))


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
    difference : float
        Mean DCG of `a` minus mean DCG of `b`, with the given gains and discounts.
    any_parameters, any_gains, any_discounts : Verdict
        By mean DCG with any gains and any discounts, or any of one and the given other.
    mean_ndcg : MeanVerdict
        By mean nDCG with any gains, zeros included, and the given discounts.
    gains_change, discounts_change : SmallestChange or None
        The smallest change of the gains, or of the discounts, that reverses the order by mean DCG;
        None if no change does.
    usual_discounts : bool
        Whether the same system is ahead or equal by mean nDCG with any gains at each of
        :data:`USUAL_DISCOUNTS` and at every cutoff.
    query_winners : tuple of str or None
        Of each query by itself, for all gains: ``"a"``, ``"b"``, ``"equal"`` or ``"depends"``;
        None where the query is left out of a system.
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
    query_winners: tuple[str | None, ...]


def system_pairs(
    evaluation: Evaluation,
    measure: DCG,
    n_ranks: int,
    between: Sequence[tuple[str, str]] | None = None,
    advance: Advance = silent,
) -> list[SystemPair]:
    """Compare pairs of systems with given and with free gains and discounts.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more, by :func:`coherence_rules`; only its runs are used.
    measure : DCG
        The given gains and discounts, falling. A worst gain of 0 stays 0 when gains are free.
    n_ranks : int
        Lower ranks do not count.
    between : sequence of pair of str, optional
        The names of the systems to compare; by default every system with every other.
    advance : callable, optional
        Called with (done, total) as pairs are done.

    Returns
    -------
    list of SystemPair

    Examples
    --------
    >>> from dcglearn import coherence_rules, evaluate
    >>> qrels = {"q": {"d1": 2, "d2": 1, "d3": 1}}
    >>> runs = {"one": {"q": {"d1": 2.0, "new": 1.0}}, "two": {"q": {"d2": 2.0, "d3": 1.0}}}
    >>> evaluation = evaluate(qrels, runs, "zipf", rules=coherence_rules("ir_measures"))
    >>> (pair,) = system_pairs(evaluation, DCG({2: 2, 1: 1, 0: 0}, "zipf"), 2)
    >>> pair.difference, pair.any_gains.winner, pair.any_discounts.winner
    (0.5, 'depends', 'a')
    """
    graded = graded_rankings(evaluation, measure, n_ranks)
    names, L = evaluation.systems, len(evaluation.qrels.scale)
    chosen = chosen_pairs(names, between)
    by_query = _query_winners(evaluation, graded, chosen)
    totals = np.array([total_counts(rows, L) for rows in graded.rankings])
    pairs: list[SystemPair] = []
    for at in range(0, len(chosen), _PAIRS_AT_ONCE):
        block = chosen[at : at + _PAIRS_AT_ONCE]
        means = mean_verdicts(
            graded.rankings,
            graded.pools,
            graded.discounts,
            L,
            graded.worst_gain,
            counted=graded.n_queries,
            pairs=block,
        )
        usual = _at_usual_discounts(graded, {(i, j): means[i, j].winner for i, j in block}, L)
        worst, given = graded.worst_gain, (graded.gains, graded.discounts)
        for i, j in block:
            m, n = (int(graded.n_queries[k]) for k in (i, j))
            D = (totals[i] * n - totals[j] * m) / (m * n)  # with signs that are exact
            pair = SystemPair(
                names[i],
                names[j],
                difference=advantage_by_step(D, *given).item(),
                any_parameters=verdict(D, worst_gain=worst),
                any_gains=verdict(D, discounts=graded.discounts, worst_gain=worst),
                any_discounts=verdict(D, gains=graded.gains),
                mean_ndcg=means[i, j],
                gains_change=smallest_change_of_gains(D, *given, worst_gain=worst),
                discounts_change=smallest_change_of_discounts(D, *given),
                usual_discounts=(i, j) in usual,
                query_winners=by_query[len(pairs)],
            )
            pairs.append(pair)
        advance(len(pairs), len(chosen))
    return pairs


def chosen_pairs(
    names: Sequence[str], between: Sequence[tuple[str, str]] | None = None
) -> list[tuple[int, int]]:
    """Return the places of the systems of each pair."""
    if between is None:
        return list(combinations(range(len(names)), 2))
    found: list[tuple[int, int]] = []
    for one, other in between:
        for name in (one, other):
            if not is_one_of(name, names):
                raise unknown_name("system", name, names)
        i, j = names.index(one), names.index(other)
        if i == j or (i, j) in found or (j, i) in found:
            raise InputError(f"`between` holds {one!r} and {other!r}", "name two systems, once")
        found.append((i, j))
    if not found:
        raise InputError("`between` holds no pair", "give pairs of systems: [('one', 'two')]")
    return found


def named_pair(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the two systems that a text names, with a comma between them.

    >>> named_pair("old, new", ["old", "new"]), named_pair("a,b,c", ["a,b", "c"])
    (('old', 'new'), ('a,b', 'c'))
    """
    splits = [(text[:at].strip(), text[at + 1 :].strip()) for at, c in enumerate(text) if c == ","]
    found = [(a, b) for a, b in splits if a in names and b in names]
    if len(found) == 1:
        return found[0]
    if len(splits) == 1:
        wrong = next(name for name in splits[0] if name not in names)
        raise unknown_name("system", wrong, names)
    known = f"Known: {', '.join(sorted(names))}"
    raise InputError(f"{text!r} is not one pair of systems", f"write A,B. {known}")


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
            graded.n_queries,
            left,
        )
        left = [pair for pair in left if found[pair].winner in (winners[pair], "equal")]
    return set(left)
