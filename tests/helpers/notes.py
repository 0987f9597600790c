"""What readers say about input that they took without being told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from dcglearn import InputWarning


@contextmanager
def noted() -> Iterator[list[str]]:
    """Collect the different warnings about input in a block."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield notes
        finally:
            notes += dict.fromkeys(
                str(one.message) for one in caught if issubclass(one.category, InputWarning)
            )
