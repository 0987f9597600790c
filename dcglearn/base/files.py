"""Files are written whole or not at all.

The content goes to a temporary name in the same folder and is renamed over the
target when it is complete, so an interrupted or failing run leaves either the
old file or none.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from dcglearn.base.errors import InputError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path that replaces `path` when the block ends well.

    Parameters
    ----------
    path : path-like
        The file to write. Its folder must exist.

    Yields
    ------
    pathlib.Path
        The temporary file, in the same folder and with the same suffix.

    Raises
    ------
    InputError
        If the folder does not exist, or the place cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder, "note.txt")
    ...     with atomic_write(target) as temporary:
    ...         _ = temporary.write_text("done")
    ...     target.read_text()
    'done'
    """
    check_writable(path)
    target = Path(os.path.realpath(path))  # a link keeps pointing at what is replaced
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
        )
        os.close(handle)
    except OSError as error:
        raise _unwritable(target, error) from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Find out now whether `path` can be written, before hours of work go into it.

    Parameters
    ----------
    path : path-like
        The file that will be written later. Nothing is left behind.

    Raises
    ------
    InputError
        If the folder does not exist, or the place cannot be written.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError("is a folder", "name a file", str(target))
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError("is read-only", "choose another place", str(target))
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise _unwritable(target, error) from error


def checked_suffix(path: str | os.PathLike[str], allowed: Collection[str]) -> str:
    """Return the suffix of a file's name, which decides its format.

    Parameters
    ----------
    path : path-like
    allowed : collection of str
        Suffixes in lower case, such as ``".csv"``.

    Returns
    -------
    str
        In lower case.

    Raises
    ------
    InputError
        If the suffix is not one of those allowed.

    Examples
    --------
    >>> checked_suffix("table.CSV", [".csv", ".md"])
    '.csv'
    >>> checked_suffix("table.doc", [".csv", ".md"])
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: table.doc: ends in '.doc'; use a name that ends in .csv or .md
    """
    suffix = Path(path).suffix.lower()
    if suffix not in allowed:
        *most, last = allowed
        known = f"{', '.join(most)} or {last}" if most else last
        problem = f"ends in {suffix!r}" if suffix else "has no suffix"
        raise InputError(problem, f"use a name that ends in {known}", str(path))
    return suffix


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file to write.
    text : str
        Its content.

    Raises
    ------
    InputError
        If the place cannot be written.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{error.object[error.start]!r} is no text", "", str(path)) from error
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 text file.

    Parameters
    ----------
    path : path-like
        The file to read.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it does not exist, cannot be read or is not UTF-8 (naming the line).
    """
    return "".join(read_lines(path))


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Read a UTF-8 text file line by line: it need not fit into memory.

    Parameters
    ----------
    path : path-like
        The file to read.

    Yields
    ------
    str
        A line, with the line feed that ends it.

    Raises
    ------
    InputError
        As :func:`read_text`.
    """
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    place = f"{path}, line {number}"
                    raise InputError("is not UTF-8 text", "save it as UTF-8", place) from error
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", str(path)) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", "", str(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(target: Path, error: OSError) -> InputError:
    if not target.parent.exists():
        problem, remedy = "cannot be written: its folder does not exist", "make the folder first"
    else:
        problem = f"cannot be written ({error.strerror or error})"
        remedy = "choose another place"
    return InputError(problem, remedy, str(target))
