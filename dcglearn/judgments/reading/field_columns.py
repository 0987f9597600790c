"""Which columns of a file are the fields of its judgments, as its columns become known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.judgments.meaning.column_names import Column, ColumnMap, resolve_columns
from dcglearn.judgments.meaning.given_maps import GivenMap
from dcglearn.judgments.meaning.judgment_fields import REQUIRED_FIELDS
from dcglearn.judgments.meaning.list_cells import parse_list_text
from dcglearn.judgments.meaning.number_cells import parse_cell, with_point
from dcglearn.judgments.reading.blocks import FieldKind, FieldKinds, NumberedRecord, RecordBlock

RUN_FIELDS = ("run_a", "run_b")


@dataclass(frozen=True)
class RecordFields:
    """The fields of the records of a kind of file.

    Attributes
    ----------
    noun : str
        What a record is, for messages.
    kinds : mapping of str to str
        What each field holds.
    required : tuple of str
        The fields that every record has.
    instead : mapping of str to str
        Other fields that may be there in place of these.
    """

    noun: str
    kinds: FieldKinds
    required: tuple[str, ...]
    instead: Mapping[str, str] = field(default_factory=dict)


JUDGMENTS = RecordFields(
    "judgment",
    {
        "query": "id",
        "a": "labels",
        "b": "labels",
        "answer": "answer",
        "weight": "number",
        "judge": "id",
    },
    REQUIRED_FIELDS,
)
JUDGMENTS_OF_DOCUMENTS = RecordFields(
    "judgment",
    {**JUDGMENTS.kinds, **dict.fromkeys(RUN_FIELDS, "id")},
    REQUIRED_FIELDS,
    dict(zip("ab", RUN_FIELDS, strict=True)),
)
"""Judgments may name runs in place of lists."""


class FieldColumns:
    """Finds the columns of a file that are the fields of its records.

    Parameters
    ----------
    path : str
        For messages.
    given : mapping or str, optional
        From fields to columns, as for :func:`dcglearn.judgments.meaning.column_names.resolve_columns`.
    strict : bool, default False
        Whether unknown columns are refused.
    other_fields : collection of str, optional
        Columns that are accepted, and not part of the record.
    fields : RecordFields, optional
        By default those of judgments.
    empty_answers : bool, default False
        Whether an answer that is not there has a meaning.
    """

    def __init__(
        self,
        path: str,
        given: GivenMap | None = None,
        strict: bool = False,
        other_fields: Collection[str] = (),
        fields: RecordFields = JUDGMENTS,
        empty_answers: bool = False,
    ) -> None:
        self._path, self._given, self._other = path, given, other_fields
        self._strict, self.empty_answers = strict, empty_answers
        self._fields = fields
        self._names: dict[str, None] = {}
        self.map = ColumnMap({}, ())

    @property
    def allows_unknown(self) -> bool:
        """Whether columns that are no field are ignored."""
        return not self._strict

    def find(self, more: Iterable[str]) -> ColumnMap:
        """Return the columns of the fields, given more names of columns.

        Parameters
        ----------
        more : iterable of str

        Returns
        -------
        ColumnMap

        Raises
        ------
        InputError
            If several columns could be one field.
        """
        new = [name for name in more if name not in self._names]
        if not new:
            return self.map
        names = self._names | dict.fromkeys(new)
        try:
            found = resolve_columns(names, self._given, tuple(self._fields.kinds))
            for field, column in self.map.columns.items():
                _check_same(field, column, found.columns.get(field))
        except InputError as error:
            raise error.at(self._path) from error
        unknown = tuple(name for name in found.unknown if name not in self._other)
        self._names, self.map = names, replace(found, unknown=unknown)
        return self.map

    def find_in_block(self, block: RecordBlock) -> ColumnMap | None:
        """Return the columns of the fields in a block, None if the order of its records decides.

        Which columns are known when a record is read must not depend on where a block begins. So
        those of the first record come first, and others may follow at once only if none of them
        would make a difference.

        Parameters
        ----------
        block : RecordBlock
            With columns.

        Returns
        -------
        ColumnMap or None

        Raises
        ------
        InputError
            As :meth:`find`, or if the first record cannot be read.
        """
        columns = block.columns or {}
        if not all(name in self._names for name in columns):
            self.find(next(block.read())[1])
        new = [name for name in columns if name not in self._names]
        taken = self.map.columns
        if new and not set(REQUIRED_FIELDS) <= set(taken):
            return None
        for name in new:
            alone = resolve_columns((*self._names, name), self._given, tuple(self._fields.kinds))
            if alone.columns != taken:
                return None
        return self.find(new)

    def check_complete(self) -> None:
        """Refuse columns of which none can be a list or the answer; all are known.

        Raises
        ------
        InputError
            Naming the field.
        """
        try:
            self._check_complete(self.map, {})
        except InputError as error:
            raise error.at(self._path) from error

    def choose(self, names: Sequence[str]) -> FieldKinds:
        """Return what the columns that are fields hold.

        Parameters
        ----------
        names : sequence of str
            All columns.

        Returns
        -------
        mapping of str to str

        Raises
        ------
        InputError
            If a field has no column.
        """
        kinds: dict[str, FieldKind] = {}
        self.find(names)
        if names:
            self.check_complete()
        for name, column in self.map.columns.items():
            ranks = not isinstance(column, str)
            kind = "label" if ranks else self._fields.kinds[name]
            kinds.update(dict.fromkeys(column if ranks else [str(column)], kind))
        return kinds

    def records(self, block: RecordBlock) -> Iterator[NumberedRecord]:
        """Iterate over the fields of the records of a block, read one by one.

        Parameters
        ----------
        block : RecordBlock

        Yields
        ------
        number : int
        fields : dict
            By the names of fields; lists as lists.

        Raises
        ------
        InputError
            Naming the place: a record cannot be read, or holds an unknown field.
        """
        for number, record in block.read():
            found = self.find(record)
            if block.textual:
                self.check_complete()
            try:
                self._check_complete(found, record, self.empty_answers)
                self._check_known(found, record)
                fields = {
                    field: _value(self._fields.kinds[field], column, record, block.textual)
                    for field, column in found.columns.items()
                    if not isinstance(column, str) or column in record
                }
            except InputError as error:
                place = f"{self._path}, {block.unit} {number}".removeprefix(", ")
                raise error.at(place) from error
            if self.empty_answers:
                fields.setdefault("answer", "")
            yield number, fields

    def _check_complete(
        self, found: ColumnMap, record: dict[str, Any], may_lack_answer: bool = False
    ) -> None:
        fields = self._fields
        required = [one for one in fields.required if fields.instead.get(one) not in found.columns]
        if may_lack_answer:
            required = [one for one in required if one != "answer"]
        try:
            found.check_complete(required, fields.noun)
        except InputError as error:
            nested = [name for name in found.unknown if _holds_objects(record.get(name))]
            if nested:
                held = f"{' and '.join(map(repr, nested))} hold{'s' * (len(nested) == 1)} objects"
                remedy = f"{held}; write one record per {fields.noun}, without objects"
            elif any(one in fields.instead for one in required if one not in found.columns):
                names = " and ".join(fields.instead.values())
                remedy = f"{error.remedy}; the fields of judgments of runs are {names}"
            else:
                raise
            raise InputError(error.problem, remedy) from error

    def _check_known(self, found: ColumnMap, record: dict[str, Any]) -> None:
        if self._strict:
            for name in record:
                if name in found.unknown:
                    raise unknown_name("field", name, self._fields.kinds)


def _holds_objects(value: object) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict)


def _check_same(field: str, column: Column, later: Column | None) -> None:
    """Refuse another column for a field; a list may get more ranks."""
    if isinstance(column, tuple) and isinstance(later, tuple) and set(column) <= set(later):
        return
    if column != later:
        both = (column, later or "a later one")
        names = [one if isinstance(one, str) else one[0] for one in both]
        raise InputError(
            f"the columns {' and '.join(names)} could both be the {field}",
            f"say which one is: `columns={f'{field}={column}'!r}`",
        )


def _value(kind: FieldKind, column: Column, record: dict[str, Any], textual: bool) -> Any:
    """Return the value of a field."""
    if not isinstance(column, str):
        known = any(name in record for name in column)
        ranks = [record.get(name) for name in column] if known else []
        if textual:
            return [None if one in (None, "", "-") else with_point(str(one)) for one in ranks]
        return ranks
    value = record[column]
    if kind == "labels" and isinstance(value, str):
        return parse_list_text(value)
    if kind == "number" and value and isinstance(value, str):
        number = parse_cell(value)
        return value if number != number else number
    if kind == "answer":
        return "" if value is None else value
    return None if textual and value == "" else value
