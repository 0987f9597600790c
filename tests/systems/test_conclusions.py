"""Conclusions about systems: verdicts on single queries, the test beside them, --between, files."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    DCG,
    LIKE,
    Evaluation,
    InputError,
    Rules,
    coherence_rules,
    evaluate,
    system_conclusions,
)
from dcglearn.systems.conclusions import named_pair
from dcglearn.systems.paired_tests import tukey_test

K = 4
GAINS = {3: 3.0, 2: 2.0, 1: 1.0, 0: 0.0}


def drawn_collection(rng: np.random.Generator, n_systems: int = 5) -> tuple[Any, Any]:
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(0, 4)) for d in range(9)} for q in range(12)}
    runs = {
        f"system {s}": {
            q: {f"d{d}": float(rng.random()) + s / 9 * judged.get(f"d{d}", 0) for d in range(11)}
            for q, judged in qrels.items()
            if (s, q) not in ((0, "q3"), (2, "q0"))
        }
        for s in range(n_systems)
    }
    return qrels, runs


def evaluated(qrels: Any, runs: Any, rules: Rules) -> Evaluation:
    return evaluate(qrels, runs, DCG(GAINS, "log2", K, "ideal"), rules=coherence_rules(rules))


@pytest.mark.parametrize("rules", [Rules(), LIKE["trec_eval"], Rules(unjudged="removed")])
def test_queries_by_themselves_against_all_gains_that_are_tried(
    rules: Rules, rng: np.random.Generator
) -> None:
    """No gains reverse a decided query, and some extreme ones reverse each that depends."""
    qrels, runs = drawn_collection(rng)
    evaluation = evaluated(qrels, runs, rules)
    pairs = system_conclusions(evaluation, K, rng).pairs
    extreme = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    drawn = np.sort(rng.random((40, 3)))[:, ::-1].tolist()
    signs: dict[tuple[str, str, str], set[int]] = {}
    for gains in extreme + drawn:
        measure = DCG(dict(zip(GAINS, [*gains, 0], strict=True)), "log2", K)
        values = evaluate(qrels, runs, measure, rules=evaluation.rules).values[:, 0]
        for i, j in combinations(range(len(runs)), 2):
            names = evaluation.systems[i], evaluation.systems[j]
            difference = np.round(values[i] - values[j], 12)
            for query, one in zip(evaluation.queries, difference, strict=True):
                signs.setdefault((*names, query), set()).add(0 if np.isnan(one) else np.sign(one))
    seen = set()
    for one in pairs:
        for query, winner in zip(evaluation.queries, one.query_winners, strict=True):
            found = signs[one.a, one.b, query]
            left_out = rules.missing is None and not all(
                query in runs[name] for name in (one.a, one.b)
            )
            assert (winner is None) == left_out
            seen.add(winner)
            if winner is not None:
                expected = {"a": {1}, "b": {-1}, "equal": set(), "depends": {1, -1}}[winner]
                assert found - {0} == expected, (one.a, one.b, query)
    assert seen >= {"a", "b", "depends"}
    assert (None in seen) == (rules.missing is None)


def test_the_test_is_tukeys_and_its_direction_is_that_of_the_verdict(
    rng: np.random.Generator,
) -> None:
    qrels, runs = drawn_collection(rng)
    evaluation = evaluated(qrels, runs, Rules())
    found = system_conclusions(evaluation, K, np.random.default_rng(4), alpha=0.2)
    p, drawn = tukey_test(evaluation.values[:, 0][None], np.random.default_rng(4))
    assert [one.p for one in found.pairs] == p[0].tolist()
    assert found.drawn == drawn
    means = dict(zip(evaluation.systems, evaluation.means()[:, 0], strict=True))
    for one in found.pairs:
        assert one.difference == pytest.approx(means[one.a] - means[one.b])
        assert one.significant == (one.p < 0.2)
        winner = one.mean_ndcg.winner
        assert one.decided == (winner in ("a", "b"))
        if one.decided:
            assert one.leader == winner
            assert one.difference * (1 if winner == "a" else -1) > 0
            assert one.ahead == {"a": one.a, "b": one.b}[winner]
        agreeing = sum(x == one.leader for x in one.query_winners)
        assert one.agreeing == agreeing / len(evaluation.queries)
        assert one.n_queries() == len(evaluation.queries)
    assert len(found.pairs) == 10
    assert {one.significant for one in found.pairs} == {True, False}
    assert {one.holds_for for one in found.pairs} >= {"nDCG any gains, DCG both", "depends"}


def test_an_exact_p_of_two_systems() -> None:
    """One is ahead on five of six queries: 2 (1 + 6) of the 64 signs are as far from 0."""
    qrels = {f"q{i}": {"good": 1, "bad": 0} for i in range(6)}
    best, worst = {"good": 2.0, "bad": 1.0}, {"bad": 2.0, "good": 1.0}
    runs = {
        "one": {q: worst if q == "q5" else best for q in qrels},
        "two": {q: best if q == "q5" else worst for q in qrels},
    }
    found = system_conclusions(evaluate(qrels, runs, "nDCG@2", rules=Rules("input")), 2, RNG())
    (one,) = found.pairs
    assert (one.p, found.drawn, one.significant) == (14 / 64, 0, False)
    assert (one.ahead, one.holds_for, one.agreeing) == ("one", "nDCG any gains, DCG both", 5 / 6)


def test_a_difference_in_favour_of_the_other_system_is_not_significant() -> None:
    """By its mean "first" is ahead; on the queries that both answer, where it is tested, behind."""
    qrels = {f"q{i:02}": {"good": 1, "bad": 0} for i in range(20)}
    runs = {
        "first": {q: {"bad": 2.0, "good": 1.0} for q in list(qrels)[:8]},
        "second": {q: {"good" if q < "q08" else "bad": 1.0} for q in qrels},
    }
    rules = Rules("input", missing=None)
    (one,) = system_conclusions(evaluate(qrels, runs, "nDCG@2", rules=rules), 2, RNG()).pairs
    assert (one.ahead, one.decided, one.p) == ("first", True, 2 / 2**8)
    assert one.difference == pytest.approx(1 / np.log2(3) - 8 / 20)
    assert one.significant is False


def RNG() -> np.random.Generator:
    return np.random.default_rng(0)


def test_pairs_by_name(rng: np.random.Generator) -> None:
    qrels, runs = drawn_collection(rng)
    evaluation = evaluated(qrels, runs, Rules())
    every = system_conclusions(evaluation, K, RNG())
    asked = [("system 4", "system 1"), ("system 0", "system 2")]
    some = system_conclusions(evaluation, K, RNG(), between=asked)
    assert [(one.a, one.b) for one in some.pairs] == asked
    by_names = {frozenset((one.a, one.b)): one for one in every.pairs}
    for one in some.pairs:
        other = by_names[frozenset((one.a, one.b))]
        turned = other.a != one.a
        assert (one.p, one.significant, one.ahead) == (other.p, other.significant, other.ahead)
        assert one.holds_for == other.holds_for
        assert one.difference == (-other.difference if turned else other.difference)
        low, high = other.mean_ndcg.bounds
        assert one.mean_ndcg.bounds == pytest.approx((-high, -low) if turned else (low, high))
        assert one.agreeing == other.agreeing


def test_equal_systems_and_one_query() -> None:
    qrels = {"q": {"good": 2, "fair": 1, "bad": 0}}
    run = {"q": {"good": 2.0, "bad": 1.0}}
    rules = Rules("input")
    found = system_conclusions(
        evaluate(qrels, {"one": run, "two": run}, "nDCG@2", rules=rules), 2, RNG()
    )
    (one,) = found.pairs
    assert not found.tested
    assert (one.holds_for, one.ahead, one.significant) == ("equal", None, None)
    assert np.isnan(one.agreeing)
    assert np.isnan(one.p)
    assert replace(one, difference=1e-17).leader is None, "rounding puts no system ahead"


def test_frame_and_json_hold_the_same(rng: np.random.Generator) -> None:
    qrels, runs = drawn_collection(rng)
    found = system_conclusions(evaluated(qrels, runs, Rules()), K, RNG())
    frame = found.to_frame()
    assert not {"mean_ndcg_least", "mean_ndcg_most"} & {*frame}  # where a search happened to end
    assert len(frame) == len(found.pairs) == 10
    for row, pair in zip(frame.to_dict("records"), found.pairs, strict=True):
        one = pair.to_json()
        assert one.items() >= {k: v for k, v in row.items() if v == v}.items()
        assert row["mean_ndcg_any_gains"] == pair.mean_ndcg.winner
        counts = [row[f"queries_{kind}"] for kind in ("a", "b", "depend", "equal")]
        assert sum(counts) == row["queries"] == 12
        if row["mean_ndcg_any_gains"] == "depends":
            assert [*one["witnesses"]["mean_ndcg_any_gains"]] == ["a", "b"]


def test_names_that_hold_commas() -> None:
    assert named_pair("a, b", ["a", "b"]) == ("a", "b")
    assert named_pair("x,y,z", ["x", "y,z"]) == ("x", "y,z")
    with pytest.raises(InputError, match="'x,y,z' is not one pair of systems; write A,B"):
        named_pair("x,y,z", ["x", "y,z", "x,y", "z"])
