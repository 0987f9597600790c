"""Graded queries from LETOR / SVMlight files: the number of documents of each grade, per query.

One document per line, ``grade qid:QUERY feature:value ...``, the best grade largest; ``#`` begins a
comment. Files without ``qid`` need the group sizes next to them, one number per line, in
``NAME.query`` or ``NAME.group``, as LightGBM and XGBoost keep them. Features are not read: lists
are drawn by grade alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.arrow_arrays import text_array
from dcglearn.base.errors import InputError
from dcglearn.base.files import is_regular_file
from dcglearn.base.numbers import counted, parse_number, parse_whole
from dcglearn.base.tables.columns import column_of
from dcglearn.base.tables.text import open_text
from dcglearn.base.types import Grades
from dcglearn.collections.runs import Qrels, Run, name_of_file

GROUP_SUFFIXES = (".query", ".group")
_MOST_GRADES = 100
_PEEK = 1 << 16
"""Bytes that are searched for the first line."""


class _Documents(NamedTuple):
    """The grade, the number of the query and the line of each document; names of the queries."""

    grades: Grades
    query: Grades
    lines: tuple[int, ...]
    names: tuple[str, ...]


def read_grade_counts(path: str | Path, n_grades: int | None = None) -> NDArray[np.int64]:
    """Count the documents of each grade: shape (queries, L), the best grade first.

    Grades are 0 ... L - 1, by default up to the largest of the file. Queries are in the order of
    their first document.
    """
    grades, query, lines, names = _read(path)
    limit = n_grades or int(grades.max()) + 1
    if grades.max() >= limit:
        problem = f"grade {grades.max()}, and there are {limit} grades (0 ... {limit - 1})"
        place = f"{path}, line {lines[int(np.argmax(grades))]}"
        raise InputError(problem, "raise the number of grades, or correct the line", place)
    cells = query * limit + limit - 1 - grades
    return np.bincount(cells, minlength=len(names) * limit).reshape(-1, limit)


def looks_like_letor(path: str | Path) -> bool:
    """Return whether the first line of a regular file has a query or feature after its grade."""
    if not is_regular_file(path):  # a pipe can be read only once
        return False
    try:
        with open_text(Path(path), str(path)) as file:
            lines = file.read(_PEEK).split(b"\n")
    except InputError:
        return False
    first = next(filter(None, (line.split(b"#")[0].split() for line in lines)), [])
    return len(first) > 1 and re.match(rb"(qid|[0-9]+):", first[1]) is not None


def read_graded_lists(path: str | Path) -> Qrels:
    """Read qrels whose documents are named by their position in the file, 1 for the first.

    Queries are named by their qid, or by their position if there is none.
    """
    grades, query, _, names = _read(path)
    documents = text_array([str(place) for place in range(1, len(grades) + 1)])
    return Qrels(str(path), names, query.astype(np.int64), documents, grades.astype(float))


def read_predictions(path: str | Path, lists: Qrels) -> Run:
    """Read one score per document of graded lists, in their order: a run named by its file."""
    scores = []
    for number, line in _lines(path):
        scores.append(parse_number(line.decode()))
        if math.isnan(scores[-1]):
            problem = f"{line.decode()[:40]!r} is not a finite score"
            raise InputError(problem, "write one score per line", f"{path}, line {number}")
    if len(scores) != len(lists):
        problem = f"{counted(len(scores), 'score')} for {counted(len(lists), 'document')}"
        raise InputError(problem, "give one per document", str(path))
    run = name_of_file(path), lists.queries, lists.query, lists.documents
    return Run(*run, np.array(scores))


def _lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Iterate over what lines hold before comments, and their numbers."""
    with open_text(Path(path), str(path)) as file:
        for number, line in enumerate(file, start=1):
            text = line.split(b"#")[0].strip()
            if text:
                yield number, text


def _read(path: str | Path) -> _Documents:
    rows = [(n, *(*line.split(maxsplit=2), b"")[:2]) for n, line in _lines(path)]
    if not rows:
        raise InputError("holds no document", "give lines like: 2 qid:1 1:0.5", str(path))
    lines, first, second = zip(*rows, strict=True)

    def place(row: int) -> str:
        return f"{path}, line {lines[row]}"

    grades = column_of(first).parsed(_grade, place)
    queries = column_of(second).parsed(_query, place)
    query, names = queries.codes, queries.values
    if not names:
        sizes = _group_sizes(Path(path), len(rows))
        query = np.repeat(np.arange(len(sizes)), sizes)
        names = [str(number) for number in range(1, len(sizes) + 1)]
    elif query.min() < 0:
        problem = "no qid, which other lines have"
        raise InputError(problem, "add it", place(int(np.argmin(query))))
    return _Documents(np.array(grades.values)[grades.codes], query, lines, tuple(names))


def _grade(field: bytes) -> int:
    grade = parse_number(text := field.decode())
    if not (grade.is_integer() and 0 <= grade < _MOST_GRADES):
        remedy = f"begin with a whole number, 0 ... {_MOST_GRADES - 1}"
        raise InputError(f"the grade is {text[:40]!r}", remedy)
    return int(grade)


def _query(field: bytes) -> str | None:
    if field == b"qid:":
        raise InputError("no query after 'qid:'", "write qid:QUERY without a blank")
    return field[4:].decode() if field.startswith(b"qid:") else None


def _group_sizes(path: Path, n_documents: int) -> list[int]:
    candidates = [path.with_name(path.name + suffix) for suffix in GROUP_SUFFIXES]
    found = next((file for file in candidates if file.is_file()), None)
    if found is None:
        problem = "no line has a qid, and there is no file of group sizes"
        raise InputError(problem, f"add qid:... or {candidates[0].name}", str(path))
    sizes = []
    for number, line in _lines(found):
        sizes.append(parse_whole(line.decode()) or 0)
        if sizes[-1] <= 0:
            problem, place = (
                f"{line.decode()[:40]!r} is not a group size",
                f"{found}, line {number}",
            )
            raise InputError(problem, "write one group size per line", place)
    if sum(sizes) != n_documents:
        problem = f"groups of {counted(sum(sizes), 'document')}, and {path.name} holds"
        remedy = "give the file that belongs to it"
        raise InputError(f"{problem} {n_documents}", remedy, str(found))
    return sizes
