"""The fields of records: which columns of a file they are, block by block.

Records of other shapes, a column per rater or a row per document, become one judgment per row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, naming, unknown_name, warn_of_input
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import (
    Block,
    Column,
    GatheredColumn,
    RowPlace,
    column_of,
    distinct_rows,
    parse_id,
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
from dcglearn.judgments.folds import count_true
from dcglearn.judgments.meaning.answers import answer_in_words, text_of
from dcglearn.judgments.meaning.columns import ColumnMap, RecordFields, resolve_columns
from dcglearn.judgments.options import LARGEST_WEIGHT, ReadOptions
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

    def values(self, field: str, parse: Callable[[Any], Any]) -> list[Any]:
        """Return what the cells of a field mean, which every record must have."""
        found: list[Any] = self.column(field).parsed(parse, self.place).decoded().tolist()
        if None in found:
            where = self.place(found.index(None))
            raise InputError(f'"{field}" is missing', "every row needs it", where)
        return found

    def numbers(self, field: str) -> Floats:
        """Return the finite numbers of a field."""
        parse = partial(_number, f'"{field}"', "use a finite number", -np.inf, np.inf)
        return np.array(self.values(field, parse), float)

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
    gathered: defaultdict[str, GatheredColumn] = defaultdict(GatheredColumn)
    unknown = dict[str, Any]()
    rows, starts = 0, list[int]()
    for source in sources:
        finder = _Finder(source, fields, options)
        starts.append(rows)
        with naming(source.name):
            for block in source.blocks(finder.wanted):
                for field, column in finder.columns(block, rows - starts[-1]).items():
                    gathered[field].add(column, rows)
                unknown = {
                    name: block.get(name, ())[:1000] for name in finder.found.unknown
                } | unknown
                rows += rows_of(block)
                advance(rows, 0)
            finder.check_read(rows - starts[-1])
        for line in finder.found.notes:
            warn_of_input(line)

    def place(row: int) -> str:
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return sources[at].place(row - starts[at])

    columns = {field: gathered.pop(field).column(rows) for field in list(gathered)}
    more = f" and {len(sources) - 1:,} more" if len(sources) > 1 else ""
    return Records(columns, rows, finder.found, sources[0].name + more, place, unknown)


_OF_A_PAGE = re.compile(r"[0-9a-f]{6}-\d{4,}")
"""The id of a question of a page for judges: its batch and its number."""


def last_answers(records: Records) -> tuple[Records, int]:
    """Leave out all but the last answer of a judge to a question of a page, and count them.

    They are in several files if a page's answers were downloaded more than once.
    """
    questions, judges = records.column("question"), records.column("judge")
    of_page = [isinstance(one, str) and bool(_OF_A_PAGE.fullmatch(one)) for one in questions.values]
    known = np.array([*of_page, False])[questions.codes] & (judges.codes >= 0)
    rows = np.flatnonzero(known)[::-1]
    first, _ = distinct_rows((questions.codes[rows], judges.codes[rows]))
    kept = ~known
    kept[rows[first]] = True
    repeated = count_true(~kept)
    return records.take(np.flatnonzero(kept)) if repeated else records, repeated


class _Finder:
    """Finds the columns of fields; records of JSON may name more of them later on."""

    def __init__(
        self, source: Source | FrameSource, fields: RecordFields, options: ReadOptions
    ) -> None:
        self._source, self._fields, self._options = source, fields, options
        self._names: dict[str, None] = {}
        self.found = ColumnMap({}, [], [], fields)

    def wanted(self, names: Iterable[str]) -> set[str]:
        """Return the columns of a table that are read; unknown ones are looked at, too."""
        self._find(names)
        return {*self.found.used, *self.found.unknown, *self._options.keep} & {*names}

    def columns(self, block: Block, first: int) -> dict[str, Column]:
        """Return the columns of the fields of some records; `first` is the number of the first."""
        self._find(block)
        self.found.check_complete()

        def place(field: str, row: int) -> str:
            return f'{self._source.place(first + row)}, "{field}"'

        found = {one: column_of(block[one]) for one in self._options.keep if one in block}
        for field, held in self.found.columns.items():
            if isinstance(held, tuple):
                cells = (block.get(name, [None] * rows_of(block)) for name in held)
                found[field] = stacked([column_of(one).parsed(grade_cell, str) for one in cells])
            elif held in block and field in ("a", "b", "grades"):
                found[field] = lists_of(block[held], partial(place, field))
            elif held in block:
                found[field] = column_of(block[held])
        return found

    def check_read(self, rows: int) -> None:
        """Refuse a file without rows, or without a column that is to be kept."""
        if not rows:
            raise InputError(f"holds no {self._fields.noun}", "give one per row")
        for name in self._options.keep:
            if name not in self._names and name not in self.found.columns:
                raise unknown_name("field", name, self._names)

    def _find(self, more: Iterable[str]) -> None:
        if {*more} <= {*self._names}:
            return
        self._names |= dict.fromkeys(more)
        given, known = self._options, {*self._options.keep, *self._source.partition}
        found = resolve_columns(self._names, given.columns, self._fields, known, given.strict)
        self.found.check_same(found)
        self.found = found


def one_rater_per_row(block: Records) -> tuple[Records, int]:
    """Return a judgment for each rater's answer, and how many raters left theirs empty."""
    answers, names = block.column("answer"), list(block.found.columns["answer"])
    rows, raters = np.nonzero(answers.codes >= 0)
    if not len(rows):
        raise InputError("all answers of the raters are empty", "give one", block.place(0))
    own = {
        "answer": answers.take((rows, raters)),
        "judge": Column(raters.astype(np.int32), names),
    }
    taken = block.take(rows)
    return replace(taken, columns=taken.columns | own), answers.codes.size - len(rows)


def one_judgment_per_row(table: Records) -> Records:
    """Return judgments of a table that has a row for each document of a list.

    The rows of a judgment share their query, judge, answer, weight and ``pair``.
    """
    held = (table.column(one).codes.T for one in ("pair", "query", "judge", "answer", "weight"))
    keys = [column for codes in held for column in np.atleast_2d(codes)]  # one per rater
    first, group = distinct_rows(keys)
    sides, ranks = table.values("list", _side), table.values("rank", _rank)
    of_list = 2 * first[group] + np.array(sides)  # the first row of its judgment, and the side
    order = np.lexsort((ranks, of_list))
    lists, starts, lengths = np.unique(of_list[order], return_index=True, return_counts=True)
    expected = np.arange(1, len(order) + 1) - np.repeat(starts, lengths)
    wrong = order[np.array(ranks)[order] != expected]
    if len(wrong):
        problem = f"the rank {ranks[wrong[0]]} appears twice in its list, or follows none"
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


def _rank(value: object) -> int:
    number = number_of(value)
    if not (number.is_integer() and number >= 1):
        raise InputError(f"the rank is {value!r:.60}", "number ranks from 1")
    return int(number)
