"""Progress of long work: silent for two seconds, then how much is done and how long it takes.

On a terminal one line with a bar is redrawn; elsewhere a plain line is printed now and then.
Everything goes to standard error, so standard output holds results only.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dcglearn.base.plain_text import plain_text

Advance = Callable[[int, int], None]
"""Called with (done, total) as work goes on; a total of 0 means that it is not known."""

QUIET_SECONDS = 2.0
"""Work that ends sooner shows nothing."""

REDRAW_SECONDS = 0.2


def silent(done: int, total: int) -> None:
    """Report nothing: the default of every function that takes an `Advance`."""


def cumulative(advance: Advance) -> Advance:
    """Return an `Advance` that adds up the counts of work that starts again from 0.

    Parameters
    ----------
    advance : callable
        Called with the sum over all passes so far.

    Returns
    -------
    callable
        A count that does not grow starts a new pass.

    Examples
    --------
    >>> count = cumulative(lambda done, total: print(done))
    >>> for done in (10, 20, 10):
    ...     count(done, 0)
    10
    20
    30
    """
    before = last = 0

    def add(done: int, total: int) -> None:
        nonlocal before, last
        if done <= last:
            before += last
        last = done
        advance(before + done, total)

    return add


class _Work:
    """What is being done, since when, and how much of it is done."""

    def __init__(self, label: str) -> None:
        self.label, self.start = plain_text(label), time.monotonic()
        self.done = self.total = 0

    def advance(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def state(self) -> str:
        return _state(time.monotonic() - self.start, self.done, self.total)


@contextmanager
def reporting(label: str, quiet: float = QUIET_SECONDS, every: float = 5.0) -> Iterator[Advance]:
    """Report the progress of a block of code, from a thread of its own.

    Parameters
    ----------
    label : str
        What is being done.
    quiet : float, default 2
        Seconds before anything is shown.
    every : float, default 5
        Seconds between plain lines where standard error is not a terminal.

    Yields
    ------
    callable
        To be called with (done, total), as often as is convenient. Work that
        cannot count never calls it, and only the seconds are shown.
    """
    work, over = _Work(label), threading.Event()

    def watch() -> None:
        if over.wait(quiet) or sys.stderr is None:  # None if the shell closed it
            return
        if sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
            _redraw(work, over)
        else:
            _print_lines(work, over, every)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield work.advance
    finally:
        over.set()
        watcher.join()


def _print_lines(work: _Work, over: threading.Event, every: float) -> None:
    print(f"{work.label}: {work.state()}", file=sys.stderr, flush=True)
    while not over.wait(every):
        print(f"{work.label}: {work.state()}", file=sys.stderr, flush=True)


def _redraw(work: _Work, over: threading.Event) -> None:
    """Redraw one line until the work is over, then clear it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    )
    with Progress(
        *columns,
        console=console,
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        console.show_cursor(True)  # it would stay hidden if the process were killed
        task = bar.add_task(work.label, total=None, state="")
        while True:
            bar.update(
                task,
                completed=work.done,
                total=work.total or None,
                state=work.state(),
                refresh=True,
            )
            if over.wait(REDRAW_SECONDS):
                return


def _state(seconds: float, done: int, total: int) -> str:
    """Return how much is done, in words.

    >>> _state(10, 2, 8)
    '2 of 8 (25%), 10 s, about 30 s left'
    >>> _state(10, 5000, 0), _state(10, 0, 0)
    ('5,000 so far, 10 s', '10 s')
    >>> _state(10, 999, 1000), _state(10, 8, 8)
    ('999 of 1,000 (99%), 10 s, about 1 s left', '8 of 8 (100%), 10 s')
    """
    if not total or not done:
        so_far = f"{done:,} so far, " if done else ""
        return f"{so_far}{seconds:.0f} s"
    counts = f"{done:,} of {total:,} ({math.floor(100 * done / total)}%), {seconds:.0f} s"
    if done >= total:
        return counts
    left = max(1.0, seconds / done * (total - done))  # "0 s left" would be wrong most of the time
    return f"{counts}, about {left:.0f} s left"
