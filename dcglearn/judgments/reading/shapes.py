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
    import pandas as pd

    keys = [column_of(_hashable(table.cells[one])).codes for one in _KEYS if one in table.cells]
    _, first, group = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    sides, ranks = table.values("list", _side), table.values("rank", _rank)
    for name, values in (("list", sides), ("rank", ranks)):
        if None in values:
            row = table.place(values.index(None))
            raise InputError(f"the {name} is missing", "every document needs it", row)
    grades = [None if text_of(one) in ("", "-") else one for one in table.cells["grade"]]
    rows = pd.DataFrame({"group": first[group.ravel()], "side": sides, "rank": ranks})
    rows["grade"] = pd.Series(grades, dtype=object)
    rows = rows.sort_values(["group", "side", "rank"], kind="stable")
    lists = rows.groupby(["group", "side"])
    wrong = rows.index[rows["rank"] != lists.cumcount() + 1]
    if len(wrong):
        problem = f"the rank {ranks[wrong[0]]} appears twice in its list, or follows none"
        remedy = "number the ranks of each judgment's lists from 1; the rows of a judgment share "
        where = table.place(int(wrong[0]))
        raise InputError(problem, remedy + "query, judge, answer and weight", where)
    held = lists["grade"].agg(list).unstack().reindex(columns=["a", "b"])
    alone = held.index[held.isna().any(axis=1)]
    if len(alone):
        missing = "a" if held["a"].isna()[alone[0]] else "b"
        problem, where = f"a judgment without list {missing}", table.place(int(alone[0]))
        raise InputError(problem, "give the documents of both lists", where)
    judgments = table.take(held.index.to_numpy())
    cells = judgments.cells | {side: held[side].tolist() for side in "ab"}
    return replace(judgments, cells=cells)


def _hashable(cells: Any) -> Any:
    """Return cells of several columns as one column of tuples."""
    return list(zip(*cells, strict=True)) if isinstance(cells, tuple) else cells


def _side(value: object) -> str:
    code = answer_in_words(text_of(value))
    if code not in (0, 1):
        raise InputError(f"the list is {value!r:.60}", "write a and b, or left and right")
    return "ab"[code]


def _rank(value: object) -> int:
    number = number_of(value)
    if not (number.is_integer() and 1 <= number <= LONGEST_LIST):
        raise InputError(f"the rank is {value!r:.60}", "number ranks from 1")
    return int(number)
