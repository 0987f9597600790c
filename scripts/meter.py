"""What calls and commands take, each in a process of its own, as medians and ratios.

Measured are the seconds on the clock, the seconds of all processors, and the peak of resident
memory: of a call above what was held before it, of a command in all.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Taken:
    """What a piece of work took (memory in MiB), and its answer or the error instead of it."""

    seconds: float
    processor: float
    peak: float
    answer: Any = None


def call(prepare: Callable[..., Callable[[], Any]], *arguments: Any, limit: float) -> Taken:
    """Measure the work that `prepare(*arguments)` returns; it is stopped after `limit` seconds."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(there, prepare, arguments))
    child.start()
    there.close()
    try:
        if not here.poll(limit):
            return Taken(limit, limit, 0.0, TimeoutError("stopped: too slow"))
        taken: Taken = here.recv()
        return taken
    except EOFError:
        child.join()
        ended = f"the process ended with {child.exitcode}"  # -9: memory, perhaps
        return Taken(0.0, 0.0, 0.0, ChildProcessError(ended))
    finally:
        child.kill()
        child.join()


def _in_child(results: Connection, prepare: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    work = prepare(*arguments)
    with contextlib.suppress(OSError, AttributeError):  # not every libc and kernel has them
        ctypes.CDLL(None).malloc_trim(0)  # free memory is released, and the peak so far forgotten
        Path("/proc/self/clear_refs").write_text("5")
    held, begin, processor = _resident("VmRSS"), time.perf_counter(), time.process_time()
    try:
        answer = work()
    except Exception as error:  # it is the result
        answer = error
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    results.send(Taken(seconds, processor, _resident("VmHWM") - held, answer))


def _resident(key: str) -> float:
    """Return the resident memory of this process (VmRSS) or its peak (VmHWM); on Linux only."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) / 1024
    return 0.0


_COMMAND = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - begin
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
"""Run by a small process: the peak of a process is at least that of the one that starts it."""


def command(words: Sequence[str]) -> Taken:
    """Measure a command from its start to its end."""
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, *words], capture_output=True, text=True, check=True
    )
    return Taken(*json.loads(done.stdout))


def compare(tasks: dict[str, Callable[[], Taken]], rounds: int) -> dict[str, list[Taken]]:
    """Measure every task once per round, one after the other."""
    found: dict[str, list[Taken]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            found[name].append(task())
    return found


HEAD = ("seconds", "ratio", "processor seconds", "ratio", "MiB", "ratio")


def medians(found: dict[str, list[Taken]]) -> dict[str, tuple[str, ...]]:
    """Return the cells under `HEAD`: medians, each with that of its ratios to the first task."""
    first = next(iter(found.values()))
    cells = {}
    for name, taken in found.items():
        texts = []
        for key in ("seconds", "processor", "peak"):
            own, other = ([float(getattr(one, key)) for one in of] for of in (taken, first))
            ratios = [a / b for a, b in zip(own, other, strict=True) if b > 0]
            texts += [shown(own), shown(ratios)]
        cells[name] = tuple(texts)
    return cells


def shown(numbers: Sequence[float]) -> str:
    """Return a median with two or three digits; nothing without numbers."""
    if not numbers:
        return ""
    middle = statistics.median(numbers)
    return f"{middle:,.0f}" if middle >= 100 else f"{middle:.2g}"


def machine(*packages: str) -> str:
    """Return the cores, the versions and the revision that were measured."""
    from importlib.metadata import version

    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    revision = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{os.cpu_count()} cores; Python {sys.version.split()[0]}, {versions}; {revision}"
