"""The fields of records: which columns of a file they are, block by block.

Records of other shapes, a column per rater or a row per document, become one judgment per row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, naming, unknown_name, warn_of_input
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import (
    Block,
    Column,
    GatheredColumn,
    RowPlace,
    column_of,
    distinct_rows,
    parse_id,
    refuse_any,
    stacked,
    table_of,
)
from dcglearn.base.tables.sources import (
    FrameSource,
    Readable,
    Source,
    find_sources,
    is_frame,
    rows_of,
)
from dcglearn.base.types import Floats, Integers
from dcglearn.judgments.meaning.answers import answer_in_words, text_of
from dcglearn.judgments.meaning.columns import ColumnMap, RecordFields, resolve_columns
from dcglearn.judgments.options import LARGEST_WEIGHT, ReadOptions
from dcglearn.judgments.preferences import count_true
from dcglearn.judgments.reading.lists import grade_cell, lists_of, number_of


@dataclass(frozen=True)
class Records:
    """Records of some kind: a column for each field that is there, and where the records are.

    A column of lists, or of the answers of several raters, has codes of shape (n, K). `unknown`
    holds the first cells of the columns that are not fields; `name` is what to call the records.
    """

    columns: dict[str, Column]
    rows: int
    found: ColumnMap
    name: str
    place: RowPlace
    unknown: dict[str, Any]

    def column(self, field: str) -> Column:
        """Return a field as a column, which lacks all values where it is not there."""
        return self.columns.get(field, Column(np.full(self.rows, -1, np.int8), []))

    def ids(self, field: str) -> Column:
        """Return a field of ids as a column of texts."""
        return self.column(field).parsed(lambda value: parse_id(value, field), self.place)

    def take(self, rows: Integers) -> Records:
        """Return some of the records, in that order; a row may be there several times."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        place = self.place
        return replace(
            self, columns=columns, rows=len(rows), place=lambda row: place(int(rows[row]))
        )

    def values(self, field: str, parse: Callable[[Any], Any]) -> NDArray[Any]:
        """Return what the cells of a field mean, which every record must have."""
        found = self.column(field).parsed(parse, self.place)
        refuse_any(found.codes < 0, f'"{field}" is missing', "every row needs it", self.place)
        return np.array(found.values)[found.codes]

    def numbers(self, field: str) -> Floats:
        """Return the finite numbers of a field."""
        parse = partial(_number, f'"{field}"', "use a finite number", -np.inf, np.inf)
        return self.values(field, parse)

    def weights(self) -> Floats:
        """Return the weights, 1 where there is none."""
        remedy = f"use 0 ... {LARGEST_WEIGHT:g}, with a point before decimals"
        parse = partial(_number, "the weight", remedy, 0, LARGEST_WEIGHT)
        found = self.column("weight").parsed(parse, self.place)
        return np.array([*found.values, 1.0], float)[found.codes]


def _number(what: str, remedy: str, low: float, high: float, value: object) -> float | None:
    """Return the number that a cell holds, None if it is empty."""
    if value == "":
        return None
    number = number_of(value)
    if not low <= number <= high:
        raise InputError(f"{what} is {value!r:.40}", remedy)
    return number


def read_records(
    places: Readable,
    fields: RecordFields,
    options: ReadOptions,
    advance: Advance = silent,
) -> Records:
    """Read all records of files or of a frame."""
    sources: Sequence[Source | FrameSource] = (
        [FrameSource(places)] if is_frame(places) else find_sources(places, options.encoding)
    )
    gathered = defaultdict[str, GatheredColumn](GatheredColumn)
    unknown = dict[str, Any]()
    rows, starts = 0, list[int]()

    def place(row: int) -> str:
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return sources[at].place(row - starts[at])

    def place_of_list(field: str, row: int) -> str:
        return f'{place(rows + row)}, "{field}"'

    for source in sources:
        starts.append(rows)
        with naming(source.name):
            for block, found in _blocks(source, fields, options):
                for field, column in _columns(block, found, options, place_of_list):
                    gathered[field].add(column, rows)
                unknown = {name: block.get(name, ())[:1000] for name in found.unknown} | unknown
                rows += rows_of(block)
                advance(rows, 0)
            if rows == starts[-1]:
                raise InputError(f"holds no {fields.noun}", "give one per row")
        for line in found.notes:
            warn_of_input(line)
    columns = {field: gathered.pop(field).column(rows) for field in list(gathered)}
    more = f" and {len(sources) - 1:,} more" if len(sources) > 1 else ""
    return Records(columns, rows, found, sources[0].name + more, place, unknown)


