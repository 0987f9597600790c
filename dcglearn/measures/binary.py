"""A measure of relevant and other documents: P, AP, RR, R, Bpref and their like.

A document is relevant from the grade `rel` up. :mod:`dcglearn.evaluation.binary` has the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcglearn.measures.scale import Label


@dataclass(frozen=True)
class BinaryMeasure:
    """A measure that distinguishes relevant and other documents, named as in ir_measures.

    `cutoff` is a recall for IPrec, and `options` are the other keyword arguments. `levels` holds a
    number for each grade of the qrels, best grade first: 1 for a relevant document, 0 for another,
    and a grade below 0 as it is (Bpref and infAP take it as not judged).
    """

    name: str
    cutoff: int | float | None = None
    rel: Label = 1
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    levels: tuple[int, ...] = ()

    @property
    def n_ranks(self) -> int | None:
        """The number of ranks that count; None for all."""
        return self.cutoff if isinstance(self.cutoff, int) else None

    def __str__(self) -> str:
        options = {"rel": self.rel, **self.options}
        given = [
            f"{key}={value if str(value).isidentifier() else repr(value)}"
            for key, value in options.items()
            if (key, value) != ("rel", 1)
        ]
        inside = f"({', '.join(given)})" if given else ""
        return f"{self.name}{inside}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    __repr__ = __str__


def is_in_one_order(measure: object) -> bool:
    """Return whether a measure has no formula for the mean over the orders of tied documents."""
    return isinstance(measure, BinaryMeasure) and measure.name in ("IPrec", "Bpref", "infAP")
