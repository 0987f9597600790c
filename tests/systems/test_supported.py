"""Systems under drawn measures, by evaluating each of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import DCG, Rules, evaluate, supported_systems
from helpers.commands import run_commands

GRADES = (3, 2, 1, 0)


def collection(rng: np.random.Generator, n_systems: int = 4) -> tuple[Any, Any]:
    """Qrels and runs with ties, unjudged documents, worthless and missing queries."""
    documents = [f"d{i}" for i in range(12)]
    qrels = {
        f"q{q}": {d: int(rng.integers(0, 4)) * (q > 0) for d in rng.permutation(documents)[:9]}
        for q in range(8)
    }
    qrels["q1"]["d0"] = 3
    runs = {
        f"s{s}": {
            f"q{q}": {d: float(rng.integers(0, 6)) for d in rng.permutation(documents)[:8]}
            for q in range(8 - (s == 1))
        }
        for s in range(n_systems)
    }
    return qrels, runs


@pytest.mark.parametrize("form", ["ideal", None])
@pytest.mark.parametrize(
    "rules",
    [Rules(), Rules("docid", "nothing"), Rules(unjudged="removed", worthless=None, missing=None)],
)
def test_each_measure_by_itself(form: Any, rules: Rules, rng: np.random.Generator) -> None:
    qrels, runs = collection(rng)
    gains = -np.sort(-rng.random((7, 4)), axis=1)
    gains[:, 0], gains[:, -1] = 1.0, 0.0
    discounts = -np.sort(-rng.random((7, 5)), axis=1)
    learned = DCG([1, 0.5, 0.2, 0], [1, 0.6, 0.5, 0.4, 0.3], grades=GRADES, normalise=form)
    evaluation = evaluate(qrels, runs, learned, rules=rules)
    found = supported_systems(evaluation, gains, discounts, np.random.default_rng(3))
    each = [
        replace(learned, gains=tuple(g), discounts=tuple(c))
        for g, c in zip(gains, discounts, strict=True)
    ]
    values = evaluate(qrels, runs, each, rules=rules).values
    all_queries = np.nanmean(values, axis=2)
    weights = np.random.default_rng(3).multinomial(8, np.full(8, 1 / 8), size=7)
    counted = ~np.isnan(values)
    resampled = (np.where(counted, values, 0) * weights).sum(axis=2) / (counted * weights).sum(2)
    for means, ahead in ((all_queries, found.ahead), (resampled, found.ahead_resampled)):
        for i in range(4):
            for j in range(4):
                won = (means[i] > means[j] + 1e-12) + 0.5 * (np.abs(means[i] - means[j]) <= 1e-12)
                assert ahead[i, j] == pytest.approx(won.mean() if i != j else 0)
    ranks = 1 + (all_queries[None] > all_queries[:, None] + 1e-12).sum(axis=1)
    for band, of_system in zip(found.ranks, ranks, strict=True):
        assert band.tolist() == [of_system.min(), of_system.max()]
    assert found.means == pytest.approx(evaluation.means()[:, 0])


def test_the_command(tmp_path: Path) -> None:
    """A learned file with draws, tables and a figure."""
    examples = Path(__file__).parents[2] / "docs" / "examples"
    judgments, qrels = examples / "judgments.jsonl", examples / "qrels.txt"
    runs = [str(examples / f"{name}.run") for name in ("old", "new", "plain")]
    evaluated = ["evaluate", str(qrels), *runs, "--supported"]
    fitted, said, numbers = run_commands(
        [
            ["fit", str(judgments), "--draws", "200", "-o", "learned.json"],
            [*evaluated, "-m", "nDCG(learned.json) @ 3", "-o", "ranks.svg"],
            [*evaluated, "-m", "learned.json", "--json"],
        ],
        tmp_path,
    )
    assert fitted.returncode == 0, fitted.stderr
    assert "of the measures" in said.stdout
    assert (tmp_path / "ranks.svg").exists()
    found = json.loads(numbers.stdout)
    assert found["measures"] == 200
    order = [one["system"] for one in found["systems"]]
    assert [(one["above"], one["below"]) for one in found["pairs"]] == [*combinations(order, 2)]
    assert all(0.4 < one["of the measures"] <= 1 for one in found["pairs"])
