"""Question files for tests, and the pages on which they are judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dcglearn.asking.questions import PairQuestion, batch_name, write_questions
from helpers.commands import run_here
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


def written_texts(folder: Path, questions: list[PairQuestion]) -> dict[str, str]:
    """Write the texts of documents and queries; return the options that name them."""
    ids = [one for each in questions for one in (*each.a_documents, *each.b_documents)]
    write_records(
        folder / "docs.jsonl",
        *(
            {"id": one, "title": f"Title {one}", "text": f"Text of {one}.", "url": f"https://{one}"}
            for one in dict.fromkeys(ids)
        ),
    )
    queries = {one.query: {"id": one.query, "text": f"words of {one.query}"} for one in questions}
    write_records(folder / "queries.jsonl", *queries.values())
    return {"documents": str(folder / "docs.jsonl"), "queries": str(folder / "queries.jsonl")}


def asked_by(
    folder: Path, questions: list[PairQuestion], out: str = "page.html", **options: Any
) -> Path:
    """Write questions and what judges get of them, as the command judge does."""
    write_questions(folder / "questions.jsonl", questions)
    run_here("judge", str(folder / "questions.jsonl"), "--out", str(folder / out), **options)
    return folder / out
