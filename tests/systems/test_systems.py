"""The command evaluate, and the golden values of trec_eval on the same files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dcglearn import DCG, MeasureFile, write_measure
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


def test_qrels_from_a_pipe(files: Path) -> None:
    """A pipe can be read only once, so its format must not be probed first."""
    many = "".join(f"q1 0 doc{i:05} {int(i < 200)}\n" for i in range(9000))
    ranked = "".join(f"q1 Q0 doc{i:05} {i + 1} {9000 - i} one\n" for i in range(0, 9000, 2))
    (files / "many").write_text(many)
    (files / "long").write_text(ranked)
    line = f"cat many | {sys.executable} -m dcglearn evaluate /dev/stdin long --json"
    found = subprocess.run(
        ["bash", "-c", line], cwd=files, capture_output=True, text=True, check=True, timeout=60
    )
    (system,) = json.loads(found.stdout)["systems"]
    assert system["means"]["nDCG(linear-log2) @ 10"] == pytest.approx(1)


def test_a_learned_measure_is_not_rescaled(run: Run, files: Path) -> None:
    dcg = DCG({2: 0.9, 1: 0.4, 0: 0.1}, [0.8, 0.3])
    write_measure(MeasureFile(dcg, dcg.utility(2)), files / "m.json")
    measures = ("m.json", "nDCG(m.json) @ 2", "m.json:utility")
    asked = [text for name in measures for text in ("-m", name)]
    found = run("evaluate", "qrels", "one", *asked, "--json")
    assert found.returncode == 0, found.stderr
    means = json.loads(found.stdout)["systems"][0]["means"]
    mean = (0.8 * 0.1 + 0.3 * 0.9 + 0.8 * 0.4) / 2
    assert [means["m.json"], means["m.json:utility"]] == pytest.approx([mean, mean])


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
        "--json",
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
        "--json",
        *arguments,
    )
    means = list(json.loads(found.stdout)["systems"][0]["means"].values())
    assert means == pytest.approx([means[0]] * 3)
    assert f"{means[0]:.4f}" == f"{golden['ndcg_1=3,2=9,4=4.5', 'all']:.4f}" == "0.4021"
