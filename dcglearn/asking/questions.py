"""Questions for judges as a file, and the answers that belong to them.

A question is a pair of lists. Its id begins with the name of its batch, a hash of all that is
asked, so that answers to other questions are recognised. An answer has the list that was shown on
the left as its list a, whichever it was in the question.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import PathLike, write_text
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import parse_id
from dcglearn.base.tables.json_records import read_records
from dcglearn.base.tables.text import open_text
from dcglearn.base.types import Ids, Integers
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale

Grades = tuple[Label | None, ...]
"""The labels of a list's grades from the first rank down, None where a document has none."""


@dataclass(frozen=True)
class PairQuestion:
    """A pair of lists to be judged; ids of documents are there for all ranks, or for none."""

    id: str
    query: str | None
    a: Grades
    b: Grades
    a_documents: tuple[str, ...] = ()
    b_documents: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the line of a question file."""
        record = {"question": self.id, **vars(self)}
        return {name: value for name, value in record.items() if name != "id" and value}

    def asked(self) -> str:
        """Return all that is asked as text, which a repeated question shares."""
        record = {name: value for name, value in vars(self).items() if name != "id"}
        return json.dumps(record, sort_keys=True)


def batch_name(questions: Iterable[PairQuestion]) -> str:
    """Return a short hash of what is asked, without the ids of the questions."""
    return hashlib.sha256("\n".join(one.asked() for one in questions).encode()).hexdigest()[:6]


def write_questions(path: PathLike, questions: Iterable[PairQuestion]) -> None:
    """Write questions as JSON lines.

    Parameters
    ----------
    path : path-like
    questions : iterable of PairQuestion

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    lines = (json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in questions)
    write_text(path, "".join(lines))


def read_questions(path: PathLike) -> list[PairQuestion]:
    """Read a file that :func:`write_questions` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    list of PairQuestion

    Raises
    ------
    InputError
        If it cannot be read, a line is no question, or an id is repeated.
    """
    with open_text(Path(path), str(path)) as file:
        return _questions(file, str(path))


def _questions(file: BinaryIO, name: str) -> list[PairQuestion]:
    found, lines = list[PairQuestion](), dict[str, int]()
    for line, record in read_records(file, name):
        try:
            question = _question(record)
            if question.id in lines:
                problem = f"the question {question.id!r} is also in line {lines[question.id]}"
                raise InputError(problem, "give each question an id of its own")
        except InputError as error:
            raise error.at(f"{name}, line {line}") from error
        lines[question.id] = line
        found.append(question)
    if not found:
        raise InputError("holds no question", "write one with dcglearn plan", name)
    return found


def _question(record: dict[str, Any]) -> PairQuestion:
    missing = [one for one in ("question", "a", "b") if record.get(one) in (None, "", [])]
    if missing:
        remedy = "every question needs question (its id), a and b; dcglearn plan writes them"
        raise InputError(f'"{missing[0]}" is missing', remedy)
    lists = {}
    for side in "ab":
        lists[side] = _entries(record[side], side, "grades")
        documents = f"{side}_documents"
        lists[documents] = tuple(map(str, _entries(record.get(documents, []), documents, "ids")))
        if len(lists[documents]) not in (0, len(lists[side])):
            problem = (
                f'"{side}" has {len(lists[side])} grades and {len(lists[documents])} documents'
            )
            raise InputError(problem, "give as many of each, or no documents")
    name, query = (parse_id(record.get(one), one) for one in ("question", "query"))
    return PairQuestion(name or "", query, **lists)


def _entries(value: Any, name: str, what: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or any(isinstance(one, list | dict | bool) for one in value):
        raise InputError(f'"{name}" is {value!r:.60}', f"give a list of {what}")
    return tuple(value)


@dataclass(frozen=True)
class MatchedAnswers:
    """The answers to questions, and the number of the question of each, shape (n,)."""

    answers: Preferences
    questions: Integers
    elsewhere: int
    edited: int
    repeated: int


def match_answers(
    questions: Sequence[PairQuestion], answers: Preferences, ids: Ids
) -> MatchedAnswers:
    """Find the question of each answer, whose id is in `ids`; a note counts those left out.

    They are answers to other questions, answers whose lists are not those of their question, and
    all but the last answer of one judge to one question.
    """
    numbers = {one.id: number for number, one in enumerate(questions)}
    asked = np.array([numbers.get(str(one), -1) for one in ids], np.int64)
    kept: NDArray[np.bool_] = asked >= 0
    elsewhere = int((~kept).sum())
    for row in np.flatnonzero(kept):
        question = questions[asked[row]]
        lists = {_coded(one, answers.scale) for one in (question.a, question.b)}
        kept[row] = {_trimmed(one) for one in answers.lists[row].tolist()} == lists
    edited = len(asked) - elsewhere - int(kept.sum())
    judged = [*zip(asked.tolist(), answers.judges.tolist(), strict=True)]
    later = Counter[tuple[int, str]]()
    for row in np.flatnonzero(kept)[::-1]:
        later[judged[row]] += 1
        kept[row] = later[judged[row]] == 1 or judged[row][1] is None
    repeated = len(asked) - elsewhere - edited - int(kept.sum())
    for count, why in (
        (elsewhere, "to questions of another batch"),
        (edited, "whose lists are not those of their question"),
        (repeated, "that their judge gave once more later"),
    ):
        if count:
            warn_of_input(f"{counted(count, 'answer')} {why} left out")
    return MatchedAnswers(answers[kept], asked[kept], elsewhere, edited, repeated)


def _coded(grades: Grades, scale: Scale) -> tuple[int, ...]:
    """Return grades as indices, as they are read: a document without a grade counts as worst."""
    known = {label: index for index, label in enumerate(scale.labels)} | {None: len(scale) - 1}
    end = len(grades)
    while end and grades[end - 1] is None:
        end -= 1
    return tuple(known.get(one, len(scale)) for one in grades[:end])


def _trimmed(codes: list[int]) -> tuple[int, ...]:
    while codes and codes[-1] == NO_DOCUMENT:
        codes = codes[:-1]
    return tuple(codes)
