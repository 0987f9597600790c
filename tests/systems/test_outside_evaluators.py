"""Other evaluators compute the same values under their rules; known differences are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import dcg_score, ndcg_score

from dcglearn import (
    DCG,
    LIKE,
    Rules,
    evaluate,
    index_qrels,
    measure_for_documents,
    qrels_of,
    ranked_arrays,
    read_qrels,
    run_of,
    score_runs,
)
from helpers.places import ROOT

ROBUST = ROOT.parent / "shared" / "data" / "trec" / "robust03"
Dicts = dict[str, dict[str, Any]]


@pytest.fixture
def drawn() -> tuple[Dicts, Dicts]:
    """Qrels and a run with tied scores, unjudged documents, a missing and a worthless query."""
    rng = np.random.default_rng(1)
    qrels: Dicts = {
        f"q{q}": {f"d{d}": int(rng.choice([0, 0, 0, 1, 2])) for d in rng.permutation(60)[:30]}
        for q in range(25)
    }
    qrels["q3"] = dict.fromkeys(qrels["q3"], 0)
    run: Dicts = {
        q: {f"d{d}": float(rng.choice([0.5, 1.0, 1.5, 2.0, rng.random()])) for d in range(0, 60, 2)}
        for q in qrels
        if q != "q7"
    }
    return qrels, run


def ours(qrels: Dicts, run: Dicts, name: str, rules: Rules) -> dict[str, float]:
    known = index_qrels(qrels_of(qrels))
    found = evaluate(
        known, [run_of(run)], [measure_for_documents(name, known.scale, 60)], rules=rules
    )
    return {
        query: value
        for query, value in zip(found.queries, found.values[0, 0].tolist(), strict=True)
        if not np.isnan(value)
    }


@pytest.mark.parametrize("cutoff", [None, 1, 10])
def test_pytrec_eval(drawn: tuple[Dicts, Dicts], cutoff: int | None) -> None:
    their = "ndcg" if cutoff is None else f"ndcg_cut_{cutoff}"
    asked = "ndcg" if cutoff is None else f"ndcg_cut.{cutoff}"
    expected = pytrec_eval.RelevanceEvaluator(drawn[0], {asked}).evaluate(drawn[1])
    cut = "" if cutoff is None else f" @ {cutoff}"
    found = ours(*drawn, f"nDCG(linear-log2){cut}", LIKE["trec_eval"])
    assert found == pytest.approx({q: one[their] for q, one in expected.items()}, abs=1e-9)
    assert "q7" not in found  # trec_eval averages over the queries of the run
    mine = ours(*drawn, f"nDCG(linear-log2){cut}", Rules("mean"))
    assert any(abs(mine[q] - found[q]) > 1e-3 for q in found)  # its order of ties is one of many


def test_pytrec_eval_holds_scores_in_single_precision() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.1"}).evaluate(run)["q"]["ndcg_cut_1"]
    assert theirs == 0  # a tie there, and b is the larger id
    assert ours(qrels, run, "nDCG(linear-log2) @ 1", LIKE["trec_eval"])["q"] == 0
    assert ours(qrels, run, "nDCG(linear-log2) @ 1", Rules("mean"))["q"] == 1


def test_pytrec_eval_counts_negative_grades_as_0() -> None:
    qrels, run = {"q": {"a": -1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)["q"]["ndcg"]
    assert ours(qrels, run, "nDCG(linear-log2)", LIKE["trec_eval"])["q"] == pytest.approx(theirs)
    kept = ours(qrels, run, "nDCG(linear-log2)", Rules())["q"]
    assert kept == pytest.approx(theirs - 1 / 2)  # the bad document costs


def test_ir_measures(drawn: tuple[Dicts, Dicts]) -> None:
    for measure, name in (
        (ir_measures.nDCG @ 10, "nDCG(linear-log2) @ 10"),
        (ir_measures.nDCG(gains={1: 5, 2: 7}), "nDCG({2: 7, 1: 5, 0: 0}, log2)"),
    ):
        expected = {m.query_id: m.value for m in ir_measures.iter_calc([measure], *drawn)}
        found = ours(*drawn, name, LIKE["ir_measures"])
        assert found == pytest.approx(expected, abs=1e-9)
        assert found["q7"] == 0  # it counts queries that are missing


def test_ranx(ranx: Any, drawn: tuple[Dicts, Dicts]) -> None:
    qrels, run = drawn
    kept = {q: docs for q, docs in qrels.items() if q in run}
    rng = np.random.default_rng(2)
    strict = {q: {d: s + 1e-6 * rng.random() for d, s in docs.items()} for q, docs in run.items()}
    for metric, name in (
        ("ndcg@10", "nDCG(linear-log2) @ 10"),
        ("ndcg_burges@10", "nDCG(exponential-log2) @ 10"),
        ("ndcg", "nDCG(linear-log2)"),
    ):
        theirs = ranx.evaluate(ranx.Qrels(kept), ranx.Run(strict), metric)
        found = ours(kept, strict, name, LIKE["ranx"])
        assert np.mean(list(found.values())) == pytest.approx(theirs, abs=1e-9)


def test_scikit_learn(rng: np.random.Generator) -> None:
    grades, scores = rng.integers(0, 4, (40, 15)), rng.integers(0, 6, (40, 15)) / 2.0
    gains = np.array([3.5, 1.25, 0.5, 0.0])
    for cutoff in (None, 5):
        for form, theirs in (("ideal", ndcg_score), (None, dcg_score)):
            measure = DCG(gains, "log2", cutoff, form)
            found = score_runs(measure, ranked_arrays(grades, scores, 4, cutoff))
            expected = [
                theirs(gains[[row]], s[None], k=cutoff)
                for row, s in zip(grades, scores, strict=True)
            ]
            assert found == pytest.approx(expected, abs=1e-9)
    whole = ranked_arrays(grades, scores, 4)
    top = ranked_arrays(grades, scores, 4, 5)
    measure = DCG(gains, "zipf", 5)
    assert score_runs(measure, top) == pytest.approx(score_runs(measure, whole), abs=1e-12)
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}
    found = evaluate(qrels, run, "nDCG(linear-log2)", rules="sklearn").values[0, 0, 0]
    assert found == pytest.approx(ndcg_score([[1, 0, 2]], [[1.0, 1.0, 0.5]]))


@pytest.mark.skipif(not ROBUST.is_dir(), reason="the Robust 2003 runs are not next to this project")
def test_robust03_as_pytrec_eval_and_ir_measures_compute_it() -> None:
    import gzip

    with gzip.open(ROBUST / "qrels.gz", "rt") as file:
        qrels = pytrec_eval.parse_qrel(file)
    known = index_qrels(read_qrels(ROBUST / "qrels.gz"))
    names = ["nDCG(linear-log2)", "nDCG(linear-log2) @ 10"]
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut.10"})
    paths: list[Path] = sorted(ROBUST.glob("input.*.gz"))
    for path in paths:
        with gzip.open(path, "rt") as file:
            run = pytrec_eval.parse_run(file)
        expected = evaluator.evaluate(run)
        found = evaluate(known, path, names, rules="trec_eval")
        for query, *values_of in zip(found.queries, *found.values[0].tolist(), strict=True):
            theirs = [expected[query]["ndcg"], expected[query]["ndcg_cut_10"]]
            assert values_of == pytest.approx(theirs, abs=1e-9), (path.name, query)
    counted = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)
    mean = evaluate(known, path, names[1:], rules="ir_measures").means()[0, 0]
    assert mean == pytest.approx(counted[ir_measures.nDCG @ 10], abs=1e-9)
