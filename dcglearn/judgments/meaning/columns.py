"""Which column of a table is which field of a judgment.

A column is taken for a field if its name is the field's, or one of the field's well-known other
names and the only such column. Lists are one column each, named alike (``left`` and ``right``,
``list_a`` and ``list_b``), or a column per rank (``a1`` ... ``a10``). A user's map comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    "judgment", (*JUDGMENT_FIELDS, *SHOWN, *LONG, "pair"), ("a", "b", "answer")
)
JUDGMENTS_OF_DOCUMENTS = RecordFields(
    "judgment",
    (*JUDGMENT_FIELDS, *SHOWN[:2], "run_a", "run_b"),
    ("a", "b", "answer"),
    {"a": "run_a", "b": "run_b"},
)
RATED_LISTS = RecordFields(
    "list", ("query", "grades", "rating", "judge", "weight"), ("grades", "rating")
)
SCORED_DOCUMENTS = RecordFields("document", ("id", "score", "grade"), ("score",))

_PAIRS = (("a", "b"), ("left", "right"), ("1", "2"), ("links", "rechts"), ("gauche", "droite"))
_NOUNS = [
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
]
_PREFIX = re.compile(r"(?:input|output|answer|assignment)[.:](?=.)", re.IGNORECASE)
"""What Mechanical Turk and Toloka write before the names of columns."""

_MAIN = ("answer", "rating", "score", "grade")
"""Fields of which it must be clear which column they are."""

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
            more = isinstance(column, tuple) and set(column) <= set(other)
            if column != other and not more:
                names = [held if isinstance(held, str) else held[0] for held in (column, other)]
                raise InputError(
                    f"the columns {' and '.join(names)} could both be the {one}",
                    f"say which one is: `columns={f'{one}={names[0]}'!r}`",
                )

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
        required = ["query", "answer", *LONG] if self.is_long else fields.required
        missing = [
            one
            for one in required
            if one not in self.columns and fields.instead.get(one) not in self.columns
        ]
        if not missing:
            return
        *most, last = (f'"{name}"' for name in missing)
        shown = f"columns {', '.join(most)} and {last} are" if most else f"column {last} is"
        remedy = f"every {fields.noun} needs {', '.join(required)}"
        if set(missing) & set(fields.instead):
            remedy += f", or {' and '.join(fields.instead.values())}"
        guess = did_you_mean(missing[0], self.unknown)
        raise InputError(f"the {shown} missing", guess + remedy + self._left_over(missing))

    def _left_over(self, missing: Sequence[str]) -> str:
        """Say which columns are left, and how to say that they are the missing ones."""
        if any(map(_DATA.fullmatch, self.unknown)):
            return "; the first line must name the columns"
        if not self.unknown:
            return ""
        alone = len(self.unknown) == len(missing) == 1
        example = ",".join(f"{name}={self.unknown[0] if alone else '...'}" for name in missing)
        if alone:
            return f"; if {self.unknown[0]!r} holds it, say `columns={example!r}`"
        which = "it is" if len(missing) == 1 else "they are"
        words = f"; if {which} among {_listed(self.unknown, 12)}, say `columns={example!r}`"
        if missing == ["answer"]:
            words += "; answers of several raters are joined: `columns='answer=ann+bob'`"
        return words


def resolve_columns(
    names: Iterable[str], given: GivenMap | None = None, fields: RecordFields = JUDGMENTS
) -> ColumnMap:
    """Return which column is which field."""
    names = list(dict.fromkeys(names))
    wanted = parse_given_map(given, "columns", _EXAMPLE)
    ignored = wanted.pop("ignore", None)
    names = [name for name in names if ignored is None or name not in ignored.split("+")]
    columns = _given_columns(names, wanted, fields.names)
    known = set(columns)
    lists = {"a", "b"} <= set(fields.names)
    first = [one for one in fields.names if not (lists and one in (*LONG, "pair"))]
    for name in first:
        if name not in columns and name in names and name not in _used(columns) | {"rating"}:
            columns[name] = name
            known.add(name)
    notes: list[str] = []
    if lists:
        _add_sides(columns, names)
    _add_other_names(columns, names, first, notes, known)
    if lists and not {"a", "b"} & set(columns):
        rest = {**columns}
        for name in (*LONG, "pair"):
            if name in names and name not in _used(rest):
                rest[name] = name
        _add_other_names(rest, names, (*LONG, "pair"), [], known)
        columns = rest if set(LONG) <= set(rest) else columns
    if "answer" in first and "answer" not in wanted:
        _check_raters(columns, names)
    if "grades" in fields.names and "grades" not in columns:
        _add_list(columns, names)
    taken = [f"{one}={_name(name)}" for one, name in columns.items() if one not in known | {name}]
    if taken:
        notes.insert(0, f"columns taken: {', '.join(taken)}")
    unknown = tuple(name for name in names if name not in _used(columns))
    return ColumnMap(columns, unknown, tuple(notes), fields)


def _add_other_names(
    columns: dict[str, Column],
    names: Sequence[str],
    fields: Sequence[str],
    notes: list[str],
    known: set[str],
) -> None:
    """Take columns that have another name of a field; refuse several of a main one."""
    for one in (one for one in _OTHER_NAMES if one in fields and one not in columns):
        plain = (one.replace("_", ""), *_OTHER_NAMES[one].split())
        found = [name for name in names if name not in _used(columns) and _plain(name) in plain]
        if len(found) > 1 and one in _MAIN:
            raise InputError(
                f"the columns {' and '.join(map(repr, found))} could both be the {one}",
                f"say which one is: `columns={f'{one}={found[0]}'!r}`",
            )
        if len(found) == 1:
            columns[one] = found[0]
            known |= {one} if found[0] in ("rating", "score", "satisfaction") else set()
        elif found:
            both = " and ".join(found)
            notes.append(f"the columns {both} could both be the {one}, and none is taken")


def _check_raters(columns: Mapping[str, Column], names: Sequence[str]) -> None:
    """Refuse numbered columns of answers, of which only one would be used."""
    answers = ("answer", *_OTHER_NAMES["answer"].split())
    spread = _spread([name for name in names if name not in _used(columns)])
    numbered = [name for stem, found in spread.items() if stem in answers for _, name in found]
    if numbered:
        first = columns.get("answer")
        every = [first, *numbered] if isinstance(first, str) else numbered
        joined = "+".join(map(str, every))
        raise InputError(
            f"the columns {_listed([str(one) for one in every])} may be answers of several raters",
            f"say `columns='answer={joined}'` if they are, and `columns='answer={every[0]}'` if "
            "only that one counts",
        )


def _add_list(columns: dict[str, Column], names: Sequence[str]) -> None:
    """Find the columns of the ranks of a single list."""
    spread = _spread([name for name in names if name not in _used(columns)])
    found = [name for name in ("grades", "grade", "rank") if name in spread]
    if len(found) == 1:
        columns["grades"] = _ranks(found[0], spread[found[0]])


def _given_columns(
    names: Sequence[str], given: Mapping[str, str], fields: Sequence[str]
) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for one, column in given.items():
        if one not in fields:
            raise unknown_name("field in `columns`", one, (*fields, "ignore"))
        several = column.split("+") if one == "answer" else []
        spread = _spread(names).get(_plain(column), ()) if one in ("a", "b", "grades") else ()
        if column in names:
            columns[one] = column
        elif len(several) > 1 and set(several) <= set(names):
            columns[one] = tuple(several)
        elif spread:
            columns[one] = _ranks(column, spread)
        else:
            wrong = next((name for name in several if name not in names), column)
            raise unknown_name("column in `columns`", wrong, names)
        if list(columns.values()).count(columns[one]) > 1:
            other = next(name for name, held in columns.items() if held == columns[one])
            problem = f"`columns` gives {column!r} for {other} and {one}"
            raise InputError(problem, "name a column once")
    return columns


def _add_sides(columns: dict[str, Column], names: Sequence[str]) -> None:
    """Find the columns of both lists, which are named alike."""
    if {"a", "b"} <= set(columns):
        return
    free = {_plain(name): name for name in names if name not in _used(columns)}
    spread = _spread([name for name in names if name not in _used(columns)])
    given = {side: _plain(str(columns[side])) for side in "ab" if side in columns}
    found: list[dict[str, Column]] = []
    for pair in _side_names():
        own = dict(zip("ab", pair, strict=True))
        wanted = [side for side in "ab" if side not in given]
        if any(own[side] != name for side, name in given.items()):
            continue
        if all(own[side] in free for side in wanted):
            found.append({side: free[own[side]] for side in wanted})
        elif all(own[side] in spread for side in wanted):
            found.append({side: _ranks(own[side], spread[own[side]]) for side in wanted})
    if len(found) > 1:
        lists = " and ".join("/".join(map(_name, one.values())) for one in found)
        example = ",".join(f"{side}={_name(one)}" for side, one in found[0].items())
        problem = f"the columns {lists} could be the lists"
        raise InputError(problem, f"say which are: `columns={example!r}`")
    for one in found:
        columns |= one


def _side_names() -> Iterator[tuple[str, str]]:
    """Yield the plain names of the columns of a and of b that belong together."""
    yield from (pair for pair in _PAIRS if pair != ("1", "2"))
    for noun in _NOUNS:
        for first, second in _PAIRS:
            yield noun + first, noun + second
            yield first + noun, second + noun


def _spread(names: Iterable[str]) -> dict[str, list[tuple[int, str]]]:
    """Return numbered columns by the plain name before the number."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        match = re.fullmatch(r"(.*\D)([0-9]{1,5})[\])]?", name)
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


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", _PREFIX.sub("", name, count=1).casefold())


def _stem(column: Column) -> str:
    return column if isinstance(column, str) else re.sub(r"[\W_]*[0-9]+\W?$", "", column[0])


def _name(column: Column) -> str:
    return column if isinstance(column, str) else f"{column[0]}...{column[-1]}"


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = ", ..." if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
