"""LambdaRank under any DCG, and measures exported to LightGBM and XGBoost, which train here."""

from __future__ import annotations

import math
import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import pytest

from dcglearn import (
    DCG,
    InputError,
    LinearUtility,
    export,
    lambdarank_objective,
    ranking_metric,
    sklearn_metric,
)
from dcglearn.interop.metrics import DOCUMENTS_AT_ONCE
from helpers.exported import executed

EXPONENTIAL = DCG({4: 15, 3: 7, 2: 3, 1: 1, 0: 0}, "log2", None, "ideal")
MEASURES = [
    EXPONENTIAL,
    DCG({4: 1, 3: 0.6, 2: 0.6, 1: 0.1, 0: 0}, [1, 0.44, 0.48, 0.38, 0.27], None, "ideal"),
    DCG({4: 0.2, 3: 1, 2: 0.1, 1: 0, 0: 0.5}, "zipf", 3, "ideal"),
    DCG({4: 2, 3: 1, 2: 0, 1: -0.5, 0: -1}, [0.3, 1, -0.2], 3),
    DCG({4: 3, 3: 2, 2: 1, 1: 0.5, 0: 0}, "rbp(0.8)"),
    DCG({4: 3, 3: 2, 2: 1, 1: 0.5, 0: 0}, "constant", 4),
]


def drawn(
    rng: np.random.Generator, n_queries: int = 30, noise: float = 1.0
) -> tuple[Any, Any, Any, Any]:
    """Features, labels, scores (some equal) and query sizes."""
    sizes = rng.integers(1, 13, n_queries)
    X = rng.normal(size=(int(sizes.sum()), 4))
    labels = np.digitize(X[:, 0] + noise * rng.normal(size=len(X)), [-0.5, 0.3, 0.9, 1.5])
    return X, labels, rng.normal(size=len(X)).round(1), sizes


def by_loops(
    measure: DCG, labels: Any, scores: Any, sizes: Any, sigma: float, norm: bool
) -> tuple[Any, Any]:
    """As the formulas say, a pair at a time."""
    gain = dict(zip(measure.grades or (), measure.gains, strict=True))
    index = {grade: i for i, grade in enumerate(measure.grades or ())}
    gradients, hessians = np.zeros((2, len(labels)))
    end = 0
    for size in sizes:
        begin, end = end, end + size
        order = sorted(range(begin, end), key=lambda i: -scores[i])  # equal scores as in the file
        rank = {i: r for r, i in enumerate(order)}
        kept = size if measure.n_ranks is None else min(size, measure.n_ranks)
        c = np.append(measure.discounts_for(kept), np.zeros(size - kept))
        pool = [index[labels[i]] for i in range(begin, end)]
        span = 1.0
        if measure.normalise:
            span = float(measure.ideal(pool))
        total, spread = 0.0, max(scores[begin:end]) != min(scores[begin:end])
        own, curved = dict.fromkeys(order, 0.0), dict.fromkeys(order, 0.0)
        for i in order:
            for j in order:
                if gain[labels[i]] <= gain[labels[j]] or not span:
                    continue
                delta = (gain[labels[i]] - gain[labels[j]]) * (c[rank[i]] - c[rank[j]]) / span
                weight = abs(delta)
                if norm and spread:
                    weight /= 0.01 + abs(scores[i] - scores[j])
                rho = 1 / (1 + math.exp(sigma * (scores[i] - scores[j])))
                for document, sign in ((i, -1), (j, 1)):
                    own[document] += sign * sigma * weight * rho
                    curved[document] += sigma**2 * weight * rho * (1 - rho)
                total += 2 * sigma * weight * rho
        factor = math.log2(1 + total) / total if norm and total else 1.0
        for i in order:
            gradients[i], hessians[i] = factor * own[i], factor * curved[i]
    return gradients, hessians


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_gradients_are_those_of_plain_loops(
    measure: DCG, norm: bool, rng: np.random.Generator
) -> None:
    _, labels, scores, sizes = drawn(rng)
    objective = lambdarank_objective(measure, 1.7, norm)
    found = objective(labels, scores, None, sizes)
    expected = by_loops(measure, labels, scores, sizes, 1.7, norm)
    assert np.abs(expected[0]).max() > 0.01
    for own, other in zip(found, expected, strict=True):
        assert own == pytest.approx(other, abs=1e-12)


