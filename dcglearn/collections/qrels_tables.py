"""The columns of qrels and runs in tables: Parquet files, CSV and pandas frames.

Their names are those of ir_datasets, of PyTerrier and of BEIR; capitals, ``-`` and ``_`` do not
count. Ids are text or whole numbers; grades and scores are numbers, or text that holds numbers.
Grades may be names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import parse_number
from dcglearn.base.tables.old.parquet import read_parquet_table
from dcglearn.base.types import Floats

QUERY = ("query_id", "qid", "q_id", "query", "topic_id", "topic")  # next to an id, query is a text
DOCUMENT = ("document", "doc_id", "docno", "docid", "doc", "corpus_id", "document_id", "url")
GRADE = ("grade", "relevance", "label", "rel", "rating", "score", "stars")
SCORE = ("score",)
"""The names that a column may have in tables."""

_NO_NAMES = ("", "nan", "inf", "infinity")


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
RUN = FileKind("run", "qrels", ("query", "", "document", "", "number", "tag"), SCORE)


@dataclass(frozen=True)
class DocumentColumns:
    """One number per query and document, as columns.

    Attributes
    ----------
    query, document : pyarrow.Array or pyarrow.ChunkedArray of text, n long
        Their ids.
    number : ndarray of float, shape (n,)
        The grade, or the score; of grades that are names, which of them.
    place : callable
        Returns the place of a row, for messages.
    names : tuple of str
        The names of the grades, if they are names.
    """

    query: Any
    document: Any
    number: Floats
    place: Callable[[int], str]
    names: tuple[str, ...] = ()


def columns_of_parquet(path: Path, kind: FileKind, name: str = "") -> DocumentColumns:
    """Read the columns of a Parquet file, or of a folder of such files.

    Parameters
    ----------
    path : pathlib.Path
    kind : FileKind
    name : str, optional
        What to call it in messages; by default its path.

    Returns
    -------
    DocumentColumns

    Raises
    ------
    InputError
        Naming the file, and the row or column.
    """
    name = name or str(path)
    table = read_parquet_table(path, lambda names: choose_columns(names, name, kind))
    return columns_of_table(table, name, kind)


def choose_columns(names: Sequence[str], name: str, kind: FileKind) -> list[str]:
    """Return the columns of the query, the document and the number.

    Parameters
    ----------
    names : sequence of str
        All columns.
    name : str
        What to call the table in a message.
    kind : FileKind

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If one is missing, or appears twice.
    """
    chosen = []
    plain = [_plain(column) for column in names]
    for known in (QUERY, DOCUMENT, kind.number):
        present = [wanted for wanted in map(_plain, known) if wanted in plain]
        if not present:
            raise InputError(
                f"no column {known[0]!r} among {', '.join(map(str, names))}",
                f"name it {', '.join(known)}",
                name,
            )
        column = names[plain.index(present[0])]
        if plain.count(present[0]) > 1:
            raise InputError(f"the column {column!r} appears twice", "keep one", name)
        chosen.append(column)
    return chosen


def _plain(column: object) -> str:
    return re.sub("[-_ ]", "", str(column).casefold())


def columns_of_table(
    table: Any, name: str, kind: FileKind, place: Callable[[int], str] | None = None
) -> DocumentColumns:
    """Return the columns of an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
        What to call it in a message.
    kind : FileKind
    place : callable, optional
        Returns the place of a row; by default its number.

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
        *ids, number = map(table.column, choose_columns(table.column_names, name, kind))
        query, document = map(_ids_of_column, ids)
        numbers, names = _numbers_of_column(number, kind is QRELS)
    except pa.ArrowException as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(
            f"holds columns that are not ids or numbers ({reason})",
            "convert ids to text and the others to numbers",
            name,
        ) from error

    place = place or (lambda row: f"{name}, row {row + 1}")
    missing = np.zeros(len(numbers), bool)
    for column in (query, document):
        if column.null_count:
            missing |= column.is_null().to_numpy()
    wrong = missing | ~np.isfinite(numbers)
    if wrong.any():
        row = int(np.argmax(wrong))
        problem, remedy = "an id is missing", "correct it"
        if not missing[row]:
            value = number[row].as_py()
            shown = "is missing" if value is None else f"{str(value)[:40]!r} is not a finite number"
            problem = f"the {kind.number[0]} {shown}"
            if isinstance(value, str) and kind is QRELS:
                remedy = "correct it, or write all grades as names"
        raise InputError(problem, remedy, place(row))
    return DocumentColumns(query, document, numbers, place, names)


def _without_views(column: Any) -> Any:
    """Return a column whose text has a type that all functions of Arrow know."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if types.is_dictionary(column.type) and types.is_string_view(column.type.value_type):
        return column.cast(pa.dictionary(pa.int32(), pa.string()))
    return column


def _ids_of_column(column: Any) -> Any:
    """Return a column as text."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    column = _without_views(column)
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


def _numbers_of_column(column: Any, may_be_names: bool) -> tuple[Floats, tuple[str, ...]]:
    """Return a column as floats, NaN where it holds none; text is read as in text files.

    Names are numbered, if all are names.
    """
    import pyarrow as pa
    import pyarrow.types as types

    column = _without_views(column)
    held = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_string(held) or types.is_large_string(held):
        encoded = column.cast(pa.string()).dictionary_encode().unify_dictionaries()
        texts = encoded.chunk(0).dictionary.to_pylist() if encoded.num_chunks else []
        values = [parse_number(text) for text in texts]
        if may_be_names and texts and all(map(_is_name, texts, values)):
            values = [float(code) for code in range(len(texts))]
        else:
            texts = []
        numbers = pa.array(values, pa.float64())
        column = pa.chunked_array(
            [numbers.take(chunk.indices) for chunk in encoded.chunks], pa.float64()
        )
        return np.asarray(column.to_numpy(), float), tuple(texts)
    if not any(getattr(types, f"is_{one}")(held) for one in ("integer", "floating", "decimal")):
        raise pa.ArrowTypeError(f"numbers of type {held!s:.60}")
    return np.asarray(column.cast(pa.float64()).to_numpy(), float), ()


def _is_name(text: str | None, value: float) -> bool:
    return text is not None and math.isnan(value) and text.strip().casefold() not in _NO_NAMES
