"""What ``evaluate`` prints: the tables of an evaluation and its comparisons, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dcglearn.report.systems.evaluation_files import (
    evaluation_to_json,
    means_table,
    queries_table,
    topics_table,
    topics_to_json,
)
from dcglearn.report.systems.words import (
    are_many,
    comparisons_in_words,
    comparisons_table,
    evaluation_in_words,
    marks_in_words,
)
from dcglearn.systems.compare_systems import SystemComparison
from dcglearn.systems.evaluate import Evaluation


def evaluation_document(
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison],
    per_query: bool = False,
    topics: float | None = None,
) -> dict[str, Any]:
    """Return an evaluation, and the queries that would find a difference, as a JSON-able dict."""
    found = evaluation_to_json(evaluation, comparisons, per_query)
    return found if topics is None else found | {"topics": topics_to_json(evaluation, topics)}


def evaluation_text(
    evaluation: Evaluation,
    comparisons: Sequence[SystemComparison],
    per_query: bool = False,
    topics: float | None = None,
    digits: int = 4,
    width: int | None = None,
) -> str:
    """Return the same as tables, folded to `width` characters, and sentences."""
    notes = evaluation_in_words(evaluation)
    marked = comparisons if are_many(comparisons) else []
    if per_query:
        tables = [replace(queries_table(evaluation), digits=digits)]
    else:
        tables = [means_table(evaluation, marked, digits)]
    if marked:
        notes.append(marks_in_words(evaluation.systems, marked))
    elif comparisons:
        tables.append(comparisons_table(comparisons))
    if comparisons:
        notes += comparisons_in_words(comparisons)
    if topics is not None:
        tables.append(topics_table(evaluation, topics))
    return "\n\n".join([*(one.text(width) for one in tables), "\n".join(notes)])
