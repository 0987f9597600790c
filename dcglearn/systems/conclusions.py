"""Which comparisons of systems hold whatever the gains, and which are more than chance.

The two are different questions. A pair may be decided for all gains on the queries at hand, and
other queries might decide it for the other system; or one system may be significantly ahead under
one measure, and behind under other gains. A conclusion about two systems needs both: the same
system is ahead for all gains (:mod:`dcglearn.systems.system_coherence`), and its difference under
one measure, which was named before, is more than chance, corrected for all pairs of systems
(:mod:`dcglearn.statistics.tukey`). Beside them is how many queries are decided by themselves for
the same system (:mod:`dcglearn.systems.query_verdicts`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dcglearn.base.checks import checked_count, checked_number, checked_rng
from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.measures.dcg import DCG
from dcglearn.naming.names import NamedMeasure
from dcglearn.statistics.significance import RESAMPLES
from dcglearn.statistics.tukey import tukey_test
from dcglearn.systems.graded_rankings import graded_rankings
from dcglearn.systems.pair_conclusion import Extent, PairConclusion, conclusion_row
from dcglearn.systems.query_verdicts import query_verdicts
from dcglearn.systems.system_coherence import chosen_pairs, system_pairs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SystemConclusions:
    """What may be concluded about pairs of systems.

    Attributes
    ----------
    measure : NamedMeasure
        The tested measure.
    n_ranks : int
        The depth of the verdicts.
    alpha : float
        The level of the test.
    drawn : int
        Number of random exchanges of the test; 0 if all were taken or nothing was tested.
    systems : tuple of str
        All systems, for the pairs of which the test is corrected.
    queries : tuple of str
    pairs : tuple of PairConclusion
    """

    measure: NamedMeasure
    n_ranks: int
    alpha: float
    drawn: int
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    pairs: tuple[PairConclusion, ...]

    @property
    def tested(self) -> bool:
        """Whether differences were tested."""
        return any(one.significant is not None for one in self.pairs)

    def counts(self) -> dict[tuple[Extent, bool | None], int]:
        """Return the number of pairs by the parameters for which they hold, and significance."""
        return dict(Counter((one.holds_for, one.significant) for one in self.pairs))

    def between(self, a: str, b: str) -> PairConclusion:
        """Return the conclusion about two systems, in either order.

        Parameters
        ----------
        a, b : str

        Returns
        -------
        PairConclusion

        Raises
        ------
        InputError
            If there is no such pair.
        """
        for one in self.pairs:
            if {one.pair.a, one.pair.b} == {a, b}:
                return one
        for name in (a, b):
            if name not in self.systems:
                raise unknown_name("system", name, self.systems)
        raise InputError(f"{a!r} and {b!r} were not compared", "compare them with `between`")

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with one row per pair.

        Returns
        -------
        pandas.DataFrame
            The systems a and b; which is ahead and the parameters for which that holds; the
            difference under the tested measure, p and significant; the number of queries that
            are decided by themselves for a, for b, depend or are equal, and the share agreeing;
            every verdict ("a", "b", "equal", "depends" or "undecided"), and whether that on mean
            nDCG holds at the usual discounts and every cutoff; the sizes of the smallest
            changes that reverse the order by mean DCG.
        """
        import pandas as pd

        return pd.DataFrame([conclusion_row(one) for one in self.pairs])


