"""Which comparisons of systems stand whatever the gains and discounts, and which turn round.

Every pair of systems is judged with ever more left open (:mod:`dcglearn.coherence.verdict`):
by mean DCG with any gains and any discounts, with one of the two given, and by mean nDCG with
any gains (:mod:`dcglearn.coherence.mean_ndcg`). Beside that stand the smallest changes of the
given gains, and discounts, that reverse a pair (:mod:`dcglearn.coherence.smallest_change`), the
orderings under measures that people name, and the queries on which they part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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
from dcglearn.correlation.tau import kendall_tau, tau_ap
from dcglearn.data.qrels_index import IndexedQrels
from dcglearn.data.qrels_runs import Run
from dcglearn.evaluation.lookup import look_up
from dcglearn.evaluation.ranked import Ranked
from dcglearn.evaluation.rules import Rules
from dcglearn.evaluation.systems import Evaluation
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import TIE_TOLERANCE

MOST_CAUSES = 3
"""How many queries are named for a flip."""


@dataclass(frozen=True)
class PairOfSystems:
    """What is certain about two systems.

    Attributes
    ----------
    a, b : str
    lead : float
        Mean DCG of `a` minus that of `b`, with the given gains and discounts.
    anything : Verdict
        Who is ahead by mean DCG whatever gains and discounts are.
    any_gains : Verdict
        The same with the discounts given.
    any_discounts : Verdict
        The same with the gains given.
    mean : MeanVerdict
        By mean nDCG with any gains, the discounts given; gains of 0 for all but some best
        grades included.
    gains_flip : SmallestChange or None
        The smallest change of the gains that turns the order by mean DCG round; None where none
        does.
    discounts_flip : SmallestChange or None
        The smallest change of the discounts.
    """

    a: str
    b: str
    lead: float
    anything: Verdict
    any_gains: Verdict
    any_discounts: Verdict
    mean: MeanVerdict
    gains_flip: SmallestChange | None
    discounts_flip: SmallestChange | None

    def to_json(self) -> dict[str, Any]:
        """Return verdicts, what shows a dependence, and smallest changes as a JSON-able dict."""
        return {
            "a": self.a,
            "b": self.b,
            "lead": self.lead,
            "mean DCG, anything": _told(self.anything),
            "mean DCG, any gains": _told(self.any_gains),
            "mean DCG, any discounts": _told(self.any_discounts),
            "mean nDCG, any gains": {**_told(self.mean), "between": list(self.mean.bounds)},
            "smallest change of gains": _change(self.gains_flip),
            "smallest change of discounts": _change(self.discounts_flip),
        }


def _told(found: Verdict | MeanVerdict) -> dict[str, Any]:
    """Return who is ahead, and the parameters under which either is if that depends."""
    told: dict[str, Any] = {"winner": found.winner}
    for name, measure, difference in zip("ab", found.witnesses, found.differences, strict=False):
        if measure is not None:
            discounts = measure.discounts
            told[f"for {name}"] = {
                "gains": list(measure.gains),
                "discounts": discounts if isinstance(discounts, str) else list(discounts),
                "lead": difference,
            }
    return told


def _change(flip: SmallestChange | None) -> dict[str, Any] | None:
    return None if flip is None else {"tied at": list(flip.tie), "distance": flip.distance}


@dataclass(frozen=True)
class Flipped:
    """Two systems that two measures order differently.

    Attributes
    ----------
    ahead, behind : str
        By the first measure.
    first, second : float
        The difference of their means, ahead minus behind, under each measure.
    causes : tuple of str
        The queries on which the second measure is most against the first, at most
        :data:`MOST_CAUSES`.
    """

    ahead: str
    behind: str
    first: float
    second: float
    causes: tuple[str, ...]


@dataclass(frozen=True)
class SystemCoherence:
    """Two measures' orderings of systems.

    Attributes
    ----------
    first, second : str
    tau, tau_ap : float
        Kendall's tau-b, and the AP correlation, that of tied means (variant b) where there are.
    flipped : tuple of Flipped
    """

    first: str
    second: str
    tau: float
    tau_ap: float
    flipped: tuple[Flipped, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything as a JSON-able dict."""
        return {**vars(self), "flipped": [dict(vars(one)) for one in self.flipped]}


