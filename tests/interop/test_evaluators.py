"""Measures exported to trec_eval, ir_measures and ranx, checked with these tools.

trec_eval runs inside pytrec_eval, whose extension takes gains as trec_eval writes them; ranx
runs uncompiled, which is the same source without the minute of compiling.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

from dcglearn import DCG, InputError, export
from helpers.exported import GAINS, Qrels, Run, by_hand, close, executed, judged, trec
from helpers.written import write_qrels

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
    ],
)
def test_trec_eval_computes_the_measure(gains: dict[int, float], rng: np.random.Generator) -> None:
    measure = DCG(gains, normalise="ideal")
    qrels, run = judged(rng, tuple(gains))
    command = shlex.split(export(measure, "trec_eval").text)
    assert command[:2] == ["trec_eval", "-m"]
    close(trec(command[2], qrels, run), by_hand(measure, qrels, run))


def test_trec_eval_treats_levels_below_0_as_unjudged(rng: np.random.Generator) -> None:
    measure = DCG({2: 1, 1: 0.5, 0: 0.25, -2: 0}, normalise="ideal")
    qrels, run = judged(rng, (2, 1, 0, -2))
    text = export(measure, "trec_eval").text
    assert "-2" not in text
    close(trec(shlex.split(text)[2], qrels, run), by_hand(measure, qrels, run))
    with pytest.raises(InputError, match="trec_eval treats levels below 0 as unjudged"):
        export(DCG({1: 1, -1: 0.5}), "trec_eval")


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


def test_gains_of_ir_measures_are_whole() -> None:
    with pytest.raises(InputError, match=r"ir_measures takes whole gains up to 1000.* 1234567"):
        export(DCG({2: 1.234567, 1: 1, 0: 0}), "ir_measures")
    with pytest.raises(InputError, match="whole gains up to 1000000"):
        export(DCG({2: 1, 1: 1 / 3, 0: 0}, "log2", 10), "ir_measures")
    text = export(DCG({2: 1.23457, 1: 1, 0: 0}, "log2", 10), "ir_measures").text
    assert text == "nDCG(gains={0:0,1:100000,2:123457})@10"


# ranx


@pytest.fixture(scope="module")
def ranx_values(ranx: Any) -> Callable[[Qrels, Run, str], dict[str, float]]:
    def evaluate(qrels: Qrels, run: Run, metric: str) -> dict[str, float]:
        run = {query: run[query] for query in qrels}
        values = ranx.evaluate(qrels, run, [metric, "map"], return_mean=False)  # one alone fails
        return dict(zip(qrels, map(float, values[metric]), strict=True))

    return evaluate


@pytest.mark.parametrize(
    ("measure", "metric"),
    [
        (DCG(GAINS, "log2", 5, "ideal"), "ndcg@5"),
        (DCG(GAINS, "log2", None, "ideal"), "ndcg"),
        (DCG({3: 0.2, 2: 1.5, 1: 0.7, 0: 0.1}, "log2", 3, "ideal"), "ndcg@3"),
        (DCG({3: 7, 2: 3, 1: 1, 0: 0}, "log2", 5, "ideal"), "ndcg@5"),
        (DCG({3: 7, 2: 3, 1: 1, 0: 0}), "dcg"),
        (DCG({3: 3, 2: 2, 1: 1, 0: 0}, "log2", 5), "dcg@5"),
    ],
    ids=str,
)
def test_ranx_computes_the_measure(
    measure: DCG, metric: str, ranx_values: Any, rng: np.random.Generator
) -> None:
    qrels, run = judged(rng)
    module = executed(export(measure, "ranx").text)
    assert module["METRIC"] == metric
    relabelled = module["relabelled"](qrels)
    close(ranx_values(relabelled, run, metric), by_hand(measure, qrels, run))


def test_a_plain_dcg_in_ranx_is_scaled_as_noted(ranx_values: Any, rng: np.random.Generator) -> None:
    measure = DCG(GAINS, "log2", 5)
    qrels, run = judged(rng)
    exported = export(measure, "ranx")
    assert "Gains are multiplied by 20, and so is every value." in exported.notes
    module = executed(exported.text)
    found = ranx_values(module["relabelled"](qrels), run, module["METRIC"])
    close({q: value / 20 for q, value in found.items()}, by_hand(measure, qrels, run))
