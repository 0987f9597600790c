"""Measures exported to LightGBM and XGBoost, which are trained here."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from dcglearn import DCG, export
from helpers.exported import executed
from helpers.places import DATA

LETOR = DATA / "lambdarank"


@pytest.fixture(scope="module")
def letor() -> tuple[Any, ...]:
    if not LETOR.is_dir():
        pytest.skip("no graded queries next to this checkout")
    X, y = load_svmlight_file(str(LETOR / "rank.train"))
    sizes = np.loadtxt(LETOR / "rank.train.query", dtype=int)
    X_test, y_test = load_svmlight_file(str(LETOR / "rank.test"), n_features=X.shape[1])
    return X, y, sizes, X_test, y_test, np.loadtxt(LETOR / "rank.test.query", dtype=int)


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


@pytest.mark.parametrize("cutoff", [5, None])
@pytest.mark.parametrize(
    "gains", [(1, 0.65, 0.5, 0.1, 0), (15, 7, 3, 1, 0), (1, 0.6, 0.6, 0.6, 0.3), (1, 1, 0, 0, 0)]
)
def test_lightgbm_reports_the_measure(gains: Any, cutoff: int | None, letor: Any) -> None:
    X, y, sizes, X_test, y_test, test_sizes = letor
    measure = DCG(dict(zip((4, 3, 2, 1, 0), gains, strict=True)), "log2", cutoff, "ideal")
    module = executed(export(measure, "lightgbm").text)
    assert module["LABELS"] == {4: 4, 3: 3, 2: 2, 1: 1, 0: 0}
    train = lightgbm.Dataset(X, y, group=sizes)
    test = lightgbm.Dataset(X_test, y_test, group=test_sizes, reference=train)
    params = {**module["PARAMS"], "num_threads": 1, "verbosity": -1, "num_leaves": 5}
    found: dict[str, Any] = {}
    record = lightgbm.record_evaluation(found)
    booster = lightgbm.train(params, train, 3, valid_sets=[test], callbacks=[record])
    scores = booster.predict(X_test)
    assert len(np.unique(scores)) < len(scores)  # tied scores are among them
    expected = mean_ndcg(measure, y_test, scores, test_sizes, without=1.0)
    ((_, reported),) = found["valid_0"].items()
    assert reported[-1] == pytest.approx(expected, abs=1e-9)


def test_xgboost_without_a_cutoff_counts_every_document(rng: np.random.Generator) -> None:
    """Without one in the metric's name it cuts at 32."""
    xgboost = pytest.importorskip("xgboost")
    measure = DCG({2: 1, 1: 0.5, 0: 0}, "log2", None, "ideal")
    params = executed(export(measure, "xgboost").text)["PARAMS"]
    sizes = [300, 40, 5]
    X, labels = rng.random((sum(sizes), 3)), rng.choice([2, 1, 0], sum(sizes), p=[0.02, 0.05, 0.93])
    data = xgboost.DMatrix(X, label=np.array([0, 0.5, 1])[labels], group=sizes)
    found: dict[str, Any] = {}
    booster = xgboost.train(
        {**params, "nthread": 1}, data, 3, evals=[(data, "t")], evals_result=found
    )
    ((_, reported),) = found["t"].items()
    expected, cut = (
        mean_ndcg(one, labels, booster.predict(data), sizes, without=0.0)
        for one in (measure, measure @ 32)
    )
    assert reported[-1] == pytest.approx(expected, abs=1e-6)
    assert abs(expected - cut) > 0.01


@pytest.mark.parametrize("cutoff", [5, None])
def test_xgboost_reports_the_measure(cutoff: int | None, letor: Any) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y, sizes, X_test, y_test, test_sizes = letor
    measure = DCG({4: 1, 3: 0.65, 2: 0.7, 1: 0.1, 0: 0}, "log2", cutoff, "ideal")
    module = executed(export(measure, "xgboost").text)
    relabel = np.vectorize(module["LABELS"].get)
    train = xgboost.DMatrix(X, label=relabel(y), group=sizes)
    test = xgboost.DMatrix(X_test, label=relabel(y_test), group=test_sizes)
    found: dict[str, Any] = {}
    params = {**module["PARAMS"], "nthread": 1, "max_depth": 2}
    booster = xgboost.train(
        params, train, 3, evals=[(test, "t")], evals_result=found, verbose_eval=False
    )
    expected = mean_ndcg(measure, y_test, booster.predict(test), test_sizes, without=0.0)
    ((_, reported),) = found["t"].items()
    assert reported[-1] == pytest.approx(expected, abs=1e-6)  # labels are 32-bit floats


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
