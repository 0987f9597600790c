"""How the processes of commands and workers start and end: standard streams, signals, memory."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after SIGTERM: 128 plus the number of the signal."""

_received: list[int] = []


def prepare_command() -> None:
    """Open closed standard streams, escape what their encodings lack, and share one heap.

    A file would take the place of a closed stream. Where threads share what they free, arrays of a
    million judgments take 5% less memory.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - kept
        getattr(sys, name).reconfigure(errors="backslashreplace")
    with suppress(Exception):  # other C libraries do not have it
        ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX


def end_like_ctrl_c() -> None:
    """Let SIGTERM interrupt the process as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _interrupt)


def interrupted_code() -> int:
    """Return the exit code of an interrupted process."""
    return TERMINATED if _received else INTERRUPTED


def prepare_worker() -> None:
    """Prepare the process of a worker, whose parent acts on signals: on Linux, end with it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with suppress(Exception):  # other C libraries do not have these
        library = ctypes.CDLL(None)
        library.prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
        library.nice(5)  # the parent draws figures meanwhile
        library.mallopt(-1, 1 << 28)  # M_TRIM_THRESHOLD: freed memory is kept for later arrays,
        library.mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD  which saves a quarter of the time of cells
        library.mallopt(-2, 1 << 24)  # M_TOP_PAD


def return_free_memory() -> None:
    """Give free memory, Arrow's too, back to the system."""
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
    with suppress(Exception):  # other C libraries do not have it
        ctypes.CDLL(None).malloc_trim(0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would disturb the end
    _received.append(number)
    raise KeyboardInterrupt
