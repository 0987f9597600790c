"""Files: their bytes, decompressed; text as UTF-8, with faults named by their line; atomic writing.

A temporary file in the same folder replaces the target when it is complete. JSON is read strictly:
a key that appears twice in one object is refused, and so are ``NaN`` and ``Infinity``, which
Python's ``json`` reads.
"""

import bz2
import codecs
import gzip
import io
import json
import lzma
import os
import tempfile
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from dcglearn.base.errors import InputError

PathLike: TypeAlias = str | os.PathLike[str]

_CHUNK = 1 << 20
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class Compression(NamedTuple):
    """How the files of a compression begin, and its functions."""

    magic: bytes
    open: Callable[[Any], Any]
    compress: Callable[[bytes], bytes]


def _open_zstd(file: BinaryIO) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(file, "zstd")


def _compress_zstd(content: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.compress(content, "zstd"))


COMPRESSIONS = {
    ".gz": Compression(b"\x1f\x8b", gzip.open, partial(gzip.compress, mtime=0)),
    ".zst": Compression(b"(\xb5/\xfd", _open_zstd, _compress_zstd),
    ".bz2": Compression(b"BZh", bz2.open, bz2.compress),
    ".xz": Compression(b"\xfd7zXZ\x00", lzma.open, lzma.compress),
}
"""The kinds of compression, by suffix."""


def split_compression(name: str) -> tuple[str, str]:
    """Split the suffix of a compression off a file's name; ``""`` if there is none."""
    suffix = PurePath(name).suffix.lower()
    return (name[: -len(suffix)], suffix) if suffix in COMPRESSIONS else (name, "")


@contextmanager
def guarded(name: str, what: str = "") -> Iterator[None]:
    """Turn any exception of a foreign reader into the error of a damaged file."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            missing = isinstance(error, FileNotFoundError)
            problem = "no such file" if missing else f"cannot be read ({error.strerror})"
            raise InputError(problem, "check the path and its permissions", name) from error
        reason = " ".join(str(error).split())[:100] or type(error).__name__
        damaged = f"is damaged, or not {what}" if what else "is damaged"
        raise InputError(f"{damaged} ({reason})", "fetch or write it again", name) from error


@contextmanager
def unpacked(file: Path | bytes, name: str, what: str = "") -> Iterator[Any]:
    """Open a file, or its content, decompressed; any error in the block is that of a damaged one.

    A file that is not compressed is opened as it is.
    """
    with (
        guarded(name, what),
        io.BytesIO(file) if isinstance(file, bytes) else file.open("rb") as raw,
    ):
        head = raw.read(6)
        raw.seek(0)
        kinds = (kind for kind in COMPRESSIONS.values() if head.startswith(kind.magic))
        yield next((kind.open(raw) for kind in kinds), raw)


def open_text(file: Path | bytes, name: str, encoding: str = "utf-8") -> io.BufferedReader:
    """Open a text file, decompressed, as UTF-8 with line feeds and without a byte order mark."""
    return io.BufferedReader(_Chunks(_utf8_chunks(file, name, encoding)), 1 << 14)


class _Chunks(io.RawIOBase):
    """A file of the bytes that a generator yields."""

    def __init__(self, chunks: Generator[bytes]) -> None:
        self._chunks, self._rest = chunks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and (chunk := next(self._chunks, None)) is not None:
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _utf8_chunks(file: Path | bytes, name: str, encoding: str) -> Generator[bytes]:
    with unpacked(file, name) as content:
        first = content.read(_CHUNK)
        mark = next((mark for mark in _MARKS if first.startswith(mark)), b"")
        encoding = _MARKS.get(mark, encoding)
        try:
            make = codecs.getincrementaldecoder(encoding)
        except LookupError as error:
            raise InputError(
                f"`encoding` is {encoding!r}", "use utf-8, latin-1 ...", name
            ) from error
        decoder = io.IncrementalNewlineDecoder(make(), translate=True)
        following = iter(lambda: content.read(_CHUNK), b"")
        for done, chunk in enumerate(chain([first[len(mark) :]], following, [b""])):
            plain = chunk.isascii() and b"\r" not in chunk and not any(decoder.getstate())
            if plain and encoding == "utf-8":  # as most runs are
                yield chunk
                continue
            try:
                yield decoder.decode(chunk, final=not chunk).encode()
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(encoding, "replace")
                problem = f"is not {encoding.upper()} text"
                remedy = "save it as UTF-8, or name its encoding: `encoding='latin-1'`"
                above = b"".join(islice(_utf8_chunks(file, name, encoding), done)).count(b"\n")
                line = 1 + above + io.StringIO(before, newline=None).read().count("\n")
                raise InputError(problem, remedy, f"{name}, line {line}") from error


def numbered_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Return lines with their numbers, without the blank ones."""
    return ((number, line) for number, line in enumerate(lines, first) if line.strip())


