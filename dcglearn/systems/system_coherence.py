"""Which comparisons of systems hold whatever the gains and discounts, and which can be reversed.

Each pair of systems is compared with more and more parameters free
(:mod:`dcglearn.coherence.verdict`): by mean DCG with free gains, free discounts or both, and by
mean nDCG with free gains (:mod:`dcglearn.coherence.mean_ndcg_faces`). For pairs that can be
reversed, the smallest change of the given gains, and of the given discounts, that does so
(:mod:`dcglearn.coherence.smallest_change`) is computed as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.coherence.advantage import WorstGain, advantage_by_step, total_counts
from dcglearn.coherence.mean_ndcg import MeanVerdict
from dcglearn.coherence.mean_ndcg_faces import mean_verdicts_with_faces
from dcglearn.coherence.smallest_change import (
    SmallestChange,
    smallest_change_of_discounts,
    smallest_change_of_gains,
)
from dcglearn.coherence.verdict import Verdict, verdict
from dcglearn.evaluation.evaluate import Evaluation, with_least
from dcglearn.evaluation.ranked import Ranked
from dcglearn.evaluation.rules import Rules
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.naming.names import NamedMeasure, measure_on_scale


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

    def to_json(self) -> dict[str, Any]:
        """Return verdicts, their witnesses and the smallest changes as a JSON-able dict."""
        return {
            "a": self.a,
            "b": self.b,
            "lead": self.difference,
            "mean DCG, anything": _verdict_to_json(self.any_parameters),
            "mean DCG, any gains": _verdict_to_json(self.any_gains),
            "mean DCG, any discounts": _verdict_to_json(self.any_discounts),
            "mean nDCG, any gains": {
                **_verdict_to_json(self.mean_ndcg),
                "between": list(self.mean_ndcg.bounds),
            },
            "smallest change of gains": _change_to_json(self.gains_change),
            "smallest change of discounts": _change_to_json(self.discounts_change),
        }


def system_pairs(
    evaluation: Evaluation, measure: DCG, n_ranks: int, max_boxes: int = 4096
) -> list[SystemPair]:
    """Compare every pair of systems with given and with free gains and discounts.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more, under rules that :func:`coherence_rules` returns. Only its runs
        are used, not its measures; but where the worst gain is above 0 and documents are not
        judged, it is an evaluation of such a measure, whose ideals count them.
    measure : DCG
        The given gains and discounts. If its worst gain is 0, the worst gain stays 0 when gains
        are free; otherwise it is 0 or more.
    n_ranks : int
        Lower ranks do not count.
    max_boxes : int, default 4096
        See :func:`dcglearn.coherence.mean_ndcg.mean_verdicts`.

    Returns
    -------
    list of SystemPair

    Raises
    ------
    InputError
        If there is only one system, the gains or discounts increase or fall below 0, the rules
        leave out worthless queries or average over ties, or the ideal of a query depends on the
        system.

    Examples
    --------
    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> qrels = {"q": {"d1": 2, "d2": 1, "d3": 1}}
    >>> runs = {"one": {"q": {"d1": 2.0, "new": 1.0}}, "two": {"q": {"d2": 2.0, "d3": 1.0}}}
    >>> evaluation = evaluate(qrels, runs, "zipf", rules=coherence_rules(Rules()))
    >>> (pair,) = system_pairs(evaluation, DCG({2: 2, 1: 1, 0: 0}, "zipf"), 2)
    >>> pair.difference, pair.any_gains.winner, pair.any_discounts.winner
    (0.5, 'depends', 'a')
    """
    checked_count(n_ranks, "`n_ranks`")
    if not isinstance(measure, DCG):
        raise InputError(f"a measure of type {type(measure).__name__}", "give a DCG")
    names, rules = evaluation.systems, evaluation.rules
    if len(names) < 2:
        raise InputError("one run", "give two or more")
    _check_rules(evaluation)
    scale = evaluation.qrels.scale
    fitted = measure_on_scale(NamedMeasure(str(measure), measure), scale).measure
    gains, L = np.array(with_least(cast(DCG, fitted), rules.least).gains), len(scale)
    if min(gains) < 0 or (np.diff(gains) > 0).any():
        raise InputError(
            f"gains {list(measure.gains)} that increase or fall below 0",
            "name another measure first",
        )
    ranked = [
        run.ranked.without_unjudged() if rules.unjudged == "removed" else run.ranked
        for run in evaluation.runs
    ]
    if gains[-1] > 0:
        _check_pools(names, ranked, rules)
    rankings = np.array([_graded(one, n_ranks, rules) for one in ranked])
    totals = np.array([total_counts(rows, L) for rows in rankings])
    worst: WorstGain = "zero" if gains[-1] == 0 else "nonnegative"
    discounts = measure.discounts_for(n_ranks)
    pools = _pools(evaluation.qrels.pools, ranked[0], n_ranks, rules)
    n_queries = _numbers_of_queries(evaluation)
    counted = None if (n_queries == len(evaluation.queries)).all() else n_queries
    means = mean_verdicts_with_faces(
        rankings, pools, discounts, L, worst, max_boxes=max_boxes, counted=counted
    )
    return [
        _pair(
            (names[i], names[j]),
            _difference_of_means(totals[[i, j]], [int(n_queries[k]) for k in (i, j)]),
            (gains, discounts, worst),
            means[i, j],
        )
        for i, j in combinations(range(len(names)), 2)
    ]


def coherence_rules(rules: Rules) -> Rules:
    """Return rules under which every document has one rank and one grade.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    Rules
        The same, with documents of equal scores in the order of the run instead of averaged.

    Raises
    ------
    InputError
        If `unjudged` is "bounds", or worthless queries do not count 0: which queries these are
        depends on the gains.

    Examples
    --------
    >>> coherence_rules(Rules()).ties
    'input'
    """
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


def _check_rules(evaluation: Evaluation) -> None:
    needed = coherence_rules(evaluation.rules)
    if needed != evaluation.rules and any(run.has_ties for run in evaluation.runs):
        raise InputError(
            'documents with equal scores under `ties="mean"`',
            'evaluate with `ties="input"` or `ties="docid"`: each document needs one rank',
        )


def _check_pools(names: tuple[str, ...], ranked: list[Ranked], rules: Rules) -> None:
    """Refuse ideals that depend on the run: documents without a judgment, each in its own."""
    for name, one in zip(names, ranked, strict=True):
        if rules.unjudged == "worst" and one.unjudged.any() and one.pooled is None:
            raise InputError(
                f"documents without a judgment ({int(one.unjudged.sum()):,}), and a worst gain "
                "above 0: the ideal of a query would depend on the run",
                'evaluate under the normalised measure with `pool="all"`, remove them with '
                '`unjudged="removed"`, or name a measure whose worst grade gains 0',
                name,
            )


def _pair(
    names: tuple[str, str],
    D: Floats,
    given: tuple[Floats, Floats, WorstGain],
    mean_ndcg: MeanVerdict,
) -> SystemPair:
    """Compare two systems by their mean advantage D with given gains, discounts, worst gain."""
    gains, discounts, worst = given
    return SystemPair(
        *names,
        difference=float(advantage_by_step(D, gains, discounts).item()),
        any_parameters=verdict(D, worst_gain=worst),
        any_gains=verdict(D, discounts=discounts, worst_gain=worst),
        any_discounts=verdict(D, gains=gains),
        mean_ndcg=mean_ndcg,
        gains_change=smallest_change_of_gains(D, gains, discounts, worst_gain=worst),
        discounts_change=smallest_change_of_discounts(D, gains, discounts),
    )


def _numbers_of_queries(evaluation: Evaluation) -> Integers:
    """Return the number of queries in the mean of each system."""
    left_out = evaluation.missing.sum(axis=1) if evaluation.rules.missing is None else 0
    counted: Integers = len(evaluation.queries) - left_out + np.zeros(len(evaluation.runs), int)
    return counted


def _difference_of_means(totals: Integers, n_queries: list[int]) -> Floats:
    """Return totals[0] / n_queries[0] - totals[1] / n_queries[1], with exact signs."""
    m, n = n_queries
    if m == n:
        same: Floats = (totals[0] - totals[1]) / n
        return same
    found: Floats = (totals[0] * n - totals[1] * m) / (m * n)
    return found


def _graded(ranked: Ranked, n_ranks: int, rules: Rules) -> Integers:
    """Return the grades as a matrix; documents without a judgment as the rules say."""
    rows = ranked.grade_matrix(n_ranks)
    instead = NO_DOCUMENT if rules.unjudged == "nothing" else ranked.n_grades - 1
    return np.where(rows == ranked.n_grades, instead, rows)


def _pools(judged: Integers, ranked: Ranked, n_ranks: int, rules: Rules) -> NDArray[np.int8]:
    """Return the documents of each query as rows of grades, no more of a grade than ranks."""
    L = judged.shape[1]
    counts = judged.copy()
    if rules.unjudged == "worst" and ranked.pooled is not None:
        counts[:, -1] += ranked.pooled
    counts = np.minimum(counts, n_ranks)
    pools = np.full((len(counts), int(counts.sum(axis=1).max(initial=1))), -1, np.int8)
    for row, own in zip(pools, counts, strict=True):
        row[: own.sum()] = np.repeat(np.arange(L), own)
    return pools


def _verdict_to_json(found: Verdict | MeanVerdict) -> dict[str, Any]:
    """Return the winner, and parameters under which either system is ahead if that depends."""
    content: dict[str, Any] = {"winner": found.winner}
    for name, measure, difference in zip("ab", found.witnesses, found.differences, strict=False):
        if measure is not None:
            discounts = measure.discounts
            content[f"for {name}"] = {
                "gains": list(measure.gains),
                "discounts": discounts if isinstance(discounts, str) else list(discounts),
                "lead": difference,
            }
    return content


def _change_to_json(change: SmallestChange | None) -> dict[str, Any] | None:
    return None if change is None else {"tied at": list(change.tie), "distance": change.distance}
