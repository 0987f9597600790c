"""Threads whose number does not change the results: blocks are summed in order, BLAS has one."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any, TypeVar

from threadpoolctl import OpenBLASController, ThreadpoolController

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

MAX_THREADS = 8

_INSIDE = local()
"""Has an attribute in threads that start no others."""


def start_no_threads() -> None:
    """Let maps of this thread do without others: it is of a map, or of one of several processes."""
    _INSIDE.thread = True


def map_threads(function: Callable[[_Item], _Answer], items: Sequence[_Item]) -> list[_Answer]:
    """Apply a function to items in threads; results are in the order of the items."""
    return list(map_in_order(function, items))


def map_in_order(
    function: Callable[[_Item], _Answer], items: Sequence[_Item], threads: int = MAX_THREADS
) -> Iterator[_Answer]:
    """Yield results in the order of items; only as many are held as there are threads."""
    count = min(len(items), threads, MAX_THREADS, _processors())
    if count < 2 or vars(_INSIDE):
        yield from map(function, items)
        return
    with ThreadPoolExecutor(count, initializer=start_no_threads) as pool:
        ahead = deque[Future[_Answer]]()
        try:
            for item in items:
                if len(ahead) == count:
                    yield ahead.popleft().result()
                ahead.append(pool.submit(function, item))
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_LIMITS: list[Any] = []
_LOCK = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in a block; the last of blocks that overlap lifts the limit."""
    with _LOCK:
        _LIMITS.append(None if _LIMITS else _controller().limit(limits=1))
    try:
        yield
    finally:
        with _LOCK:
            limit = _LIMITS.pop()
            if limit is not None:
                # OpenBLAS lets only the thread that set the limit lift it, and that may be another.
                OpenBLASController.clear_controlling_thread(force=True)
                limit.restore_original_limits()
                OpenBLASController.clear_controlling_thread(force=True)


@cache
def _controller() -> ThreadpoolController:
    """Find the BLAS libraries once: it takes milliseconds."""
    import scipy.linalg  # noqa: F401 - loads scipy's own BLAS, which must be found too

    return ThreadpoolController()


@cache
def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
