"""Train rankers on learned measures, next to what LightGBM and XGBoost train on themselves.

``python3 scripts/benchmark_rankers.py --data FOLDER`` learns gains and discounts from satisfied
users (``FOLDER/satisfaction/tiangong-fsd.jsonl``, made of github.com/xuanyuan14's
Reformulation-Aware-Metrics) and from a simulated user to whom five ranks count the same. It trains
on the 251 queries of LightGBM's examples/lambdarank (``FOLDER/lambdarank``); all grades are 0-4.
Each query is held out once per repeat, in five folds. There are three ways: the tool's own
objective as it is; with gains learned for its discount, 1/log2(i + 1); and
``lambdarank_objective`` with learned gains and discounts. Then training is timed on simulated
queries. The tables go to ``results/benchmark/rankers.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bootstrap import ROOT, prepare

if importlib.util.find_spec("dcglearn") is None:  # the same again, by the Python that has it
    _PYTHON = str(prepare("dev"))
    os.execv(_PYTHON, [_PYTHON, __file__, *sys.argv[1:]])  # noqa: S606 - no shell is wanted

import lightgbm
import numpy as np
import xgboost
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from dcglearn import (
    DCG,
    DCGLearner,
    Scale,
    drawn_lists,
    export,
    lambdarank_objective,
    pairs_from_ratings,
    preset,
    ranking_metric,
    side_by_side,
)
from dcglearn.base.files import write_text
from dcglearn.lab.provenance import made_with
from dcglearn.report.tables import Table

FOLDS, ROUNDS, PAIRS = 5, 100, 60_000
PACKAGES = ("dcglearn", "lightgbm", "xgboost-cpu", "numpy")
WAYS = ("its own", "its own, learned gains", "objective")
LIGHTGBM = {"learning_rate": 0.05, "num_leaves": 7, "verbosity": -1, "num_threads": 1}
XGBOOST = {"eta": 0.05, "max_depth": 3, "lambda": 0.5, "min_child_weight": 0.5, "nthread": 1}
"""XGBoost's own second derivatives are twice those of the objective, and are compensated for."""

TWICE = {name: 2 * XGBOOST[name] for name in ("eta", "lambda", "min_child_weight")}


class Queries:
    """Features, labels and query sizes.

    Parameters
    ----------
    X : array or sparse matrix
    labels, sizes : ndarray of int
    """

    def __init__(self, X: Any, labels: Any, sizes: Any) -> None:
        self.X, self.labels, self.sizes = X, labels, sizes
        self.of = np.repeat(np.arange(len(sizes)), sizes)

    def only(self, kept: Any) -> Queries:
        """Return some of the queries, by a mask."""
        rows = kept[self.of]
        return Queries(self.X[rows], self.labels[rows], self.sizes[kept])


def read_queries(folder: Path) -> Queries:
    """Read the training and test queries as one set."""
    files = [folder / "rank.train", folder / "rank.test"]
    X, labels = load_svmlight_file(str(files[0]))
    X_rest, rest = load_svmlight_file(str(files[1]), n_features=X.shape[1])
    sizes = [np.loadtxt(f"{file}.query", dtype=int) for file in files]
    both = sparse.vstack([X, X_rest]).tocsr()
    return Queries(both, np.concatenate([labels, rest]), np.concatenate(sizes))


def learned_measures(folder: Path) -> Iterator[tuple[str, DCG, DCG]]:
    """Yield a title, a learned measure, and one learned for the discount of the tools."""
    rated = folder / "tiangong-fsd.jsonl"
    users = pairs_from_ratings(rated, "all", ties=False, at_most=PAIRS).preferences
    rng, scale = np.random.default_rng(0), Scale((4, 3, 2, 1, 0))
    truth = preset("constant", scale, 5)
    lists = drawn_lists(5_000, 5, [0.05, 0.1, 0.25, 0.35, 0.25], rng)
    simulated = side_by_side(truth, lists, scale, rng)
    for title, judged, discounts in (
        ("Satisfied users, any discounts", users, "free"),
        ("Satisfied users, decreasing discounts", users, "decreasing"),
        ("Simulated user, any discounts", simulated, "free"),
    ):
        measures = (DCGLearner(discounts=d).fit(judged).dcg_ for d in (discounts, "log2"))
        measure, log2 = (one.normalised() for one in measures)
        yield title, measure, log2


def by_lightgbm(queries: Queries, way: str, measure: DCG, log2: DCG) -> Callable[[Any], Any]:
    """Train; return what scores documents."""
    params: dict[str, Any] = {"objective": "lambdarank"}
    if way == WAYS[1]:
        params = executed(export(log2, "lightgbm").text)["PARAMS"]
    elif way == WAYS[2]:
        params = {"objective": lambdarank_objective(measure)}
    data = lightgbm.Dataset(queries.X, queries.labels, group=queries.sizes)
    booster = lightgbm.train({**LIGHTGBM, **params, "metric": "none"}, data, ROUNDS)
    return lambda X: booster.predict(X, raw_score=True)


