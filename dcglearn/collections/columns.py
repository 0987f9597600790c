"""The rows of qrels and runs as three columns: a query, a document and a number.

Names of columns are those of ir_datasets, PyTerrier and BEIR; capitals, ``-`` and ``_`` do not
count. Ids are text or whole numbers. Grades and scores are numbers, or text that holds numbers;
grades may also be names. What a value means is decided once for each distinct value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.arrow_arrays import numbers_of_arrow, take_rows, text_array
from dcglearn.base.errors import InputError
from dcglearn.base.json_text import decode_json
from dcglearn.base.numbers import MAX_EXACT, parse_number
from dcglearn.base.tables.columns import column_of, parse_id
from dcglearn.base.tables.sources import Source
from dcglearn.base.types import Floats, Integers
from dcglearn.collections.keys import first_repeated

_IDS = (
    ("query_id", "qid", "q_id", "query", "topic_id", "topic"),  # next to an id, query is a text
    ("document", "doc_id", "docno", "docid", "doc", "corpus_id", "document_id", "url"),
)
_GRADE = ("grade", "relevance", "label", "rel", "rating", "score", "stars")

_NO_NAME = re.compile(r"(?=.*\d)[\d\s_.,+xe-]*|[+-]?(nan|inf|infinity)|\s*", re.IGNORECASE)
"""Text that is meant as a number, or empty: it is not the name of a grade."""


class Kind(NamedTuple):
    """Qrels or runs: what they and the others are called, fields of a line, names of columns."""

    name: str
    other: str
    layout: str
    columns: tuple[tuple[str, ...], ...]

    @property
    def number(self) -> str:
        """What the number is called."""
        return self.columns[2][0]


QRELS = Kind("qrels", "a run", "query 0 document grade", (*_IDS, _GRADE))
RUN = Kind("a run", "qrels", "query Q0 document rank score tag", (*_IDS, ("score",)))


class Part(NamedTuple):
    """Some rows: ids as Arrow text, numbers as an Arrow array or a list, the place of a row."""

    query: Any
    document: Any
    number: Any
    place: Callable[[int], str]
    tags: Sequence[str] = ()


class Rows(NamedTuple):
    """All rows; `query` numbers `queries`, and grades that are names are numbers of `names`."""

    queries: tuple[str, ...]
    query: Integers
    documents: Any
    number: Floats
    names: tuple[str, ...]


def choose_columns(names: Sequence[str], kind: Kind, place: str = "") -> list[str]:
    """Return the columns of the query, the document and the number."""
    chosen = []
    plain = [re.sub("[-_ ]", "", str(name).casefold()) for name in names]
    for known in kind.columns:
        found = next((one for one in (k.replace("_", "") for k in known) if one in plain), None)
        if found is None:
            problem = f"no column {known[0]!r} among {', '.join(map(str, names))}"
            raise InputError(problem, f"name it {', '.join(known)}", place)
        chosen.append(names[plain.index(found)])
        if plain.count(found) > 1:
            raise InputError(f"the column {chosen[-1]!r} appears twice", "keep one", place)
    return chosen


def are_columns(names: Sequence[str], kind: Kind) -> bool:
    """Return whether names are those of the columns of such a table."""
    try:
        return bool(choose_columns(names, kind))
    except InputError:
        return False


def read_table(source: Source, kind: Kind) -> Iterator[Part]:
    """Read a table, or JSON of the form ``{query: {document: number}}``."""
    if source.format == "json":
        document = _document(source)
        if is_nested(document) and not are_columns(list(document), kind):
            yield part_of_dicts(document, kind, source.name)
            return

    def choose(names: Iterable[str]) -> list[str]:
        return choose_columns([*dict.fromkeys([*names, *source.partition])], kind, source.name)

    first = 0
    for block in source.blocks(choose):
        yield part_of(block.columns, kind, source.name, partial(_place, source, first))
        first += block.rows


def _document(source: Source) -> Any:
    with source.open() as file:
        try:
            return decode_json(file.read(), "write {query: {document: number}}")
        except InputError as error:
            raise error.at(source.name) from error


def _place(source: Source, first: int, row: int) -> str:
    return source.place(first + row)


def is_nested(content: object) -> bool:
    """Return whether this is a dict of dicts."""
    return isinstance(content, Mapping) and all(isinstance(v, Mapping) for v in content.values())


def part_of_dicts(content: Mapping[Any, Any], kind: Kind, name: str) -> Part:
    """Return the rows of ``{query: {document: number}}``."""
    ids = [(query, document) for query, held in content.items() for document in held]
    columns = {
        "query_id": [query for query, _ in ids],
        "document": [document for _, document in ids],
        kind.number: [number for held in content.values() for number in held.values()],
    }
    return part_of(
        columns, kind, name, lambda row: "{}, query {}, document {}".format(name, *ids[row])
    )


def part_of(columns: Mapping[str, Any], kind: Kind, name: str, place: Callable[[int], str]) -> Part:
    """Return the rows of columns of a table."""
    chosen = choose_columns(list(columns), kind, name)
    query, document, number = (_arrow(columns[one]) for one in chosen)
    return Part(_ids(query, place), _ids(document, place), number, place)


def _arrow(cells: Any) -> Any:
    """Return cells as an Arrow array, or as a list where Arrow cannot hold them."""
    import pyarrow as pa

    try:
        if isinstance(cells, pa.ChunkedArray):
            return cells.combine_chunks()
        return cells if isinstance(cells, pa.Array) else pa.array(cells, from_pandas=True)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return cells


def _ids(cells: Any, place: Callable[[int], str]) -> Any:
    import pyarrow as pa
    import pyarrow.types as types

    held = getattr(cells, "type", pa.null())
    if types.is_string(held) or types.is_large_string(held) or types.is_integer(held):
        return texts(cells.cast(pa.string()))
    column = column_of(cells).parsed(parse_id, place)
    return texts(text_array(column.values).take(pa.array(column.codes, mask=column.codes < 0)))


def texts(cells: Any) -> Any:
    """Return Arrow text without blanks around it, null where nothing is left."""
    import pyarrow.compute as pc

    cells = pc.ascii_trim_whitespace(cells)
    return pc.if_else(pc.equal(cells, ""), None, cells)


def join_parts(
    parts: Sequence[Part], kind: Kind, name: str, wanted: Container[str] | None = None
) -> Rows:
    """Check the rows of all parts, and return those of the queries that are wanted."""
    ends = np.cumsum([len(part.query) for part in parts]).tolist()
    if not parts or not ends[-1]:
        raise InputError("is empty", f"give {kind.name} of at least one document", name)

    def place(row: int) -> str:
        at = int(np.searchsorted(ends, row, "right"))
        return parts[at].place(row - ends[at] + len(parts[at].query))

    ids = column_of(_joined([part.query for part in parts]))
    documents = _joined([part.document for part in parts])
    values, names = _values([part.number for part in parts], kind, place)
    missing = (ids.codes < 0) | np.isnan(values)
    if documents.null_count:
        missing |= documents.is_null().to_numpy(zero_copy_only=False)
    if missing.any():
        problem = f"an id or the {kind.number} is missing"
        raise InputError(problem, "correct it", place(int(np.argmax(missing))))
    if kind is QRELS and np.abs(values).max() >= MAX_EXACT:
        row = int(np.argmax(np.abs(values)))
        problem = f"the grade {values[row]:.17g} is too large to tell from its neighbours"
        raise InputError(problem, "use grades below 2^53", place(row))
    query, rows = ids.codes.astype(np.int64), np.arange(len(ids))
    if wanted is not None and not all(one in wanted for one in ids.values):
        rows = np.flatnonzero(np.array([one in wanted for one in ids.values])[query])
        query, documents, values = query[rows], take_rows(documents, rows), values[rows]
    again = first_repeated(query, documents, len(ids.values))
    if again is not None:
        pair = f"the document {documents[again]} appears twice for query {ids.values[query[again]]}"
        raise InputError(pair, "keep one", place(int(rows[again])))
    return Rows(tuple(ids.values), query, documents, values, names)


def _joined(arrays: Sequence[Any]) -> Any:
    import pyarrow as pa

    if len(arrays) == 1:
        return arrays[0]
    joined = pa.chunked_array(arrays).combine_chunks(pa.system_memory_pool())
    if isinstance(joined, pa.ChunkedArray):
        raise InputError("more than 2 GiB of ids", "split the file by query")
    return joined


def _values(
    parts: Sequence[Any], kind: Kind, place: Callable[[int], str]
) -> tuple[Floats, tuple[str, ...]]:
    """Return the numbers, NaN where one is missing; or the number of each name, and the names."""
    numbers = _finite(parts)
    if numbers is not None:
        return numbers, ()
    column = column_of(np.concatenate([column_of(part).decoded() for part in parts]).tolist())
    if kind is QRELS and all(map(_is_name, column.values)):
        return np.where(column.codes < 0, np.nan, column.codes), tuple(column.values)
    parsed = column.parsed(partial(_number, kind=kind), place)
    return np.append(parsed.values, np.nan)[parsed.codes], ()


def _finite(parts: Sequence[Any]) -> Floats | None:
    """Return numbers as Arrow reads them, None where there is anything else."""
    import pyarrow as pa

    if any(isinstance(part, list) or pa.types.is_boolean(part.type) for part in parts):
        return None
    try:
        joined = _joined([part.cast(pa.float64(), safe=False) for part in parts])
    except pa.ArrowException:
        return None
    values = None if joined.null_count else numbers_of_arrow(joined)
    return values if values is not None and np.isfinite(values).all() else None


def _number(value: Any, kind: Kind) -> float:
    number = parse_number(str(value))
    if math.isnan(number):
        remedy = "correct it, or write all grades as names" if _is_name(value) else "correct it"
        problem = f"the {kind.number} {str(value)[:40]!r} is not a finite number"
        raise InputError(problem, remedy)
    return number


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _NO_NAME.fullmatch(value) is None
