"""One parallel map: in this process, in several (joblib), or on a Dask cluster.

    with open_workers("1" | "4" | "tcp://host:8786") as workers:
        for index, result in workers(function, items): ...

Results arrive in any order. The function is at the top level of a module, and returns its errors.
A result counts only with the fingerprint of this program; the others are computed in this process.
"""

from __future__ import annotations

import logging
import os
import platform
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.fingerprint import difference_from_here, fingerprint
from dcglearn.base.numbers import counted, parse_whole
from dcglearn.base.process import keep_freed_memory

Function = Callable[[Any], Any]
Workers = Callable[[Function, Sequence[Any]], Iterator[tuple[int, Any]]]
Say = Callable[[str], None]
Answer = tuple[str, dict[str, str], int, Any]
"""What a worker returns: its name, its program, the number of an item and its result, if any."""

MAX_PROCESSES = 1024

IDLE_SECONDS = 30

PARENT_SECONDS = 0.5
"""Between two looks of a worker for its parent."""

CONNECT_SECONDS = 8

LOST_SECONDS = 20
"""Without workers or scheduler, until a cluster counts as lost."""


class WorkersLostError(RuntimeError):
    """The workers are gone. Results that arrived before remain valid."""


@contextmanager
def open_workers(spec: str, say: Say = lambda words: None) -> Iterator[Workers]:
    """Open workers; `say` is called with a line if results of another program were refused."""
    text = spec.strip()
    if text.startswith(("tcp://", "tls://")):
        client = _connected(text)
        try:
            _check_programs(client, text)
            yield partial(_on_cluster, client, say)
        finally:
            client.close(timeout=5)
    elif (count := parse_whole(text) or 0) in range(1, MAX_PROCESSES + 1):
        yield _serial if count == 1 else partial(_in_processes, count, say)
    else:
        raise InputError(
            f"{spec!r} is not a number of workers or an address",
            f"use a number from 1 to {MAX_PROCESSES}, or tcp://host:port",
        )


def _serial(function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    for index, item in enumerate(items):
        yield index, function(item)


def _in_processes(
    count: int, say: Say, function: Function, items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    pool = Parallel(
        n_jobs=count,
        return_as="generator_unordered",
        initializer=_prepare_process,
        idle_worker_timeout=IDLE_SECONDS,
    )
    answer = delayed(partial(_answer, fingerprint(), function))
    answers = pool(map(answer, enumerate(items)))
    try:
        yield from _accepted(answers, say, function, items)
    except BaseException as stop:  # an interruption, too: do not wait for running items
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks", UserWarning)  # the error says why
            answers.close()
        get_reusable_executor().shutdown(wait=False, kill_workers=True)
        if isinstance(stop, BrokenProcessPool):
            lost = "a worker process died (killed, or out of memory)"
            raise WorkersLostError(lost) from stop
        raise


def _on_cluster(
    client: Any, say: Say, function: Function, items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    answer = partial(_answer, fingerprint(), function)
    answers = _gathered(client, client.map(answer, list(enumerate(items)), pure=False))
    yield from _accepted(answers, say, function, items)


def _accepted(
    answers: Iterable[Answer], say: Say, function: Function, items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """Yield the results of this program, then compute those that are missing."""
    missing, why = dict(enumerate(items)), ""
    for worker, there, index, result in answers:
        difference = difference_from_here(there)
        if difference is None:
            del missing[index]
            yield index, result
        else:
            why = f"worker {worker} {difference}"
    if missing:
        say(f"computed {counted(len(missing), 'result')} in this process, because {why}")
    for index, item in missing.items():
        yield index, function(item)


def _answer(here: dict[str, str], function: Function, numbered: tuple[int, Any]) -> Answer:
    there, (index, item) = fingerprint(), numbered
    result = function(item) if there == here else None
    return f"{platform.node()} (process {os.getpid()})", there, index, result


def _prepare_process() -> None:
    """Ignore signals that the parent receives too; end soon after it, even if it was killed."""
    keep_freed_memory()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_wait_for_parent, args=(os.getppid(),), daemon=True).start()


def _wait_for_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


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
        difference = difference_from_here(there)
        if difference is not None:
            raise InputError(f"worker {worker} {difference}", "install the same on both")


def _gathered(client: Any, futures: Sequence[Any]) -> Iterator[Answer]:
    """Yield answers as they are ready; Dask repeats what a worker that left was given."""
    from distributed import as_completed

    ready = as_completed(futures, with_results=True, raise_errors=False)
    while not ready.is_empty():
        _wait(client, ready)
        _, answer = next(ready)
        error = answer[1] if isinstance(answer, tuple) else answer  # (class, error, traceback)
        if isinstance(error, Exception):
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise WorkersLostError(f"the cluster cannot do its work ({why})") from error
        yield answer


def _wait(client: Any, ready: Any) -> None:
    seen = time.monotonic()
    while not ready.has_ready():
        time.sleep(0.05)
        with suppress(OSError, TimeoutError):
            if client.sync(client.scheduler.ncores, callback_timeout=LOST_SECONDS):
                seen = time.monotonic()
        if time.monotonic() - seen > LOST_SECONDS:
            raise WorkersLostError("the cluster no longer has workers")
