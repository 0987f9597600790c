"""Records of other shapes as one judgment per row: a column per rater, or a row per document."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import Column, column_of
from dcglearn.judgments.meaning.answers import answer_in_words, text_of
from dcglearn.judgments.meaning.cells import LONGEST_LIST, number_of
from dcglearn.judgments.reading.fields import FieldBlock

_KEYS = ("pair", "query", "judge", "answer", "weight")


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


def one_judgment_per_row(table: FieldBlock) -> FieldBlock:
    """Return judgments of a table that has a row for each document of a list.

    The rows of a judgment share their query, judge, answer and weight, and a name, ``pair``, if
    there is one; ``list`` says which of the two lists a row is of, ``rank`` where, and ``grade``
    what the document is worth.
    """
    keys = [column_of(_hashable(table.cells[one])).codes for one in _KEYS if one in table.cells]
    _, first, group = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    sides, ranks = table.values("list", _side), table.values("rank", _rank)
    for name, values in (("list", sides), ("rank", ranks)):
        if None in values:
            where = table.place(values.index(None))
            raise InputError(f"the {name} is missing", "every document needs it", where)
    of_list = 2 * first[group.ravel()] + np.array(sides)  # the first row of its judgment, the side
    order = np.lexsort((ranks, of_list))
    lists, starts, lengths = np.unique(of_list[order], return_index=True, return_counts=True)
    expected = np.arange(1, len(order) + 1) - np.repeat(starts, lengths)
    wrong = order[np.array(ranks)[order] != expected]
    if len(wrong):
        problem = f"the rank {ranks[wrong[0]]} appears twice in its list, or follows none"
        remedy = "number the ranks of each judgment's lists from 1; the rows of a judgment share "
        where = table.place(int(wrong[0]))
        raise InputError(problem, remedy + "query, judge, answer and weight", where)
    alone = lists[~np.isin(lists ^ 1, lists)]
    if len(alone):
        row, side = divmod(int(alone[0]), 2)
        problem, where = f"a judgment without list {'ba'[side]}", table.place(row)
        raise InputError(problem, "give the documents of both lists", where)
    grades = [None if text_of(one) in ("", "-") else one for one in table.cells["grade"]]
    held = [[grades[row] for row in rows.tolist()] for rows in np.split(order, starts[1:])]
    judgments = table.take(lists[::2] // 2)
    return replace(judgments, cells=judgments.cells | {"a": held[::2], "b": held[1::2]})


def _hashable(cells: Any) -> Any:
    """Return cells of several columns as one column of tuples."""
    return list(zip(*cells, strict=True)) if isinstance(cells, tuple) else cells


def _side(value: object) -> int:
    code = answer_in_words(text_of(value))
    if code not in (0, 1):
        raise InputError(f"the list is {value!r:.60}", "write a and b, or left and right")
    return code


def _rank(value: object) -> int:
    number = number_of(value)
    if not (number.is_integer() and 1 <= number <= LONGEST_LIST):
        raise InputError(f"the rank is {value!r:.60}", "number ranks from 1")
    return int(number)
