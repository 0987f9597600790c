"""Which column of a table is which field of a judgment.

A column is taken for a field if its name is the field's, or one of the field's well-known other
names and the only such column. Lists are one column each, named alike (``left`` and ``right``,
``list_a`` and ``list_b``), or a column per rank (``a1`` ... ``a10``). A user's map comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from dcglearn.base.errors import InputError, did_you_mean, unknown_name
from dcglearn.base.numbers import counted
from dcglearn.judgments.meaning.cells import GivenMap, parse_given_map

Column: TypeAlias = str | tuple[str, ...]
"""The name of a column, or of several: a list's from the first rank down, or one per rater."""

JUDGMENT_FIELDS = ("query", "a", "b", "answer", "weight", "judge")
"""The fields of a judgment, in the order in which they are written."""

SHOWN = ("a_shown_on", "swapped", "left_system", "right_system")
"""Fields that say how the lists of a judgment were shown."""

LONG = ("list", "rank", "grade")
"""Fields of tables with one row per document of a list."""


@dataclass(frozen=True)
class RecordFields:
    """The fields of the records of a kind of file, and which of them every record needs."""

    noun: str
    names: tuple[str, ...]
    required: tuple[str, ...]
    instead: Mapping[str, str] = field(default_factory=dict)
    """Fields that may be there in place of required ones."""


JUDGMENTS = RecordFields(
    "judgment",
    ("a", "b", "answer", "query", "judge", "weight", *SHOWN, *LONG, "pair"),
    ("a", "b", "answer"),
)
JUDGMENTS_OF_DOCUMENTS = RecordFields(
    "judgment",
    ("a", "b", "answer", "query", "judge", "run_a", "run_b", "weight", *SHOWN[:2]),
    ("a", "b", "answer"),
    {"a": "run_a", "b": "run_b"},
)
RATED_LISTS = RecordFields(
    "list", ("query", "grades", "rating", "judge", "weight"), ("grades", "rating")
)
SCORED_DOCUMENTS = RecordFields("document", ("id", "score", "grade"), ("score",))

_PAIRS = (("a", "b"), ("left", "right"), ("1", "2"), ("links", "rechts"), ("gauche", "droite"))
_NOUNS = (
    *("list", "ranking", "results", "result", "serp", "items", "docs", "documents", "liste"),
    *("grades", "grade", "labels", "relevance", "ranks", "rank", "response", "option"),
)
_SIDES = [pair for pair in _PAIRS if pair != ("1", "2")]
for _noun in _NOUNS:
    for _first, _second in _PAIRS:
        _SIDES += [(_noun + _first, _noun + _second), (_first + _noun, _second + _noun)]
_PREFIX = re.compile(r"(?:input|output|answer|assignment)[.:](?=.)", re.IGNORECASE)
"""What Mechanical Turk and Toloka write before the names of columns."""

_MAIN = ("answer", "rating", "score", "grade")
"""Fields of which it must be clear which column they are."""

_RATINGS = ("score", "satisfaction")
"""Names of ratings that are as usual as ``rating``."""

