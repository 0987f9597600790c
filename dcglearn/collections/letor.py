"""Graded queries from LETOR / SVMlight files: the number of documents of each grade, per query.

One document per line, ``grade qid:QUERY feature:value ...``, the best grade largest; ``#`` begins a
comment. Files without ``qid`` need the group sizes next to them, one number per line, in
``NAME.query`` or ``NAME.group``, as LightGBM and XGBoost keep them. Features are not read: lists
are drawn by grade alone. Only their encoding is checked; some collections write ``1:NULL``.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.files import is_regular_file
from dcglearn.base.numbers import counted, parse_number
from dcglearn.base.tables.old.compressed import read_content
from dcglearn.base.text import split_fields
from dcglearn.base.text_lines import check_text, numbered_lines
from dcglearn.collections.qrels_runs import Qrels, Run, qrels_of, run_of

GROUP_SUFFIXES = (".query", ".group")
_MOST_GRADES = 100
_MOST_DIGITS = 18
_PEEK = 1 << 16
"""Bytes that are searched for the first line."""


def read_grade_counts(path: str | Path, n_grades: int | None = None) -> NDArray[np.int64]:
    r"""Count the documents of each grade, per query.

    Parameters
    ----------
    path : path-like
        ``.gz`` is decompressed.
    n_grades : int, optional
        L: grades are 0 ... L - 1. By default up to the largest grade of the file.

    Returns
    -------
    ndarray of int, shape (queries, L)
        Column 0 is the best grade. Queries are in the order of their first document.

    Raises
    ------
    InputError
        Naming the file and line: a line cannot be read, a grade is not a whole number of
        0 ... L - 1, or documents have no query.

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
    grades, query, lines, _ = _documents(path)
    limit = n_grades or int(grades.max()) + 1
    if grades.max() >= limit:
        place = f"{path}, line {lines[int(np.argmax(grades))]}"
        raise InputError(
            f"grade {grades.max()}, and there are {limit} grades (0 ... {limit - 1})",
            "raise the number of grades, or correct the line",
            place,
        )
    counts = np.zeros((int(query.max()) + 1, limit), np.int64)
    np.add.at(counts, (query, limit - 1 - grades), 1)
    return counts


def looks_like_letor(path: str | Path) -> bool:
    """Return whether the first line of a file has a query or a feature after its grade.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    bool
        False if the file is not text, does not exist or is a pipe.
    """
    if not is_regular_file(path):  # a pipe can be read only once
        return False
    try:
        with Path(path).open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            begin = gzip.GzipFile(fileobj=file).read(_PEEK) if compressed else file.read(_PEEK)
    except (OSError, EOFError, zlib.error):
        return False
    content = (line.split(b"#")[0].split() for _, line in numbered_lines(begin))
    first = next((fields for fields in content if fields), [])
    return len(first) > 1 and re.fullmatch(rb"(qid|[0-9]+):.*", first[1]) is not None


def read_graded_lists(path: str | Path) -> Qrels:
    r"""Read the grades of a LETOR / SVMlight file as qrels.

    Parameters
    ----------
    path : path-like
        As for :func:`read_grade_counts`.

    Returns
    -------
    Qrels
        Documents are named by their position in the file, 1 for the first; queries by their qid,
        or by their position if there is none.

    Raises
    ------
    InputError
        As :func:`read_grade_counts`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "judged.txt")
    ...     _ = file.write_text("2 qid:7 1:.3\n0 qid:7 1:.1\n1 qid:9 1:.2\n")
    ...     qrels = read_graded_lists(file)
    >>> qrels.queries, qrels.number
    (('7', '9'), array([2., 0., 1.]))
    """
    grades, query, _, names = _documents(path)
    ids = np.array(names)[query]
    return qrels_of(_table(ids, "grade", grades), str(path))


