"""The benchmark's structure, on problems too small to tell anything of speed."""

from __future__ import annotations

import csv
import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT

SOLVERS = ["newton", "osqp", "clarabel", "linear-svc"]


@pytest.fixture
def benchmark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The script in this process, where it starts no other: exit code and what it prints."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = importlib.import_module("benchmark")

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["benchmark.py", *map(str, arguments)])
        code = script.main()
        return code, *capsys.readouterr()

    return command


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_every_solver_leaves_a_row_and_the_rows_a_report(
    tmp_path: Path, benchmark: Callable[..., tuple[int, str, str]]
) -> None:
    out = tmp_path / "out"
    script = ROOT / "scripts" / "benchmark.py"
    run = subprocess.run(
        [sys.executable, script, "--quick", "--most", "200", "--out", out],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ,
    )
    assert run.returncode == 0, run.stderr
    rows = rows_of(out / "runs.csv")
    assert [row["solver"] for row in rows] == SOLVERS
    assert {(row["n"], row["solved"], row["pair_bytes"]) for row in rows} == {
        ("100", "True", "2000")
    }
    assert float(rows[0]["relative_gap"]) < 1e-12
    assert all(float(row["relative_gap"]) < 1e-6 for row in rows)
    same_problem = [float(row["objective"]) for row in rows[:3]]
    assert same_problem == pytest.approx([same_problem[0]] * 3, rel=1e-9)
    assert float(rows[3]["objective"]) < same_problem[0]  # no monotone rows: fewer constraints
    assert all(float(row["seconds"]) > 0 and int(row["steps"]) > 0 for row in rows)

    before = (out / "runs.csv").read_bytes()
    with (out / "runs.csv").open("ab") as file:
        file.write(b"newton,100,10")  # killed while a line was written
    code, told, _ = benchmark("--quick", "--most", 200, "--out", out)
    assert (code, told) == (0, f"read {out / 'README.md'}\n")
    assert (out / "runs.csv").read_bytes() == before + b"newton,100,10"
    page = (out / "README.md").read_text("utf-8")
    assert "| 100 |" in page
    assert str(tmp_path) not in page
    assert platform.node() not in page
    assert {path.name for path in out.iterdir()} == {
        "runs.csv",
        "README.md",
        "figure.svg",
        "figure.png",
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shapes", "7x7"], "unknown shape '7x7'"),
        (["--solvers", "newtn"], "unknown solver 'newtn'"),
        (["--budget", "soon"], "--budget soon"),
        (["--most", "10"], "use 100 or more"),
        (["--report"], "no run is there yet"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    benchmark: Callable[..., tuple[int, str, str]],
) -> None:
    code, _, told = benchmark(*arguments, "--out", tmp_path)
    assert code == 2
    assert words in told
    assert len(told.splitlines()) == 1
    assert not list(tmp_path.iterdir())
