"""The front function `evaluate`: every form of qrels, runs and measures, and what is refused."""

from __future__ import annotations

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
    write_measure,
)
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
