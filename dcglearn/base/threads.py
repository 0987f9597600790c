"""Threads whose number does not change the results, to the last bit.

Sums over blocks are taken in the order of the blocks, and BLAS, whose own threads would change
the order of its sums, is limited to one thread.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from threading import Lock, local
from typing import Any, TypeVar

from threadpoolctl import OpenBLASController, ThreadpoolController

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

MAX_THREADS = 8
"""Threads of :func:`map_threads` at most."""

_INSIDE = local()
"""Has an attribute in the threads of :func:`map_threads`, which start no others."""


def map_threads(function: Callable[[_Item], _Answer], items: Sequence[_Item]) -> list[_Answer]:
    """Apply a function to items in several threads.

    Parameters
    ----------
    function : callable
        Takes one item. If it maps threads itself, it does so in its own thread alone.
    items : sequence

    Returns
    -------
    list
        Results in the order of the items.

    Examples
    --------
    >>> map_threads(abs, [-1, 2])
    [1, 2]
    """
    count = min(len(items), MAX_THREADS)
    if count < 2 or hasattr(_INSIDE, "thread") or (count := min(count, _processors())) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(count, initializer=setattr, initargs=(_INSIDE, "thread", True)) as pool:
        return list(pool.map(function, items))


def map_in_order(
    function: Callable[[_Item], _Answer], items: Sequence[_Item], threads: int = MAX_THREADS
) -> Iterator[_Answer]:
    """Apply a function to items in several threads, a few items at a time.

    Parameters
    ----------
    function : callable
        Takes one item.
    items : sequence
    threads : int, default 8
        At most as many threads, and no more than there are processors.

    Yields
    ------
    object
        Results in the order of the items; as many are held as there are threads.

    Raises
    ------
    Exception
        What the function raises for the first of the items for which it does.
    """
    count = min(len(items), threads, MAX_THREADS, _processors())
    if count < 2 or hasattr(_INSIDE, "thread"):
        yield from map(function, items)
        return
    with ThreadPoolExecutor(count, initializer=setattr, initargs=(_INSIDE, "thread", True)) as pool:
        ahead = deque(pool.submit(function, item) for item in items[:count])
        try:
            for item in items[count:]:
                yield ahead.popleft().result()
                ahead.append(pool.submit(function, item))
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class _OneThread:
    """A limit shared by blocks that may overlap, even in threads; the last one lifts it."""

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
                # OpenBLAS lets only the thread that set the limit lift it, and that may be another.
                OpenBLASController.clear_controlling_thread(force=True)
                self._limit.restore_original_limits()
                OpenBLASController.clear_controlling_thread(force=True)


_ONE_THREAD = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread while a block runs.

    Returns
    -------
    context manager
        Blocks may overlap, even in threads; the limit is lifted when the last one ends.
    """
    return _ONE_THREAD


@cache
def _controller() -> ThreadpoolController:
    """Find the BLAS libraries once per process, because the search takes milliseconds."""
    import scipy.linalg  # noqa: F401 - loads scipy's own BLAS, which must be found too

    return ThreadpoolController()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
