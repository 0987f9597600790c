"""Text files: atomic writing, and reading with errors that name the line.

The content goes to a temporary file in the same folder, which replaces the target when it is
complete. An interrupted or failing run leaves the old file, or none.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dcglearn.base.errors import InputError
from dcglearn.base.tables.old.compressed import compress_as_named, split_compression
from dcglearn.base.text_lines import BYTE_ORDER_MARK, decode_line


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path whose file replaces `path` when the block succeeds.

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
        If the folder does not exist, or the file cannot be written.

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
    target = Path(os.path.realpath(path))  # a symbolic link stays; its target is replaced
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
    """Check that a file can be written, before hours of work go into its content.

    Parameters
    ----------
    path : path-like
        The file to be written later. Nothing is created.

    Raises
    ------
    InputError
        If the folder does not exist, or the file cannot be written.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError("is a folder", "name a file", str(target))
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError("is read-only", "choose another file", str(target))
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise _unwritable(target, error) from error


def check_outputs(
    paths: Sequence[str | os.PathLike[str]],
    inputs: Sequence[str | os.PathLike[str]],
    formats: Collection[str],
) -> None:
    """Check the names of files that are to be written, before their content is computed.

    Parameters
    ----------
    paths : sequence of path-like
        The files to be written. Nothing is created.
    inputs : sequence of path-like
        Files that are read, and may not be replaced.
    formats : collection of str
        Suffixes in lower case, such as ``".csv"``.

    Raises
    ------
    InputError
        If a name is empty, its suffix is another one, it appears twice, it is that of an input,
        or the file cannot be written.
    """
    read = {Path(one).resolve() for one in inputs}
    seen: set[Path] = set()
    for path in paths:
        if not str(path):
            raise InputError("`out` is empty", "name a file")
        checked_suffix(path, formats)
        whole = Path(path).resolve()
        if whole in read:
            raise InputError(
                "is read here, and would be replaced", "choose another file", str(path)
            )
        if whole in seen:
            raise InputError("is to be written twice", "name it once", str(path))
        seen.add(whole)
        check_writable(path)


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
    """Write a UTF-8 text file atomically.

    Parameters
    ----------
    path : path-like
        The file to write; compressed if its name ends in ``.gz``, ``.zst``, ``.bz2`` or ``.xz``.
    text : str
        Its content.

    Raises
    ------
    InputError
        If the file cannot be written, or the text cannot be encoded.
    """
    write_text_blocks(path, [text])


def write_text_blocks(path: str | os.PathLike[str], blocks: Iterable[str]) -> None:
    """Write a UTF-8 text file atomically, block by block.

    Parameters
    ----------
    path : path-like
        As for :func:`write_text`. A compressed file is compressed as a whole, in memory.
    blocks : iterable of str

    Raises
    ------
    InputError
        As :func:`write_text`.
    """
    encoded = (_encoded(text, path) for text in blocks)
    with atomic_write(path) as temporary:
        if split_compression(os.fspath(path))[1]:
            temporary.write_bytes(compress_as_named(b"".join(encoded), os.fspath(path)))
            return
        with temporary.open("wb") as file:
            file.writelines(encoded)


def _encoded(text: str, path: str | os.PathLike[str]) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{error.object[error.start]!r} cannot be encoded", "remove it", str(path)
        ) from error


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
        If the file does not exist, cannot be read, or is not UTF-8 or has a carriage return
        that does not end a line (naming the line).
    """
    return "".join(read_lines(path))


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    r"""Iterate over the lines of a UTF-8 text file, which need not fit into memory.

    Parameters
    ----------
    path : path-like
        The file to read.

    Yields
    ------
    str
        A line with its line end, ``\n`` or ``\r\n``. A byte order mark is dropped.

    Raises
    ------
    InputError
        As :func:`read_text`.
    """
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                yield decode_line(text, f"{path}, line {number}")
    except FileNotFoundError as error:
        raise InputError("no such file", "check the path", str(path)) from error
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InputError(problem, "check the path and its permissions", str(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(target: Path, error: OSError) -> InputError:
    if not target.parent.exists():
        problem, remedy = "cannot be written: its folder does not exist", "make the folder first"
    else:
        problem = f"cannot be written ({error.strerror or error})"
        remedy = "choose another file"
    return InputError(problem, remedy, str(target))


def is_regular_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a file that can be read twice: not a pipe, a folder or a device.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bool
        False also where no file can have this name.
    """
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False
