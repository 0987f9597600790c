"""Workers: one process, several and a cluster give the same bytes, and none hangs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from dcglearn import InputError, PackedPairs, Scale, Streamed, permuted_lists, solve, true_pairs
from dcglearn.base import cluster as cluster_module
from dcglearn.base import workers
from dcglearn.base.workers import WorkersLostError
from dcglearn.base.workers import open_workers
from dcglearn.judgments import packed
from dcglearn.simulation.truths import DATA_1
from helpers.packed_files import write_packed
from helpers.processes import PROGRAM, Cluster, Processes

CONFIG = """
experiment = "flips"
figures = [5, 6]
seed = 5
repetitions = 20

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


@pytest.mark.parametrize("spec", ["0", "-1", "two", "", "1.5", "http://x", "99999"])
def test_other_specifications_of_workers_are_refused(spec: str) -> None:
    with pytest.raises(InputError, match="use a number from 1 to 1024, or tcp"), open_workers(spec):
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


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A config and the table that one worker makes of it."""
    folder = tmp_path_factory.mktemp("reference")
    config = folder / "small.toml"
    config.write_text(CONFIG)
    finish(folder, config, "1")
    return config, table(folder)


def finish(folder: Path, config: Path, spec: str) -> str:
    """Run the experiment to its end and return what it writes to standard error."""
    started = Processes()
    try:
        run = started.start(folder, PROGRAM, 0, 600, "run", config, "--workers", spec)
        printed = run.line()
        assert run.finish() == 0, run.errors()
        assert "80 of 80 cells" in printed
        return run.errors()
    finally:
        started.close()


def table(folder: Path) -> bytes:
    return (folder / "results" / "small" / "table.csv").read_bytes()


def records(folder: Path) -> int:
    return (folder / "results" / "store" / "cells.jsonl").read_bytes().count(b"\n{")


def test_two_workers_give_the_same_bytes(reference: tuple[Path, bytes], tmp_path: Path) -> None:
    config, expected = reference
    finish(tmp_path, config, "2")
    assert table(tmp_path) == expected
    pictures = list((tmp_path / "results" / "small").glob("figure-*"))
    assert pictures
    for picture in pictures:
        assert picture.read_bytes() == (config.parent / "results/small" / picture.name).read_bytes()


@pytest.mark.parametrize("spec", ["1", "2"])
def test_killed_and_resumed_gives_the_same_bytes(
    reference: tuple[Path, bytes], tmp_path: Path, processes: Processes, spec: str
) -> None:
    config, expected = reference
    run = processes.start(tmp_path, PROGRAM, 5, 600, "run", config, "--workers", spec)
    assert run.line() == "paused"
    run.kill()
    assert run.finish() == -signal.SIGKILL
    assert records(tmp_path) == 5
    assert not (tmp_path / "results" / "small").exists()
    store = tmp_path / "results" / "store" / "cells.jsonl"
    store.write_bytes(store.read_bytes()[:-9])  # as if it had been killed while writing
    assert "ignored 1 torn record; missing cells are computed again" in finish(
        tmp_path, config, spec
    )
    assert table(tmp_path) == expected


def test_ctrl_c_keeps_finished_cells(
    reference: tuple[Path, bytes], tmp_path: Path, processes: Processes
) -> None:
    config, expected = reference
    run = processes.start(tmp_path, PROGRAM, 3, 600, "run", config, "--workers", "2")
    assert run.line() == "paused"
    run.signal(signal.SIGINT)
    assert run.finish() == 130
    assert "3 of 80 cells are kept; the same command continues from there" in run.errors()
    assert "Traceback" not in run.errors()
    finish(tmp_path, config, "1")
    assert table(tmp_path) == expected


@pytest.mark.parametrize("what", ["results", "results/store/cells.jsonl", ""])
def test_a_store_that_is_removed_during_a_run_is_noticed(
    reference: tuple[Path, bytes], tmp_path: Path, processes: Processes, what: str
) -> None:
    """While cells are added, and after the last one; or it is cut."""
    config, expected = reference
    for pause in (3, 80):
        run = processes.start(tmp_path, PROGRAM, pause, 600, "run", config)
        assert run.line() == "paused"
        if what:
            shutil.rmtree(tmp_path / what) if what == "results" else (tmp_path / what).unlink()
        else:
            (tmp_path / "results/store/cells.jsonl").write_bytes(b"")
        run.resume()
        assert run.finish() == 2
        assert "cells.jsonl: was removed, replaced or cut during the run" in run.errors()
        shutil.rmtree(tmp_path / "results", ignore_errors=True)
    finish(tmp_path, config, "1")
    assert table(tmp_path) == expected


@pytest.fixture
def cluster(tmp_path: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 600)
    monkeypatch.setattr(cluster_module, "LOST_SECONDS", 600)
    return Cluster(tmp_path, processes)


def test_a_cluster_gives_the_same_bytes_and_survives_a_lost_worker(
    reference: tuple[Path, bytes], tmp_path: Path, cluster: Cluster, processes: Processes
) -> None:
    config, expected = reference
    cluster.add()
    cluster.add()
    run = processes.start(tmp_path, PROGRAM, 3, 600, "run", config, "--workers", cluster.address)
    assert run.line() == "paused"
    cluster.workers[0].kill()
    assert cluster.workers[0].finish() == -signal.SIGKILL
    run.resume()
    assert run.finish() == 0, run.errors()
    assert table(tmp_path) == expected


def test_a_cluster_reads_packed_judgments_for_a_fit(
    run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, cluster: Cluster
) -> None:
    """To the end of the command: what is printed needs passes, too."""
    cluster.add()
    assert run("simulate", "p.jsonl", "-n", "200", cwd=tmp_path).returncode == 0
    assert run("pack", "p.jsonl", "p.parquet", cwd=tmp_path).returncode == 0
    here = run("fit", "p.parquet", cwd=tmp_path)
    there = run("fit", "p.parquet", "--workers", cluster.address, cwd=tmp_path)
    assert there.returncode == 0, there.stderr
    assert there.stdout == here.stdout


OTHER_PROGRAMS = {
    # results of other code, honestly labelled
    "other": (
        "trials/compute.py",
        '"precision": exact.agreement(',
        '"precision": 0.5 * exact.agreement(',
    ),
    # one that computes without a look at what is wanted, as earlier versions did
    "earlier": ("base/cluster.py", "    there = program_for(function)\n", "    return [(-1, 0)]\n"),
    # one that computes all the same, and says what it is
    "careless": (
        "base/cluster.py",
        "_run_batch(function, batch) if there == wanted else []",
        "[(index, {'result': {'precision': 0.5}}) for index, _ in batch]",
    ),
    # one that lacks what it is to run
    "lacking": ("base/cluster.py", "def _answer(", "def _renamed("),
}


def other_program(folder: Path, name: str) -> str:
    """Copy the package with a change; return the folder to put first in PYTHONPATH."""
    file, old, new = OTHER_PROGRAMS[name]
    package = Path(workers.__file__).parent.parent
    there = folder / name / "dcglearn"
    shutil.copytree(package, there, ignore=shutil.ignore_patterns("__pycache__"))
    text = (there / file).read_text("utf-8")
    assert text.count(old) == 1
    (there / file).write_text(text.replace(old, new), "utf-8")
    return str(folder / name)


@pytest.mark.parametrize("name", OTHER_PROGRAMS)
def test_results_of_another_program_that_joins_during_a_run_are_computed_again(
    reference: tuple[Path, bytes], tmp_path: Path, cluster: Cluster, processes: Processes, name: str
) -> None:
    config, expected = reference
    cluster.add()
    run = processes.start(
        tmp_path, PROGRAM, "start", 600, "run", config, "--workers", cluster.address
    )
    assert run.line() == "paused"
    cluster.add(other_program(tmp_path, name))
    run.resume()
    assert run.finish() == 0, run.errors()
    assert table(tmp_path) == expected
    if name == "lacking":
        return  # Dask itself may move tasks that a worker cannot load
    assert re.search(
        r"small: refused \d+ results? of another program and computed (them|it) again: (a )?worker",
        run.errors(),
    )


def flip_a_bit(folder: Path) -> None:
    """Change a digit of a stored precision."""
    store = folder / "results" / "store" / "cells.jsonl"
    content = bytearray(store.read_bytes())
    content[content.index(b'"precision":0.') + 15] ^= 1
    store.write_bytes(content)


def test_workers_that_come_go_and_differ_leave_no_trace_in_the_table(
    reference: tuple[Path, bytes], tmp_path: Path, cluster: Cluster, processes: Processes
) -> None:
    """Workers of another program are there, join, leave, die and come back; so do those that fit.

    In between a bit of the store flips. For a while only the other program is left.
    """
    config, expected = reference
    other = other_program(tmp_path, "other")
    fits, differs = cluster.add(), cluster.add(other)
    command = ("run", config, "--workers", cluster.address)
    run = processes.start(tmp_path, PROGRAM, "start,4,20,40", 600, *command)
    assert run.line() == "paused"
    cluster.let_go(differs)
    differs = cluster.add(other)
    run.resume()
    assert run.line() == "paused"
    cluster.kill(fits)
    run.resume()
    assert run.line() == "paused"
    flip_a_bit(tmp_path)
    cluster.kill(differs)
    differs = cluster.add(other)
    run.resume()
    assert run.line() == "paused"
    cluster.add()
    run.resume()
    assert run.finish() == 0, run.errors()
    left_out = r"small: left out 1 of 2 workers, which run another program: worker tcp\S+ has dcg"
    assert re.search(left_out, run.errors())
    assert table(tmp_path) == expected
    assert "ignored 1 damaged record" in finish(tmp_path, config, cluster.address)
    assert table(tmp_path) == expected


@pytest.mark.parametrize("name", OTHER_PROGRAMS)
def test_workers_of_another_program_get_no_work(
    name: str, tmp_path: Path, cluster: Cluster
) -> None:
    """If others are there; a cluster of nothing else is refused."""
    other = other_program(tmp_path, name)
    cluster.add(other)
    with (
        pytest.raises(InputError, match=r"worker tcp.*; install the same"),
        open_workers(cluster.address),
    ):
        pass
    cluster.add(MARK="fits")
    said: list[str] = []
    with open_workers(cluster.address, said.append) as found:
        places = dict(found(os.getenv, ["MARK"] * 50))
    assert places == dict.fromkeys(range(50), "fits")
    assert len(said) == 1
    assert said[0].startswith("left out 1 of 2 workers, which run another program: worker tcp")


def of_another_program(item: int) -> int:
    """Take this process for another program from the second item on."""
    workers.program_for = lambda function: {"Python": "2.7"}
    return item


def test_processes_of_other_code_are_refused() -> None:
    """As if the files of the package had been edited before another process started."""
    said: list[str] = []
    here = workers.program_for
    try:
        with open_workers("2", said.append) as found:
            assert sorted(found(of_another_program, range(50))) == [(i, i) for i in range(50)]
        with open_workers("2") as found:
            assert sorted(found(abs, range(50))) == [(i, i) for i in range(50)]
    finally:
        workers.program_for = here
        get_reusable_executor().shutdown(wait=True, kill_workers=True)
    assert len(said) == 1
    assert re.fullmatch(
        r"refused \d+ results of another program and computed them again: "
        r"a worker process has Python 2\.7, this process .*",
        said[0],
    )


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.0 400 Bad request\r\n\r\n"])
def test_an_address_where_something_else_answers_is_refused(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A silent port, and a web server such as the dashboard."""
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                held.append(connection)
                if answer:
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1)
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(InputError, match="no Dask scheduler at"), open_workers(address):
            pass
        for connection in held:
            connection.close()


