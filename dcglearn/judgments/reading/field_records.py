"""Records of files and frames under the names of their fields, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.tables.old.sources import Source
from dcglearn.judgments.judgment_frames import FrameLike, columns_of_frame, plain_cell
from dcglearn.judgments.meaning.given_maps import GivenMap
from dcglearn.judgments.reading.blocks import RecordBlock
from dcglearn.judgments.reading.field_columns import FieldColumns, RecordFields
from dcglearn.judgments.reading.record_formats import PlacedRecord, read_blocks


def read_field_records(
    sources: Iterable[Source],
    fields: RecordFields,
    columns: GivenMap | None,
    strict: bool,
    ignored: IgnoredInput | None,
    note: Callable[[str], None],
) -> Iterator[PlacedRecord]:
    """Read the records of files one by one.

    Parameters
    ----------
    sources : iterable of Source
    fields : RecordFields
    columns : mapping or str, or None
        From fields to columns, as for :func:`dcglearn.judgments.meaning.column_names.resolve_columns`.
    strict : bool
        Whether unknown columns are refused. Otherwise a note names them.
    ignored : IgnoredInput or None
        As for :func:`dcglearn.judgments.reading.record_formats.read_blocks`.
    note : callable
        Called at the end with a line about each thing that was taken without being told.

    Yields
    ------
    place : str
        Such as ``ratings.csv, line 17``.
    record : dict
        By the names of fields.

    Raises
    ------
    InputError
        Naming the file and the line or row.
    """
    notes: dict[str, None] = {}
    for source in sources:
        found = FieldColumns(source.name, columns, strict, source.partition, fields)
        for block in read_blocks(source, found.choose, ignored):
            for number, record in found.records(block):
                yield f"{source.name}, {block.unit} {number}", record
        words = found.map.unknown_words()
        notes.update(dict.fromkeys((*source.notes, *found.map.notes, *([words] if words else []))))
    for line in notes:
        note(line)


def records_of_frame(
    frame: FrameLike,
    fields: RecordFields,
    columns: GivenMap | None,
    strict: bool,
    note: Callable[[str], None],
) -> Iterator[PlacedRecord]:
    """Iterate over the rows of a frame.

    Parameters
    ----------
    frame : frame or mapping
        As for :func:`dcglearn.judgments.judgment_frames.columns_of_frame`.
    fields, columns, strict, note
        As for :func:`read_field_records`.

    Yields
    ------
    place : str
        Such as ``row 1``, the first.
    record : dict
        By the names of fields.

    Raises
    ------
    InputError
        Naming the row.
    """
    held = columns_of_frame(frame)

    def read() -> Iterator[tuple[int, dict[str, Any]]]:
        for row, cells in enumerate(zip(*held.values(), strict=True), start=1):
            yield row, dict(zip(held, map(plain_cell, cells), strict=True))

    found = FieldColumns("", columns, strict, (), fields)
    found.find(held)
    found.check_complete()
    for number, record in found.records(RecordBlock(None, range(0), "row", read)):
        yield f"row {number}", record
    words = found.map.unknown_words()
    for line in (*found.map.notes, *([words] if words else [])):
        note(line)
