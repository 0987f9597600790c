"""Graded queries from LETOR / SVMlight files, and the scores of their documents.

One document per line, ``grade qid:QUERY feature:value ...``, the best grade largest; ``#`` begins a
comment. Features are not read.
"""

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.files import PathLike, numbered_lines, open_text
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.tables.columns import column_of, text_array
from dcglearn.collections.runs import Qrels, Run, name_of_file

_MOST_GRADES = 100


def looks_like_letor(path: PathLike) -> bool:
    """Return whether the first line of a regular file has a query or feature after its grade."""
    if not os.path.isfile(path):  # noqa: PTH113 - a pipe can be read only once
        return False
    try:
        _, first = next(_lines(path), (0, b""))
    except InputError:
        return False
    return re.match(rb"\S+\s+(qid|[0-9]+):", first) is not None


def read_graded_lists(path: PathLike) -> Qrels:
    """Read qrels whose documents are named by their position in the file, 1 for the first."""
    rows = [(n, *(*line.split(maxsplit=2), b"")[:2]) for n, line in _lines(path)]
    if not rows:
        raise InputError("holds no document", "give lines like: 2 qid:1 1:0.5", str(path))
    lines, first, second = zip(*rows, strict=True)

    def place(row: int) -> str:
        return f"{path}, line {lines[row]}"

    grades = column_of(first).parsed(_grade, place)
    queries = column_of(second).parsed(_query, place)
    documents = text_array([str(position) for position in range(1, len(rows) + 1)])
    number = np.array(grades.values, float)[grades.codes]
    query = queries.codes.astype(np.int64)
    return Qrels(str(path), tuple(queries.values), query, documents, number)


def read_predictions(path: PathLike, lists: Qrels) -> Run:
    """Read one score per document of graded lists, in their order: a run named by its file."""
    scores = []
    for number, line in _lines(path):
        scores.append(parse_number(line.decode()))
        if math.isnan(scores[-1]):
            problem = f"{line.decode()[:40]!r} is not a finite score"
            raise InputError(problem, "write one per line", f"{path}, line {number}")
    if len(scores) != len(lists):
        problem = f"{counted(len(scores), 'score')} for {counted(len(lists), 'document')}"
        raise InputError(problem, "give one per document", str(path))
    return Run(name_of_file(path), lists.queries, lists.query, lists.documents, np.array(scores))


def _lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    with open_text(Path(path), str(path)) as file:
        yield from numbered_lines(line.split(b"#")[0].strip() for line in file)


def _grade(field: bytes) -> float:
    grade = parse_number(field.decode())
    if not (grade.is_integer() and 0 <= grade < _MOST_GRADES):
        remedy = f"begin with a whole number, 0 ... {_MOST_GRADES - 1}"
        raise InputError(f"the grade is {field.decode()[:40]!r}", remedy)
    return grade


def _query(field: bytes) -> str:
    name, _, query = field.partition(b":")
    if name != b"qid" or not query:
        raise InputError("no qid", "write grade qid:QUERY feature:value ...")
    return query.decode()
