"""Measures of runs, bounds for unjudged documents and rules, against slow enumerations."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import (
    DCG,
    ERR,
    LIKE,
    RBP,
    InputError,
    LinearUtility,
    MeasureFile,
    NamedMeasure,
    Ranked,
    Rules,
    Scale,
    evaluate,
    measure_for_documents,
    ranked_arrays,
    score_runs,
    write_measure,
)
from dcglearn.systems.scoring import unjudged_bounds

GAINS = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 1.0, 3.0]), min_size=3, max_size=3)
DISCOUNTS = st.lists(st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]), min_size=5, max_size=5)


def one_query(grades: list[int], pool: list[int], tied: list[int] | None = None) -> Ranked:
    group = None if tied is None else np.array(tied, int)
    return Ranked(np.array([0, len(grades)]), np.array(grades, int), np.array([pool]), group)


@given(
    grades=st.lists(st.integers(0, 3), max_size=5),
    cuts=st.lists(st.booleans(), min_size=5, max_size=5),
    gains=GAINS,
    discounts=DISCOUNTS,
    cutoff=st.sampled_from([None, 1, 3]),
    utility=st.booleans(),
)
def test_equal_scores_count_the_mean_over_their_orders(
    grades: list[int],
    cuts: list[bool],
    gains: list[float],
    discounts: list[float],
    cutoff: int | None,
    utility: bool,
) -> None:
    measure = DCG(gains, discounts, cutoff)
    W = measure.matrix_for(5)
    tied = np.cumsum(cuts[: len(grades)]).tolist()
    ranked = one_query(grades, [1, 1, 1], tied)
    every = permutations(range(len(grades)))
    orders = [order for order in every if [tied[i] for i in order] == tied]
    sums = [sum(W[k, min(grades[i], 2)] for k, i in enumerate(order)) for order in orders]
    expected = np.mean(sums)
    found = score_runs(LinearUtility(W) if utility else measure, ranked)
    assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(
    pool=st.lists(st.integers(0, 2), min_size=3, max_size=3),
    gains=GAINS,
    discounts=DISCOUNTS,
    cutoff=st.sampled_from([1, 2, 4]),
    grades=st.lists(st.integers(0, 2), min_size=1, max_size=3),
)
def test_the_ideal_is_the_best_of_all_runs(
    pool: list[int], gains: list[float], discounts: list[float], cutoff: int, grades: list[int]
) -> None:
    """A run may rank any documents at any ranks and leave out the others."""
    documents = [grade for grade, count in enumerate(pool) for _ in range(count)]
    reached = [0.0]
    for size in range(1, min(cutoff, len(documents)) + 1):
        for ranks in combinations(range(cutoff), size):
            reached += [
                sum(discounts[k] * gains[g] for k, g in zip(ranks, chosen, strict=True))
                for chosen in set(permutations(documents, size))
            ]
    high = max(reached)
    measure = DCG(gains, discounts, cutoff, "ideal")
    if max(gains) <= 0 > min(gains):
        with pytest.raises(InputError, match="no gain above 0: the ideal is 0; correct the grades"):
            score_runs(measure, one_query(grades, pool))
        return
    plain = score_runs(measure.plain(), one_query(grades, pool))[0]
    found = score_runs(measure, one_query(grades, pool), worthless=7.0)[0]
    assert found == pytest.approx(plain / high if high else 7.0, abs=1e-9)


@settings(max_examples=100)
@given(
    grades=st.lists(st.integers(0, 3), max_size=5),
    cuts=st.lists(st.booleans(), min_size=5, max_size=5),
    pool=st.lists(st.integers(0, 2), min_size=3, max_size=3),
    gains=st.sampled_from([(2, 1, 0), (1, 0, 0), (3, 2, 1), (0, 5, 4), (0, 0, 0), (9, 0.1, 0)]),
    discounts=st.sampled_from(["log2", "zipf", (0.2, 1.0, 0.0, 0.5, 0.9)]),
    cutoff=st.sampled_from([None, 1, 3]),
    worthless=st.sampled_from([0.0, 1.0, np.nan]),
)
def test_bounds_are_the_extremes_over_all_grades_of_unjudged_documents(
    grades: list[int],
    cuts: list[bool],
    pool: list[int],
    gains: tuple[float, ...],
    discounts: str | tuple[float, ...],
    cutoff: int | None,
    worthless: float,
) -> None:
    counts = [max(n, grades.count(g)) for g, n in enumerate(pool)]
    tied = list(np.cumsum(cuts[: len(grades)]) - cuts[0])
    for form in ("ideal", None):
        measure = DCG(gains, discounts, cutoff, form)
        low, high = unjudged_bounds(measure, one_query(grades, counts, tied), worthless)
        reached = []
        for filled in product(range(3), repeat=grades.count(3)):
            rest = iter(filled)
            known = [next(rest) if grade == 3 else grade for grade in grades]
            more = [n + filled.count(g) for g, n in enumerate(counts)]
            reached.append(score_runs(measure, one_query(known, more, tied), None, worthless)[0])
        sure = [value for value in reached if not np.isnan(value)] or [np.nan]
        extremes = min(sure), max(sure)
        assert [low[0], high[0]] == pytest.approx(extremes, abs=1e-12, nan_ok=True)


def test_rules_for_documents_without_a_judgment() -> None:
    ranked = one_query([3, 0, 3, 1], [1, 1, 1])
    assert "grades=<int64, shape (4,)>" in repr(ranked)
    measure = DCG([4, 2, 1], "zipf")
    assert score_runs(measure, ranked)[0] == pytest.approx(1 + 2 + 1 / 3 + 0.5)
    assert score_runs(measure, ranked, 0.0)[0] == pytest.approx(2 + 0.5)
    assert score_runs(measure, ranked.keep(ranked.grades < 3))[0] == pytest.approx(4 + 1)
    tied = one_query([3, 0, 1, 3, 0], [2, 1, 0], [0, 1, 1, 1, 2])
    tied = tied.keep(tied.grades < 3)
    assert score_runs(measure, tied)[0] == pytest.approx(3 + 3 / 2 + 4 / 3)  # ties stay
    assert ranked.judged_share().tolist() == [0.5]
    assert ranked.judged_share(1).tolist() == [0.0]
    # Counted as the worst grade, they are part of the ideal as well: no value exceeds 1.
    whole = DCG([4, 2, 1], "zipf", None, "ideal")
    assert score_runs(whole, one_query([0, 1, 3, 3], [1, 1, 0]))[0] == 1.0


QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 0}, "q3": {"c": 1}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}, "q9": {"a": 1.0}}


def of(rules: Rules, *names: str) -> np.ndarray:
    return evaluate(QRELS, RUN, names, rules=rules).values[0]


def test_rules_for_queries() -> None:
    name = "nDCG(linear-log2)"
    half = 1 / np.log2(3)
    np.testing.assert_allclose(of(Rules(), name)[0], [half, 0, 0])
    np.testing.assert_allclose(of(Rules(worthless=1.0), name)[0], [half, 1, 0])
    np.testing.assert_allclose(of(Rules(worthless=None), name)[0], [half, np.nan, 0])
    np.testing.assert_allclose(of(Rules(missing=None), name)[0], [half, 0, np.nan])
    np.testing.assert_allclose(of(LIKE["ranx"], "DCG({2: 1, 1: 0.5, 0: 0}, zipf)")[0], [0.5, 0, 0])
    zipf = NamedMeasure("zipf", DCG([1, 0, 0], "zipf"))
    found = evaluate(QRELS, RUN, zipf, rules=Rules(worthless=None))
    assert found.missing.tolist() == [[False, False, True]]
    assert found.extra == (("q9",),)
    assert found.means()[0, 0] == pytest.approx(0.5 / 3)
    utility = NamedMeasure("w", LinearUtility(np.ones((2, 3))))
    with pytest.raises(InputError, match="w: no bounds for position-dependent weights"):
        evaluate(QRELS, RUN, utility, rules=Rules(unjudged="bounds"))


def with_unjudged(gains: list[int]) -> tuple[Any, Any, Any]:
    """Qrels of grade indices, two runs that share unjudged documents, and whose these are."""
    rng = np.random.default_rng(len(gains))
    qrels = {
        f"q{q}": {f"d{d}": int(rng.integers(0, len(gains))) for d in range(rng.integers(1, 5))}
        for q in range(6)
    }
    runs: dict[str, Any] = {"one": {}, "two": {}}
    for run in runs.values():
        for q, judged in qrels.items():
            new = rng.choice(["x", "y", "z", "v"], rng.integers(0, 3), replace=False).tolist()
            order = rng.permutation([*judged, *new]).tolist()
            run[q] = {document: float(score) for score, document in enumerate(order)}
    own = {name: {q: set(run[q]) - set(qrels[q]) for q in qrels} for name, run in runs.items()}
    union = {q: sorted(own["one"][q] | own["two"][q]) for q in qrels}
    return qrels, runs, {"own": own, "all": {"one": union, "two": union}}


def their_ndcg(qrels: Any, run: Any, gains: list[int], cutoff: int) -> dict[str, float]:
    """trec_eval's values, with gains written into the qrels."""
    written = {q: {d: gains[g] for d, g in judged.items()} for q, judged in qrels.items()}
    found = pytrec_eval.RelevanceEvaluator(written, {f"ndcg_cut.{cutoff}"}).evaluate(run)
    return {q: one[f"ndcg_cut_{cutoff}"] for q, one in found.items()}


