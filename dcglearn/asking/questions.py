"""Questions for judges, as a file, on a page or in Label Studio, and the answers that are theirs.

A question is a pair of lists. Its id begins with the name of its batch, a hash of all that is
asked, so that answers to other questions are recognised. An answer has the list that was shown on
the left as its list a, whichever it was in the question.

The page is one HTML file that needs neither a server nor a network. Its content security policy
allows one script and one style sheet, named by their hashes, and nothing else. Texts of others are
data in JSON, which the script shows as text. Each judge has an order of the questions and of the
sides of each, drawn by the seed and the judge's name.

A task holds the fields of an answer but for the answer itself, so its exports JSON_MIN and CSV are
files of judgments; sides are drawn once per question (https://labelstud.io/guide/task_format).
"""

import base64
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError, naming, warn_of_input
from dcglearn.base.files import PathLike, open_text, read_text, write_text
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import parse_id
from dcglearn.base.tables.json_records import read_records as read_lines
from dcglearn.base.types import Ids
from dcglearn.judgments.meaning.columns import RecordFields
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.read import JudgmentTable, read_preferences
from dcglearn.judgments.reading.fields import read_records
from dcglearn.measures.scale import Label, Scale

Grades = tuple[Label | None, ...]
"""The labels of a list's grades from the first rank down, None where a document has none."""

FOLDER = Path(__file__).parent
"""Of the page, the instruction that is on it by default, and the configuration of Label Studio."""

_WEB = ("http://", "https://")
_TEXTS = RecordFields("text", ("id", "query", "title", "text", "url"), ())

Shown: TypeAlias = dict[str, Any]
"""A question with the `title` of its query and the texts `shown` of its lists, for JSON."""


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
    lines = [json.dumps(one.to_json(), ensure_ascii=False) for one in questions]
    write_text(path, "\n".join([*lines, ""]))


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
    questions, lines = list[PairQuestion](), dict[str, int]()
    with open_text(Path(path), str(path)) as file:
        for line, record in read_lines(file, str(path)):
            with naming(f"{path}, line {line}"):
                questions.append(_question(record))
                own = questions[-1].id
                if (first := lines.setdefault(own, line)) != line:
                    problem = f"the question {own!r} is also in line {first}"
                    raise InputError(problem, "give each question an id of its own")
    if not questions:
        raise InputError("holds no question", "write one with dcglearn plan", str(path))
    return questions


def _question(record: dict[str, Any]) -> PairQuestion:
    for name in ("question", "a", "b"):
        if record.get(name) in (None, "", []):
            remedy = "every question needs question (its id), a and b; dcglearn plan writes them"
            raise InputError(f'"{name}" is missing', remedy)
    lists = dict[str, tuple[Any, ...]]()
    for name in ("a", "b", "a_documents", "b_documents"):
        value = record.get(name, [])
        if not isinstance(value, list) or any(isinstance(one, list) for one in value):
            raise InputError(f'"{name}" is {value!r:.60}', "give a list of grades or ids")
        lists[name] = (*value,) if name in "ab" else (*map(str, value),)
        if len(value) not in (0, n_grades := len(lists[name[0]])):
            problem = f"a list has {n_grades} grades and {len(value)} documents"
            raise InputError(problem, "give as many of each, or no documents")
    own, query = (parse_id(record.get(one), one) for one in ("question", "query"))
    return PairQuestion(own or "", query, **lists)


def read_answers(
    judged: Sequence[PathLike], asked: Sequence[PathLike], scale: Scale
) -> Preferences | None:
    """Return the judgments so far; of the questions of files, if any, only answers to them."""
    if asked and not judged:
        raise InputError("`asked` without `judged`", "name the answers, too")
    if not asked:
        return read_preferences(judged, scale=scale) if judged else None
    questions = [one for path in asked for one in read_questions(path)]
    table = JudgmentTable(judged, ReadOptions(scale, keep=("question",)))
    return match_answers(questions, table.preferences(), table.kept("question"))


def match_answers(questions: Sequence[PairQuestion], answers: Preferences, ids: Ids) -> Preferences:
    """Return the answers to questions, whose ids are `ids`; notes count those left out."""
    known = {one.id: _as_read((one.a, one.b), answers.scale) for one in questions}
    labels = np.array([*answers.scale.labels, None], object)  # the last is no document

    def problem(one: object, lists: list[Grades]) -> str:
        if str(one) not in known:
            return "to questions of another batch"
        same = _as_read(lists, answers.scale) == known[str(one)]
        return "" if same else "whose lists are not those of their question"

    problems = [*map(problem, ids, labels[answers.lists].tolist())]
    for why, count in sorted(Counter(filter(None, problems)).items()):
        warn_of_input(f"{counted(count, 'answer')} {why} left out")
    return answers[np.array([not why for why in problems], bool)]


def _as_read(lists: Iterable[Grades], scale: Scale) -> set[Grades]:
    """Return two lists without empty ranks below; a document without a grade counts as worst."""
    found = set[Grades]()
    for side in lists:
        while side and side[-1] is None:
            side = side[:-1]
        found.add(tuple(scale.labels[-1] if one is None else one for one in side))
    return found


class Text(NamedTuple):
    """What is shown of a document or a query; a link is empty unless it is of http or https."""

    title: str
    snippet: str = ""
    url: str = ""


