"""Progress of long work on standard error: a line, which is redrawn on a terminal."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dcglearn.base.process import return_free_memory
from dcglearn.base.text import plain_text

Advance = Callable[[int, int], None]
"""Called with (done, total); a total of 0 is not known."""

QUIET_SECONDS = 2.0
"""Work that ends sooner shows nothing."""

REDRAW_SECONDS, LINE_SECONDS = 0.2, 5.0
"""Time between two states on a terminal, and between two plain lines."""

CLEAR_LINE = "\r\x1b[K"


def silent(done: int, total: int) -> None:
    """Report nothing."""


@contextmanager
def reporting(label: str) -> Iterator[Advance]:
    """Report the progress of a block of code; at its end, memory that it freed is given back."""
    start, over = time.monotonic(), threading.Event()
    counts = 0, 0

    def advance(done: int, total: int) -> None:
        nonlocal counts
        counts = done, total

    def line() -> str:
        return plain_text(f"{label}: {state_in_words(time.monotonic() - start, *counts)}")

    watcher = threading.Thread(target=_watch, args=(line, over), daemon=True)
    watcher.start()
    try:
        yield advance
    finally:
        over.set()
        watcher.join()
        return_free_memory()


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


def _watch(line: Callable[[], str], over: threading.Event) -> None:
    stream = sys.stderr
    if over.wait(QUIET_SECONDS) or stream is None:  # None if the shell closed it
        return
    redrawn = stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    while True:
        columns = shutil.get_terminal_size().columns
        stream.write(f"{CLEAR_LINE}{line()[: columns - 1]}" if redrawn else f"{line()}\n")
        stream.flush()
        if over.wait(REDRAW_SECONDS if redrawn else LINE_SECONDS):
            break
    if redrawn:
        stream.write(CLEAR_LINE)
        stream.flush()
