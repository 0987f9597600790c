"""Commands that are given named pipes read them once."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from dcglearn import DCG
from dcglearn.measures.measure_files import measure_to_json

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")

Run = Callable[..., subprocess.CompletedProcess[str]]

JUDGMENTS = (
    '{"a": [2, 0], "b": [1, 1], "answer": "a", "weight": 2}\n{"a": [0], "b": [2], "answer": "b"}\n'
)


def pipe(path: Path, text: str) -> str:
    """Make a pipe that gives a text once."""
    os.mkfifo(path)
    threading.Thread(target=path.write_text, args=(text,), daemon=True).start()
    return path.name


def test_evaluate_reads_qrels_and_runs_from_pipes(run: Run, tmp_path: Path) -> None:
    qrels, one = "q1 0 d1 2\nq1 0 d2 0\n", "q1 Q0 d2 1 2.5 mine\nq1 Q0 d1 2 1.5 mine\n"
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(one)
    expected = run("evaluate", "qrels", "run", "--json")
    assert expected.returncode == 0, expected.stderr
    found = run("evaluate", pipe(tmp_path / "p", qrels), pipe(tmp_path / "r", one), "--json")
    assert found.stdout == expected.stdout
    found = run("evaluate", "qrels", pipe(tmp_path / "other", one.replace("q1", "q9")))
    assert "other: none of its queries is in the qrels" in found.stderr
    found = run("evaluate", "qrels", pipe(tmp_path / "twice", one), "twice")
    assert "twice: appears twice among the runs" in found.stderr


def test_pack_reads_judgments_from_a_pipe(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file.jsonl").write_text(JUDGMENTS)
    for name in ("file.jsonl", pipe(tmp_path / "pipe.jsonl", JUDGMENTS)):
        packed = run("pack", name, f"{name}.parquet")
        assert packed.returncode == 0, packed.stderr
    files = [(tmp_path / f"{name}.jsonl.parquet").read_bytes() for name in ("file", "pipe")]
    assert files[0] == files[1]


def test_explain_reads_a_measure_from_a_pipe(run: Run, tmp_path: Path) -> None:
    text = measure_to_json(DCG({2: 3, 1: 1, 0: 0}))
    (tmp_path / "file.json").write_text(text)
    expected = run("explain", "file.json", "zipf", "--json")
    assert expected.returncode == 0, expected.stderr
    found = run("explain", pipe(tmp_path / "pipe.json", text), "zipf", "--json")
    assert found.stdout == expected.stdout
