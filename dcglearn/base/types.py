"""The type aliases of arrays, and a ``repr`` of records that writes an array's type and shape.

Docstrings state the shapes.
"""

from dataclasses import fields
from reprlib import Repr
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Gains, discounts, scores, weights."""

Integers: TypeAlias = NDArray[np.int64]
"""Counts, positions, row numbers."""

Booleans: TypeAlias = NDArray[np.bool_]
"""Masks."""

Grades: TypeAlias = NDArray[np.integer]
"""Grade indices of any integer type: 0 is the best grade, -1 means no document."""

Rankings: TypeAlias = NDArray[np.int8]
"""Grade indices of rankings, shape (n, K)."""

Pairs: TypeAlias = NDArray[np.int8]
"""Grade indices of pairs of rankings, shape (n, 2, K), the preferred ranking first."""

Ids: TypeAlias = NDArray[np.object_]
"""Ids as text; None where unknown."""


class _Short(Repr):
    def repr_ndarray(self, array: NDArray[Any], level: int) -> str:
        return f"<{array.dtype}, shape {array.shape}>"

    def repr_StringArray(self, array: Any, level: int) -> str:
        return f"<{array.type}, shape ({len(array)},)>"


_SHORT = _Short()
_SHORT.maxtuple = _SHORT.maxlist = 4
_SHORT.maxstring = _SHORT.maxother = 80


class ShortRepr:
    """A ``repr`` for dataclasses declared with ``repr=False``."""

    def __repr__(self) -> str:
        shown = [f"{f.name}={_SHORT.repr(getattr(self, f.name))}" for f in fields(self) if f.repr]  # type: ignore[arg-type]  # a dataclass inherits it
        return f"{type(self).__name__}({', '.join(shown)})"
