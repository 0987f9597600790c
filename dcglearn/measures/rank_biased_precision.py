"""Rank-biased precision, RBP, and its residual.

    RBP = (1 - p) sum_i p^(i-1) g_i      g_i in 0 ... 1

A person reads the next document with probability p (Moffat & Zobel, "Rank-biased precision for
measurement of retrieval effectiveness", ACM TOIS 27, 2008). RBP is a DCG; what it adds is the
residual, the weight of all that is not known: of documents without a judgment, and of the ranks
below the end of the run or the cutoff, p^d together. RBP with all judgments would be at most the
value plus the residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcglearn.base.checks import checked_count, checked_number
from dcglearn.measures.dcg import DCG, Gains, gains_text
from dcglearn.measures.discounts import format_number
from dcglearn.measures.grade_fractions import Fractions, checked_fractions
from dcglearn.measures.scale import Label


@dataclass(frozen=True)
class RBP:
    """Rank-biased precision.

    Parameters
    ----------
    gains : sequence of float, or mapping from grade to float, optional
        What a document of each grade gains, from 0 to 1, best grade first. By default the value of
        a grade, divided by the largest; values below 0 gain 0.
    p : float, default 0.8
        The persistence, above 0 and below 1.
    cutoff : int, optional
        Lower ranks do not count.
    grades : sequence of labels, optional
        The label of each grade, best first.

    Raises
    ------
    InputError
        If a gain is not in 0 ... 1, or `p` or `cutoff` is out of range.

    Examples
    --------
    >>> RBP({2: 1, 1: 0.5, 0: 0}, p=0.95)
    RBP({2: 1, 1: 0.5, 0: 0}, p=0.95)
    """

    gains: Fractions | None = None
    p: float = 0.8
    cutoff: int | None = None
    grades: tuple[Label, ...] | None = None

    def __init__(
        self,
        gains: Gains | None = None,
        p: float = 0.8,
        cutoff: int | None = None,
        grades: Sequence[Label] | None = None,
    ) -> None:
        set_ = object.__setattr__
        if gains is None:
            set_(self, "gains", None)
            set_(self, "grades", None)
        else:
            numbers, labels = checked_fractions(gains, "gains", grades)
            set_(self, "gains", numbers)
            set_(self, "grades", labels)
        set_(self, "p", checked_number(p, "`p`", 1e-6, 1 - 1e-6))
        set_(self, "cutoff", None if cutoff is None else checked_count(cutoff, "`cutoff`"))

    @property
    def n_ranks(self) -> int | None:
        """The number of ranks that count; None for all."""
        return self.cutoff

    def __matmul__(self, cutoff: int) -> RBP:
        """Return the same measure with another cutoff: ``RBP(p=0.95) @ 100``."""
        return replace(self, cutoff=cutoff)

    @property
    def dcg(self) -> DCG:
        """The same measure as a DCG; needs gains."""
        rule = f"rbp({format_number(self.p)})"
        return DCG(self.gains or (), rule, self.cutoff, grades=self.grades)

    def __str__(self) -> str:
        gains = "" if self.gains is None else f"{gains_text(self.gains, self.grades)}, "
        cut = "" if self.cutoff is None else f" @ {self.cutoff}"
        return f"RBP({gains}p={format_number(self.p)}){cut}"

    __repr__ = __str__


@dataclass(frozen=True)
class RBPResidual:
    """The residual of RBP, as a column next to it.

    Parameters
    ----------
    of : RBP
        With gains.
    """

    of: RBP

    @property
    def n_ranks(self) -> int | None:
        """The number of ranks that count; None for all."""
        return self.of.cutoff

    def __str__(self) -> str:
        return f"residual of {self.of}"
