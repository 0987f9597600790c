"""Measures exported: plain data, text for other tools, which compute them here; refusals.

trec_eval runs inside pytrec_eval, whose extension takes gains as trec_eval writes them; ranx
runs uncompiled, which is the same source without the minute of compiling.
"""

from __future__ import annotations

import json
import math
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

from dcglearn import DCG, InputError, LinearUtility, export
from dcglearn.interop.export import DISCOUNT_TEXT, TOOLS, plain_data
from dcglearn.measures.discounts import DISCOUNT_RULES, rule_discounts
from helpers.exported import GAINS, MEASURES, Qrels, Run, by_hand, close, executed, judged, trec
from helpers.written import write_qrels

# Plain data


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_plain_data_reads_back(measure: DCG) -> None:
    data = json.loads(export(measure, "json").text)
    assert data == plain_data(measure)
    assert DCG.parse(data["measure"]) == measure
    again = DCG(
        data["gains"],
        data["rule"] or data["discounts"],
        data["cutoff"],
        data["normalise"],
        data["grades"],
    )
    pools = [[0, 1, 2, 3, 3, 1, 0, 2]] * 8
    rows = np.array([np.roll(pools[0], i) for i in range(8)])
    whole = () if measure.normalise is None else (pools,)
    assert np.array_equal(again.score(rows, *whole), measure.score(rows, *whole))


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_table_for_pandas(measure: DCG, tmp_path: Path) -> None:
    path = tmp_path / "measure.csv"
    path.write_text(export(measure, "pandas").text)
    table = pd.read_csv(path, engine="pyarrow")  # that of pandas before 3.0 rounds some numbers
    notes = " ".join(export(measure, "pandas").notes)
    assert ("Weights are those of the plain DCG" in notes) == (measure.normalise is not None)
    data = plain_data(measure)
    matrix = table.pivot(index="rank", columns="grade", values="weight")[data["grades"]]
    assert np.array_equal(matrix.to_numpy(), measure.matrix_for(len(matrix)))
    for column, values in (("gain", data["gains"]), ("discount", data["discounts"])):
        key = "grade" if column == "gain" else "rank"
        assert table[[key, column]].drop_duplicates()[column].tolist() == values


def test_a_utility_is_exported_only_as_plain_data() -> None:
    utility = LinearUtility([[3, 1, 0], [1, 0.5, 0.1]], ["good", "fair", "bad"])
    for target in TOOLS:
        with pytest.raises(InputError, match=f"{target} takes one gain per grade"):
            export(utility, target)
    data = json.loads(export(utility, "json").text)
    assert LinearUtility(data["weights"], data["grades"]) == utility
    assert export(utility, "pandas").text.splitlines()[:2] == ["rank,grade,weight", "1,good,3.0"]


# Refused

NAMED = DCG({"good": 1, "fair": 0.5, "bad": 0})


