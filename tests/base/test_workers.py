"""Workers: one process, several and a cluster give the same bytes, and none hangs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    DCG,
    InputError,
    PackedPairs,
    Problem,
    Scale,
    packed_writer,
    permuted_lists,
    solve,
    true_pairs,
)
from dcglearn.base import threads, workers
from dcglearn.base.workers import WorkersLostError, open_workers
from dcglearn.judgments import packed
from dcglearn.lab.results import CELLS_FILE
from helpers.commands import run_command
from helpers.processes import PROGRAM, Cluster, Process, Processes
from helpers.truths import DATA_1

CONFIG = """
experiment = "flips"
figures = [5]
seed = 5
repetitions = 6

[setting]
pairs = 60
test_pairs = 500
C = 1.0

[sweep]
truth = ["data-1"]
flips = [0, 10]
"""


@pytest.mark.parametrize(
    "spec", ["0", "1.5", "\u0661", "http://x", "99999", "tcp://127.0.0.1:notaport"]
)
def test_other_specifications_of_workers_are_refused(spec: str) -> None:
    with pytest.raises(InputError), open_workers(spec):
        pass


def die(item: int) -> int:
    """Kill the process that runs this."""
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def of_another_program(item: int) -> int:
    """Take this process for another program from the second item on."""
    workers.fingerprint = lambda: {"Python": "2.7"}
    return item


def fail(item: int) -> int:
    """Raise an error, as no function of this package does."""
    raise KeyError(item)


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (die, WorkersLostError, "process died"),
        (of_another_program, WorkersLostError, "has Python 2.7, this process"),
        (fail, KeyError, None),
    ],
)
def test_processes_that_fail_are_an_error_after_the_finished_results(
    function: Callable[[int], int], error: type[Exception], words: str | None
) -> None:
    """Another program is as if the package had been edited before another process started."""
    seen: list[tuple[int, int]] = []
    with open_workers("2") as found, pytest.raises(error, match=words):
        seen.extend(found(function, range(50)))
    assert all(index == item for index, item in seen)
    assert 3 not in dict(seen) or function is not die
    for spec in ("1", "2") if function is die else ():  # and the next run has workers again
        with open_workers(spec) as found:
            assert dict(found(abs, [-1, 2, -3])) == {0: 1, 1: 2, 2: 3}
            assert list(found(abs, [])) == []


def starts_threads(item: int) -> bool:
    """Return whether a map runs on other threads than the one that asks."""
    return set(threads.map_threads(lambda _: threading.get_ident(), range(4))) != {
        threading.get_ident()
    }


def test_processes_of_a_pool_start_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_processors", lambda: 2)
    assert starts_threads(0), "this process, which is not of a pool, does"
    with open_workers("2") as found:
        assert dict(found(starts_threads, range(4))) == dict.fromkeys(range(4), False)


# --- a run of the command


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a config and of the results that one worker makes of it."""
    folder = tmp_path_factory.mktemp("reference")
    (folder / "small.toml").write_text(CONFIG)
    done = run_command(["run", "small.toml"], folder, dict(os.environ))
    assert done.returncode == 0, done.stderr
    return folder


def test_killed_interrupted_and_resumed_gives_the_same_bytes(
    reference: Path, tmp_path: Path, processes: Processes
) -> None:
    command = ["run", str(reference / "small.toml"), "--workers", "2"]

    def paused(after: int) -> Process:
        run = processes.start(tmp_path, PROGRAM, after, 1, *command)
        assert run.line() == "paused"
        return run

    run = paused(5)
    run.kill()
    assert run.finish() == -signal.SIGKILL
    assert (tmp_path / "results" / CELLS_FILE).read_text().count("\n") == 5
    assert not (tmp_path / "results/small").exists()
    run = paused(3)
    run.signal(signal.SIGINT)
    assert run.finish() == 130
    assert "8 of 12 cells are kept; the same command continues from there" in run.errors()
    assert "Traceback" not in run.errors()
    done = run_command([*command[:-1], "1"], tmp_path, dict(os.environ))
    assert "12 of 12 cells" in done.stdout, done.stderr
    tables = [path.name for path in (reference / "results/small").iterdir()]
    names = [name for name in tables if name.startswith(("table.csv", "figure-"))]
    assert len(names) > 1
    for name in names:
        found, expected = (at / "results/small" / name for at in (tmp_path, reference))
        assert found.read_bytes() == expected.read_bytes(), name


