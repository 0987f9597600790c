"""One parallel map: in this process, in several, or on a Dask cluster.

    with open_workers("1" | "4" | "tcp://host:8786") as workers:
        for index, result in workers(function, items): ...

Results arrive as they are ready, each with the index of its item. ``function`` must be defined
at the top level of a module, and must return its errors instead of raising them. Every result
comes back with the fingerprint of the program that computed it; a result of another program, such
as that of a worker that joined a cluster later, is refused and computed again. Nothing waits
for ever: if a process or the cluster is lost, or the cluster has no workers,
:class:`WorkersLostError` is raised. Results that arrived before it remain valid.
"""

from __future__ import annotations

import signal
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.fingerprint import difference_from_here, fingerprint
from dcglearn.base.numbers import parse_whole

Function = Callable[[Any], Any]
Workers = Callable[[Function, Sequence[Any]], Iterator[tuple[int, Any]]]
Batch = list[tuple[int, Any]]

Say = Callable[[str], None]
"""Called with a line for the reader when work ends of which results were refused."""

CONNECT_SECONDS = 8
"""Time limit for connecting to a cluster."""

IDLE_SECONDS = 30
"""Idle time after which a worker process ends, even if its parent was killed."""

MAX_PROCESSES = 1024
"""Largest number of worker processes on this machine."""

LOST_SECONDS = 20
"""How long a cluster may be without workers or scheduler before it counts as lost."""

TRIES = 3
"""How often a cluster may answer for another program before an item is computed here."""


class WorkersLostError(RuntimeError):
    """The workers are gone. Results that arrived before remain valid."""


def _say_nothing(words: str) -> None:
    pass


@contextmanager
def open_workers(spec: str, say: Say = _say_nothing) -> Iterator[Workers]:
    """Open workers: this process, several processes, or a Dask cluster.

    Parameters
    ----------
    spec : str
        ``"1"`` for this process, a number of processes, or ``"tcp://host:port"``.
    say : callable, optional
        Called with one line if results of another program were refused: how many, and why.

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
        with _cluster(text, say) as workers:
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
            initializer=_ignore_ctrl_c,
            idle_worker_timeout=IDLE_SECONDS,
        )
        here, refusals = fingerprint(), _Refusals()
        results = pool(delayed(_answer_one)(here, function, item) for item in enumerate(items))
        finished = False
        try:
            with closing(results):  # if interrupted, before its processes are killed
                for there, index, result in results:
                    difference = difference_from_here(there)
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


@dataclass
class _Refusals:
    """How many results were refused, and why the first one was."""

    count: int = 0
    why: str = ""

    def add(self, count: int, why: str) -> None:
        self.why = self.why or why
        self.count += count

    def say(self, say: Say) -> None:
        if self.count:
            results, them = (
                ("1 result", "it") if self.count == 1 else (f"{self.count:,} results", "them")
            )
            say(f"refused {results} of another program and computed {them} again: {self.why}")


def _ignore_ctrl_c() -> None:
    """Ignore Ctrl-C in a worker process, because the parent stops its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer_one(
    wanted: dict[str, str], function: Function, item: tuple[int, Any]
) -> tuple[dict[str, str], int, Any]:
    """Return the fingerprint of this process, and the result if it is the one wanted."""
    there, (index, content) = fingerprint(), item
    return there, index, function(content) if there == wanted else None


@contextmanager
def _cluster(address: str, say: Say) -> Iterator[Workers]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            f"workers at {address} need Dask",
            "install dcglearn[dask], or use a number of processes",
        ) from error
    client = _connected(lambda: Client(address, timeout=CONNECT_SECONDS), address)
    try:
        fitting = set(_check_versions(client, address))
        yield lambda function, items: _on_cluster(client, fitting, say, function, items)
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


