"""Judgment files: JSON lines, CSV and Parquet, one judgment per row.

Columns: ``a`` and ``b`` (the lists, from the first rank down), ``answer`` (a, b, tie, good or bad)
and, where known, ``query``, ``weight`` and ``judge``. In JSON lines and Parquet a list is a list of
grade values or names, null where a rank is empty; in CSV its entries are separated by blanks, with
``-`` where a rank is empty. :mod:`dcglearn.reading.record_formats` reads and writes the formats
themselves; here their fields become judgments.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.progress import Advance, silent
from dcglearn.base.suggestions import unknown_name
from dcglearn.data.preferences import Preferences
from dcglearn.data.rankings import decode_list
from dcglearn.fields.judgment_fields import ANSWERS, parse_id
from dcglearn.files.files import checked_suffix
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale, ScaleLike, as_scale
from dcglearn.reading.document_judgments import DocumentGrades
from dcglearn.reading.judgment_columns import Judgment, JudgmentColumns, parse_judgment
from dcglearn.reading.record_formats import RECORD_READERS, RECORD_WRITERS, FieldKinds

FIELD_KINDS: FieldKinds = {
    "query": "id",
    "a": "labels",
    "b": "labels",
    "answer": "text",
    "weight": "number",
    "judge": "id",
    "run_a": "id",
    "run_b": "id",
}
"""What the fields of judgments hold."""

BATCH_SIZE = 1 << 16
"""The number of judgments per batch."""


def read_preferences(
    path: str | os.PathLike[str],
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
    documents: bool = False,
    document_grades: DocumentGrades | None = None,
    other_fields: Collection[str] = (),
) -> Preferences:
    """Read a file of judgments.

    Parameters
    ----------
    path : path-like
        ``.jsonl``, ``.csv`` or ``.parquet``.
    scale : Scale, str or sequence of labels, optional
        The grades, best first. By default the numbers that occur, the highest first; names have
        no order of their own and need a scale.
    n_ranks : int, optional
        K: longer lists are refused. By default the longest list sets it.
    ignored : IgnoredInput, optional
        If given, unknown fields and repeated keys (the last one counts) are ignored and counted
        there. By default they are refused.
    advance : callable, optional
        Called with (rows read, 0).
    documents : bool, default False
        Whether lists hold documents without grades: without a scale they are numbered by name.
    document_grades : DocumentGrades, optional
        Gives documents and runs their grades.
    other_fields : collection of str, optional
        Fields that are accepted, and read by :func:`read_field`.

    Returns
    -------
    Preferences

    Raises
    ------
    InputError
        Naming the file and the line or row, what is wrong and what to do.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "judgments.jsonl")
    ...     _ = path.write_text('{"a": [2, 0], "b": [1], "answer": "a"}')
    ...     read_preferences(path).lists.tolist()
    [[[0, 2], [1, -1]]]
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            f"a path of type {type(path).__name__}",
            "give a file; a frame becomes judgments by Preferences.from_frame(frame)",
        )
    scale = as_scale(scale)
    if document_grades is not None and scale is None:
        scale = document_grades.scale
    columns = JudgmentColumns(str(path), scale, n_ranks, documents)
    for place, judgment in _judgments(path, ignored, advance, document_grades, other_fields):
        columns.add(place, judgment)
    return columns.preferences()


def read_field(path: str | os.PathLike[str], name: str) -> list[str | None]:
    """Read one more field of a file of judgments, as ids.

    Parameters
    ----------
    path : path-like
        Not a pipe, which could be read only once.
    name : str

    Returns
    -------
    list of str or None
        One per judgment, in the order of the file; None where it is empty.

    Raises
    ------
    InputError
        If no judgment has the field, or a value is neither text nor a number.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "judgments.jsonl")
    ...     _ = path.write_text('{"a": [1], "b": [0], "answer": "a", "country": "it"}')
    ...     read_field(path, "country")
    ['it']
    """
    kinds: FieldKinds = {name: "id"}
    rows = RECORD_READERS[checked_suffix(path, RECORD_READERS)](Path(path), kinds, IgnoredInput())
    values: list[str | None] = []
    fields: set[str] = set()
    for place, record in rows:
        fields.update(record)
        try:
            values.append(parse_id(record.get(name), name))
        except InputError as error:
            raise error.at(f"{path}, {place}") from error
    if name not in fields:
        raise unknown_name("field", name, sorted(fields)).at(str(path))
    return values


@dataclass(frozen=True)
class JudgmentScan:
    """What all judgments of a file determine together, before any of them can be an array.

    Attributes
    ----------
    scale : Scale
        The grades, best first.
    n_ranks : int
        K.
    judgments : int
        The number of judgments.
    ties : int
        The number of those without a preference.
    weighted : bool
        Whether some weight is not 1.
    whole : Preferences or None
        The judgments, if they were read from a pipe, which can be read only once.
    """

    scale: Scale
    n_ranks: int
    judgments: int
    ties: int
    weighted: bool
    whole: Preferences | None = None

    @classmethod
    def of(cls, preferences: Preferences) -> JudgmentScan:
        """Return what the judgments of a pipe determine, with the judgments themselves.

        Parameters
        ----------
        preferences : Preferences

        Returns
        -------
        JudgmentScan
        """
        return cls(
            preferences.scale,
            preferences.n_ranks,
            len(preferences),
            int((~preferences.strict).sum()),
            bool((preferences.weights != 1).any()),
            preferences,
        )


