"""Text files, read with errors that name the line, and written atomically.

A temporary file in the same folder replaces the target when it is complete.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from dcglearn.base.errors import InputError
from dcglearn.base.tables.text import COMPRESSIONS, guarded, split_compression

PathLike: TypeAlias = str | os.PathLike[str]


@contextmanager
def atomic_write(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path, of the same suffix, whose file replaces `path` after the block."""
    check_writable(path)
    target = Path(os.path.realpath(path))  # a symbolic link stays; its target is replaced
    temporary = target.with_name(f".{target.stem}-{os.urandom(6).hex()}{target.suffix}")
    try:
        temporary.touch(exist_ok=False)  # with permissions by the umask
        try:
            yield temporary
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if error.filename in (None, str(temporary)):  # writing does not name the file
            raise _unwritable(target, error) from error
        raise  # of another file, such as one that the block reads


def check_writable(path: PathLike) -> None:
    """Check that a file can be written, before hours of work go into its content."""
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
    paths: Sequence[PathLike], inputs: Sequence[PathLike], formats: Collection[str]
) -> None:
    """Check that files can be written, differ and replace no input, before the work begins."""
    taken = {Path(one).resolve(): "is read here, and would be replaced" for one in inputs}
    for path in paths:
        checked_suffix(path, formats)
        whole = Path(path).resolve()
        if whole in taken:
            raise InputError(taken[whole], "choose another file", str(path))
        taken[whole] = "is to be written twice"
        check_writable(path)


def checked_suffix(path: PathLike, allowed: Collection[str]) -> str:
    """Return the suffix of a file's name, in lower case, which decides its format."""
    suffix = Path(path).suffix.lower()
    if suffix not in allowed:
        *most, last = allowed
        known = f"{', '.join(most)} or {last}" if most else last
        problem = f"ends in {suffix!r}" if suffix else "has no suffix"
        raise InputError(problem, f"use a name that ends in {known}", str(path))
    return suffix


def write_text(path: PathLike, text: str) -> None:
    """Write a UTF-8 text file atomically, compressed if its name says so."""
    write_text_blocks(path, [text])


def write_text_blocks(path: PathLike, blocks: Iterable[str]) -> None:
    """Write a UTF-8 text file atomically, block by block; a compressed one as a whole.

    What cannot be encoded, such as a byte in the name of a file, is escaped.
    """
    name = os.fspath(path)
    encoded: Iterable[bytes] = (block.encode(errors="backslashreplace") for block in blocks)
    if compression := split_compression(name)[1]:
        encoded = [COMPRESSIONS[compression].compress(b"".join(encoded))]
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.writelines(encoded)


def read_text(path: PathLike) -> str:
    """Read a UTF-8 text file, with its ends of lines and without its byte order mark."""
    with guarded(str(path)):
        content = Path(path).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", "save it as UTF-8", f"{path}, line {line}") from error


def _unwritable(target: Path, error: OSError) -> InputError:
    if not target.parent.exists():
        problem, remedy = "cannot be written: its folder does not exist", "make the folder first"
    else:
        problem, remedy = f"cannot be written ({error.strerror or error})", "choose another file"
    return InputError(problem, remedy, str(target))
