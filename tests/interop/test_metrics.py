"""Measures as objects that ir_measures, PyTerrier and scikit-learn call."""

from __future__ import annotations

import math
import sys
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import dcg_score, ndcg_score

from dcglearn import DCG, InputError, Rules, evaluate, export, ir_measure, sklearn_metric
from helpers.exported import GAINS, MEASURES, close, evaluated, executed, judged, trec

SHARP = [
    DCG({3: 2, 2: 1, 1: 0, 0: -1}, "log2", 6, "ideal"),
]


@pytest.mark.parametrize("measure", [*MEASURES, *SHARP], ids=str)
@pytest.mark.parametrize("ties", ["mean", "input", "docid"])
def test_the_measure_as_an_object_of_ir_measures(
    measure: DCG, ties: Any, rng: np.random.Generator
) -> None:
    qrels, run = judged(rng)
    asked = ir_measure(measure, ties)
    values = {m.query_id: m.value for m in ir_measures.iter_calc([asked], qrels, run)}
    close(values, evaluated(measure, qrels, run))
    mean = ir_measures.calc_aggregate([asked], qrels, run)[asked]
    assert mean == pytest.approx(np.mean(list(values.values())))


@pytest.mark.parametrize("ties", ["mean", "input", "docid"])
def test_dicts_tuples_and_frames_give_the_same_values(ties: Any, rng: np.random.Generator) -> None:
    qrels, run = judged(rng)
    run = {query: {d: score // 3 for d, score in found.items()} for query, found in run.items()}
    run["unknown"] = {"d1": 1.0}
    judgments = [ir_measures.Qrel(q, d, g) for q, found in qrels.items() for d, g in found.items()]
    scored = [ir_measures.ScoredDoc(q, d, s) for q, found in run.items() for d, s in found.items()]
    asked = [ir_measure(MEASURES[0], ties), ir_measure(MEASURES[3], ties)]
    found = []
    for some in (qrels, iter(judgments), pd.DataFrame(judgments)):
        evaluator = ir_measures.evaluator(asked, some)
        for theirs in (run, iter(scored), pd.DataFrame(scored)):
            values = {(m.measure, m.query_id): m.value for m in evaluator.iter_calc(theirs)}
            assert len(values) == 2 * len(qrels)
            found.append(values)
    assert all(values == found[0] for values in found)
    expected = evaluate(
        qrels, run, MEASURES[0], rules=Rules(ties, "nothing", single=ties == "docid")
    )
    mine = [found[0][asked[0], query] for query in expected.queries]
    assert mine == expected.values[0, 0].tolist()


def test_the_object_with_runs_that_share_no_query_with_the_qrels() -> None:
    asked = ir_measure(DCG({1: 1, 0: 0}))
    qrels = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    other = pd.DataFrame({"query_id": ["x"], "doc_id": ["a"], "score": [1.0]})
    for run in (other, other[:0]):
        assert ir_measures.calc_aggregate([asked], qrels, run)[asked] == 0


def test_ties_by_expectation_or_by_document() -> None:
    measure = DCG({1: 1, 0: 0}, "zipf")
    qrels, run = {"q": {"a": 1, "b": 0, "z": 0}}, {"q": {"a": 1.0, "b": 1.0, "z": 1.0, "y": 0.5}}
    expected = {"mean": (1 + 1 / 2 + 1 / 3) / 3, "docid": 1 / 3}  # trec_eval: z, b, a
    expected["input"] = 1.0  # a, b, z
    for ties, value in expected.items():
        asked = ir_measure(measure, ties)
        assert ir_measures.calc_aggregate([asked], qrels, run)[asked] == pytest.approx(value)
    near = {"q": {"a": 20.0000001, "b": 20.0}}  # equal in single precision
    first = DCG({1: 1, 0: 0}, "log2", 1, "ideal")
    asked = ir_measure(first, "docid")
    theirs = ir_measures.nDCG @ 1
    found = ir_measures.calc_aggregate([asked], qrels, near)[asked]
    assert found == ir_measures.calc_aggregate([theirs], qrels, near)[theirs] == 0
    assert ir_measures.calc_aggregate([it := ir_measure(first)], qrels, near)[it] == 1
    log2 = DCG({1: 1, 0: 0}, "log2", None, "ideal")
    asked = ir_measure(log2, "docid")
    assert ir_measures.calc_aggregate([asked], qrels, run)[asked] == pytest.approx(
        trec("ndcg", qrels, run)["q"]
    )


def test_the_object_with_the_frames_of_pyterrier() -> None:
    """Experiment renames the columns of its frames before it calls a measure."""
    module = executed(export(DCG({2: 1, 1: 0.65, 0: 0}, "zipf", 3, "ideal"), "pyterrier").text)
    asked = module["measure"]
    qrels = pd.DataFrame(
        {"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"], "relevance": [2, 1, 1]}
    )
    run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "a"], "score": [3.0, 2.0]})
    found = ir_measures.evaluator([asked], qrels).calc_aggregate(run)[asked]
    assert found == pytest.approx((0.65 + 1 / 2) / (1 + 0.65 / 2) / 2)


