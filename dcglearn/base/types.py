"""The aliases of arrays, in one place; functions state the shapes in their docstrings."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Gains, discounts, scores, weights."""

Integers: TypeAlias = NDArray[np.int64]
"""Counts, places, numbers of queries."""

Grades: TypeAlias = NDArray[np.integer]
"""Grade indices, 0 the best, -1 for no document; of any integer type."""

Rankings: TypeAlias = NDArray[np.int8]
"""Grade indices of rankings, shape (n, K)."""

Pairs: TypeAlias = NDArray[np.int8]
"""Grade indices of pairs of rankings, shape (n, 2, K), the preferred ranking first."""

Ids: TypeAlias = NDArray[np.object_]
"""Ids as text, or None where unknown."""

Hashes: TypeAlias = NDArray[np.uint64]
"""64-bit hashes of ids."""
