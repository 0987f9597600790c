"""A parallel map on a Dask cluster, whose workers may come, go, and run other programs.

Every worker is asked for the fingerprint of its program first; those that differ get no work. Every
batch of results brings the fingerprint of the program that computed it, because a worker may join
later. What another program answers is refused and given to the workers that fit. What no worker can
compute after :data:`TRIES` attempts is computed in this process.
"""

from __future__ import annotations

import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.fingerprint import difference_from_here, fingerprint, program_for
from dcglearn.base.parallel_map import Batch, Function, Refusals, Say, Workers, WorkersLostError

CONNECT_SECONDS = 8
"""Time limit for connecting to a cluster."""

LOST_SECONDS = 20
"""How long a cluster may be without workers or scheduler before it counts as lost."""

TRIES = 3
"""How often a cluster may answer for another program before an item is computed here."""


@contextmanager
def open_cluster(address: str, say: Say) -> Iterator[Workers]:
    """Open the workers of the Dask cluster whose scheduler is at tcp://host:port."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            f"workers at {address} need Dask",
            "install dcglearn[dask], or use a number of processes",
        ) from error
    client = _connected(lambda: Client(address, timeout=CONNECT_SECONDS), address)
    try:
        members = _checked_members(client, address, say)
        yield lambda function, items: _on_cluster(client, members, say, function, items)
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
    client: Any, members: _Members, say: Say, function: Function, items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    size = max(1, min(20, len(items) // 64))  # small, to show progress and to lose little
    batches = [list(enumerate(items))[i : i + size] for i in range(0, len(items), size)]
    run = _ClusterMap(client, members, function)
    try:
        yield from run.results(batches)
    finally:
        run.refusals.say(say)
        for future in run.tasks:
            future.release()


@dataclass
class _Members:
    """The workers of a cluster that run this program, and those that run another one."""

    fitting: set[str]
    other: set[str]

    def allowed(self) -> frozenset[str]:
        """Return the only workers that may compute a task; none if any worker may."""
        return frozenset(self.fitting if self.other else ())

    def accept(self, worker: str) -> None:
        self.other.discard(worker)
        self.fitting.add(worker)

    def refuse(self, worker: str) -> None:
        self.fitting.discard(worker)
        self.other.add(worker)


@dataclass(frozen=True)
class _Task:
    """A batch, how often it was submitted, and the only workers that may compute it (or any)."""

    batch: Batch
    tries: int = 1
    workers: frozenset[str] = frozenset()


class _ClusterMap:
    """One map on a cluster: its unfinished tasks, and the workers that run this program."""

    def __init__(self, client: Any, members: _Members, function: Function) -> None:
        self.client, self.members, self.function = client, members, function
        self.wanted = program_for(function)
        self.tasks: dict[Any, _Task] = {}  # by future
        self.stranded: list[Any] = []  # futures none of whose workers is left
        self.refusals = Refusals()

    def results(self, batches: Sequence[Batch]) -> Iterator[tuple[int, Any]]:
        """Yield the results of this program only; what another one returns is computed again."""
        from distributed import as_completed

        futures = [self._submit(batch) for batch in batches]
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
            elif task.tries < TRIES and (self.members.fitting or stranded):
                ready.add(self._submit(task.batch, task.tries + 1))
            else:
                yield from _run_batch(self.function, task.batch)

    def _submit(self, batch: Batch, tries: int = 1) -> Any:
        task = _Task(batch, tries, self.members.allowed())
        where = {"workers": sorted(task.workers)} if task.workers else {}
        future = self.client.submit(_answer, self.wanted, self.function, batch, pure=False, **where)
        self.tasks[future] = task
        return future

    def _next(self, ready: Any) -> tuple[Any, bool]:
        """Wait until a future is done, or stranded because none of its workers is left."""
        alive = checked = time.monotonic()
        while not ready.has_ready():
            if self.stranded:
                return self.stranded.pop(), True
            time.sleep(0.02)
            now = time.monotonic()
            if now - checked < 1:
                continue
            checked = now
            present = _workers_of(self.client)
            if present:
                alive = now
                self._find_stranded(present)
            elif now - alive > LOST_SECONDS:
                raise WorkersLostError("the cluster no longer has workers")
        return next(ready), False

    def _find_stranded(self, present: set[str]) -> None:
        self.members.fitting &= present
        tasks = self.tasks.items()
        self.stranded = [f for f, task in tasks if task.workers and not task.workers & present]

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
        answer = self._fetched(future, task)
        if answer is None:
            return None
        there, worker, results = answer if _is_answer(answer) else (None, "", [])
        difference = difference_from_here(there, self.function)
        if difference is not None:
            self.members.refuse(worker)
            self.refusals.add(len(task.batch), f"worker {worker or 'of the cluster'} {difference}")
            return None
        self.members.accept(worker)
        return list(results)

    def _fetched(self, future: Any, task: _Task) -> Any:
        """Fetch an answer; None if it was lost with the only workers that might compute it."""
        waited, timeout = 0.0, 1.0
        while True:
            try:
                return future.result(timeout=timeout)
            except (OSError, TimeoutError, CancelledError) as lost:
                if task.workers and not task.workers & _workers_of(self.client):
                    return None
                waited, timeout = waited + timeout, 2 * timeout  # large answers need longer
                if waited > LOST_SECONDS or not isinstance(lost, TimeoutError):
                    raise WorkersLostError("the cluster lost a result") from lost


def _answer(
    wanted: dict[str, str], function: Function, batch: Batch
) -> tuple[dict[str, str], str, Batch]:
    """Return the program and address of a worker, and results if it is the one wanted."""
    from distributed import get_worker

    there = program_for(function)
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


def _checked_members(client: Any, address: str, say: Say) -> _Members:
    """Ask every worker what it runs; leave out those that run another program, if not all do."""
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
    other: dict[str, str] = {}
    for name, future in zip(names, futures, strict=True):
        difference = _difference_of(future)
        if difference is not None:
            other[name] = f"worker {name} {difference}"
    if len(other) == len(names):
        raise InputError(next(iter(other.values())), "install the same on both")
    if other:
        why = next(iter(other.values()))
        say(f"left out {len(other):,} of {len(names):,} workers, which run another program: {why}")
    return _Members(set(names) - set(other), set(other))


def _difference_of(future: Any) -> str | None:
    """Say how the program of a worker differs from this one; None if it does not."""
    if future.status != "finished":
        return f"cannot run dcglearn ({future.exception()})"
    return difference_from_here(future.result(timeout=CONNECT_SECONDS))
