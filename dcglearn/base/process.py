"""How the process of a command starts and ends: its standard streams, SIGTERM and faults."""

from __future__ import annotations

import ctypes
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and after SIGTERM: 128 plus the number of the signal."""

DEBUG = "DCGLEARN_DEBUG"
"""Environment variable that shows the traceback of a fault."""

_received: list[int] = []


def prepare_streams() -> None:
    """Open closed standard streams, whose place a file would take; escape what encodings lack."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - kept open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class KeptOut(MetaPathFinder):
    """Lets imports of an installed library fail."""

    def __init__(self, library: str) -> None:
        self.library = library

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Leave other modules to other finders."""
        if fullname == self.library:
            raise ModuleNotFoundError(f"{fullname} is kept out of this process", name=fullname)


def end_like_ctrl_c() -> None:
    """Let SIGTERM interrupt the process as Ctrl-C does."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM in a block of the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def interrupted_code() -> int:
    """Return the exit code of an interrupted process."""
    return TERMINATED if _received else INTERRUPTED


def describe_fault(error: Exception) -> str:
    """Describe a fault of the program in one line, after its traceback if that is wanted."""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300].rstrip(": ")
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        advice = "please report it with this traceback"
    else:
        advice = f"please report it with what the same command prints if {DEBUG}=1 is set"
    return f"unexpected error ({what}); {advice}"


def share_one_heap() -> None:
    """Let later threads share one heap: each keeps what was freed in its own."""
    _call_glibc("mallopt", -8, 1)  # M_ARENA_MAX


def keep_freed_memory() -> None:
    """Keep freed memory for later arrays, which saves a quarter of the time of cells."""
    _call_glibc("mallopt", -1, 1 << 28)  # M_TRIM_THRESHOLD
    _call_glibc("mallopt", -3, 1 << 25)  # M_MMAP_THRESHOLD
    _call_glibc("mallopt", -2, 1 << 24)  # M_TOP_PAD


def return_free_memory() -> None:
    """Give free memory, Arrow's too, back to the system."""
    if "pyarrow" in sys.modules:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
    _call_glibc("malloc_trim", 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would disturb the end
    _received.append(number)
    raise KeyboardInterrupt


def _call_glibc(name: str, *arguments: int) -> None:
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):  # other C libraries do not have it
            getattr(ctypes.CDLL(None), name)(*arguments)
