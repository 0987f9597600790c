"""Parquet files opened, with one set of errors for files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError


@contextmanager
def open_parquet(path: str | Path) -> Iterator[Any]:
    """Open a Parquet file; errors while the block reads from it name the file, too.

    Parameters
    ----------
    path : path-like

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
        yield file


def read_parquet_table(path: str | Path) -> Any:
    """Read all columns of a Parquet file, or of a folder of files with the same columns.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InputError
        As :func:`open_parquet`, except for folders.
    """
    import pyarrow.parquet as pq

    _check_not_pipe(path)
    with _named_errors(path):
        return pq.read_table(path)


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
