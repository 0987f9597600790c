"""Judgments gathered block by block, in memory proportional to the arrays that they become.

Each field is a column of codes of distinct values, and what a value means is decided once: ids and
weights as they come, grades and answers when all are there, because a scale and the words for an
answer are those of the whole input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.frames import FrameLike
from dcglearn.base.tables.places import Place
from dcglearn.base.tables.sources import name_sources
from dcglearn.base.types import Floats, Grades, Ids, Pairs
from dcglearn.judgments.meaning.answers import (
    LEFT_OUT,
    AnswerMap,
    resolve_answers,
)
from dcglearn.judgments.meaning.cells import UnmappedValueError
from dcglearn.judgments.meaning.columns import JUDGMENTS, JUDGMENTS_OF_DOCUMENTS, SHOWN
from dcglearn.judgments.meaning.sides import (
    ShownAnswer,
    answers_in_lists,
    check_unused,
    shown_answers,
)
from dcglearn.judgments.meaning.unjudged import (
    grade_unjudged,
    unjudged_meaning,
    unjudged_words,
)
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.reading.documents import DocumentLookup
from dcglearn.judgments.reading.fields import FieldBlock, find_records, joined, read_fields
from dcglearn.judgments.reading.lists import GatheredLists, Numbering, RowPlace
from dcglearn.judgments.reading.shapes import one_judgment_per_row, one_rater_per_row
from dcglearn.measures.scale import NO_DOCUMENT, Scale

_IDS = ("query", "judge")


class _Part(NamedTuple):
    """The answers, weights and ids of a block, by the numbers of their values in the input."""

    answers: Grades
    weights: Floats | None
    ids: dict[str, Grades]
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
        self._empty_raters = self._without_grade = self._left_out = 0
        self._lookup = None
        if options.document_grades is not None:
            self._lookup = DocumentLookup(options.document_grades)

    def __len__(self) -> int:
        return sum(len(part.answers) for part in self._parts)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the coded judgments take."""
        arrays = (
            held
            for part in self._parts
            for held in (part.answers, part.weights, *part.ids.values())
            if held is not None
        )
        return self._lists.nbytes + sum(held.nbytes for held in arrays)

    def read(self, places: Place | Iterable[Place] | FrameLike, advance: Advance = silent) -> None:
        """Add the judgments of files, or of a frame with one per row."""
        sources = find_records(places, self.options)
        self.name = name_sources(sources)
        fields = JUDGMENTS if self._lookup is None else JUDGMENTS_OF_DOCUMENTS
        blocks = read_fields(sources, fields, self.options, self.notes, advance)
        for block in blocks:
            if block.found.is_long:
                block = one_judgment_per_row(joined([block, *blocks]))
            self.unknown.update(dict.fromkeys(block.found.unknown))
            if "answer" in block.lists:
                block, empty = one_rater_per_row(block)
                self._empty_raters += empty
            if block.rows:
                self.add(block)

    def add(self, block: FieldBlock) -> None:
        """Add judgments, one per row."""
        self._sides = block.found.sides
        said = [one for one in ShownAnswer._fields if one == "answer" or one in block.columns]
        answers = shown_answers({one: block.column(one) for one in said})
        if not self._parts and not {*SHOWN} & set(block.columns):
            try:
                check_unused(block.unknown, answers.values, self._sides, self.options.answers)
            except InputError as error:
                raise error.at(self.name) from error
        if self._lookup is None:
            lists = block.list_column("a"), block.list_column("b")
        else:
            lists = self._lookup.lists(block)
        for side, name in zip(lists, "ab", strict=True):
            side.check(name, block.place, self.options.n_ranks)
        self._lists.add(lists, block.place, ("a", "b"))
        coded = {}
        for name, numbers in self._ids.items():
            ids = block.ids(name)
            coded[name] = numbers.add(ids.codes, ids.values)
        answered = self._answers.add(answers.codes, answers.values)
        self._parts.append(_Part(answered, block.weights(), coded, block.place))

    @cached_property
    def scale(self) -> Scale:
        """The grades, best first; checks all answers, too."""
        _ = self.answer_map
        return self._lists.scale(self.name)

    @cached_property
    def answer_map(self) -> AnswerMap:
        """What the answers mean."""
        weighted = any(part.weights is not None for part in self._parts)
        given = self.options.answers
        try:
            texts = answers_in_lists(self._answers.values, self._sides, given)
            found = resolve_answers(texts, given, self._sides, weighted)
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
        found: Ids = self._joined_ids(name, self._parts)[answers != LEFT_OUT]
        return found

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
        return np.concatenate([np.zeros(0, object), *(values[part.ids[name]] for part in parts)])

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
