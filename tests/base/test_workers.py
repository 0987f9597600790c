"""Workers: one process, several and a cluster give the same bytes, and none hangs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

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
from dcglearn.base import workers
from dcglearn.base.workers import WorkersLostError, open_workers
from dcglearn.judgments import packed
from dcglearn.lab.config import Config, read_config
from dcglearn.lab.results import compute_cells
from dcglearn.lab.simulation.truths import DATA_1
from dcglearn.lab.store import CELLS_FILE, Store
from helpers.commands import run_command
from helpers.processes import PROGRAM, Cluster, Process, Processes

CONFIG = """
experiment = "flips"
figures = [5, 6]
seed = 5
repetitions = 10

[setting]
pairs = 60
test_pairs = 2000
C = "validation"
C_grid = [0.1, 1.0]
validation_pairs = 100

[sweep]
truth = ["data-1", "data-2"]
flips = [0, 10]
"""


def test_one_process_and_several() -> None:
    for spec in ("1", "2", " 3 "):
        with open_workers(spec) as found:
            answers = dict(found(abs, [-1, 2, -3]))
        assert answers == {0: 1, 1: 2, 2: 3}
        with open_workers(spec) as found:
            assert list(found(abs, [])) == []


@pytest.mark.parametrize("spec", ["0", "1.5", "http://x", "99999"])
def test_other_specifications_of_workers_are_refused(spec: str) -> None:
    with pytest.raises(InputError), open_workers(spec):
        pass


def die(item: int) -> int:
    """Kill the process that runs this."""
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def test_a_killed_process_is_an_error_after_the_finished_results() -> None:
    seen: list[int] = []
    with open_workers("2") as found, pytest.raises(WorkersLostError, match="process died"):
        seen.extend(index for index, _ in found(die, range(200)))
    assert 3 not in seen
    with open_workers("2") as found:  # and the next run has workers again
        assert len(list(found(abs, range(4)))) == 4


def test_an_error_of_the_caller_is_all_that_is_said(recwarn: pytest.WarningsRecorder) -> None:
    def taken() -> None:
        with open_workers("2") as found:
            for _ in found(abs, range(1000)):
                raise KeyError

    with pytest.raises(KeyError):
        taken()
    assert not [str(one.message) for one in recwarn if "tasks" in str(one.message)]


def of_another_program(item: int) -> int:
    """Take this process for another program from the second item on."""
    workers.fingerprint = lambda: {"Python": "2.7"}
    return item


def test_results_of_processes_of_other_code_are_computed_again() -> None:
    """As if the files of the package had been edited before another process started."""
    said: list[str] = []
    here = workers.fingerprint
    try:
        with open_workers("2", said.append) as found:
            assert sorted(found(of_another_program, range(50))) == [(i, i) for i in range(50)]
        with open_workers("2") as found:
            assert sorted(found(abs, range(50))) == [(i, i) for i in range(50)]
    finally:
        workers.fingerprint = here
        get_reusable_executor().shutdown(wait=True, kill_workers=True)
    assert len(said) == 1
    assert "has Python 2.7, this process" in said[0]


# --- a run of the command


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a config and of the results that one worker makes of it."""
    folder = tmp_path_factory.mktemp("reference")
    (folder / "small.toml").write_text(CONFIG)
    done = run_command(["run", "small.toml"], folder, dict(os.environ))
    assert done.returncode == 0, done.stderr
    return folder


def begin(processes: Processes, folder: Path, reference: Path, pause: int, spec: str) -> Process:
    """Run the experiment; after a pause, workers may be lost for a moment only."""
    command = ("run", reference / "small.toml", "--workers", spec)
    return processes.start(folder, PROGRAM, pause, 1, *command)


def assert_same_bytes(folder: Path, reference: Path) -> None:
    """Tables and pictures are the same."""
    names = [path.name for path in (reference / "results/small").iterdir()]
    names = [name for name in names if name.startswith(("table.csv", "figure-"))]
    assert len(names) > 2
    for name in names:
        found, expected = (at / "results/small" / name for at in (folder, reference))
        assert found.read_bytes() == expected.read_bytes(), name


