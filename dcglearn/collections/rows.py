"""The rows of qrels and runs as three columns: a query, a document and a number.

Whatever the format, a file becomes parts of three columns; what their cells mean is decided here,
once. Names of columns are those of ir_datasets, PyTerrier and BEIR; capitals, ``-`` and ``_`` do
not count. Ids are text or whole numbers. Grades and scores are numbers, or text that holds
numbers; grades may also be names.

TREC's text has ``query 0 document grade`` in qrels, ``query Q0 document rank score tag`` in runs.
Tabs separate fields, which may then hold blanks, if they give the right number of fields;
otherwise any blanks do. Lines that begin with ``#`` are comments. The rank is not used: the order
follows from the scores. Arrow reads the columns; Python goes through the lines to find the place of
a row or of a fault.
"""

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from dcglearn.base.errors import InputError, errors_at, naming
from dcglearn.base.files import PathLike, decode_json, numbered_lines, whole_lines
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.tables.columns import (
    RowPlace,
    column_of,
    gather,
    is_text,
    numbers_of_arrow,
    parse_id,
    refuse_any,
    take_rows,
    text_array,
)
from dcglearn.base.tables.sources import Source, columns_of_frame, find_sources, rows_of
from dcglearn.base.text import ASCII_BLANKS
from dcglearn.base.types import Floats

_DATASET = "ir_datasets:"
"""MacAvaney et al., SIGIR 2021."""

_IDS = (
    ("query_id", "qid", "q_id", "query", "topic_id", "topic"),  # next to an id, query is a text
    ("document", "doc_id", "docno", "docid", "doc", "corpus_id", "document_id", "url"),
)
_GRADE = ("grade", "relevance", "label", "rel", "rating", "score", "stars")


_TEXT = 1 << 19
"""Bytes of text that are read at a time."""


class Kind(NamedTuple):
    """Qrels or runs: what their numbers are called, fields of a line, names of columns."""

    number: str
    layout: str
    columns: tuple[tuple[str, ...], ...]


QRELS = Kind("grade", "query 0 document grade", (*_IDS, _GRADE))
RUN = Kind("score", "query Q0 document rank score tag", (*_IDS, ("score",)))


class Part(NamedTuple):
    """Some rows: their places, columns as Arrow arrays or lists, and the name of a system."""

    place: RowPlace
    query: Any
    document: Any
    number: Any
    tag: str = ""


def _choose_columns(names: Sequence[str], kind: Kind, place: str = "") -> list[str]:
    """Return the columns of the query, the document and the number."""
    plain = {re.sub("[-_ ]", "", str(name).casefold()): name for name in reversed(names)}
    chosen = []
    for known in kind.columns:
        found = [plain[one] for one in (k.replace("_", "") for k in known) if one in plain]
        if not found:
            problem = f"no column {known[0]!r} among {', '.join(map(str, names))}"
            raise InputError(problem, f"name it {', '.join(known)}", place)
        chosen.append(found[0])
    return chosen


def _part_of_table(columns: Mapping[str, Any], kind: Kind, name: str, place: RowPlace) -> Part:
    """Return the rows of columns of a table."""
    chosen = _choose_columns(list(columns), kind, name)
    return Part(place, *(_arrow(columns[one]) for one in chosen))


def _part_of_dicts(content: Mapping[Any, Any], name: str) -> Part:
    """Return the rows of ``{query: {document: number}}``."""
    rows = [(query, *one) for query, held in content.items() for one in held.items()]
    columns = [[row[column] for row in rows] for column in range(3)]

    def place(row: int) -> str:
        return "{}, query {}, document {}".format(name, *rows[row])

    return Part(place, *map(_arrow, columns))


def _is_nested(content: object) -> bool:
    """Return whether this is a dict of dicts."""
    return isinstance(content, Mapping) and all(isinstance(v, Mapping) for v in content.values())


