"""Graded queries from LETOR / SVMlight files: how many documents of each grade a query has.

One document a line, ``grade qid:QUERY feature:value ...``, best grade largest; a ``#`` begins
a comment. Files without ``qid`` need the group sizes beside them, one number a line, in
``NAME.query`` or ``NAME.group``, as LightGBM and XGBoost keep them. Features are passed
over: what lists can be drawn from is a matter of grades alone.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text

GROUP_ENDINGS = (".query", ".group")
_MOST_GRADES = 100


def read_grade_counts(path: str | Path, n_grades: int | None = None) -> NDArray[np.int64]:
    r"""Count the grades of each query of a file.

    Parameters
    ----------
    path : path-like
        ``.gz`` is unpacked.
    n_grades : int, optional
        L: grades are 0 ... L - 1. By default what the file holds.

    Returns
    -------
    ndarray of int, shape (queries, L)
        Column 0 is the best grade. Queries in the order of their first document.

    Raises
    ------
    InputError
        If a line cannot be read, a grade is no whole number of 0 ... L - 1, or queries
        are not told apart; the file and line are named.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "judged.txt")
    ...     _ = file.write_text("2 qid:7 1:.3\n0 qid:7 1:.1\n1 qid:9 1:.2\n")
    ...     read_grade_counts(file)
    array([[1, 0, 1],
           [0, 1, 0]])
    """
    rows = [(*_grade_and_query(line, f"{path}, line {n}"), n) for n, line in _lines(path)]
    if not rows:
        raise InputError("holds no document", "give lines like: 2 qid:1 1:0.5", str(path))
    grades = np.array([grade for grade, _, _ in rows])
    limit = n_grades or int(grades.max()) + 1
    if grades.max() >= limit:
        place = f"{path}, line {rows[int(np.argmax(grades))][2]}"
        raise InputError(
            f"grade {grades.max()}, and there are {limit} grades (0 ... {limit - 1})",
            "raise the number of grades, or correct the line",
            place,
        )
    names = [query for _, query, _ in rows]
    if all(name is None for name in names):
        query = _from_group_sizes(Path(path), len(rows))
    elif None in names:
        line = rows[names.index(None)][2]
        raise InputError("no qid, which other lines have", "add it", f"{path}, line {line}")
    else:
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        query = np.array([number[name] for name in names])
    counts = np.zeros((int(query.max()) + 1, limit), np.int64)
    np.add.at(counts, (query, limit - 1 - grades), 1)
    return counts


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their numbers."""
    if str(path).endswith(".gz"):
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                text = file.read()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise InputError(
                f"cannot be unpacked ({error})", "check the path", str(path)
            ) from error
    else:
        text = read_text(path)
    for number, line in enumerate(text.splitlines(), 1):
        content = line.split("#")[0].strip()
        if content:
            yield number, content


def _grade_and_query(line: str, place: str) -> tuple[int, str | None]:
    first, *rest = line.split(maxsplit=2)
    try:
        grade = float(first)
    except ValueError:
        raise InputError(f"begins with {first!r}", "begin with a grade", place) from None
    if not (grade.is_integer() and 0 <= grade < _MOST_GRADES):
        raise InputError(f"grade {first}", f"use whole numbers, 0 ... {_MOST_GRADES - 1}", place)
    query = rest[0][4:] if rest and rest[0].startswith("qid:") else None
    return int(grade), query


def _from_group_sizes(path: Path, n_documents: int) -> NDArray[np.int64]:
    beside = [path.with_name(path.name + ending) for ending in GROUP_ENDINGS]
    found = next((file for file in beside if file.is_file()), None)
    if found is None:
        raise InputError(
            "no line has a qid, and there is no file of group sizes",
            f"add qid:... or {beside[0].name}",
            str(path),
        )
    sizes = []
    for number, line in _lines(found):
        if not (line.isdecimal() and int(line) > 0):
            raise InputError(f"{line!r}", "write one group size a line", f"{found}, line {number}")
        sizes.append(int(line))
    if sum(sizes) != n_documents:
        raise InputError(
            f"groups of {sum(sizes)} documents, and {path.name} holds {n_documents}",
            "give the file that belongs to it",
            str(found),
        )
    return np.repeat(np.arange(len(sizes)), sizes)
