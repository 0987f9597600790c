"""Which comparisons of systems hold by mean nDCG with any gains, and are more than chance.

A pair may be decided for all gains, and other queries might decide it for the other system; or one
system may be significantly ahead under one measure, and behind under other gains. A conclusion
needs both: the same system is ahead with any gains, and its difference under one measure, which was
named before, is more than chance, corrected for all pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dcglearn.base.checks import check_kind, checked_count, checked_number, checked_rng
from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.significance import RESAMPLES
from dcglearn.base.types import Floats
from dcglearn.coherence.mean_ndcg import MeanVerdict
from dcglearn.coherence.smallest_change import SmallestChange
from dcglearn.coherence.verdict import Verdict
from dcglearn.measures.dcg import DCG
from dcglearn.measures.names import NamedMeasure
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.system_coherence import (
    SystemPair,
    system_pairs,
)
from dcglearn.systems.tukey import tukey_test

if TYPE_CHECKING:
    import pandas as pd

Extent = Literal["nDCG any gains, DCG both", "nDCG any gains", "depends", "equal", "not settled"]
"""The parameters for which the order of two systems holds."""

EXTENTS: tuple[Extent, ...] = get_args(Extent)


@dataclass(frozen=True)
class PairConclusion:
    """What may be concluded about two systems.

    Attributes
    ----------
    pair : SystemPair
    difference : float
        Mean of `pair.a` minus mean of `pair.b` under the tested measure.
    p : float
        The p-value of the difference, corrected for all pairs of systems; nan if not tested.
    significant : bool or None
        Whether p is below alpha, and the tested difference in favour of the system ahead; None
        if not tested.
    """

    pair: SystemPair
    difference: float
    p: float
    significant: bool | None

    @property
    def holds_for(self) -> Extent:
        """What is proved: mean nDCG with any gains at these discounts; mean DCG with any of both.

        Neither is a proof for mean nDCG with other discounts.
        """
        winner = self.pair.mean_ndcg.winner
        if winner == "undecided":
            return "not settled"
        if winner == "equal" or winner == "depends":
            return winner
        both = winner == self.pair.any_parameters.winner
        return "nDCG any gains, DCG both" if both else "nDCG any gains"

    @property
    def decided(self) -> bool:
        """Whether the same system is ahead by mean nDCG with any gains."""
        return self.pair.mean_ndcg.winner in ("a", "b")

    @property
    def leader(self) -> Literal["a", "b"] | None:
        """The system ahead by mean nDCG with any gains, or else under the tested measure."""
        winner = self.pair.mean_ndcg.winner
        if winner == "a" or winner == "b":
            return winner
        if winner == "equal" or not self.difference:
            return None
        return "a" if self.difference > 0 else "b"

    @property
    def ahead(self) -> str | None:
        """The name of that system; None if neither is ahead."""
        return {"a": self.pair.a, "b": self.pair.b, None: None}[self.leader]

    def n_queries(self, *winners: str) -> int:
        """Return how many queries have one of these winners by themselves; by default all."""
        known = winners or ("a", "b", "equal", "depends")
        return sum(one in known for one in self.pair.query_winners)

    @property
    def agreeing(self) -> float:
        """The share of queries that are decided by themselves for the system ahead, if any is."""
        if self.leader is None or not self.n_queries():
            return math.nan
        return self.n_queries(self.leader) / self.n_queries()

    def to_json(self) -> dict[str, Any]:
        """Return the row with gains and discounts that put either system ahead, or tie them."""
        witnesses = {name: _witnesses(found) for name, found in _verdicts(self.pair).items()}
        ties = {name: one and one.tie for name, one in _changes(self.pair).items()}
        return {**conclusion_row(self), "witnesses": witnesses, "ties": ties}


def _verdicts(pair: SystemPair) -> dict[str, Verdict | MeanVerdict]:
    return {
        "mean_ndcg_any_gains": pair.mean_ndcg,
        "dcg_anything": pair.any_parameters,
        "dcg_any_gains": pair.any_gains,
        "dcg_any_discounts": pair.any_discounts,
    }


def _changes(pair: SystemPair) -> dict[str, SmallestChange | None]:
    return {"gains": pair.gains_change, "discounts": pair.discounts_change}


def _witnesses(found: Verdict | MeanVerdict) -> dict[str, Any]:
    """Return gains and discounts under which each system is ahead, and by how much."""
    return {
        name: {"gains": dcg.gains, "discounts": dcg.discounts, "difference": difference}
        for name, dcg, difference in zip("ab", found.witnesses, found.differences, strict=False)
        if dcg is not None
    }


def conclusion_row(one: PairConclusion) -> dict[str, Any]:
    """Return a conclusion as a flat row: names of columns and values."""
    pair = one.pair
    winners = {name: found.winner for name, found in _verdicts(pair).items()}
    return {
        "a": pair.a,
        "b": pair.b,
        "ahead": one.ahead,
        "holds_for": one.holds_for,
        "difference": one.difference,
        "dcg_difference": pair.difference,
        "p": one.p,
        "significant": one.significant,
        "queries": one.n_queries(),
        "queries_a": one.n_queries("a"),
        "queries_b": one.n_queries("b"),
        "queries_depend": one.n_queries("depends"),
        "queries_equal": one.n_queries("equal"),
        "agreeing": one.agreeing,
        "mean_ndcg_any_gains": winners.pop("mean_ndcg_any_gains"),
        "at_usual_discounts": pair.usual_discounts,
        **winners,
        **{
            f"smallest_change_of_{what}": math.nan if change is None else change.distance
            for what, change in _changes(pair).items()
        },
    }


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
        """Return the conclusion about two systems, in either order."""
        for one in self.pairs:
            if {one.pair.a, one.pair.b} == {a, b}:
                return one
        for name in (a, b):
            if name not in self.systems:
                raise unknown_name("system", name, self.systems)
        raise InputError(f"{a!r} and {b!r} were not compared", "compare them with `between`")

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with a row per pair: who is ahead, for what, the test, every verdict."""
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
    advance: Advance = silent,
) -> SystemConclusions:
    """Find the comparisons that hold by mean nDCG with any gains and are more than chance.

    Parameters
    ----------
    evaluation : Evaluation
        Of two systems or more, by :func:`coherence_rules`. Its first measure is an nDCG of at most
        `n_ranks` ranks: it has the given gains and discounts, and is tested.
    n_ranks : int
        Lower ranks do not count.
    rng : numpy.random.Generator
    between : sequence of pair of str, optional
        The systems to compare, by default all. Corrections are for all pairs anyway.
    alpha : float, default 0.05
        Differences with a smaller p are significant.
    resamples : int, default 9999
        Of the randomisation test.
    advance : callable, optional
        Called with (done, total) as pairs are done.

    Returns
    -------
    SystemConclusions
        Without a test if two systems share fewer than two queries.

    Examples
    --------
    Of nine queries, the first system is ahead on eight and behind on one:

    >>> from dcglearn import coherence_rules, evaluate
    >>> qrels = {f"q{i}": {"good": 1, "bad": 0} for i in range(9)}
    >>> orders = {"one": ["good", "bad"], "two": ["bad", "good"]}
    >>> runs = {name: {q: {d: -r for r, d in enumerate(docs if q != "q0" else docs[::-1])}
    ...                for q in qrels} for name, docs in orders.items()}
    >>> found = evaluate(qrels, runs, "nDCG@2", rules=coherence_rules("trec_eval"))
    >>> (one,) = system_conclusions(found, 2, np.random.default_rng(0)).pairs
    >>> one.ahead, one.holds_for, round(one.p, 4), one.significant, round(one.agreeing, 4)
    ('one', 'nDCG any gains, DCG both', 0.0391, True, 0.8889)
    """
    remedy = "give what evaluate(qrels, runs, measures) returns"
    check_kind(evaluation, Evaluation, "an evaluation", remedy)
    checked_rng(rng)
    checked_count(resamples, "`resamples`", high=10**7)
    checked_number(alpha, "`alpha`", 0, 1)
    named = evaluation.measures[0]
    if not isinstance(named, NamedMeasure):
        raise InputError("is not a DCG", f"name nDCG(...) @ {n_ranks} first", named.name)
    given = given_measure(named, n_ranks)
    try:
        pairs = system_pairs(evaluation, given, n_ranks, between, advance)
    except InputError as error:
        raise error.at(named.name) from error
    values, means = evaluation.values[:, 0], evaluation.means()[:, 0]
    p, drawn = _p_values(values, rng, resamples)
    conclusions = []
    for pair in pairs:
        i, j = (evaluation.systems.index(name) for name in (pair.a, pair.b))
        one = PairConclusion(pair, float(means[i] - means[j]), float(p[i, j]), None)
        if not math.isnan(one.p):
            shared = [winner is not None for winner in pair.query_winners]
            tested = values[i, shared].sum() - values[j, shared].sum()
            for_leader = {"a": tested > 0, "b": tested < 0, None: False}[one.leader]
            one = replace(one, significant=bool(one.p < alpha and for_leader))
        conclusions.append(one)
    return SystemConclusions(
        named, n_ranks, alpha, drawn, evaluation.systems, evaluation.queries, tuple(conclusions)
    )


def given_measure(named: NamedMeasure, n_ranks: int) -> DCG:
    """Return the DCG whose gains and discounts are the given ones, cut as the measure is."""
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