def pairs_of_systems(
    known: IndexedQrels,
    runs: Sequence[Run],
    measure: DCG,
    n_ranks: int,
    ties: Literal["input", "docid"] = "input",
    removed: bool = False,
    max_boxes: int = 4096,
) -> list[PairOfSystems]:
    """Judge every pair of systems.

    Parameters
    ----------
    known : IndexedQrels
    runs : sequence of Run
        Two or more. Of each, queries that `known` does not hold are left out.
    measure : DCG
        Gives the gains, or discounts, that are said to be given. Its worst gain stays 0 if it
        is; otherwise it may be anything from 0 on.
    n_ranks : int
        What is ranked below does not count.
    ties : {"input", "docid"}, default "input"
        The order of equal scores: a table of leads has one.
    removed : bool, default False
        Whether documents without a judgment are taken out; otherwise they count as the worst
        grade.
    max_boxes : int, default 4096
        See :func:`dcglearn.coherence.mean_ndcg.mean_verdicts`.

    Returns
    -------
    list of PairOfSystems

    Raises
    ------
    InputError
        If there is one system, the discounts rise, or documents without a judgment would gain
        something: each system's ideal would then depend on what it ranks.
    """
    if len(runs) < 2:
        raise InputError("one run", "give two or more")
    if min(measure.gains) < 0 or (np.diff(measure.gains) > 0).any():
        raise InputError(
            f"gains {list(measure.gains)} that fall below 0, or rise", "name another measure first"
        )
    L = len(known.scale)
    found = [look_up(run, known, ties).ranked for run in runs]
    if removed:
        found = [ranked.without_unjudged() for ranked in found]
    if measure.gains[-1] > 0:
        _check_judged(runs, found)
    rankings = np.array([_matrix(ranked, n_ranks) for ranked in found])
    totals = np.array([total_counts(rows, L) for rows in rankings])
    worst: WorstGain = "zero" if measure.gains[-1] == 0 else "nonnegative"
    given = measure.discounts_for(n_ranks)
    pools = _pools(known, rankings)
    means = mean_verdicts_with_faces(rankings, pools, given, L, worst, max_boxes=max_boxes)
    return [
        _pair(
            (runs[i].name, runs[j].name),
            (totals[i] - totals[j]) / len(known.queries),
            (np.array(measure.gains), given, worst),
            means[i, j],
        )
        for i, j in combinations(range(len(runs)), 2)
    ]


def _pair(
    names: tuple[str, str],
    D: Floats,
    fixed: tuple[Floats, Floats, WorstGain],
    mean: MeanVerdict,
) -> PairOfSystems:
    """Judge two systems by the mean lead D; gains, discounts and the worst gain are `fixed`."""
    gains, discounts, worst = fixed
    return PairOfSystems(
        *names,
        lead=float(advantage_by_step(D, gains, discounts).item()),
        anything=verdict(D, worst_gain=worst),
        any_gains=verdict(D, discounts=discounts, worst_gain=worst),
        any_discounts=verdict(D, gains=gains),
        mean=mean,
        gains_flip=smallest_change_of_gains(D, gains, discounts, worst_gain=worst),
        discounts_flip=smallest_change_of_discounts(D, gains, discounts),
    )


def system_coherence(found: Evaluation) -> list[SystemCoherence]:
    """Compare the orderings of systems under every two measures.

    Parameters
    ----------
    found : Evaluation
        Of two systems or more.

    Returns
    -------
    list of SystemCoherence
    """
    means = np.array([_tied_alike(column) for column in found.means().T]).T
    result = []
    for m, n in combinations(range(len(found.measures)), 2):
        one, other = means[:, m], means[:, n]
        tied = len(set(one)) < len(one) or len(set(other)) < len(other)
        all_tied = len(set(one)) == 1 or len(set(other)) == 1
        result.append(
            SystemCoherence(
                found.measures[m].name,
                found.measures[n].name,
                float("nan") if all_tied else kendall_tau(one, other),
                float("nan") if all_tied else tau_ap(one, other, variant="b" if tied else None),
                tuple(_flips(found, means, m, n)),
            )
        )
    return result