def join_parts(
    parts: Sequence[Part], kind: Kind, name: str, wanted: Container[str] | None = None
) -> tuple[Any, ...]:
    """Check all rows; return queries, query, documents, number and names of a `DocumentTable`.

    Of the rows, only those of the queries that are `wanted`.
    """
    import pyarrow.compute as pc

    if not any(len(part.query) for part in parts):
        raise InputError("is empty", "give at least one document", name)

    _, query_parts, document_parts, number_parts, _ = zip(*parts, strict=True)
    ends = np.cumsum([*map(len, query_parts)])

    def place(row: int) -> str:
        at = int(np.searchsorted(ends, row, "right"))
        return parts[at].place(len(query_parts[at]) + row - int(ends[at]))

    found = gather(map(column_of, query_parts)).parsed(_id, place)
    queries, query = tuple(found.values), found.codes.astype(np.int64)
    documents = _texts(document_parts, place)
    values, names = _values(number_parts, kind, place)
    lengths = numbers_of_arrow(pc.binary_length(documents))
    missing = (query < 0) | (lengths == 0) | np.isnan(values)
    refuse_any(missing, f"an id or the {kind.number} is missing", "correct it", place)
    document = numbers_of_arrow(documents.dictionary_encode().indices)
    several = np.flatnonzero(np.bincount(document)[document] > 1)  # of few queries, few
    keys = query[several] * len(documents) + document[several]
    if not np.diff(np.sort(keys)).all():
        _, first = np.unique(keys, return_index=True)
        row = int(np.delete(several, first)[0])
        pair = f"the document {documents[row]} appears twice for query {queries[query[row]]}"
        raise InputError(pair, "keep one", place(row))
    known = np.array([wanted is None or one in wanted for one in queries])
    if not known.all():
        rows = np.flatnonzero(known[query])
        query, documents, values = query[rows], take_rows(documents, rows), values[rows]
    return queries, query, documents, values, names


def _arrow(cells: Any) -> Any:
    """Return cells as an Arrow array, or as a list where Arrow cannot hold them."""
    import pyarrow as pa

    try:
        return cells if isinstance(cells, pa.Array) else pa.array(cells, from_pandas=True)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return cells


