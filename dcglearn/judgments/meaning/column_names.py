"""Which column of a table is which field of a judgment.

A column that has the name of a field is that field, and what the user says goes before that. A
field that is still without a column takes one of a well-known other name (``left`` and ``right``,
``query_id``, ``preference``) if exactly one is there; blanks, underscores and capitals in names do
not count. A list may also be spread over numbered columns, one per rank (``a1`` ... ``a10``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dcglearn.base.errors import InputError, did_you_mean, unknown_name
from dcglearn.base.numbers import counted
from dcglearn.judgments.meaning.given_maps import GivenMap, parse_given_map
from dcglearn.judgments.meaning.judgment_fields import JUDGMENT_FIELDS, REQUIRED_FIELDS

Column: TypeAlias = str | tuple[str, ...]
"""The name of a column, or the names of a list's columns from the first rank down."""

_SIDES = (("a", "b"), ("left", "right"), ("1", "2"), ("links", "rechts"), ("gauche", "droite"))
_LISTS = ("list", "ranking", "results", "result", "serp", "items", "docs", "documents", "liste")
_NOUNS = (*_LISTS, "grades", "grade", "labels", "relevance", "ranks", "rank", "response", "option")
_PREFIX = re.compile(r"(?:input|output|answer|assignment)[.:](?=.)", re.IGNORECASE)
"""What Mechanical Turk and Toloka write before the names of columns."""
_LIST = "grades"
"""The field of a single list."""

_LIST_NAMES = (_LIST, "grade", "rank")
_MAIN = ("answer", "rating", "score", "grade")
"""Fields of which it must be clear which column they are."""

_SHARED = ("rating",)
"""Fields that have several names, none of which goes before the others."""

_KNOWN = ("rating", "score", "satisfaction")
"""These names."""

_OTHER_NAMES = {
    "rating": "score satisfaction stars",
    "id": "document documentid docid docno",
    "grade": "grades relevance label rel",
    _LIST: "gradelist labels relevances",
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
}
_DATA = re.compile(r"[\[({]?\s*[0-9][0-9\s,;|.]*[\])}]?")
"""Numbers, where the names of columns belong."""

_EXAMPLE = "a=left,b=right,answer=verdict"


