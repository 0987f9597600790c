"""Progress of long work on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dcglearn.base.text import plain_text

Advance = Callable[[int, int], None]
"""Called with (done, total); a total of 0 is not known."""

QUIET_SECONDS = 2.0
"""Work that ends sooner shows nothing."""

REDRAW_SECONDS, LINE_SECONDS = 0.2, 5.0
"""Time between two states on a terminal, and between two plain lines."""


def silent(done: int, total: int) -> None:
    """Report nothing."""


def cumulative(advance: Advance) -> Advance:
    """Add up the counts of several passes; a count that does not grow starts a new pass."""
    before = last = 0

    def add(done: int, total: int) -> None:
        nonlocal before, last
        if done <= last:
            before += last
        last = done
        advance(before + done, total)

    return add


@contextmanager
def reporting(label: str) -> Iterator[Advance]:
    """Report the progress of a block of code."""
    work, over = _Work(label), threading.Event()
    watcher = threading.Thread(target=_watch, args=(work, over), daemon=True)
    watcher.start()
    try:
        yield work.advance
    finally:
        over.set()
        watcher.join()


class _Work:
    def __init__(self, label: str) -> None:
        self.label, self.start = plain_text(label), time.monotonic()
        self.done = self.total = 0

    def advance(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def state(self) -> str:
        return state_in_words(time.monotonic() - self.start, self.done, self.total)


def state_in_words(seconds: float, done: int, total: int) -> str:
    """Return how much is done, such as "2 of 8 (25%), 10 s, about 30 s left"."""
    if not total or not done:
        so_far = f"{done:,} so far, " if done else ""
        return f"{so_far}{seconds:.0f} s"
    counts = f"{done:,} of {total:,} ({100 * done // total}%), {seconds:.0f} s"
    if done >= total:
        return counts
    left = max(1.0, seconds / done * (total - done))  # "0 s left" would be wrong most of the time
    return f"{counts}, about {left:.0f} s left"


def _watch(work: _Work, over: threading.Event) -> None:
    if over.wait(QUIET_SECONDS) or sys.stderr is None:  # None if the shell closed it
        return
    if sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        _redraw(work, over)
    else:
        _print_lines(work, over)


def _print_lines(work: _Work, over: threading.Event) -> None:
    while True:
        print(f"{work.label}: {work.state()}", file=sys.stderr, flush=True)
        if over.wait(LINE_SECONDS):
            return


def _redraw(work: _Work, over: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        bar.console.show_cursor(True)  # it would stay hidden if the process were killed
        task = bar.add_task(work.label, total=None, state="")
        while True:
            total = work.total or None
            bar.update(task, completed=work.done, total=total, state=work.state(), refresh=True)
            if over.wait(REDRAW_SECONDS):
                return
