"""What judges get: a page that is one HTML file, or tasks of Label Studio.

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
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from dcglearn.asking.texts import Shown, Text
from dcglearn.base.errors import InputError


def default_instruction() -> str:
    """Return what judges are asked by default, in Markdown."""
    return _file("instruction.md")


def judge_page(
    questions: Sequence[Shown], batch: str, instruction: str, judge: str, seed: int
) -> str:
    """Return the page; without a name of its judge, it asks for one."""
    from jinja2 import Environment, StrictUndefined

    source = _file("judge.html.jinja")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    data = {"batch": batch, "judge": judge, "seed": seed, "questions": questions}
    return environment.from_string(source).render(
        script_hash=_hash(source, "script"),
        style_hash=_hash(source, "style"),
        instruction=_html_of_markdown(instruction),
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    )


def files_of_judges(out: str, judges: str) -> dict[str, str]:
    """Return the file of each judge of a list with commas, with the name before the suffix."""
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
    return {judge: list(chain.from_iterable(part)) for judge, part in parts.items()}


def labelling() -> str:
    """Return the labelling configuration of a project of Label Studio."""
    return _file("label_studio.xml")


def label_studio_tasks(questions: Sequence[Shown], seed: int) -> list[dict[str, Any]]:
    """Return one task per question, whose list a is on the left."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    return [{"data": _task(one, rng.random() < 0.5)} for one in questions]


def _task(shown: Shown, swap: bool) -> dict[str, Any]:
    left, right = "ba" if swap else "ab"
    return {
        "question": shown["id"],
        "query": shown["query"] or "",
        "a": shown[left],
        "b": shown[right],
        "reversed": swap,
        "title": shown["title"] or "Which list is better?",
        "shown_left": _items(shown["shown"][left]),
        "shown_right": _items(shown["shown"][right]),
    }


def _items(texts: Sequence[Text]) -> list[dict[str, str]]:
    return [
        {"id": str(rank), "title": one.title, "body": one.snippet}
        for rank, one in enumerate(texts, start=1)
    ]


def _file(name: str) -> str:
    return files("dcglearn.asking").joinpath(name).read_text("utf-8")


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