def system_conclusions(
    evaluation: Evaluation,
    n_ranks: int,
    rng: np.random.Generator,
    *,
    between: Sequence[tuple[str, str]] | None = None,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    max_boxes: int = 4096,
    advance: Advance = silent,
) -> SystemConclusions:
    """Find the comparisons that hold whatever the gains and are more than chance.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more, under the rules of
        :func:`~dcglearn.systems.graded_rankings.coherence_rules`. Its first measure is an nDCG of
        no more than `n_ranks` ranks: its gains and discounts are the given ones, and differences
        are tested under it.
    n_ranks : int
        Lower ranks do not count.
    rng : numpy.random.Generator
    between : sequence of pair of str, optional
        The names of the systems to compare; by default every system with every other. The test
        is corrected for all pairs of the evaluation, so p does not depend on it.
    alpha : float, default 0.05
        Differences with a smaller p are significant.
    resamples : int, default 9999
        Of the randomisation test.
    max_boxes : int, default 4096
        See :func:`dcglearn.coherence.mean_ndcg.mean_verdict`.
    advance : callable, optional
        Called with (done, total) as pairs are done.

    Returns
    -------
    SystemConclusions
        Without a test if two systems share fewer than two queries.

    Raises
    ------
    InputError
        If the first measure is not such an nDCG, or as
        :func:`~dcglearn.systems.system_coherence.system_pairs` does.

    Examples
    --------
    Of nine queries, the first system is ahead on eight and behind on one, whatever the gains:

    >>> from dcglearn import Rules, coherence_rules, evaluate
    >>> qrels = {f"q{i}": {"good": 1, "bad": 0} for i in range(9)}
    >>> orders = {"one": ["good", "bad"], "two": ["bad", "good"]}
    >>> runs = {name: {q: {d: -r for r, d in enumerate(docs if q != "q0" else docs[::-1])}
    ...                for q in qrels} for name, docs in orders.items()}
    >>> found = evaluate(qrels, runs, "nDCG@2", rules=coherence_rules(Rules()))
    >>> conclusions = system_conclusions(found, 2, np.random.default_rng(0))
    >>> (one,) = conclusions.pairs
    >>> one.ahead, one.holds_for, round(one.p, 4), one.significant, round(one.agreeing, 4)
    ('one', 'nDCG any gains, DCG both', 0.0391, True, 0.8889)
    >>> conclusions.counts()
    {('nDCG any gains, DCG both', True): 1}
    """
    checked_rng(rng)
    checked_count(resamples, "`resamples`", high=10**7)
    checked_number(alpha, "`alpha`", 0, 1)
    checked_count(n_ranks, "`n_ranks`")
    named = evaluation.measures[0]
    if not isinstance(named, NamedMeasure):
        raise InputError("is not a DCG", f"name nDCG(...) @ {n_ranks} first", named.name)
    given = given_measure(named, n_ranks)
    chosen = chosen_pairs(evaluation.systems, between)
    try:
        pairs = system_pairs(evaluation, given, n_ranks, max_boxes, between, advance)
    except InputError as error:
        raise error.at(named.name) from error
    graded = graded_rankings(evaluation, given, n_ranks)
    by_query = query_verdicts(graded, chosen, len(evaluation.qrels.scale))
    held = ~(evaluation.missing & (evaluation.rules.missing is None))
    p, drawn = _p_values(evaluation.values[:, 0], rng, resamples)
    means = evaluation.means()[:, 0]
    conclusions = []
    for pair, (i, j), winners in zip(pairs, chosen, by_query.tolist(), strict=True):
        shared = held[i] & held[j]
        over_shared = evaluation.values[i, 0, shared].sum() - evaluation.values[j, 0, shared].sum()
        one = PairConclusion(
            pair,
            float(means[i] - means[j]),
            float(p[i, j]),
            None,
            tuple(x if kept else None for x, kept in zip(winners, shared, strict=True)),
        )
        conclusions.append(_with_significance(one, float(over_shared), alpha))
    return SystemConclusions(
        named, n_ranks, alpha, drawn, evaluation.systems, evaluation.queries, tuple(conclusions)
    )


def given_measure(named: NamedMeasure, n_ranks: int) -> DCG:
    """Return the DCG whose gains and discounts are the given ones, cut as the measure is.

    It must be an nDCG of no more than `n_ranks` ranks.

    >>> given_measure(NamedMeasure("mine", DCG([2, 1, 0], "zipf", 5, "ideal")), 10)
    DCG([2, 1, 0], zipf) @ 5
    """
    measure = named.measure
    if not isinstance(measure, DCG):
        raise InputError("position-dependent weights have no nDCG", "name a DCG", named.name)
    if measure.normalise != "ideal":
        raise InputError("is not an nDCG", f"name nDCG(...) @ {n_ranks} first", named.name)
    plain = measure.plain()
    if plain.n_ranks is None or plain.n_ranks > n_ranks:
        deep = "all ranks" if plain.n_ranks is None else f"{plain.n_ranks} ranks"
        raise InputError(f"has {deep}, and {n_ranks} are compared", "raise `n_ranks`", named.name)
    return plain @ plain.n_ranks


def _p_values(values: Floats, rng: np.random.Generator, resamples: int) -> tuple[Floats, int]:
    """Return the p-value of each two systems, shape (systems, systems), and the orders drawn."""
    n = len(values)
    p = np.full((n, n), np.nan)
    counted = (~np.isnan(values)).astype(int)
    if (counted @ counted.T).min() < 2:
        return p, 0
    found = tukey_test(values[None], rng, resamples)
    first, second = np.triu_indices(n, 1)
    p[first, second] = p[second, first] = found.p[0]
    return p, found.drawn


def _with_significance(one: PairConclusion, difference: float, alpha: float) -> PairConclusion:
    """Say whether a pair is significant, by p and the sign of the difference that was tested."""
    if math.isnan(one.p):
        return one
    for_leader = {"a": difference > 0, "b": difference < 0, None: False}[one.leader]
    return replace(one, significant=one.p < alpha and for_leader)