def by_xgboost(queries: Queries, way: str, measure: DCG, log2: DCG) -> Callable[[Any], Any]:
    """Train; return what scores documents."""
    params: dict[str, Any] = {**XGBOOST, **TWICE, "objective": "rank:ndcg"}
    labels, objective = queries.labels, None
    if way == WAYS[1]:
        exported = executed(export(log2, "xgboost").text)
        params |= exported["PARAMS"]
        labels = np.vectorize(exported["LABELS"].get)(labels.astype(int))
    elif way == WAYS[2]:
        params = {**XGBOOST, "objective": "rank:ndcg"}
        objective = lambdarank_objective(measure)
    data = xgboost.DMatrix(queries.X, label=labels, group=queries.sizes)
    booster = xgboost.train(params, data, ROUNDS, obj=objective)
    return lambda X: booster.predict(xgboost.DMatrix(X))


TOOLS = {"LightGBM": by_lightgbm, "XGBoost": by_xgboost}


def executed(text: str) -> dict[str, Any]:
    """Run exported text."""
    module: dict[str, Any] = {}
    exec(compile(text, "exported", "exec"), module)  # noqa: S102 - text of this package
    return module


def values(measure: DCG, queries: Queries, scores: Any) -> Any:
    """Return the measure of each query."""
    metric, ends = ranking_metric(measure), np.cumsum(queries.sizes)
    return np.array(
        [
            metric(queries.labels[end - n : end], scores[end - n : end], None, [n])[1]
            for end, n in zip(ends, queries.sizes, strict=True)
        ]
    )


def compared(queries: Queries, measure: DCG, log2: DCG, repeats: int) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each tool and way."""
    n = len(queries.sizes)
    for tool, train in TOOLS.items():
        held_out, learned = np.zeros((2, len(WAYS), n))
        for repeat in range(repeats):
            fold = np.random.default_rng(repeat).permutation(n) % FOLDS
            for number in range(FOLDS):
                inside, outside = (queries.only(fold != number), queries.only(fold == number))
                for way, name in enumerate(WAYS):
                    score = train(inside, name, measure, log2)
                    held_out[way, fold == number] += values(measure, outside, score(outside.X))
                    learned[way, fold != number] += values(measure, inside, score(inside.X))
        held_out /= repeats
        learned /= repeats * (FOLDS - 1)
        for way, name in enumerate(WAYS):
            apart = held_out[way] - held_out[0]
            half = 1.96 * apart.std(ddof=1) / np.sqrt(n)
            interval = "" if way == 0 else f"{apart.mean() - half:.4f} to {apart.mean() + half:.4f}"
            difference = None if way == 0 else apart.mean()
            yield tool, name, learned[way].mean(), held_out[way].mean(), difference, interval


def seconds(per_query: int, cutoff: int | None) -> tuple[float, float]:
    """Return the processor time of ten trees, LightGBM's own and with the objective."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(per_query // 2, 3 * per_query // 2, 120_000 // per_query)
    X = rng.normal(size=(int(sizes.sum()), 50)).astype(np.float32)
    merit = X[:, :5].sum(axis=1) + 2 * rng.normal(size=len(X))
    labels = np.digitize(merit, np.quantile(merit, [0.5, 0.8, 0.93, 0.98]))
    measure = DCG({4: 15, 3: 7, 2: 3, 1: 1, 0: 0}, "log2", cutoff, "ideal")
    level = {"lambdarank_truncation_level": cutoff or 10_000}
    took = []
    for params in (
        {"objective": "lambdarank", **level},
        {"objective": lambdarank_objective(measure)},
    ):
        data = lightgbm.Dataset(X, labels, group=sizes, params={"verbosity": -1}).construct()
        begin = time.process_time()
        lightgbm.train({**LIGHTGBM, "num_leaves": 31, **params, "metric": "none"}, data, 10)
        took.append(time.process_time() - begin)
    return took[0], took[1]


def main() -> None:
    """Train, compare, time and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--repeats", type=int, default=6, help="divisions into folds (6)")
    parser.add_argument("--out", default=str(ROOT / "results" / "benchmark" / "rankers.md"))
    options = parser.parse_args()
    queries = read_queries(options.data / "lambdarank")
    parts = ["# Rankers trained on learned measures"]
    for title, measure, log2 in learned_measures(options.data / "satisfaction"):
        rows = list(compared(queries, measure, log2, options.repeats))
        head = ("tool", "objective", "training queries", "held out", "difference", "95% interval")
        about = f"{title}: {rounded(measure)}; for the discount 1/log2(i + 1): {rounded(log2)}"
        parts.append(Table(head, rows, about, 4).markdown())
    own = [("LightGBM", *shape, *seconds(*shape)) for shape in ((15, None), (120, None), (120, 10))]
    timed = [(*row[:-2], *row[-2:], row[-1] / row[-2]) for row in own]
    head = ("tool", "documents per query", "cutoff", "seconds, its own", "objective", "ratio")
    parts.append(Table(head, timed, "Processor time of ten trees, 120,000 documents", 2).markdown())
    parts.append(
        f"{len(queries.sizes)} queries in {FOLDS} folds, {options.repeats} times; the mean of the "
        "measure over queries, and the difference from the tool's own objective with its interval "
        f"over queries. {ROUNDS} trees."
    )
    parts.append(
        ", ".join(f"{name} {version(name)}" for name in PACKAGES)
        + f"; revision {made_with()['revision']}"
    )
    write_text(options.out, "\n\n".join(parts) + "\n")
    print("\n\n".join(parts))


def rounded(measure: DCG) -> str:
    """Return the name of a measure with three digits per number."""
    rule = measure.discounts
    discounts = rule if isinstance(rule, str) else np.round(rule, 3)
    return str(DCG(np.round(measure.gains, 3), discounts, None, measure.normalise))


if __name__ == "__main__":
    main()
