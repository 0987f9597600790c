"""Copies of a value, for tests that public values survive copying and pickling."""

from __future__ import annotations

import copy
import pickle
from typing import TypeVar

_Value = TypeVar("_Value")


def copies_of(value: _Value) -> list[_Value]:
    """Return a shallow copy, a deep copy and a pickled copy."""
    pickled = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes
    return [copy.copy(value), copy.deepcopy(value), pickled]
