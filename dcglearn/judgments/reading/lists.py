"""Lists and their grades: arrays of Arrow, texts, Python's lists, or a column per rank, as codes.

Entries of a list in text are between blanks, commas, bars, semicolons or slashes, or in the
brackets of JSON, Python, NumPy or PostgreSQL. A dash is an empty rank.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, errors_at
from dcglearn.base.numbers import parse_number
from dcglearn.base.tables.columns import (
    Column,
    RowPlace,
    column_of,
    is_missing,
    is_text,
    refuse_any,
    stacked,
    table_of,
)
from dcglearn.base.text import ASCII_BLANKS
from dcglearn.base.types import Pairs
from dcglearn.judgments.options import ReadOptions, listed, padded
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale, as_scale, canonical_label

_WITH_COMMA = re.compile(r"[+-]?(?![1-9][0-9]{0,2},[0-9]{3}\Z)[0-9]+,[0-9]+")
"""A number with a decimal comma; not 1,500, which may be 1500."""

_EMPTY_ENTRIES = {"-", "null", "None", "NULL", "nan", "NaN"}
_ENTRY = r"""(?:"([^"\\]*)"|'([^'\\]*)'|([^\s,\[\](){{}}"']+))"""
_LIST = re.compile(rf"\s*(?:{_ENTRY}(?:\s*,\s*|\s+|\s*$))*", re.ASCII)
_ENTRIES = re.compile(_ENTRY, re.ASCII)

PLAIN_ENTRY = "[A-Za-z0-9_.+-]+"
"""Entries of lists that need no quotes."""

_NUMBER = "[0-9]+[.]?[0-9]*"
_SEPARATED = {
    mark: rf"{entry}(?:[ \t]*[{mark}][ \t]*{entry})+"
    for mark, entry in (("|", PLAIN_ENTRY), (";", PLAIN_ENTRY), ("/", _NUMBER))
}
_DECIMALS = re.compile(r"[0-9]+(?:,[0-9]+)?(?:[ \t]+[0-9]+(?:,[0-9]+)?)+", re.ASCII)
_BRACKETS = {"[": "]", "(": ")", "{": "}"}


_JOINED = re.compile(r"0[0-9]+|[0-9](?:[^\w\s][0-9])+")
"""Digits that may be several grades of a list, where they are all of it."""


def with_point(text: str) -> str:
    """Return a number in a cell with a point for its decimal comma, other text as it is."""
    digits = text.strip(ASCII_BLANKS)
    return digits.replace(",", ".") if _WITH_COMMA.fullmatch(digits) else text


def number_of(value: object) -> float:
    """Return the number that a cell holds, NaN if it does not hold a finite one."""
    return parse_number(with_point(str(value)))


def parse_list_text(text: str) -> list[str | None]:
    """Return the entries of a list that is written as text, None where a rank is empty."""
    stripped = text.strip(ASCII_BLANKS)
    closing = _BRACKETS.get(stripped[:1])
    if closing is not None:
        inner = stripped[1:-1]
        if len(stripped) < 2 or not stripped.endswith(closing) or not _LIST.fullmatch(inner):
            raise InputError(f"the list {text!r:.60} cannot be read", "write it like 2 0 1")
        entries = (match.groups() for match in _ENTRIES.finditer(inner))
        return [
            (None if bare in _EMPTY_ENTRIES else bare) if bare else (double or single or "")
            for double, single, bare in entries
        ]
    if _DECIMALS.fullmatch(stripped):
        return [entry.replace(",", ".") for entry in stripped.split()]
    joined = (mark for mark, pattern in _SEPARATED.items() if re.fullmatch(pattern, stripped))
    separator = next(joined, ",")
    parts = stripped.split(separator) if separator in stripped else text.split()
    stripped_parts = (part.strip(ASCII_BLANKS) for part in parts)
    return [None if part in ("", "-") else part for part in stripped_parts]


def mark_of(value: object) -> str | float:
    """Return a number, as which -1 is also -1.0, or text."""
    number = number_of(value)
    return str(value).strip() if np.isnan(number) else number


def check_kinds(labels: Column, place: RowPlace) -> None:
    """Refuse names among numbers, and -1 among numbers of 0 or more, which may be no grade."""
    names = [label for label in labels.values if isinstance(label, str)]
    numbers = sorted(label for label in labels.values if not isinstance(label, str))

    def check(label: Label) -> Label:
        if numbers and label in names:
            raise InputError(
                f"grades are numbers ({listed(numbers, 5)}) and names ({listed(names, 5)})",
                "write all of them one way; if both are grades, declare all, best first, with "
                "`scale`",
            )
        if label == -1 and len(numbers) > 1 and numbers[1] >= 0:
            raise InputError(
                "-1 may be a grade, or mean that a document is not judged",
                "say `null_values=-1` if it is not a grade, and declare `scale` if it is",
            )
        return label

    labels.parsed(check, place)


def lists_of(cells: Any, place: RowPlace) -> Column:
    """Return a column of lists; a missing list is empty."""
    if isinstance(cells, np.ndarray) and cells.ndim == 2:
        column = column_of(cells.ravel())
        return Column(column.codes.reshape(cells.shape), column.values)
    if is_text(cells):
        if (alike := _split_alike(cells)) is not None:
            return alike
        found = column_of(cells).parsed(lambda text: tuple(parse_list_text(text)), place)
        parsed = _of_entries([*found.values, ()])  # the last where a text is missing
        return parsed.take(found.codes)
    if hasattr(cells, "value_lengths"):
        lengths = cells.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return table_of(column_of(cells.flatten()), lengths)
    lists = list[Sequence[Any]]()
    for row, cell in enumerate(cells.to_pylist() if hasattr(cells, "to_pylist") else cells):
        try:
            lists.append(_entries(cell))
        except InputError as error:
            raise error.at(place(row)) from error
    return _of_entries(lists)


