"""Where records are read from: files in any usual format, compression and encoding.

Places (:mod:`dcglearn.base.tables.old.places`) become sources, which say what their bytes are and open them:
text as UTF-8, compressed files unpacked. A suffix names the format; a content that contradicts it
is refused. Standard input and files without a suffix are recognised by their content.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import BinaryIO, Literal, get_args

from dcglearn.base.errors import InputError, did_you_mean, unknown_name
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.old.compressed import COMPRESSIONS, open_decompressed, split_compression
from dcglearn.base.tables.old.delimiters import (
    DELIMITERS,
    declared_delimiter,
    find_delimiter,
    title_above,
)
from dcglearn.base.tables.old.encodings import Utf8Stream
from dcglearn.base.tables.old.places import Part, PartGroup, Place, TemporaryCopies, expand_places
from dcglearn.base.text import ASCII_BLANKS

SourceFormat = Literal["jsonl", "json", "csv", "tsv", "parquet", "arrow"]
"""A JSON object per line, an array of objects, delimited text, Parquet, and Arrow's IPC formats."""

SOURCE_SUFFIXES: dict[str, SourceFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
"""The formats, by suffix. Whether JSON is an array or an object per line shows in its content."""

_MAGIC: dict[bytes, SourceFormat] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream of batches
}
_NAMES = {"parquet": "Parquet", "arrow": "Arrow"}
_OTHERS = {
    b"PK\x03\x04": ("a spreadsheet or a zip archive", "save it as CSV"),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet", "save it as CSV"),
    b"FEA1": ("a file of Feather's first version", "write it as .parquet"),
    b"SQLite format 3": ("a database", "export the table as CSV"),
    b"{\\rtf": ("formatted text", "save it as plain text"),
    b"%PDF": ("a PDF", "save the table as CSV"),
}
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|table|\?xml)", re.IGNORECASE)
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_HEAD = 1 << 16


@dataclass(frozen=True)
class Source:
    """The records of one file.

    Attributes
    ----------
    name : str
        For messages.
    format : {"jsonl", "json", "csv", "tsv", "parquet", "arrow"}
    delimiter : str or None
        The character between the columns of delimited text.
    size : int
        The bytes of the file, compressed if it is.
    notes : list of str
        What was found out about it, such as ``the text is Latin-1``, if it is not what everybody
        writes. An encoding that shows after the first MiB is added when it has been read.
    partition : dict
        Columns that the names of its folders hold (``date=2026-01-01``), which have one value each.
    """

    name: str
    format: SourceFormat
    delimiter: str | None
    size: int
    notes: list[str]
    _file: Path = field(repr=False)
    _copies: TemporaryCopies = field(repr=False)
    _left_out: bytes = field(default=b"", repr=False)
    partition: dict[str, str] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        """Whether the format is text: JSON, or delimited."""
        return self.format not in _NAMES

    def open(self, advance: Advance = silent) -> BinaryIO:
        """Open the file at its beginning; it can be opened again and again.

        Parameters
        ----------
        advance : callable, optional
            Called with (bytes of the file read, `size`) while it is read.

        Returns
        -------
        binary file
            Unpacked if it is compressed. Text is UTF-8 without a byte order mark, and not
            seekable; other formats are seekable. A first line ``sep=;``, which spreadsheets write
            and read, and lines of a title are empty.

        Raises
        ------
        InputError
            Naming the file, and the line where there is one. Reading raises it, too: if the file
            is cut short, damaged or a bomb, or its encodings are mixed.
        """
        if self.is_text:
            return _open_text(self._file, self.name, self.notes, advance, self._left_out)
        return open_decompressed(self.path, self.name if self.path is self._file else "", advance)

    @cached_property
    def path(self) -> Path:
        """The file on disk; a copy of what it unpacks to if it is compressed."""
        content = open_decompressed(self._file, self.name)
        with content:
            if content.seekable():
                return self._file
            return self._copies.add(content, self.name)


def find_sources(
    places: Place | Iterable[Place], file_format: SourceFormat | None = None
) -> list[Source]:
    r"""Find what to read: each file of the places, and what it is.

    Parameters
    ----------
    places : place or iterable of places
        Paths, patterns (``parts/*.csv``), folders, ``-`` (standard input) or open files. The files
        of a pattern or folder are sorted by name, and hidden ones (``.x``, ``_SUCCESS``,
        ``x.crc``) are left out. Folders in a folder are partitions: ``date=2026-01-01``.
    file_format : {"jsonl", "json", "csv", "tsv", "parquet", "arrow"}, optional
        The format of all of them. By default it follows from the suffix, or from the content where
        there is none.

    Returns
    -------
    list of Source
        In the order of the places.

    Raises
    ------
    InputError
        Naming the file: it does not exist, is empty, cannot be read, or is not what its name
        says; a folder or pattern without files or of mixed formats; a file that appears twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "judgments.csv")
    ...     _ = path.write_bytes("query;a;b;answer\ncafé;2 0;1 1;a\n".encode("cp1252"))
    ...     (source,) = find_sources(path)
    ...     source.open().read().decode().splitlines()
    ['query;a;b;answer', 'café;2 0;1 1;a']
    >>> source.format, source.delimiter, source.notes
    ('csv', ';', ['the text is Latin-1', 'columns are separated by semicolons'])
    """
    if file_format is not None and file_format not in get_args(SourceFormat):
        raise unknown_name("`file_format`", file_format, get_args(SourceFormat))
    copies = TemporaryCopies()
    found = []
    for group in expand_places(places, copies):
        sources = [_source_of(part, file_format, copies) for part in group.parts]
        _check_one_format(sources, group)
        sources[0].notes.extend(group.notes)
        found += sources
    return found


