"""Commands that are given named pipes read them once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from dcglearn import DCG
from dcglearn.measures.measure_files import measure_to_json
from helpers.commands import Run
from helpers.written import write

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")

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


def test_a_pipe_that_is_given_twice_is_named(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "qrels", FILES["qrels"])
    pipe(tmp_path / "twice", FILES["run"])
    found = run("evaluate", "qrels", "twice", "twice")
    assert "twice: appears twice among the runs" in found.stderr
