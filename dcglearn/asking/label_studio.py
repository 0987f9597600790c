"""Questions as tasks of Label Studio, for teams that judge there.

A task holds the fields of an answer but for the answer itself, so its exports JSON_MIN and CSV are
files of judgments. Sides are drawn once per question, for all judges.
https://labelstud.io/guide/task_format and https://labelstud.io/tags/list
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from dcglearn.asking.texts import ShownQuestion, Text


def labelling() -> str:
    """Return the labelling configuration of the project."""
    return files("dcglearn.asking").joinpath("label_studio.xml").read_text("utf-8")


def label_studio_tasks(questions: Sequence[ShownQuestion], seed: int) -> list[dict[str, Any]]:
    """Return one task per question, whose list a is on the left."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    return [{"data": _task(one, rng.random() < 0.5)} for one in questions]


def _task(shown: ShownQuestion, swap: bool) -> dict[str, Any]:
    question = shown.question
    left, right = (question.a, _items(shown.a)), (question.b, _items(shown.b))
    if swap:
        left, right = right, left
    return {
        "question": question.id,
        "query": question.query or "",
        "a": left[0],
        "b": right[0],
        "reversed": swap,
        "title": shown.query or "Which list is better?",
        "shown_left": left[1],
        "shown_right": right[1],
    }


def _items(texts: Sequence[Text]) -> list[dict[str, str]]:
    return [
        {"id": str(rank), "title": one.title, "body": one.snippet}
        for rank, one in enumerate(texts, start=1)
    ]
