"""Which column of a table is which field of a judgment.

A column is taken for a field if it has the field's name, or is the only one with another name of
it. Lists are one column each, named alike, or a column per rank. A user's map comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dcglearn.base.errors import InputError, check_name, unknown_name
from dcglearn.base.numbers import counted
from dcglearn.judgments.options import GivenMap, listed, parse_given_map

Column: TypeAlias = str | tuple[str, ...]
"""The name of a column, or of several: a list's from the first rank down, or one per rater."""

Sides: TypeAlias = tuple[str, str]
"""The names of the two lists in the table."""

SHOWN = ("a_shown_on", "swapped", "left_system", "right_system")
"""Fields that say how the lists of a judgment were shown."""

OF_A_PAGE = ("turn", "reversed", "seconds", "shown_at", "comment")
"""What pages for judges write beside the fields of a judgment."""

LONG = ("list", "rank", "grade")
"""Fields of tables with one row per document of a list."""


@dataclass(frozen=True)
class RecordFields:
    """The fields of the records of a kind of file, and which of them every record needs."""

    noun: str
    names: tuple[str, ...]
    required: tuple[str, ...]


JUDGMENTS = RecordFields(
    "judgment",
    ("a", "b", "answer", "query", "judge", "weight", *SHOWN, *LONG, "pair", "question"),
    ("a", "b", "answer"),
)
JUDGMENTS_OF_DOCUMENTS = RecordFields(
    "judgment",
    ("a", "b", "answer", "query", "judge", "run_a", "run_b", "weight", *SHOWN[:2]),
    ("a or run_a", "b or run_b", "answer"),
)
RATED_LISTS = RecordFields(
    "list", ("grades", "rating", "query", "judge", "weight"), ("grades", "rating")
)

_PAIRS = (("a", "b"), ("left", "right"), ("1", "2"), ("links", "rechts"), ("gauche", "droite"))
_NOUNS = (
    "list",
    "ranking",
    "results",
    "result",
    "serp",
    "items",
    "docs",
    "documents",
    "liste",
    "grades",
    "grade",
    "labels",
    "relevance",
    "ranks",
    "rank",
    "response",
    "option",
)
_SIDES = [pair for pair in _PAIRS if pair != ("1", "2")]
for _noun in _NOUNS:
    for _first, _second in _PAIRS:
        _SIDES += [(_noun + _first, _noun + _second), (_first + _noun, _second + _noun)]
_PREFIX = re.compile(r"(?:input|output|answer|assignment)[.:](?=.)", re.IGNORECASE)
"""What Mechanical Turk and Toloka write before the names of columns."""

OTHER_NAMES = {
    "rating": "score satisfaction stars",
    "id": "document documentid docid docno",
    "text": "snippet body",
    "url": "link",
    "pair": "pairid judgmentid judgementid comparisonid taskid",
    "list": "side listid shownlist",
    "rank": "position pos",
    "grade": "grades relevance label rel",
    "grades": "gradelist labels relevances",
    "answer": "pref preference preferred preferredlist preferredside label choice verdict judgment "
    "judgement winner vote decision comparison result whichisbetter whichlistisbetter "
    "whichresultlistisbetter urteil préférence",
    "query": "queryid qid topic topicid querytext searchquery questionid prompt suchanfrage "
    "requête",
    "judge": "judgeid rater raterid assessor assessorid annotator annotatorid user userid worker "
    "workerid evaluator evaluatorid participant participantid",
    "run_a": "modela systema leftrun leftmodel leftsystem runleft model1 system1 run1",
    "run_b": "modelb systemb rightrun rightmodel rightsystem runright model2 system2 run2",
    "weight": "weights judgmentweight judgementweight gewicht poids",
    "a_shown_on": "shownona ashownat ashown aside sideofa positionofa aposition",
    "swapped": "isswapped swap sidesswapped flipped isflipped flip",
    "left_system": "systemleft leftmodel modelleft leftengine engineleft leftrun runleft",
    "right_system": "systemright rightmodel modelright rightengine engineright rightrun runright",
}


