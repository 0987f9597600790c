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
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError, naming, warn_of_input
from dcglearn.base.files import PathLike, write_text
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import parse_id
from dcglearn.base.tables.json_records import read_records
from dcglearn.base.tables.text import open_text
from dcglearn.base.types import Ids
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.read import JudgmentTable, read_preferences
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
    found, lines = list[PairQuestion](), dict[str, int]()
    with open_text(Path(path), str(path)) as file:
        for line, record in read_records(file, str(path)):
            with naming(f"{path}, line {line}"):
                question = _question(record)
                if first := lines.get(question.id):
                    problem = f"the question {question.id!r} is also in line {first}"
                    raise InputError(problem, "give each question an id of its own")
            lines[question.id] = line
            found.append(question)
    if not found:
        raise InputError("holds no question", "write one with dcglearn plan", str(path))
    return found


def _question(record: dict[str, Any]) -> PairQuestion:
    for name in ("question", "a", "b"):
        if record.get(name) in (None, "", []):
            remedy = "every question needs question (its id), a and b; dcglearn plan writes them"
            raise InputError(f'"{name}" is missing', remedy)
    lists = {name: _entries(record, name) for name in ("a", "b", "a_documents", "b_documents")}
    for side in "ab":
        n_grades, n_documents = len(lists[side]), len(lists[f"{side}_documents"])
        if n_documents not in (0, n_grades):
            problem = f"a list has {n_grades} grades and {n_documents} documents"
            raise InputError(problem, "give as many of each, or no documents")
        lists[f"{side}_documents"] = (*map(str, lists[f"{side}_documents"]),)
    own, query = (parse_id(record.get(one), one) for one in ("question", "query"))
    return PairQuestion(own or "", query, **lists)


def _entries(record: dict[str, Any], name: str) -> tuple[Any, ...]:
    value = record.get(name, [])
    if not isinstance(value, list) or any(isinstance(one, list | dict | bool) for one in value):
        raise InputError(f'"{name}" is {value!r:.60}', "give a list of grades or ids")
    return tuple(value)


def read_answers(
    judged: Sequence[PathLike], asked: Sequence[PathLike], scale: Scale
) -> Preferences | None:
    """Return the judgments so far; of the questions of files, if any, only answers to them."""
    if not judged:
        if asked:
            raise InputError("`asked` without `judged`", "name the answers, too")
        return None
    if not asked:
        return read_preferences(judged, scale=scale)
    questions = [one for path in asked for one in read_questions(path)]
    table = JudgmentTable(judged, ReadOptions(scale, keep=("question",)))
    return match_answers(questions, table.preferences(), table.kept("question"))


def match_answers(questions: Sequence[PairQuestion], answers: Preferences, ids: Ids) -> Preferences:
    """Return the answers to questions, whose ids are `ids`; notes count those left out."""
    known = {one.id: one for one in questions}

    def problem(one: object, lists: list[list[int]]) -> str:
        question = known.get(str(one))
        if question is None:
            return "to questions of another batch"
        asked = sorted(_coded(side, answers) for side in (question.a, question.b))
        return "" if sorted(lists) == asked else "whose lists are not those of their question"

    problems = [*map(problem, ids, answers.lists.tolist())]
    for why, count in sorted(Counter(filter(None, problems)).items()):
        warn_of_input(f"{counted(count, 'answer')} {why} left out")
    return answers[np.array([not why for why in problems], bool)]


def _coded(grades: Grades, answers: Preferences) -> list[int]:
    """Return grades as indices, as they are read: a document without a grade counts as worst."""
    scale = answers.scale
    known = {label: index for index, label in enumerate(scale.labels)} | {None: len(scale) - 1}
    end = max((rank for rank, one in enumerate(grades, 1) if one is not None), default=0)
    codes = [known.get(one, len(scale)) for one in grades[:end]]
    return codes + [NO_DOCUMENT] * (answers.n_ranks - end)