def test_a_cluster_reads_packed_pairs_to_the_same_answer(
    tmp_path: Path, cluster: Cluster, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if a worker is killed in between."""
    pairs = true_pairs(DATA_1, permuted_lists(4000, rng))
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 200)
    write_packed(pairs, tmp_path / "p.parquet", Scale((5, 4, 3, 2, 1)))
    here = solve(Streamed.of(PackedPairs.of(tmp_path / "p.parquet"))).W
    cluster.add()
    cluster.add()
    with open_workers(cluster.address) as found:
        there = Streamed.of(PackedPairs.of(tmp_path / "p.parquet"), workers=found)
        assert (here == solve(there).W).all()
        cluster.workers[0].kill()
        assert (here == solve(there).W).all()
        (tmp_path / "p.parquet").unlink()
        with pytest.raises(InputError, match=r"p\.parquet: no such file"):
            solve(there)


def test_losing_all_workers_of_a_cluster_is_an_error(
    reference: tuple[Path, bytes], tmp_path: Path, cluster: Cluster, processes: Processes
) -> None:
    config, expected = reference
    cluster.add()
    run = processes.start(tmp_path, PROGRAM, 2, 5, "run", config, "--workers", cluster.address)
    assert run.line() == "paused"
    cluster.workers[0].kill()
    assert cluster.workers[0].finish() == -signal.SIGKILL
    run.resume()
    assert run.finish() == 1
    assert re.search("no longer has workers|lost a result|did not finish", run.errors())
    assert "of 80 cells are kept; the same command continues from there" in run.errors()
    finish(tmp_path, config, "1")
    assert table(tmp_path) == expected


def test_a_scheduler_without_workers_or_of_other_code_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="no workers; start some"), open_workers(cluster.address):
        pass
    # A package of the same name that is found first plays another version.
    other = tmp_path / "other" / "dcglearn"
    (other / "base").mkdir(parents=True)
    for file in ("", "base/"):
        (other / file / "__init__.py").write_text("")
    for name in ("errors.py", "fingerprint.py", "workers.py"):
        (other / "base" / name).write_text(
            (Path(workers.__file__).parent / name).read_text("utf-8")
        )
    cluster.add(str(tmp_path / "other"))
    with (
        pytest.raises(InputError, match=r"worker tcp.* has dcglearn's code .*, this process"),
        open_workers(cluster.address),
    ):
        pass


def test_an_address_where_nothing_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # not listening
        port = free.getsockname()[1]
        for address in (f"tcp://127.0.0.1:{port}", "tcp://127.0.0.1:notaport"):
            with pytest.raises(InputError, match="no Dask scheduler at tcp"), open_workers(address):
                pass


def test_an_error_of_the_caller_is_all_that_is_said(recwarn: pytest.WarningsRecorder) -> None:
    def taken() -> None:
        with open_workers("2") as workers:
            for _ in workers(abs, range(1000)):
                raise KeyError

    with pytest.raises(KeyError):
        taken()
    assert not [str(one.message) for one in recwarn if "tasks" in str(one.message)]
