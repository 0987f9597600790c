"""The choices that tools make beside gains and discounts, named: :class:`Rules`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcglearn.data.qrels_index import Unjudged

Ties = Literal["mean", "input", "docid"]
TIES: tuple[Ties, ...] = ("mean", "input", "docid")
"""What documents with equal scores count: the mean over their orders, the order of the run's
lines, or that of their ids, the larger first (as trec_eval has it)."""

UNJUDGED: tuple[Unjudged, ...] = ("worst", "nothing", "removed", "bounds")
"""A document without a judgment counts as one of the worst grade, keeps its rank and gains
nothing, is taken out of the ranking, or may be anything: then the least and the largest
possible value are told."""


@dataclass(frozen=True)
class Rules:
    """The choices beside gains and discounts.

    Attributes
    ----------
    ties : {"mean", "input", "docid"}, default "mean"
        See :data:`dcglearn.evaluation.rules.TIES`.
    unjudged : {"worst", "nothing", "removed", "bounds"}, default "worst"
        See :data:`UNJUDGED`.
    worthless : float or None, default 0
        The normalised value of a query whose ideal is 0; None leaves the query out.
    missing : float or None, default 0
        The value of a query that a run does not hold; None leaves the query out.
    least : float, optional
        Smaller gains count 0.
    single : bool, default False
        Whether scores are compared in single precision.
    """

    ties: Ties = "mean"
    unjudged: Unjudged = "worst"
    worthless: float | None = 0.0
    missing: float | None = 0.0
    least: float | None = None
    single: bool = False


LIKE: dict[str, Rules] = {
    "trec_eval": Rules("docid", "nothing", 0.0, None, 0.0, single=True),
    "ir_measures": Rules("docid", "nothing", 0.0, 0.0, 0.0, single=True),
    "ranx": Rules("input", "nothing", 0.0, 0.0, 1.0),
    "sklearn": Rules("mean", "nothing", 0.0, 0.0),
}
"""How other tools choose, for the measures that they have."""
