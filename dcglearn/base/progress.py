"""A word about what takes long: nothing in the first two seconds, then how far it is.

On a terminal one line is redrawn; elsewhere a plain line is printed now and then.
Everything goes to standard error, so output that machines read stays clean.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, int], None]
"""Called with (done, total) as work goes on."""

QUIET_SECONDS = 2.0


def silent(done: int, total: int) -> None:
    """Report nothing: the default of every function that takes an `Advance`."""


def onwards(advance: Advance) -> Advance:
    """Return an `Advance` for work that begins at 0 again and again: it adds up.

    Parameters
    ----------
    advance : callable
        What is told of it.

    Examples
    --------
    >>> tell = onwards(lambda done, total: print(done))
    >>> for done in (10, 20, 10):
    ...     tell(done, 0)
    10
    20
    30
    """
    before = last = 0

    def tell(done: int, total: int) -> None:
        nonlocal before, last
        if done <= last:
            before += last
        last = done
        advance(before + done, total)

    return tell


@contextmanager
def reporting(label: str, quiet: float = QUIET_SECONDS, every: float = 5.0) -> Iterator[Advance]:
    """Report work that may take long, from a thread that wakes while it runs.

    Parameters
    ----------
    label : str
        What is being done.
    quiet : float, default 2
        Seconds before the first word.
    every : float, default 5
        Seconds between plain lines where standard error is no terminal.

    Yields
    ------
    callable
        To be called with (done, total), as often as is convenient; work that
        cannot tell how far it is never calls it and still shows the seconds.
    """
    state = [0, 0]
    start, over = time.monotonic(), threading.Event()
    terminal = sys.stderr.isatty()

    def advance(done: int, total: int) -> None:
        state[:] = done, total

    def watch() -> None:
        wait = quiet
        while not over.wait(wait):
            wait = 0.2 if terminal else every
            line = _line(label, time.monotonic() - start, *state)
            print(
                f"\r\x1b[2K{line}" if terminal else line,
                end="" if terminal else "\n",
                file=sys.stderr,
                flush=True,
            )
        if terminal and time.monotonic() - start > quiet:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield advance
    finally:
        over.set()
        watcher.join()


def _line(label: str, seconds: float, done: int, total: int) -> str:
    """Return one line of progress.

    >>> _line("fitting", 10, 2, 8)
    'fitting: 2 of 8 (25%), 10 s, about 30 s left'
    >>> _line("reading", 10, 5000, 0), _line("fitting", 10, 0, 0)
    ('reading: 5,000 so far, 10 s', 'fitting: 10 s')
    """
    if not total or not done:
        so_far = f"{done:,} so far, " if done else ""
        return f"{label}: {so_far}{seconds:.0f} s"
    left = seconds / done * (total - done)
    return (
        f"{label}: {done} of {total} ({done / total:.0%}), {seconds:.0f} s, about {left:.0f} s left"
    )
