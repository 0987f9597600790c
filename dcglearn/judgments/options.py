"""How judgments and ratings are read: the arguments of all readers and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcglearn.judgments.meaning.cells import GivenMap
from dcglearn.judgments.meaning.unjudged import UnjudgedRule
from dcglearn.measures.scale import Scale, ScaleLike, as_scale

if TYPE_CHECKING:
    from dcglearn.judgments.reading.documents import DocumentGrades


@dataclass(frozen=True)
class ReadOptions:
    """What a user says about records; the fields are arguments of :func:`read_preferences`."""

    scale: ScaleLike | None = None
    n_ranks: int | None = None
    columns: GivenMap | None = None
    answers: GivenMap | None = None
    unjudged: UnjudgedRule = "worst"
    null_values: str | float | Sequence[str | float] = ()
    strict: bool = False
    encoding: str = "utf-8"
    documents: bool = False
    document_grades: DocumentGrades | None = None
    keep: Sequence[str] = ()

    def declared_scale(self) -> Scale | None:
        """Return the grades that are declared, or those of the documents."""
        if self.scale is None and self.document_grades is not None:
            return self.document_grades.qrels.scale
        return as_scale(self.scale)

    @property
    def null_marks(self) -> Sequence[object]:
        """The entries of lists that mean that a document has no grade."""
        given = self.null_values
        return [given] if isinstance(given, str | float | int) else given