def shown_questions(
    questions: Sequence[PairQuestion], documents: PathLike | None, queries: PathLike | None
) -> list[Shown]:
    """Return questions with the texts of files, and ids where there is no file or no text."""
    ids = {one for each in questions for one in (*each.a_documents, *each.b_documents)}
    of_documents = _read_texts(documents, ids, "document", "documents")
    asked = {one.query for one in questions if one.query}
    of_queries = _read_texts(queries, asked, "query", "queries")

    def texts(grades: Grades, documents: tuple[str, ...]) -> list[Text]:
        if documents:
            return [of_documents.get(one, Text(one)) for one in documents]
        return [Text("no grade" if one is None else f"grade {one}") for one in grades]

    return [
        {
            "id": one.id,
            "query": one.query,
            "title": of_queries.get(one.query or "", Text(one.query or "")).title,
            "a": one.a,
            "b": one.b,
            "shown": {"a": texts(one.a, one.a_documents), "b": texts(one.b, one.b_documents)},
        }
        for one in questions
    ]


def _read_texts(path: PathLike | None, wanted: set[str], noun: str, plural: str) -> dict[str, Text]:
    """Read the texts of some ids; a note counts those that are not there or have no title.

    The file has the columns id, title, text (or snippet) and url; one of title and text is enough.
    """
    if path is None:
        return {}
    records = read_records(path, _TEXTS, ReadOptions())
    if not all({*names} & {*records.columns} for names in (("id", "query"), ("title", "text"))):
        remedy = "name its columns in the first line: id, and title or text"
        raise InputError(f"has no ids and titles of {plural}", remedy, records.name)
    ids = records.ids("id" if "id" in records.columns else "query").decoded()
    texts = (records.column(one).decoded() for one in ("title", "text", "url"))
    found, untitled = dict[str, Text](), 0
    for row, (one, *cells) in enumerate(zip(ids, *texts, strict=True)):
        if one in found:
            raise InputError(f"the {noun} {one!r} appears twice", "keep one", records.place(row))
        if one in wanted:
            title, text, url = (
                "" if cell is None else " ".join(str(cell).split()) for cell in cells
            )
            link = url if url.startswith(_WEB) else ""
            found[one] = Text(title or text or one, text if title else "", link)
            untitled += not (title or text)
    if not found:
        raise InputError(f"holds none of the {plural} asked about", "check the ids", records.name)
    for count, lacking in ((len(wanted) - len(found), "not in"), (untitled, "without a title in")):
        if count:
            shown = f"{count:,} of {counted(len(wanted), noun, plural)} are {lacking}"
            warn_of_input(f"{shown} {records.name}; their ids are shown")
    return found


def judge_page(
    questions: Sequence[Shown], batch: str, instruction: str, judge: str, seed: int
) -> str:
    """Return the page; without a name of its judge, it asks for one."""
    from jinja2 import Template
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).disable("image")
    reader.validateLink = lambda url: url.startswith(_WEB)  # type: ignore[method-assign]  # as its documentation says
    shown = reader.render(instruction)
    source = read_text(FOLDER / "judge.html.jinja")
    data = {"batch": batch, "judge": judge, "seed": seed, "questions": questions}
    own = re.findall(r"<(script|style)>(.*?)</\1>", source, re.DOTALL)
    digests = {f"{tag}_hash": hashlib.sha256(text.encode()).digest() for tag, text in own}
    html: str = Template(source, autoescape=True, keep_trailing_newline=True).render(
        {name: base64.b64encode(digest).decode() for name, digest in digests.items()},
        instruction=shown.replace("<a href=", '<a target="_blank" rel="noopener noreferrer" href='),
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    )
    return html


def files_of_judges(out: str, judges: str | None) -> dict[str, str]:
    """Return the file of each judge of a list with commas, with the name before the suffix."""
    if judges is None:
        return {"": out}
    names = [one.strip() for one in judges.split(",")]
    if "" in names or len({*names}) < len(names):
        problem = f"`judges={judges}` is not a list of names"
        raise InputError(problem, "name each judge once, with commas between them")
    path, unsafe = Path(out), re.compile(r"[^\w.-]+")
    return {one: str(path.with_stem(f"{path.stem}-{unsafe.sub('-', one)[:50]}")) for one in names}


def questions_of_judges(
    questions: Sequence[Shown], judges: Sequence[str], overlap: float, seed: int
) -> dict[str, list[Shown]]:
    """Return the questions of each judge: a share is for all judges, the others for one each.

    A question that is repeated under another id, sides exchanged or not, is for the same judge.
    """
    if len(judges) == 1:
        return {judges[0]: list(questions)}
    same = dict[str, list[Shown]]()
    for one in questions:
        lists = sorted(json.dumps([one[side], one["shown"][side]]) for side in "ab")
        same.setdefault(json.dumps([one["query"], *lists]), []).append(one)
    groups = list(same.values())
    random.Random(seed).shuffle(groups)  # noqa: S311 - not a secret
    shared = round(overlap * len(groups))
    return {
        judge: [*chain(*groups[:shared], *groups[shared + number :: len(judges)])]
        for number, judge in enumerate(judges)
    }


def label_studio_tasks(questions: Sequence[Shown], seed: int) -> list[dict[str, Any]]:
    """Return one task per question, whose list a is on the left."""
    rng, tasks = random.Random(seed), []  # noqa: S311 - not a secret
    for one in questions:
        swap = rng.random() < 0.5
        title = one["title"] or "Which list is better?"
        task = {"question": one["id"], "query": one["query"] or "", "title": title}
        for side, name, place in zip("ba" if swap else "ab", "ab", ("left", "right"), strict=True):
            task[name] = one[side]
            task[f"shown_{place}"] = [
                {"id": str(rank), "title": text.title, "body": text.snippet}
                for rank, text in enumerate(one["shown"][side], start=1)
            ]
        tasks.append({"data": {**task, "reversed": swap}})
    return tasks
