"""Judgments gathered block by block, in memory proportional to the arrays that they become.

Each field is a column of codes of distinct values, and what a value means is decided once: ids and
weights as they come, grades and answers when all are there, because a scale and the words for an
answer are those of the whole input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import Column, column_of
from dcglearn.base.tables.places import Place
from dcglearn.base.tables.sources import find_sources, name_sources
from dcglearn.base.types import Floats, Grades, Ids, Integers, Pairs
from dcglearn.judgments.meaning.answers import (
    LEFT_OUT,
    AnswerMap,
    answers_to_lists,
    given_codes,
    parse_swapped,
    resolve_answers,
    side_named,
    text_of,
)
from dcglearn.judgments.meaning.cells import UnmappedValueError, parse_id
from dcglearn.judgments.meaning.columns import JUDGMENTS, JUDGMENTS_OF_DOCUMENTS
from dcglearn.judgments.meaning.unjudged import (
    grade_unjudged,
    unjudged_meaning,
    unjudged_words,
)
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.reading.documents import DocumentLookup
from dcglearn.judgments.reading.fields import FieldBlock, FrameLike, fields_of_frame, read_fields
from dcglearn.judgments.reading.lists import GatheredLists, ListColumn, Numbering
from dcglearn.judgments.reading.lists import Place as RowPlace
from dcglearn.judgments.reading.shapes import one_judgment_per_row, one_rater_per_row
from dcglearn.measures.scale import NO_DOCUMENT, Scale

_IDS = ("query", "judge")


class _Part(NamedTuple):
    """The answers, weights and ids of a block, by the numbers of their values in the input."""

    answers: Grades
    weights: Floats | None
    ids: dict[str, Grades | None]
    place: RowPlace


class JudgmentReader:
    """Gathers judgments; `notes` has a line about each thing that was taken without being told."""

    def __init__(self, options: ReadOptions, name: str = "") -> None:
        self.options, self.name = options, name
        self.notes: dict[str, None] = {}
        self.unknown: dict[str, None] = {}
        self._lists = GatheredLists(options)
        self._answers = Numbering()
        self._ids = {one: Numbering() for one in (*_IDS, *options.keep)}
        self._parts: list[_Part] = []
        self._sides = ("a", "b")
        self._left_systems: set[str] = set()
        self._any_unclear = False
        self._empty_raters = self._without_grade = self._left_out = 0
        self._lookup = None
        if options.document_grades is not None:
            self._lookup = DocumentLookup(options.document_grades)

    def __len__(self) -> int:
        return sum(len(part.answers) for part in self._parts)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the coded judgments take."""
        ids = sum(
            codes.nbytes for part in self._parts for codes in part.ids.values() if codes is not None
        )
        own = sum(
            part.answers.nbytes + 8 * (part.weights is not None) * len(part.answers)
            for part in self._parts
        )
        return self._lists.nbytes + ids + own

    def read(self, places: Place | Iterable[Place], advance: Advance = silent) -> None:
        """Add the judgments of files."""
        sources = find_sources(places, self.options.encoding)
        self.name = name_sources(sources)
        fields = JUDGMENTS if self._lookup is None else JUDGMENTS_OF_DOCUMENTS
        self._add_blocks(read_fields(sources, fields, self.options, self.notes, advance))

    def read_frame(self, frame: FrameLike) -> None:
        """Add the judgments of a frame, one per row."""
        fields = JUDGMENTS if self._lookup is None else JUDGMENTS_OF_DOCUMENTS
        self._add_blocks(iter([fields_of_frame(frame, fields, self.options, self.notes)]))

    def _add_blocks(self, blocks: Iterator[FieldBlock]) -> None:
        for block in blocks:
            if block.found.is_long:
                block = one_judgment_per_row([block, *blocks])
            self.unknown.update(dict.fromkeys(block.found.unknown))
            if isinstance(block.cells.get("answer"), tuple):
                block, empty = one_rater_per_row(block)
                self._empty_raters += empty
            if block.rows:
                self._add(block)

    def _add(self, block: FieldBlock) -> None:
        self._sides = block.found.sides
        answers = self._answer_column(block)
        if not self._parts:
            self._check_shuffled(block, answers)
        if self._lookup is None:
            lists = block.lists_of("a"), block.lists_of("b")
        else:
            lists = self._lookup.lists(block)
        self.add_coded(
            lists, answers, block.weights(), block.place, {one: block.ids(one) for one in self._ids}
        )

    def add_coded(
        self,
        lists: tuple[ListColumn, ListColumn],
        answers: Column,
        weights: Floats | None,
        place: RowPlace,
        ids: dict[str, Column | None],
    ) -> None:
        """Add judgments as columns of codes."""
        for side, name in zip(lists, "ab", strict=True):
            side.check(name, place, self.options.n_ranks)
        self._lists.add(lists, place, ("a", "b"))
        codes = np.where(answers.codes < 0, len(answers.values), answers.codes)
        self._parts.append(
            _Part(
                self._answers.add(codes, [*map(text_of, answers.values), ""])
                if (answers.codes < 0).any()
                else self._answers.add(answers.codes, [*map(text_of, answers.values)]),
                weights,
                {
                    name: None
                    if column is None
                    else self._ids[name].add(column.codes, column.values)
                    for name, column in ids.items()
                },
                place,
            )
        )

    def _answer_column(self, block: FieldBlock) -> Column:
        """Return the answers of a block; those that name sides or systems name lists instead."""
        answers = block.column("answer")
        if answers is None:
            return Column(np.full(block.rows, -1, np.int32), [])
        swapped = self._swapped(block)
        left, right = (block.ids(one) for one in ("left_system", "right_system"))
        if left is not None and right is not None:
            answers = _by_system(answers, left, right, ("=left", "=right"), self.options)
            self._left_systems |= set(left.values)
            self._any_unclear |= self._unclear(answers)
            if swapped is None and self._any_unclear:
                change = len(self._left_systems) > 1
                swapped = _swapped_by_name(left, self._sides, block.place, change)
        first, second = (block.ids(one) for one in ("run_a", "run_b"))
        if first is not None and second is not None:
            answers = _by_system(answers, first, second, ("=a", "=b"), self.options)
        if swapped is None:
            return answers
        return answers_to_lists(answers, swapped, self._sides, self.options.answers, block.place)

    def _unclear(self, answers: Column) -> bool:
        """Return whether answers name sides and the columns of the lists do not, or the reverse."""
        shown = side_named(self._sides[0]) is not None
        known = given_codes(self.options.answers)
        texts = [text for text in map(text_of, answers.values) if text not in known]
        sides = [side_named(text) is not None for text in texts]
        letters = [text.casefold() in ("a", "b") for text in texts]
        return any(letters if shown else sides)

    def _swapped(self, block: FieldBlock) -> Integers | None:
        for name in ("a_shown_on", "swapped"):
            column = block.column(name)
            if column is not None:
                parsed = column.parsed(parse_swapped, block.place)
                return np.array([*map(int, parsed.values), -1], np.int64)[parsed.codes]
        return None

    def _check_shuffled(self, block: FieldBlock, answers: Column) -> None:
        """Refuse columns that are not used and may say how the lists were shown."""
        if {"a_shown_on", "swapped", "left_system"} & set(block.cells):
            return
        unclear = self._unclear(answers)
        held = {name: _few_texts(cells) for name, cells in block.unknown.items()}
        for name, values in held.items():
            if unclear and values and all(side_named(value) is not None for value in values):
                raise InputError(
                    f"the column {name!r} holds {' and '.join(sorted(values))}: it may say where "
                    "list a was shown, and answers name sides",
                    f"say `columns='a_shown_on={name}'` if so, `columns='ignore={name}'` if not",
                    self.name,
                )
        for one, other in combinations(held, 2):
            systems = held[one]
            if len(systems) != 2 or systems != held[other]:
                continue
            if unclear or systems & set(map(text_of, answers.values)):
                raise InputError(
                    f"the columns {one!r} and {other!r} hold {' and '.join(sorted(systems))}: they "
                    "may name the systems on the left and on the right",
                    f"say `columns='left_system={one},right_system={other}'` if so, and "
                    f"`columns='ignore={one}+{other}'` if not",
                    self.name,
                )

    @cached_property
    def scale(self) -> Scale:
        """The grades, best first; checks all answers, too."""
        _ = self.answer_map
        return self._lists.scale(self.name)

    @cached_property
    def answer_map(self) -> AnswerMap:
        """What the answers mean."""
        weighted = any(part.weights is not None for part in self._parts)
        try:
            found = resolve_answers(
                self._answers.values, self.options.answers, self._sides, weighted
            )
        except UnmappedValueError as error:
            for part in self._parts:
                row = int(np.argmax(part.answers == error.position))
                if part.answers[row] == error.position:
                    raise error.at(part.place(row)) from error
            raise
        self.notes.update(dict.fromkeys(found.notes))
        return found

    @cached_property
    def preferences(self) -> Preferences:
        """The judgments as arrays."""
        found = self._part(slice(None))
        self._add_rules()
        return found

    def batches(self, rows: int = 1 << 19) -> Iterator[Preferences]:
        """Iterate over the judgments in order, about so many at a time."""
        start = held = 0
        for end, part in enumerate(self._parts, start=1):
            held += len(part.answers)
            if held >= rows or end == len(self._parts):
                yield self._part(slice(start, end))
                start, held = end, 0
        self._add_rules()

    def kept(self, name: str) -> Ids:
        """Return a column that was kept, for the judgments that are not left out."""
        codes = np.array(self.answer_map.codes, np.int8)
        answers = np.concatenate([codes[part.answers] for part in self._parts])
        return self._joined_ids(name, self._parts)[answers != LEFT_OUT]

    def counts(self) -> dict[str, Any]:
        """Return what was left out, looked up and ignored, as numbers."""
        rule, scale = self.options.unjudged_rule, self.scale
        words = unjudged_meaning(rule, scale)[1] if self._without_grade else None
        return {
            "judgments_left_out": self._left_out,
            "documents_without_grade": self._without_grade,
            "counted_as": words,
            "looked_up": None if self._lookup is None else self._lookup.counts(),
            "ignored_columns": list(self.unknown),
        }

    def _part(self, which: slice) -> Preferences:
        """Return the judgments of some blocks, without those whose answers are left out."""
        scale, answers, parts = self.scale, self.answer_map, self._parts[which]
        lists = self._lists.filled(scale, which)
        if self.options.documents:
            before = sum(len(part.answers) for part in self._parts[: which.start or 0])
            self._check_rankings(lists, scale, before)
        lists, without = grade_unjudged(lists, scale, self.options.unjudged_rule)
        self._without_grade += without
        given = np.concatenate([np.zeros(0, np.int8), *(part.answers for part in parts)])
        codes = np.array([*answers.codes, 0], np.int8)[given]
        own = (np.ones(len(p.answers)) if p.weights is None else p.weights for p in parts)
        weights = np.concatenate([np.zeros(0), *own])
        if set(answers.weights) != {1.0}:
            weights *= np.array([*answers.weights, 1.0])[given]
        ids = [self._joined_ids(name, parts) for name in _IDS]
        judgments = Preferences(lists, codes, scale, weights, *ids)
        kept = codes != LEFT_OUT
        self._left_out += int(np.count_nonzero(~kept))
        return judgments if kept.all() else judgments[kept]

    def _add_rules(self) -> None:
        """Say how many documents had no grade, and which judgments are left out."""
        if self._without_grade:
            have = "has" if self._without_grade == 1 else "have"
            of = f"within the lists {have} no grade (null)"
            rule = self.options.unjudged_rule
            self.notes[unjudged_words(self._without_grade, of, rule, self.scale)] = None
        if self._left_out:
            are = (
                "is left out for its answer"
                if self._left_out == 1
                else "are left out for their answers"
            )
            self.notes[f"{counted(self._left_out, 'judgment')} {are}"] = None
        if self._empty_raters:
            self.notes[f"{counted(self._empty_raters, 'empty answer')} of raters left out"] = None
        if self._lookup is not None and (words := self._lookup.note()):
            self.notes[words] = None

    def _joined_ids(self, name: str, parts: list[_Part]) -> Ids:
        values = np.array([*self._ids[name].values, None], object)
        columns = [
            np.full(len(part.answers), None, object) if codes is None else values[codes]
            for part in parts
            for codes in (part.ids[name],)
        ]
        return np.concatenate([np.zeros(0, object), *columns])

    def _check_rankings(self, lists: Pairs, scale: Scale, first: int) -> None:
        """Check that each list ranks every document once."""
        whole = np.arange(lists.shape[2])
        wrong = (np.sort(lists, axis=2) != whole).any(axis=2)
        if len(whole) != len(scale):
            wrong |= (lists != NO_DOCUMENT).sum(axis=2) != len(scale)
        if wrong.any():
            row, side = np.argwhere(wrong)[0].tolist()
            problem = f"is not a ranking of all {len(scale)} documents"
            place = f'{self.place(first + row)}, "{"ab"[side]}"'
            raise InputError(problem, "rank each of them once", place)

    def place(self, row: int) -> str:
        """Return the place of a judgment in the input."""
        for part in self._parts:
            if row < len(part.answers):
                return part.place(row)
            row -= len(part.answers)
        raise IndexError(row)


