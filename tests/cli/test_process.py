"""How commands begin and end: pipes, closed streams, signals, and errors nobody foresaw."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dcglearn import DCG
from dcglearn.cli import UNFORESEEN
from dcglearn.measures.measure import measure_to_json
from helpers.commands import Run, run_program
from helpers.own_functions import FLIPS
from helpers.processes import PROGRAM, Processes
from helpers.written import write

JUDGMENTS = (
    '{"query": "q1", "a": ["good", "é"], "b": ["é", "good"], "answer": "a"}\n'
    '{"query": "q2", "a": ["é", "good"], "b": ["good", "é"], "answer": "b"}\n'
)

FAULTY = """
import sys
from dcglearn.base import progress
from dcglearn.report import judgments

progress.QUIET_SECONDS = 900

def fail(*arguments):
    raise KeyError("no\\x1b[31m\\nsuch")

judgments.contents_text = fail
sys.argv[0] = "dcglearn"
from dcglearn.__main__ import main
main()
"""
"""The program with a fault in it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.jsonl").write_text(JUDGMENTS, encoding="utf-8")
    return tmp_path


def shell(line: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run_program(["bash", "-c", f"{sys.executable} {line}"], folder, **env)


def test_an_unforeseen_error_is_one_line(folder: Path) -> None:
    (folder / "faulty.py").write_text(FAULTY)
    found = shell("faulty.py inspect p.jsonl --scale good,é", folder)
    assert found.returncode == UNFORESEEN
    assert found.stderr.count("\n") == 1
    assert "unexpected error (KeyError: 'no\\x1b[31m\\nsuch'); please report it" in found.stderr
    shown = shell("faulty.py --debug inspect p.jsonl --scale good,é", folder)
    assert shown.returncode == UNFORESEEN
    assert shown.stderr.startswith("Traceback")
    assert "dcglearn: unexpected error" in shown.stderr.splitlines()[-1]


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    line = "-m dcglearn agree p.jsonl --scale good,é"
    found = shell(f"{line} | head -1; exit ${{PIPESTATUS[0]}}", folder)
    assert "Traceback" not in found.stderr
    assert "strict judgments" in found.stdout
    assert found.returncode == 0
    assert "Traceback" not in shell(f"{line} >&-", folder).stderr


def test_a_closed_standard_error_fails_no_valid_input(folder: Path) -> None:
    line = "-m dcglearn pack p.jsonl packed.parquet --scale good,é"
    wrong = shell(f"{line} -o none/x 2>&-", folder)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert shell(f"{line} >&- 2>&- <&-", folder).returncode == 0
    assert (folder / "packed.parquet").exists()


@pytest.mark.parametrize(
    ("number", "code", "command"),
    [
        (signal.SIGTERM, 143, "fit p.jsonl --intervals 9000 -o x.json"),
        (signal.SIGINT, 130, "compare p.jsonl --C cv -o x.md"),
    ],
)
def test_signals_leave_nothing(
    run: Run, tmp_path: Path, number: signal.Signals, code: int, command: str
) -> None:
    assert run("simulate", "p.jsonl", "-n", "20000").returncode == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "dcglearn", *command.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    stages = ("choosing C", "learning from", "comparing")
    next(line for line in process.stderr if line.startswith(stages))  # the work is under way
    process.send_signal(number)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == code
    assert "interrupted; nothing half-written is left" in rest
    assert "Traceback" not in rest
    assert [path.name for path in tmp_path.iterdir()] == ["p.jsonl"]


def in_session(leader: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                found.append(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("number", "whole_group", "code"),
    [
        (signal.SIGINT, True, 130),
        (signal.SIGKILL, False, -9),
    ],
)
def test_workers_end_with_their_parent(
    tmp_path: Path, processes: Processes, number: signal.Signals, whole_group: bool, code: int
) -> None:
    (tmp_path / "temporary").mkdir()
    (tmp_path / "flips.toml").write_text(FLIPS.replace("repetitions = 2", "repetitions = 1000"))
    run = processes.start(
        tmp_path,
        PROGRAM,
        *(3, 600, "run", "flips.toml", "--workers", "2"),
        TMPDIR=str(tmp_path / "temporary"),
    )
    assert run.line() == "paused"
    (os.killpg if whole_group else os.kill)(run.pid, number)
    assert run.finish() == code, run.errors()
    assert "Traceback" not in run.errors()
    while in_session(run.pid):  # a time limit ends a test that waits here for ever
        pass
    assert list((tmp_path / "temporary").iterdir()) == []
    made = {path.name for path in tmp_path.rglob("*")} - {"temporary", "flips.toml"}
    assert {name.partition("-")[0] for name in made} == {"results", "store", "cells.jsonl"}


NO_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
FILES = {
    "qrels": "q1 0 d1 2\nq1 0 d2 0\n",
    "run": "q1 Q0 d2 1 2.5 mine\nq1 Q0 d1 2 1.5 mine\n",
    "p.jsonl": '{"a": [2, 0], "b": [1, 1], "answer": "a"}\n{"a": [0], "b": [2], "answer": "b"}\n',
    "measure.json": measure_to_json(DCG({2: 3, 1: 1, 0: 0})),
}


def pipe(path: Path, text: str) -> None:
    """Make a pipe that gives a text once."""
    os.mkfifo(path)
    threading.Thread(target=path.write_text, args=(text,), daemon=True).start()


@NO_PIPES
@pytest.mark.parametrize(
    "command",
    ["evaluate qrels run --json", "pack p.jsonl out.parquet", "explain measure.json zipf --json"],
)
def test_pipes_are_read_as_files(run: Run, tmp_path: Path, command: str) -> None:
    said, written = [], []
    for kind, give in (("files", write), ("pipes", pipe)):
        folder = tmp_path / kind
        folder.mkdir()
        for name in FILES.keys() & set(command.split()):
            give(folder / name, FILES[name])
        found = run(*command.split(), cwd=folder)
        assert found.returncode == 0, found.stderr
        said.append(found.stdout)
        written.append([path.read_bytes() for path in folder.glob("out.*")])
    assert said[0] == said[1]
    assert written[0] == written[1]


@NO_PIPES
def test_a_pipe_that_is_given_twice_is_named(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "qrels", FILES["qrels"])
    pipe(tmp_path / "twice", FILES["run"])
    found = run("evaluate", "qrels", "twice", "twice")
    assert "twice: appears twice among the runs" in found.stderr
