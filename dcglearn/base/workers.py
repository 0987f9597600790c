"""One parallel map: in this process, in several (joblib), or on a Dask cluster.

    with open_workers("1" | "4" | "tcp://host:8786") as workers:
        for index, result in workers(function, items): ...

Results arrive in any order. The function is at the top level of a module, and returns its errors.
Each result comes with the fingerprint of the program that made it, the versions of packages and a
hash of this one's code; that of another is refused.
"""

import hashlib
import logging
import os
import platform
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_whole
from dcglearn.base.process import prepare_worker
from dcglearn.base.threads import start_no_threads

Function = Callable[[Any], Any]
Results = Iterator[tuple[int, Any]]
"""The number of each item, and its result."""

Workers = Callable[[Function, Sequence[Any]], Results]
Answer = tuple[str, dict[str, str], int, Any]
"""What a worker returns: its name, its program, the number of an item and its result."""

MAX_PROCESSES = 1024

CONNECT_SECONDS = 8

LOST_SECONDS = 20
"""Without workers or scheduler, until a cluster counts as lost."""


class WorkersLostError(RuntimeError):
    """The workers are gone. Results that arrived before remain valid."""


@contextmanager
def open_workers(spec: str) -> Iterator[Workers]:
    """Open a number of processes, or the workers of a cluster at an address."""
    if spec.startswith(("tcp://", "tls://")):
        client = _connected(spec)
        try:
            _check_programs(client, spec)
            yield partial(_on_cluster, client)
        finally:
            client.close(timeout=5)
    elif (count := parse_whole(spec) or 0) in range(1, MAX_PROCESSES + 1):
        yield _serial if count == 1 else partial(_in_processes, count)
    else:
        raise InputError(
            f"{spec!r} is not a number of workers or an address",
            f"use a number from 1 to {MAX_PROCESSES}, or tcp://host:port",
        )


def _serial(function: Function, items: Sequence[Any]) -> Results:
    return enumerate(map(function, items))


def _in_processes(count: int, function: Function, items: Sequence[Any]) -> Results:
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    batch = min(1 + len(items) // 1000, 8)  # it takes .3 ms to send one
    pool = Parallel(
        n_jobs=count,
        return_as="generator_unordered",
        batch_size=batch,
        pre_dispatch=2 * batch * count,  # no more than fit into its queue: stopping it is clean
        initializer=prepare_worker,
        idle_worker_timeout=30,
    )
    answers = pool(map(delayed(partial(_answer, function)), enumerate(items)))
    try:
        yield from _accepted(answers)
    except BaseException as stop:  # an interruption, too: do not wait for running items
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks", UserWarning)  # the error says why
            answers.close()
        get_reusable_executor().shutdown(wait=False, kill_workers=True)
        if isinstance(stop, BrokenProcessPool):
            raise WorkersLostError("a worker process died (killed, or out of memory)") from stop
        raise


def _on_cluster(client: Any, function: Function, items: Sequence[Any]) -> Results:
    futures = client.map(partial(_answer, function), list(enumerate(items)), pure=False)
    yield from _accepted(_gathered(client, futures))


def _accepted(answers: Iterable[Answer]) -> Results:
    """Yield results; one of another program, such as of a worker that joined later, is an error."""
    for worker, there, index, result in answers:
        if difference := difference_from_here(there):
            raise WorkersLostError(f"worker {worker} {difference}")
        yield index, result


def _answer(function: Function, numbered: tuple[int, Any]) -> Answer:
    index, item = numbered
    start_no_threads()
    return f"{platform.node()} (process {os.getpid()})", fingerprint(), index, function(item)


def _connected(address: str) -> Any:
    """Connect to a scheduler within the time limit, also where something else is silent."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            f"workers at {address} need Dask",
            "install dcglearn[dask], or use a number of processes",
        ) from error
    for name in ("distributed", "tornado"):  # they log each lost connection with its traceback
        logging.getLogger(name).setLevel(logging.CRITICAL)
    clients: list[Any] = []

    def connect() -> None:
        with suppress(Exception):
            clients.append(Client(address, timeout=CONNECT_SECONDS))

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()  # Dask waits for ever where something that is not a scheduler answers
    thread.join(CONNECT_SECONDS + 1)
    if not clients:
        raise InputError(
            f"no Dask scheduler at {address}",
            "start one, or check the address (its dashboard has another port)",
        )
    return clients[0]


def _check_programs(client: Any, address: str) -> None:
    try:
        programs = client.run(fingerprint, on_error="return", callback_timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        raise InputError(f"a worker at {address} does not answer", "restart it") from error
    if not programs:
        raise InputError(f"the scheduler at {address} has no workers", "start some")
    for worker, there in programs.items():
        if difference := difference_from_here(there):
            raise InputError(f"worker {worker} {difference}", "install the same on both")


def _gathered(client: Any, futures: Sequence[Any]) -> Iterator[Answer]:
    """Yield answers as they are ready; Dask repeats what a worker that left was given."""
    from distributed import as_completed

    ready = as_completed(futures, with_results=True, raise_errors=False)
    while not ready.is_empty():
        seen = time.monotonic()
        while not ready.has_ready():
            time.sleep(0.05)
            with suppress(OSError, TimeoutError):
                if client.sync(client.scheduler.ncores, callback_timeout=LOST_SECONDS):
                    seen = time.monotonic()
            if time.monotonic() - seen > LOST_SECONDS:
                raise WorkersLostError("the cluster no longer has workers")
        _, answer = next(ready)
        error = answer[1] if isinstance(answer, tuple) else answer  # (class, error, traceback)
        if isinstance(error, Exception):
            why = f"{type(error).__name__}: {error}"
            raise WorkersLostError(f"the cluster cannot do its work ({why})") from error
        yield answer


@cache
def fingerprint() -> dict[str, str]:
    """Return versions and the hash, read once per process: code edited later does not run here."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        if "shipped" in file.parts:  # a wheel's experiments; a checkout has them elsewhere
            continue
        digest.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return {
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "pydantic")},
        "dcglearn's code": digest.hexdigest()[:12],
    }


def difference_from_here(there: object) -> str | None:
    """Say how the program of another process, or why it has none, differs from this one's."""
    if not isinstance(there, dict):
        return " ".join(f"cannot run dcglearn ({type(there).__name__}: {there})".split())
    for what, here in fingerprint().items():
        if there.get(what) != here:
            return f"has {what} {there.get(what)}, this process {here}"
    return None