# --- a cluster


def test_a_cluster_whose_workers_come_and_go_gives_every_result(cluster: Cluster) -> None:
    lost, done = cluster.add(), []
    with open_workers(cluster.address) as found:
        for index, _ in found(time.sleep, [0.05] * 40):
            done.append(index)
            if len(done) == 3:
                cluster.kill(lost)
                cluster.add()
    assert sorted(done) == list(range(40))


def other_program(folder: Path, name: str, file: str, line: str) -> str:
    """Copy the package with a line more; return the folder to put first in PYTHONPATH."""
    there = folder / name / "dcglearn"
    package = Path(workers.__file__).parent.parent
    shutil.copytree(package, there, ignore=shutil.ignore_patterns("__pycache__"))
    with (there / file).open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    return str(folder / name)


def test_results_of_another_program_do_not_count(tmp_path: Path, cluster: Cluster) -> None:
    """Its worker is refused at the start; one that joins later is an error."""
    other = other_program(tmp_path, "other", "base/workers.py", "MORE = True")
    foreign = other_program(tmp_path, "foreign", "base/workers.py", "raise ImportError")
    fits = cluster.add(MARK="fits")
    with open_workers(cluster.address) as found:
        differs = cluster.add(other, MARK="differs")
        marks = []
        with suppress(WorkersLostError):
            marks += [mark for _, mark in found(os.getenv, ["MARK"] * 200)]
        assert {*marks} <= {"fits"}
        cluster.kill(fits)
        with pytest.raises(WorkersLostError, match="has dcglearn's code"):
            list(found(os.getenv, ["MARK"] * 200))
    cluster.add(foreign)
    for worker in (differs, *cluster.workers[1:]):
        with pytest.raises(InputError, match="worker tcp"), open_workers(cluster.address):
            pass
        cluster.let_go(worker)
    with pytest.raises(InputError, match="no workers"), open_workers(cluster.address):
        pass


def test_a_lost_scheduler_is_an_error(
    tmp_path: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 600)
    monkeypatch.setattr(workers, "LOST_SECONDS", 600)
    lost, gathered = Cluster(tmp_path, processes), workers._gathered
    lost.add()

    def without_scheduler(*arguments: Any) -> Iterator[workers.Answer]:
        """Gather what was submitted to a scheduler that is gone before the first result."""
        lost.scheduler.kill()
        monkeypatch.setattr(workers, "LOST_SECONDS", 0.2)
        return gathered(*arguments)

    monkeypatch.setattr(workers, "_gathered", without_scheduler)
    with open_workers(lost.address) as found, pytest.raises(WorkersLostError):
        list(found(abs, range(50)))


# --- packed pairs


def test_a_cluster_reads_packed_pairs_to_the_same_answer(
    tmp_path: Path, cluster: Cluster, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 200)
    path = tmp_path / "p.parquet"
    with packed_writer(path, Scale((5, 4, 3, 2, 1))) as write:
        write(true_pairs(DATA_1, permuted_lists(1000, rng)))
    here = Problem.packed(PackedPairs.of(path))
    W, measures = solve(here).W, [DCG([5, 4, 3, 2, 1], "log2")]
    cluster.add()
    with open_workers(cluster.address) as found:
        there = Problem.packed(PackedPairs.of(path), workers=found)
        assert (W == solve(there).W).all()
        assert there.agreements(measures) == here.agreements(measures)
        path.unlink()
        with pytest.raises(InputError, match=r"p\.parquet"):
            solve(there)


# --- addresses


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.0 400 Bad request\r\n\r\n", None])
def test_an_address_without_a_scheduler_is_refused(
    answer: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A silent port, a web server such as the dashboard, and a port where nothing listens."""
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.1)
    held: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):  # it is closed
            while answer is not None:
                held.append(server.accept()[0])
                held[-1].sendall(answer)

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if answer is not None:
            server.listen()
        threading.Thread(target=serve, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(InputError, match=address), open_workers(address):
            pass
    for connection in held:
        connection.close()
