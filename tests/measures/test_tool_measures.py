"""The table of other tools' measures, each row on the tool itself, and the names people type."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import ir_measures
import lightgbm
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import dcg_score, ndcg_score

from dcglearn import DCG, InputError, Scale, measure_for_documents, write_measure
from dcglearn.interop.tool_measures import TOOL_MEASURES, ToolMeasure
from dcglearn.measures.grammar import (
    canonical_name,
    parse_other_name,
    resolve_alias,
    split_given_name,
)
from dcglearn.measures.names import as_measure
from helpers.commands import Run, run_commands
from helpers.exported import Qrels, drawn_run
from helpers.exported import Run as Retrieved

Values = dict[str, float] | float
LETOR_TOOLS = ("LightGBM", "XGBoost", "scikit-learn")


@pytest.fixture
def drawn() -> tuple[Qrels, Retrieved]:
    return drawn_run(3)


@pytest.fixture
def lists() -> tuple[Qrels, Retrieved]:
    """Every document is judged and ranked, as in files for learning to rank; some scores tie."""
    rng = np.random.default_rng(4)
    qrels: Qrels = {
        str(q): {f"d{d:02}": int(g) for d, g in enumerate(rng.choice([0, 0, 1, 2], 25))}
        for q in range(1, 9)
    }
    qrels["3"] = dict.fromkeys(qrels["3"], 0)
    run = {q: {d: float(rng.choice(8)) for d in judged} for q, judged in qrels.items()}
    return qrels, run


def theirs_trec_eval(qrels: Qrels, run: Retrieved, measure: str) -> Values:
    if measure == "ndcg.1=3,2=7":  # pytrec_eval drops the gains, so they are its levels
        qrels = {q: {d: {1: 3, 2: 7}.get(g, g) for d, g in one.items()} for q, one in qrels.items()}
        measure = "ndcg"
    found = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    return {q: one[measure.replace(".", "_")] for q, one in found.items()}


def theirs_ir_measures(qrels: Qrels, run: Retrieved, measure: str) -> Values:
    asked = ir_measures.parse_measure(measure)
    mean = ir_measures.calc_aggregate([asked], qrels, run)[asked]
    assert isinstance(mean, float)
    return mean


def theirs_gdeval(qrels: Qrels, run: Retrieved, measure: str) -> Values:
    theirs = measure.replace("ndcg", "nDCG(dcg='exp-log2')").replace("err", "ERR")
    asked = ir_measures.parse_measure(theirs)
    calculated = ir_measures.gdeval.evaluator([asked], qrels)._iter_calc(  # type: ignore[attr-defined]  # what gdeval.pl prints, before ir_measures adds the queries it leaves out
        ir_measures.util.RunConverter(run).as_dict_of_dict()
    )
    return {one.query_id: one.value for one in calculated}


def theirs_scikit_learn(qrels: Qrels, run: Retrieved, measure: str) -> Values:
    score = {"ndcg_score": ndcg_score, "dcg_score": dcg_score}[measure.partition(",")[0]]
    return {
        q: score([[*one.values()]], [[run[q][d] for d in one]], k=10) for q, one in qrels.items()
    }


def theirs_lightgbm(qrels: Qrels, run: Retrieved, measure: str) -> Values:
    """A booster whose only feature is the score orders the documents as the run does."""
    y = np.concatenate([[*one.values()] for one in qrels.values()])
    X = np.concatenate([[run[q][d] for d in one] for q, one in qrels.items()])[:, None]
    data = lightgbm.Dataset(X, y, group=[len(one) for one in qrels.values()], init_score=X[:, 0])
    found: dict[str, Any] = {}
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "verbosity": -1}
    lightgbm.train(
        {**params, "num_threads": 1, "learning_rate": 1e-12},
        data,
        1,
        valid_sets=[data],
        valid_names=["t"],
        callbacks=[lightgbm.record_evaluation(found)],
    )
    return float(found["t"]["ndcg@10"][0])


def theirs_xgboost(qrels: Qrels, run: Retrieved, measure: str) -> Values:
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    y = np.concatenate([[*one.values()] for one in qrels.values()])
    X = np.concatenate([[run[q][d] for d in one] for q, one in qrels.items()])
    data = xgboost.DMatrix(X[:, None], label=y, group=[len(one) for one in qrels.values()])
    data.set_base_margin(X)
    found: dict[str, Any] = {}
    xgboost.train(
        {"objective": "rank:ndcg", "eval_metric": measure, "eta": 1e-12, "nthread": 1},
        data,
        1,
        evals=[(data, "t")],
        evals_result=found,
        verbose_eval=False,
    )
    return float(found["t"][measure][0])


@pytest.mark.parametrize("row", TOOL_MEASURES, ids=lambda row: f"{row.tool} {row.theirs}")
def test_the_measure_and_the_options_reproduce_the_tool(
    row: ToolMeasure, request: pytest.FixtureRequest, run: Run, tmp_path: Path
) -> None:
    learns = row.tool in LETOR_TOOLS
    qrels, retrieved = request.getfixturevalue("lists" if learns else "drawn")
    tolerance = 1e-9
    if row.tool == "ranx" or "{2: 7" in row.ours:  # grades below 0 are not on their scales
        qrels = {q: {d: max(g, 0) for d, g in one.items()} for q, one in qrels.items()}
    if row.tool == "ranx":  # it sorts equal scores in no fixed order, and wants the run's queries
        ranx = request.getfixturevalue("ranx")
        rng = np.random.default_rng(2)
        for one in retrieved.values():
            one.update({document: score + 1e-6 * rng.random() for document, score in one.items()})
        qrels = {q: qrels[q] for q in retrieved}
        theirs: Values = float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(retrieved), row.theirs))
    else:
        name = row.tool.lower().replace("-", "_")
        theirs = globals()[f"theirs_{name}"](qrels, retrieved, row.theirs)
    if row.tool in ("gdeval", "XGBoost") or "exp-log2" in row.theirs:
        tolerance = 1e-5  # five decimals are printed; single precision
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    (tmp_path / "run.json").write_text(json.dumps(retrieved))
    asked = ("evaluate", "qrels.json", "run.json", "-m", row.ours, "--per-query", "--json")
    done = run(*asked, *shlex.split(row.options))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (system,) = found["systems"]
    if isinstance(theirs, float):
        assert system[row.ours] == pytest.approx(theirs, abs=tolerance)
        return
    values = {one["query"]: one[row.ours] for one in found["values"]}
    ours = {q: value for q, value in values.items() if value is not None}
    assert ours == pytest.approx(theirs, abs=tolerance)
    assert ("3" in ours, "7" in ours) == {"trec_eval": (True, False), "gdeval": (False, False)}.get(
        row.tool, (True, True)
    )


def test_the_command_lists_every_name(run: Run) -> None:
    text = run("measures").stdout
    listed = json.loads(run("measures", "--json").stdout)
    scale = Scale((3, 2, 1, 0))
    for row in listed["presets"]:
        head = row["preset"].partition(":")[0]
        assert measure_for_documents(head, scale, 5).measure.n_grades == 4
        assert f"{row['preset']} " in text
    for row in listed["discounts"]:
        named = row["rule"].replace("(b)", "(2)").replace("(n)", "(5)").replace("(p)", "(0.5)")
        assert measure_for_documents(f"DCG({{3: 1, 2: 1, 1: 1, 0: 0}}, {named})", scale, 5)
    for row in listed["others"]:
        for name in row["measure"].split(", "):
            assert parse_other_name(name) is not None, name
    assert [row["its measure"] for row in listed["tools"]] == [one.theirs for one in TOOL_MEASURES]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("nDCG@10", "nDCG(linear-log2) @ 10"),
        ("ndcg_cut_10", "nDCG(linear-log2) @ 10"),
        ("ndcg", "nDCG(linear-log2)"),
        ("nDCG10", "nDCG(linear-log2) @ 10"),
        ("dcg@5", "linear-log2 @ 5"),
        ("ndcg_burges@10", "nDCG(exponential-log2) @ 10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(exponential-log2) @ 10"),
        ("ndcg_score", "nDCG(linear-log2)"),
        ("ndcg.1=3,2=7", "nDCG({2: 7, 1: 3, 0: 0}, log2)"),
        ("nDCG(gains={0:0,1:3,2:7})@10", "nDCG({2: 7, 1: 3, 0: 0}, log2) @ 10"),
        ("nDCG(gains={2: 7, 1: 3, 0: -1})", "nDCG({2: 7, 1: 3, 0: -1}, log2)"),
        ("nDCG(zipf) @ 10", None),
        ("learned.json", None),
    ],
)
def test_names_of_other_tools_are_understood(text: str, meant: str | None) -> None:
    assert resolve_alias(text) == meant
    if meant is None:
        return
    scale = Scale((2, 1, 0))
    found = measure_for_documents(text, scale, 20)
    assert (found.name, found.measure) == (text, measure_for_documents(meant, scale, 20).measure)
    assert as_measure(text, scale, 20) == found.measure
    if "gains" not in text and "=" not in text:
        with pytest.raises(InputError, match="needs the grades"):
            as_measure(text)


def test_files_and_names_that_people_give_are_not_those_of_tools() -> None:
    for text in ("P5.json", "R2.json", "ndcg1st", "m.json", "zipf", "rbp:0.8", "rbp(0.8)"):
        assert canonical_name(text) is None
    assert canonical_name("set_relative_P(rel=2)") == "SetP(relative=True, rel=2)"
    assert canonical_name("RBP.80@5") == "RBP(rel=1, p=0.80) @ 5"
    assert split_given_name("mine = 2024.json") == ("mine", "2024.json")
    assert split_given_name("ndcg.1=3@5") == (None, "ndcg.1=3@5")


def test_names_that_people_give(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 2\n")
    (tmp_path / "one").write_text("q1 Q0 d2 1 2.5 one\nq1 Q0 d1 2 1.5 one\nq2 Q0 d1 1 1 one\n")
    (tmp_path / "two").write_text("q1 Q0 d1 1 2.5 two\nq2 Q0 d1 1 1 two\n")
    write_measure(DCG({2: 1, 1: 0.5, 0: 0}, "zipf"), tmp_path / "m.json")
    long = f"DCG([2, 1, 0], [{', '.join(['0.3333333333'] * 30)}])"  # longer than a file's name
    one, coherent = ["evaluate", "qrels", "one"], ["coherence", "qrels", "one", "two"]
    named, both = run_commands(
        [
            [*one, "--json", "-m", "mine=m.json", "-m", "cut = nDCG(m.json) @ 1", "-m", long],
            [*coherent, "--json", "-m", "mine=m.json", "-m", "ndcg_cut.5"],
        ],
        tmp_path,
    )
    means = json.loads(named.stdout)["systems"][0]
    assert list(means)[1:3] == ["mine", "cut"]
    assert means["mine"] == pytest.approx((0.5 + 0.5 + 1) / 2)
    assert list(means.values())[3] == pytest.approx((1 + 2 + 2) / 3 / 2)
    (orders,) = json.loads(both.stdout)["orderings"]
    assert (orders["first"], orders["second"]) == ("mine", "nDCG(linear-log2) @ 5")