def test_killed_interrupted_and_resumed_gives_the_same_bytes(
    reference: Path, tmp_path: Path, processes: Processes
) -> None:
    run = begin(processes, tmp_path, reference, 5, "2")
    assert run.line() == "paused"
    run.kill()
    assert run.finish() == -signal.SIGKILL
    assert (tmp_path / "results/store" / CELLS_FILE).read_text().count("\n") == 5
    assert not (tmp_path / "results/small").exists()
    run = begin(processes, tmp_path, reference, 3, "2")
    assert run.line() == "paused"
    run.signal(signal.SIGINT)
    assert run.finish() == 130
    assert "8 of 40 cells are kept; the same command continues from there" in run.errors()
    assert "Traceback" not in run.errors()
    run = begin(processes, tmp_path, reference, 0, "2")
    assert "40 of 40 cells" in run.line()
    assert run.finish() == 0, run.errors()
    assert_same_bytes(tmp_path, reference)


def test_losing_all_workers_of_a_cluster_is_an_error_of_the_command(
    reference: Path, tmp_path: Path, cluster: Cluster, processes: Processes
) -> None:
    only = cluster.add()
    run = begin(processes, tmp_path, reference, 2, cluster.address)
    assert run.line() == "paused"
    cluster.kill(only)
    run.resume()
    assert run.finish() == 1
    assert "of 40 cells are kept; the same command continues from there" in run.errors()
    assert "Traceback" not in run.errors()


# --- cells of an experiment


@pytest.fixture(scope="module")
def config(reference: Path) -> Config:
    return read_config(reference / "small.toml")


@pytest.fixture(scope="module")
def expected(config: Config, reference: Path) -> list[object]:
    return results(config, Store(reference / "results/store"))


def results(config: Config, store: Store) -> list[object]:
    return [store.get(cell) for _, cell in config.cells()]


Event = Callable[[], object]


def compute(
    config: Config, store: Store, spec: str, events: dict[int, Event] | None = None
) -> list[str]:
    """Compute cells; after some of them something happens. Return what is said of workers."""
    said: list[str] = []
    left = events or {}

    def advance(done: int, total: int) -> None:
        if done in left:
            left.pop(done)()

    with open_workers(spec, said.append) as found:
        if 0 in left:
            left.pop(0)()
        compute_cells(config, False, store, found, advance)
    assert not left
    return said


def test_a_cluster_gives_the_same_bytes_and_survives_a_lost_worker(
    config: Config, expected: list[object], tmp_path: Path, cluster: Cluster
) -> None:
    lost = cluster.add()
    cluster.add()
    store = Store(tmp_path)
    assert compute(config, store, cluster.address, {3: lambda: cluster.kill(lost)}) == []
    assert results(config, store) == expected


OTHER_PROGRAMS = {
    "other": ("base/workers.py", "MORE = True"),
    "lacking": ("base/workers.py", "raise ImportError"),  # what it is to run
    "foreign": ("base/fingerprint.py", "raise ImportError"),  # what it is asked first
}


def other_program(folder: Path, name: str) -> str:
    """Copy the package with a line more; return the folder to put first in PYTHONPATH."""
    file, line = OTHER_PROGRAMS[name]
    package = Path(workers.__file__).parent.parent
    there = folder / name / "dcglearn"
    shutil.copytree(package, there, ignore=shutil.ignore_patterns("__pycache__"))
    with (there / file).open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    return str(folder / name)


