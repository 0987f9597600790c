"""Judgments gathered into arrays while a file is read, in memory proportional to the arrays.

Grades are numbered as they occur until the scale is known, and the numbers become grade indices at
the end; only the judgments of the last few lines are Python objects.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Pairs
from dcglearn.data.preferences import Preferences
from dcglearn.data.rankings import encode_pairs
from dcglearn.fields.judgment_fields import (
    JUDGMENT_FIELDS,
    REQUIRED_FIELDS,
    parse_answer,
    parse_id,
    parse_labels,
    parse_weight,
)
from dcglearn.measures.scale import MAX_GRADES, NO_DOCUMENT, Label, Scale

_MAX_BYTES, _MAX_RATIO = 2**28, 100
"""An array of lists is refused if it takes more bytes, and more than this many per grade."""

_BATCH_ROWS, _BATCH_BYTES = 4096, 2**22


@dataclass(frozen=True)
class Judgment:
    """One judgment of a file.

    Attributes
    ----------
    lists : tuple of two lists of labels
        None where a rank is empty.
    answer : int
        Its index in :data:`~dcglearn.fields.judgment_fields.ANSWERS`.
    weight : float
    query, judge : str or None
    """

    lists: tuple[list[Label | None], list[Label | None]]
    answer: int
    weight: float
    query: str | None
    judge: str | None


def parse_judgment(
    record: dict[str, Any],
    ignored: IgnoredInput | None = None,
    other_fields: Collection[str] = (),
) -> Judgment:
    """Return the judgment that the fields of a record make.

    Parameters
    ----------
    record : dict
    ignored : IgnoredInput, optional
        If given, unknown fields are ignored and counted there; by default they are refused.
    other_fields : collection of str, optional
        Fields that are accepted, and not part of the judgment.

    Returns
    -------
    Judgment

    Raises
    ------
    InputError
        If a field is missing, unknown or of another type.

    Examples
    --------
    >>> parse_judgment({"a": [2], "b": [None, 1], "answer": "b"}).lists
    ([2], [None, 1])
    """
    for name in (n for n in record if n not in JUDGMENT_FIELDS and n not in other_fields):
        if ignored is None:
            raise unknown_name("field", name, JUDGMENT_FIELDS)
        ignored.counts[f"unknown field {name!r}"] += 1
    for name in REQUIRED_FIELDS:
        if record.get(name) is None:
            raise InputError(
                f'"{name}" is missing', f"every judgment needs {', '.join(REQUIRED_FIELDS)}"
            )
    weight = record.get("weight")
    return Judgment(
        lists=(parse_labels(record["a"], "a"), parse_labels(record["b"], "b")),
        answer=parse_answer(record["answer"]),
        weight=1.0 if weight is None else parse_weight(weight),
        query=parse_id(record.get("query"), "query"),
        judge=parse_id(record.get("judge"), "judge"),
    )


class JudgmentColumns:
    """The columns of judgments that are added one by one.

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

    Examples
    --------
    >>> columns = JudgmentColumns("judgments.jsonl")
    >>> columns.add("line 1", parse_judgment({"a": [2, 0], "b": [1], "answer": "a"}))
    >>> columns.preferences().lists.tolist()
    [[[0, 2], [1, -1]]]
    """

    def __init__(
        self,
        path: str,
        scale: Scale | None = None,
        n_ranks: int | None = None,
        documents: bool = False,
    ) -> None:
        self._path, self._scale, self._n_ranks, self._documents = path, scale, n_ranks, documents
        labels = () if scale is None else scale.labels
        self._codes: dict[Label | None, int] = {None: NO_DOCUMENT}
        self._codes.update((label, code) for code, label in enumerate(labels))
        self._names: dict[str | None, str | None] = {}
        self._pending: list[Judgment] = []
        self._longest = self._longest_pending = self._entries = self._count = 0
        self._places: list[str] = []
        self._lists: list[NDArray[np.integer]] = []
        self._answers: list[NDArray[np.int8]] = []
        self._weights: list[NDArray[np.float64]] = []
        self._ids: tuple[list[NDArray[np.object_]], ...] = ([], [])

    def __len__(self) -> int:
        return self._count

    def add(self, place: str, judgment: Judgment) -> None:
        """Add a judgment; its place in the file is for messages."""
        length = max(map(len, judgment.lists))
        labels = list(chain(*judgment.lists))
        new = set(labels).difference(self._codes)
        if (new and self._scale) or (self._n_ranks is not None and length > self._n_ranks):
            self._refuse(place, judgment)
        for label in new:
            self._codes[label] = len(self._codes) - 1
        self._pending.append(judgment)
        self._count += 1
        self._entries += len(labels)
        self._longest_pending = max(self._longest_pending, length)
        if self._documents:
            self._places.append(place)
        rows = len(self._pending)
        if rows == _BATCH_ROWS or 2 * rows * self._longest_pending > _BATCH_BYTES:
            self._flush()

    def preferences(self) -> Preferences:
        """Return the judgments as arrays.

        Returns
        -------
        Preferences

        Raises
        ------
        InputError
            If the grades have no order, one list is far longer than the others, or a list does
            not rank all documents.
        """
        self._flush()
        scale = self._scale
        if scale is None:
            make = Scale.from_documents if self._documents else Scale.from_numbers
            try:
                scale = make(label for label in self._codes if label is not None)
            except InputError as error:
                raise error.at(self._path) from error
        lists = self._joined(scale)
        if self._documents:
            self._check_complete(lists, scale)
        queries, judges = (np.concatenate(ids) if ids else np.zeros(0, object) for ids in self._ids)
        return Preferences(
            lists=lists,
            answers=np.concatenate([np.zeros(0, np.int8), *self._answers]),
            scale=scale,
            weights=np.concatenate([np.zeros(0), *self._weights]),
            queries=queries,
            judges=judges,
        )

    def _flush(self) -> None:
        """Make arrays of the judgments that are Python objects."""
        rows, self._pending = self._pending, []
        self._longest = max(self._longest, self._longest_pending)
        lengths = np.array([[len(side) for side in row.lists] for row in rows], int).reshape(-1, 2)
        kind = np.int8 if len(self._codes) <= MAX_GRADES else np.int32
        codes = np.full((len(rows), 2, self._longest_pending), NO_DOCUMENT, kind)
        labels = (self._codes[label] for row in rows for side in row.lists for label in side)
        inside = np.arange(self._longest_pending) < lengths[..., None]
        codes[inside] = np.fromiter(labels, kind, int(lengths.sum()))
        self._lists.append(codes)
        self._answers.append(np.array([row.answer for row in rows], np.int8))
        self._weights.append(np.array([row.weight for row in rows], float))
        for column, ids in zip(self._ids, ("query", "judge"), strict=True):
            texts = [getattr(row, ids) for row in rows]
            column.append(np.array([self._names.setdefault(one, one) for one in texts], object))
        self._longest_pending = 0

    def _joined(self, scale: Scale) -> Pairs:
        """Return all lists as grade indices."""
        K = self._longest if self._n_ranks is None else self._n_ranks
        if 2 * self._count * K > max(_MAX_BYTES, _MAX_RATIO * self._entries):
            mean = self._entries / (2 * self._count)
            raise InputError(
                f"lists of up to {K:,} ranks, and {mean:.1f} on average in {self._count:,} "
                "judgments, which do not fit into an array",
                "cut the longest lists, or lower `n_ranks`",
                self._path,
            )
        indices = np.full(len(self._codes), NO_DOCUMENT, np.int8)  # the last is NO_DOCUMENT
        for label, code in self._codes.items():
            if label is not None:
                indices[code] = scale.index(label)
        lists = np.full((self._count, 2, K), NO_DOCUMENT, np.int8)
        start = 0
        for number, codes in enumerate(self._lists):
            end = start + len(codes)
            lists[start:end, :, : codes.shape[2]] = indices[codes]
            self._lists[number], start = codes[:0], end
        return lists

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
            encode_pairs([a], [b], scale, len(whole), [self._at(self._places[row])], complete=True)

    def _refuse(self, place: str, judgment: Judgment) -> None:
        a, b = judgment.lists
        n_ranks = max(len(a), len(b)) if self._n_ranks is None else self._n_ranks
        encode_pairs([a], [b], self._scale or Scale((0,)), n_ranks, [self._at(place)])

    def _at(self, place: str) -> str:
        return f"{self._path}, {place}"
