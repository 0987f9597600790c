"""What judges see in place of ids: the texts of documents and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    of_documents, of_queries = dict[str, Text](), dict[str, Text]()
    if documents is not None:
        ids = {one for each in questions for one in (*each.a_documents, *each.b_documents)}
        of_documents = _read_texts(documents, ids, "document", "documents")
    if queries is not None:
        ids = {one.query for one in questions if one.query}
        of_queries = _read_texts(queries, ids, "query", "queries")
    return [
        {
            "id": one.id,
            "query": one.query,
            "title": _query_text(one, of_queries),
            "a": one.a,
            "b": one.b,
            "shown": {
                "a": _list(one.a, one.a_documents, of_documents),
                "b": _list(one.b, one.b_documents, of_documents),
            },
        }
        for one in questions
    ]


def _read_texts(path: PathLike, wanted: set[str], noun: str, plural: str) -> dict[str, Text]:
    """Read the texts of some ids; a note counts those that are not there or have no title.

    The file has the columns id, title, text (or snippet) and url; one of title and text is enough.
    """
    records = read_records(path, SHOWN_TEXTS, ReadOptions())
    if not all({*names} & {*records.columns} for names in (("id", "query"), ("title", "text"))):
        remedy = "name its columns in the first line: id, and title or text"
        raise InputError(f"has no ids and titles of {plural}", remedy, records.name)
    ids = records.ids("id" if "id" in records.columns else "query").decoded()
    texts = (map(_words, records.column(one).decoded()) for one in ("title", "text", "url"))
    found, untitled = dict[str, Text](), 0
    for row, (one, title, snippet, url) in enumerate(zip(ids, *texts, strict=True)):
        if one in found:
            place = records.place(row)
            raise InputError(f"the {noun} {one!r} appears twice", "keep one", place)
        if one in wanted:
            link = url if url.startswith(("http://", "https://")) else ""
            found[one] = Text(title if title or snippet else one, snippet, link)
            untitled += not (title or snippet)
    if not found:
        raise InputError(f"holds none of the {plural} asked about", "check the ids", records.name)
    for count, lacking in ((len(wanted) - len(found), "not in"), (untitled, "without a title in")):
        if count:
            shown = f"{count:,} of {counted(len(wanted), noun, plural)} are {lacking}"
            warn_of_input(f"{shown} {records.name}; their ids are shown")
    return found


def _query_text(question: PairQuestion, texts: Mapping[str, Text]) -> str:
    found = texts.get(question.query or "", Text(question.query or ""))
    return found.title or found.snippet


def _list(grades: Grades, documents: Sequence[str], texts: Mapping[str, Text]) -> list[Text]:
    """Return the text of each rank: that of its document, or the document's id, or the grade."""
    if not documents:
        return [Text("no grade" if one is None else f"grade {one}") for one in grades]
    return [texts.get(one, Text(one)) for one in documents]


def _words(value: object) -> str:
    return "" if is_missing(value) else " ".join(str(value).split())
