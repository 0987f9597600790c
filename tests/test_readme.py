"""The README's blocks do what the README shows, output included."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, published_judgments

README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"<!-- test(?:: (\S+))? -->\n```(console|python)\n(.*?)```", re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCKS = [match.groups() for match in BLOCK.finditer(README)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a clone: the blocks run in it one after the other."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "scripts").symlink_to(ROOT / "scripts")
    published = published_judgments()
    if published is not None:
        (folder / "data").mkdir()
        shutil.copy(published, folder / "data")
    return folder


def test_there_are_blocks_to_run() -> None:
    assert len(BLOCKS) >= 4
    assert README.count("<!-- test") == len(BLOCKS)
    assert "ECIR_" not in README


def test_the_blocks_do_what_they_show(place: Path) -> None:
    """One test, for a block may go on where the one before it ended."""
    missing = []
    for needs, kind, text in BLOCKS:
        if needs and not (place / "data" / needs).is_file():
            missing.append(needs)
        elif kind == "python":
            run_python(text, place)
        else:
            run_console(text, place)
    if missing:
        pytest.skip(f"the rest is fine, but {missing[0]} is not here; see the README")


def run_console(text: str, place: Path) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=place,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "PATH": path},
        )
        assert run.returncode == 0, f"$ {command}\n{run.stderr}"
        same = doctest.OutputChecker().check_output(expected, run.stdout, OPTIONS)
        assert same, f"$ {command}\n{run.stdout}"


def run_python(text: str, place: Path) -> None:
    code = (
        "import doctest, sys\n"
        f"test = doctest.DocTestParser().get_doctest({text!r}, {{}}, 'README', None, 0)\n"
        f"runner = doctest.DocTestRunner(optionflags={OPTIONS})\n"
        "runner.run(test)\n"
        "sys.exit(runner.failures > 0)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
