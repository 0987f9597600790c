"""Workers: one, many, a cluster; the same bytes from all, and no way to hang."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dcglearn.base import workers
from dcglearn.base.errors import InputError
from dcglearn.base.workers import WorkersLostError, open_workers
from dcglearn.data import packed_pairs as packed
from dcglearn.data.packed_pairs import PackedPairs
from dcglearn.measures.scale import Scale
from dcglearn.simulation.judges import true_pairs
from dcglearn.simulation.lists import permuted_lists
from dcglearn.simulation.truths import DATA_1
from dcglearn.solver.solve import solve
from dcglearn.solver.streamed import Streamed

CONFIG = """
experiment = "flips"
figures = ["T"]
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

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_one_two_and_their_names() -> None:
    for spec in ("1", "2", " 3 "):
        with open_workers(spec) as found:
            answers = dict(found(abs, [-1, 2, -3]))
        assert answers == {0: 1, 1: 2, 2: 3}
        with open_workers(spec) as found:
            assert list(found(abs, [])) == []


@pytest.mark.parametrize("spec", ["0", "-1", "two", "", "1.5", "http://x", "99999"])
def test_what_names_no_workers_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="use a number from 1 to 1024, or tcp"), open_workers(spec):
        pass


def die(item: int) -> int:
    """Kill the process that runs this."""
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def test_a_killed_process_is_told_and_finished_work_is_handed_out() -> None:
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


def command(config: Path, spec: str) -> list[str]:
    return [sys.executable, "-m", "dcglearn", "run", str(config), "--workers", spec]