@dataclass(frozen=True)
class ColumnMap:
    """The columns of the fields of records, and a line about each thing that was taken."""

    columns: dict[str, Column]
    unknown: list[str]
    notes: list[str]

    @property
    def sides(self) -> Sides:
        """The names of the two lists in the table, which its answers may use."""
        first, second = (_stem(self.columns.get(side, side)) for side in "ab")
        return first, second

    @property
    def is_long(self) -> bool:
        """Whether each row is a document of a list."""
        return "a" not in self.columns and set(LONG) <= set(self.columns)

    @property
    def used(self) -> set[str]:
        """The columns of all fields."""
        return set().union(*map(_parts, self.columns.values()))

    def check_same(self, later: ColumnMap) -> None:
        """Refuse another column for a field that already has one; a list may get more ranks."""
        for one, column in self.columns.items():
            other = later.columns.get(one, "another")
            if not _parts(column) <= _parts(other):
                names = f"{_name(column)} and {_name(other)}"
                remedy = "say which one is with `columns`"
                raise InputError(f"the columns {names} could both be the {one}", remedy)

    def check_complete(self, fields: RecordFields) -> None:
        """Refuse columns that lack a field."""
        required = ("query", "answer", *LONG) if self.is_long else fields.required
        missing = [one for one in required if not {*one.split(" or ")} & {*self.columns}]
        if not missing:
            return
        shown = " and ".join(f'"{name}"' for name in missing)
        remedy = f"every {fields.noun} needs {', '.join(required)}"
        if self.unknown:
            example = ",".join(f"{name.split()[-1]}=..." for name in missing)
            known = listed([*map(repr, self.unknown)], 12)
            remedy += f"; if among {known}, as the first line says, use `columns={example!r}`"
        if missing == ["answer"]:
            remedy += "; answers of several raters are joined: `columns='answer=ann+bob'`"
        are = "columns {} are" if len(missing) > 1 else "column {} is"
        raise InputError(f"the {are.format(shown)} missing", remedy)


def resolve_columns(
    names: Iterable[str],
    given: GivenMap | None = None,
    fields: RecordFields = JUDGMENTS,
    known: Iterable[str] = (),
    strict: bool = False,
) -> ColumnMap:
    """Return which column is which field; unknown ones are noted, or refused if `strict`."""
    wanted = parse_given_map(given, "columns", "a=left,b=right,answer=verdict")
    ignored = wanted.pop("ignore", "").split("+")
    finder = _Finder([name for name in names if name not in ignored])
    for field, column in wanted.items():
        check_name(field, "field in `columns`", (*fields.names, "ignore"))
        finder.take_given(field, column)
    long = (*LONG, "pair") if "list" in fields.names else ()
    if "a" in fields.names:
        finder.take_sides()
    finder.take_named([one for one in fields.names if one not in ("a", "b", *long)])
    if not {"a", "b"} & {*finder.columns}:
        finder.take_named(long)
    known = {*known, *(OF_A_PAGE if OF_A_PAGE[0] in finder.free else ())}
    unknown = [name for name in finder.free if isinstance(name, str) and name not in known]
    if unknown and strict:
        raise unknown_name("column", unknown[0], fields.names)
    taken = [
        f"{one}={_name(name)}"
        for one, name in finder.columns.items()
        if one not in wanted and name not in (one, "score", "satisfaction")
    ]
    notes = [f"columns taken: {', '.join(taken)}"] if taken else []
    if unknown:
        columns = counted(len(unknown), "unknown column is", "unknown columns are")
        notes.append(f"{columns} ignored: {listed([*map(repr, unknown)], 6)}")
    return ColumnMap(finder.columns, unknown, notes)