def _tied_alike(means: Floats) -> Floats:
    """Give means that are equal but for rounding one value."""
    order = np.argsort(means)
    ordered = means[order]
    new = np.diff(ordered, prepend=-np.inf) > TIE_TOLERANCE * np.abs(means).max(initial=0.0)
    found = np.empty_like(means)
    found[order] = ordered[np.maximum.accumulate(np.where(new, np.arange(len(means)), 0))]
    return found


def _flips(found: Evaluation, means: Floats, m: int, n: int) -> list[Flipped]:
    result = []
    for i, j in combinations(range(len(found.systems)), 2):
        a, b = (i, j) if means[i, m] >= means[j, m] else (j, i)
        first, second = (float(means[a, k] - means[b, k]) for k in (m, n))
        if first > 0 > second:
            against = np.nan_to_num(
                (found.values[a, n] - found.values[b, n])
                - (found.values[a, m] - found.values[b, m])
            )
            worst = [q for q in np.argsort(against, kind="stable")[:MOST_CAUSES] if against[q] < 0]
            causes = tuple(found.queries[q] for q in worst)
            result.append(Flipped(found.systems[a], found.systems[b], first, second, causes))
    return result


def rules_for_tables(rules: Rules) -> tuple[Literal["input", "docid"], bool, Rules]:
    """Return how tables of leads order equal scores, whether they leave documents out, and rules.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    ties : {"input", "docid"}
    removed : bool
    rules : Rules
        The same with that order, so that everything speaks of the same lists.

    Raises
    ------
    InputError
        If `unjudged` is bounds or nothing, or missing or worthless queries do not count 0.
    """
    if rules.unjudged == "bounds":
        raise InputError("--unjudged bounds", "tables of leads need one grade a document")
    if rules.unjudged == "nothing":
        raise InputError("--unjudged nothing", "use worst, or removed: every document has a grade")
    if rules.missing != 0 or rules.worthless != 0:
        raise InputError("a query that does not count 0", "every query counts here")
    ties: Literal["input", "docid"] = "docid" if rules.ties == "docid" else "input"
    return ties, rules.unjudged == "removed", replace(rules, ties=ties)


def _check_judged(runs: Sequence[Run], found: Sequence[Ranked]) -> None:
    """Refuse documents without a judgment: each run's would belong to an ideal of its own."""
    for run, ranked in zip(runs, found, strict=True):
        if ranked.unjudged.any():
            raise InputError(
                f"{int(ranked.unjudged.sum()):,} documents without a judgment, and a worst gain "
                "above 0",
                "take them out (--unjudged removed), or name a measure whose worst grade gains 0",
                run.name,
            )


def _matrix(ranked: Ranked, n_ranks: int) -> Integers:
    """Return rows of grades, the worst one for documents without a judgment."""
    rows = ranked.grade_matrix(n_ranks)
    return np.where(rows == ranked.n_grades, ranked.n_grades - 1, rows)


def _pools(known: IndexedQrels, rankings: Integers) -> NDArray[np.int8]:
    """Return all documents of each query as rows of grades.

    Documents without a judgment count as the worst grade, so that grade has at least as many.
    """
    L = len(known.scale)
    counts = known.pools.copy()
    ranked = (rankings == L - 1).sum(axis=2).max(axis=0)
    counts[:, -1] = np.maximum(counts[:, -1], ranked)
    found = np.full((len(counts), int(counts.sum(axis=1).max(initial=1))), -1, np.int8)
    for row, own in zip(found, counts, strict=True):
        row[: own.sum()] = np.repeat(np.arange(L), own)
    return found
