"""One parallel map: in this process, in several, or on a Dask cluster.

    with open_workers("1" | "4" | "tcp://host:8786") as workers:
        for index, result in workers(function, items): ...

Results arrive as they are ready, each with the index of its item. ``function`` must be defined
at the top level of a module, and must return its errors instead of raising them. Nothing waits
for ever: if a process or the cluster is lost, or the cluster has no workers,
:class:`WorkersLostError` is raised. Results that arrived before it remain valid.
"""

from __future__ import annotations

import hashlib
import platform
import signal
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError

Function = Callable[[Any], Any]
Workers = Callable[[Function, Sequence[Any]], Iterator[tuple[int, Any]]]

CONNECT_SECONDS = 8
"""Time limit for connecting to a cluster."""

IDLE_SECONDS = 30
"""Idle time after which a worker process ends, even if its parent was killed."""

MAX_PROCESSES = 1024
"""Largest number of worker processes on this machine."""

LOST_SECONDS = 20
"""How long a cluster may be without workers or scheduler before it counts as lost."""

COMPARED_PACKAGES = ("numpy", "scipy", "scikit-learn", "pydantic")
"""Packages whose versions must be the same on the workers, besides this package's code."""


class WorkersLostError(RuntimeError):
    """The workers are gone. Results that arrived before remain valid."""


@contextmanager
def open_workers(spec: str) -> Iterator[Workers]:
    """Open workers: this process, several processes, or a Dask cluster.

    Parameters
    ----------
    spec : str
        ``"1"`` for this process, a number of processes, or ``"tcp://host:port"``.

    Yields
    ------
    callable
        Takes a function and a sequence of items; yields (index, result) in any order.

    Raises
    ------
    InputError
        If `spec` has another form; or the cluster cannot be reached within
        :data:`CONNECT_SECONDS`, has no workers, or runs other versions.
    WorkersLostError
        While results are awaited, if the workers are lost.

    Examples
    --------
    >>> with open_workers("1") as workers:
    ...     list(workers(abs, [-1, 2]))
    [(0, 1), (1, 2)]
    """
    text = spec.strip()
    if text.startswith(("tcp://", "tls://")):
        with _cluster(text) as workers:
            yield workers
    elif text.isdecimal() and len(text) < 10 and 1 <= int(text) <= MAX_PROCESSES:
        yield _serial if int(text) == 1 else _processes(int(text))
    else:
        raise InputError(
            f"{spec!r} is not a number of workers or an address",
            f"use a number from 1 to {MAX_PROCESSES}, or tcp://host:port",
        )


def _serial(function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    for index, item in enumerate(items):
        yield index, function(item)


def _processes(count: int) -> Workers:
    def workers(function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        from joblib import Parallel, delayed
        from joblib.externals.loky import get_reusable_executor
        from joblib.externals.loky.process_executor import BrokenProcessPool

        pool = Parallel(
            n_jobs=count,
            return_as="generator_unordered",
            initializer=_ignore_ctrl_c,
            idle_worker_timeout=IDLE_SECONDS,
        )
        results = pool(delayed(_indexed)(function, i, item) for i, item in enumerate(items))
        finished = False
        try:
            yield from results
            finished = True
        except BrokenProcessPool as error:
            raise WorkersLostError("a worker process died (killed, or out of memory)") from error
        finally:
            if not finished:  # interrupted: do not wait for running items
                get_reusable_executor().shutdown(wait=False, kill_workers=True)

    return workers


def _ignore_ctrl_c() -> None:
    """Ignore Ctrl-C in a worker process, because the parent stops its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _indexed(function: Function, index: int, item: Any) -> tuple[int, Any]:
    return index, function(item)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            f"workers at {address} need Dask",
            "install dcglearn[dask], or use a number of processes",
        ) from error
    client = _connected(lambda: Client(address, timeout=CONNECT_SECONDS), address)
    try:
        _check_versions(client, address)
        yield lambda function, items: _on_cluster(client, function, items)
    finally:
        client.close(timeout=5)


def _connected(connect: Callable[[], Any], address: str) -> Any:
    """Connect within the time limit, whatever listens at the address."""
    outcome: list[Any] = []

    def attempt() -> None:
        try:
            outcome.append(connect())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS + 1)
    if not outcome or isinstance(outcome[0], Exception):
        raise InputError(
            f"no Dask scheduler at {address}",
            "start one, or check the address (its dashboard has another port)",
        ) from (outcome[0] if outcome else None)
    return outcome[0]


def _on_cluster(client: Any, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    from distributed import as_completed

    batch = max(1, min(20, len(items) // 64))  # small, to show progress and to lose little
    batches = [list(enumerate(items))[i : i + batch] for i in range(0, len(items), batch)]
    futures = [client.submit(_run_batch, function, one, pure=False) for one in batches]
    ready = as_completed(futures, raise_errors=False)
    try:
        unfinished = len(futures)
        while unfinished:
            _wait_for_one(ready, client)
            future = next(ready)
            if future.status in ("lost", "pending"):
                ready.add(future)  # its worker died with the result; another computes it again
                continue
            unfinished -= 1
            if future.status != "finished":
                raise WorkersLostError(f"the cluster did not finish its work ({future.status})")
            try:
                results = future.result(timeout=LOST_SECONDS)
            except (OSError, TimeoutError, CancelledError) as error:
                raise WorkersLostError("the cluster lost a result") from error
            yield from results
    finally:
        for future in futures:
            future.release()


def _wait_for_one(ready: Any, client: Any) -> None:
    """Wait until a future is done, as long as the cluster has workers."""
    alive = checked = time.monotonic()
    while not ready.has_ready():
        time.sleep(0.02)
        now = time.monotonic()
        if now - checked < 1:
            continue
        checked = now
        if _has_workers(client):
            alive = now
        elif now - alive > LOST_SECONDS:
            raise WorkersLostError("the cluster no longer has workers")


def _run_batch(function: Function, batch: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    return [(index, function(item)) for index, item in batch]


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=5))
    except (OSError, TimeoutError):
        return False


def _check_versions(client: Any, address: str) -> None:
    """Refuse workers whose Python, packages or code of dcglearn differ from ours."""
    from distributed import wait

    here = fingerprint()
    names = sorted(client.sync(client.scheduler.ncores, callback_timeout=CONNECT_SECONDS))
    if not names:
        raise InputError(f"the scheduler at {address} has no workers", "start some")
    futures = [
        client.submit(fingerprint, workers=[name], allow_other_workers=False, pure=False)
        for name in names
    ]
    try:
        wait(futures, timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        raise InputError(f"a worker at {address} does not answer", "restart it") from error
    for name, future in zip(names, futures, strict=True):
        if future.status != "finished":
            problem = f"worker {name} cannot run dcglearn ({future.exception()})"
            raise InputError(problem, "install the same version there")
        there = future.result(timeout=CONNECT_SECONDS)
        for what, version_here in here.items():
            if there.get(what) != version_here:
                raise InputError(
                    f"worker {name} has {what} {there.get(what)}, this process {version_here}",
                    "install the same on both",
                )


def fingerprint() -> dict[str, str]:
    """Return the versions of Python and packages, and a hash of this package's code.

    Returns
    -------
    dict from str to str
        Results of workers are the same only where these are.
    """
    versions = {"Python": platform.python_version()}
    for name in COMPARED_PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "(missing)"
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for file in sorted(p for p in package.rglob("*.py") if "shipped" not in p.parts):
        digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    versions["dcglearn's code"] = digest.hexdigest()[:12]
    return versions
