"""Questions as tasks of Label Studio, for teams that judge there.

A task holds the fields of an answer but for the answer itself, so its exports JSON_MIN and CSV are
files of judgments. Sides are drawn once per question, for all judges.
https://labelstud.io/guide/task_format and https://labelstud.io/tags/list
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from dcglearn.asking.texts import ShownQuestion, Text

LABELLING = """\
<View>
  <Header value="$title"/>
  <View style="display: grid; grid-template-columns: 1fr 1fr; gap: 1rem">
    <List name="left" value="$shown_left" title="Left"/>
    <List name="right" value="$shown_right" title="Right"/>
  </View>
  <Choices name="answer" toName="left" choice="single" showInline="true" required="true">
    <Choice value="Left is better" alias="a" hotkey="1"/>
    <Choice value="Both good" alias="good" hotkey="2"/>
    <Choice value="Both bad" alias="bad" hotkey="3"/>
    <Choice value="Skip" alias="skip" hotkey="4"/>
    <Choice value="Right is better" alias="b" hotkey="5"/>
  </Choices>
  <TextArea name="comment" toName="left" placeholder="Comment, if there is something to say"/>
</View>
"""
"""The labelling configuration of the project."""


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
