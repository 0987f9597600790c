"""Judgments gathered block by block, in memory proportional to the arrays that they become.

What a value means is decided once: ids and weights as they come, grades and answers when all are
there, because a scale and the words for an answer are those of the whole input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.frames import FrameLike
from dcglearn.base.tables.places import Place
from dcglearn.base.tables.sources import name_sources
from dcglearn.base.types import Floats, Ids, Pairs
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
from dcglearn.judgments.numbering import GatheredColumn
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.reading.documents import DocumentLookup
from dcglearn.judgments.reading.fields import FieldBlock, find_records, joined, read_fields
from dcglearn.judgments.reading.lists import GatheredLists, RowPlace
from dcglearn.judgments.reading.shapes import one_judgment_per_row, one_rater_per_row
from dcglearn.measures.scale import Scale


class JudgmentReader:
    """Gathers judgments; `notes` has a line about each thing that was taken without being told."""

    def __init__(self, options: ReadOptions, name: str = "") -> None:
        self.options, self.name = options, name
        self.notes: dict[str, None] = {}
        self.unknown: dict[str, None] = {}
        self._lists, self._answers = GatheredLists(options), GatheredColumn()
        self._ids = {one: GatheredColumn() for one in ("query", "judge", *options.keep)}
        self._weights: list[Floats] = []
        self._places: list[RowPlace] = []
        self._sides, self._weighted = ("a", "b"), False
        self._empty_raters = self._without_grade = self._left_out = 0
        grades = options.document_grades
        self._lookup = None if grades is None else DocumentLookup(grades)

    def __len__(self) -> int:
        return sum(map(len, self._answers.parts))

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the coded judgments take."""
        ids = (part for column in self._ids.values() for part in column.parts)
        held = (*self._answers.parts, *self._weights, *ids)
        return self._lists.nbytes + sum(part.nbytes for part in held)

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
            if block.is_listed("answer"):
                block, empty = one_rater_per_row(block)
                self._empty_raters += empty
            if block.rows:
                self.add(block)

    def add(self, block: FieldBlock, check_lists: bool = True) -> None:
        """Add judgments, one per row."""
        self._sides = block.found.sides
        said = [one for one in ShownAnswer._fields if one == "answer" or one in block.columns]
        answers = shown_answers({one: block.column(one) for one in said})
        if not self._places and not {*SHOWN} & set(block.columns):
            try:
                check_unused(block.unknown, answers.values, self._sides, self.options.answers)
            except InputError as error:
                raise error.at(self.name) from error
        if self._lookup is None:
            lists = block.lists("a"), block.lists("b")
        else:
            lists = self._lookup.lists(block)
        self._lists.add(lists, block.place, check_lists)
        self._answers.add(answers)
        for name, gathered in self._ids.items():
            gathered.add(block.ids(name))
        self._weights.append(block.weights())
        self._weighted |= "weight" in block.columns
        self._places.append(block.place)

    @cached_property
    def scale(self) -> Scale:
        """The grades, best first; checks all answers, too."""
        _ = self.answer_map
        return self._lists.scale(self.name)

    @cached_property
    def answer_map(self) -> AnswerMap:
        """What the answers mean."""
        given = self.options.answers
        try:
            texts = answers_in_lists(self._answers.values, self._sides, given)
            found = resolve_answers(texts, given, self._sides, self._weighted)
        except UnmappedValueError as error:
            for codes, place in zip(self._answers.parts, self._places, strict=True):
                if (codes == error.position).any():
                    raise error.at(place(int(np.argmax(codes == error.position)))) from error
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
        for end, part in enumerate(self._answers.parts, start=1):
            held += len(part)
            if held >= rows or end == len(self._places):
                yield self._part(slice(start, end))
                start, held = end, 0
        self._add_rules()

    def kept(self, name: str) -> Ids:
        """Return a column that was kept, for the judgments that are not left out."""
        answers = np.array(self.answer_map.codes)[self._answers.column().codes]
        found: Ids = self._ids[name].column().decoded()[answers != LEFT_OUT]
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
        scale, answers = self.scale, self.answer_map
        lists = self._lists.filled(scale, which)
        if self.options.documents:
            self._check_rankings(lists, scale, which)
        lists, without = grade_unjudged(lists, scale, self.options.unjudged_rule)
        self._without_grade += without
        given = self._answers.column(which).codes
        codes = np.array([*answers.codes, 0], np.int8)[given]
        weights = np.concatenate([np.zeros(0), *self._weights[which]])
        weights *= np.array([*answers.weights, 1.0])[given]
        ids = (self._ids[name].column(which).decoded() for name in ("query", "judge"))
        judgments = Preferences(lists, codes, scale, weights, *ids)
        kept = codes != LEFT_OUT
        self._left_out += int(np.count_nonzero(~kept))
        return judgments if kept.all() else judgments[kept]

    def _add_rules(self) -> None:
        """Say how many documents had no grade, and which judgments are left out."""
        lines = []
        if self._without_grade:
            have = "has" if self._without_grade == 1 else "have"
            of = f"within the lists {have} no grade (null)"
            rule = self.options.unjudged_rule
            lines.append(unjudged_words(self._without_grade, of, rule, self.scale))
        if self._left_out:
            their = "is left out for its answer", "are left out for their answers"
            left_out = counted(self._left_out, "judgment")
            lines.append(f"{left_out} {their[self._left_out > 1]}")
        if self._empty_raters:
            lines.append(f"{counted(self._empty_raters, 'empty answer')} of raters left out")
        if self._lookup is not None and (words := self._lookup.note()):
            lines.append(words)
        self.notes.update(dict.fromkeys(lines))

    def _check_rankings(self, lists: Pairs, scale: Scale, which: slice) -> None:
        """Check that each list ranks every document once."""
        whole = np.arange(lists.shape[2])
        wrong = (np.sort(lists, axis=2) != whole).any(axis=2) | (len(whole) != len(scale))
        if wrong.any():
            row, side = np.argwhere(wrong)[0].tolist()
            problem = f"is not a ranking of all {len(scale)} documents"
            for codes, place in zip(self._answers.parts[which], self._places[which], strict=True):
                if row < len(codes):
                    where = f'{place(row)}, "{"ab"[side]}"'
                    raise InputError(problem, "rank each of them once", where)
                row -= len(codes)
