"""The columns of qrels and runs in tables: Parquet files and pandas frames.

Their names are those of ir_datasets and of PyTerrier. Ids are text or whole numbers; grades and
scores are numbers, or text that holds numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number
from dcglearn.base.types import Floats
from dcglearn.files.parquet import read_parquet_table

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


def columns_of_parquet(path: Path, kind: FileKind) -> DocumentColumns:
    """Read the columns of a Parquet file, or of a folder of such files.

    Parameters
    ----------
    path : pathlib.Path
    kind : FileKind

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        Naming the file, and the row or column.
    """
    if path.suffix.lower() == ".gz":
        raise InputError("is a compressed Parquet file", "decompress it first", str(path))
    table = read_parquet_table(path, lambda names: _chosen(names, str(path), kind))
    return columns_of_table(table, str(path), kind)


def _chosen(names: list[str], name: str, kind: FileKind) -> list[str]:
    """Return the columns of the query, the document and the number."""
    chosen = []
    for known in (QUERY, DOCUMENT, kind.number):
        present = [column for column in known if column in names]
        if not present:
            raise InputError(
                f"no column {known[0]!r} among {', '.join(map(str, names))}",
                f"name it {', '.join(known)}",
                name,
            )
        if names.count(present[0]) > 1:
            raise InputError(f"the column {present[0]!r} appears twice", "keep one", name)
        chosen.append(present[0])
    return chosen


def columns_of_table(table: Any, name: str, kind: FileKind) -> DocumentColumns:
    """Return the columns of an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
        What to call it in a message.
    kind : FileKind

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        If a column is missing or of another type, or naming the row, if a number is not finite.
    """
    import pyarrow as pa

    try:
        *ids, number = map(table.column, _chosen(table.column_names, name, kind))
        query, document = map(_ids_of_column, ids)
        numbers = _numbers_of_column(number)
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
    wrong = np.zeros(len(numbers), bool)
    for column in gaps:
        wrong |= column.is_null().to_numpy()
    wrong |= ~np.isfinite(numbers)
    if wrong.any():
        problem = f"an id is missing, or the {kind.number[0]} is not a finite number"
        raise InputError(problem, "correct it", place(int(np.argmax(wrong))))
    return DocumentColumns(query, document, numbers, place)


def _ids_of_column(column: Any) -> Any:
    """Return a column as text."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    held = column.type.value_type if types.is_dictionary(column.type) else column.type
    tests = ("string", "large_string", "binary", "large_binary", "integer", "floating", "null")
    if not any(getattr(types, f"is_{one}")(held) for one in tests):
        raise pa.ArrowTypeError(f"ids of type {held!s:.60}")
    column.validate(full=True)  # UTF-8
    if types.is_dictionary(column.type):
        size = 0
        for chunk in column.chunks:
            lengths = pc.binary_length(chunk.dictionary.cast(pa.string()))
            size += pc.sum(lengths.take(chunk.indices)).as_py() or 0
        if size >= 2**31:
            raise pa.ArrowInvalid(f"ids of {size / 2**30:.0f} GiB")
    return column.cast(pa.string())


def _numbers_of_column(column: Any) -> Floats:
    """Return a column as floats, NaN where it holds none; text is read as in text files."""
    import pyarrow as pa
    import pyarrow.types as types

    held = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_string(held) or types.is_large_string(held):
        encoded = column.cast(pa.string()).dictionary_encode().unify_dictionaries()
        column = pa.chunked_array(
            [
                pa.array(
                    [parse_number(text) for text in chunk.dictionary.to_pylist()], pa.float64()
                ).take(chunk.indices)
                for chunk in encoded.chunks
            ],
            pa.float64(),
        )
    elif not any(getattr(types, f"is_{one}")(held) for one in ("integer", "floating", "decimal")):
        raise pa.ArrowTypeError(f"numbers of type {held!s:.60}")
    return np.asarray(column.cast(pa.float64()).to_numpy(), float)
