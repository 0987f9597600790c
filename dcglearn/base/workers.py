"""One parallel map: in this process, in several, or on a Dask cluster.

    with open_workers("1" | "4" | "tcp://host:8786") as workers:
        for index, result in workers(function, items): ...

Results arrive as they are ready, each with the index of its item. ``function`` must be defined
at the top level of a module, and must return its errors instead of raising them. Every result
comes back with the fingerprint of the program that computed it; a result of another program, such
as that of a worker that joined a cluster later, is refused and computed again. A cluster of which
only some workers run this program is used as far as these go. Nothing waits for ever: if a process
or the cluster is lost, or the cluster has no workers, :class:`WorkersLostError` is raised. Results
that arrived before it remain valid.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dcglearn.base.cluster import open_cluster
from dcglearn.base.errors import InputError
from dcglearn.base.fingerprint import difference_from_here, program_for
from dcglearn.base.numbers import parse_whole
from dcglearn.base.parallel_map import Function, Refusals, Say, Workers, WorkersLostError
from dcglearn.base.process import keep_freed_memory

IDLE_SECONDS = 30
"""Idle time after which a worker process ends."""

PARENT_SECONDS = 0.5
"""How often a worker process looks whether its parent is still there."""

MAX_PROCESSES = 1024


@contextmanager
def open_workers(spec: str, say: Say = lambda words: None) -> Iterator[Workers]:
    """Open workers: "1" is this process, "4" several, "tcp://host:port" a Dask cluster.

    `say` is called with one line if workers run another program, or if results were refused.
    """
    text = spec.strip()
    if text.startswith(("tcp://", "tls://")):
        with open_cluster(text, say) as workers:
            yield workers
    elif (count := parse_whole(text) or 0) in range(1, MAX_PROCESSES + 1):
        yield _serial if count == 1 else _processes(count, say)
    else:
        raise InputError(
            f"{spec!r} is not a number of workers or an address",
            f"use a number from 1 to {MAX_PROCESSES}, or tcp://host:port",
        )


def _serial(function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    for index, item in enumerate(items):
        yield index, function(item)


def _processes(count: int, say: Say) -> Workers:
    def workers(function: Function, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        from joblib import Parallel, delayed
        from joblib.externals.loky import get_reusable_executor
        from joblib.externals.loky.process_executor import BrokenProcessPool

        pool = Parallel(
            n_jobs=count,
            return_as="generator_unordered",
            initializer=_prepare_process,
            idle_worker_timeout=IDLE_SECONDS,
        )
        here, refusals = program_for(function), Refusals()
        results = pool(delayed(_answer_one)(here, function, item) for item in enumerate(items))
        finished = False
        try:
            with _closing(results):  # if interrupted, before its processes are killed
                for there, index, result in results:
                    difference = difference_from_here(there, function)
                    if difference is not None:  # files were edited before this process started
                        refusals.add(1, f"a worker process {difference}")
                        result = function(items[index])
                    yield index, result
            finished = True
        except BrokenProcessPool as error:
            raise WorkersLostError("a worker process died (killed, or out of memory)") from error
        finally:
            refusals.say(say)
            if not finished:  # interrupted: do not wait for running items
                get_reusable_executor().shutdown(wait=False, kill_workers=True)

    return workers


@contextmanager
def _closing(results: Generator[Any, None, None]) -> Iterator[None]:
    """Close a generator of joblib, which warns of results that nobody took."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*tasks", UserWarning)  # an error says why
            results.close()


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


def _answer_one(
    wanted: dict[str, str], function: Function, item: tuple[int, Any]
) -> tuple[dict[str, str], int, Any]:
    """Return the program of this process, and the result if it is the one wanted."""
    there, (index, content) = program_for(function), item
    return there, index, function(content) if there == wanted else None
