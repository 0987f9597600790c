"""Threads of this process: numbers are the same to the last bit however many there are.

Sums over parts are taken in the order of the parts, and the linear algebra, whose own threads
would add in an order of their own, has one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import OpenBLASController, ThreadpoolController

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

MAX_THREADS = 8


def map_threads(function: Callable[[_Item], _Answer], items: Sequence[_Item]) -> list[_Answer]:
    """Apply a function to items, some at a time.

    Parameters
    ----------
    function : callable
    items : sequence

    Returns
    -------
    list
        In the order of the items.

    Examples
    --------
    >>> map_threads(abs, [-1, 2])
    [1, 2]
    """
    count = min(len(items), MAX_THREADS, _processors())
    if count < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, items))


class _OneThread:
    """A limit that blocks share: they may overlap, in threads too; the last lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = _controller().limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                # The thread that set the limit is not always the one that lifts it.
                OpenBLASController.clear_controlling_thread(force=True)
                self._limit.restore_original_limits()
                OpenBLASController.clear_controlling_thread(force=True)


_ONE_THREAD = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep the linear algebra of this process to one thread while a block runs.

    Returns
    -------
    context manager
        Blocks may overlap, in threads too: the limit is lifted when the last one ends.
    """
    return _ONE_THREAD


@cache
def _controller() -> ThreadpoolController:
    """Find the linear algebra's threads once a process: looking takes milliseconds."""
    import scipy.linalg  # noqa: F401 - it brings its own, which must be found too

    return ThreadpoolController()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