def test_long_queries_are_computed_in_parts(rng: np.random.Generator) -> None:
    n = 3000
    assert n**2 > 50 * DOCUMENTS_AT_ONCE
    labels, scores = rng.integers(0, 5, n), rng.normal(size=n)
    objective = lambdarank_objective(EXPONENTIAL)
    tracemalloc.start()
    gradients, hessians = objective(labels, scores, None, [n])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n**2  # an array of all pairs would take eight times that
    cut = by_loops(EXPONENTIAL, labels[:200], scores[:200], [200], 1.0, True)
    first = objective(labels[:200], scores[:200], None, [200])
    assert first[0] == pytest.approx(cut[0], abs=1e-12)
    assert gradients.sum() == pytest.approx(0, abs=1e-9)
    assert (hessians > 0).all()


# LightGBM


QUIET = {"verbosity": -1, "num_threads": 1, "num_leaves": 5, "min_data_in_leaf": 5}


@pytest.mark.parametrize("norm", [False, True])
def test_lightgbm_learns_what_its_own_lambdarank_learns(
    norm: bool, rng: np.random.Generator
) -> None:
    X, labels, _, sizes = drawn(rng, 60)
    gains = [0, 0.5, 0.5, 2, 3]
    measure = DCG({4: 3, 3: 2, 2: 0.5, 1: 0.5, 0: 0}, "log2", None, "ideal")
    theirs = {"objective": "lambdarank", "lambdarank_norm": norm, "label_gain": gains}
    scores = [
        lightgbm.train({**QUIET, **params}, lightgbm.Dataset(X, labels, group=sizes), 30).predict(
            X, raw_score=True
        )
        for params in (
            {**theirs, "sigmoid": 1.5, "lambdarank_truncation_level": 100},
            {"objective": lambdarank_objective(measure, 1.5, norm)},
        )
    ]
    assert np.ptp(scores[0]) > 1
    assert scores[1] == pytest.approx(scores[0], abs=1e-3)  # its sigmoid is a table


@pytest.mark.filterwarnings("ignore:The arg:FutureWarning")  # eval_set: 4.6 has nothing else
def test_everything_of_lightgbm_that_takes_an_objective_or_a_metric(
    rng: np.random.Generator,
) -> None:
    X, labels, _, sizes = drawn(rng, 60)
    objective, metric = lambdarank_objective(MEASURES[1]), ranking_metric(MEASURES[1])
    third = ranking_metric(MEASURES[0] @ 3, name="third")
    data = lightgbm.Dataset(X, labels, group=sizes, free_raw_data=False)
    found: dict[str, Any] = {}
    booster = lightgbm.train(
        {**QUIET, "objective": objective},
        data,
        8,
        valid_sets=[data],
        valid_names=["t"],
        feval=[metric, third],
        callbacks=[lightgbm.record_evaluation(found)],
    )
    assert {name: len(values) for name, values in found["t"].items()} == {"nDCG@5": 8, "third": 8}
    assert found["t"]["nDCG@5"][-1] == metric(booster.predict(X), data)[1]
    assert found["t"]["nDCG@5"][-1] > found["t"]["nDCG@5"][0]
    ranker = lightgbm.LGBMRanker(
        objective=objective, n_estimators=8, num_leaves=5, min_child_samples=5, n_jobs=1
    ).set_params(verbosity=-1)
    watched = {"eval_set": [(X, labels)], "eval_group": [sizes], "eval_metric": metric}
    ranker.fit(X, labels, group=sizes, **watched)
    assert ranker.evals_result_["training"]["nDCG@5"] == found["t"]["nDCG@5"]
    assert pickle.loads(pickle.dumps(ranker)).predict(X).tolist() == booster.predict(X).tolist()  # noqa: S301 - made here


