"""What a fresh machine runs: the scripts stand on the standard library alone."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.parametrize("name", ["bootstrap.py", "check.py", "reproduce.py"])
def test_set_up_needs_nothing_installed(name: str) -> None:
    tree = ast.parse((ROOT / "scripts" / name).read_text("utf-8"))
    found = {
        (node.names[0].name if isinstance(node, ast.Import) else str(node.module)).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert found <= {*sys.stdlib_module_names, "bootstrap"}


def test_pinned_versions_are_plain() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert len(lines) > 30
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.\-+!]+", line) for line in lines)
    wanted = re.findall(
        r'^    "([A-Za-z\-]+)>=', (ROOT / "pyproject.toml").read_text("utf-8"), re.M
    )
    assert {name.lower() for name in wanted} <= {line.split("==")[0].lower() for line in lines}


def test_reproduce_runs_a_stand_in_where_the_data_are_not(tmp_path: Path) -> None:
    """The study's steps, on a copy of the scripts that finds no published file."""
    scripts = tmp_path / "clone" / "scripts"
    scripts.mkdir(parents=True)
    for name in ("reproduce.py", "prepare_ecir2015.py"):
        (scripts / name).write_text((ROOT / "scripts" / name).read_text("utf-8"))
    # The environment is this one: what bootstrap installs is what runs these tests.
    (scripts / "bootstrap.py").write_text(
        "import sys\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parent.parent\n"
        "def prepare(extra=''):\n    return Path(sys.executable)\n"
    )
    run = subprocess.run(
        [sys.executable, scripts / "reproduce.py"], capture_output=True, text=True, timeout=300,
        check=False, env=os.environ,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    out = tmp_path / "clone" / "results" / "stand-in"
    names = {path.name for path in out.iterdir()}
    assert names >= {
        "inspect.txt", "fit.txt", "agree.txt", "learned.json", "learned.svg", "learned.png",
        "comparison.md", "comparison.csv", "comparison.tex", "comparison.svg", "provenance.json",
    }  # fmt: skip
    missing = subprocess.run(
        [sys.executable, scripts / "reproduce.py", "--data", tmp_path], capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert missing.returncode == 2
    assert "holds no ecir2015-crowd.csv" in missing.stderr
