"""Whole files, decompressed if they are compressed by gzip, in bounded memory."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from dcglearn.base.errors import InputError

MAX_DECOMPRESSED = 2**28
MAX_RATIO = 100
"""A file compressed by gzip is refused if it holds more than this many bytes and this many times
its compressed size. Runs and qrels shrink by a factor of 5 to 30."""


def read_content(path: Path) -> bytes:
    """Read a file, decompressed if it is compressed by gzip.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    bytes

    Raises
    ------
    InputError
        If it cannot be read or decompressed, or is larger than both :data:`MAX_DECOMPRESSED`
        bytes and :data:`MAX_RATIO` times its compressed size.
    """
    try:
        content = path.read_bytes()
        compressed = path.suffix == ".gz" or content[:2] == b"\x1f\x8b"
        return _decompressed(content, str(path)) if compressed else content
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", str(path)) from error
    except EOFError as error:
        raise InputError("is cut short", "fetch or compress it again", str(path)) from error
    except zlib.error as error:
        raise InputError(
            f"is damaged ({error})", "fetch or compress it again", str(path)
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read ({reason})", "check the file", str(path)) from error


def _decompressed(content: bytes, path: str) -> bytes:
    limit = max(MAX_DECOMPRESSED, MAX_RATIO * len(content))
    found = gzip.GzipFile(fileobj=io.BytesIO(content)).read(limit + 1)
    if len(found) > limit:
        raise InputError(
            f"holds more than {limit / 2**20:,.0f} MiB, over {MAX_RATIO} times its compressed size",
            "decompress it first if that is right",
            path,
        )
    return found
