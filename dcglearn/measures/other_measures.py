"""Measures of runs that are not a DCG: ERR, RBP with its residual, P, AP, RR and their like.

    ERR = sum_i (1 / i) R_i prod_{j < i} (1 - R_j)
    RBP = (1 - p) sum_i p^(i-1) g_i      g_i in 0 ... 1

R_i is the probability that the document at rank i satisfies a person who reads down, by its grade
(Chapelle, Metzler, Zhang & Grinspan, CIKM 2009), by default (2^g - 1) / 2^4 as in gdeval and
ir_measures. In RBP a person reads the next document with probability p (Moffat & Zobel, ACM TOIS
27, 2008). RBP is a DCG; what it adds is the residual, the weight of all that is not known: of
documents without a judgment, and of the ranks below the end of the run or the cutoff, p^d together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dcglearn.base.checks import checked_count, checked_number
from dcglearn.base.errors import InputError
from dcglearn.measures.dcg import DCG, Cut, Gains, cut_text, gains_by_grade, gains_text
from dcglearn.measures.discounts import format_number
from dcglearn.measures.presets import preset
from dcglearn.measures.scale import Label, Scale, canonical_label, picked

LARGEST_GRADE = 4.0
"""The largest grade in gdeval, whatever the grades of the qrels."""

Fractions = tuple[float, ...]
"""One number from 0 to 1 per grade, best grade first."""


def _shared_fields(
    name: str, numbers: Gains | None, cutoff: int | None, grades: Sequence[Label] | None
) -> dict[str, Any]:
    """Check the fields of ERR and RBP: a number from 0 to 1 per grade, the cutoff, the labels."""
    checked, labels = None, None
    if numbers is not None:
        checked, labels = gains_by_grade(numbers, name, grades)
        outside = next((number for number in checked if not 0 <= number <= 1), None)
        if outside is not None:
            raise InputError(f"{name} hold {outside:g}", "use numbers from 0 to 1")
    if cutoff is not None:
        cutoff = checked_count(cutoff, "`cutoff`")
    return {name: checked, "cutoff": cutoff, "grades": labels}


@dataclass(frozen=True)
class ERR(Cut):
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
        shared = _shared_fields("probabilities", probabilities, cutoff, grades)
        max_rel = checked_number(max_rel, "`max_rel`", 0, 1000, above=True)
        vars(self).update(shared, max_rel=max_rel)

    def on_scale(self, scale: Scale) -> ERR:
        """Return ERR with one probability for each grade of a scale."""
        largest = max(scale.values)
        if self.probabilities is not None:
            numbers = picked(self.probabilities, self.grades, scale)
        elif largest > self.max_rel:
            raise InputError(
                f"has {format_number(self.max_rel)} for the largest grade, and the grades are "
                f"{scale}",
                f"write ERR(max_rel={format_number(largest)})",
            )
        else:
            values = np.maximum(scale.values, 0.0)
            numbers = tuple(((2.0**values - 1) / 2.0**self.max_rel).tolist())
        return replace(self, probabilities=numbers, grades=scale.labels)

    def __str__(self) -> str:
        if self.probabilities is None:
            inside = f"max_rel={format_number(self.max_rel)}"
        else:
            inside = gains_text(self.probabilities, self.grades)
        return f"ERR({inside}){cut_text(self.cutoff)}"

    __repr__ = __str__


@dataclass(frozen=True)
class RBP(Cut):
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
        shared = _shared_fields("gains", gains, cutoff, grades)
        vars(self).update(shared, p=checked_number(p, "`p`", 1e-6, 1 - 1e-6))

    @property
    def dcg(self) -> DCG:
        """The same measure as a DCG; needs gains."""
        rule = f"rbp({format_number(self.p)})"
        return DCG(self.gains or (), rule, self.cutoff, grades=self.grades)

    def on_scale(self, scale: Scale) -> RBP:
        """Return RBP with one gain for each grade of a scale."""
        if self.gains is None:
            gains = preset("rbp", scale, 1).gains
        else:
            gains = picked(self.gains, self.grades, scale)
        return replace(self, gains=gains, grades=scale.labels)

    def __str__(self) -> str:
        gains = "" if self.gains is None else f"{gains_text(self.gains, self.grades)}, "
        return f"RBP({gains}p={format_number(self.p)}){cut_text(self.cutoff)}"

    __repr__ = __str__


class RBPResidual(RBP):
    """The residual of RBP, as a column next to it."""

    def __str__(self) -> str:
        return f"residual of {super().__str__()}"


@dataclass(frozen=True)
class BinaryMeasure(Cut):
    """A measure of relevant documents, those of grade `rel` or better, named as in ir_measures.

    `levels` (L,) is 1 for a relevant grade, 0 for another, and a grade below 0 as it is: Bpref and
    infAP take it as not judged. The `cutoff` of IPrec is a recall.
    """

    name: str
    cutoff: int | float | None
    rel: Label
    options: Mapping[str, Any] = field(hash=False)
    levels: tuple[int, ...]

    def on_scale(self, scale: Scale) -> BinaryMeasure:
        """Return the measure itself: it is made for a scale."""
        return self

    def __str__(self) -> str:
        options = {"rel": self.rel, **self.options}
        given = [
            f"{key}={value if str(value).isidentifier() else repr(value)}"
            for key, value in options.items()
            if (key, value) != ("rel", 1)
        ]
        inside = f"({', '.join(given)})" if given else ""
        return f"{self.name}{inside}" + cut_text(self.cutoff, "@")

    __repr__ = __str__


def is_in_one_order(measure: object) -> bool:
    """Return whether a measure has no formula for the mean over the orders of tied documents."""
    return isinstance(measure, BinaryMeasure) and measure.name in ("IPrec", "Bpref", "infAP")


OtherMeasure = ERR | RBP | BinaryMeasure


def relevance_levels(rel: Label | None, scale: Scale) -> tuple[Label, tuple[int, ...]]:
    """Return the worst relevant grade, and the level of each grade, as in BinaryMeasure."""
    labels = scale.labels
    numbers = [one for one in labels if not isinstance(one, str)]
    if rel is None and (len(numbers) < len(labels) or 0 < max(numbers) < 1):
        problem = f"the grades {scale} do not say which are relevant"
        raise InputError(problem, f"say the worst relevant one, such as rel={labels[0]}")
    cut = canonical_label(1 if rel is None else rel)
    falling = sorted(numbers, reverse=True) == list(labels)
    if falling and not isinstance(cut, str):
        n_relevant = sum(number >= cut for number in numbers)
    else:
        n_relevant = scale.index(cut) + 1
    others = (0 if isinstance(one, str) else min(math.floor(one), 0) for one in labels[n_relevant:])
    return cut, (*[1] * n_relevant, *others)