@pytest.mark.parametrize("name", OTHER_PROGRAMS)
def test_results_of_another_program_do_not_count(
    name: str, tmp_path: Path, cluster: Cluster
) -> None:
    """Its worker is refused at the start; what one that joins later is given is computed again."""
    other = other_program(tmp_path, name)
    differs = cluster.add(other)
    with pytest.raises(InputError, match="worker tcp"), open_workers(cluster.address):
        pass
    cluster.let_go(differs)
    fits = cluster.add(MARK="fits")
    said: list[str] = []
    with open_workers(cluster.address, said.append) as found:
        cluster.add(other, MARK="differs")
        marks = dict(found(os.getenv, ["MARK"] * 200))
        assert set(marks) == set(range(200))
        assert set(marks.values()) <= {"fits", None}  # None is of this process
        assert len(said) == (None in marks.values())
        if name == "other":  # Dask ends the others when they are given work
            cluster.kill(fits)
            assert dict(found(os.getenv, ["MARK"] * 200)) == dict.fromkeys(range(200))
            assert "has dcglearn's code" in said[-1]


def test_workers_that_come_go_and_differ_leave_no_trace_in_the_results(
    config: Config, expected: list[object], tmp_path: Path, cluster: Cluster
) -> None:
    """One of another program joins and leaves, one that fits dies and comes back."""
    fits = cluster.add()
    differs: list[Process] = []
    events: dict[int, Event] = {
        0: lambda: differs.append(cluster.add(other_program(tmp_path, "other"))),
        3: lambda: (cluster.kill(fits), cluster.add()),
        10: lambda: cluster.let_go(differs[0]),
    }
    store = Store(tmp_path)
    compute(config, store, cluster.address, events)
    assert results(config, store) == expected


def test_a_lost_scheduler_is_an_error_and_finished_cells_are_kept(
    config: Config,
    expected: list[object],
    tmp_path: Path,
    processes: Processes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 600)
    monkeypatch.setattr(workers, "LOST_SECONDS", 600)
    lost = Cluster(tmp_path, processes)
    lost.add()

    def end() -> None:
        lost.scheduler.kill()
        monkeypatch.setattr(workers, "LOST_SECONDS", 1)

    with pytest.raises(WorkersLostError):
        compute(config, Store(tmp_path), lost.address, {2: end})
    store = Store(tmp_path)
    assert sum(result is not None for result in results(config, store)) >= 2
    compute(config, store, "1")
    assert results(config, store) == expected


# --- packed pairs


def test_a_cluster_reads_packed_pairs_to_the_same_answer(
    tmp_path: Path, cluster: Cluster, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if a worker is killed in between."""
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 200)
    path = tmp_path / "p.parquet"
    with packed_writer(path, Scale((5, 4, 3, 2, 1))) as write:
        write(true_pairs(DATA_1, permuted_lists(1000, rng)))
    here = Problem.packed(PackedPairs.of(path))
    W, measures = solve(here).W, [DCG([5, 4, 3, 2, 1], "log2")]
    killed = cluster.add()
    cluster.add()
    with open_workers(cluster.address) as found:
        there = Problem.packed(PackedPairs.of(path), workers=found)
        assert (W == solve(there).W).all()
        cluster.kill(killed)
        assert (W == solve(there).W).all()
        assert there.source.agreements(measures) == here.source.agreements(measures)
        path.unlink()
        with pytest.raises(InputError, match=r"p\.parquet"):
            solve(there)


# --- addresses


def test_a_scheduler_without_workers_is_refused(cluster: Cluster) -> None:
    with pytest.raises(InputError, match="no workers"), open_workers(cluster.address):
        pass


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.0 400 Bad request\r\n\r\n"])
def test_an_address_where_something_else_answers_is_refused(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A silent port, and a web server such as the dashboard."""
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def serve() -> None:
            with suppress(OSError):  # it is closed
                while True:
                    connection, _ = server.accept()
                    held.append(connection)
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        monkeypatch.setattr(workers, "CONNECT_SECONDS", 1)
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(InputError, match=address), open_workers(address):
            pass
        for connection in held:
            connection.close()


def test_an_address_where_nothing_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # not listening
        port = free.getsockname()[1]
        for address in (f"tcp://127.0.0.1:{port}", "tcp://127.0.0.1:notaport"):
            with pytest.raises(InputError, match=address), open_workers(address):
                pass
