"""The two commands of a fresh machine, what is required and packed, and a benchmark."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dcglearn.lab.provenance import changed_files, read_provenance
from helpers.commands import run_program
from helpers.own_functions import FLIPS
from helpers.places import ROOT
from helpers.processes import Processes

SET_UP = ["bootstrap.py", "check.py", "children.py", "reproduce.py"]


@pytest.mark.parametrize("name", SET_UP)
def test_set_up_needs_nothing_installed(name: str) -> None:
    tree = ast.parse((ROOT / "scripts" / name).read_text("utf-8"))
    found = {
        (node.names[0].name if isinstance(node, ast.Import) else str(node.module)).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert found <= {*sys.stdlib_module_names, "bootstrap", "children"}


def test_the_example_files_are_those_that_their_script_makes(tmp_path: Path) -> None:
    examples = ROOT / "docs" / "examples"
    subprocess.run([sys.executable, examples / "make.py", tmp_path], check=True)
    made = {path.name for path in tmp_path.iterdir()}
    assert made >= {"judgments.jsonl", "qrels.txt", "old.run", "new.run", "plain.run"}
    for name in made:
        assert (tmp_path / name).read_bytes() == (examples / name).read_bytes(), name


def requirements() -> dict[str, Requirement]:
    """What is required, by the extras too, by its name in the package index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    found = [Requirement(text) for group in (project["dependencies"], *extras) for text in group]
    return {canonicalize_name(one.name): one for one in found if one.name != "dcglearn"}


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.\-+!]+", line) for line in lines)
    pairs = [line.split("==") for line in lines]
    return {canonicalize_name(name): version for name, version in pairs}


def test_every_requirement_has_a_lower_bound_and_a_pinned_version_within() -> None:
    versions = pinned()
    assert len(requirements()) > 25
    for name, requirement in requirements().items():
        bounds = {bound.operator for bound in requirement.specifier}
        assert bounds == {">="}, requirement
        assert requirement.specifier.contains(versions[name]), (str(requirement), versions[name])


def archived(folder: Path) -> dict[str, set[str]]:
    """Build both archives; return the names of their files, without the folder of the source."""
    build = [sys.executable, "-m", "hatchling", "build", "--directory", folder]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as inside, tarfile.open(source) as packed:
        return {
            "wheel": set(inside.namelist()),
            "source": {name.partition("/")[2] for name in packed.getnames()},
        }


