"""Orderings of systems by two measures: how alike they are, and which pairs of systems differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.correlation.tau import kendall_tau, tau_ap
from dcglearn.measures.measure import TIE_TOLERANCE
from dcglearn.systems.evaluate import Evaluation

MOST_CAUSES = 3
"""Number of queries named as causes of a reversed pair."""


@dataclass(frozen=True)
class ReversedPair:
    """Two systems that two measures order differently."""

    ahead: str
    behind: str
    first: float
    second: float
    causes: tuple[str, ...]


@dataclass(frozen=True)
class OrderingComparison:
    """The orderings of systems by two measures.

    Attributes
    ----------
    first, second : str
        The names of the measures.
    tau, tau_ap : float
        Kendall's tau-b and the AP correlation (variant b if means are tied); nan if a measure
        ties all systems.
    reversed_pairs : tuple of ReversedPair
    """

    first: str
    second: str
    tau: float
    tau_ap: float
    reversed_pairs: tuple[ReversedPair, ...]

    def among(self, pairs: Sequence[tuple[str, str]]) -> OrderingComparison:
        """Return the comparison with only those reversed pairs that are among the given ones."""
        wanted = {frozenset(pair) for pair in pairs}
        kept = [one for one in self.reversed_pairs if {one.ahead, one.behind} in wanted]
        return replace(self, reversed_pairs=tuple(kept))


def compare_orderings(evaluation: Evaluation) -> list[OrderingComparison]:
    """Compare the orderings of systems by every two measures.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more.

    Returns
    -------
    list of OrderingComparison
        One per pair of measures.

    Examples
    --------
    >>> from dcglearn.systems.evaluate import evaluate
    >>> qrels = {"q": {"d1": 2, "d2": 1, "d3": 1, "d4": 0}}
    >>> runs = {"one": {"q": {"d1": 2.0, "d4": 1.0}}, "two": {"q": {"d2": 2.0, "d3": 1.0}}}
    >>> measures = ["zipf", "DCG([2, 1.9, 0], zipf)"]
    >>> (found,) = compare_orderings(evaluate(qrels, runs, measures))
    >>> found.tau, [(pair.ahead, pair.behind) for pair in found.reversed_pairs]
    (-1.0, [('one', 'two')])
    """
    evaluation = evaluation.comparable()
    systems, values = evaluation.systems, evaluation.values
    names = [one.name for one in evaluation.measures]
    means = np.array([_tied_alike(column) for column in evaluation.means().T]).T
    comparisons = []
    for m, n in combinations(range(len(names)), 2):
        one, other = means[:, m], means[:, n]
        taus = math.nan, math.nan
        distinct = min(len(set(one)), len(set(other)))
        if distinct > 1:
            tied = tau_ap(one, other, variant="b" if distinct < len(one) else None)
            taus = kendall_tau(one, other), tied
        first, second = one[:, None] - one, other[:, None] - other
        pairs = []
        for a, b in sorted(np.argwhere((first > 0) & (second < 0)).tolist(), key=sorted):
            change = np.nan_to_num((values[a, n] - values[b, n]) - (values[a, m] - values[b, m]))
            largest = np.argsort(change, kind="stable")[:MOST_CAUSES]
            causes = tuple(evaluation.queries[q] for q in largest if change[q] < 0)
            leads = float(first[a, b]), float(second[a, b])
            pairs.append(ReversedPair(systems[a], systems[b], *leads, causes))
        comparisons.append(OrderingComparison(names[m], names[n], *taus, tuple(pairs)))
    return comparisons


def _tied_alike(means: Floats) -> Floats:
    """Give means that are equal but for rounding the same value."""
    order = np.argsort(means)
    ordered = means[order]
    new = np.diff(ordered, prepend=-np.inf) > TIE_TOLERANCE * np.abs(means).max(initial=0.0)
    merged = np.empty_like(means)
    merged[order] = ordered[new][np.cumsum(new) - 1]
    return merged
