"""Processes that tests start, talk to through pipes, and always end.

Tests wait for what a process prints, never for a time to pass. A process that is still there after
:data:`SAFETY_SECONDS` is killed, so that a fault ends in a failure; no machine is that slow.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

SAFETY_SECONDS, SUITE_SECONDS = 900, 36_000
"""Of a process of one test, and of one that all tests share."""

PROGRAM = """
import sys

from dcglearn.__main__ import main
from dcglearn.base import workers
from dcglearn.lab.results import Store

pause, lost_seconds = int(sys.argv.pop(1)), float(sys.argv.pop(1))
workers.CONNECT_SECONDS = 600
workers.LOST_SECONDS = 600
add, added = Store.add, 0


def add_and_pause(self, cell, outcome):
    global added
    add(self, cell, outcome)
    added += 1
    if added == pause:
        print("paused", flush=True)
        sys.stdin.readline()
        workers.LOST_SECONDS = lost_seconds


Store.add = add_and_pause
main()
"""
"""The program, which pauses after some results until it is sent a line; from then on
workers may be lost for some seconds only."""

SCHEDULER = """
import asyncio

from distributed import Scheduler


async def serve():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()


asyncio.run(serve())
"""
"""A Dask scheduler that prints its address when it is ready."""

WORKER = """
import asyncio
import sys

from distributed import Worker


async def serve():
    async with Worker(sys.argv[1], nthreads=2, host="127.0.0.1", dashboard=False) as worker:
        print(worker.address, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


asyncio.run(serve())
"""
"""A Dask worker that prints its address when it is known, and leaves when it is sent a line."""


class Process:
    """A Python process and its children, in a process group of their own."""

    def __init__(
        self, cwd: Path, code: str, *arguments: object, safety: float = SAFETY_SECONDS, **env: str
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )
        self._safety = threading.Timer(safety, self.kill)
        self._safety.daemon = True
        self._safety.start()

    @property
    def pid(self) -> int:
        """The number of the process, its group and its session."""
        return self._process.pid

    def line(self) -> str:
        """Wait for the next line that the process prints."""
        assert self._process.stdout is not None
        text = self._process.stdout.readline()
        assert text, f"the process ended: {self.errors()}"
        return text.strip()

    def resume(self) -> None:
        """Send a line to the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it may have ended
            self._process.stdin.write("\n")
            self._process.stdin.flush()

    def finish(self) -> int:
        """Wait until the process ends and return its exit code."""
        assert self._process.stdout is not None
        self._process.stdout.read()
        return self._process.wait()

    def errors(self) -> str:
        """Return what the process has written to standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children."""
        with contextlib.suppress(ProcessLookupError):  # it may have ended
            os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """Kill the process and its children."""
        self.signal(signal.SIGKILL)

    def close(self) -> None:
        """Kill what is left, wait for it and close the pipes."""
        self._safety.cancel()
        self.kill()
        self._process.communicate()
        self._errors.close()


class Processes:
    """Starts processes and ends them all."""

    def __init__(self, safety: float = SAFETY_SECONDS) -> None:
        self._safety = safety
        self._started: list[Process] = []

    def start(self, cwd: Path, code: str, *arguments: object, **env: str) -> Process:
        """Start Python code with arguments and environment variables."""
        self._started.append(Process(cwd, code, *arguments, safety=self._safety, **env))
        return self._started[-1]

    def close(self) -> None:
        """End all processes, the last started first."""
        for process in reversed(self._started):
            process.close()


class Cluster:
    """A Dask scheduler and its workers, as processes on the loopback."""

    def __init__(self, folder: Path, processes: Processes) -> None:
        self._folder, self._processes = folder, processes
        self.scheduler = processes.start(folder, SCHEDULER)
        self.address = self.scheduler.line()
        self.workers: list[Process] = []

    def add(self, program: str | None = None, **env: str) -> Process:
        """Add a worker, perhaps of another program, and wait until the scheduler knows it."""
        if program is not None:
            env["PYTHONPATH"] = program
        worker = self._processes.start(self._folder, WORKER, self.address, **env)
        worker.line()
        self.workers.append(worker)
        return worker

    def kill(self, worker: Process) -> None:
        worker.kill()
        assert worker.finish() == -signal.SIGKILL
        self.workers.remove(worker)

    def let_go(self, worker: Process) -> None:
        """Let a worker leave as it would at the end of its job."""
        worker.resume()
        assert worker.finish() == 0, worker.errors()
        self.workers.remove(worker)

    def clear(self) -> None:
        """Let all workers go."""
        for worker in list(self.workers):
            self.let_go(worker)