@pytest.mark.parametrize("target", ["trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        (DCG([1, 0], "zipf"), "which is 0.6309 at rank 2, and this measure has 0.5 there"),
        (DCG([1, 0], [1, 0.7]), "which is 0.6309 at rank 2, and this measure has 0.7 there"),
        (DCG([1, 0.5, -1]), "takes only gains of 0 or more, and grade 0 gains -1"),
    ],
)
def test_what_tools_with_one_ndcg_cannot_express(target: str, measure: DCG, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as error:
        export(measure, target)
    trained = target in ("lightgbm", "xgboost")
    remedy = (
        "train on it with dcglearn.lambdarank" if trained else "export the measure as an object"
    )
    assert error.value.remedy.startswith(remedy)


@pytest.mark.parametrize("target", TOOLS)
def test_a_vector_equal_to_a_rule_is_treated_as_the_rule(target: str) -> None:
    vector = DCG([2, 1, 0], list(rule_discounts("log2", 4)), None, "ideal")
    rule = DCG([2, 1, 0], "log2", 4, "ideal")
    exported, expected = export(vector, target), export(rule, target)
    assert exported.notes[0] == "The discounts end at rank 4: lower ranks do not count."
    if target in ("trec_eval", "ir_measures"):
        assert exported.text == expected.text


def test_names_become_levels_and_gains_whole() -> None:
    exported = export(NAMED, "trec_eval", (4, 3, 0))
    assert exported.text == "trec_eval -m ndcg.0=0,1=0,2=0,3=5,4=10 QRELS RUN"
    assert "Levels between those of the scale gain 0: 1, 2." in exported.notes
    numbered = export(NAMED, "torch")
    assert "Labels are numbers: good is 2, fair is 1, bad is 0." in numbered.notes
    text = export(DCG({2: 1.23457, 1: 1, 0: 0}, "log2", 10), "ir_measures").text
    assert text == "nDCG(gains={0:0,1:100000,2:123457})@10"


def test_labels_of_measures_that_are_named_in_full() -> None:
    for name in ("DCG([1, 0], [1, 0.5])", "DCG({'good': 1, 'bad': 0}, [1, 0.5])"):
        found = json.loads(export(name, "json", labels=[1, 0]).text)
        assert (found["grades"], found["gains"]) == ([1, 0], [1, 0])
        assert found["discounts"] == [1, 0.5]


def test_a_name_cannot_leave_its_comment() -> None:
    """Labels come from files, and exported text is executed."""
    label = 'x"""\nraise SystemExit #'
    measure = DCG({label: 1, "'": 0.5, "bad": 0}, "log2", 3, "ideal")
    for target in ("torch", "lightgbm", "xgboost", "ranx", "scikit-learn", "pyterrier"):
        executed(export(measure, target).text)


# PyTorch

TEXT_MEASURES = [
    DCG(GAINS, rule) for rule in ("log2", "jk(2)", "zipf", "linear(4)", "constant", "rbp(0.8)")
] + [
    DCG(GAINS, "log2", 3, "ideal"),
    DCG({3: 1, 2: -0.5, 1: 2, 0: 0}, [1, 0.5, 0.6]),
    DCG({3: 0.1, 2: 0.5, 1: 2, 0: 0}, [1, 0.5, 0.25], 2, "ideal"),
]


TORCH = "torch is too large to be installed for one test"


@pytest.mark.parametrize(("library", "array"), [("numpy", "asarray"), ("torch", "tensor")])
@pytest.mark.parametrize("measure", TEXT_MEASURES, ids=str)
def test_the_text_for_torch_runs_without_this_package(
    measure: DCG, library: str, array: str, rng: np.random.Generator
) -> None:
    kind = getattr(pytest.importorskip(library, reason=TORCH), array)
    grades = rng.integers(0, 4, (20, 6))
    sizes = rng.integers(1, 7, 20)
    labels = np.where(np.arange(6) < sizes[:, None], 3 - grades, -1)
    scores = rng.integers(0, 4, (20, 6)).astype(float)
    module = executed(export(measure, "torch").text)
    assert "dcglearn" not in export(measure, "torch").text
    found = np.asarray(module["measure"](kind(scores), kind(labels)))
    cut = DCG(measure.gains, measure.discounts, measure.n_ranks, measure.normalise)
    for value, row, score, size in zip(found, grades, scores, sizes, strict=True):
        order = np.argsort(-score[:size], kind="stable")
        assert value == pytest.approx(float(cut.score(row[:size][order])), abs=1e-12)
    with pytest.raises(ValueError, match="a label has no gain"):
        module["measure"](kind(np.array([1.0])), kind(np.array([9])))
    with pytest.raises(ValueError, match="a score is not a number"):
        module["measure"](kind(np.array([1.0, np.nan])), kind(np.array([0, 3])))
    least = module["measure"](kind(np.array([5.0, 9.0, -np.inf])), kind(np.array([-1, 0, 3])))
    padded = module["measure"](kind(np.array([9.0, 0.0])), kind(np.array([0, 3])))
    assert float(least) == float(padded)  # padding is behind every document


def test_if_minus_one_is_a_grade_there_is_no_padding() -> None:
    exported = export(DCG({1: 1, 0: 0, -1: -1}, "zipf"), "torch")
    module = executed(exported.text)
    assert math.isnan(module["PADDING"])
    assert float(module["measure"](np.array([2.0, 1.0]), np.array([-1, 1]))) == -0.5


def test_every_rule_of_discounts_has_its_text() -> None:
    assert DISCOUNT_TEXT.keys() == DISCOUNT_RULES.keys()


# trec_eval


@pytest.mark.parametrize(
    "gains",
    [
        {3: 7, 2: 3, 1: 1, 0: 0},
        GAINS,
        {3: 0.2, 2: 1.5, 1: 0.7, 0: 0.1},
        {3: 1.0, 1: 0.65, 0: 0.0},
        {3: 1, 2: 1, 1: 0.999, 0: 0},
        {3: 0.1, 2: 0.3, 1: 0.2},
        {2: 1, 1: 0.5, 0: 0.25, -2: 0},  # levels below 0 are unjudged there
    ],
)
def test_trec_eval_computes_the_measure(gains: dict[int, float], rng: np.random.Generator) -> None:
    measure = DCG(gains, normalise="ideal")
    qrels, run = judged(rng, tuple(gains))
    command = shlex.split(export(measure, "trec_eval").text)
    assert command[:2] == ["trec_eval", "-m"]
    close(trec(command[2], qrels, run), by_hand(measure, qrels, run))


@pytest.mark.parametrize("cutoff", [1, 5, 100])
def test_a_cutoff_in_trec_eval_needs_gains_in_the_qrels(
    cutoff: int, rng: np.random.Generator, tmp_path: Path
) -> None:
    if shutil.which("awk") is None:
        pytest.skip("awk is not here")
    measure = DCG(GAINS, "log2", cutoff, "ideal")
    qrels, run = judged(rng)
    exported = export(measure, "trec_eval")
    assert any("ndcg_cut takes no gains" in note for note in exported.notes)
    relabel, command = exported.text.split(" &&\n")
    write_qrels(tmp_path / "QRELS", qrels)
    subprocess.run(["bash", "-c", relabel], cwd=tmp_path, check=True)
    with (tmp_path / "QRELS.gains").open() as lines:
        written = {q: dict[str, int]() for q in qrels}
        for line in lines:
            query, _, document, gain = line.split()
            written[query][document] = int(gain)
    flags = shlex.split(command)[2]
    assert flags == f"ndcg_cut.{cutoff}"
    close(trec(flags, written, run), by_hand(measure, qrels, run))
    (tmp_path / "QRELS").write_text("q1 0 d1 9\n")
    strange = subprocess.run(["bash", "-c", relabel], cwd=tmp_path, capture_output=True, text=True)
    assert strange.returncode == 1
    assert "level 9 is not on the scale" in strange.stderr


# ir_measures


@pytest.mark.parametrize("cutoff", [None, 1, 5, 100])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its parser uses an old name of ast
def test_ir_measures_computes_the_measure(cutoff: int | None, rng: np.random.Generator) -> None:
    measure = DCG(GAINS, "log2", cutoff, "ideal")
    qrels, run = judged(rng)
    asked = ir_measures.parse_measure(export(measure, "ir_measures").text)
    assert asked.params["gains"] == {0: 0, 1: 6, 2: 13, 3: 20}
    values = ir_measures.iter_calc([asked], qrels, run)
    close({m.query_id: m.value for m in values}, by_hand(measure, qrels, run))


# ranx


@pytest.fixture(scope="module")
def ranx_values(ranx: Any) -> Callable[[Qrels, Run, str], dict[str, float]]:
    def evaluate(qrels: Qrels, run: Run, metric: str) -> dict[str, float]:
        run = {query: run[query] for query in qrels}
        values = ranx.evaluate(qrels, run, [metric, "map"], return_mean=False)  # one alone fails
        return dict(zip(qrels, map(float, values[metric]), strict=True))

    return evaluate


@pytest.mark.parametrize(
    ("measure", "metric", "scaled"),
    [
        (DCG(GAINS, "log2", 5, "ideal"), "ndcg@5", 1),
        (DCG(GAINS, "log2", None, "ideal"), "ndcg", 1),
        (DCG({3: 0.2, 2: 1.5, 1: 0.7, 0: 0.1}, "log2", 3, "ideal"), "ndcg@3", 1),
        (DCG({3: 7, 2: 3, 1: 1, 0: 0}), "dcg", 1),
        (DCG({3: 3, 2: 2, 1: 1, 0: 0}, "log2", 5), "dcg@5", 1),
        (DCG(GAINS, "log2", 5), "dcg@5", 20),
    ],
    ids=str,
)
def test_ranx_computes_the_measure(
    measure: DCG, metric: str, scaled: int, ranx_values: Any, rng: np.random.Generator
) -> None:
    qrels, run = judged(rng)
    exported = export(measure, "ranx")
    note = f"Gains are multiplied by {scaled}, and so is every value."
    assert (note in exported.notes) == (scaled != 1)
    module = executed(exported.text)
    assert module["METRIC"] == metric
    found = ranx_values(module["relabelled"](qrels), run, metric)
    close({q: value / scaled for q, value in found.items()}, by_hand(measure, qrels, run))
