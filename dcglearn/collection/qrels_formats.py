"""The rows of qrels and runs as columns, from text, JSON, Parquet and pandas.

Text is read by a fast reader of columns; if that fails, the text is read again line by line to name
the line.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.json_text import decode_json
from dcglearn.base.parquet import read_parquet_table
from dcglearn.base.types import Floats

QUERY = ("query_id", "qid", "q_id", "query")  # next to an id, PyTerrier's query is its text
DOCUMENT = ("document", "doc_id", "docno", "docid")
GRADE = ("grade", "relevance", "label", "rel")
SCORE = ("score",)
"""The names that a column may have in Parquet and pandas."""


@dataclass(frozen=True)
class FileKind:
    """The layout of qrels, or of runs.

    Attributes
    ----------
    name : str
        ``qrels`` or ``run``.
    other : str
        The other kind, with its article.
    fields : tuple of str
        The fields of a line of text; empty for those that are not used.
    number : tuple of str
        The names that the column with the number may have.
    """

    name: str
    other: str
    fields: tuple[str, ...]
    number: tuple[str, ...]

    @property
    def article(self) -> str:
        """The name with its article, for messages."""
        return "a run" if self.name == "run" else self.name


QRELS = FileKind("qrels", "a run", ("query", "", "document", "number"), GRADE)
RUN = FileKind("run", "qrels", ("query", "", "document", "", "number", ""), SCORE)


@dataclass(frozen=True)
class DocumentColumns:
    """One number per query and document, as columns.

    Attributes
    ----------
    query, document : pyarrow.Array or pyarrow.ChunkedArray of text, n long
        Their ids.
    number : ndarray of float, shape (n,)
        The grade, or the score.
    place : callable
        Returns the place of a row, for messages.
    """

    query: Any
    document: Any
    number: Floats
    place: Callable[[int], str]


def read_document_columns(path: Path, kind: FileKind) -> tuple[DocumentColumns, str]:
    """Read the columns of a file, and the tag of its first line.

    Parameters
    ----------
    path : pathlib.Path
    kind : FileKind

    Returns
    -------
    columns : DocumentColumns
    tag : str
        The name of the system; empty if the file has none.

    Raises
    ------
    InputError
        Naming the file and line.
    """
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if ending.lower() == ".parquet":
        return _of_parquet(path, kind), ""
    content = read_content(path)
    if ending.lower() == ".json":
        return _of_json(path, content, kind), ""
    return _of_text(path, content, kind)


def place_of_query(path: Path, query: str) -> str:
    """Return the place where a query first occurs: file and line, or the file if it is not text.

    Parameters
    ----------
    path : pathlib.Path
    query : str

    Returns
    -------
    str
    """
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if ending.lower() in (".parquet", ".json"):
        return str(path)
    for number, line in _lines(read_content(path)):
        if line.split(maxsplit=1)[0] == query.encode():
            return f"{path}, line {number}"
    return str(path)


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
        If it cannot be read or decompressed.
    """
    try:
        content = path.read_bytes()
        compressed = path.suffix == ".gz" or content[:2] == b"\x1f\x8b"
        return gzip.decompress(content) if compressed else content
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


def _of_text(path: Path, content: bytes, kind: FileKind) -> tuple[DocumentColumns, str]:
    import pyarrow as pa
    import pyarrow.csv as csv

    plain = _single_blanks(content)
    names = [name or f"unused {i}" for i, name in enumerate(kind.fields)]
    used = [name for name in kind.fields if name]
    try:
        table = csv.read_csv(
            pa.BufferReader(plain),
            csv.ReadOptions(column_names=names, block_size=1 << 24),
            csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False),
            csv.ConvertOptions(
                column_types={
                    "query": pa.dictionary(pa.int32(), pa.string()),
                    "document": pa.string(),
                    "number": pa.float64(),
                },
                include_columns=used,
                null_values=[],
            ),
        )
    except pa.ArrowException as error:
        _raise_first_fault(path, content, kind)
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"cannot be read ({reason})", "check the file", str(path)) from error
    number = table.column("number").to_numpy()
    if not np.isfinite(number).all():
        _raise_first_fault(path, content, kind)

    def place(row: int) -> str:
        return f"{path}, line {_line_of(content, row)}"

    first = plain[: plain.index(b"\n")].split(b" ")
    tag = first[-1].decode(errors="replace") if len(kind.fields) == 6 else ""
    return DocumentColumns(table.column("query"), table.column("document"), number, place), tag


def _single_blanks(content: bytes) -> bytes:
    """Return the text without comments and empty lines, with one blank between fields."""
    text = content.removeprefix(b"\xef\xbb\xbf")
    if any(blank in text for blank in _OTHER_BLANKS):
        text = text.translate(_BLANKS)
    if text.startswith(b"#") or b"\n#" in text:
        text = re.sub(rb"(?m)^#.*$", b"", text)
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    if b" \n" in text or b"\n " in text:
        text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return text.strip() + b"\n"


_OTHER_BLANKS = (b"\t", b"\r", b"\v", b"\f")
_BLANKS = bytes.maketrans(b"".join(_OTHER_BLANKS), b"    ")


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip() and not line.startswith(b"#"):
            yield number, line