def _check_lengths(lists: Column, place: RowPlace, n_ranks: int | None) -> None:
    K = lists.codes.shape[2] if n_ranks is None else n_ranks
    longer, empty = (lists.codes[..., K:] >= 0).any(axis=2), lists.codes.max(axis=2, initial=-1) < 0
    if longer.any():
        first = tuple(np.argwhere(longer)[0].tolist())
        held = np.flatnonzero(lists.codes[first] >= 0)[-1] + 1
        problem = f"a list of {held:,} grades, and K = {K:,}"
        raise InputError(problem, "raise `n_ranks` or cut the list", place(*first))
    refuse_any(empty, "holds no grade", "give at least one, or leave the judgment out", place)


def grade_cell(value: Any) -> Any:
    """Return a grade in a cell of its own, None where it is empty."""
    if not isinstance(value, str):
        return value
    return None if value.strip() in ("", "-") else with_point(value)


def _entries(cell: Any) -> Sequence[Any]:
    if isinstance(cell, str):
        return parse_list_text(cell)
    if isinstance(cell, list | tuple | np.ndarray):
        return list(cell)
    if is_missing(cell):
        return []
    raise InputError(f"{cell!r:.60} is not a list", "give the grades in rank order")


def _of_entries(lists: Sequence[Sequence[Any]]) -> Column:
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return table_of(column_of(list(chain.from_iterable(lists))), lengths)


def _split_alike(array: Any) -> Column | None:
    """Return lists that are all written like ``2 0 1``, or like ``[2, 0, 1]``; None for others."""
    import pyarrow.compute as pc

    for opening, between, closing in (("", " ", ""), ("[", ", ", "]")):
        form = rf"^{re.escape(opening)}{PLAIN_ENTRY}(?:{between}{PLAIN_ENTRY})*{closing}$"
        if pc.all(pc.match_substring_regex(array, form), skip_nulls=False).as_py():
            lists = pc.split_pattern(pc.utf8_trim(array, "[]"), between)
            entries = column_of(lists.flatten())
            texts = [f"{opening}{entry}{closing}" for entry in entries.values]
            entries = entries.with_values([parse_list_text(text)[0] for text in texts])
            return table_of(entries, lists.value_lengths().to_numpy(zero_copy_only=False))
    return None


def _check_joined(lists: Column, place: RowPlace) -> None:
    """Refuse a list such as 012, or 2.1, into which a spreadsheet made 2,1."""
    joined = [isinstance(one, str) and bool(_JOINED.fullmatch(one)) for one in lists.values]
    if not any(joined):
        return
    held = np.array([*joined, False])[lists.codes].any(axis=2)
    if (lists.codes[held, 1:] < 0).all():  # others are grades of longer lists
        first = tuple(np.argwhere(held)[0].tolist())
        raise InputError(
            f"the list {lists.values[lists.codes[first][0]]} may be several grades",
            "separate the grades of a list with blanks, or say `n_ranks=1` if it is one",
            place(*first),
        )


def graded_lists(
    lists: dict[str, Column], options: ReadOptions, path: str, place: RowPlace
) -> tuple[Column, Scale]:
    """Return lists by name as one column of grade indices, shape (n, names, K), and the scale."""
    names, K, scale = list(lists), options.n_ranks, as_scale(options.scale)
    if scale is None and options.document_grades is not None:
        scale = options.document_grades.qrels.scale
    marks = {*map(mark_of, np.atleast_1d(options.null_values))}

    def where(row: int, side: int, rank: int | None = None) -> str:
        of = "" if rank is None else f", rank {rank + 1}"
        return f'{place(row)}, "{names[side]}"{of}'

    def label_of(value: Any) -> Label | None:
        if mark_of(value) in marks:
            return None
        return canonical_label(value.strip() if isinstance(value, str) else value)

    grades = stacked([*lists.values()])
    _check_lengths(grades, where, K)
    if options.documents:
        grades = grades.with_values(list(map(str, grades.values)))
    else:
        if scale is None and K is None:
            _check_joined(grades, where)
        grades = grades.parsed(label_of, where)
        if scale is None:
            check_kinds(grades, where)
    if scale is None:
        with errors_at(path):
            make = Scale.from_documents if options.documents else Scale.from_numbers
            scale = make(grades.values)
    grades = grades.parsed(scale.index, where)
    graded = Column(padded(grades.codes[..., :K], K or 0), grades.values)
    if options.documents:
        n, ordered = len(scale), np.sort(grade_indices(graded), axis=2)
        wrong = (ordered != np.arange(ordered.shape[2])).any(axis=2) | (n != ordered.shape[2])
        problem = f"is not a ranking of all {n} documents"
        refuse_any(wrong, problem, "rank each of them once", where)
    return graded, scale


def grade_indices(lists: Column) -> Pairs:
    """Return lists of grade indices as an array, -1 where there is no grade."""
    indices = np.array([*lists.values, NO_DOCUMENT], np.int8)
    return np.ascontiguousarray(indices[lists.codes])