def _texts(parts: Sequence[Any], place: RowPlace) -> Any:
    """Return ids as Arrow text without blanks around it, empty where one is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.types import is_integer

    if all(_lacks_none(cells) and (is_text(cells) or is_integer(cells.type)) for cells in parts):
        texts = [pc.ascii_trim_whitespace(cells.cast(pa.string())) for cells in parts]
        return pa.concat_arrays(texts)
    column = gather(map(column_of, parts)).parsed(_id, place)
    return text_array([one or "" for one in column.decoded()])


def _lacks_none(cells: Any) -> bool:
    """Return whether cells are an Arrow array without a missing value."""
    return not getattr(cells, "null_count", 1)


def _id(value: Any) -> str | None:
    return parse_id(value.strip(ASCII_BLANKS) if isinstance(value, str) else value)


def _values(parts: Sequence[Any], kind: Kind, place: RowPlace) -> tuple[Floats, tuple[str, ...]]:
    """Return the numbers, NaN where one is missing; or the number of each name, and the names."""
    import pyarrow as pa

    if all(map(_lacks_none, parts)):
        with suppress(pa.ArrowException):  # of text that Arrow does not read as numbers
            read = [numbers_of_arrow(part.cast(pa.float64(), safe=False)) for part in parts]
            if np.isfinite(values := np.concatenate(read)).all():
                return values, ()
    column = gather(map(column_of, parts)).parsed(
        lambda value: None if value == "" else value, place
    )
    values = np.array([parse_number(str(value)) for value in column.values])
    wrong = np.flatnonzero(np.isnan(values))
    if kind is QRELS and len(wrong) == len(values):
        return np.where(column.codes < 0, np.nan, column.codes), tuple(column.values)
    if len(wrong):
        problem = f"the {kind.number} {str(column.values[wrong[0]])[:40]!r} is not a finite number"
        remedy = "correct it" + (", or write all as names" if kind is QRELS else "")
        raise InputError(problem, remedy, place(int(np.argmax(column.codes == wrong[0]))))
    return np.append(values, np.nan)[column.codes], ()


def part_of(content: Any, kind: Kind, name: str) -> Part:
    """Return the rows of a frame or of nested dicts."""
    if _is_nested(content):
        return _part_of_dicts(content, name)
    with naming(name):
        columns = columns_of_frame(content)
    return _part_of_table(columns, kind, name, lambda row: f"{name}, row {row + 1}")


def read_parts(path: PathLike, kind: Kind) -> list[Part]:
    """Return the rows of files, or of a dataset."""
    name = os.fspath(path)
    if kind is QRELS and name.startswith(_DATASET):
        return [_dataset(name)]
    return [part for source in find_sources(name) for part in _read(source, kind)]


def _read(source: Source, kind: Kind) -> Iterator[Part]:
    if source.format == "json":
        with source.open() as file:
            content = file.read()
        with errors_at(source.name):
            document = decode_json(content, "write {query: {document: number}}")
        if _is_nested(document) and not _are_columns(list(document), kind):
            yield _part_of_dicts(document, source.name)
            return
    named_csv = re.search(r"\.csv(\.\w+)?$", source.name, re.IGNORECASE)
    if source.format in ("csv", "tsv") and not named_csv:
        with source.open() as file:
            first = file.peek().partition(b"\n")[0].decode(errors="ignore").replace('"', "")
            if not _are_columns(re.split("[\t,;|]", first.strip()), kind):
                yield from _read_trec(source, file, kind)
                return
    rows = 0
    for block in source.blocks(partial(_choose_columns, kind=kind, place=source.name)):
        yield _part_of_table(
            block, kind, source.name, lambda row, rows=rows: source.place(rows + row)
        )
        rows += rows_of(block)


def _are_columns(names: Sequence[str], kind: Kind) -> bool:
    try:
        return bool(_choose_columns(names, kind))
    except InputError:
        return False


def _dataset(name: str) -> Part:
    try:
        import ir_datasets
    except ModuleNotFoundError as error:
        raise InputError(
            "ir_datasets is not installed", "install it (pip install ir_datasets)", name
        ) from error
    try:
        rows = list(ir_datasets.load(name.removeprefix(_DATASET)).qrels_iter())
    except Exception as error:
        raise InputError(
            f"its qrels cannot be had ({type(error).__name__}: {error})",
            "check the name at https://ir-datasets.com, or try again",
            name,
        ) from error
    fields = ("query_id", "doc_id", "relevance")
    return part_of({one: [getattr(row, one) for row in rows] for one in fields}, QRELS, name)


def _read_trec(source: Source, file: BinaryIO, kind: Kind) -> Iterator[Part]:
    """Read the rows, and the tag of the first."""
    rows = 0
    for text in whole_lines(file, _TEXT):
        text = re.sub(rb"(?m)^#.*$", b"", text) if b"#" in text else text
        read = partial(_table, kind=kind, tagged=kind is RUN and not rows)
        table = read(text, "\t") if b"\t" in text else None
        table = table or read(_single_blanks(text), " ")
        if table is None:
            raise _fault(source, kind)
        if len(table):
            query, document, number, *tags = (column.chunk(0) for column in table.columns)
            tag = tags[0][0].as_py() if tags else ""
            yield Part(partial(_place, source, rows), query, document, number, tag)
        rows += len(table)


def _table(text: bytes, delimiter: str, kind: Kind, tagged: bool) -> Any:
    """Return texts: query, document, number and the tag if wanted; None if fields differ."""
    import pyarrow as pa
    import pyarrow.csv as pv

    few = pa.dictionary(pa.int32(), pa.string())
    types = {"query": few, "document": pa.string(), kind.number: pa.string(), "tag": few}
    try:
        return pv.read_csv(
            pa.BufferReader(text or b"\n"),
            pv.ReadOptions(
                column_names=kind.layout.split(), block_size=len(text) + 1, use_threads=False
            ),
            pv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False),
            pv.ConvertOptions(
                column_types=types,
                include_columns=list(types)[: 3 + tagged],
                null_values=[],
                check_utf8=False,  # it was checked when the file was opened
            ),
        )
    except pa.ArrowException:
        return None


def _single_blanks(text: bytes) -> bytes:
    blank = np.frombuffer(text, np.uint8) <= ord(" ")
    outer = text[0] <= ord(" ") or text.endswith(b" ")
    doubled = (blank[1:] & blank[:-1]).any()
    if not outer and not doubled and not any(other in text for other in b"\t\v\f"):
        return text
    return b"\n".join(b" ".join(line.split()) for line in text.split(b"\n"))


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    with source.open() as file:
        for number, line in numbered_lines(file):
            if not line.startswith(b"#"):
                yield number, line


def _place(source: Source, first: int, row: int) -> str:
    number, _ = next(islice(_lines(source), first + row, None))
    return f"{source.name}, line {number}"


def _fault(source: Source, kind: Kind) -> InputError:
    wanted = len(kind.layout.split())
    lines = ((line.count(b"\t") + 1 == wanted, n, len(line.split())) for n, line in _lines(source))
    _, number, fields = min(line for line in lines if line[2] != wanted)
    place, problem = f"{source.name}, line {number}", counted(fields, "field")
    return InputError(f"{problem}, not {wanted}", f"write: {kind.layout}", place)
