"""Threads of this process: numbers are the same to the last bit however many there are.

Sums over parts are taken in the order of the parts, and the linear algebra, whose own threads
would add in an order of their own, has one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

MOST_THREADS = 8


def mapped(function: Callable[[_Item], _Answer], items: Sequence[_Item]) -> list[_Answer]:
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
    >>> mapped(abs, [-1, 2])
    [1, 2]
    """
    count = min(len(items), MOST_THREADS, _processors())
    if count < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, items))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep the linear algebra of this process to one thread while the block runs."""
    with _controller().limit(limits=1):
        yield


@cache
def _controller() -> ThreadpoolController:
    """Find the linear algebra's threads once a process: looking takes milliseconds."""
    return ThreadpoolController()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