@dataclass(frozen=True)
class ColumnMap:
    """The columns of the fields of judgments.

    Attributes
    ----------
    columns : dict
        From a field to its column, or to the columns of its ranks.
    unknown : tuple of str
        The columns that are none of them.
    notes : tuple of str
        What was taken without being told, for the user to read; one line each.
    fields : sequence of str
        The fields that were looked for.
    """

    columns: dict[str, Column]
    unknown: tuple[str, ...]
    notes: tuple[str, ...] = ()
    fields: Sequence[str] = JUDGMENT_FIELDS

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the two lists in the table, which its answers may use."""
        first, second = (self.columns.get(side, side) for side in "ab")
        return _stem(first), _stem(second)

    @property
    def weighted(self) -> bool:
        """Whether judgments have weights of their own."""
        return "weight" in self.columns

    def unknown_words(self) -> str:
        """Return what is said about the unknown columns; empty if there are none."""
        if not self.unknown:
            return ""
        columns = counted(len(self.unknown), "unknown column is", "unknown columns are")
        missing = [field for field in self.fields if field not in self.columns]
        guesses = {name: did_you_mean(name, missing).rstrip() for name in self.unknown}
        guess = "".join(f"; {name!r}: {words}" for name, words in guesses.items() if words)
        return f"{columns} ignored: {_listed(self.unknown)}{guess}"

    def check_complete(
        self, required: Sequence[str] = REQUIRED_FIELDS, noun: str = "judgment"
    ) -> None:
        """Refuse columns that lack a field.

        Parameters
        ----------
        required : sequence of str
            The fields that every judgment needs.
        noun : str
            What a record is.

        Raises
        ------
        InputError
            Naming the first field that is missing, and the columns that are left.
        """
        missing = [name for name in required if name not in self.columns]
        if not missing:
            return
        guess = did_you_mean(missing[0], self.unknown)
        *most, last = (f'"{name}"' for name in missing)
        shown = f"{', '.join(most)} and {last}" if most else last
        noun_of_columns = "column {} is" if len(missing) == 1 else "columns {} are"
        raise InputError(
            f"the {noun_of_columns.format(shown)} missing",
            f"{guess}every {noun} needs {', '.join(required)}{self._left_over(missing)}",
        )

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
        return f"; if {which} among {_listed(self.unknown, 12)}, say `columns={example!r}`"


def resolve_columns(
    names: Iterable[str],
    given: GivenMap | None = None,
    fields: Sequence[str] = JUDGMENT_FIELDS,
) -> ColumnMap:
    """Return which column is which field.

    Parameters
    ----------
    names : iterable of str
        The columns of a table, each once.
    given : mapping or str, optional
        From fields to columns, as :data:`~dcglearn.judgments.meaning.given_maps.GivenMap`.
    fields : sequence of str
        The fields that are looked for.

    Returns
    -------
    ColumnMap

    Raises
    ------
    InputError
        If a given field or column does not exist, one column is given for two fields, several
        columns could be the answer or the lists, or the numbers of a list's columns have gaps.

    Examples
    --------
    >>> found = resolve_columns(["qid", "left", "right", "verdict", "note"])
    >>> found.columns
    {'a': 'left', 'b': 'right', 'answer': 'verdict', 'query': 'qid'}
    >>> found.unknown, found.notes
    (('note',), ('columns taken: a=left, b=right, answer=verdict, query=qid',))
    >>> resolve_columns(["a1", "a2", "b1", "b2", "answer"]).columns["a"]
    ('a1', 'a2')
    """
    names = list(dict.fromkeys(names))
    columns = _given_columns(names, parse_given_map(given, "columns", _EXAMPLE), fields)
    known = set(columns)
    for name in fields:
        exact = name in names and name not in _used(columns)
        if name not in columns and exact and name not in _SHARED:
            columns[name] = name
            known.add(name)
    notes = []
    if {"a", "b"} <= set(fields):
        _add_sides(columns, names)
    for field in (one for one in _OTHER_NAMES if one in fields and one not in columns):
        found = _other_names(field, [name for name in names if name not in _used(columns)])
        if len(found) == 1:
            columns[field] = found[0]
            known |= {field} if found[0] in _KNOWN else set()
        elif found:
            notes.append(
                f"the columns {' and '.join(found)} could both be the {field}, and none is taken"
            )
    if _LIST in fields and _LIST not in columns:
        _add_list(columns, names)
    taken = [f"{field}={_name(one)}" for field, one in columns.items() if field not in known]
    if taken:
        notes.insert(0, f"columns taken: {', '.join(taken)}")
    used = _used(columns)
    return ColumnMap(columns, tuple(one for one in names if one not in used), tuple(notes), fields)


def _other_names(field: str, free: Sequence[str]) -> list[str]:
    """Return the columns that have another name of a field; refuse several of an answer."""
    known = (field, *_OTHER_NAMES[field].split())
    found = [name for name in free if _plain(name) in known]
    if len(found) > 1 and field in _MAIN:
        raise InputError(
            f"the columns {' and '.join(map(repr, found))} could both be the {field}",
            f"say which one is: `columns={f'{field}={found[0]}'!r}`",
        )
    return found


def _add_list(columns: dict[str, Column], names: Sequence[str]) -> None:
    """Find the columns of the ranks of a single list."""
    spread = _spread([name for name in names if name not in _used(columns)])
    found = [name for name in _LIST_NAMES if name in spread]
    if len(found) == 1:
        columns[_LIST] = _ranks(found[0], spread[found[0]])


def _given_columns(
    names: Sequence[str], given: Mapping[str, str], fields: Sequence[str]
) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for field, column in given.items():
        if field not in fields:
            raise unknown_name("field in `columns`", field, fields)
        spread = _spread(names).get(_plain(column), ()) if field in ("a", "b", _LIST) else ()
        if column not in names and not spread:
            raise unknown_name("column in `columns`", column, names)
        if column in columns.values():
            other = next(one for one, name in columns.items() if name == column)
            raise InputError(
                f"`columns` gives {column!r} for {other} and {field}", "name a column once"
            )
        columns[field] = column if column in names else _ranks(column, spread)
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
        raise InputError(
            f"the columns {lists} could be the lists", f"say which are: `columns={example!r}`"
        )
    for one in found:
        columns |= one


def _side_names() -> Iterator[tuple[str, str]]:
    """Yield the plain names of the columns of a and of b that belong together."""
    yield from (pair for pair in _SIDES if pair != ("1", "2"))
    for noun in _NOUNS:
        for first, second in _SIDES:
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
    return names


def _used(columns: Mapping[str, Column]) -> set[str]:
    return {name for one in columns.values() for name in ((one,) if isinstance(one, str) else one)}


def _plain(name: str) -> str:
    name = _PREFIX.sub("", name, 1)
    return re.sub(r"[\W_]+", "", name.casefold())


def _stem(column: Column) -> str:
    return column if isinstance(column, str) else re.sub(r"[\W_]*[0-9]+\W?$", "", column[0])


def _name(column: Column) -> str:
    return column if isinstance(column, str) else f"{column[0]}...{column[-1]}"


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = ", ..." if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
