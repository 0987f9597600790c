"""Values of measures that overflow are refused, and the error names the measure."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dcglearn.base.errors import InputError
from dcglearn.evaluation.ranked import Ranked, score_runs
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility

Run = Callable[..., "subprocess.CompletedProcess[str]"]

LARGE = (1e308, 0.0, -1e308)
MEASURES = [
    DCG((1e308, 1e308, 0.0), "constant"),
    DCG((1e308, 1e308, 0.0), "constant", normalise="ideal"),
    DCG(LARGE, "constant", 1, "minmax"),
    LinearUtility([[1e308, 1e308, 1.0]] * 3),
]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: str(m)[:20])
def test_overflow_names_the_measure(measure: DCG | LinearUtility) -> None:
    with pytest.raises(InputError, match="too large for floating-point") as caught:
        measure.score([0, 1, 2] if "minmax" in str(measure) else [0, 1, 1])
    assert caught.value.place == str(measure)
    ranked = Ranked(np.array([0, 3]), np.array([0, 1, 1]), np.array([[2, 2, 2]]))
    with pytest.raises(InputError, match="too large for floating-point") as caught:
        score_runs(measure, ranked)
    assert caught.value.place == str(measure)


def test_ideals_that_overflow() -> None:
    with pytest.raises(InputError, match="too large"):
        DCG((1e308, 0.0), "constant").ideal([0, 0])
    with pytest.raises(InputError, match="too large"):
        LinearUtility([[1e308, 0.0]] * 2).ideal([0, 0])


def test_large_values_that_do_not_overflow() -> None:
    assert DCG((1e307, 0.0), "constant").score([0, 0]) == 2e307
    assert DCG((1e307, 0.0), "constant", normalise="minmax").score([0, 1], [0, 1, 1]) == 1


def test_commands_refuse_overflow(run: Run, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d1 1023\nq 0 d2 1023\nq 0 d3 1023\n")
    (tmp_path / "run").write_text("q Q0 d1 1 2 r\nq Q0 d2 2 1 r\nq Q0 d3 3 0 r\n")
    (tmp_path / "two").write_text("a 0 d1 1000\nb 0 d1 1000\n")
    (tmp_path / "both").write_text("a Q0 d1 1 2 r\nb Q0 d1 2 1 r\n")
    found = run("evaluate", "two", "both", "-m", "DCG({1000: 1e308}, log2)", cwd=tmp_path)
    assert found.returncode == 2
    for measure in ("exponential-log2", "nDCG(exponential-log2)"):
        found = run("evaluate", "qrels", "run", "-m", measure, cwd=tmp_path)
        assert found.returncode == 2
        assert "too large for floating-point numbers; use smaller gains" in found.stderr
        assert found.stderr.count("\n") == 1


def test_a_tiny_cost_gives_no_nan(run: Run, tmp_path: Path) -> None:
    assert run("simulate", "p.jsonl", "-n", "100", cwd=tmp_path).returncode == 0
    for cost in ("1e-300", "1e-320"):
        found = run("fit", "p.jsonl", "--C", cost, cwd=tmp_path)
        assert "nan" not in found.stdout + found.stderr
        assert "Warning" not in found.stderr
        assert found.returncode in (0, 1)