def scan_judgments(
    path: str | os.PathLike[str],
    scale: Scale | None = None,
    n_ranks: int | None = None,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
    document_grades: DocumentGrades | None = None,
) -> JudgmentScan:
    """Read a file of judgments once without keeping them in memory; those of a pipe are kept.

    Parameters
    ----------
    path, scale, n_ranks, ignored, advance, document_grades
        As those of :func:`read_preferences`.

    Returns
    -------
    JudgmentScan

    Raises
    ------
    InputError
        As :func:`read_preferences`.
    """
    if not Path(path).is_file():
        return JudgmentScan.of(
            read_preferences(
                path, scale, n_ranks, ignored, advance, document_grades=document_grades
            )
        )
    judgments = (judgment for _, judgment in _judgments(path, ignored, advance, document_grades))
    if document_grades is not None and scale is None:
        scale = document_grades.scale
    return _scan(judgments, scale, n_ranks, path, documents=False)


def read_preferences_in_batches(
    path: str | os.PathLike[str],
    scan: JudgmentScan,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
    size: int = BATCH_SIZE,
    document_grades: DocumentGrades | None = None,
) -> Iterator[Preferences]:
    """Read a file of judgments batch by batch, for files that do not fit in memory.

    Parameters
    ----------
    path : path-like
    scan : JudgmentScan
        Of the same file.
    ignored, advance
        As those of :func:`read_preferences`.
    size : int
        The number of judgments per batch.
    document_grades : DocumentGrades, optional
        As that of :func:`read_preferences`.

    Yields
    ------
    Preferences

    Raises
    ------
    InputError
        As :func:`read_preferences`.
    """
    if scan.whole is not None:
        yield scan.whole
        return
    rows = _judgments(path, ignored, advance, document_grades)
    while True:
        columns = JudgmentColumns(str(path), scan.scale, scan.n_ranks)
        for place, judgment in islice(rows, size):
            columns.add(place, judgment)
        if not len(columns):
            return
        yield columns.preferences()


def write_preferences(preferences: Preferences, path: str | os.PathLike[str]) -> None:
    """Write judgments as JSON lines, CSV or Parquet, according to the file's suffix.

    Parameters
    ----------
    preferences : Preferences
    path : path-like
        ``.jsonl``, ``.csv`` or ``.parquet``. Columns without content (no query ids, no judges,
        all weights 1) are left out.

    Raises
    ------
    InputError
        If the suffix is unknown, the file cannot be written, a list is empty, or the format
        cannot hold an id or the name of a grade so that it is read back the same.
    """
    write = RECORD_WRITERS[checked_suffix(path, RECORD_WRITERS)]
    if not len(preferences):
        raise InputError("no judgment to write", "give at least one", str(path))
    empty = (preferences.lists == NO_DOCUMENT).all(axis=2).any(axis=1)
    if empty.any():
        problem = f"row {int(empty.argmax())} holds an empty list"
        raise InputError(problem, "give lists of at least one document", str(path))
    ids = chain(preferences.queries, preferences.judges)
    try:
        "".join(one for one in ids if one is not None).encode()
    except UnicodeEncodeError as error:
        raise InputError("an id is not valid text", "correct it", str(path)) from error
    write(Path(path), _records(preferences))


def _judgments(
    path: str | os.PathLike[str],
    ignored: IgnoredInput | None,
    advance: Advance,
    document_grades: DocumentGrades | None = None,
    other_fields: Collection[str] = (),
) -> Iterator[tuple[str, Judgment]]:
    """Yield the place of each judgment in the file, and the judgment."""
    rows = RECORD_READERS[checked_suffix(path, RECORD_READERS)](Path(path), FIELD_KINDS, ignored)
    if document_grades is not None:
        rows = document_grades.grade_records(rows, str(path))
    number = -1
    for number, (place, record) in enumerate(rows):
        try:
            yield place, parse_judgment(record, ignored, other_fields)
        except InputError as error:
            raise error.at(f"{path}, {place}") from error
        if number % 1000 == 0:
            advance(number, 0)
    if number < 0:
        raise InputError("holds no judgment", "give one judgment per line", str(path))


def _scan(
    judgments: Iterable[Judgment],
    scale: Scale | None,
    n_ranks: int | None,
    path: str | os.PathLike[str],
    documents: bool,
) -> JudgmentScan:
    labels: set[Label] = set()
    count = ties = longest = 0
    weighted = False
    for judgment in judgments:
        count += 1
        ties += judgment.answer > ANSWERS.index("b")
        weighted |= judgment.weight != 1
        longest = max(longest, *map(len, judgment.lists))
        if scale is None:
            labels.update(label for side in judgment.lists for label in side if label is not None)
    if scale is None:
        try:
            scale = (Scale.from_documents if documents else Scale.from_numbers)(labels)
        except InputError as error:
            raise error.at(str(path)) from error
    return JudgmentScan(scale, longest if n_ranks is None else n_ranks, count, ties, weighted)


def _records(preferences: Preferences) -> list[dict[str, Any]]:
    columns: dict[str, list[Any]] = {}
    if any(query is not None for query in preferences.queries):
        columns["query"] = preferences.queries.tolist()
    for side, name in enumerate("ab"):
        columns[name] = [decode_list(row, preferences.scale) for row in preferences.lists[:, side]]
    columns["answer"] = [ANSWERS[code] for code in preferences.answers]
    if (preferences.weights != 1).any():
        columns["weight"] = preferences.weights.tolist()
    if any(judge is not None for judge in preferences.judges):
        columns["judge"] = preferences.judges.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
