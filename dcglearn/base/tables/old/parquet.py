"""Parquet files opened in bounded memory, with one set of errors for files that cannot be read.

A column of equal values takes a few bytes per million rows, so the size of a file says little about
what it holds. Its metadata do: they give the rows, the values and the uncompressed size of every
part. They are checked before anything is read, only the columns that are used are read, a few rows
at a time, and text is kept as a dictionary of distinct values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.tables.old.parquet_footer import ColumnSize, column_sizes

MAX_ROWS = 2**27
"""Files of more rows are refused; those of real collections and judgments have some 10^7."""

MAX_GROUP_VALUES = 2**27
"""A column of a row group that holds more values is refused; usual row groups have 10^6 rows."""

MAX_TEXT = 2**17
"""Longer text is refused, as in CSV."""

_MAX_BYTES, _MAX_RATIO = 2**28, 100

_BUFFER = 2**16
"""Bytes of a column that are read ahead, where rows are read a few at a time."""


@contextmanager
def open_parquet(path: str | Path, dictionaries: bool = False) -> Iterator[Any]:
    """Open a Parquet file; errors while the block reads from it name the file, too.

    Parameters
    ----------
    path : path-like
    dictionaries : bool, default False
        Whether text is read as a dictionary of distinct values.

    Yields
    ------
    pyarrow.parquet.ParquetFile

    Raises
    ------
    InputError
        If it does not exist, is a folder or is not a readable Parquet file.
    """
    import pyarrow.parquet as pq

    if Path(path).is_dir():
        raise InputError("is a folder", "name a file", str(path))
    _check_not_pipe(path)
    with _named_errors(path), pq.ParquetFile(path) as file:
        if not dictionaries:
            yield file
            return
        texts = _text_columns(file.metadata)
    with (
        _named_errors(path),
        pq.ParquetFile(
            path,
            read_dictionary=texts,
            metadata=file.metadata,
            buffer_size=_BUFFER,
            pre_buffer=False,
        ) as file,
    ):
        yield file


def check_size(
    metadata: Any, names: Collection[str], path: str | Path, max_rows: int | None = MAX_ROWS
) -> None:
    """Refuse a file whose columns take far more memory than a real file of its kind.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
    names : collection of str
        The columns that will be read.
    path : path-like
        For the message.
    max_rows : int, optional
        None for files that are read one row group at a time.

    Raises
    ------
    InputError
        If the file has more than `max_rows` rows, a column of a row group holds more than
        :data:`MAX_GROUP_VALUES` values, or one is compressed to less than a hundredth.
    """
    if max_rows is not None and metadata.num_rows > max_rows:
        problem = f"holds {metadata.num_rows:,} rows, more than {max_rows:,}"
        raise InputError(problem, "split it", str(path))
    for column in _column_sizes(path):
        if column.name not in names:
            continue
        if column.values > MAX_GROUP_VALUES:
            raise InputError(
                f"the column {column.name!r} holds {column.values:,} values in row group "
                f"{column.group}",
                f"write row groups of at most {MAX_GROUP_VALUES:,} values",
                str(path),
            )
        if column.uncompressed > max(_MAX_BYTES, _MAX_RATIO * column.compressed):
            raise InputError(
                f"the column {column.name!r} takes {column.uncompressed / 2**20:,.0f} MiB in row "
                f"group {column.group}, over {_MAX_RATIO} times its compressed size",
                "write it without compression if that is right",
                str(path),
            )


def _column_sizes(path: str | Path) -> list[ColumnSize]:
    try:
        return column_sizes(Path(path))
    except ValueError as error:
        problem = f"is not a readable Parquet file ({error})"
        raise InputError(problem, "write it again", str(path)) from error


def python_values(array: Any) -> list[Any]:
    """Return the values of an array; each distinct text of a dictionary is one Python string.

    Parameters
    ----------
    array : pyarrow.Array
        Numbers, text, or lists of these.

    Returns
    -------
    list
    """
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_dictionary(array.type):
        indices = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        used, codes = np.unique(indices, return_inverse=True)
        held = used[used >= 0]
        texts = array.dictionary.take(pa.array(held)).to_pylist()
        table = np.array([None] * (len(used) - len(held)) + texts, object)
        return table[codes].tolist() if len(table) else []
    if kinds.is_nested(array.type):
        flat = python_values(array.flatten())
        lengths = array.value_lengths().to_pylist()
        ends = np.cumsum([length or 0 for length in lengths])
        return [
            None if length is None else flat[end - length : end]
            for length, end in zip(lengths, ends.tolist(), strict=True)
        ]
    return array.to_pylist()  # type: ignore[no-any-return]  # pyarrow has no type hints


def check_texts(array: Any) -> None:
    """Refuse an array with a text longer than :data:`MAX_TEXT` bytes.

    Parameters
    ----------
    array : pyarrow.Array
        Numbers, text, or lists of these; of a dictionary, only the texts that occur count.

    Raises
    ------
    InputError
    """
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if kinds.is_nested(array.type):
        check_texts(array.flatten())
    elif kinds.is_dictionary(array.type):
        if len(array.dictionary) <= len(array):
            longest = pc.max(pc.binary_length(array.dictionary)).as_py() or 0
            if longest <= MAX_TEXT:
                return
        check_texts(array.dictionary.take(pc.unique(array.indices).drop_null()))
    elif kinds.is_string(array.type) or kinds.is_large_string(array.type):
        longest = pc.max(pc.binary_length(array)).as_py() or 0
        if longest > MAX_TEXT:
            raise InputError(f"a text of {longest:,} bytes", f"use at most {MAX_TEXT:,}")


def read_parquet_table(path: str | Path, choose: Callable[[list[str]], list[str]]) -> Any:
    """Read columns of a Parquet file, or of a folder of files with the same columns.

    Parameters
    ----------
    path : path-like
    choose : callable
        Given the names of all columns, returns those to read.

    Returns
    -------
    pyarrow.Table
        Text is a dictionary of distinct values.

    Raises
    ------
    InputError
        As :func:`open_parquet`, except for folders, and as :func:`check_size`.
    """
    import pyarrow.parquet as pq

    _check_not_pipe(path)
    with _named_errors(path):
        dataset = pq.ParquetDataset(path)
        names = choose(dataset.schema.names)
        texts: list[str] = []
        for fragment in dataset.fragments:
            check_size(fragment.metadata, names, fragment.path)
            texts += _text_columns(fragment.metadata)
        return pq.read_table(path, columns=names, read_dictionary=sorted(set(texts)))


def _text_columns(metadata: Any) -> list[str]:
    """Return the columns of text that pyarrow can read as dictionaries."""
    schema, groups = metadata.schema, range(metadata.num_row_groups)
    found = [at for at in range(len(schema)) if schema.column(at).logical_type.type == "STRING"]
    return [
        schema.column(at).path
        for at in found
        if not any(_is_delta(metadata.row_group(group).column(at)) for group in groups)
    ]


def _is_delta(chunk: Any) -> bool:
    return any(encoding.startswith("DELTA") for encoding in chunk.encodings)


def _check_not_pipe(path: str | Path) -> None:
    if Path(path).is_fifo():
        raise InputError("is a pipe, and Parquet is read from its end", "save a file", str(path))


@contextmanager
def _named_errors(path: str | Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", str(path)) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(
            f"is not a readable Parquet file ({reason})", "write it again", str(path)
        ) from error