def test_archives_hold_the_package_with_its_experiments_types_and_licence(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the extra dev is not installed")
    names = archived(tmp_path)
    for folder in ("configs", "experiments"):
        files = {path.relative_to(ROOT) for path in (ROOT / folder).glob("*.*")}
        assert len(files) > 5
        assert {f"dcglearn/shipped/{file.as_posix()}" for file in files} <= names["wheel"]
        assert {file.as_posix() for file in files} <= names["source"]
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "dcglearn").rglob("*.*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"dcglearn/py.typed", "dcglearn/__init__.pyi", "dcglearn/lab/page.html"} <= ours
    assert ours <= names["wheel"] & names["source"]
    assert any(name.endswith("licenses/LICENSE") for name in names["wheel"])
    assert {"LICENSE", "README.md", "pyproject.toml", "constraints.txt"} <= names["source"]
    assert not {name for name in names["wheel"] if not name.startswith("dcglearn")}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the scripts with one small experiment and without the published file."""
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    (clone / "configs").mkdir()
    for script in (ROOT / "scripts").glob("*.py"):
        (clone / "scripts" / script.name).write_text(script.read_text("utf-8"))
    # Nothing is installed: the environment of these tests is used.
    (clone / "scripts" / "bootstrap.py").write_text(
        "import sys\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parent.parent\n"
        "VENV = ROOT / '.venv'\n"
        "def prepare(extra=''):\n    return Path(sys.executable)\n"
    )
    (clone / "configs" / "flips.toml").write_text(FLIPS)
    return clone


def reproduce(clone: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script of a clone from another folder."""
    script = clone / "scripts" / "reproduce.py"
    return run_program([sys.executable, script, *arguments], clone.parent)


def test_reproduce_analyses_simulated_judgments_where_there_are_no_real_ones(clone: Path) -> None:
    """Run all of the script but the experiments, whose command is printed instead."""
    script = clone / "scripts" / "reproduce.py"
    text = script.read_text("utf-8")
    experiments = 'run_child([python, "-m", "dcglearn", *arguments], cwd=ROOT).returncode'
    assert experiments in text
    text = text.replace('"-n", "2000"', '"-n", "600"').replace('"200"', '"20"')
    text = text.replace('"compare", name,', '"compare", name, "--repeats", "2",')
    script.write_text(text.replace(experiments, "print(arguments) or 0"))
    run = reproduce(clone, "--workers", "3", "--replace")
    assert run.returncode == 0, run.stdout + run.stderr
    arguments = ["reproduce", "--out", str(clone / "results"), "--workers", "3", "--replace"]
    assert str(arguments) in run.stdout
    out = clone / "results" / "stand-in"
    made = read_provenance(out)
    assert made is not None
    names = {path.name for path in out.iterdir()}
    assert names == {*made["files"], "provenance.json"}
    assert names >= {"fit.txt", "learned.json", "comparison.tex", "study.html", "chosen.md"}
    assert changed_files(out, made) == []


def test_reproduce_passes_its_options_on(clone: Path) -> None:
    quick = reproduce(clone, "--quick", "--only", "5", "--workers", "1", "--out", "there")
    assert quick.returncode == 0, quick.stderr
    assert "flips: 2 of 2 cells" in quick.stdout
    assert "real judgments are not analysed" in quick.stdout
    assert {path.name for path in (clone.parent / "there").iterdir()} == {"quick", "store"}
    missing = reproduce(clone, "--data", clone)
    assert missing.returncode == 2
    assert "there is no ecir2015-crowd.csv here" in missing.stderr
    assert not (clone / "results").exists()


PARENT = """
from pathlib import Path
from tempfile import TemporaryDirectory

from children import end_with_code, run_children


def main():
    with TemporaryDirectory() as folder:
        Path(folder, "half-written").touch()
        return max(run.returncode for run in run_children(COMMANDS))


end_with_code(main)
"""

TIDY = """
import os, select, signal
woken, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)  # a signal before the wait ends it, too
try:
    os.write(1, b"started\\n")  # whole, beside those of others
    while True:
        select.select([woken], [], [])
        os.read(woken, 1)
finally:
    os.write(1, b"ended\\n")
"""


@pytest.mark.parametrize(
    ("number", "whole_group", "code"), [(signal.SIGTERM, False, 143), (signal.SIGINT, True, 130)]
)
def test_children_end_before_their_script(
    clone: Path, processes: Processes, number: signal.Signals, whole_group: bool, code: int
) -> None:
    temporary = clone / "temporary"
    temporary.mkdir()
    commands = "COMMANDS = [[sys.executable, '-c', sys.argv[1]]] * 2\n"
    short = "import children\nchildren.GRACE_SECONDS = 0.1\n"
    beside = f"import sys\nsys.path.insert(0, {str(clone / 'scripts')!r})\n"
    script = beside + PARENT.replace("def main", f"{commands}{short}def main", 1)
    process = processes.start(clone, script, TIDY, TMPDIR=str(temporary))
    assert [process.line() for _ in range(2)] == ["started"] * 2
    (os.killpg if whole_group else os.kill)(process.pid, number)
    assert [process.line() for _ in range(2)] == ["ended"] * 2
    assert process.finish() == code
    assert list(temporary.iterdir()) == []


def test_what_is_committed_names_no_machine() -> None:
    files = [path for place in ("docs", "results") for path in (ROOT / place).rglob("*.*")]
    texts = [p for p in files if p.suffix in (".md", ".ipynb", ".json", ".html", ".csv", ".txt")]
    found = [
        path.name for path in texts if re.search(r"/(home|Users|work)/", path.read_text("utf-8"))
    ]
    assert len(texts) > 50
    assert not found
