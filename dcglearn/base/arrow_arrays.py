"""Arrow arrays next to NumPy arrays, without pandas and without memory that is kept.

pyarrow's own ``to_numpy`` and ``array`` import pandas where it is installed, which takes a quarter
of a second and 45 MB. Its own pools of memory keep what was freed, in each thread; that of the
system does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers_of_arrow(array: Any) -> NDArray[Any]:
    """Return the numbers of an Arrow array, without a copy.

    Parameters
    ----------
    array : pyarrow.Array
        Of numbers, none of them missing.

    Returns
    -------
    ndarray, shape (n,)
        Not to be changed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers_of_arrow(pa.array([0.5, 2.0]))
    array([0.5, 2. ])
    """
    return np.from_dlpack(array)


def take_rows(array: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an Arrow array.

    Parameters
    ----------
    array : pyarrow.Array
    rows : ndarray of int64, shape (n,)

    Returns
    -------
    pyarrow.Array

    Examples
    --------
    >>> import pyarrow as pa
    >>> take_rows(pa.array(["a", "b", "c"]), np.array([2, 0])).to_pylist()
    ['c', 'a']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(rows) == len(array) and np.array_equal(rows, np.arange(len(rows))):
        return array
    content = pa.py_buffer(np.ascontiguousarray(rows, np.int64))
    numbers = pa.Array.from_buffers(pa.int64(), len(rows), [None, content])
    return pc.take(array, numbers, memory_pool=pa.system_memory_pool())


def sorted_rows(array: Any) -> NDArray[np.int64]:
    """Return the order that sorts an Arrow array: text by its bytes.

    Parameters
    ----------
    array : pyarrow.Array

    Returns
    -------
    ndarray of int64, shape (n,)

    Examples
    --------
    >>> import pyarrow as pa
    >>> sorted_rows(pa.array(["b", "a"]))
    array([1, 0])
    """
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
