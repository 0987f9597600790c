"""Records of other shapes as one judgment per row: a column per rater, or a row per document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.tables.columns import Column
from dcglearn.judgments.meaning.answers import answer_in_words, text_of
from dcglearn.judgments.meaning.cells import LONGEST_LIST, number_of
from dcglearn.judgments.numbering import distinct_rows
from dcglearn.judgments.reading.fields import Records
from dcglearn.judgments.reading.lists import table_of

_KEYS = ("pair", "query", "judge", "answer", "weight")


def one_rater_per_row(block: Records) -> tuple[Records, int]:
    """Return a judgment for each rater's answer, and how many raters left theirs empty."""
    answers, names = block.column("answer"), list(block.found.columns["answer"])
    rows, raters = np.nonzero(answers.codes >= 0)
    if not len(rows):
        raise InputError("all answers of the raters are empty", "give one", block.place(0))
    own = {
        "answer": Column(answers.codes[rows, raters], answers.values),
        "judge": Column(raters.astype(np.int32), names),
    }
    taken = block.take(rows)
    return replace(taken, columns=taken.columns | own), answers.codes.size - len(rows)


def one_judgment_per_row(table: Records) -> Records:
    """Return judgments of a table that has a row for each document of a list.

    The rows of a judgment share their query, judge, answer, weight and ``pair``.
    """
    held = (table.column(one).codes.T for one in _KEYS)
    keys = [column for codes in held for column in np.atleast_2d(codes)]  # one per rater
    first, group = distinct_rows(keys)
    sides, ranks = table.values("list", _side, True), table.values("rank", _rank, True)
    of_list = 2 * first[group] + np.array(sides)  # the first row of its judgment, and the side
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
    grades = table.columns["grade"].parsed(_grade, table.place)
    every = table_of(Column(grades.codes[order], grades.values), lengths, table.place)
    both = {side: Column(every.codes[at::2], every.values) for at, side in enumerate("ab")}
    judgments = table.take(lists[::2] // 2)
    return replace(judgments, columns=judgments.columns | both)


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


def _grade(value: object) -> object:
    return None if text_of(value) in ("", "-") else value