def _blocks(
    source: Source | FrameSource, fields: RecordFields, options: ReadOptions
) -> Iterator[tuple[Block, ColumnMap]]:
    """Iterate over blocks of records, with the columns of fields that were found so far.

    Records of JSON may name more columns later on.
    """
    names, found = dict[str, None](), ColumnMap({}, [], [])
    known = {*options.keep, *source.partition}

    def find(more: Iterable[str]) -> set[str]:
        """Return which columns of a table are read; unknown ones are looked at, too."""
        nonlocal found
        if not {*more} <= {*names}:
            names.update(dict.fromkeys(more))
            earlier = found
            found = resolve_columns(names, options.columns, fields, known, options.strict)
            earlier.check_same(found)
        return {*found.used, *found.unknown, *options.keep} & {*more}

    for block in source.blocks(find):
        find(block)
        found.check_complete(fields)
        yield block, found
    for name in {*options.keep} - {*names} - {*found.columns}:
        raise unknown_name("field", name, names)


def _columns(
    block: Block, found: ColumnMap, options: ReadOptions, place: Callable[[str, int], str]
) -> Iterator[tuple[str, Column]]:
    """Iterate over the columns of the fields of a block."""
    kept = {name: name for name in options.keep}
    for field, held in (kept | found.columns).items():
        if isinstance(held, tuple):
            cells = (block.get(name, [None] * rows_of(block)) for name in held)
            yield field, stacked([column_of(one).parsed(grade_cell, str) for one in cells])
        elif held in block and field in ("a", "b", "grades"):
            yield field, lists_of(block[held], partial(place, field))
        elif held in block:
            yield field, column_of(block[held])


_OF_A_PAGE = re.compile(r"[0-9a-f]{6}-\d{4,}")
"""The id of a question of a page for judges: its batch and its number."""


def last_answers(records: Records) -> Records:
    """Leave out all but the last answer of a judge to a question of a page; a note counts them.

    They are in several files if a page's answers were downloaded more than once.
    """
    questions, judges = records.column("question"), records.column("judge")
    of_page = [bool(_OF_A_PAGE.fullmatch(str(one))) for one in questions.values]
    known = np.array([*of_page, False])[questions.codes] & (judges.codes >= 0)
    rows = np.flatnonzero(known)[::-1]
    first, _ = distinct_rows((questions.codes[rows], judges.codes[rows]))
    kept = ~known
    kept[rows[first]] = True
    if kept.all():
        return records
    again = counted(count_true(~kept), "answer")
    warn_of_input(f"{again} that the same judge gave to the same question later left out")
    return records.take(np.flatnonzero(kept))


def one_rater_per_row(block: Records) -> Records:
    """Return a judgment for each rater's answer; a note counts those who left theirs empty."""
    answers, names = block.column("answer"), list(block.found.columns["answer"])
    rows, raters = np.nonzero(answers.codes >= 0)
    if not len(rows):
        raise InputError("all answers of the raters are empty", "give one", block.place(0))
    if empty := answers.codes.size - len(rows):
        warn_of_input(f"empty answers of raters left out: {empty}")
    own = {
        "answer": answers.take((rows, raters)),
        "judge": Column(raters.astype(np.int32), names),
    }
    taken = block.take(rows)
    return replace(taken, columns=taken.columns | own)


def one_judgment_per_row(table: Records) -> Records:
    """Return judgments of a table that has a row for each document of a list.

    The rows of a judgment share their query, judge, answer, weight and ``pair``.
    """
    held = (table.column(one).codes.T for one in ("pair", "query", "judge", "answer", "weight"))
    keys = [column for codes in held for column in np.atleast_2d(codes)]  # one per rater
    first, group = distinct_rows(keys)
    sides, ranks = table.values("list", _side), table.numbers("rank")
    of_list = 2 * first[group] + sides  # the first row of its judgment, and the side
    order = np.lexsort((ranks, of_list))
    lists, starts, lengths = np.unique(of_list[order], return_index=True, return_counts=True)
    expected = np.arange(1, len(order) + 1) - np.repeat(starts, lengths)
    wrong = order[ranks[order] != expected]
    if len(wrong):
        problem = f"the rank {ranks[wrong[0]]:g} appears twice in its list, or follows none"
        remedy = "number the ranks of each judgment's lists from 1; the rows of a judgment share "
        where = table.place(int(wrong[0]))
        raise InputError(problem, remedy + "query, judge, answer and weight", where)
    alone = lists[~np.isin(lists ^ 1, lists)]
    if len(alone):
        row, side = divmod(int(alone[0]), 2)
        problem, where = f"a judgment without list {'ba'[side]}", table.place(row)
        raise InputError(problem, "give the documents of both lists", where)
    grades = table.columns["grade"].parsed(grade_cell, table.place)
    every = table_of(grades.take(order), lengths)
    both = {side: every.take(slice(at, None, 2)) for at, side in enumerate("ab")}
    judgments = table.take(lists[::2] // 2)
    return replace(judgments, columns=judgments.columns | both)


def _side(value: object) -> int:
    code = answer_in_words(text_of(value))
    if code not in (0, 1):
        raise InputError(f"the list is {value!r:.60}", "write a and b, or left and right")
    return code