def finish(folder: Path, config: Path, spec: str) -> str:
    run = subprocess.run(
        command(config, spec), cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "80 of 80 cells" in run.stdout
    return run.stderr


def table(folder: Path) -> bytes:
    return (folder / "results" / "small" / "table.csv").read_bytes()


def test_two_workers_give_the_same_bytes(reference: tuple[Path, bytes], tmp_path: Path) -> None:
    config, expected = reference
    finish(tmp_path, config, "2")
    assert table(tmp_path) == expected
    for picture in (tmp_path / "results" / "small").glob("figure-*"):
        assert picture.read_bytes() == (config.parent / "results/small" / picture.name).read_bytes()


@pytest.mark.parametrize("spec", ["1", "2"])
def test_killed_and_resumed_gives_the_same_bytes(
    reference: tuple[Path, bytes], tmp_path: Path, spec: str
) -> None:
    config, expected = reference
    store = tmp_path / "results" / "store" / "cells.jsonl"
    process = subprocess.Popen(
        command(config, spec),
        cwd=tmp_path,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: store.exists() and store.read_bytes().count(b"\n{") >= 5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    kept = store.read_bytes().count(b"\n{")
    assert 5 <= kept < 80
    assert not (tmp_path / "results" / "small").exists()
    store.write_bytes(store.read_bytes()[:-9])  # as if it had been killed while writing
    assert "1 torn record is passed over" in finish(tmp_path, config, spec)
    assert table(tmp_path) == expected


def test_ctrl_c_keeps_finished_cells(reference: tuple[Path, bytes], tmp_path: Path) -> None:
    config, expected = reference
    store = tmp_path / "results" / "store" / "cells.jsonl"
    process = subprocess.Popen(
        command(config, "2"),
        cwd=tmp_path,
        start_new_session=True,
        text=True,
        stderr=subprocess.PIPE,
    )
    wait_for(lambda: store.exists() and store.read_bytes().count(b"\n{") >= 3)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "of 80 cells are kept; the same command goes on from there" in said
    assert "Traceback" not in said
    finish(tmp_path, config, "1")
    assert table(tmp_path) == expected


def wait_for(ready: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


class Cluster:
    """A Dask scheduler and its workers, as processes on the loopback."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("distributed", reason="the extra dask is not installed")
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        self.scheduler = self.start("distributed.cli.dask_scheduler", *place)
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, module: str, *arguments: str, **env: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env={**os.environ, **env},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def add(self, **env: str) -> None:
        options = ["--no-nanny", "--no-dashboard", "--nthreads", "2", "--host", "127.0.0.1"]
        self.workers.append(
            self.start("distributed.cli.dask_worker", self.address, *options, **env)
        )

    def ready(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, timeout=30) as client:
            client.wait_for_workers(count, timeout=30)

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait(timeout=20)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    try:
        yield found
    finally:
        found.stop()


def test_a_cluster_gives_the_same_bytes_and_survives_a_lost_worker(
    reference: tuple[Path, bytes], tmp_path: Path, cluster: Cluster
) -> None:
    config, expected = reference
    cluster.add()
    cluster.add()
    cluster.ready(2)
    store = tmp_path / "results" / "store" / "cells.jsonl"
    process = subprocess.Popen(command(config, cluster.address), cwd=tmp_path)
    wait_for(lambda: store.exists() and store.read_bytes().count(b"\n{") >= 3)
    cluster.workers[0].kill()
    assert process.wait(timeout=90) == 0
    assert table(tmp_path) == expected


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.0 400 Bad request\r\n\r\n"])
def test_an_address_that_answers_something_else_is_refused_in_time(answer: bytes) -> None:
    """A silent port, and a web server such as the dashboard."""
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
        start = time.monotonic()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(InputError, match="no Dask scheduler at"), open_workers(address):
            pass
        assert time.monotonic() - start < 15
        for connection in held:
            connection.close()


def test_a_cluster_reads_packed_pairs_to_the_same_answer(
    tmp_path: Path, cluster: Cluster, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a worker is killed on the way."""
    pairs = true_pairs(DATA_1, permuted_lists(4000, rng))
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 200)
    packed.write_packed(tmp_path / "p.parquet", pairs, Scale((5, 4, 3, 2, 1)))
    here = solve(Streamed.of(PackedPairs.of(tmp_path / "p.parquet"))).W
    for _ in range(2):
        cluster.add()
    cluster.ready(2)
    with open_workers(cluster.address) as found:
        there = Streamed.of(PackedPairs.of(tmp_path / "p.parquet"), workers=found)
        assert (here == solve(there).W).all()
        cluster.workers[0].kill()
        assert (here == solve(there).W).all()
        (tmp_path / "p.parquet").unlink()
        with pytest.raises(InputError, match=r"p\.parquet: no such file"):
            solve(there)


def test_a_cluster_that_loses_all_workers_ends_in_words(
    reference: tuple[Path, bytes], tmp_path: Path, cluster: Cluster
) -> None:
    config, expected = reference
    cluster.add()
    cluster.ready(1)
    store = tmp_path / "results" / "store" / "cells.jsonl"
    process = subprocess.Popen(
        command(config, cluster.address), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: store.exists() and store.read_bytes().count(b"\n{") >= 2)
    cluster.workers[0].kill()
    _, said = process.communicate(timeout=workers.LOST_SECONDS + 60)
    assert process.returncode == 1
    assert re.search("no workers any more|lost an answer|work back undone", said)
    assert "cells are kept; the same command goes on from there" in said
    finish(tmp_path, config, "1")
    assert table(tmp_path) == expected


def test_a_scheduler_without_workers_or_of_other_code_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    from distributed import Client

    with Client(cluster.address, timeout=30):
        pass
    with pytest.raises(InputError, match="no workers; start some"), open_workers(cluster.address):
        pass
    # A package of the same name, found first, stands for another version.
    other = tmp_path / "other" / "dcglearn"
    (other / "base").mkdir(parents=True)
    for file in ("", "base/"):
        (other / file / "__init__.py").write_text("")
    for name in ("errors.py", "workers.py"):
        (other / "base" / name).write_text(
            (Path(workers.__file__).parent / name).read_text("utf-8")
        )
    cluster.add(PYTHONPATH=str(tmp_path / "other"))
    cluster.ready(1)
    with (
        pytest.raises(InputError, match=r"worker tcp.* has dcglearn's code .*, this process"),
        open_workers(cluster.address),
    ):
        pass


def test_an_address_that_nobody_answers_ends_soon() -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.monotonic()
    for address in (f"tcp://127.0.0.1:{port}", "tcp://127.0.0.1:notaport"):
        with pytest.raises(InputError, match="no Dask scheduler at tcp"), open_workers(address):
            pass
    assert time.monotonic() - start < 15
