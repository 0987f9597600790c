"""Judgment files: JSON lines, CSV and Parquet, one judgment per row.

Columns: ``a`` and ``b`` (the lists, from the first rank down), ``answer`` (a, b, tie, good or bad)
and, where known, ``query``, ``weight`` and ``judge``. In JSON lines and Parquet a list is a list of
grade values or names, null where a rank is empty; in CSV its entries are separated by blanks, with
``-`` where a rank is empty. :mod:`dcglearn.judgments.reading.record_formats` reads the formats themselves;
here their fields become judgments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.process import return_free_memory
from dcglearn.base.progress import Advance, silent
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.tables.places import Place
from dcglearn.base.tables.sources import Source, find_sources, name_sources
from dcglearn.judgments.judgment_frames import FrameLike, is_frame
from dcglearn.judgments.meaning.answer_values import explains_empty
from dcglearn.judgments.meaning.given_maps import GivenMap
from dcglearn.judgments.meaning.judgment_fields import parse_id
from dcglearn.judgments.meaning.unjudged_documents import UnjudgedRule
from dcglearn.judgments.packed import PackedPairs, is_packed
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.reading.blocks import RecordBlock
from dcglearn.judgments.reading.coded_judgments import (
    CodedJudgments,
    code_columns,
    code_records,
    column_ids,
    naming_place,
)
from dcglearn.judgments.reading.coded_values import UndecidedError
from dcglearn.judgments.reading.document_judgments import DocumentGrades
from dcglearn.judgments.reading.field_columns import JUDGMENTS, JUDGMENTS_OF_DOCUMENTS, FieldColumns
from dcglearn.judgments.reading.judgment_columns import JudgmentColumns
from dcglearn.judgments.reading.record_formats import read_blocks
from dcglearn.measures.scale import ScaleLike, as_scale

Note = Callable[[str], None]
"""Called with a line about what was taken without being told."""

MOST_IN_MEMORY = 2**28
"""Bytes of coded judgments from which on commands keep them in a temporary file. A judgment of two
lists of 10 takes 21, and 8 more where it names a query and a judge."""


def read_preferences(
    path: Place | Iterable[Place] | FrameLike,
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
    documents: bool = False,
    document_grades: DocumentGrades | None = None,
    other_fields: Collection[str] = (),
    *,
    columns: GivenMap | None = None,
    answers: GivenMap | None = None,
    unjudged: UnjudgedRule | None = None,
    strict: bool = False,
    note: Note = warn_of_input,
) -> Preferences:
    """Read files of judgments.

    Parameters
    ----------
    path : path-like, open file, or iterable of these
        JSON lines, JSON, CSV, Parquet or Arrow, as for
        :func:`dcglearn.base.tables.sources.find_sources`: also compressed, patterns, folders, and ``-``
        for standard input; or a file or folder of packed judgments. Or a frame, as for
        :meth:`dcglearn.judgments.preferences.Preferences.from_frame`.
    scale : Scale, str or sequence of labels, optional
        The grades, best first. By default the numbers that occur, the highest first; names have
        no order of their own and need a scale.
    n_ranks : int, optional
        K: longer lists are refused. By default the longest list sets it.
    ignored : IgnoredInput, optional
        If given, repeated keys (the last one counts) are ignored and counted there. By default
        they are refused.
    advance : callable, optional
        Called with how many bytes are read, and how many there are.
    documents : bool, default False
        Whether lists hold documents without grades: without a scale they are numbered by name.
    document_grades : DocumentGrades, optional
        Gives documents and runs their grades.
    other_fields : collection of str, optional
        Fields that are accepted, and read by :func:`read_field`.
    columns : mapping or str, optional
        Which column is which field, such as ``a=left,b=right``, as for
        :func:`dcglearn.judgments.meaning.column_names.resolve_columns`.
    answers : mapping or str, optional
        What answers mean, such as ``left=a,right=b``, as for
        :func:`dcglearn.judgments.meaning.answer_values.resolve_answers`.
    unjudged : {"worst", "drop", "nothing"} or label, optional
        What a document without a grade counts as, above the last grade of a list, as for
        :func:`dcglearn.judgments.meaning.unjudged_documents.grade_unjudged`; by default as with
        `document_grades`, or as the worst grade.
    strict : bool, default False
        Whether unknown fields are refused. By default a note names them.
    note : callable, optional
        Called with a line about each thing that was taken without being told; by default an
        :class:`~dcglearn.base.errors.InputWarning`.

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
    if isinstance(path, str | os.PathLike) and is_packed(Path(path)):
        given: dict[str, object] = {"scale": scale, "n_ranks": n_ranks, "documents": documents}
        given |= {"columns": columns, "answers": answers, "unjudged": unjudged}
        given |= {"document_grades": document_grades}
        _refuse_given(given, path)
        return PackedPairs.of(Path(path)).preferences(advance=advance)
    if unjudged is None:
        unjudged = "worst" if document_grades is None else document_grades.unjudged
    if is_frame(path):
        if documents or document_grades is not None:
            raise InputError("a frame of documents", "write it to a file, such as .parquet")
        return Preferences.from_frame(
            path,
            scale,
            n_ranks,
            columns=columns,
            answers=answers,
            unjudged=unjudged,
            strict=strict,
        )
    gathered = gather_judgments(
        path,
        scale,
        n_ranks,
        ignored,
        advance,
        documents,
        document_grades,
        other_fields,
        columns=columns,
        answers=answers,
        strict=strict,
        note=note,
    )
    found = gathered.preferences(unjudged)
    for line in gathered.rule_notes():
        note(line)
    return found


