"""One map over processes on this machine, or over an existing Dask cluster.

    with open_workers("1" | "4" | "tcp://host:8786") as workers:
        for index, answer in workers(function, items): ...

Answers come as they are ready, with the index of their item. ``function`` must be a
module's own function, and must return its errors rather than raise them. Nothing waits for
ever: a lost process, a lost cluster, or one without workers ends in a
:class:`WorkersLostError`; what was handed out before is the caller's.
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
"""How long a cluster's address is tried."""

IDLE_SECONDS = 30
"""After which a process without work ends, also where the one that started it was killed."""

MAX_PROCESSES = 1024

LOST_SECONDS = 20
"""How long a cluster may have no workers, or no scheduler, before it counts as lost."""

COMPARED_PACKAGES = ("numpy", "scipy", "scikit-learn", "pydantic")
"""Packages whose versions must be the same on the workers, beside this one's own code."""


class WorkersLostError(RuntimeError):
    """The workers are gone; what they finished before has been handed out."""


@contextmanager
def open_workers(spec: str) -> Iterator[Workers]:
    """Open the workers that a text names.

    Parameters
    ----------
    spec : str
        ``1`` for this process, a number of processes, or ``tcp://host:port``.

    Yields
    ------
    callable
        Takes a function and a sequence of items; yields (index, answer) in any order.

    Raises
    ------
    InputError
        If the text names no workers, the cluster cannot be reached within
        :data:`CONNECT_SECONDS`, has no workers, or runs other versions.
    WorkersLostError
        While answers are awaited, if the workers are lost.

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
    elif text.isdecimal() and 1 <= int(text) <= MAX_PROCESSES:
        yield _serial if int(text) == 1 else _processes(int(text))
    else:
        raise InputError(
            f"workers {spec!r}", f"use a number from 1 to {MAX_PROCESSES}, or tcp://host:port"
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
            initializer=_leave_ctrl_c_to_us,
            idle_worker_timeout=IDLE_SECONDS,
        )
        answers = pool(delayed(_numbered)(function, i, item) for i, item in enumerate(items))
        finished = False
        try:
            yield from answers
            finished = True
        except BrokenProcessPool as error:
            raise WorkersLostError("a worker process died (killed, or out of memory)") from error
        finally:
            if not finished:  # interrupted: do not wait for what runs
                get_reusable_executor().shutdown(wait=False, kill_workers=True)

    return workers


def _leave_ctrl_c_to_us() -> None:
    """Ignore Ctrl-C in a worker process: the one that waits for it ends them all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _numbered(function: Function, index: int, item: Any) -> tuple[int, Any]:
    return index, function(item)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            f"workers {address!r} need Dask", "install dcglearn[dask], or use a number"
        ) from error
    client = _connected(lambda: Client(address, timeout=CONNECT_SECONDS), address)
    try:
        _compare(client, address)
        yield lambda function, items: _on_cluster(client, function, items)
    finally:
        client.close(timeout=5)


def _connected(connect: Callable[[], Any], address: str) -> Any:
    """Connect within the time given, whatever answers at the address."""
    found: list[Any] = []

    def attempt() -> None:
        try:
            found.append(connect())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS + 1)
    if not found or isinstance(found[0], Exception):
        raise InputError(
            f"no Dask scheduler at {address}",
            "start one, or check the address (its dashboard has another port)",
        ) from (found[0] if found else None)
    return found[0]


def _on_cluster(client: Any, function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    from distributed import as_completed

    batch = max(1, min(20, len(items) // 64))  # small enough to see progress, and to lose little
    batches = [list(enumerate(items))[i : i + batch] for i in range(0, len(items), batch)]
    futures = [client.submit(_run_batch, function, one, pure=False) for one in batches]
    ready = as_completed(futures, raise_errors=False)
    try:
        for _ in futures:
            _await(ready, client)
            future = next(ready)
            if future.status != "finished":
                raise WorkersLostError(f"the cluster gave work back undone ({future.status})")
            try:
                answers = future.result(timeout=LOST_SECONDS)
            except (OSError, TimeoutError, CancelledError) as error:
                raise WorkersLostError("the cluster lost an answer") from error
            yield from answers
    finally:
        for future in futures:
            future.release()


def _await(ready: Any, client: Any) -> None:
    """Wait for a future, as long as the cluster lives."""
    alive = looked = time.monotonic()
    while not ready.has_ready():
        time.sleep(0.02)
        now = time.monotonic()
        if now - looked < 1:
            continue
        looked = now
        if _has_workers(client):
            alive = now
        elif now - alive > LOST_SECONDS:
            raise WorkersLostError("the cluster has no workers any more")


def _run_batch(function: Function, batch: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    return [(index, function(item)) for index, item in batch]


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.sync(client.scheduler.ncores, callback_timeout=5))
    except (OSError, TimeoutError):
        return False


def _compare(client: Any, address: str) -> None:
    """Refuse workers whose Python, packages or code of ours differ."""
    from distributed import wait

    here = fingerprint()
    names = sorted(client.sync(client.scheduler.ncores, callback_timeout=CONNECT_SECONDS))
    if not names:
        raise InputError(f"the scheduler at {address} has no workers", "start some")
    asked = [
        client.submit(fingerprint, workers=[name], allow_other_workers=False, pure=False)
        for name in names
    ]
    try:
        wait(asked, timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        raise InputError(f"a worker at {address} does not answer", "look after it") from error
    for name, future in zip(names, asked, strict=True):
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
    """Return versions of Python and packages, and a hash of this package's code.

    Returns
    -------
    dict from str to str
    """
    found = {"Python": platform.python_version()}
    for name in COMPARED_PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "(missing)"
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for file in sorted(p for p in package.rglob("*.py") if "shipped" not in p.parts):
        digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    found["dcglearn's code"] = digest.hexdigest()[:12]
    return found