@pytest.mark.parametrize("cutoff", [2, 5])
@pytest.mark.parametrize("pool", ["all", "own"])
def test_bounds_over_the_unjudged_documents_of_all_runs(pool: Any, cutoff: int) -> None:
    """Against trec_eval under every assignment of grades."""
    gains = [2, 1, 0]
    qrels, runs, unjudged = with_unjudged(gains)
    graded = {q: {d: 2 - g for d, g in judged.items()} for q, judged in qrels.items()}
    rules = Rules(unjudged="bounds", pool=pool)
    found = evaluate(graded, runs, f"nDCG(linear-log2) @ {cutoff}", rules=rules, scale="2,1,0")
    assert found.high is not None
    for s, (name, run) in enumerate(runs.items()):
        for q, query in enumerate(found.queries):
            new = unjudged[pool][name][query]
            filled = {
                f"{i}": {**qrels[query], **dict(zip(new, grades, strict=True))}
                for i, grades in enumerate(product(range(3), repeat=len(new)))
            }
            values = their_ndcg(filled, dict.fromkeys(filled, run[query]), gains, cutoff).values()
            bounds = [found.values[s, 0, q], found.high[s, 0, q]]
            assert bounds == pytest.approx([min(values), max(values)], abs=1e-9)


@pytest.mark.parametrize("pool", ["all", "own"])
def test_a_query_has_one_ideal_for_all_runs(pool: Any) -> None:
    """Gains 2, 1, .5 and .1: documents without a judgment gain something, and enter the ideal."""
    gains = [20, 10, 5, 1]
    qrels, runs, unjudged = with_unjudged(gains)
    graded = {q: {d: 3 - g for d, g in judged.items()} for q, judged in qrels.items()}
    measure = "nDCG({3: 2, 2: 1, 1: 0.5, 0: 0.1}, log2) @ 5"
    rules = Rules(unjudged="worst", pool=pool)
    found = evaluate(graded, runs, measure, rules=rules, scale="3,2,1,0")
    for s, (name, run) in enumerate(runs.items()):
        filled = {
            q: {**qrels[q], **dict.fromkeys(unjudged[pool][name][q], 3)} for q in found.queries
        }
        expected = their_ndcg(filled, run, gains, 5)
        assert found.values[s, 0] == pytest.approx([expected[q] for q in found.queries], abs=1e-9)
    rules = replace(rules, pool=None)
    default = evaluate(graded, runs, measure, rules=rules, scale="3,2,1,0").values
    assert (default == found.values).all() == (pool == "all")


