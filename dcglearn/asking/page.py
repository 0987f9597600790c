"""The page on which a judge answers questions: one HTML file without a server or a network.

Its content security policy allows one script and one style sheet, named by their hashes, and
nothing else. Texts of others are data in JSON, which the script shows as text. Each judge has an
order of the questions and of the sides of each, drawn by the seed and the judge's name.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from dcglearn.asking.texts import ShownQuestion
from dcglearn.base.errors import InputError

INSTRUCTION = """\
Imagine that you typed the query. **Which of the two lists would you rather get?**

* Judge the whole list as you would use it, and not the side that it is on: sides are shuffled.
* If neither list is better, say whether both are good or both are bad.
* Skip a question that you cannot judge, such as one in a language that you do not read.
"""
"""What judges are asked by default, in Markdown."""


def judge_page(
    questions: Sequence[ShownQuestion],
    batch: str,
    instruction: str = INSTRUCTION,
    judge: str = "",
    seed: int = 0,
) -> str:
    """Return the page; without a name of its judge, it asks for one."""
    from jinja2 import Environment, StrictUndefined

    source = files("dcglearn.asking").joinpath("judge.html.jinja").read_text("utf-8")
    data = {
        "batch": batch,
        "judge": judge,
        "seed": seed,
        "questions": [_shown(one) for one in questions],
    }
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
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
    questions: Sequence[ShownQuestion], judges: Sequence[str], overlap: float, seed: int
) -> dict[str, list[ShownQuestion]]:
    """Return the questions of each judge: a share is for all judges, the others for one each.

    A question that is repeated under another id is for the same judge.
    """
    same = dict[str, list[ShownQuestion]]()
    for one in questions:
        same.setdefault(one.question.asked(), []).append(one)
    groups = list(same.values())
    random.Random(seed).shuffle(groups)  # noqa: S311 - not a secret
    shared = round(overlap * len(groups))
    return {
        judge: [
            one
            for group in (*groups[:shared], *groups[shared + number :: len(judges)])
            for one in group
        ]
        for number, judge in enumerate(judges)
    }


def _shown(shown: ShownQuestion) -> dict[str, Any]:
    question = shown.question
    return {
        "id": question.id,
        "query": question.query,
        "title": shown.query,
        "a": question.a,
        "b": question.b,
        "shown": {"a": shown.a, "b": shown.b},
    }


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
