"""Expected reciprocal rank, ERR, of a person who reads down until a document satisfies.

    ERR = sum_i (1 / i) R_i prod_{j < i} (1 - R_j)

R_i is the probability that the document at rank i satisfies, by its grade (Chapelle, Metzler, Zhang
& Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009). ERR is not a DCG: what a
document adds depends on the documents above it. By default R = (2^g - 1) / 2^4, as in gdeval and
ir_measures, where 4 is the largest grade.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcglearn.base.checks import checked_count, checked_number
from dcglearn.measures.dcg import Gains, gains_text
from dcglearn.measures.discounts import format_number
from dcglearn.measures.grade_fractions import Fractions, checked_fractions
from dcglearn.measures.scale import Label

LARGEST_GRADE = 4.0
"""The largest grade in gdeval, whatever the grades of the qrels."""


@dataclass(frozen=True)
class ERR:
    """Expected reciprocal rank.

    Parameters
    ----------
    probabilities : sequence of float, or mapping from grade to float, optional
        The probability R that a document of each grade satisfies, best grade first. By default
        (2^g - 1) / 2^max_rel for a grade of value g, and 0 for values below 0.
    cutoff : int, optional
        Lower ranks do not count.
    grades : sequence of labels, optional
        The label of each grade, best first.
    max_rel : float, default 4
        The largest value of a grade, where `probabilities` are not given.

    Raises
    ------
    InputError
        If a probability is not in 0 ... 1, or `cutoff` or `max_rel` is out of range.

    Examples
    --------
    >>> ERR({2: 0.9, 1: 0.3, 0: 0}) @ 20
    ERR({2: 0.9, 1: 0.3, 0: 0}) @ 20
    """

    probabilities: Fractions | None = None
    cutoff: int | None = None
    grades: tuple[Label, ...] | None = None
    max_rel: float = LARGEST_GRADE

    def __init__(
        self,
        probabilities: Gains | None = None,
        cutoff: int | None = None,
        grades: Sequence[Label] | None = None,
        max_rel: float = LARGEST_GRADE,
    ) -> None:
        set_ = object.__setattr__
        if probabilities is None:
            set_(self, "probabilities", None)
            set_(self, "grades", None)
        else:
            numbers, labels = checked_fractions(probabilities, "probabilities", grades)
            set_(self, "probabilities", numbers)
            set_(self, "grades", labels)
        set_(self, "cutoff", None if cutoff is None else checked_count(cutoff, "`cutoff`"))
        set_(self, "max_rel", checked_number(max_rel, "`max_rel`", 0, 1000, above=True))

    @property
    def n_ranks(self) -> int | None:
        """The number of ranks that count; None for all."""
        return self.cutoff

    def __matmul__(self, cutoff: int) -> ERR:
        """Return the same measure with another cutoff: ``ERR() @ 20``."""
        return replace(self, cutoff=cutoff)

    def __str__(self) -> str:
        if self.probabilities is None:
            inside = f"max_rel={format_number(self.max_rel)}"
        else:
            inside = gains_text(self.probabilities, self.grades)
        return f"ERR({inside})" + ("" if self.cutoff is None else f" @ {self.cutoff}")

    __repr__ = __str__
