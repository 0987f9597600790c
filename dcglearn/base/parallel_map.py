"""What a parallel map is: a function and items in; (index, result) out, in any order.

The ways to compute one are in :mod:`dcglearn.base.workers` and :mod:`dcglearn.base.cluster`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Function = Callable[[Any], Any]
Workers = Callable[[Function, Sequence[Any]], Iterator[tuple[int, Any]]]
Batch = list[tuple[int, Any]]

Say = Callable[[str], None]
"""Called with a line for the reader if workers are left out, or if results were refused."""


class WorkersLostError(RuntimeError):
    """The workers are gone. Results that arrived before remain valid."""


@dataclass
class Refusals:
    """How many results of another program were refused, and why the first one was."""

    count: int = 0
    why: str = ""

    def add(self, count: int, why: str) -> None:
        """Count refused results, with the reason for the first."""
        self.why = self.why or why
        self.count += count

    def say(self, say: Say) -> None:
        """Tell the reader, if any were refused."""
        if self.count:
            results, them = (
                ("1 result", "it") if self.count == 1 else (f"{self.count:,} results", "them")
            )
            say(f"refused {results} of another program and computed {them} again: {self.why}")