def name_sources(sources: list[Source]) -> str:
    """Return what to call files that are read as one."""
    first, *more = (source.name for source in sources)
    return f"{first} and {len(more):,} more" if more else first


def _source_of(part: Part, file_format: SourceFormat | None, copies: TemporaryCopies) -> Source:
    name, path = part.name, part.path
    expected = file_format or format_of_name(name, part.named)
    with open_decompressed(path, name) as file:
        start = file.read(64)
    if not start:
        raise InputError("is empty", "give at least one record", name)
    found = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    _check_content(start, found, expected, name)
    notes: list[str] = []
    delimiter: str | None = None
    declared = ""
    if found is None:
        with _open_text(path, name, notes) as text:
            head = text.read(_HEAD)
        found, delimiter = _text_format(head, expected, name)
        if delimiter is not None:
            declared, delimiter = _above_header(head.decode(errors="ignore"), delimiter, notes)
            if delimiter != "," and found != "tsv":
                notes.append(f"columns are separated by {DELIMITERS[delimiter]}")
    size = path.stat().st_size
    above = declared.encode()
    return Source(name, found, delimiter, size, notes, path, copies, above, part.partition)


def _above_header(head: str, delimiter: str, notes: list[str]) -> tuple[str, str]:
    """Return what is left out above the names of the columns, and the delimiter."""
    declared = declared_delimiter(head)
    if declared:
        return declared, declared[-1]
    title = title_above(head, delimiter)
    if title:
        lines = title.count("\n") + 1
        which = "line 1 is" if lines == 1 else f"lines 1 to {lines} are"
        shown = " ".join(title.replace(delimiter, " ").split())
        notes.append(f"{which} above the names of the columns and left out: {shown[:60]!r}")
    return title, delimiter


def format_of_name(name: str, must: bool = False) -> SourceFormat | None:
    """Return the format that a name says, None if it says none and need not.

    Parameters
    ----------
    name : str
    must : bool, default False
        Whether a suffix of another kind is refused.

    Returns
    -------
    str or None

    Raises
    ------
    InputError
        If the suffix says another format, and must not.

    Examples
    --------
    >>> format_of_name("part-1.csv.gz"), format_of_name("README.md")
    ('csv', None)
    """
    suffix = PurePath(split_compression(name)[0]).suffix.lower()
    if suffix in SOURCE_SUFFIXES:
        return SOURCE_SUFFIXES[suffix]
    if not suffix or suffix[1:].isdigit() or not must:
        return None
    if suffix in _SPREADSHEETS:
        raise InputError("is a spreadsheet", "save it as CSV", name)
    *most, last = SOURCE_SUFFIXES
    if suffix in (".zip", ".tar", ".tgz", ".7z", ".rar"):
        raise InputError("is an archive", "unpack it, and name the files in it", name)
    formats = f"{', '.join(most)} or {last}"
    guess = did_you_mean(suffix, SOURCE_SUFFIXES)
    remedy = f"{guess}write it as {formats}, and name it so; text may be compressed: "
    raise InputError(f"ends in {suffix!r}", remedy + ", ".join(COMPRESSIONS), name)


def _check_content(
    start: bytes, found: SourceFormat | None, expected: SourceFormat | None, name: str
) -> None:
    """Refuse a file that is not what its name says."""
    for magic, (problem, remedy) in _OTHERS.items():
        if start.startswith(magic):
            raise InputError(f"is {problem}", remedy, name)
    if _PAGE.match(start):
        problem = "is a web page or XML, perhaps an error of the server"
        raise InputError(problem, "fetch or export the table as CSV", name)
    if expected in _NAMES and found != expected:
        problem = f"is not a readable {_NAMES[expected]} file (it begins otherwise)"
        raise InputError(problem, "write it again", name)
    if found is not None and expected not in (None, found):
        problem = f"is {_NAMES[found]}, and its name or `file_format` says {expected}"
        raise InputError(problem, f"name it .{found}", name)


def _text_format(
    head: bytes, expected: SourceFormat | None, name: str
) -> tuple[SourceFormat, str | None]:
    """Return the format of text, and the delimiter if it is delimited."""
    first = head.lstrip(ASCII_BLANKS.encode())[:1]
    if expected in ("json", "jsonl") or (expected is None and first in (b"[", b"{")):
        return "json" if first == b"[" else "jsonl", None
    text = head.decode(errors="ignore")
    delimiter = find_delimiter(text, len(head) < _HEAD)
    if expected != "tsv":
        return "csv", delimiter
    header = text.partition("\n")[0]
    if "\t" not in header and delimiter in header:
        problem = f"columns are separated by {DELIMITERS[delimiter]}, and its name says by tabs"
        raise InputError(problem, "name it .csv", name)
    return "tsv", "\t"


def _check_one_format(sources: list[Source], group: PartGroup) -> None:
    """Refuse a folder or pattern of mixed formats; arrays and lines of JSON go together."""
    kinds: dict[str, Source] = {}
    for source in sources:
        kinds.setdefault("json" if source.format == "jsonl" else source.format, source)
    if len(kinds) > 1:
        first, second = (Path(source.name).name for source in list(kinds.values())[:2])
        problem = f"holds files of several formats, such as {first} and {second}"
        raise InputError(problem, "name those of one format", group.name)


def _open_text(
    path: Path, name: str, notes: list[str], advance: Advance = silent, left_out: bytes = b""
) -> BinaryIO:
    def decided(encoding: str) -> None:
        note = f"the text is {encoding}"
        if note not in notes:
            notes.append(note)

    content = open_decompressed(path, name, advance)
    return io.BufferedReader(Utf8Stream(content, name, decided, left_out), 1 << 18)