def _on_cluster(
    client: Any, fitting: set[str], say: Say, function: Function, items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    size = max(1, min(20, len(items) // 64))  # small, to show progress and to lose little
    batches = [list(enumerate(items))[i : i + size] for i in range(0, len(items), size)]
    run = _ClusterMap(client, fitting, function)
    try:
        yield from run.results(batches)
    finally:
        run.refusals.say(say)
        for future in run.tasks:
            future.release()


@dataclass(frozen=True)
class _Task:
    """A batch, how often it was submitted, and the only workers that may compute it (or any)."""

    batch: Batch
    tries: int = 1
    workers: frozenset[str] = frozenset()


class _ClusterMap:
    """One map on a cluster: its unfinished tasks, and the workers that run this program."""

    def __init__(self, client: Any, fitting: set[str], function: Function) -> None:
        self.client, self.fitting, self.function = client, fitting, function
        self.tasks: dict[Any, _Task] = {}  # by future
        self.refusals = _Refusals()

    def results(self, batches: Sequence[Batch]) -> Iterator[tuple[int, Any]]:
        """Yield the results of this program only; what another one returns is computed again."""
        from distributed import as_completed

        futures = [self._submit(_Task(batch)) for batch in batches]
        ready = as_completed(futures, raise_errors=False)
        while self.tasks:
            future, stranded = self._next(ready)
            if future not in self.tasks:
                continue
            if future.status in ("lost", "pending") and not stranded:
                ready.add(future)  # its worker died with the result; another computes it again
                continue
            task = self.tasks.pop(future)
            results = None if stranded else self._accepted(future, task)
            future.release()
            if results is not None:
                yield from results
            elif task.tries < TRIES and self.fitting:
                ready.add(self._submit(_Task(task.batch, task.tries + 1, frozenset(self.fitting))))
            else:
                yield from _run_batch(self.function, task.batch)

    def _submit(self, task: _Task) -> Any:
        where = {"workers": sorted(task.workers)} if task.workers else {}
        future = self.client.submit(
            _answer, fingerprint(), self.function, task.batch, pure=False, **where
        )
        self.tasks[future] = task
        return future

    def _next(self, ready: Any) -> tuple[Any, bool]:
        """Wait until a future is done, or stranded because none of its workers is left."""
        alive = checked = time.monotonic()
        while not ready.has_ready():
            time.sleep(0.02)
            now = time.monotonic()
            if now - checked < 1:
                continue
            checked = now
            present = _workers_of(self.client)
            if present:
                alive = now
            elif now - alive > LOST_SECONDS:
                raise WorkersLostError("the cluster no longer has workers")
            for future, task in self.tasks.items():
                if present and task.workers and not task.workers & present:
                    self.fitting &= present
                    return future, True
        return next(ready), False

    def _accepted(self, future: Any, task: _Task) -> Batch | None:
        """Return the results of a task, or None if another program computed them."""
        from distributed import KilledWorker

        error = future.exception(timeout=LOST_SECONDS) if future.status == "error" else None
        if future.status not in ("finished", "error") or isinstance(error, KilledWorker):
            raise WorkersLostError(f"the cluster did not finish its work ({future.status})")
        if error is not None:  # the function returns its errors, so the worker cannot run it
            why = " ".join(f"{type(error).__name__}: {error}".split())
            self.refusals.add(len(task.batch), f"a worker cannot run dcglearn ({why})")
            return None
        try:
            answer = future.result(timeout=LOST_SECONDS)
        except (OSError, TimeoutError, CancelledError) as lost:
            if task.workers and not task.workers & _workers_of(self.client):
                return None  # it was lost with the only workers that might compute it
            raise WorkersLostError("the cluster lost a result") from lost
        there, worker, results = answer if _is_answer(answer) else (None, "", [])
        difference = difference_from_here(there)
        if difference is not None:
            self.fitting.discard(worker)
            self.refusals.add(len(task.batch), f"worker {worker or 'of the cluster'} {difference}")
            return None
        self.fitting.add(worker)
        return list(results)


def _answer(
    wanted: dict[str, str], function: Function, batch: Batch
) -> tuple[dict[str, str], str, Batch]:
    """Return the fingerprint and address of a worker, and results if it is the one wanted."""
    from distributed import get_worker

    there = fingerprint()
    results = _run_batch(function, batch) if there == wanted else []
    return there, get_worker().address, results


def _is_answer(answer: object) -> bool:
    return isinstance(answer, tuple) and len(answer) == 3


def _run_batch(function: Function, batch: Batch) -> Batch:
    return [(index, function(item)) for index, item in batch]


def _workers_of(client: Any) -> set[str]:
    """Return the addresses of the workers; none if the scheduler does not answer."""
    try:
        return set(client.sync(client.scheduler.ncores, callback_timeout=5))
    except (OSError, TimeoutError):
        return set()


def _check_versions(client: Any, address: str) -> list[str]:
    """Return the workers; refuse those whose Python, packages or code of dcglearn differ."""
    from distributed import wait

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
        difference = difference_from_here(future.result(timeout=CONNECT_SECONDS))
        if difference is not None:
            raise InputError(f"worker {name} {difference}", "install the same on both")
    return names
