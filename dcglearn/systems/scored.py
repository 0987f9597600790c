"""Files of scored documents, and what their documents are worth by their grades.

A file holds one document per row: ``score``, ``grade`` (empty or null for an unjudged document)
and, where known, ``id``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.sources import Place
from dcglearn.base.types import Floats
from dcglearn.judgments.meaning.columns import RecordFields
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.reading.fields import read_records
from dcglearn.measures.dcg import DCG
from dcglearn.measures.names import parse_measure
from dcglearn.measures.scale import Label, Scale, canonical_label

SCORED_DOCUMENTS = RecordFields("document", ("id", "score", "grade"), ("score",))


class Scored(NamedTuple):
    """Documents with scores, shape (n,), and grades, None for an unjudged one."""

    scores: Floats
    grades: tuple[Label | None, ...]
    place: Callable[[int], str]

    def first_rows(self) -> dict[Label, int]:
        """Return the grades that occur, each with its first row."""
        found: dict[Label, int] = {}
        for row, grade in enumerate(self.grades):
            if grade is not None:
                found.setdefault(grade, row)
        return found


def read_scored(
    path: Place | Iterable[Place],
    advance: Advance = silent,
    options: ReadOptions | None = None,
) -> Scored:
    """Read files of scored documents; of the options, those on columns and text apply."""
    table = read_records(path, SCORED_DOCUMENTS, options or ReadOptions(), advance)
    first: dict[str, int] = {}
    for row, name in enumerate(table.ids("id").decoded().tolist()):
        if name is not None and first.setdefault(name, row) != row:
            problem = f"the document {name!r} is also in {table.place(first[name])}"
            raise InputError(problem, "keep one", table.place(row))
    grades = table.column("grade").parsed(_grade, table.place).decoded()
    return Scored(table.numbers("score"), tuple(grades.tolist()), table.place)


def _grade(value: Any) -> Label | None:
    if value == "":
        return None
    try:
        return canonical_label(value)
    except (TypeError, ValueError) as error:
        problem = f'"grade" is {value!r}'
        raise InputError(problem, "use a number or a name; leave it empty if unjudged") from error


def net_gains(gains: str | None, measure: str | None, cost: float) -> dict[Label, float]:
    """Return the gain of each grade, in words or by a measure, minus the cost of reading it."""
    labels: tuple[Label, ...] = ()
    values: tuple[float, ...] = ()
    if gains is not None:
        scale = Scale.parse(gains)
        labels, values = scale.labels, scale.values
    elif measure is not None:
        found = parse_measure(measure).measure
        if not isinstance(found, DCG):
            remedy = f"name a DCG, such as {measure.removesuffix(':utility')}:dcg"
            problem = "its weights differ by rank, and a grade has no single gain"
            raise InputError(problem, remedy, measure)
        if found.grades is None:
            remedy = "write its gains as {2: 1, 1: .4, 0: 0}"
            raise InputError("its grades have no names", remedy, measure)
        labels, values = found.grades, found.gains
    return {label: gain - cost for label, gain in zip(labels, values, strict=True)}


def by_relevance(
    documents: Scored, relevant: str | None, credit: float, other: float
) -> dict[Label, float]:
    """Return the worth of relevant grades, by default numbers above 0, and of others."""
    grades = documents.first_rows()
    if relevant is None:
        for grade, row in grades.items():
            if isinstance(grade, str):
                remedy = "name the relevant grades, such as `relevant=perfect,good`"
                raise InputError(f"the grade {grade!r} is a name", remedy, documents.place(row))
        labels = tuple(grade for grade in grades if float(grade) > 0)
    else:
        labels = Scale.parse(relevant).labels
        if not grades.keys() & {*labels}:
            names = ", ".join(map(str, grades))
            warn_of_input(f"no document has the grade {relevant}; they have {names}")
    return {grade: credit if grade in labels else other for grade in grades}


def utilities_of(documents: Scored, worth: Mapping[Label, float], unjudged: float) -> list[float]:
    """Return what delivering each document is worth."""
    for grade, row in documents.first_rows().items():
        if grade not in worth:
            known = ", ".join(map(str, worth))
            raise InputError(
                f"the grade {grade} has no gain", f"give one, as {known} have", documents.place(row)
            )
    return [unjudged if grade is None else worth[grade] for grade in documents.grades]