_OTHER_NAMES = {
    "rating": "score satisfaction stars",
    "id": "document documentid docid docno",
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
_DATA = re.compile(r"[\[({]?\s*[0-9][0-9\s,;|.]*[\])}]?")
"""Numbers, where the names of columns belong."""

_EXAMPLE = "a=left,b=right,answer=verdict"


@dataclass(frozen=True)
class ColumnMap:
    """The columns of the fields of records, and a line about each thing that was taken."""

    columns: dict[str, Column]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    fields: RecordFields

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the two lists in the table, which its answers may use."""
        first, second = (self.columns.get(side, side) for side in "ab")
        return _stem(first), _stem(second)

    @property
    def is_long(self) -> bool:
        """Whether each row is a document of a list."""
        return "a" not in self.columns and set(LONG) <= set(self.columns)

    @property
    def used(self) -> set[str]:
        """The columns of all fields."""
        return _used(self.columns)

    def check_same(self, later: ColumnMap) -> None:
        """Refuse another column for a field that already has one; a list may get more ranks."""
        for one, column in self.columns.items():
            other = later.columns.get(one, "another")
            if column != other and not (isinstance(column, tuple) and {*column} <= {*other}):
                names = f"{_name(column)} and {_name(other)}"
                remedy = "say which one is with `columns`"
                raise InputError(f"the columns {names} could both be the {one}", remedy)

    def unknown_words(self) -> str:
        """Return what is said about the unknown columns; empty if there are none."""
        if not self.unknown:
            return ""
        columns = counted(len(self.unknown), "unknown column is", "unknown columns are")
        missing = [one for one in self.fields.names if one not in self.columns]
        guesses = {name: did_you_mean(name, missing).rstrip() for name in self.unknown}
        guess = "".join(f"; {name!r}: {words}" for name, words in guesses.items() if words)
        return f"{columns} ignored: {_listed(self.unknown)}{guess}"

    def check_complete(self) -> None:
        """Refuse columns that lack a field."""
        fields = self.fields
        required = ("query", "answer", *LONG) if self.is_long else fields.required
        has = {*self.columns, *(a for a, b in fields.instead.items() if b in self.columns)}
        missing = [one for one in required if one not in has]
        if not missing:
            return
        shown = " and ".join(f'"{name}"' for name in missing)
        are = "is" if len(missing) == 1 else "are"
        remedy = f"every {fields.noun} needs {', '.join(required)}"
        if set(missing) & set(fields.instead):
            remedy += f", or {' and '.join(fields.instead.values())}"
        if any(map(_DATA.fullmatch, self.unknown)):
            remedy += "; the first line must name the columns"
        elif self.unknown:
            example = ",".join(f"{name}=..." for name in missing)
            remedy += f"; if it is among {_listed(self.unknown, 12)}, say `columns={example!r}`"
            if missing == ["answer"]:
                remedy += "; answers of several raters are joined: `columns='answer=ann+bob'`"
        guess = did_you_mean(missing[0], self.unknown)
        raise InputError(f"{shown} {are} missing among the columns", guess + remedy)


def resolve_columns(
    names: Iterable[str], given: GivenMap | None = None, fields: RecordFields = JUDGMENTS
) -> ColumnMap:
    """Return which column is which field."""
    wanted = parse_given_map(given, "columns", _EXAMPLE)
    ignored = wanted.pop("ignore", None)
    names = [one for one in dict.fromkeys(names) if not ignored or one not in ignored.split("+")]
    columns = _given_columns(names, wanted, fields.names)
    notes: list[str] = []
    has_sides = "a" in fields.names
    if has_sides:
        _add_sides(columns, names)
    long = (*LONG, "pair") if has_sides else ()
    _add_named(columns, names, [one for one in fields.names if one not in ("a", "b", *long)], notes)
    if has_sides and not {"a", "b"} & set(columns):
        rest = dict(columns)
        _add_named(rest, names, long, [])
        columns = rest if set(LONG) <= set(rest) else columns
    if "grades" in fields.names and "grades" not in columns:
        spread = _spread(_free(columns, names))
        found = [stem for stem in ("grades", "grade", "rank") if stem in spread]
        if len(found) == 1:
            columns["grades"] = _ranks(found[0], spread[found[0]])
    usual = {*wanted, *(one for one, name in columns.items() if name in (one, *_RATINGS))}
    taken = [f"{one}={_name(name)}" for one, name in columns.items() if one not in usual]
    if taken:
        notes.insert(0, f"columns taken: {', '.join(taken)}")
    return ColumnMap(columns, tuple(_free(columns, names)), tuple(notes), fields)


def _given_columns(
    names: Sequence[str], given: Mapping[str, str], fields: Sequence[str]
) -> dict[str, Column]:
    """Return the columns that the user names."""
    columns: dict[str, Column] = {}
    for one, column in given.items():
        if one not in fields:
            raise unknown_name("field in `columns`", one, (*fields, "ignore"))
        several = column.split("+") if one == "answer" else [column]
        spread = _spread(names).get(_plain(column), ()) if one in ("a", "b", "grades") else ()
        if column in names:
            columns[one] = column
        elif spread:
            columns[one] = _ranks(column, spread)
        else:
            for name in several:
                if name not in names:
                    raise unknown_name("column in `columns`", name, names)
            columns[one] = tuple(several)
        if list(columns.values()).count(columns[one]) > 1:
            problem = f"`columns` gives {column!r} for two fields"
            raise InputError(problem, "name a column once")
    return columns


def _add_sides(columns: dict[str, Column], names: Sequence[str]) -> None:
    """Find the columns of both lists, which are named alike."""
    free = _free(columns, names)
    columns |= {side: side for side in "ab" if side in free and side not in columns}
    known = {side: _plain(str(columns[side])) for side in "ab" if side in columns}
    if len(known) == 2:
        return
    plain, spread = {_plain(name): name for name in free}, _spread(free)
    found: list[dict[str, Column]] = []
    for pair in _SIDES:
        own = {side: name for side, name in zip("ab", pair, strict=True) if side not in known}
        if not set(known.values()) <= {*pair} - {*own.values()}:
            continue
        if all(name in plain for name in own.values()):
            found.append({side: plain[name] for side, name in own.items()})
        elif all(name in spread for name in own.values()):
            found.append({side: _ranks(name, spread[name]) for side, name in own.items()})
    if len(found) > 1:
        lists = " and ".join("/".join(map(_name, one.values())) for one in found)
        example = ",".join(f"{side}={_name(one)}" for side, one in found[0].items())
        problem = f"the columns {lists} could be the lists"
        raise InputError(problem, f"say which are: `columns={example!r}`")
    for one in found:
        columns |= one


def _add_named(
    columns: dict[str, Column], names: Sequence[str], fields: Iterable[str], notes: list[str]
) -> None:
    """Take the column that has the name of a field, or the only one with another name of it."""
    for one in fields:
        found = [name for name in _free(columns, names) if _plain(name) in _names_of(one)]
        if one in found and one != "rating":
            found = [one]
        if one in columns or not found:
            continue
        if len(found) == 1:
            columns[one] = found[0]
        elif one in _MAIN:
            raise InputError(
                f"the columns {' and '.join(map(repr, found))} could both be the {one}",
                f"say which one is: `columns={f'{one}={found[0]}'!r}`",
            )
        else:
            both = " and ".join(found)
            notes.append(f"the columns {both} could both be the {one}, and none is taken")


def _names_of(field: str) -> tuple[str, ...]:
    """Return the plain names of a field."""
    return (field.replace("_", ""), *_OTHER_NAMES.get(field, "").split())


def _spread(names: Iterable[str]) -> dict[str, list[tuple[int, str]]]:
    """Return numbered columns by the plain name before the number."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        match = re.fullmatch(r"(.*\D)([0-9]{1,5})[\])}]?", name)
        if match:
            found.setdefault(_plain(match[1]), []).append((int(match[2]), name))
    return found


def _ranks(stem: str, columns: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """Return the columns of a list from the first rank down."""
    numbers, names = zip(*sorted(columns), strict=True)
    if list(numbers) != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
        raise InputError(
            f"the columns {_listed(names)} are numbered {', '.join(map(str, numbers))}",
            f"number the ranks of {stem} from 1, each once",
        )
    return tuple(names)


def _used(columns: Mapping[str, Column]) -> set[str]:
    return {name for one in columns.values() for name in ((one,) if isinstance(one, str) else one)}


def _free(columns: Mapping[str, Column], names: Sequence[str]) -> list[str]:
    used = _used(columns)
    return [name for name in names if name not in used]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", _PREFIX.sub("", name, count=1).casefold())


def _stem(column: Column) -> str:
    return column if isinstance(column, str) else re.sub(r"[\W_]*[0-9]+\W?$", "", column[0])


def _name(column: Column) -> str:
    return column if isinstance(column, str) else f"{column[0]}...{column[-1]}"


def _listed(names: Sequence[object], most: int = 6) -> str:
    more = ", ..." if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
