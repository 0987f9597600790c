"""Judgments gathered block by block, in memory proportional to the arrays that they become.

Labels, answers and ids are numbered as they occur. What they mean depends on all of them (the
scale is that of the numbers that occur, for instance), so it is decided at the end, on the distinct
values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import MAX_EXACT
from dcglearn.base.types import Grades, Ids, Pairs
from dcglearn.judgments.judgment_arrays import left_out_words
from dcglearn.judgments.meaning.answer_values import LEFT_OUT, AnswerMap, resolve_answers
from dcglearn.judgments.meaning.given_maps import GivenMap, UnmappedValueError
from dcglearn.judgments.meaning.grade_names import resolve_labels
from dcglearn.judgments.meaning.unjudged_documents import (
    UnjudgedRule,
    grade_unjudged,
    unjudged_words,
)
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.rankings import encode_pairs
from dcglearn.judgments.reading.coded_judgments import CodedJudgments
from dcglearn.judgments.reading.coded_values import CodedColumn
from dcglearn.judgments.reading.judgment_parts import (
    JudgmentPart,
    JudgmentParts,
    fill_lists,
    narrow_lengths,
)
from dcglearn.judgments.reading.value_numbers import ValueNumbers, first_entries
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

_MAX_BYTES, _MAX_RATIO = 2**28, 100
"""An array of lists is refused if it takes more bytes, and more than this many per grade."""


class _Place(NamedTuple):
    """Where a value occurs first: block, row, side (-1: the answer), rank, and the text for it."""

    block: int
    row: int
    side: int
    rank: int
    text: str


class JudgmentColumns:
    """The columns of judgments that are added block by block.

    Parameters
    ----------
    path : str
        For messages.
    scale : Scale, optional
        By default that of the numbers that occur, or of documents.
    n_ranks : int, optional
        K; by default the length of the longest list.
    documents : bool, default False
        Whether each list ranks all documents, which without a scale are numbered by name.
    answers : mapping or str, optional
        What answers mean, as for :func:`dcglearn.judgments.meaning.answer_values.resolve_answers`.
    memory : int, optional
        From how many bytes on the judgments are kept in a temporary file; by default never.

    Examples
    --------
    >>> from dcglearn.judgments.reading.coded_judgments import code_records
    >>> records = [(1, {"a": [2, 0], "b": [1], "answer": "a"})]
    >>> columns = JudgmentColumns("judgments.jsonl")
    >>> columns.add(code_records(records, "line", "judgments.jsonl")[0], "judgments.jsonl")
    >>> columns.preferences().lists.tolist()
    [[[0, 2], [1, -1]]]
    """

    def __init__(
        self,
        path: str,
        scale: Scale | None = None,
        n_ranks: int | None = None,
        documents: bool = False,
        answers: GivenMap | None = None,
        memory: int | None = None,
    ) -> None:
        self._path, self._scale, self._n_ranks, self._documents = path, scale, n_ranks, documents
        self._given_answers, self.sides = answers, ("a", "b")
        self._labels, self._answers = ValueNumbers(), ValueNumbers()
        self._ids = (ValueNumbers(), ValueNumbers())
        self._label_places: list[_Place] = []
        self._answer_places: list[_Place] = []
        self._parts = JudgmentParts(memory)
        self._longest = self._entries = self._count = 0
        self._weighted = False
        self._unjudged, self._unjudged_words, self._left_out = 0, "", 0
        self.unknown: dict[str, None] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def on_disk(self) -> bool:
        """Whether the judgments are kept in a temporary file."""
        return self._parts.on_disk

    def add(self, judgments: CodedJudgments, path: str) -> None:
        """Add the judgments of a block of a file."""
        if not len(judgments):
            return
        lists = (judgments.a, judgments.b)
        longest = max(int(side.lengths.max()) for side in lists)
        if self._n_ranks is not None and longest > self._n_ranks:
            self._refuse_long(judgments, path, self._n_ranks)
        self._longest = max(self._longest, longest)
        self._entries += sum(len(side.codes) for side in lists)
        self._weighted |= judgments.weights is not None
        a, b = self._add_lists(judgments, path)
        part = JudgmentPart(
            a,
            narrow_lengths(judgments.a.lengths),
            b,
            narrow_lengths(judgments.b.lengths),
            self._add_answers(judgments, path),
            judgments.weights,
            self._add_ids(0, judgments.queries),
            self._add_ids(1, judgments.judges),
            np.asarray(judgments.numbers) if self._documents else None,
        )
        self._parts.append(part, f"{path}, {judgments.unit}")
        self._count += len(judgments)

    def check(self) -> None:
        """Refuse the first value that means nothing, whatever else follows.

        Raises
        ------
        InputError
            If a grade is off the scale, or an answer is not known.
        """
        faults = []
        for resolve, places in (
            (lambda: self.answer_map, self._answer_places),
            (lambda: self._resolved_labels, self._label_places if self._scale else []),
        ):
            try:
                resolve()
            except UnmappedValueError as error:
                if places:
                    faults.append((places[error.position], error))
        if faults:
            place, fault = min(faults, key=lambda one: one[0])
            raise fault.at(place.text) from fault

    @cached_property
    def scale(self) -> Scale:
        """The grades, best first."""
        self.check()
        try:
            labels = [label for label in self._resolved_labels if label is not None]
        except UnmappedValueError as error:
            place = self._label_places[error.position].text
            raise self._of_one_entry(error).at(place) from error
        if self._scale is not None:
            return self._scale
        make = Scale.from_documents if self._documents else Scale.from_numbers
        try:
            return make(labels)
        except InputError as error:
            raise self._of_one_entry(error).at(self._path) from error

    def _of_one_entry(self, error: InputError) -> InputError:
        """Return another error if lists are perhaps written so that they are taken for grades."""
        joined = [one for one in self._labels if re.fullmatch(r"[0-9](?:\W?[0-9])+", str(one))]
        large = any(isinstance(one, int) and one >= MAX_EXACT for one in joined)  # the fault itself
        if self._longest > 1 or large or not joined:
            return error
        problem = f"every list holds one grade, such as {joined[0]}"
        return InputError(problem, "separate the grades of a list with blanks or commas")

    @property
    def n_ranks(self) -> int:
        """K."""
        return self._longest if self._n_ranks is None else self._n_ranks

    @cached_property
    def answer_map(self) -> AnswerMap:
        """What the answers mean."""
        return resolve_answers(list(self._answers), self._given_answers, self.sides, self._weighted)

    def answer_notes(self) -> tuple[str, ...]:
        """Return what was taken for the meaning of answers, a line each.

        Raises
        ------
        InputError
            If an answer is not known.
        """
        self.check()
        return self.answer_map.notes

    def rule_notes(self) -> tuple[str, ...]:
        """Return how many documents had no grade and judgments are left out, a line each.

        Of the judgments that were given out.
        """
        unjudged = [unjudged_words(self._unjudged, self._unjudged_words)] if self._unjudged else []
        return (*unjudged, *left_out_words(self._left_out))

    def rule_counts(self) -> dict[str, int | str | None]:
        """Return what :meth:`rule_notes` says, as numbers."""
        return {
            "judgments_left_out": self._left_out,
            "documents_without_grade": self._unjudged,
            "counted_as": self._unjudged_words if self._unjudged else None,
        }

    def preferences(self, unjudged: UnjudgedRule = "worst") -> Preferences:
        """Return the judgments as arrays.

        Parameters
        ----------
        unjudged : {"worst", "drop", "nothing"} or label, default "worst"
            What an empty rank above the last document of a list counts as, as for
            :func:`dcglearn.judgments.meaning.unjudged_documents.grade_unjudged`.

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            If a grade is off the scale or the grades have no order, an answer is not known, one
            list is far longer than the others, or a list does not rank all documents.
        """
        scale, answers = self.scale, self.answer_map
        lists, count = self._joined(self._parts, self._count, scale), self._count
        if self._documents:
            self._check_complete(lists, scale)
        parts = list(self._parts)
        return self._with_rules(lists, parts, count, answers, unjudged)

    def batches(self, unjudged: UnjudgedRule = "worst") -> Iterator[Preferences]:
        """Iterate over the judgments in the order of the file, a block at a time.

        Parameters
        ----------
        unjudged : {"worst", "drop", "nothing"} or label, default "worst"
            As for :meth:`preferences`.

        Yields
        ------
        Preferences
            On the scale and with the K of all judgments.

        Raises
        ------
        InputError
            As :meth:`preferences`.
        """
        scale, answers = self.scale, self.answer_map
        for part in self._parts:
            lists = self._joined([part], len(part), scale)
            yield self._with_rules(lists, [part], len(part), answers, unjudged)

    def _with_rules(
        self,
        lists: Pairs,
        parts: list[JudgmentPart],
        count: int,
        answers: AnswerMap,
        unjudged: UnjudgedRule,
    ) -> Preferences:
        """Return judgments, without those whose answers are left out."""
        lists, found, self._unjudged_words = grade_unjudged(lists, self.scale, unjudged)
        self._unjudged += found
        given = np.concatenate([np.zeros(0, np.int8), *(part.answers for part in parts)])
        codes = np.array(answers.codes, np.int8)[given]
        weights = np.ones(count)
        if self._weighted:
            own = (np.ones(len(one)) if one.weights is None else one.weights for one in parts)
            weights = np.concatenate([np.zeros(0), *own])
        if set(answers.weights) != {1.0}:
            weights *= np.array(answers.weights)[given]
        queries, judges = (self._joined_ids(number, parts) for number in (0, 1))
        judgments = Preferences(lists, codes, self.scale, weights, queries, judges)
        kept = codes != LEFT_OUT
        self._left_out += int(np.count_nonzero(~kept))
        return judgments if kept.all() else judgments[kept]

    def _add_lists(self, judgments: CodedJudgments, path: str) -> tuple[Grades, Grades]:
        """Return the labels of both sides by their numbers, and note where new ones occur."""
        first: dict[Label, tuple[int, int, int]] = {}
        for side, lists in enumerate((judgments.a, judgments.b)):
            new = [code for code, label in enumerate(lists.labels) if label not in self._labels]
            for code, entry in first_entries(lists.codes, np.array(new, np.int64)):
                row, rank = lists.position(entry)
                label = lists.labels[code]
                first[label] = min(first.get(label, (row, side, rank)), (row, side, rank))
        places = sorted(first.items(), key=lambda one: one[1])
        self._labels.add([label for label, _ in places])  # as they occur, whatever the blocks are
        for _, (row, side, rank) in places:
            text = f'{path}, {judgments.place(row)}, "{"ab"[side]}", rank {rank + 1}'
            self._label_places.append(_Place(len(self._parts.places), row, side, rank, text))
        a, b = (self._labels.add(side.labels)[side.codes] for side in (judgments.a, judgments.b))
        return a, b

    def _add_answers(self, judgments: CodedJudgments, path: str) -> Grades:
        known, column = len(self._answers), judgments.answers
        table = self._answers.add(column.values)
        for _, row in first_entries(column.codes, np.flatnonzero(table[:-1] >= known)):
            text = f"{path}, {judgments.place(row)}"
            self._answer_places.append(_Place(len(self._parts.places), row, -1, 0, text))
        return table[column.codes]

    def _add_ids(self, number: int, column: CodedColumn | None) -> Grades | None:
        return None if column is None else self._ids[number].add(column.values)[column.codes]

    @cached_property
    def _resolved_labels(self) -> list[Label | None]:
        labels = list(self._labels)
        return labels if self._documents else resolve_labels(labels, self._scale)

    def _joined(self, parts: Iterable[JudgmentPart], count: int, scale: Scale) -> Pairs:
        """Return the lists of parts as grade indices."""
        K = self.n_ranks
        if 2 * self._count * K > max(_MAX_BYTES, _MAX_RATIO * self._entries):
            mean = self._entries / (2 * self._count)
            raise InputError(
                f"lists of up to {K:,} ranks, and {mean:.1f} on average in {self._count:,} "
                "judgments, which do not fit into an array",
                "cut the longest lists, or lower `n_ranks`",
                self._path,
            )
        found = [NO_DOCUMENT if one is None else scale.index(one) for one in self._resolved_labels]
        indices = np.array([*found, NO_DOCUMENT], np.int8)
        lists = np.full((count, 2, K), NO_DOCUMENT, np.int8)
        start = 0
        for part in parts:
            end = start + len(part)
            fill_lists(lists[start:end, 0], indices[part.a], part.a_lengths)
            fill_lists(lists[start:end, 1], indices[part.b], part.b_lengths)
            start = end
        return lists

    def _joined_ids(self, number: int, parts: list[JudgmentPart]) -> Ids:
        values = self._id_texts[number]
        columns = [
            np.full(len(part), None, object) if ids is None else values[ids]
            for part in parts
            for ids in ((part.queries, part.judges)[number],)
        ]
        return np.concatenate([np.zeros(0, object), *columns])

    @cached_property
    def _id_texts(self) -> tuple[Ids, Ids]:
        """The distinct queries and judges, and None at the end."""
        queries, judges = (np.array([*values, None], object) for values in self._ids)
        return queries, judges

    def _check_complete(self, lists: Pairs, scale: Scale) -> None:
        """Check that each list ranks every document once."""
        whole = np.arange(lists.shape[2])
        wrong = (np.sort(lists, axis=2) != whole).any(axis=(1, 2))
        if len(whole) != len(scale):
            wrong[:] = True
        if wrong.any():
            row = int(np.argmax(wrong))
            found = ([scale.labels[g] if g >= 0 else None for g in side] for side in lists[row])
            a, b = ([label for label in side if label is not None] for side in found)
            encode_pairs([a], [b], scale, len(whole), [self._place(row)], complete=True)

    def _place(self, row: int) -> str:
        """Return the place of a judgment of lists of documents."""
        for part, place in zip(self._parts, self._parts.places, strict=True):
            if row < len(part) and part.numbers is not None:
                return f"{place} {part.numbers[row]}"
            row -= len(part)
        raise IndexError

    def _refuse_long(self, judgments: CodedJudgments, path: str, n_ranks: int) -> None:
        sides = np.stack([judgments.a.lengths, judgments.b.lengths], axis=1)
        row, side = divmod(int(np.argmax((sides > n_ranks).ravel())), 2)
        raise InputError(
            f"a list of {sides[row, side]} grades, and K = {n_ranks}",
            "raise `n_ranks` or cut the list",
            f'{path}, {judgments.place(row)}, "{"ab"[side]}"',
        )
