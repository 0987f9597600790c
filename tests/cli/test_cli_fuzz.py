"""Every command on strange files and options: it succeeds, or one line says why not.

``DCGLEARN_FUZZ=200`` runs 200 times as many examples, other ones for each number.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import threading
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, seed, settings
from hypothesis import strategies as st

from helpers.command_lines import (
    command_lines,
    feed_pipe,
    release_pipe,
    write_files,
)
from helpers.commands import run_command

TIMES = int(os.environ.get("DCGLEARN_FUZZ", "1"))
EXAMPLES = 20 * TIMES
"""Commands that are run; some seconds."""

SECONDS = 60
"""A command on these files that takes longer hangs."""

ENCODINGS = ["utf-8", "utf-8", "ascii", "latin-1"]
_NOT_A_NUMBER = re.compile(r"(?<![\w.+])[-+]?(nan|inf|Infinity)(?!\w)", re.IGNORECASE)
_PIPES = {"pipe.jsonl": "p.jsonl", "pipe": "qrels"}


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
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file()
    }


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(constant)


def _check_whole(name: str, content: bytes) -> None:
    """Check that a file that a command wrote is whole."""
    match Path(name).suffix:
        case ".json":
            json.loads(content, parse_constant=_refuse)
        case ".jsonl":
            for row in content.decode().splitlines():
                json.loads(row, parse_constant=_refuse)
        case ".csv":
            assert len({len(row) for row in csv.reader(io.StringIO(content.decode()))}) == 1
        case ".parquet":
            assert content.startswith(b"PAR1")
            assert content.endswith(b"PAR1")
        case ".png":
            assert content.endswith(b"IEND\xaeB`\x82")
        case ".svg":
            assert content.rstrip().endswith(b"</svg>")
        case ".pdf":
            assert content.rstrip().endswith(b"%%EOF")


def _check_output(line: list[str], printed: str) -> None:
    """Check what a command that succeeded printed."""
    if "--json" in line or ("json" in line[1:] and "--out" not in line):
        json.loads(printed, parse_constant=_refuse)
    if line[0] != "export" and not _NOT_A_NUMBER.search(" ".join(line)):
        assert not _NOT_A_NUMBER.search(printed), printed


def _check_files(
    line: list[str], failed: bool, before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    """Check that a command wrote what it names, whole, or nothing."""
    assert before.keys() <= after.keys()
    changed = [name for name in after if before.get(name) != after[name]]
    assert not (failed and changed)
    for name in changed:
        more = {"show": ".png", "judge": (".html", ".xml")}.get(line[0])
        assert name in line or (more and name.endswith(more)), name
        if line[0] != "export":  # it writes text, whatever the suffix
            _check_whole(name, after[name])


def check_command(files: Path, line: list[str], encoding: str = "utf-8") -> None:
    """Run a command on a copy of the files, and check all that holds for any command."""
    place, temporary = files.parent / "copy", files.parent / "temporary"
    for folder in (place, temporary):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(files, place)
    temporary.mkdir()
    pipes = [name for name in _PIPES if name in line]
    threads = []
    for name in pipes:
        os.mkfifo(place / name)
        text = (place / _PIPES[name]).read_text()
        threads.append(threading.Thread(target=feed_pipe, args=(place / name, text)))
        threads[-1].start()
    before = _contents(place)
    try:
        env = {**os.environ, "PYTHONIOENCODING": encoding, "TMPDIR": str(temporary)}
        found = run_command(line, place, {**env, "COLUMNS": "100"}, SECONDS)
    finally:
        for name in pipes:
            release_pipe(place / name)
        for thread in threads:
            thread.join()
    assert found.returncode in (0, 1, 2), found.stderr
    assert "Traceback" not in found.stderr
    assert "Warning" not in found.stderr, found.stderr
    for unseen in ("\x1b", "\u202e", "\x9b"):
        assert unseen not in found.stdout + found.stderr
    if found.returncode:
        said = [row for row in found.stderr.splitlines() if row.startswith("dcglearn: ")]
        assert len(said) == 1, found.stderr
        assert found.stderr.splitlines()[-1] == said[0]
    else:
        _check_output(line, found.stdout)
    assert not list(temporary.iterdir())
    if line[0] in ("run", "reproduce", "report", "status"):
        return  # their folder of results has tests of its own
    _check_files(line, bool(found.returncode), before, _contents(place))


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # each example runs a program, which takes long
    phases=[Phase.explicit, Phase.generate] if TIMES == 1 else list(Phase),
    report_multiple_bugs=True,
)
@seed(TIMES)
@given(line=command_lines(), encoding=st.sampled_from(ENCODINGS))
@example(line=["fit", "p.jsonl", "--C", "1e-300"], encoding="utf-8")
@example(line=["evaluate", "large", "run", "-m", "exponential-log2"], encoding="utf-8")
@example(line=["evaluate", "qrels", "run", "-m", "zipf @ " + "9" * 4301], encoding="utf-8")
@example(line=["run", "deep.toml"], encoding="utf-8")
@example(
    line=["explain", "DCG([1e-320, 0], log2)", "DCG([1e308, 0], log2)", "--K", "2"],
    encoding="utf-8",
)
def test_commands_end_well(files: Path, line: list[str], encoding: str) -> None:
    assume(all(line.count(name) < 2 for name in _PIPES))  # a pipe can be read only once
    check_command(files, [part.replace("\0", "") for part in line], encoding)