def _few_texts(cells: Any) -> set[str]:
    """Return the distinct texts of a column, empty if there are more than four."""
    column = column_of(cells[:1000])
    texts = {text_of(value) for value in column.values} - {""}
    return texts if len(texts) <= 4 else set()


def _by_system(
    answers: Column, first: Column, second: Column, words: tuple[str, str], options: ReadOptions
) -> Column:
    """Return answers that name one of a row's two systems as the word for its list or side."""
    known = given_codes(options.answers)
    names = {text for text in map(text_of, answers.values) if text and text not in known}
    if not names & {*first.values, *second.values}:
        return answers
    values = answers.decoded()
    one, other = first.decoded(), second.decoded()
    for row, value in enumerate(values.tolist()):
        text = text_of(value)
        if text in names and one[row] != other[row] and text in (one[row], other[row]):
            values[row] = words[text == other[row]]
    return column_of(values.tolist())


def _swapped_by_name(
    left: Column, sides: tuple[str, str], place: RowPlace, change: bool
) -> Integers | None:
    """Return where the second list's system was on the left, by the names of the lists.

    None where systems do not `change` places, and the lists are not named after them.
    """
    if side_named(sides[0]) is not None:
        return None
    stems = [re.sub(r"[\W_]+", "", side.casefold()) for side in sides]
    names = [re.sub(r"[\W_]+", "", text.casefold()) for text in left.values]
    of = [[bool(name) and (name in stem) for stem in stems] for name in names]
    unnamed = any(one == other for one, other in of)
    if unnamed and not change:
        return None
    if unnamed:
        raise InputError(
            "systems change places, and it is not said which list is whose",
            "name the lists after their systems, such as `columns='a=control,b=treatment'`, say "
            "`columns='a_shown_on=...'`, or `columns='ignore=...'` if list a is always the left one",
            place(0),
        )
    return np.array([int(other) for _, other in of] + [-1], np.int64)[left.codes]


def judgments_of_columns(
    lists: tuple[ListColumn, ListColumn],
    answers: Any,
    options: ReadOptions,
    weights: Floats | None = None,
    queries: Any = None,
    judges: Any = None,
) -> JudgmentReader:
    """Return a reader that holds judgments from arrays, whose rows are numbered from 1."""

    def place(row: int) -> str:
        return f"row {row + 1}"

    ids = {
        name: None
        if held is None
        else column_of(held).parsed(lambda v, n=name: parse_id(v, n), place)
        for name, held in zip(_IDS, (queries, judges), strict=True)
    }
    reader = JudgmentReader(options)
    reader.add_coded(lists, column_of(answers), weights, place, ids)
    return reader
