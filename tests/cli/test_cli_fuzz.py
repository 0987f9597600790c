"""Every command on strange files and options: it succeeds, or one line says why not.

``DCGLEARN_FUZZ=200`` runs 200 times as many examples, other ones for each number.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, Phase, example, given, seed, settings
from hypothesis import strategies as st

from helpers.command_lines import command_lines, write_files
from helpers.commands import run_command

TIMES = int(os.environ.get("DCGLEARN_FUZZ", "1"))
EXAMPLES = 20 * TIMES
"""Commands that are run; some seconds."""

SECONDS = 60
"""A command on these files that takes longer hangs."""

_NOT_A_NUMBER = re.compile(r"(?<![\w.+])[-+]?(nan|inf|Infinity)(?!\w)", re.IGNORECASE)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files to copy for each command."""
    place = tmp_path_factory.mktemp("fuzz") / "files"
    place.mkdir()
    write_files(place)
    for line in (
        ["fit", "p.jsonl", "-o", "learned.json"],
        ["pack", "p.jsonl", "packed.parquet"],
        ["simulate", "p.parquet", "-n", "9"],
    ):
        assert run_command(line, place, dict(os.environ)).returncode == 0
    shutil.copy(place / "learned.json", place / "é.json")
    (place / "torn.parquet").write_bytes((place / "packed.parquet").read_bytes()[:-90])
    return place


def _contents(place: Path) -> dict[str, bytes]:
    paths = [path for path in place.rglob("*") if path.is_file()]
    return {str(path.relative_to(place)): path.read_bytes() for path in paths}


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(constant)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # each example runs a program, which takes long
    phases=[Phase.explicit, Phase.generate] if TIMES == 1 else list(Phase),
    report_multiple_bugs=True,
)
@seed(TIMES)
@given(line=command_lines(), encoding=st.sampled_from(["utf-8", "utf-8", "ascii", "latin-1"]))
@example(line=["fit", "p.jsonl", "--C", "1e-300"], encoding="utf-8")
@example(line=["evaluate", "large", "run", "-m", "exponential-log2"], encoding="utf-8")
@example(line=["evaluate", "qrels", "run", "-m", "zipf @ " + "9" * 4301], encoding="utf-8")
@example(line=["run", "deep.toml"], encoding="utf-8")
@example(
    line=["explain", "DCG([1e-320, 0], log2)", "DCG([1e308, 0], log2)", "--K", "2"],
    encoding="utf-8",
)
def test_commands_end_well(files: Path, line: list[str], encoding: str) -> None:
    line = [part.replace("\0", "") for part in line]
    place, temporary = files.parent / "copy", files.parent / "temporary"
    for folder in (place, temporary):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(files, place)
    temporary.mkdir()
    before = _contents(place)
    env = {**os.environ, "PYTHONIOENCODING": encoding, "TMPDIR": str(temporary), "COLUMNS": "100"}
    found = run_command(line, place, env, SECONDS)
    assert found.returncode in (0, 1, 2), found.stderr
    assert "Traceback" not in found.stderr
    assert "Warning" not in found.stderr, found.stderr
    for unseen in ("\x1b", "\u202e", "\x9b"):
        assert unseen not in found.stdout + found.stderr
    assert not list(temporary.iterdir())
    if found.returncode:
        said = [row for row in found.stderr.splitlines() if row.startswith("dcglearn: ")]
        assert said == found.stderr.splitlines()[-1:], found.stderr
    else:
        if "--json" in line:
            json.loads(found.stdout, parse_constant=_refuse)
        if line[0] != "export" and not _NOT_A_NUMBER.search(" ".join(line)):
            assert not _NOT_A_NUMBER.search(found.stdout), found.stdout
    if line[0] not in ("run", "reproduce", "report", "status"):  # their folder has its own tests
        after = _contents(place)
        changed = [name for name in after if before.get(name) != after[name]]
        assert before.keys() <= after.keys()
        assert not (found.returncode and changed)
        more = {"show": ".png", "judge": (".html", ".xml")}.get(line[0], "/")
        assert all(name in line or name.endswith(more) for name in changed)