def _refuse_given(given: Mapping[str, object], path: str | os.PathLike[str]) -> None:
    """Refuse arguments that packed judgments, which are what they are, do not take."""
    for name, value in given.items():
        if value:
            raise InputError(f"`{name}` does not apply to packed pairs", "leave it out", str(path))


def gather_judgments(
    path: Place | Iterable[Place],
    scale: ScaleLike | None = None,
    n_ranks: int | None = None,
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
    documents: bool = False,
    document_grades: DocumentGrades | None = None,
    other_fields: Collection[str] = (),
    *,
    columns: GivenMap | None = None,
    answers: GivenMap | None = None,
    strict: bool = False,
    note: Note = warn_of_input,
    memory: int | None = None,
) -> JudgmentColumns:
    r"""Read files of judgments that may be larger than the memory.

    Parameters
    ----------
    path, scale, n_ranks, ignored, advance, documents, document_grades, other_fields
        As those of :func:`read_preferences`.
    columns, answers, strict, note
        As those of :func:`read_preferences`.
    memory : int, optional
        From how many bytes on the judgments are kept in a temporary file; by default never. Their
        ids are kept in memory.

    Returns
    -------
    JudgmentColumns
        Gives them as one :class:`~dcglearn.judgments.preferences.Preferences`, or in batches.

    Raises
    ------
    InputError
        As :func:`read_preferences`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "judgments.csv")
    ...     _ = path.write_text("left,right,answer\n2 0,1,a\n")
    ...     found = gather_judgments(path, note=print)
    ...     [batch.lists.tolist() for batch in found.batches()]
    columns taken: a=left, b=right
    [[[[0, 2], [1, -1]]]]
    """
    sources = find_sources(path)
    scale = as_scale(scale)
    if document_grades is not None and scale is None:
        scale = document_grades.scale
    found = JudgmentColumns(name_sources(sources), scale, n_ranks, documents, answers, memory)
    notes: dict[str, None] = {}
    done, total = 0, sum(source.size for source in sources)
    for source in sources:
        fields = FieldColumns(
            source.name,
            columns,
            strict,
            (*other_fields, *source.partition),
            JUDGMENTS if document_grades is None else JUDGMENTS_OF_DOCUMENTS,
            explains_empty(answers),
        )
        share = partial(_advance_of_file, advance, done, source.size, total)
        blocks = read_blocks(source, fields.choose, ignored, share)
        _gather_file(found, blocks, fields, source, document_grades)
        return_free_memory()
        done += source.size
        found.unknown.update(dict.fromkeys(fields.map.unknown))
        words = fields.map.unknown_words()
        notes.update(dict.fromkeys((*source.notes, *fields.map.notes, *([words] if words else []))))
    for line in (*notes, *found.answer_notes()):
        note(line)
    return found


def _gather_file(
    found: JudgmentColumns,
    blocks: Iterable[RecordBlock],
    fields: FieldColumns,
    source: Source,
    document_grades: DocumentGrades | None,
) -> None:
    """Add the judgments of a file."""
    before = len(found)
    for block in blocks:
        judgments, fault = _coded_block(block, fields, source, document_grades)
        found.sides = fields.map.sides
        found.add(judgments, source.name)
        if fault is not None:
            found.check()
            try:
                raise fault
            finally:
                del fault  # its frames hold temporary files, and this one is among them
    if len(found) == before:
        raise InputError("holds no judgment", "give one judgment per line", source.name)


def _advance_of_file(
    advance: Advance, before: int, size: int, total: int, done: int, of: int
) -> None:
    """Report the bytes of all files that are read, given how much of one file is."""
    advance(before + (size * done // of if of else done), total)


def _coded_block(
    block: RecordBlock, fields: FieldColumns, source: Source, document_grades: DocumentGrades | None
) -> tuple[CodedJudgments, InputError | None]:
    """Return the judgments of a block, decoded by Arrow where it decides, else one by one."""
    if document_grades is None:
        try:
            return code_columns(block, fields), None
        except (UndecidedError, InputError):  # whose place the reader of single records knows
            return code_records(fields.records(block), block.unit, source.name)
    where = f"{source.name}, {block.unit}"
    graded = document_grades.grade_records(fields.records(block), where)
    return code_records(graded, block.unit, source.name)


def read_field(path: Place | Iterable[Place], name: str) -> list[str | None]:
    """Read one more field of files of judgments, as ids.

    Parameters
    ----------
    path : path-like, open file, or iterable of these
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
    values: list[str | None] = []
    fields: set[str] = set()
    for source in find_sources(path):
        for block in read_blocks(source, lambda names: {name: "id"}, IgnoredInput()):
            if block.columns is not None:
                fields.update(block.columns)
                try:
                    values += column_ids(block.columns.get(name), name, len(block))
                    continue
                except UndecidedError:  # the reader of single records says why
                    pass
            for number, record in block.read():
                fields.update(record)
                with naming_place(f"{source.name}, {block.unit} {number}"):
                    values.append(parse_id(record.get(name), name))
    if name not in fields:
        raise unknown_name("field", name, sorted(fields)).at(str(path))
    return values
