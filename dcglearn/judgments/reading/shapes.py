"""Records of other shapes as one judgment per row: a column per rater, or a row per document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import Column, column_of
from dcglearn.base.types import Integers
from dcglearn.judgments.meaning.answers import answer_in_words, text_of
from dcglearn.judgments.meaning.cells import number_of
from dcglearn.judgments.reading.fields import FieldBlock

_KEYS = ("query", "judge", "answer", "weight")


def one_rater_per_row(block: FieldBlock) -> tuple[FieldBlock, int]:
    """Return a judgment for each rater's answer, and how many raters left theirs empty."""
    columns = [column_of(cells) for cells in block.cells["answer"]]
    names = block.found.columns["answer"]
    filled = np.stack([_filled(column) for column in columns], axis=1)
    rows, raters = np.nonzero(filled)
    answers = np.stack([column.decoded() for column in columns], axis=1)[rows, raters]
    taken = replace(block, cells={k: v for k, v in block.cells.items() if k != "answer"}).take(rows)
    judges = [names[rater] for rater in raters.tolist()]
    cells = taken.cells | {"answer": answers.tolist()} | {"judge": judges}
    return replace(taken, cells=cells), int((~filled).sum())


def _filled(column: Column) -> Any:
    return np.array([text_of(value) != "" for value in column.values] + [False])[column.codes]


def one_judgment_per_row(blocks: Sequence[FieldBlock]) -> FieldBlock:
    """Return judgments of tables that have a row for each document of a list.

    The rows of a judgment share their query, judge, answer and weight; ``list`` says which of the
    two lists a row is of, ``rank`` where, and ``grade`` what the document is worth.
    """
    starts = np.cumsum([0, *(block.rows for block in blocks)])

    def place(row: int) -> str:
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return blocks[at].place(row - int(starts[at]))

    fields = dict.fromkeys(one for block in blocks for one in block.cells)
    cells = {one: _joined(blocks, one) for one in fields}
    keys = [column_of(cells[one]).codes for one in _KEYS if one in cells]
    _, group = np.unique(np.stack(keys), axis=1, return_inverse=True)
    side = _sides(column_of(cells["list"]), place)
    rank = column_of(cells["rank"]).parsed(_rank, place)
    if (rank.codes < 0).any():
        raise InputError(
            "the rank is missing", "number ranks from 1", place(int(np.argmin(rank.codes)))
        )
    ranks = np.array(rank.values, np.int64)[rank.codes]
    order = np.lexsort((ranks, side, group.ravel()))
    groups, firsts = np.unique(group.ravel(), return_index=True)
    lists = _lists(cells["grade"], order, group.ravel(), side, ranks, place)
    by_row = np.argsort(firsts)
    rows = firsts[by_row].tolist()
    found: dict[str, Any] = {one: [held[row] for row in rows] for one, held in cells.items()}
    if isinstance(blocks[-1].found.columns["answer"], tuple):
        found["answer"] = tuple(map(list, zip(*found["answer"], strict=True)))
    for number, name in enumerate("ab"):
        found[name] = [lists[int(groups[at]), number] for at in by_row.tolist()]
    unknown = blocks[0].unknown
    return replace(
        blocks[-1], cells=found, rows=len(rows), unknown=unknown, place=lambda at: place(rows[at])
    )


def _joined(blocks: Sequence[FieldBlock], field: str) -> list[Any]:
    """Return the cells of a field in all blocks; tuples of those of several columns."""
    found: list[Any] = []
    for block in blocks:
        cells = block.cells.get(field, [None] * block.rows)
        found += (
            zip(*map(_values, cells), strict=True) if isinstance(cells, tuple) else _values(cells)
        )
    return found


def _values(cells: Any) -> list[Any]:
    return cells.to_pylist() if hasattr(cells, "to_pylist") else list(cells)


def _sides(column: Column, place: Any) -> Integers:
    """Return 0 for rows of list a and 1 for those of list b."""

    def parse(value: object) -> str:
        code = answer_in_words(text_of(value))
        if code not in (0, 1):
            raise InputError(f"the list is {value!r:.60}", "write a and b, or left and right")
        return "ab"[code]

    found = column.parsed(parse, place)
    if (found.codes < 0).any():
        where = place(int(np.argmin(found.codes)))
        raise InputError("the list is missing", "write a and b, or left and right", where)
    return np.array([value == "b" for value in found.values], np.int64)[found.codes]


def _rank(value: object) -> int:
    number = number_of(value)
    if not (number.is_integer() and 1 <= number <= 100_000):
        raise InputError(f"the rank is {value!r:.60}", "number ranks from 1")
    return int(number)


def _lists(
    grades: list[Any], order: Integers, group: Integers, side: Integers, ranks: Integers, place: Any
) -> dict[tuple[int, int], list[Any]]:
    """Return the grades of each judgment's lists from the first rank down."""
    found: dict[tuple[int, int], list[Any]] = {}
    for row in order.tolist():
        one = found.setdefault((int(group[row]), int(side[row])), [])
        if ranks[row] != len(one) + 1:
            twice = ranks[row] <= len(one)
            problem = (
                f"the rank {ranks[row]} {'appears twice' if twice else 'follows none'} in its list"
            )
            remedy = "number the ranks of each judgment's lists from 1; rows of one judgment share "
            raise InputError(problem, remedy + "query, judge, answer and weight", place(row))
        grade = grades[row]
        one.append(None if text_of(grade) in ("", "-") else grade)
    for at, _ in list(found):
        for other in (0, 1):
            if (at, other) not in found:
                row = int(np.argmax(group == at))
                problem = f"a judgment without list {'ab'[other]}"
                raise InputError(problem, "give the documents of both lists", place(row))
    return found
