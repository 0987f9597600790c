"""Arrow arrays in the memory of the system: pyarrow's own pools keep what was freed, per thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers_of_arrow(array: Any) -> NDArray[Any]:
    """Return the numbers of an Arrow array that lacks none, read-only and without a copy."""
    return np.from_dlpack(array)


def take_rows(array: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.take(array, pa.array(rows), memory_pool=pa.system_memory_pool())


def sorted_rows(array: Any) -> NDArray[np.int64]:
    """Return the row numbers that sort an Arrow array: text by its bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pool = pa.system_memory_pool()
    return numbers_of_arrow(pc.sort_indices(array, memory_pool=pool)).astype(np.int64)


def text_array(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    return pa.array(texts, pa.string())
