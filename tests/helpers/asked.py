"""PairQuestion files for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from dcglearn.asking.questions import PairQuestion, batch_name, write_questions
from helpers.written import write_records


def drawn_questions(number: int, repeated: int = 0, documents: bool = False) -> list[PairQuestion]:
    """Return questions on lists of five grades, of which the first are repeated at the end."""
    rng = np.random.default_rng(7)
    drawn = []
    for row, (a, b) in enumerate(rng.integers(0, 3, (number, 2, 5)).tolist()):
        ids = tuple(f"d{row}-{rank}" for rank in range(10)) if documents else ()
        drawn.append(PairQuestion("", f"q{row}", tuple(a), tuple(b), ids[:5], ids[5:]))
    asked = drawn + drawn[:repeated]
    batch = batch_name(asked)
    return [replace(one, id=f"{batch}-{row:04d}") for row, one in enumerate(asked, start=1)]


def written_questions(folder: Path, questions: list[PairQuestion]) -> Path:
    """Write questions, the texts of their documents, and the words of their queries."""
    ids = [one for each in questions for one in (*each.a_documents, *each.b_documents)]
    texts = [
        {
            "id": one,
            "title": f"Title {one}",
            "text": f"Text of {one}.",
            "url": f"https://x.org/{one}",
        }
        for one in dict.fromkeys(ids)
    ]
    queries = {one.query: {"id": one.query, "text": f"words of {one.query}"} for one in questions}
    write_records(folder / "docs.jsonl", *texts)
    write_records(folder / "queries.jsonl", *queries.values())
    write_questions(folder / "questions.jsonl", questions)
    return folder / "questions.jsonl"
