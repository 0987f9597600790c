"""What judges get: questions with texts, on a page that is one HTML file or in Label Studio.

The page needs neither a server nor a network. Its content security policy allows one script and one
style sheet, named by their hashes, and nothing else. Texts of others are data in JSON, which the
script shows as text. Each judge has an order of the questions and of the sides of each, drawn by
the seed and the judge's name.

A task holds the fields of an answer but for the answer itself, so its exports JSON_MIN and CSV are
files of judgments. Sides are drawn once per question, for all judges.
https://labelstud.io/guide/task_format and https://labelstud.io/tags/list
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from dcglearn.asking.questions import Grades, PairQuestion
from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import PathLike
from dcglearn.base.numbers import counted
from dcglearn.base.tables.columns import is_missing
from dcglearn.judgments.meaning.columns import RecordFields
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.reading.fields import read_records

SHOWN_TEXTS = RecordFields("text", ("id", "query", "title", "text", "url"), ())

Shown: TypeAlias = dict[str, Any]
"""A question with the `title` of its query and the texts `shown` of its lists, for JSON."""


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
    return [
        {
            "id": one.id,
            "query": one.query,
            "title": of_queries.get(one.query or "", Text(one.query or "")).title,
            "a": one.a,
            "b": one.b,
            "shown": {
                "a": _list(one.a, one.a_documents, of_documents),
                "b": _list(one.b, one.b_documents, of_documents),
            },
        }
        for one in questions
    ]


def _read_texts(path: PathLike | None, wanted: set[str], noun: str, plural: str) -> dict[str, Text]:
    """Read the texts of some ids; a note counts those that are not there or have no title.

    The file has the columns id, title, text (or snippet) and url; one of title and text is enough.
    """
    if path is None:
        return {}
    records = read_records(path, SHOWN_TEXTS, ReadOptions())
    if not all({*names} & {*records.columns} for names in (("id", "query"), ("title", "text"))):
        remedy = "name its columns in the first line: id, and title or text"
        raise InputError(f"has no ids and titles of {plural}", remedy, records.name)
    ids = records.ids("id" if "id" in records.columns else "query").decoded()
    texts = (map(_words, records.column(one).decoded()) for one in ("title", "text", "url"))
    found, untitled = dict[str, Text](), 0
    for row, (one, title, text, url) in enumerate(zip(ids, *texts, strict=True)):
        if one in found:
            place = records.place(row)
            raise InputError(f"the {noun} {one!r} appears twice", "keep one", place)
        if one in wanted:
            link = url if url.startswith(("http://", "https://")) else ""
            found[one] = Text(title or text or one, text if title else "", link)
            untitled += not (title or text)
    if not found:
        raise InputError(f"holds none of the {plural} asked about", "check the ids", records.name)
    for count, lacking in ((len(wanted) - len(found), "not in"), (untitled, "without a title in")):
        if count:
            shown = f"{count:,} of {counted(len(wanted), noun, plural)} are {lacking}"
            warn_of_input(f"{shown} {records.name}; their ids are shown")
    return found


def _list(grades: Grades, documents: Sequence[str], texts: Mapping[str, Text]) -> list[Text]:
    """Return the text of each rank: that of its document, or the document's id, or the grade."""
    if not documents:
        return [Text("no grade" if one is None else f"grade {one}") for one in grades]
    return [texts.get(one, Text(one)) for one in documents]


def _words(value: object) -> str:
    return "" if is_missing(value) else " ".join(str(value).split())


def template(name: str) -> str:
    """Return the text of a file beside this one."""
    return files("dcglearn.asking").joinpath(name).read_text("utf-8")


def judge_page(
    questions: Sequence[Shown], batch: str, instruction: str, judge: str, seed: int
) -> str:
    """Return the page; without a name of its judge, it asks for one."""
    from jinja2 import Template

    source = template("judge.html.jinja")
    data = {"batch": batch, "judge": judge, "seed": seed, "questions": questions}
    html: str = Template(source, autoescape=True, keep_trailing_newline=True).render(
        script_hash=_hash(source, "script"),
        style_hash=_hash(source, "style"),
        instruction=_html_of_markdown(instruction),
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
    return {
        name: str(path.with_name(f"{path.stem}-{unsafe.sub('-', name)[:50]}{path.suffix}"))
        for name in names
    }


def questions_of_judges(
    questions: Sequence[Shown], judges: Sequence[str], overlap: float, seed: int
) -> dict[str, list[Shown]]:
    """Return the questions of each judge: a share is for all judges, the others for one each.

    A question that is repeated under another id is for the same judge.
    """
    if len(judges) == 1:
        return {judges[0]: list(questions)}
    same = dict[str, list[Shown]]()
    for one in questions:
        same.setdefault(json.dumps({**one, "id": ""}), []).append(one)
    groups = list(same.values())
    random.Random(seed).shuffle(groups)  # noqa: S311 - not a secret
    shared = round(overlap * len(groups))
    parts = {
        judge: [*groups[:shared], *groups[shared + number :: len(judges)]]
        for number, judge in enumerate(judges)
    }
    return {judge: [*chain.from_iterable(part)] for judge, part in parts.items()}


def label_studio_tasks(questions: Sequence[Shown], seed: int) -> list[dict[str, Any]]:
    """Return one task per question, whose list a is on the left."""
    rng, tasks = random.Random(seed), []  # noqa: S311 - not a secret
    for one in questions:
        swap = rng.random() < 0.5
        left, right = "ba" if swap else "ab"
        task = {
            "question": one["id"],
            "query": one["query"] or "",
            "a": one[left],
            "b": one[right],
            "reversed": swap,
            "title": one["title"] or "Which list is better?",
        }
        for name, side in (("shown_left", left), ("shown_right", right)):
            task[name] = [
                {"id": str(rank), "title": text.title, "body": text.snippet}
                for rank, text in enumerate(one["shown"][side], start=1)
            ]
        tasks.append({"data": task})
    return tasks


def _hash(source: str, tag: str) -> str:
    """Return the name of an element's text in a content security policy."""
    found = re.search(f"<{tag}>(.*?)</{tag}>", source, re.DOTALL)
    assert found is not None, tag  # noqa: S101 - of our own template
    return base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()


def _html_of_markdown(text: str) -> str:
    """Return Markdown as HTML; its tags are shown as text, and links are of http and https only."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).disable("image")
    reader.validateLink = lambda url: url.startswith(("http://", "https://"))  # type: ignore[method-assign]  # as its documentation says
    html: str = reader.render(text)
    return html.replace("<a href=", '<a target="_blank" rel="noopener noreferrer" href=')
