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
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dcglearn.lab.provenance import made_with


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
        return here.recv()
    except EOFError:
        child.join()
        error = ChildProcessError(f"the process ended with {child.exitcode}")  # -9: memory, perhaps
        return Taken(0.0, 0.0, 0.0, error)
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
    status = Path("/proc/self/status")
    found = re.search(rf"{key}:\s*(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1024 if found else 0.0


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
    found = [{name: task() for name, task in tasks.items()} for _ in range(rounds)]
    return {name: [one[name] for one in found] for name in tasks}


HEAD = ("seconds", "ratio", "processor seconds", "ratio", "MiB", "ratio", "answer")


def rows_of(case: str, found: dict[str, list[Taken]]) -> list[tuple[str, ...]]:
    """Return and print a row per task: medians, each with that of its ratios to the first task."""
    first, rows = next(iter(found.values())), []
    for name, taken in found.items():
        cells = [case, name]
        for key in ("seconds", "processor", "peak"):
            own, other = ([float(getattr(one, key)) for one in of] for of in (taken, first))
            ratios = [a / b for a, b in zip(own, other, strict=True) if b > 0]
            cells += [shown(own), shown(ratios)]
        answer = taken[0].answer
        text = f"gap {answer:.0e}" if isinstance(answer, float) else str(answer or "")
        rows.append((*cells, re.split(r"[:;]", text)[0][:60]))
        print(*rows[-1], sep="  ", flush=True)
    return rows


def shown(numbers: Sequence[float]) -> str:
    """Return a median with two or three digits; nothing without numbers."""
    if not numbers:
        return ""
    middle = statistics.median(numbers)
    return f"{middle:,.0f}" if middle >= 100 else f"{middle:.2g}"


def machine(*packages: str) -> str:
    """Return the cores, the versions and the revision that were measured."""
    made, versions = made_with(), ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{os.cpu_count()} cores; Python {made['python']}, {versions}; {made['revision']}"