def _line_of(content: bytes, row: int) -> int:
    return next(number for i, (number, _) in enumerate(_lines(content)) if i == row)


def _raise_first_fault(path: Path, content: bytes, kind: FileKind) -> None:
    """Raise the error for the first line that cannot be read; return if there is none."""
    found = False
    for number, line in _lines(content):
        found = True
        try:
            _check_line(line, kind)
        except InputError as error:
            raise error.at(f"{path}, line {number}") from error
    if not found:
        raise InputError("is empty", f"give {kind.article} of at least one document", str(path))


def _check_line(line: bytes, kind: FileKind) -> None:
    try:
        fields = line.decode().split()
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", "save it as UTF-8") from error
    wanted = len(kind.fields)
    layout = "query 0 document grade" if wanted == 4 else "query Q0 document rank score tag"
    if len(fields) == 10 - wanted:
        raise InputError(
            f"{len(fields)} fields: this looks like {kind.other}",
            f"give {kind.article} here; qrels come first, then runs",
        )
    if len(fields) != wanted:
        raise InputError(f"{len(fields)} fields, not {wanted}", f"write: {layout}")
    _checked_number(fields[kind.fields.index("number")], kind)


def _checked_number(text: object, kind: FileKind) -> float:
    try:
        if isinstance(text, bool) or (
            isinstance(text, str) and "_" in text
        ):  # Python reads 1_0 as 10
            raise TypeError
        value = float(text)  # type: ignore[arg-type]  # what float() refuses is caught here
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        noun = kind.number[0]
        raise InputError(f"the {noun} {str(text)[:40]!r} is not a finite number", "correct it")
    return value


def _of_json(path: Path, content: bytes, kind: FileKind) -> DocumentColumns:
    try:
        document = decode_json(content, "write {query: {document: number}}")
    except InputError as error:
        raise error.at(str(path)) from error
    return _of_dicts(document, str(path), kind)


def _of_dicts(content: object, name: str, kind: FileKind) -> DocumentColumns:
    import pyarrow as pa

    if not isinstance(content, dict) or not all(isinstance(v, dict) for v in content.values()):
        raise InputError(
            f"is not {kind.article}", f"write {{query: {{document: {kind.number[0]}}}}}", name
        )
    places = [(str(query), str(doc)) for query, docs in content.items() for doc in docs]
    numbers = []
    for (query, document), value in zip(
        places, (v for docs in content.values() for v in docs.values()), strict=True
    ):
        try:
            numbers.append(_checked_number(value, kind))
        except InputError as error:
            raise error.at(f"{name}, query {query}, document {document}") from error

    def place(row: int) -> str:
        return f"{name}, query {places[row][0]}, document {places[row][1]}"

    try:
        ids = [pa.array([pair[side] for pair in places], pa.string()) for side in (0, 1)]
    except UnicodeEncodeError as error:
        raise InputError(
            f"the id {error.object!r} is not valid text", "correct it", name
        ) from error
    return DocumentColumns(ids[0], ids[1], np.array(numbers, float), place)


def _of_parquet(path: Path, kind: FileKind) -> DocumentColumns:
    if path.suffix.lower() == ".gz":
        raise InputError("is a compressed Parquet file", "decompress it first", str(path))
    return _of_table(read_parquet_table(path), str(path), kind)


def document_columns_of(content: Any, name: str, kind: FileKind) -> DocumentColumns:
    """Return the columns of a pandas frame or of nested dicts.

    Parameters
    ----------
    content : pandas.DataFrame or dict
    name : str
        What to call it in a message.
    kind : FileKind

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        Naming the row, or the query and document.
    """
    import pyarrow as pa

    if hasattr(content, "columns"):
        try:
            table = pa.Table.from_pandas(content, preserve_index=False)
        except (pa.ArrowException, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())[:100]
            raise InputError(
                f"holds columns of mixed types ({reason})", "convert ids to text", name
            ) from error
        return _of_table(table, name, kind)
    return _of_dicts(content, name, kind)


def _of_table(table: Any, name: str, kind: FileKind) -> DocumentColumns:
    import pyarrow as pa

    columns = []
    for known in (QUERY, DOCUMENT, kind.number):
        present = [column for column in known if column in table.column_names]
        if not present:
            raise InputError(
                f"no column {known[0]!r} among {', '.join(table.column_names)}",
                f"name it {', '.join(known)}",
                name,
            )
        columns.append(table.column(present[0]))
    try:
        query, document = (column.cast(pa.string()) for column in columns[:2])
        number = columns[2].cast(pa.float64()).to_numpy()
    except pa.ArrowException as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(
            f"holds columns that are not ids or numbers ({reason})",
            "convert ids to text and the others to numbers",
            name,
        ) from error

    def place(row: int) -> str:
        return f"{name}, row {row + 1}"

    gaps = [column for column in (query, document) if column.null_count]
    wrong = np.zeros(len(number), bool)
    for column in gaps:
        wrong |= column.is_null().to_numpy()
    wrong |= ~np.isfinite(number)
    if wrong.any():
        problem = f"an id is missing, or the {kind.number[0]} is not a finite number"
        raise InputError(problem, "correct it", place(int(np.argmax(wrong))))
    return DocumentColumns(query, document, number, place)
