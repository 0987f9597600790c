"""The blocks of README.md and docs/, and the tutorial, do what they show, output included."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from helpers.commands import SAFETY_SECONDS, run_command, run_program
from helpers.places import ROOT, published_judgments

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"<!-- test(?:: (\S+))? -->\n```(console|python)\n(.*?)```", re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> list[tuple[str | None, str, str]]:
    found = BLOCK.findall(page.read_text("utf-8"))
    return [(needs or None, kind, text) for needs, kind, text in found]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder like a clone: the blocks of a page run in it one after the other."""
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    published = published_judgments()
    if published is not None:
        (tmp_path / "data").mkdir()
        shutil.copy(published, tmp_path / "data")
    return tmp_path


def test_every_marked_block_is_run() -> None:
    assert sum(len(blocks(page)) for page in PAGES) >= 12
    for page in PAGES:
        assert page.read_text("utf-8").count("<!-- test") == len(blocks(page)), page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text("utf-8")):
        name, _, heading = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{page.name} links to {target}"
        if heading:
            titles = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.M)
            anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
            assert heading in anchors, f"{page.name} links to {target}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda p: p.name)
def test_the_blocks_do_what_they_show(page: Path, place: Path) -> None:
    """One test per page: a block may continue where the one before it ended."""
    missing = []
    for needs, kind, text in blocks(page):
        if needs and not (place / "data" / needs).is_file():
            missing.append(needs)
        elif kind == "python":
            run_python(text, place)
        else:
            run_console(text, place)
    if missing:
        pytest.skip(f"the other blocks pass, but {missing[0]} is not here; see docs/judgments.md")


def run_console(text: str, place: Path) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        program, *words = shlex.split(command)
        plain = program == "dcglearn" and not re.search(r"[{}<>|&;*$`]", command)
        run = run_command(words, place, dict(os.environ)) if plain else in_shell(command, place)
        assert run.returncode == 0, f"$ {command}\n{run.stderr}"
        same = doctest.OutputChecker().check_output(expected, run.stdout, OPTIONS)
        assert same, f"$ {command}\n{run.stdout}"


def in_shell(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return run_program(["bash", "-c", command], place, PATH=path)


def run_python(text: str, place: Path) -> None:
    (place / ".block.txt").write_text(text, "utf-8")
    words = ["-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE", ".block.txt"]
    run = run_command(words, place, dict(os.environ), SAFETY_SECONDS, "doctest")
    assert run.returncode == 0, run.stdout + run.stderr


# --- the tutorial


def shown(notebook: Any) -> list[tuple[str, list[str]]]:
    """The code of each cell, and what it shows: text as it is, of pictures that there is one."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [(cell.source, [*outputs(cell)]) for cell in cells]


def outputs(cell: dict[str, Any]) -> list[str]:
    found = []
    for one in cell["outputs"]:
        if one["output_type"] == "stream":
            found += [one["text"]] * (one["name"] != "stderr")  # progress on slow machines
        elif "image/png" in one["data"]:
            found.append("a picture")
        else:
            found.append(one["data"]["text/plain"])
    return found


def test_a_fresh_execution_shows_what_the_notebook_has(tmp_path: Path) -> None:
    notebook: Any = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    place = shutil.copytree(ROOT / "docs", tmp_path / "docs")
    has, where = shown(notebook), {"metadata": {"path": place}}
    NotebookClient(notebook, timeout=300, coalesce_streams=True, resources=where).execute()
    assert shown(notebook) == has
    kinds = [kind for _, cell in has for kind in cell]
    assert kinds.count("a picture") == 3
