"""Files of scored documents: JSON lines, CSV and Parquet, one document per row.

Columns: ``score``, ``grade`` (a number or a name; empty or null for an unjudged document) and,
where known, ``id``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, did_you_mean, warn_of_input
from dcglearn.base.ignored import IgnoredInput
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.places import Place
from dcglearn.base.tables.sources import find_sources, name_sources
from dcglearn.base.types import Floats
from dcglearn.judgments.meaning.given_maps import GivenMap
from dcglearn.judgments.meaning.judgment_fields import parse_id
from dcglearn.judgments.meaning.number_cells import parse_cell
from dcglearn.judgments.reading.field_columns import RecordFields
from dcglearn.judgments.reading.field_records import read_field_records
from dcglearn.measures.scale import Label, Scale, canonical_label

SCORED_DOCUMENTS = RecordFields(
    "document", {"id": "id", "score": "label", "grade": "label"}, ("score",)
)


@dataclass(frozen=True)
class Scored:
    """Documents with their scores and, if judged, their grades.

    Attributes
    ----------
    scores : ndarray of float, shape (n,)
        The scores, finite.
    grades : tuple of labels, length n
        The grades, None for an unjudged document.
    places : tuple of str, length n
        The file and line, or row, of each document.
    """

    scores: Floats
    grades: tuple[Label | None, ...]
    places: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which documents have a grade, shape (n,)."""
        return np.array([grade is not None for grade in self.grades], bool)

    def relevant(self, relevant: Collection[Label] | None = None) -> NDArray[np.bool_]:
        """Return which documents are relevant; unjudged ones are not.

        Parameters
        ----------
        relevant : collection of labels, optional
            The relevant grades; by default all numbers above 0.

        Returns
        -------
        ndarray of bool, shape (n,)

        Raises
        ------
        InputError
            If a grade is a name and `relevant` is not given (naming the line), or no document has
            one of the relevant grades and they seem to be misspelt: names where the documents
            have numbers or the reverse, or a name that is near one of theirs.
        """
        if relevant is not None and (none := self.none_relevant(relevant)) is not None:
            held = {grade for grade in self.grades if grade is not None}
            names = {grade for grade in held if isinstance(grade, str)}
            near = "".join(did_you_mean(one, names) for one in relevant if isinstance(one, str))
            kinds = [{isinstance(grade, str) for grade in some} for some in (relevant, held)]
            if near or not kinds[0] & kinds[1]:
                raise InputError(none.problem, near + none.remedy)
        found = np.zeros(len(self), bool)
        for row, grade in enumerate(self.grades):
            if grade is None:
                continue
            if relevant is None and isinstance(grade, str):
                raise InputError(
                    f"the grade {grade!r} is a name",
                    "name the relevant grades, such as `relevant=('perfect', 'good')`",
                    self.places[row],
                )
            found[row] = float(grade) > 0 if relevant is None else grade in relevant
        return found

    def none_relevant(self, relevant: Collection[Label]) -> InputError | None:
        """Return what to say if documents are judged and none has one of the relevant grades.

        Parameters
        ----------
        relevant : collection of labels

        Returns
        -------
        InputError or None
            For the caller to raise or to print; None where a document has such a grade.
        """
        if not self.judged.any() or set(relevant) & set(self.grades):
            return None
        wanted = ", ".join(map(str, relevant))
        held = ", ".join(sorted({str(grade) for grade in self.grades if grade is not None}))
        return InputError(f"no document has the grade {wanted}", f"they have {held}")

    def indices(self, scale: Scale, unjudged: int) -> NDArray[np.int64]:
        """Return the grade index of each document.

        Parameters
        ----------
        scale : Scale
            The grades, best first.
        unjudged : int
            The index of an unjudged document.

        Returns
        -------
        ndarray of int, shape (n,)

        Raises
        ------
        InputError
            If a grade is off the scale (naming the line).
        """
        found = np.full(len(self), unjudged, np.int64)
        for row, grade in enumerate(self.grades):
            try:
                if grade is not None:
                    found[row] = scale.index(grade)
            except InputError as error:
                raise error.at(self.places[row]) from error
        return found


def read_scored(
    path: Place | Iterable[Place],
    ignored: IgnoredInput | None = None,
    advance: Advance = silent,
    *,
    columns: GivenMap | None = None,
    strict: bool = False,
    note: Callable[[str], None] = warn_of_input,
) -> Scored:
    r"""Read files of scored documents.

    Parameters
    ----------
    path : path-like, open file, or iterable of these
        In any format, as for :func:`dcglearn.base.tables.sources.find_sources`.
    ignored : IgnoredInput, optional
        If given, repeated keys are ignored and counted there; by default they are refused.
    advance : callable, optional
        Called with (rows read, 0).
    columns : mapping or str, optional
        Which column is which field, such as ``score=bm25,grade=label``, as for
        :func:`dcglearn.judgments.meaning.column_names.resolve_columns`.
    strict : bool, default False
        Whether unknown columns are refused. By default a note names them.
    note : callable, optional
        Called with a line about each thing that was taken without being told; by default an
        :class:`~dcglearn.base.errors.InputWarning`.

    Returns
    -------
    Scored

    Raises
    ------
    InputError
        Naming the file and the line or row, what is wrong and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "documents.csv")
    ...     _ = path.write_text("score,grade\n0.9,2\n0.4,\n")
    ...     read_scored(path).grades
    (2, None)
    """
    scores: list[float] = []
    grades: list[Label | None] = []
    places: list[str] = []
    first: dict[str, str] = {}
    sources = find_sources(path)
    records = read_field_records(sources, SCORED_DOCUMENTS, columns, strict, ignored, note)
    for number, (place, record) in enumerate(records):
        try:
            scores.append(_score(record.get("score")))
            grades.append(_grade(record.get("grade")))
            name = parse_id(record.get("id"), "id")
            if name is not None and first.setdefault(name, place) != place:
                raise InputError(f"the document {name!r} is also in {first[name]}", "keep one")
        except InputError as error:
            raise error.at(place) from error
        places.append(place)
        if number % 1000 == 0:
            advance(number, 0)
    if not scores:
        raise InputError("holds no document", "give one document per line", name_sources(sources))
    return Scored(np.array(scores), tuple(grades), tuple(places))


def _score(value: object) -> float:
    if value is None or value == "":
        raise InputError('"score" is missing', "every document needs one")
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError
        number = parse_cell(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f'"score" is {value!r}', "use a finite number")
    return number


def _grade(value: Any) -> Label | None:
    if value is None or value == "":
        return None
    try:
        return canonical_label(value)
    except (TypeError, ValueError) as error:
        problem = f'"grade" is {value!r}'
        raise InputError(problem, "use a number or a name; leave it empty if unjudged") from error
