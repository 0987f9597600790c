"""Random qrels and runs, and their values under measures, here and in trec_eval."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pytrec_eval_ext import RelevanceEvaluator

from dcglearn import DCG, NamedMeasure, Rules, Scale, evaluate, index_qrels, qrels_of

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
GAINS = {3: 1.0, 2: 0.65, 1: 0.3, 0: 0.0}

MEASURES = [
    DCG(GAINS, "log2", 5, "ideal"),
    DCG(GAINS, "rbp(0.8)"),
    DCG(GAINS, "jk(2)", 10, "ideal"),
    DCG({3: 0.2, 2: 1.5, 1: -0.7, 0: 0.1}, "zipf", 7),
    DCG({3: 1, 2: 0.5, 1: 0.4, 0: 0.1}, [1, 0.4, 0.45, 0.3], 4, "ideal"),
]


def judged(rng: np.random.Generator, labels: tuple[int, ...] = (0, 1, 2, 3)) -> tuple[Qrels, Run]:
    """Qrels and a run without ties, with unjudged documents and judged ones not retrieved."""
    qrels: Qrels = {}
    run: Run = {}
    for query in range(20):
        n = int(rng.integers(3, 30))
        names = [f"d{i}" for i in range(n)]
        qrels[f"q{query}"] = {d: int(rng.choice(labels)) for d in names[: 2 * n // 3 + 1]}
        scores = rng.permutation(n).astype(float)
        found = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        run[f"q{query}"] = {names[i]: float(scores[i]) for i in found}
    return qrels, run


def drawn_run(seed: int, grades: tuple[int, ...] = (-1, 0, 0, 1, 2)) -> tuple[Qrels, Run]:
    """With tied scores and unjudged documents; query 7 is missing, and 3 has nothing relevant."""
    rng = np.random.default_rng(seed)
    qrels: Qrels = {
        str(q): {f"d{d}": int(rng.choice(grades)) for d in rng.permutation(60)[:30]}
        for q in range(1, 20)
    }
    qrels["3"] = dict.fromkeys(qrels["3"], 0)
    run: Run = {
        q: {
            f"d{d}": float(rng.choice([0.5, 1.0, 1.0 + 1e-9, 2.0, rng.random()]))
            for d in rng.permutation(60)[:40]
        }
        for q in qrels
        if q != "7"
    }
    return qrels, run


def by_hand(measure: DCG, qrels: Qrels, run: Run) -> dict[str, float]:
    """Each query's value by ``DCG.score``, with -1 for a document without a judgment."""
    index = {label: i for i, label in enumerate(measure.grades or ())}
    found = {}
    for query, scores in run.items():
        order = sorted(scores, key=lambda d: -scores[d])
        row = [index[qrels[query][d]] if d in qrels[query] else -1 for d in order]
        pool = [index[label] for label in qrels[query].values()]
        pools = None if measure.normalise is None else pool
        found[query] = float(measure.score(row, pools))
    return found


def evaluated(measure: DCG, qrels: Qrels, run: Run) -> dict[str, float]:
    """Each query's value by `evaluate`; a document without a judgment gains nothing."""
    known = index_qrels(qrels_of(qrels))
    named = NamedMeasure("m", measure_of(measure, known.scale))
    found = evaluate(known, run, named, rules=Rules("input", "nothing"))
    return dict(zip(found.queries, found.values[0, 0].tolist(), strict=True))


def measure_of(measure: DCG, scale: Scale) -> DCG:
    """The measure on the grades that occur."""
    gains = dict(zip(measure.grades or range(measure.n_grades)[::-1], measure.gains, strict=True))
    return replace(measure, gains=tuple(gains[g] for g in scale.labels), grades=scale.labels)


def trec(flags: str, qrels: Qrels, run: Run) -> dict[str, float]:
    """The values of trec_eval for ``-m flags``, by query."""
    name = flags.split(".")[0]
    asked = RelevanceEvaluator(query_relevance=qrels, measures={flags})
    values = asked.evaluate(run)
    cut = f"_{flags.split('.')[1]}" if name == "ndcg_cut" else ""
    return {query: value[name + cut] for query, value in values.items()}


def executed(text: str) -> dict[str, Any]:
    module: dict[str, Any] = {}
    exec(compile(text, "exported", "exec"), module)  # noqa: S102 - the text under test
    return module


def close(found: dict[str, float], expected: dict[str, float], within: float = 1e-9) -> None:
    assert found.keys() == expected.keys()
    for query, value in expected.items():
        assert found[query] == pytest.approx(value, abs=within), query