def test_a_measure_must_cover_the_grades() -> None:
    scale = Scale((3, 1, 0))
    more = measure_for_documents("nDCG({3: 9, 2: 4, 1: 1, 0: 0}, log2) @ 7", scale, 10).measure
    assert str(more) == "nDCG({3: 9, 1: 1, 0: 0}, log2) @ 7"
    cut = measure_for_documents("nDCG(rbp:0.5 @ 3)", scale, 10).measure
    assert str(cut).startswith("nDCG({3: 1")
    with pytest.raises(InputError, match="cutoff"):
        measure_for_documents("DCG({3: 2, 1: 1, 0: 0}, [1, 0.5]) @ 5", scale, 10)


def test_the_judged_share_averages_over_ties() -> None:
    assert one_query([0, 2], [1, 0], [0, 0]).judged_share(1).tolist() == [0.5]


def test_long_ties_keep_the_order_of_the_input() -> None:
    """Unstable sorts differ from stable ones only on longer rows."""
    scores = np.zeros((1, 100))
    scores[0, 50:] = 1
    grades = np.arange(100)[None]
    found = ranked_arrays(grades, scores, 100, ties="input").grades
    assert found.tolist() == [*range(50, 100), *range(50)]
    with pytest.raises(InputError, match="unknown `ties` 'docid'"):
        ranked_arrays(grades, scores, 100, ties="docid")


