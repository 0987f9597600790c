"""Which comparisons of systems hold by mean nDCG with any gains, and are more than chance.

A pair may be decided for all gains, and other queries might decide it for the other system; or one
system may be significantly ahead under one measure, and behind under other gains. A conclusion
needs both: the same system is ahead with any gains, and its difference under one measure, which was
named before, is more than chance, corrected for all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dcglearn.base.checks import checked_count, checked_number, checked_rng
from dcglearn.base.errors import InputError, check_name, naming
from dcglearn.base.progress import Advance, silent
from dcglearn.base.types import Floats, Integers
from dcglearn.coherence.mean_ndcg import MeanVerdict, mean_verdicts
from dcglearn.coherence.verdict import (
    SmallestChange,
    Verdict,
    WorstGain,
    advantage_by_step,
    cumulative_counts,
    smallest_change_of_discounts,
    smallest_change_of_gains,
    verdict,
    winners,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.presets import usual_presets
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.systems.evaluate import Evaluation
from dcglearn.systems.paired_tests import RESAMPLES, parts, tukey_test
from dcglearn.systems.ranked import Rules, rules_like
from dcglearn.systems.scoring import rankings_to_score, with_least

if TYPE_CHECKING:
    import pandas as pd


def graded_rankings(
    evaluation: Evaluation, measure: DCG, n_ranks: int
) -> tuple[Integers, Integers, Floats]:
    """Return the grades of rankings (systems, Q, K), counts of pools (Q, L), and gains (L,)."""
    rules = evaluation.rules
    if len(evaluation.systems) < 2:
        raise InputError("one run", "give two or more")
    if coherence_rules(rules) != rules and any(run.has_ties for run in evaluation.runs):
        raise InputError(
            'documents with equal scores under `ties="mean"`',
            'evaluate with `ties="input"` or `ties="docid"`: each document needs one rank',
        )
    gains = np.array(with_least(measure.on_scale(evaluation.qrels.scale), rules.least).gains)
    if (np.diff(gains, append=0.0) > 0).any():
        raise InputError(
            f"gains {list(measure.gains)} that increase or fall below 0",
            "name another measure first",
        )
    ranked = [rankings_to_score(run, rules) for run in evaluation.runs]
    counts, pooled = evaluation.qrels.pools.copy(), ranked[0].pooled
    if rules.unjudged == "worst":
        if pooled is not None:
            counts[:, -1] += pooled
        elif gains[-1] > 0 and any(one.unjudged.any() for one in ranked):
            raise InputError(
                "documents without a judgment, and a worst gain above 0: the ideal of a query "
                "would depend on the run",
                'evaluate under the normalised measure with `pool="all"`, remove them with '
                '`unjudged="removed"`, or name a measure whose worst grade gains 0',
            )
    of_unjudged = NO_DOCUMENT if rules.unjudged == "nothing" else len(gains) - 1
    rankings = np.array([one.grade_matrix(n_ranks) for one in ranked])
    return np.where(rankings == len(gains), of_unjudged, rankings), counts, gains


def coherence_rules(rules: Rules | str) -> Rules:
    """Return rules under which every document has one rank and one grade.

    Parameters
    ----------
    rules : Rules or str
        Or the name of a tool in :data:`~dcglearn.systems.ranked.LIKE`, such as ``"trec_eval"``.

    Returns
    -------
    Rules
        The same, with documents of equal scores in the order of the run instead of averaged.

    Examples
    --------
    >>> coherence_rules(Rules()).ties, coherence_rules("sklearn").ties
    ('docid', 'input')
    """
    rules = rules_like(rules)
    if rules.unjudged == "bounds":
        raise InputError(
            '`unjudged="bounds"`, and each document needs one grade here',
            'use `unjudged="worst"`, `unjudged="nothing"` or `unjudged="removed"`',
        )
    if rules.worthless != 0 or rules.missing not in (0, None):
        raise InputError(
            "queries whose ideal is 0 (which depends on the gains) or that are missing do not "
            "count 0",
            "use `worthless=0`, and `missing=0` or leave them out",
        )
    return replace(rules, ties="input") if rules.ties == "mean" else rules


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
    dcg_difference : float
        Mean DCG of `a` minus mean DCG of `b`, with the given gains and discounts.
    any_parameters, any_gains, any_discounts : Verdict
        By mean DCG with any gains and any discounts, or any of one and the given other.
    mean_ndcg : MeanVerdict
        By mean nDCG with any gains, zeros included, and the given discounts.
    gains_change, discounts_change : SmallestChange or None
        The smallest change of the gains, or of the discounts, that reverses the order by mean DCG;
        None if no change does.
    usual_discounts : bool
        Whether the same system is ahead or equal by mean nDCG with any gains at the discounts of
        each of :func:`dcglearn.usual_presets` and at every cutoff.
    query_winners : tuple of str or None
        Of each query by itself, for all gains: ``"a"``, ``"b"``, ``"equal"`` or ``"depends"``;
        None where the query is left out of a system.
    """

    a: str
    b: str
    dcg_difference: float
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
    >>> pair.dcg_difference, pair.any_gains.winner, pair.any_discounts.winner
    (0.5, 'depends', 'a')
    """
    rankings, pooled, gains = graded_rankings(evaluation, measure, n_ranks)
    discounts = measure.discounts_for(n_ranks)
    worst: WorstGain = "zero" if gains[-1] == 0 else "nonnegative"
    names = evaluation.systems
    left_out = evaluation.missing & (evaluation.rules.missing is None)
    n_queries = (~left_out).sum(axis=1)
    counts = cumulative_counts(rankings, len(gains))
    totals = counts.sum(axis=1, dtype=np.int64)
    if between is None:
        between = [*combinations(names, 2)]
    for a, b in between:
        check_name(a, "system", names)
        check_name(b, "system", names)
        if a == b:
            raise InputError(f"{a!r} twice", "name two systems")
    chosen = [(names.index(a), names.index(b)) for a, b in between]
    rules = dict.fromkeys(one.discounts for one in usual_presets("1,0", n_ranks).values())
    pairs: list[SystemPair] = []
    for part in parts(len(chosen), _PAIRS_AT_ONCE):
        block = chosen[part]
        means = mean_verdicts(rankings, pooled, discounts, worst, n_queries, block)
        usual = [pair for pair in block if means[pair].winner in ("a", "b")]
        for rule, cutoff in product(rules, range(1, n_ranks + 1)):
            if not usual:
                break
            cut = rankings[:, :, :cutoff]
            found = mean_verdicts(cut, pooled, rule, worst, n_queries, usual, _BOXES)
            usual = [one for one in usual if found[one].winner in (means[one].winner, "equal")]
        for i, j in block:
            m, n = n_queries[[i, j]].tolist()
            D = (totals[i] * n - totals[j] * m) / (m * n)  # with signs that are exact
            steps = advantage_by_step(counts[i] - counts[j], None, discounts, worst)
            by_query = winners(steps).astype(object)
            by_query[left_out[i] | left_out[j]] = None
            one = SystemPair(
                names[i],
                names[j],
                dcg_difference=advantage_by_step(D, gains, discounts).item(),
                any_parameters=verdict(D, worst_gain=worst),
                any_gains=verdict(D, discounts=discounts, worst_gain=worst),
                any_discounts=verdict(D, gains=gains),
                mean_ndcg=means[i, j],
                gains_change=smallest_change_of_gains(D, gains, discounts, worst),
                discounts_change=smallest_change_of_discounts(D, gains, discounts),
                usual_discounts=(i, j) in usual,
                query_winners=tuple(by_query.tolist()),
            )
            pairs.append(one)
        advance(len(pairs), len(chosen))
    return pairs


Extent = Literal["nDCG any gains, DCG both", "nDCG any gains", "depends", "equal", "not settled"]

EXTENTS: tuple[Extent, ...] = get_args(Extent)


@dataclass(frozen=True)
class PairConclusion(SystemPair):
    """What may be concluded about two systems: what is certain, and a test.

    Attributes
    ----------
    difference : float
        Mean of `a` minus mean of `b` under the tested measure.
    p : float
        The p-value of the difference, corrected for all pairs of systems; nan if not tested.
    significant : bool or None
        Whether p is below alpha, and the tested difference in favour of the system ahead; None
        if not tested.
    """

    difference: float
    p: float
    significant: bool | None

    @property
    def holds_for(self) -> Extent:
        """What is proved: mean nDCG with any gains at these discounts; mean DCG with any of both.

        Neither is a proof for mean nDCG with other discounts.
        """
        winner = self.mean_ndcg.winner
        if winner == "undecided":
            return "not settled"
        if winner == "equal" or winner == "depends":
            return winner
        both = winner == self.any_parameters.winner
        return "nDCG any gains, DCG both" if both else "nDCG any gains"

    @property
    def decided(self) -> bool:
        """Whether the same system is ahead by mean nDCG with any gains."""
        return self.mean_ndcg.winner in ("a", "b")

    @property
    def leader(self) -> Literal["a", "b"] | None:
        """The system ahead by mean nDCG with any gains, or else under the tested measure."""
        winner = self.mean_ndcg.winner
        if winner == "a" or winner == "b":
            return winner
        if winner == "equal" or not self.difference:
            return None
        return "a" if self.difference > 0 else "b"

    @property
    def ahead(self) -> str | None:
        """The name of that system; None if neither is ahead."""
        return {"a": self.a, "b": self.b, None: None}[self.leader]

    def n_queries(self, *winners: str) -> int:
        """Return how many queries have one of these winners by themselves; by default all."""
        known = winners or ("a", "b", "equal", "depends")
        return sum(one in known for one in self.query_winners)

    @property
    def agreeing(self) -> float:
        """The share of queries that are decided by themselves for the system ahead, if any is."""
        if self.leader is None or not self.n_queries():
            return math.nan
        return self.n_queries(self.leader) / self.n_queries()

    def to_json(self) -> dict[str, Any]:
        """Return the row with gains and discounts that put either system ahead, or tie them."""
        witnesses = {name: _witnesses(found) for name, found in _verdicts(self).items()}
        gains, discounts = self.gains_change, self.discounts_change
        ties = {"gains": gains and gains.tie, "discounts": discounts and discounts.tie}
        return {**conclusion_row(self), "witnesses": witnesses, "ties": ties}


def _verdicts(pair: SystemPair) -> dict[str, Verdict | MeanVerdict]:
    return {
        "mean_ndcg_any_gains": pair.mean_ndcg,
        "dcg_anything": pair.any_parameters,
        "dcg_any_gains": pair.any_gains,
        "dcg_any_discounts": pair.any_discounts,
    }


def _witnesses(found: Verdict | MeanVerdict) -> dict[str, Any]:
    return {
        name: {"gains": dcg.gains, "discounts": dcg.discounts, "difference": difference}
        for name, dcg, difference in zip("ab", found.witnesses, found.differences, strict=False)
        if dcg is not None
    }


def conclusion_row(one: PairConclusion) -> dict[str, Any]:
    """Return a conclusion as a flat row: names of columns and values."""
    gains, discounts = one.gains_change, one.discounts_change
    winners = {name: found.winner for name, found in _verdicts(one).items()}
    return {
        "a": one.a,
        "b": one.b,
        "ahead": one.ahead,
        "holds_for": one.holds_for,
        "difference": one.difference,
        "dcg_difference": one.dcg_difference,
        "p": one.p,
        "significant": one.significant,
        "queries": one.n_queries(),
        "queries_a": one.n_queries("a"),
        "queries_b": one.n_queries("b"),
        "queries_depend": one.n_queries("depends"),
        "queries_equal": one.n_queries("equal"),
        "agreeing": one.agreeing,
        "mean_ndcg_any_gains": winners.pop("mean_ndcg_any_gains"),
        "at_usual_discounts": one.usual_discounts,
        **winners,
        "smallest_change_of_gains": gains.distance if gains else math.nan,
        "smallest_change_of_discounts": discounts.distance if discounts else math.nan,
    }


@dataclass(frozen=True, eq=False)
class SystemConclusions:
    """What may be concluded about pairs of systems.

    Attributes
    ----------
    evaluation : Evaluation
        Its first measure is tested, and the test is corrected for all pairs of its systems.
    given : DCG
        The given gains and discounts: the tested measure without its normalisation.
    n_ranks : int
        The depth of the verdicts.
    alpha : float
        The level of the test.
    drawn : int
        Number of random exchanges of the test; 0 if all were taken or nothing was tested.
    pairs : tuple of PairConclusion
    """

    evaluation: Evaluation
    given: DCG
    n_ranks: int
    alpha: float
    drawn: int
    pairs: tuple[PairConclusion, ...]

    @property
    def measure(self) -> str:
        """The name of the tested measure."""
        return self.evaluation.measures[0].name

    @property
    def tested(self) -> bool:
        """Whether differences were tested."""
        return any(one.significant is not None for one in self.pairs)

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
    checked_rng(rng)
    checked_count(resamples, "`resamples`", high=10**7)
    checked_number(alpha, "`alpha`", 0, 1)
    named = evaluation.measures[0]
    measure = named.measure
    with naming(named.name):
        if not isinstance(measure, DCG) or measure.normalise is None:
            raise InputError("is not an nDCG", f"name nDCG(...) @ {n_ranks} first")
        if measure.n_ranks is None or measure.n_ranks > n_ranks:
            deep = measure.n_ranks or "all"
            raise InputError(f"has {deep} ranks, and {n_ranks} are compared", "raise `n_ranks`")
        given = measure.plain() @ measure.n_ranks
        pairs = system_pairs(evaluation, given, n_ranks, between, advance)
    values, means = evaluation.values[:, 0], evaluation.means()[:, 0]
    n, counted = len(values), np.isfinite(values).astype(int)
    p, drawn = np.full((n, n), np.nan), 0
    if (counted @ counted.T).min() >= 2:
        found, drawn = tukey_test(values[None], rng, resamples)
        p[np.triu_indices(n, 1)] = found[0]
    conclusions = []
    for pair in pairs:
        i, j = (evaluation.systems.index(name) for name in (pair.a, pair.b))
        difference = float(means[i] - means[j])
        tested = float(p[min(i, j), max(i, j)])
        one = PairConclusion(**vars(pair), difference=difference, p=tested, significant=None)
        if not math.isnan(one.p):
            total = float(np.nansum(values[i] - values[j]))
            lead = {"a": total, "b": -total, None: 0.0}[one.leader]
            one = replace(one, significant=one.p < alpha and lead > 0)
        conclusions.append(one)
    return SystemConclusions(evaluation, given, n_ranks, alpha, drawn, tuple(conclusions))


def named_pair(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the two systems that a text names, with a comma between them.

    >>> named_pair("old, new", ["old", "new"]), named_pair("a,b,c", ["a,b", "c"])
    (('old', 'new'), ('a,b', 'c'))
    """
    splits = [(text[:at].strip(), text[at + 1 :].strip()) for at, c in enumerate(text) if c == ","]
    found = [pair for pair in splits if {*pair} <= {*names}]
    if len(found) == 1:
        return found[0]
    if len(splits) == 1:
        for name in splits[0]:
            check_name(name, "system", names)
    known = f"Known: {', '.join(sorted(names))}"
    raise InputError(f"{text!r} is not one pair of systems", f"write A,B. {known}")