def test_weights_of_documents_and_of_queries(rng: np.random.Generator) -> None:
    _, labels, scores, sizes = drawn(rng, 8)
    objective, metric = lambdarank_objective(EXPONENTIAL), ranking_metric(EXPONENTIAL)
    plain = objective(labels, scores, None, sizes)
    weights = rng.random(len(labels))
    assert objective(labels, scores, weights, sizes)[0] == pytest.approx(plain[0] * weights)
    of_queries = np.array([0, 1, 0, 2, 0, 0, 0, 0])
    found = objective(labels, scores, of_queries, sizes)
    assert found[1] == pytest.approx(plain[1] * np.repeat(of_queries, sizes))
    second, fourth = (
        metric(labels[end - size : end], scores[end - size : end], None, [size])[1]
        for end, size in zip(np.cumsum(sizes)[[1, 3]], sizes[[1, 3]], strict=True)
    )
    asked = metric(labels, scores, of_queries, sizes)[1]
    assert asked == pytest.approx((second + 2 * fourth) / 3)


# The metric


@pytest.mark.parametrize("ties", ["mean", "input"])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_metric_is_the_mean_of_the_measure(
    measure: DCG, ties: Any, rng: np.random.Generator
) -> None:
    _, labels, scores, sizes = drawn(rng)
    of_one = sklearn_metric(measure, ties)
    ends = np.cumsum(sizes)
    expected = np.mean(
        [of_one(labels[e - n : e], scores[e - n : e]) for e, n in zip(ends, sizes, strict=True)]
    )
    name, found, larger_is_better = ranking_metric(measure, ties)(labels, scores, None, sizes)
    assert found == pytest.approx(expected, abs=1e-12)
    assert larger_is_better
    forms = {"ideal": "nDCG", None: "DCG"}
    cut = "" if measure.n_ranks is None else f"@{measure.n_ranks}"
    assert name == f"{forms[measure.normalise]}{cut}"


# XGBoost


@pytest.mark.parametrize("norm", [False, True])
def test_xgboost_learns_what_its_own_rank_ndcg_learns(norm: bool, rng: np.random.Generator) -> None:
    """Its second derivatives are twice these, so three of its parameters are halved."""
    xgboost = pytest.importorskip("xgboost")
    X, labels, _, sizes = drawn(rng, 60)
    data = xgboost.DMatrix(X, label=labels, group=sizes)
    params = {"nthread": 1, "max_depth": 3, "base_score": 0.0}
    own = {"objective": "rank:ndcg", "lambdarank_pair_method": "topk"}
    own |= dict.fromkeys(("lambdarank_normalization", "lambdarank_score_normalization"), norm)
    own |= {"lambdarank_num_pair_per_sample": 100, "eta": 0.4, "lambda": 2, "min_child_weight": 1}
    theirs = xgboost.train({**params, **own}, data, 5).predict(data)
    params |= {"objective": "rank:ndcg", "eta": 0.2, "lambda": 1, "min_child_weight": 0.5}
    objective = lambdarank_objective(EXPONENTIAL, norm=norm)
    ours = xgboost.train(params, data, 5, obj=objective).predict(data)
    assert np.ptp(theirs) > 0.3
    assert ours == pytest.approx(theirs, abs=1e-4)  # it computes in 32 bits


def test_xgboost_trains_on_what_it_cannot_express(rng: np.random.Generator) -> None:
    xgboost = pytest.importorskip("xgboost")
    measure = DCG({4: 0.2, 3: 1, 2: 0.3, 1: 0, 0: 0}, [1, 0.2, 0.3, 0.2, 0.1], None, "ideal")
    X, labels, _, sizes = drawn(rng, 100, 0.3)
    data = xgboost.QuantileDMatrix(X, label=labels, qid=np.repeat(np.arange(100), sizes))
    metric = ranking_metric(measure)
    found: dict[str, Any] = {}
    booster = xgboost.train(
        {"objective": "rank:ndcg", "disable_default_eval_metric": True, "nthread": 1},
        data,
        15,
        evals=[(data, "t")],
        obj=lambdarank_objective(measure),
        custom_metric=metric,
        evals_result=found,
        verbose_eval=False,
    )
    ((name, values),) = found["t"].items()
    assert name == "nDCG@5"
    assert values[-1] == pytest.approx(metric(booster.predict(data), data)[1], abs=1e-5)
    theirs = xgboost.train({"objective": "rank:ndcg", "nthread": 1}, data, 15)
    assert values[-1] > metric(theirs.predict(data), data)[1] + 0.1


