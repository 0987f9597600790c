"""Other evaluators compute the same values under their rules; known differences are named."""

from __future__ import annotations

import gzip
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import dcg_score, ndcg_score

from dcglearn import DCG, LIKE, Rules, evaluate, index_qrels, ranked_arrays, read_qrels, score_runs
from helpers.exported import Qrels, Run
from helpers.places import DATA

ROBUST, GOLDEN = DATA / "trec" / "robust03", DATA / "trec" / "trec_eval"
FILES = (GOLDEN / "qrels.test", GOLDEN / "results.test")


def ours(qrels: Qrels, run: Run, name: str, rules: Rules) -> float:
    return float(evaluate(qrels, run, name, rules=rules).values.item())


def test_pytrec_eval_holds_scores_in_single_precision() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.1"}).evaluate(run)["q"]["ndcg_cut_1"]
    assert theirs == 0  # a tie there, and b is the larger id
    assert ours(qrels, run, "nDCG(linear-log2) @ 1", LIKE["trec_eval"]) == 0
    assert ours(qrels, run, "nDCG(linear-log2) @ 1", Rules("mean")) == 1


def test_pytrec_eval_counts_negative_grades_as_0() -> None:
    qrels, run = {"q": {"a": -1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)["q"]["ndcg"]
    assert ours(qrels, run, "nDCG(linear-log2)", LIKE["trec_eval"]) == pytest.approx(theirs)
    kept = ours(qrels, run, "nDCG(linear-log2)", Rules())
    assert kept == pytest.approx(theirs - 1 / 2)  # the bad document costs


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
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}
    found = evaluate(qrels, run, "nDCG(linear-log2)", rules="sklearn").values[0, 0, 0]
    assert found == pytest.approx(ndcg_score([[1, 0, 2]], [[1.0, 1.0, 0.5]]))


@pytest.mark.skipif(not ROBUST.is_dir(), reason="the Robust 2003 runs are not next to this project")
def test_robust03_as_pytrec_eval_and_ir_measures_compute_it() -> None:
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


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="needs the files of trec_eval")
def test_gains_that_differ_by_less_than_one() -> None:
    """trec_eval compares gains as whole numbers, so it computes 0 for ``-m ndcg.1=0.9``.

    The measure does not change when gains are multiplied by a positive number.
    """
    names = [f"nDCG({{1: {gain}, 0: 0}}, log2)" for gain in ("1", "0.9", "3")]
    means = evaluate(*FILES, names, rules="trec_eval").means()[0]
    assert means == pytest.approx([means[0]] * 3)
    printed = (GOLDEN / "out.test.meas_params").read_text().splitlines()
    theirs = {tuple(line.split()) for line in printed}
    assert ("ndcg_1=3,2=9,4=4.5", "all", f"{means[0]:.4f}") in theirs
