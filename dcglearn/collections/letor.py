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
from dcglearn.base.tables.text import open_text
from dcglearn.base.types import Integers
from dcglearn.collections.runs import Qrels, Run

GROUP_SUFFIXES = (".query", ".group")
_MOST_GRADES = 100
_PEEK = 1 << 16
"""Bytes that are searched for the first line."""


class _Documents(NamedTuple):
    """The grade, the number of the query and the line of each document; names of the queries."""

    grades: Integers
    query: Integers
    lines: list[int]
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
    return Qrels(str(path), names, query, documents, grades.astype(float))


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
    name = Path(path).name.partition(".")[0] or Path(path).name
    return Run(name, lists.queries, lists.query, lists.documents, np.array(scores))


def _lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Iterate over the lines that are neither empty nor comments, with their numbers."""
    with open_text(Path(path), str(path)) as file:
        for number, line in enumerate(file, start=1):
            text = line.split(b"#")[0].strip()
            if text:
                yield number, text


def _read(path: str | Path) -> _Documents:
    grades: list[int] = []
    queries: list[bytes] = []
    lines: list[int] = []
    for number, line in _lines(path):
        first, second = (*line.split(maxsplit=2), b"")[:2]
        try:
            grades.append(_grade(first.decode()))
            if second == b"qid:":
                raise InputError("no query after 'qid:'", "write qid:QUERY without a blank")
        except InputError as error:
            raise error.at(f"{path}, line {number}") from error
        queries.append(second if second.startswith(b"qid:") else b"")
        lines.append(number)
    if not grades:
        raise InputError("holds no document", "give lines like: 2 qid:1 1:0.5", str(path))
    numbers = {query: number for number, query in enumerate(dict.fromkeys(queries))}
    if b"" not in numbers:
        query = np.array([numbers[one] for one in queries])
        names = tuple(one[4:].decode() for one in numbers)
    elif len(numbers) > 1:
        place = f"{path}, line {lines[queries.index(b'')]}"
        raise InputError("no qid, which other lines have", "add it", place)
    else:
        sizes = _group_sizes(Path(path), len(lines))
        query = np.repeat(np.arange(len(sizes)), sizes)
        names = tuple(str(place) for place in range(1, len(sizes) + 1))
    return _Documents(np.array(grades), query, lines, names)


def _grade(text: str) -> int:
    grade = parse_number(text)
    if math.isnan(grade):
        raise InputError(f"begins with {text[:40]!r}", "begin with a grade")
    if not (grade.is_integer() and 0 <= grade < _MOST_GRADES):
        raise InputError(f"grade {text}", f"use whole numbers, 0 ... {_MOST_GRADES - 1}")
    return int(grade)


def _group_sizes(path: Path, n_documents: int) -> list[int]:
    candidates = [path.with_name(path.name + suffix) for suffix in GROUP_SUFFIXES]
    found = next((file for file in candidates if file.is_file()), None)
    if found is None:
        problem = "no line has a qid, and there is no file of group sizes"
        raise InputError(problem, f"add qid:... or {candidates[0].name}", str(path))
    sizes = []
    for number, line in _lines(found):
        size = parse_whole(line.decode())
        if size is None or size <= 0:
            problem = f"{line.decode()[:40]!r} is not a group size"
            raise InputError(problem, "write one group size per line", f"{found}, line {number}")
        sizes.append(size)
    if sum(sizes) != n_documents:
        problem = f"groups of {counted(sum(sizes), 'document')}, and {path.name} holds"
        raise InputError(f"{problem} {n_documents}", "give the file that belongs to it", str(found))
    return sizes
