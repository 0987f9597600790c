"""Arrow arrays without pandas, which ``to_numpy`` and ``array`` load in a quarter of a second.

pyarrow's pools of memory keep what was freed, in each thread; that of the system does not.
"""

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

    if len(rows) == len(array) and np.array_equal(rows, np.arange(len(rows))):
        return array
    content = pa.py_buffer(np.ascontiguousarray(rows, np.int64))
    numbers = pa.Array.from_buffers(pa.int64(), len(rows), [None, content])
    return pc.take(array, numbers, memory_pool=pa.system_memory_pool())


def sorted_rows(array: Any) -> NDArray[np.int64]:
    """Return the row numbers that sort an Arrow array: text by its bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pool = pa.system_memory_pool()
    return numbers_of_arrow(pc.sort_indices(array, memory_pool=pool)).astype(np.int64)


def text_array(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array."""
    import pyarrow as pa

    content = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, content)]).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(content))]
    return pa.Array.from_buffers(pa.string(), len(content), buffers)