# Bad input


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (([4, 0], [0.1, 0.2], None, None), "which documents belong to one query"),
        (([4, 0], [0.1, 0.2], None, [3]), "queries of 3 documents, and 2 scores"),
        (([4, 5], [0.1, 0.2], None, [2]), "row 1: the label 5 is not one of 4, 3, 2, 1, 0"),
        (([4, 0], [0.1, np.nan], None, [2]), "row 1: scores hold nan"),
    ],
)
def test_calls_that_are_refused(call: Any, problem: str) -> None:
    for function in (lambdarank_objective(EXPONENTIAL), ranking_metric(EXPONENTIAL)):
        with pytest.raises(InputError, match=problem):
            function(*call)


BELOW = DCG({2: 1, 1: 0, 0: -1}, "log2", None, "ideal")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: lambdarank_objective(LinearUtility([[1, 0], [0.5, 0]])), "gains that differ by"),
        (lambda: lambdarank_objective(DCG([0, -1], normalise="ideal")), "no gain above 0"),
        (lambda: lambdarank_objective("zipf"), "needs the grades"),
        (lambda: lambdarank_objective(EXPONENTIAL, 0), "`sigma` is 0"),
        (lambda: ranking_metric(EXPONENTIAL, "docid"), "unknown `ties` 'docid'"),
        (
            lambda: ranking_metric(BELOW)([2, 0, 0, 0], [1, 2, 3, 4], None, [2, 2]),
            "row 1: the ideal is 0: dividing by it reverses",
        ),
    ],
)
def test_objectives_and_metrics_that_are_refused(make: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        make()


def test_small_and_empty_queries() -> None:
    objective, metric = lambdarank_objective(EXPONENTIAL), ranking_metric(EXPONENTIAL)
    gradients, hessians = objective([4, 0, 2, 2], [0.1, 0.2, 0.3, 0.4], None, [1, 0, 3])
    assert gradients[0] == hessians[0] == 0
    assert metric([4, 0, 0], [0.1, 0.2, 0.3], None, [1, 0, 2])[1] == 0.5  # 1, and 0 without gains
    assert objective([], [], None, [0])[0].tolist() == []
    assert math.isnan(metric([], [], None, [0])[1])


def test_labels_are_the_grades_or_numbers_of_their_names() -> None:
    scores = [0.1, 0.2, 0.3]
    named = lambdarank_objective(DCG({"good": 1, "fair": 0.5, "bad": 0}, "zipf"))
    numbered = lambdarank_objective(DCG([1, 0.5, 0], "zipf"))
    in_tenths = lambdarank_objective(DCG({0.3: 1, 0.2: 0.5, 0.1: 0}, "zipf"))
    found = numbered([2, 1, 0], scores, None, [3])[0].tolist()
    assert named([2, 1, 0], scores, None, [3])[0].tolist() == found
    assert in_tenths(np.float32([0.3, 0.2, 0.1]), scores, None, [3])[0].tolist() == found


# Exported


def mean_ndcg(measure: DCG, labels: Any, scores: Any, sizes: Any, without: float) -> float:
    """The mean over queries of this project's nDCG; `without` for a query without gains."""
    index = {label: i for i, label in enumerate(measure.grades or ())}
    values = []
    for end, size in zip(np.cumsum(sizes), sizes, strict=True):
        rows = slice(end - size, end)
        grades = np.array([index[int(label)] for label in labels[rows]])
        order = np.argsort(-np.asarray(scores[rows]), kind="stable")  # ties as in the file
        gains = np.array(measure.gains)[grades]
        values.append(float(measure.score(grades[order])) if gains.any() else without)
    return float(np.mean(values))


def trained_by_lightgbm(params: Any, X: Any, labels: Any, sizes: Any) -> tuple[float, Any]:
    """What it reports after three trees, and the scores."""
    data = lightgbm.Dataset(X, labels, group=sizes)
    found: dict[str, Any] = {}
    record = lightgbm.record_evaluation(found)
    booster = lightgbm.train({**params, **QUIET}, data, 3, valid_sets=[data], callbacks=[record])
    ((values,),) = (one.values() for one in found.values())
    return values[-1], booster.predict(X)


def trained_by_xgboost(params: Any, X: Any, labels: Any, sizes: Any) -> tuple[float, Any]:
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(X, label=labels, group=sizes)
    found: dict[str, Any] = {}
    booster = xgboost.train(
        {**params, "nthread": 1, "max_depth": 2},
        data,
        3,
        evals=[(data, "t")],
        evals_result=found,
        verbose_eval=False,
    )
    (values,) = found["t"].values()
    return values[-1], booster.predict(data)


@pytest.mark.parametrize("cutoff", [5, None])
@pytest.mark.parametrize(
    "gains", [(1, 0.65, 0.5, 0.1, 0), (15, 7, 3, 1, 0), (1, 0.6, 0.6, 0.6, 0.3), (1, 1, 0, 0, 0)]
)
def test_lightgbm_reports_the_measure(
    gains: Any, cutoff: int | None, rng: np.random.Generator
) -> None:
    X, labels, _, sizes = drawn(rng, 60)
    measure = DCG(dict(zip((4, 3, 2, 1, 0), gains, strict=True)), "log2", cutoff, "ideal")
    module = executed(export(measure, "lightgbm").text)
    assert module["LABELS"] == {4: 4, 3: 3, 2: 2, 1: 1, 0: 0}
    reported, scores = trained_by_lightgbm(module["PARAMS"], X, labels, sizes)
    assert len(np.unique(scores)) < len(scores)  # tied scores are among them
    expected = mean_ndcg(measure, labels, scores, sizes, without=1.0)
    assert reported == pytest.approx(expected, abs=1e-9)


def test_xgboost_without_a_cutoff_counts_every_document(rng: np.random.Generator) -> None:
    """Without one in the metric's name it cuts at 32."""
    measure = DCG({2: 1, 1: 0.5, 0: 0}, "log2", None, "ideal")
    params, sizes = executed(export(measure, "xgboost").text)["PARAMS"], [300, 40, 5]
    X, labels = rng.random((sum(sizes), 3)), rng.choice([2, 1, 0], sum(sizes), p=[0.02, 0.05, 0.93])
    reported, scores = trained_by_xgboost(params, X, np.array([0, 0.5, 1])[labels], sizes)
    expected, cut = (
        mean_ndcg(one, labels, scores, sizes, without=0.0) for one in (measure, measure @ 32)
    )
    assert reported == pytest.approx(expected, abs=1e-6)
    assert abs(expected - cut) > 0.01


@pytest.mark.parametrize("cutoff", [5, None])
def test_xgboost_reports_the_measure(cutoff: int | None, rng: np.random.Generator) -> None:
    X, labels, _, sizes = drawn(rng, 60)
    measure = DCG({4: 1, 3: 0.65, 2: 0.7, 1: 0.1, 0: 0}, "log2", cutoff, "ideal")
    module = executed(export(measure, "xgboost").text)
    gains = np.vectorize(module["LABELS"].get)(labels)
    reported, scores = trained_by_xgboost(module["PARAMS"], X, gains, sizes)
    expected = mean_ndcg(measure, labels, scores, sizes, without=0.0)
    assert reported == pytest.approx(expected, abs=1e-6)  # labels are 32-bit floats


def test_xgboost_parameters() -> None:
    exported = export(DCG({"good": 1, "it's": 0.5, "bad": 0}, "log2", 7), "xgboost")
    assert any("XGBoost before 3.1 refuses labels" in note for note in exported.notes)
    module = executed(exported.text)
    assert module["LABELS"] == {"good": 1, "it's": 0.5, "bad": 0}
    assert module["PARAMS"] == {
        "objective": "rank:ndcg",
        "ndcg_exp_gain": False,
        "eval_metric": "ndcg@7-",
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 7,
    }
    exported = export(DCG([1, 0]), "xgboost")
    assert executed(exported.text)["PARAMS"]["eval_metric"] == "ndcg@2147483647-"
    assert any("XGBoost cuts an nDCG without a cutoff at 32" in note for note in exported.notes)
    assert not any("before 3.1" in note for note in exported.notes)