QRELS = pd.DataFrame({"query_id": ["1"], "doc_id": ["2"], "relevance": [1]})
RUN = pd.DataFrame({"query_id": ["1"], "doc_id": ["2"], "score": [3.0]})
TWICE = [ir_measures.ScoredDoc("1", "2", score) for score in (2.0, 1.0)]


@pytest.mark.parametrize(
    ("qrels", "run", "problem"),
    [
        ({"q": {"a": 7}}, {"q": {"a": 1.0}}, "grade 7 is off the scale"),
        ({"q": {"a": 1}}, {"q": {"a": math.nan}}, "an id or the score is missing"),
        (QRELS, pd.concat([RUN, RUN]), "the document 2 appears twice"),
        (QRELS, TWICE, "the document 2 appears twice"),
        (pd.concat([QRELS, QRELS]), RUN, "the document 2 appears twice"),
        (pd.concat([QRELS, QRELS]), {"1": {"2": 2.0}}, "the document 2 appears twice"),
        (QRELS.astype({"query_id": int}), RUN, "query_id 1 is not text"),
        (QRELS.astype({"doc_id": int}), RUN, "doc_id 2 is not text"),
    ],
)
def test_what_the_object_cannot_score(qrels: Any, run: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        ir_measures.calc_aggregate([ir_measure(DCG({1: 1, 0: 0}))], qrels, run)


def test_negative_ideals_and_unknown_ties_are_refused() -> None:
    with pytest.raises(InputError, match="reverses the order"):
        sklearn_metric(DCG([-1, -2], normalise="ideal"))([1, 0], [2, 1])
    with pytest.raises(InputError, match="unknown `ties` 'men'; did you mean 'mean'"):
        ir_measure(DCG([1, 0]), "men")


def test_ir_measures_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(InputError, match=r"pip install 'dcglearn\[evaluators\]'"):
        ir_measure(DCG([1, 0]))


# scikit-learn


@pytest.mark.parametrize(
    "measure",
    [
        DCG(GAINS, "log2", 5, "ideal"),
        DCG(GAINS, "log2", None, "ideal"),
        DCG({3: 1, 2: 0.5, 1: -1, 0: 0}, "log2", 4),
        DCG({"great": 1, "good": 0.6, "fair": 0.3, "bad": 0}, "log2", 4, "ideal"),
        DCG(GAINS, "rbp(0.5)", None, "ideal"),
        DCG({3: 1, 2: 0.5, 1: -1, 0: 0}, [1, 0.7, 0.5]),
    ],
    ids=str,
)
def test_a_metric_for_scikit_learn(measure: DCG, rng: np.random.Generator) -> None:
    grades = rng.integers(0, 4, (30, 8))
    scores = np.argsort(rng.random((30, 8)), axis=1).astype(float)
    labels = np.array(measure.grades or (3, 2, 1, 0))[grades]
    metric = executed(export(measure, "scikit-learn").text)["metric"]
    cut = DCG(measure.gains, measure.discounts, measure.n_ranks, measure.normalise)
    expected = cut.score(np.take_along_axis(grades, np.argsort(-scores, axis=1), 1))
    assert metric(labels, scores) == pytest.approx(expected.mean(), abs=1e-12)
    ours = sklearn_metric(measure)
    assert ours(labels, scores) == pytest.approx(expected.mean(), abs=1e-12)


@pytest.mark.parametrize("normalise", [None, "ideal"])
@pytest.mark.parametrize("k", [None, 3])
def test_tied_scores_as_in_scikit_learn(
    normalise: Any, k: int | None, rng: np.random.Generator
) -> None:
    labels, scores = rng.integers(0, 4, (40, 9)), rng.integers(0, 3, (40, 9))
    measure = DCG(GAINS, "log2", k, normalise)
    theirs = dcg_score if normalise is None else ndcg_score
    gains = np.vectorize(GAINS.get)(labels)
    expected = theirs(gains, scores, k=k)
    assert sklearn_metric(measure)(labels, scores) == pytest.approx(expected, abs=1e-12)
    exported = executed(export(measure, "scikit-learn").text)["metric"]
    assert exported(labels, scores) == pytest.approx(expected, abs=1e-12)
