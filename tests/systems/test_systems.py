"""The command evaluate, and the golden values of trec_eval on the same files."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.places import ROOT

Run = Callable[..., "subprocess.CompletedProcess[str]"]
TREC = ROOT.parent / "shared" / "data" / "trec"
GOLDEN = TREC / "trec_eval"

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"
ONE = "q1 Q0 d2 1 2.5 one\nq1 Q0 d1 2 1.5 one\nq2 Q0 d1 1 1 one\n"
TWO = "q1 Q0 d1 1 2.5 two\nq1 Q0 d2 2 1.5 two\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("qrels", QRELS), ("one", ONE), ("two", TWO)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_means_differences_and_every_choice_are_printed(run: Run, files: Path) -> None:
    found = run("evaluate", "qrels", "one", "two", "-m", "zipf", "-m", "nDCG(linear-log2) @ 5")
    assert found.returncode == 0, found.stderr
    head, one, two = (line.split() for line in found.stdout.splitlines()[:3])
    assert head[:2] == ["system", "zipf"]
    assert head[-3:] == ["judged", "judged@5", "missing"]
    assert one == ["one", "1.0000", "0.8155", "1.0000", "1.0000", "0"]
    assert two == ["two", "1.0000", "0.5000", "1.0000", "1.0000", "1"]
    assert "two: 1 of 2 queries is missing and counts 0" in found.stderr
    assert "Differences from one" in found.stdout
    assert "zipf is DCG({2: 2, 1: 1, 0: 0}, zipf)" in found.stdout
    assert "documents with equal scores: by id, the largest first" in found.stdout
    left_out = run("evaluate", "qrels", "two", "--missing", "out", "-m", "zipf", "--format", "json")
    assert json.loads(left_out.stdout)["systems"][0]["means"]["zipf"] == 2


def test_many_runs_that_lack_queries_are_counted_in_one_line(run: Run, files: Path) -> None:
    names = [f"run{i}" for i in range(6)]
    for name in names:
        (files / name).write_text(TWO.replace("two", name))
    found = run("evaluate", "qrels", "one", *names, "-m", "zipf", "--test", "none")
    assert found.stderr == "6 of 7 runs: 1 of 2 queries are missing and count 0\n"
    few = run("evaluate", "qrels", "one", *names[:5], "-m", "zipf", "--test", "none").stderr
    assert few.count("is missing and counts 0") == 5


def test_an_ideal_that_leaves_out_negative_gains_is_explained(run: Run, files: Path) -> None:
    sharp = ("-m", "nDCG({2: 2, 1: 1, 0: -1}, log2) @ 5", "--test", "none")
    note = "the best possible run leaves out documents that gain less than 0"
    found = run("evaluate", "qrels", "one", *sharp)
    assert found.returncode == 0, found.stderr
    assert note in found.stdout
    assert note not in run("evaluate", "qrels", "one", "--test", "none").stdout


def test_a_measure_in_which_only_the_best_grade_counts_says_so(run: Run, files: Path) -> None:
    found = run("evaluate", "qrels", "one", "-m", "nDCG(binary)", "-m", "binary:1").stdout
    assert "nDCG({2: 1, 1: 0, 0: 0}, log2): only the best grade counts" in found
    assert "binary:1 is DCG({2: 1, 1: 1, 0: 0}, log2)\n" in found


def test_warnings_of_costly_documents_and_of_ties_in_ranx(run: Run, files: Path) -> None:
    (files / "sharp").write_text(QRELS + "q2 0 d3 -1\n")
    (files / "tied").write_text(ONE.replace("2.5", "1.5"))
    (files / "more").write_text(ONE + "q2 Q0 new 2 0.5 one\n")
    costs = "whose gain is below 0; with --unjudged nothing they gain 0"
    asked = ("-m", "zipf", "--test", "none")
    worst = (*asked, "--unjudged", "worst")
    assert costs in run("evaluate", "sharp", "more", *worst).stderr
    assert costs not in run("evaluate", "sharp", "one", *worst).stderr
    assert costs not in run("evaluate", "sharp", "more", *asked).stderr
    order = "ranx sorts equal scores in no fixed order"
    assert order in run("evaluate", "qrels", "tied", *asked, "--like", "ranx").stderr
    assert order not in run("evaluate", "qrels", "one", *asked, "--like", "ranx").stderr


def test_warnings_of_grades_that_a_tool_or_a_measure_does_not_take(run: Run, files: Path) -> None:
    (files / "half").write_text(QRELS + "q2 0 d3 0.5\n")
    asked = ("-m", "zipf", "-m", "RR(rel=9)", "-m", "AP", "--test", "none")
    whole = "takes whole grades only, and the qrels hold 0.5: its own values may differ"
    for tool in ("trec_eval", "ir_measures", "ranx", "gdeval"):
        assert f"{tool} {whole}" in run("evaluate", "half", "one", *asked, "--like", tool).stderr
    for like in ((), ("--like", "sklearn")):
        assert whole not in run("evaluate", "half", "one", *asked, *like).stderr
    found = run("evaluate", "qrels", "one", *asked, "--like", "trec_eval")
    assert whole not in found.stderr
    assert (
        "RR(rel=9): no grade of the qrels is 9 or more, so no document is relevant" in found.stderr
    )
    assert "AP: no grade" not in found.stderr


def test_qrels_from_a_pipe(files: Path) -> None:
    """A pipe can be read only once, so its format must not be probed first."""
    many = "".join(f"q1 0 doc{i:05} {int(i < 200)}\n" for i in range(9000))
    ranked = "".join(f"q1 Q0 doc{i:05} {i + 1} {9000 - i} one\n" for i in range(0, 9000, 2))
    (files / "many").write_text(many)
    (files / "long").write_text(ranked)
    line = f"cat many | {sys.executable} -m dcglearn evaluate /dev/stdin long --format csv"
    found = subprocess.run(
        ["bash", "-c", line], cwd=files, capture_output=True, text=True, check=True, timeout=60
    )
    header, row = csv.reader(io.StringIO(found.stdout))
    assert float(row[header.index("nDCG(linear-log2) @ 10")]) == pytest.approx(1)


def test_every_format(run: Run, refused: Callable[..., str], files: Path) -> None:
    rows = {}
    for form in ("csv", "md", "latex", "json"):
        found = run("evaluate", "qrels", "one", "-m", "zipf", "--per-query", "--format", form)
        assert found.returncode == 0, found.stderr
        rows[form] = found.stdout
    table = list(csv.DictReader(io.StringIO(rows["csv"])))
    assert [(row["query"], float(row["zipf"])) for row in table] == [("q1", 1.0), ("q2", 1.0)]
    assert json.loads(rows["json"])["systems"][0]["queries"] == {
        "q1": {"zipf": 1},
        "q2": {"zipf": 1},
    }
    assert "| one | q1 | 1.0000 | 1.0000 |" in rows["md"]
    assert r"one & q1 & 1.0000 & 1.0000 \\" in rows["latex"]
    asked = ("evaluate", "qrels", "one", "-m", "zipf", "--per-query")
    for spelling in (("--json",), ("--format=json",), ("--json", "--format", "json")):
        assert run(*asked, *spelling).stdout == rows["json"], "the old spelling works, too"
    assert "json" not in run("evaluate", "--help").stdout.split("--format")[1].split("--out")[0]
    both = refused("evaluate", "qrels", "one", "--json", "--format", "csv")
    assert "--json with --format csv; use one of them" in both
    pair = ("evaluate", "qrels", "one", "two", "-m", "zipf", "--unjudged", "bounds")
    untested = run(*pair)
    assert "no tests: --unjudged bounds gives no single value to compare" in untested.stderr
    assert "zipf, least" in untested.stdout
    asked = (*pair, "--compare", "all")
    assert "no single value to compare; add --test none" in refused(*asked)
    assert run(*pair, "--test", "none").returncode == 0
    by_query = json.loads(run(*pair, "--per-query", "--format", "json").stdout)["systems"][0]
    assert by_query["largest by query"]["q1"]["zipf"] == 1
    bounds = run("evaluate", "qrels", "one", "--unjudged", "bounds", "-m", "zipf")
    assert "zipf, least  zipf, most" in bounds.stdout


def test_options_win_over_the_tool(run: Run, files: Path) -> None:
    asked = ("evaluate", "qrels", "one", "-m", "zipf", "--like", "trec_eval", "--json")
    found = run(*asked, "--ties", "mean", "--missing", "0", "--unjudged", "nothing")
    assert found.stderr == (
        "--ties and --missing instead of what trec_eval does; all else is as there\n"
    )
    rules = json.loads(found.stdout)["rules"]
    assert (rules["ties"], rules["missing"], rules["single"]) == ("mean", 0, True)
    assert not run(*asked, "--ties", "docid").stderr


def test_a_learned_measure_is_not_rescaled(run: Run, files: Path) -> None:
    assert run("simulate", "p.jsonl", "-n", 400).returncode == 0
    assert run("fit", "p.jsonl", "-o", "m.json", "--use", "dcg").returncode == 0
    found = run(
        "evaluate",
        "qrels",
        "one",
        "-m",
        "m.json",
        "-m",
        "nDCG(m.json) @ 2",
        "-m",
        "m.json:utility",
        "--format",
        "json",
    )
    assert found.returncode == 0, found.stderr
    made = json.loads((files / "m.json").read_text())["dcg"]
    means = json.loads(found.stdout)["systems"][0]["means"]
    gains, discounts = made["gains"], made["discounts"]
    q1 = discounts[0] * gains[2] + discounts[1] * gains[0]
    assert means["m.json"] == pytest.approx((q1 + discounts[0] * gains[1]) / 2)


def test_what_is_refused(run: Run, refused: Callable[..., str], files: Path) -> None:
    (files / "other").write_text(ONE + "q9 Q0 d1 1 1 one\n")
    (files / "twice").write_text(ONE + "q1 Q0 d1 3 1 one\n")
    (files / "strange").write_text("q9 Q0 d1 1 1 one\n")
    (files / "grades").write_text(QRELS + "q1 0 d7 3\n")
    (files / "copy").write_text(QRELS)
    (files / "many").write_text("".join(f"q1 0 d{i} {i}\n" for i in range(200)))
    for arguments, message in (
        (("one", "qrels"), "one, line 1: 6 fields"),
        (("qrels", "qrels"), "qrels: is given as qrels and as a run"),
        (("qrels", "copy"), "copy, line 1: 4 fields"),
        (("qrels", "strange"), "strange: none of its queries is in the qrels"),
        (("qrels", "twice"), "twice, line 4: "),
        (("qrels", "one", "one"), "one: appears twice among the runs"),
        (("grades", "one", "-m", "DCG({2: 2, 1: 1, 0: 0}, log2)"), "no gain for the grade 3"),
        (("qrels", "one", "-m", "zip"), "did you mean 'zipf'"),
        (("qrels", "one", "--like", "trec-eval"), "did you mean 'trec_eval'"),
        (("qrels", "one", "--worthless", "2"), "unknown --worthless '2'"),
        (("qrels", "one", "two", "--baseline", "on"), "did you mean 'one'"),
        (("qrels", "one", "two", "--baseline", "one", "--test", "none"), "without a comparison"),
        (("qrels", "one", "--scale", "1,0"), "qrels: grade 2 is off the scale"),
    ):
        assert message in refused("evaluate", *arguments), arguments
    said = run("evaluate", "one", "qrels")
    assert (said.returncode, said.stderr.count("\n")) == (2, 1)


def test_queries_without_judgments_are_ordinary(run: Run, files: Path) -> None:
    """Runs hold more topics than were judged; they are counted once for all runs."""
    more = "".join(f"q{i} Q0 d1 1 1 {{0}}\n" for i in range(7, 10))
    for name, text in (("one", ONE), ("two", TWO)):
        (files / name).write_text(text + more.format(name) + "q6 Q0 d1 1 1 x\n" * (name == "two"))
    asked = ("-m", "zipf", "--test", "none")
    for command in (("evaluate", *asked), ("coherence", "-m", "zipf")):
        found = run(command[0], "qrels", "one", "two", *command[1:])
        assert found.returncode == 0, found.stderr
        notes = [line for line in found.stderr.splitlines() if "left out" in line]
        assert notes == ["left out: 4 queries of the runs, not in the qrels"]
    alone = run("evaluate", "qrels", "one", *asked)
    assert alone.stderr == "left out: 3 queries of the run, not in the qrels\n"
    (files / "one").write_text(ONE + "q9 Q0 d1 1 1 one\nq1 Q0 d1 3 1 one\n")
    assert run("evaluate", "qrels", "one", *asked).returncode == 2  # a document appears twice


@pytest.fixture
def golden() -> dict[tuple[str, str], float]:
    """The output of trec_eval on its own test files: (measure, query) to value."""
    if not GOLDEN.is_dir():
        pytest.skip("trec_eval's test files are not next to this project")
    rows = [
        line.split()
        for name in ("out.test.aq", "out.test.meas_params")
        for line in (GOLDEN / name).read_text().splitlines()
    ]
    return {(name, query): float(value) for name, query, value in rows if name.startswith("ndcg")}


def test_trec_evals_golden_files(run: Run, golden: dict[tuple[str, str], float]) -> None:
    cutoffs = [5, 10, 15, 20, 30, 100, 200, 500, 1000]
    names = ["nDCG(linear-log2)"] + [f"nDCG(linear-log2) @ {k}" for k in cutoffs]
    theirs = ["ndcg"] + [f"ndcg_cut_{k}" for k in cutoffs]
    arguments = [part for name in names for part in ("-m", name)]
    found = run(
        "evaluate",
        GOLDEN / "qrels.test",
        GOLDEN / "results.test",
        "--like",
        "trec_eval",
        "--per-query",
        "--format",
        "json",
        *arguments,
    )
    assert found.returncode == 0, found.stderr
    system = json.loads(found.stdout)["systems"][0]
    for name, their in zip(names, theirs, strict=True):
        assert f"{system['means'][name]:.4f}" == f"{golden[their, 'all']:.4f}"
        for query, values in system["queries"].items():
            assert f"{values[name]:.4f}" == f"{golden[their, query]:.4f}", (name, query)


def test_gains_that_differ_by_less_than_one(run: Run, golden: dict[tuple[str, str], float]) -> None:
    """trec_eval compares gains as whole numbers, so it computes 0 for ``-m ndcg.1=0.9``.

    The measure does not change when gains are multiplied by a positive number.
    """
    arguments = [
        part for g in ("1", "0.9", "3") for part in ("-m", f"nDCG({{1: {g}, 0: 0}}, log2)")
    ]
    found = run(
        "evaluate",
        GOLDEN / "qrels.test",
        GOLDEN / "results.test",
        "--like",
        "trec_eval",
        "--format",
        "json",
        *arguments,
    )
    means = list(json.loads(found.stdout)["systems"][0]["means"].values())
    assert means == pytest.approx([means[0]] * 3)
    assert f"{means[0]:.4f}" == f"{golden['ndcg_1=3,2=9,4=4.5', 'all']:.4f}" == "0.4021"


def test_robust03_runs_in_one_call(run: Run) -> None:
    runs = sorted((TREC / "robust03").glob("input.*.gz"))
    if not runs:
        pytest.skip("the Robust 2003 runs are not next to this project")
    found = run(
        "evaluate", TREC / "robust03" / "qrels.gz", *runs, "--format", "json", "--test", "t"
    )
    assert found.returncode == 0, found.stderr
    result = json.loads(found.stdout)
    assert len(result["systems"]) == 17
    assert result["queries"] == 100
    assert all(np.isfinite(one["corrected"]) for one in result["comparisons"])
