"""The front function `evaluate`: every form of its arguments, and systems under drawn measures."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dcglearn import (
    DCG,
    InputError,
    LinearUtility,
    MeasureFile,
    NamedMeasure,
    Rules,
    evaluate,
    index_qrels,
    qrels_of,
    run_of,
    supported_systems,
    write_measure,
)
from helpers.commands import run_commands
from helpers.written import write_qrels, write_run

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 0, "b": 1}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 1.0}}
MEASURE = DCG({2: 2, 1: 1, 0: 0}, "zipf")
EXPECTED = [[1.0, 1.0]]  # of MEASURE, by query


def frame(content: dict[str, dict[str, float]], number: str) -> pd.DataFrame:
    rows = [(query, d, value) for query, docs in content.items() for d, value in docs.items()]
    return pd.DataFrame(rows, columns=["query", "document", number])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_qrels(tmp_path / "qrels", QRELS)
    for name in ("bm25", "dense"):
        write_run(tmp_path / name, RUN, "tag")
    write_measure(MEASURE, tmp_path / "m.json")
    return tmp_path


def test_qrels_and_runs_in_every_form(files: Path) -> None:
    every_qrels: list[Any] = [
        files / "qrels",
        str(files / "qrels"),
        QRELS,
        frame(QRELS, "grade"),
        qrels_of(QRELS),
        index_qrels(qrels_of(QRELS)),
    ]
    every_run: list[Any] = [
        files / "bm25",
        str(files / "bm25"),
        RUN,
        frame(RUN, "score"),
        run_of(RUN),
    ]
    for qrels in every_qrels:
        for run in every_run:
            for runs in (run, [run], {"bm25": run}):
                found = evaluate(qrels, runs, MEASURE)
                assert found.values[0].tolist() == EXPECTED
        assert found.systems == ("bm25",)


def test_measures_in_every_form(files: Path) -> None:
    content = MeasureFile(MEASURE, None)
    forms: dict[str, Any] = {
        "DCG({2: 2, 1: 1, 0: 0}, zipf)": MEASURE,
        "zipf": "zipf",
        "own": NamedMeasure("own", DCG([2, 1, 0], "zipf")),
        str(files / "m.json"): files / "m.json",
        "DCG([2, 1, 0], zipf)": "DCG([2, 1, 0], zipf)",
    }
    for name, measure in forms.items():
        found = evaluate(QRELS, RUN, measure)
        assert found.measures[0].name == name
        assert found.values[0].tolist() == EXPECTED
    assert evaluate(QRELS, RUN, content).measures[0].file is content
    together = evaluate(QRELS, RUN, list(forms.values()))
    assert [one.name for one in together.measures] == list(forms)
    by_name = evaluate(QRELS, RUN, {"ours": MEASURE, "W": LinearUtility([[3, 2, 1], [6, 5, 4]])})
    assert [one.name for one in by_name.measures] == ["ours", "W"]
    assert by_name.values[0, 1].tolist() == [1 + 6, 2]


def test_a_learned_measure_is_not_rescaled(tmp_path: Path) -> None:
    dcg = DCG({2: 0.9, 1: 0.4, 0: 0.1}, [0.8, 0.3])
    path = tmp_path / "m.json"
    write_measure(MeasureFile(dcg, dcg.utility(2)), path)
    found = evaluate(QRELS, RUN, [path, f"{path}:utility"]).means()[0]
    assert found == pytest.approx([(0.8 * 0.1 + 0.3 * 0.9 + 0.8 * 0.4) / 2] * 2)


def test_names_of_runs(files: Path) -> None:
    paths = evaluate(files / "qrels", [files / "bm25", files / "dense"], "zipf")
    assert paths.systems == ("bm25", "dense")  # one tag: the files tell them apart
    assert evaluate(QRELS, RUN, "zipf").systems == ("run",)
    assert evaluate(QRELS, [RUN, frame(RUN, "score")], "zipf").systems == ("run 1", "run 2")
    assert evaluate(QRELS, run_of(RUN, "mine"), "zipf").systems == ("mine",)
    assert evaluate(QRELS, {"x": run_of(RUN, "mine")}, "zipf").systems == ("x",)


def test_a_frame_with_one_row_per_value() -> None:
    found = evaluate(QRELS, {"one": RUN, "two": {"q1": {"a": 1.0}}}, ["zipf", "constant"])
    table = found.to_frame()
    assert list(table.columns) == ["system", "measure", "query", "value", "judged"]
    assert len(table) == 2 * 2 * 2
    means = table.pivot_table(index="system", columns="measure", values="value")
    assert means.loc["two", "zipf"] == found.means()[1, 0] == 1.0
    unjudged = evaluate(QRELS, {"q1": {"new": 1.0}}, MEASURE, rules=Rules(unjudged="bounds"))
    columns = unjudged.to_frame()[["value", "high", "judged"]].fillna(-1).to_numpy()
    assert columns.tolist() == [[0, 2, 0], [0, 0, -1]]  # the run lacks q2


def test_each_measure_has_the_share_of_judged_documents_down_to_its_cutoff() -> None:
    run = {"q1": {"a": 3.0, "new": 2.0, "newer": 1.0}, "q2": {"a": 1.0}}
    found = evaluate(QRELS, run, ["zipf @ 2", "zipf", "constant @ 2"]).to_frame()
    judged = found.loc[found["query"] == "q1", "judged"]
    assert judged.tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 2])


def test_systems_sorted_by_a_measure() -> None:
    runs = {
        "low": {"q1": {"c": 2.0, "a": 1.0}, "q2": {"a": 1.0}},
        "none": {"q1": {"new": 1.0}},
        "high": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}},
        "equal": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}},
    }
    given = evaluate(QRELS, runs, ["zipf", "zipf @ 1"], rules=Rules(unjudged="nothing"))
    found = given.best_first()
    assert found.systems == ("high", "equal", "low", "none")
    assert given.systems == tuple(runs)
    for name in runs:
        old, new = given.systems.index(name), found.systems.index(name)
        assert np.array_equal(given.values[old], found.values[new])
        assert np.array_equal(given.judged[old], found.judged[new], equal_nan=True)
    left_out = evaluate(QRELS, runs, "zipf", rules=Rules(missing=None, worthless=None))
    assert left_out.best_first().systems[-1] == "none"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((QRELS, RUN, 3), "a measure of type int; give a DCG"),
        ((QRELS, RUN, []), "no measure; give at least one"),
        ((QRELS, RUN, ["zipf", "zipf"]), "the measure zipf is named twice"),
        (
            (QRELS, RUN, DCG([1, 0])),
            r"DCG\(\[1, 0\], log2\): has 2 gains, but the documents have 3",
        ),
        ((QRELS, [], "zipf"), "no run; give at least one"),
        ((QRELS, [run_of(RUN), run_of(RUN)], "zipf"), "two runs are named 'run'"),
        ((QRELS, 3, "zipf"), "run: a run of type int; give a path"),
        ((3, RUN, "zipf"), "qrels of type int; give a path"),
    ],
)
def test_what_is_refused(arguments: tuple[Any, Any, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        evaluate(*arguments)


def test_a_scale_other_than_that_of_indexed_qrels_is_refused() -> None:
    with pytest.raises(InputError, match="indexed on the scale 2 > 1 > 0, and `scale` is 3 > 2"):
        evaluate(index_qrels(qrels_of(QRELS)), RUN, MEASURE, scale="3,2,1,0")


# --- systems under drawn measures, by evaluating each of them


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
            ["fit", str(judgments), "--draws", "50", "-o", "learned.json"],
            [*evaluated, "-m", "nDCG(learned.json) @ 3", "-o", "ranks.svg"],
            [*evaluated, "-m", "learned.json", "--json"],
        ],
        tmp_path,
    )
    assert fitted.returncode == 0, fitted.stderr
    assert "of the measures" in said.stdout
    assert (tmp_path / "ranks.svg").exists()
    found = json.loads(numbers.stdout)
    assert found["measures"] == 50
    order = [one["system"] for one in found["systems"]]
    assert [(one["above"], one["below"]) for one in found["pairs"]] == [*combinations(order, 2)]
    assert all(0.4 < one["of the measures"] <= 1 for one in found["pairs"])
