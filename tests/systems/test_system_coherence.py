"""Verdicts on pairs of systems, orderings by two measures, and the command coherence."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from dcglearn import (
    DCG,
    LIKE,
    IndexedQrels,
    InputError,
    Rules,
    SystemPair,
    coherence_rules,
    compare_orderings,
    evaluate,
    index_qrels,
    qrels_of,
    run_of,
    system_pairs,
)
from dcglearn import Run as Retrieved

K = 4


@pytest.fixture
def drawn(rng: np.random.Generator) -> tuple[IndexedQrels, list[Retrieved]]:
    qrels = {
        f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(8)} | {"d0": 2} for q in range(6)
    }
    runs = [
        run_of({q: {f"d{d}": float(rng.random()) for d in range(10)} for q in qrels}, f"system {s}")
        for s in range(5)
    ]
    return index_qrels(qrels_of(qrels)), runs


def pairs_of(
    known: IndexedQrels, runs: list[Retrieved], measure: DCG, depth: int, **options: Any
) -> list[SystemPair]:
    evaluation = evaluate(known, runs, measure, rules=Rules("input", "worst"))
    return system_pairs(evaluation, measure, depth, **options)


def differences(
    known: IndexedQrels, runs: list[Retrieved], measure: DCG
) -> dict[tuple[str, str], float]:
    rules = Rules(ties="input")
    means = evaluate(known, runs, measure, rules=rules).means()[:, 0]
    return {
        (runs[i].name, runs[j].name): float(means[i] - means[j])
        for i, j in combinations(range(len(runs)), 2)
    }


@pytest.mark.parametrize("backwards", [False, True])
def test_verdicts_hold_in_a_dense_search(
    drawn: tuple[IndexedQrels, list[Retrieved]], rng: np.random.Generator, backwards: bool
) -> None:
    known, runs = drawn[0], drawn[1][:: -1 if backwards else 1]
    reference = DCG([2, 1, 0], "log2", K)
    pairs = {(pair.a, pair.b): pair for pair in pairs_of(known, runs, reference, K)}
    seen: dict[tuple[str, str, str], set[int]] = {}
    for x in [*np.linspace(0, 1, 20), *rng.random(20)]:
        falling = tuple(np.sort(rng.random(K))[::-1])
        tried = {
            "any_parameters": DCG([1, x, 0], falling),
            "any_gains": DCG([1, x, 0], "log2", K),
            "any_discounts": DCG([2, 1, 0], falling),
            "mean_ndcg": DCG([1, x, 0], "log2", K, "ideal"),
        }
        for kind, measure in tried.items():
            for pair, difference in differences(known, runs, measure).items():
                seen.setdefault((*pair, kind), set()).add(int(np.sign(difference)))
    decided = depending = 0
    for (a, b, kind), signs in seen.items():
        found = pairs[a, b]
        winner = getattr(found, kind).winner
        if winner in ("a", "b"):
            decided += 1
            assert signs <= {0, 1 if winner == "a" else -1}, (a, b, kind)
        depending += winner == "depends"
        if {1, -1} <= signs:
            assert winner == "depends"
    assert min(decided, depending) > 3


def test_witnesses_and_smallest_changes_reverse_the_sums(
    drawn: tuple[IndexedQrels, list[Retrieved]],
) -> None:
    known, runs = drawn
    given = DCG([2, 1, 0], "log2", K)
    flipped = 0
    for pair in pairs_of(known, runs, given, K):
        names = pair.a, pair.b
        assert differences(known, runs, given)[names] == pytest.approx(
            pair.dcg_difference, abs=1e-12
        )
        for found in (pair.any_parameters, pair.any_gains, pair.any_discounts):
            for measure, margin in zip(found.witnesses, found.differences, strict=True):
                assert differences(known, runs, measure)[names] == pytest.approx(margin)
        for found, flip, side in (
            (pair.any_gains, pair.gains_change, "gains"),
            (pair.any_discounts, pair.discounts_change, "discounts"),
        ):
            assert (flip is None) == (found.winner != "depends")
            if flip is not None and flip.beyond is not None:
                flipped += 1
                assert differences(known, runs, flip.beyond)[names] * pair.dcg_difference < 0
                tied = (flip.tie, "log2") if side == "gains" else (given.gains, flip.tie)
                at = DCG(*tied, K if side == "gains" else None)
                assert differences(known, runs, at)[names] == pytest.approx(0, abs=1e-9)
    assert flipped > 3


def test_orderings_and_their_reversed_pairs(drawn: tuple[IndexedQrels, list[Retrieved]]) -> None:
    known, runs = drawn
    names = ("nDCG(linear-log2) @ 4", "DCG({2: 1, 1: 0, 0: 0}, constant) @ 1")
    found = evaluate(known, runs, names)
    (one,) = compare_orderings(found)
    means = found.means()
    flips = {
        (i, j)
        for i, j in combinations(range(5), 2)
        if (means[i, 0] - means[j, 0]) * (means[i, 1] - means[j, 1]) < 0
    }
    assert flips
    assert {frozenset((x.ahead, x.behind)) for x in one.reversed_pairs} == {
        frozenset((runs[i].name, runs[j].name)) for i, j in flips
    }
    for flip in one.reversed_pairs:
        a, b = found.systems.index(flip.ahead), found.systems.index(flip.behind)
        moved = (found.values[a, 1] - found.values[b, 1]) - (
            found.values[a, 0] - found.values[b, 0]
        )
        assert flip.first > 0 > flip.second
        assert flip.causes[0] == found.queries[int(np.argmin(moved))]
    kept, *others = one.reversed_pairs
    assert others
    assert one.among([(kept.behind, kept.ahead)]).reversed_pairs == (kept,)
    assert one.among([]).reversed_pairs == ()


def test_what_holds_at_the_usual_discounts_holds_in_a_dense_search(
    drawn: tuple[IndexedQrels, list[Retrieved]], rng: np.random.Generator
) -> None:
    known, runs = drawn
    pairs = pairs_of(known, runs, DCG([2, 1, 0], "log2", K), K)
    gains = [[1, 0, 0], [1, 1, 0], *([1, x, 0] for x in rng.random(8))]
    rules = ["log2", "jk(2)", "zipf", f"linear({K})", "constant", "rbp(0.8)"]
    tried = [
        differences(known, runs, DCG(some, rule, cutoff, "ideal"))
        for some, rule, cutoff in product(gains, rules, range(1, K + 1))
    ]
    for pair in pairs:
        sign = {"a": 1, "b": -1}.get(pair.mean_ndcg.winner, 0)
        never_behind = all(sign * found[pair.a, pair.b] > -1e-12 for found in tried)
        assert pair.usual_discounts == (never_behind and sign != 0), pair
    assert {pair.usual_discounts for pair in pairs} == {True, False}


def test_rules_under_which_every_document_has_one_rank_and_grade(
    drawn: tuple[IndexedQrels, list[Retrieved]],
) -> None:
    assert coherence_rules(Rules()) == Rules()
    assert coherence_rules(Rules("mean")) == Rules("input")
    for kept in (Rules(ties="docid", unjudged="removed"), Rules(ties="input", single=True)):
        assert coherence_rules(kept) == kept
    for kept in (Rules("docid", "nothing"), Rules("input", missing=None)):
        assert coherence_rules(kept) == kept
    for rules in (Rules(worthless=None), Rules(worthless=1.0)):
        with pytest.raises(InputError, match="or that are missing do not count 0; use `worthl"):
            coherence_rules(rules)
    known, runs = drawn
    with pytest.raises(InputError, match="discounts that increase"):
        pairs_of(known, runs, DCG([2, 1, 0], [1, 2, 3, 4]), K)
    given = DCG([2, 1, 0], "log2", K)
    assert system_pairs(evaluate(known, runs, given), given, K)  # no two scores are equal
    tied = run_of({q: {"d1": 1.0, "d2": 1.0} for q in known.queries}, "tied")
    with pytest.raises(InputError, match='equal scores under `ties="mean"`'):
        system_pairs(evaluate(known, [*runs, tied], given, rules=Rules("mean")), given, K)
    with pytest.raises(InputError, match="documents without a judgment, and a worst gain"):
        pairs_of(known, runs, DCG([3, 2, 1], "log2", K), K)
    leaves_out = Rules(ties="input", worthless=None)
    with pytest.raises(InputError, match="use `worthless=0`"):
        system_pairs(evaluate(known, runs, given, rules=leaves_out), given, K)
    costly = DCG([2, 1, 0.5], "log2", K)
    with pytest.raises(InputError, match="the ideal of a query would depend on the run"):
        system_pairs(evaluate(known, runs, given, rules=Rules("input", "worst")), costly, K)


@pytest.fixture
def official() -> tuple[Any, Any]:
    """Qrels and runs with tied scores, some only in single precision, and missing queries."""
    rng = np.random.default_rng(5)
    qrels = {f"q{q}": {f"d{d}": int(rng.choice([-1, 0, 1, 2])) for d in range(9)} for q in range(8)}
    qrels["q1"] = dict.fromkeys(qrels["q1"], 0)
    runs = {
        f"system {s}": {
            q: {
                f"d{d}": float(rng.choice([1.0, 1.0 + 1e-9, 2.0, 3.0, rng.random()]))
                for d in rng.permutation(14)[:9]
            }
            for q in qrels
            if (s, q) not in ((0, "q3"), (2, "q0"), (2, "q5"))
        }
        for s in range(5)
    }
    return qrels, runs


def theirs(qrels: Any, runs: Any, gains: tuple[float, ...]) -> dict[str, float]:
    """trec_eval's means of nDCG, with gains written into the qrels as whole numbers."""
    levels = {g: round(1e5 * x) for g, x in zip((2, 1, 0, -1), (*gains, -1), strict=True)}
    written = {q: {d: levels[g] for d, g in judged.items()} for q, judged in qrels.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(written, {f"ndcg_cut.{K}"})
    return {
        name: float(np.mean([one[f"ndcg_cut_{K}"] for one in evaluator.evaluate(run).values()]))
        for name, run in runs.items()
    }


def test_the_rankings_are_those_that_trec_eval_scores(
    official: tuple[Any, Any], rng: np.random.Generator
) -> None:
    qrels, runs = official
    measure = "nDCG(linear-log2) @ 4"
    rules = coherence_rules(LIKE["trec_eval"])
    assert rules == LIKE["trec_eval"]
    evaluation = evaluate(qrels, runs, measure, rules=rules)
    given = DCG({2: 2, 1: 1, 0: 0, -1: 0}, "log2", K)
    pairs = {(pair.a, pair.b): pair.mean_ndcg for pair in system_pairs(evaluation, given, K)}
    winners = {pair.winner for pair in pairs.values()}
    assert "depends" in winners
    assert winners & {"a", "b"}
    for x in [0.0, 1.0, *rng.random(60)]:
        means = theirs(qrels, runs, (1.0, x, 0.0))
        for (a, b), found in pairs.items():
            difference = means[a] - means[b]
            assert found.bounds[0] - 1e-4 <= difference <= found.bounds[1] + 1e-4
            assert difference >= -1e-4 or found.winner != "a"
            assert difference <= 1e-4 or found.winner != "b"
    for (a, b), found in pairs.items():
        for witness, difference in zip(found.witnesses, found.differences, strict=True):
            if witness is not None:
                means = theirs(qrels, runs, witness.gains[:3])
                assert means[a] - means[b] == pytest.approx(difference, abs=1e-4)
    ours = system_pairs(evaluate(qrels, runs, measure, rules=Rules("input")), given, K)
    assert any(pair.mean_ndcg.bounds != pairs[pair.a, pair.b].bounds for pair in ours)


@pytest.mark.parametrize("unjudged", ["worst", "nothing", "removed"])
def test_bounds_and_witnesses_where_the_worst_grade_gains(
    official: tuple[Any, Any], unjudged: Any, rng: np.random.Generator
) -> None:
    """Every run has the same ideal of a query, whose documents may not all be judged."""
    qrels, runs = official
    rules = Rules("input", unjudged, missing=None)

    def differences_of(gains: Any) -> dict[tuple[str, str], float]:
        measure = DCG(dict(zip((2, 1, 0, -1), gains, strict=True)), "log2", K, "ideal")
        means = evaluate(qrels, runs, measure, rules=rules).means()[:, 0]
        of = dict(zip(runs, means.tolist(), strict=True))
        return {(a, b): of[a] - of[b] for a, b in combinations(runs, 2)}

    given = DCG({2: 2, 1: 1, 0: 0.5, -1: 0.1}, "log2", K)
    pairs = system_pairs(evaluate(qrels, runs, given.normalised(), rules=rules), given, K)
    for gains in (given.gains, *(np.sort(rng.random((30, 4)))[:, ::-1])):
        found = differences_of(gains)
        for pair in pairs:
            low, high = pair.mean_ndcg.bounds
            assert low - 1e-9 <= found[pair.a, pair.b] <= high + 1e-9
    assert any(pair.mean_ndcg.winner == "depends" for pair in pairs)
    for pair in pairs:
        for witness, difference in zip(
            pair.mean_ndcg.witnesses, pair.mean_ndcg.differences, strict=True
        ):
            if witness is not None:
                at = differences_of(witness.gains)[pair.a, pair.b]
                assert at == pytest.approx(difference, abs=1e-9)


def test_causes_are_the_queries_that_moved_most() -> None:
    """One is ahead by d1 under the first measure, two by d2 under the second."""
    one = {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}, "q3": {"d2": 1.0}}
    two = {"q1": {"d2": 1.0}, "q2": {"x": 1.0}, "q3": {"d2": 1.0}}
    qrels = {q: {"d1": 2, "d2": 1, "x": 0} for q in one}
    measures = {"first": DCG([4, 1, 0]), "second": DCG([-1, 5, 0])}
    (found,) = compare_orderings(evaluate(qrels, {"two": two, "one": one}, measures))
    assert (found.first, found.second, found.tau, found.tau_ap) == ("first", "second", -1, -1)
    (pair,) = found.reversed_pairs
    assert (pair.ahead, pair.behind) == ("one", "two")
    assert (pair.first, pair.second) == pytest.approx((7 / 3, -7 / 3))
    assert pair.causes == ("q1", "q2")  # from 3 to -6, from 4 to -1; q3 does not differ