def test_many_arrays(rng: np.random.Generator) -> None:
    n = 10_000
    grades, scores = rng.integers(0, 3, (n, 50)), rng.random((n, 50))
    scores[-1] = 0.5  # all equal in the last row alone
    measure = DCG([1.0, 0.3, 0.0], "log2", 5, "ideal")
    found = score_runs(measure, ranked_arrays(grades, scores, 3, 5))
    for i in (0, n // 2, n - 1):
        alone = ranked_arrays(grades[[i]], scores[[i]], 3, 5)
        assert score_runs(measure, alone).tolist() == [found[i]]
    for at, column, wrong in ((n - 2, scores, np.nan), (n - 2, scores, np.inf), (n - 1, grades, 3)):
        kept, column[at, 3] = column[at, 3], wrong
        with pytest.raises(InputError, match=f"row {at}: "):
            ranked_arrays(grades, scores, 3, 5)
        column[at, 3] = kept
    with pytest.raises(InputError, match="`top` is 0"):
        ranked_arrays(grades, scores, 3, 0)


def test_score_runs_takes_every_measure_that_evaluate_takes(tmp_path: Path) -> None:
    qrels = {"q": {"a": 2, "b": 1, "c": 0, "d": 1}}
    run = {"q": {"b": 4.0, "a": 3.0, "c": 2.0, "e": 1.0}}
    ranked = Ranked(np.array([0, 4]), np.array([1, 0, 2, 3]), np.array([[1, 2, 1]]))
    own = {"good": 1, "fair": 0.5, "bad": 0}
    write_measure(DCG({2: 1, 1: 0.4, 0: 0}), tmp_path / "m.json")
    for measure in (
        "nDCG@3",
        f"ERR({tmp_path / 'm.json'})@2",
        MeasureFile(DCG([1, 0.4, 0])),
        NamedMeasure("mine", DCG([1, 0.4, 0])),
        LinearUtility([[1, 0.5, 0], [0.5, 0.2, 0]]),
        ERR({2: 0.9, 1: 0.3, 0: 0}),
        RBP(p=0.5),
        ir_measures.RR,
    ):
        expected = evaluate(qrels, run, measure).values[0, 0]
        assert score_runs(measure, ranked, 0.0) == pytest.approx(expected), measure
    assert score_runs(ERR(own), ranked) == score_runs(ERR([1, 0.5, 0]), ranked)
    with pytest.raises(InputError, match="2 gains, but the documents have 3 grades"):
        score_runs(ERR([1, 0]), ranked)
    with pytest.raises(InputError, match="a measure of type int"):
        score_runs(3, ranked)  # type: ignore[arg-type]