class _Finder:
    """Takes columns for fields; `free` are those that are left, with their plain names.

    Numbered columns, such as those of ranks, are one column, too, with the name before the number.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.columns: dict[str, Column] = {}
        self.free: dict[Column, str] = {}
        numbered = dict[str, dict[int, str]]()
        for name in names:
            if match := re.fullmatch(r"(.*\D)([0-9]{1,5})[\])}]?", name):
                numbered.setdefault(plain_name(match[1]), {})[int(match[2])] = name
        for stem, ranks in numbered.items():
            if max(ranks) - min(ranks) == len(ranks) - 1 and min(ranks) < 2:
                self.free[tuple(ranks[rank] for rank in sorted(ranks))] = stem
        self.free |= {name: plain_name(name) for name in names}

    def _take(self, field: str, column: Column) -> None:
        self.columns[field] = column
        parts = _parts(column)
        self.free = {one: plain for one, plain in self.free.items() if not parts & _parts(one)}

    def take_given(self, field: str, name: str) -> None:
        """Take the column that a user names."""
        column: Column = name
        if name not in self.free and field == "answer":
            column = tuple(name.split("+"))
        elif name not in self.free and field in ("a", "b", "grades"):
            stem = plain_name(name)
            column = next((one for one, plain in self.free.items() if plain == stem), name)
        for one in _parts(column) - {*self.free}:
            names = [one for one in self.free if isinstance(one, str)]
            argument = "rating" if field == "rating" else "columns"
            raise unknown_name(f"column in `{argument}`", one, names)
        self._take(field, column)

    def take_sides(self) -> None:
        """Find the columns of both lists, which are named alike."""
        for side in "ab":
            if side in self.free and side not in self.columns:
                self._take(side, side)
        if {"a", "b"} & {*self.columns}:
            return
        plain = {plain: column for column, plain in self.free.items()}
        found = [[plain[one] for one in pair] for pair in _SIDES if {*pair} <= {*plain}]
        if len(found) > 1:
            lists = " and ".join("/".join(map(_name, pair)) for pair in found)
            example = "a={},b={}".format(*map(_name, found[0]))
            raise InputError(
                f"the columns {lists} could be the lists", f"say which are: `columns={example!r}`"
            )
        for a, b in found:
            self._take("a", a)
            self._take("b", b)

    def take_named(self, fields: Iterable[str]) -> None:
        """Take the column that has the name of a field, or the only one with another name."""
        for one in fields:
            names = (one.replace("_", ""), *OTHER_NAMES.get(one, "").split())
            ranks = ("grades", "grade", "rank") if one == "grades" else ()
            found = [
                column
                for column, plain in self.free.items()
                if plain in (names if isinstance(column, str) else ranks)
            ]
            if one in found and one != "rating":
                found = [one]
            if one == "answer":
                found += [
                    column
                    for column, plain in self.free.items()
                    if isinstance(column, str) and re.sub("[0-9]+$", "", plain) in names
                    if plain not in names
                ]
            if one in self.columns or not found:
                continue
            if len(found) > 1:
                both = " and ".join(repr(_name(column)) for column in found)
                remedy = f"say which one is: `columns='{one}={_name(found[0])}'`"
                if one == "answer":
                    every = "+".join(map(_name, found))
                    remedy += f", or `columns='answer={every}'` if they are of several raters"
                raise InputError(f"the columns {both} could both be the {one}", remedy)
            self._take(one, found[0])


def plain_name(name: str) -> str:
    """Return a name without capitals and what is between its words."""
    return re.sub(r"[\W_]+", "", _PREFIX.sub("", name, count=1).casefold())


def _parts(column: Column) -> set[str]:
    return {column} if isinstance(column, str) else {*column}


def _stem(column: Column) -> str:
    return column if isinstance(column, str) else re.sub(r"[\W_]*[0-9]+\W?$", "", column[0])


def _name(column: Column) -> str:
    return column if isinstance(column, str) else f"{column[0]}...{column[-1]}"
