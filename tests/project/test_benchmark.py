"""The benchmark runs, continues and reports; its problems here are too small to show speed."""

from __future__ import annotations

import csv
import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.places import ROOT

SOLVERS = ["newton", "osqp", "clarabel", "linear-svc"]
COMMITTED = ROOT / "results" / "benchmark"


@pytest.fixture
def benchmark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the script in this process, for uses that start no run: exit code and output."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = importlib.import_module("benchmark")

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["benchmark.py", *map(str, arguments)])
        code = script.main()
        return code, *capsys.readouterr()

    return command


def table_rows(page: Path) -> list[str]:
    return [line for line in page.read_text("utf-8").splitlines() if line.startswith("| ")]


def test_each_solver_adds_a_row_and_the_rows_make_a_report(
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
    with (out / "runs.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["solver"] for row in rows] == SOLVERS
    assert {(row["n"], row["solved"], row["pair_bytes"]) for row in rows} == {
        ("100", "True", "2000")
    }
    assert float(rows[0]["relative_gap"]) < 1e-12
    assert all(float(row["relative_gap"]) < 1e-6 for row in rows)
    same_problem = [float(row["objective"]) for row in rows[:3]]
    assert same_problem == pytest.approx([same_problem[0]] * 3, rel=1e-9)
    assert float(rows[3]["objective"]) < same_problem[0]  # without monotone constraints
    assert all(float(row["seconds"]) > 0 and int(row["steps"]) > 0 for row in rows)

    before = (out / "runs.csv").read_bytes()
    with (out / "runs.csv").open("ab") as file:
        file.write(b"newton,100,10")  # as if the script had been killed while it wrote a line
    code, output, _ = benchmark("--quick", "--most", 200, "--out", out)
    assert (code, output) == (0, f"wrote {out / 'README.md'}\n")
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


def test_the_committed_page_is_that_of_the_committed_runs(
    tmp_path: Path, benchmark: Callable[..., tuple[int, str, str]]
) -> None:
    shutil.copy(COMMITTED / "runs.csv", tmp_path)
    assert benchmark("--report", "--out", tmp_path)[0] == 0
    assert (tmp_path / "README.md").read_text() == (COMMITTED / "README.md").read_text()
    rows = table_rows(tmp_path / "README.md")
    assert "| 1,000,000 | 0.19 | 92 | 3 | 1e-26 | 2.1 | 305 (216) | 982 (229) | 20 (33) |" in (
        next(row for row in rows if "305 (216)" in row)
    )
    assert any("| failed, 456 |" in row for row in rows)
    drawn, committed = ((folder / "figure.svg").read_text() for folder in (tmp_path, COMMITTED))
    texts = [re.findall("<!-- (.*?) -->", svg) for svg in (drawn, committed)]
    assert texts[0] == texts[1]
    assert {"10⁻²", "10⁸", "one read of the pairs"} <= set(texts[0])
