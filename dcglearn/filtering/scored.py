"""Files of scored documents: JSON lines, CSV and Parquet, one document per row.

Columns: ``score``, ``grade`` (a number or a name; empty or null for an unjudged document) and,
where known, ``id``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError, did_you_mean
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.columns import parse_id
from dcglearn.base.tables.places import Place
from dcglearn.base.types import Floats
from dcglearn.judgments.meaning.columns import SCORED_DOCUMENTS
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.reading.fields import read_records
from dcglearn.measures.scale import Label, Scale, canonical_label

AS_USUAL = ReadOptions()


@dataclass(frozen=True)
class Scored:
    """Documents with their scores and, if judged, their grades.

    Attributes
    ----------
    scores : ndarray of float, shape (n,)
        The scores, finite.
    grades : tuple of labels, length n
        The grades, None for an unjudged document.
    place : callable
        Returns the file and line, or row, of a document.
    """

    scores: Floats
    grades: tuple[Label | None, ...]
    place: Callable[[int], str]

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
                    self.place(row),
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
                raise error.at(self.place(row)) from error
        return found


def read_scored(
    path: Place | Iterable[Place],
    advance: Advance = silent,
    options: ReadOptions = AS_USUAL,
) -> Scored:
    """Read files of scored documents; of the options, those on columns and text apply."""
    table = read_records(path, SCORED_DOCUMENTS, options, advance)
    scores = table.numbers("score")
    grades = table.values("grade", _grade)
    names = table.values("id", parse_id)
    first: dict[str, int] = {}
    for row, name in enumerate(names):
        if name is not None and first.setdefault(name, row) != row:
            problem = f"the document {name!r} is also in {table.place(first[name])}"
            raise InputError(problem, "keep one", table.place(row))
    return Scored(scores, tuple(grades), table.place)


def _grade(value: Any) -> Label | None:
    if value == "":
        return None
    try:
        return canonical_label(value)
    except (TypeError, ValueError) as error:
        problem = f'"grade" is {value!r}'
        raise InputError(problem, "use a number or a name; leave it empty if unjudged") from error