def read_predictions(path: str | Path, lists: Qrels) -> Run:
    """Read one score per document, in the order of a LETOR / SVMlight file.

    Parameters
    ----------
    path : path-like
        One number per line, as rankers write them.
    lists : Qrels
        The documents, from :func:`read_graded_lists`.

    Returns
    -------
    Run
        Named by the file.

    Raises
    ------
    InputError
        If a line is not a finite number (naming it), or their number is not that of the
        documents.
    """
    scores = []
    for number, line in _lines(path):
        score = parse_number(line.decode())
        if math.isnan(score):
            place = f"{path}, line {number}"
            raise InputError(
                f"{line.decode()[:40]!r} is not a finite score", "write one score per line", place
            )
        scores.append(score)
    if len(scores) != len(lists):
        raise InputError(
            f"{counted(len(scores), 'score')} for {counted(len(lists), 'document')}",
            "give one per document",
            str(path),
        )
    ids = np.array(lists.queries)[lists.query]
    name = Path(path).name.partition(".")[0] or Path(path).name
    return run_of(_table(ids, "score", np.array(scores)), name)


def _table(queries: NDArray[np.str_], name: str, numbers: NDArray[Any]) -> Any:
    import pyarrow as pa

    places = np.arange(1, len(numbers) + 1).astype(str)
    return pa.table({"query": queries.tolist(), "document": places.tolist(), name: numbers})


def _documents(
    path: str | Path,
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int], list[str]]:
    """Return each document's grade, query and line, and the names of the queries."""
    rows = [(*_grade_and_query(line, f"{path}, line {n}"), n) for n, line in _lines(path)]
    if not rows:
        raise InputError("holds no document", "give lines like: 2 qid:1 1:0.5", str(path))
    grades = np.array([grade for grade, _, _ in rows])
    names = [query for _, query, _ in rows]
    if all(name is None for name in names):
        query = _from_group_sizes(Path(path), len(rows))
    elif None in names:
        line = rows[names.index(None)][2]
        raise InputError("no qid, which other lines have", "add it", f"{path}, line {line}")
    else:
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        query = np.array([number[name] for name in names])
        return grades, query, [n for _, _, n in rows], list(map(str, number))
    places = [str(place) for place in range(1, int(query.max()) + 2)]
    return grades, query, [n for _, _, n in rows], places


def _lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither empty nor comments, with their numbers."""
    content = read_content(Path(path))
    check_text(content, str(path))
    for number, line in numbered_lines(content):
        text = line.split(b"#")[0].strip()
        if text:
            yield number, text


def _grade_and_query(line: bytes, place: str) -> tuple[int, str | None]:
    first, second, features = (*(part.decode() for part in line.split(maxsplit=2)), "", "")[:3]
    grade = parse_number(first)
    if math.isnan(grade):
        raise InputError(f"begins with {first[:40]!r}", "begin with a grade", place)
    if not (grade.is_integer() and 0 <= grade < _MOST_GRADES):
        raise InputError(f"grade {first}", f"use whole numbers, 0 ... {_MOST_GRADES - 1}", place)
    query = second[4:] if second.startswith("qid:") else None
    if query == "":
        raise InputError("no query after 'qid:'", "write qid:QUERY without a blank", place)
    if "qid:" in features and any(field.startswith("qid:") for field in split_fields(features)):
        raise InputError("a qid among the features", "write it once, after the grade", place)
    return int(grade), query


def _from_group_sizes(path: Path, n_documents: int) -> NDArray[np.int64]:
    candidates = [path.with_name(path.name + suffix) for suffix in GROUP_SUFFIXES]
    found = next((file for file in candidates if file.is_file()), None)
    if found is None:
        raise InputError(
            "no line has a qid, and there is no file of group sizes",
            f"add qid:... or {candidates[0].name}",
            str(path),
        )
    sizes = []
    for number, line in _lines(found):
        if not (line.isdigit() and len(line) < _MOST_DIGITS and int(line) > 0):
            raise InputError(
                f"{line.decode()[:40]!r} is not a group size",
                "write one group size per line",
                f"{found}, line {number}",
            )
        sizes.append(int(line))
    if sum(sizes) != n_documents:
        raise InputError(
            f"groups of {counted(sum(sizes), 'document')}, and {path.name} holds {n_documents}",
            "give the file that belongs to it",
            str(found),
        )
    return np.repeat(np.arange(len(sizes)), sizes)
