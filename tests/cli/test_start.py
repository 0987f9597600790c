"""What each command loads: the time of a command on a small file is that of its libraries."""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

import dcglearn
from helpers.commands import Run, run_program
from helpers.places import ROOT

EXAMPLES = ROOT / "docs" / "examples"

READING = {"numpy", "pyarrow", "pydantic"}
"""What a command that reads may load; pydantic is what typer reads options with."""

SOLVING = READING | {"scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special"}
OTHERS = "clarabel cvxpy jinja2 joblib matplotlib osqp pandas rich scipy.stats sklearn"
LIBRARIES = SOLVING | {*OTHERS.split()}
"""Libraries that are slow to load, or load others that are."""

MAY_LOAD: dict[str, set[str]] = {
    "--help": set(),
    "fit judgments.jsonl --out m.json": SOLVING,
    "inspect judgments.jsonl": SOLVING,
    "pack judgments.jsonl packed.parquet": READING,
    "agree judgments.jsonl": READING | {"scipy.special"},
    "evaluate qrels.txt old.run new.run": READING | {"scipy.special"},  # Student's intervals
    "coherence qrels.txt old.run new.run --K 3": SOLVING | {"scipy.stats"},
    "export zipf --scale 2,1,0 --to json": {"numpy", "pydantic"},
}
"""Command -> what it may load of the libraries."""

CODE = f"""
import atexit, runpy, sys
libraries = {sorted(LIBRARIES)}
atexit.register(lambda: print(*(one for one in libraries if one in sys.modules), file=sys.stderr))
runpy.run_module("dcglearn", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("command", MAY_LOAD)
def test_a_command_loads_only_what_it_needs(command: str, tmp_path: Path) -> None:
    place = shutil.copytree(EXAMPLES, tmp_path / "examples")
    done = run_program([sys.executable, "-c", CODE, *command.split()], place, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    if Version(version("scipy")) < Version("1.17"):  # its parts load each other
        loaded -= {name for name in loaded if name.startswith("scipy.")}
    assert loaded <= MAY_LOAD[command]
    assert ("numpy" in loaded) == ("numpy" in MAY_LOAD[command]), "what is loaded is seen"


def test_the_version(run: Run) -> None:
    for option in ("--version", "-V"):
        assert run(option).stdout == f"dcglearn {dcglearn.__version__}\n"