def whole_lines(file: BinaryIO, size: int = _CHUNK) -> Iterator[bytes]:
    """Read a text file in chunks of whole lines, which stay in the processor's cache."""
    while chunk := file.read(size):
        yield chunk + file.readline() if not chunk.endswith(b"\n") else chunk


def read_text(path: PathLike) -> str:
    """Read a text file as a whole."""
    with guarded(str(path)):
        content = Path(path).read_bytes()  # a pipe can be read only once
    return open_text(content, str(path)).read().decode()


def decode_json(text: str | bytes, remedy: str) -> Any:
    """Decode a JSON document, whose keys differ within each object."""

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = max(names, key=names.count)
            raise InputError(f'the key "{repeated}" appears twice', "keep one")
        return found

    content = text if isinstance(text, str) else text.decode()
    try:
        document = json.loads(content, object_pairs_hook=as_dict, parse_constant=_refuse)
        if "\\u" in content:
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except UnicodeEncodeError as error:  # one of a pair of surrogates, as cut text ends
        raise InputError("is not valid text (half of a character)", "write both halves") from error
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON ({error.msg})", remedy, f"line {error.lineno}") from error


def jsonable(value: Any) -> Any:
    """Return what JSON can hold of records, arrays and mappings: null for what is not finite."""
    from pydantic_core import to_jsonable_python  # which takes time to load, for JSON only

    return to_jsonable_python(value, fallback=lambda it: it.tolist(), inf_nan_mode="null")


def json_document(document: Any) -> str:
    """Return a document as JSON text; it may hold records and arrays."""
    return json.dumps(jsonable(document), indent=2, ensure_ascii=False)


def _refuse(name: str) -> None:
    raise InputError(f"is not JSON ({name})", "write finite numbers, or null")


@contextmanager
def atomic_write(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path, of the same suffix, whose file replaces `path` after the block."""
    check_writable(path)
    target = Path(os.path.realpath(path))  # a symbolic link stays; its target is replaced
    temporary = target.with_name(f".{target.stem}-{os.urandom(6).hex()}{target.suffix}")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        if error.filename in (None, str(temporary)):  # writing does not name the file
            raise _unwritable(target, error) from error
        raise  # of another file, such as one that the block reads
    finally:
        temporary.unlink(missing_ok=True)


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
    encoded: Iterable[bytes] = (block.encode(errors="backslashreplace") for block in blocks)
    if compression := split_compression(os.fspath(path))[1]:
        encoded = [COMPRESSIONS[compression].compress(b"".join(encoded))]
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.writelines(encoded)


def _unwritable(target: Path, error: OSError) -> InputError:
    if not target.parent.exists():
        problem, remedy = "cannot be written: its folder does not exist", "make the folder first"
    else:
        problem, remedy = f"cannot be written ({error.strerror or error})", "choose another file"
    return InputError(problem, remedy, str(target))
