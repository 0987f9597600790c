"""A measure that distinguishes relevant and other documents: P, AP, RR, R, Bpref and their like.

A document is relevant from the grade `rel` up. ir_measures computes the values
(:mod:`dcglearn.evaluation.relevance_scores`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcglearn.measures.scale import Label


@dataclass(frozen=True)
class RelevanceMeasure:
    """A measure of ir_measures that distinguishes relevant and other documents.

    Parameters
    ----------
    name : str
        In ir_measures, such as ``"AP"``.
    cutoff : int, float or None
        A recall for IPrec.
    rel : label
        The worst grade that is relevant.
    options : mapping
        The other keyword arguments.
    levels : tuple of int
        What ir_measures gets for each grade of the qrels, best grade first: 1 for a relevant
        document.
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

    @property
    def smallest_id_first(self) -> bool:
        """Whether, of documents with equal scores, the one with the smallest id is first."""
        return self.name == "RR" and self.cutoff is not None

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
