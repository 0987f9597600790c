"""The type aliases of arrays; docstrings state the shapes."""

from __future__ import annotations

from typing import TypeAlias

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
