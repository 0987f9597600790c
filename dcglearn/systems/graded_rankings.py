"""The rankings of an evaluation as matrices of grades: one grade per rank, for every system.

What holds whatever the gains (:mod:`dcglearn.systems.system_coherence`) is decided from the grades
alone, so every document needs one rank and one grade, and every query one ideal for all systems.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.coherence.advantage import WorstGain
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.evaluation.ranked import Ranked
from dcglearn.evaluation.rules import Rules, rules_like
from dcglearn.evaluation.scoring import rankings_to_score, with_least
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.naming.names import NamedMeasure, measure_on_scale


@dataclass(frozen=True)
class GradedRankings:
    """Rankings of grades, and the gains and discounts that are given.

    `rankings`, shape (systems, Q, K), and `pools`, shape (Q, N), hold grade indices, -1 for no
    document; `gains` has shape (L,), `discounts` (K,). `worst_gain` says what the gain of the worst
    grade may be where gains are free, `n_queries` how many queries are in the mean of each system.
    """

    rankings: Integers
    pools: NDArray[np.int8]
    gains: Floats
    discounts: Floats
    worst_gain: WorstGain
    n_queries: Integers

    @property
    def counted(self) -> Integers | None:
        """The number of queries of each system, or None if all systems have all queries."""
        return None if (self.n_queries == self.rankings.shape[1]).all() else self.n_queries


def graded_rankings(evaluation: Evaluation, measure: DCG, n_ranks: int) -> GradedRankings:
    """Return the rankings of an evaluation as grades, and the gains of a measure on its scale.

    The evaluation is under rules that :func:`coherence_rules` returns; the gains do not increase
    and are 0 or more.

    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> runs = {"one": {"q": {"d": 1.0, "e": 0.5}}, "two": {"q": {"e": 1.0}}}
    >>> evaluation = evaluate({"q": {"d": 1, "e": 0}}, runs, "zipf", rules=Rules("input"))
    >>> graded_rankings(evaluation, DCG({1: 1, 0: 0}, "zipf"), 2).rankings.tolist()
    [[[0, 1]], [[1, -1]]]
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
    gains = np.array(with_least(cast(DCG, fitted), rules.least).gains)
    if min(gains) < 0 or (np.diff(gains) > 0).any():
        raise InputError(
            f"gains {list(measure.gains)} that increase or fall below 0",
            "name another measure first",
        )
    ranked = [rankings_to_score(run.ranked, rules) for run in evaluation.runs]
    if gains[-1] > 0:
        _check_pools(names, ranked, rules)
    rankings = np.array([_graded(one, n_ranks, rules) for one in ranked])
    worst: WorstGain = "zero" if gains[-1] == 0 else "nonnegative"
    pools = _pools(evaluation.qrels.pools, ranked[0], n_ranks, rules)
    n_queries = _numbers_of_queries(evaluation)
    return GradedRankings(rankings, pools, gains, measure.discounts_for(n_ranks), worst, n_queries)


def coherence_rules(rules: Rules | str) -> Rules:
    """Return rules under which every document has one rank and one grade.

    Parameters
    ----------
    rules : Rules or str
        Or the name of a tool in :data:`~dcglearn.evaluation.rules.LIKE`, such as ``"trec_eval"``.

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


def _numbers_of_queries(evaluation: Evaluation) -> Integers:
    """Return the number of queries in the mean of each system."""
    left_out = evaluation.missing.sum(axis=1) if evaluation.rules.missing is None else 0
    counted: Integers = len(evaluation.queries) - left_out + np.zeros(len(evaluation.runs), int)
    return counted


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
