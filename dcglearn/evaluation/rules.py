"""The choices an evaluation makes besides gains and discounts: :class:`Rules`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dcglearn.base.errors import is_one_of, unknown_name
from dcglearn.collections.join import Unjudged

Ties = Literal["mean", "input", "docid"]
"""How documents with equal scores are ordered; see :data:`TIES`."""

TIES: tuple[Ties, ...] = ("docid", "mean", "input")
"""Documents with equal scores are ordered by document id, the largest first (as trec_eval orders
them), get the mean over their orders, or keep the order of the input."""

UNJUDGED: tuple[Unjudged, ...] = ("nothing", "worst", "removed", "bounds")
"""A document without a judgment keeps its rank and gains nothing, counts as the worst grade, is
removed from the ranking, or may have any grade: the smallest and the largest possible values
are then computed."""

Pool = Literal["all", "own"]
"""Whose documents without a judgment the ideal of a query counts; see :data:`POOLS`."""

POOLS: tuple[Pool, ...] = ("all", "own")
"""The ideal of a query counts the documents without a judgment of all runs, and is then the same
for every run, or the run's own."""


@dataclass(frozen=True)
class Rules:
    """The choices an evaluation makes besides gains and discounts.

    Attributes
    ----------
    ties : {"docid", "mean", "input"}, default "docid"
        Documents with equal scores: by id, the largest first, as in trec_eval; the mean over their
        orders; or the order of the run.
    unjudged : {"nothing", "worst", "removed", "bounds"}, default "nothing"
        Retrieved documents without a judgment keep their rank and gain nothing, as in trec_eval;
        count as the worst grade; are removed; or may have any grade: the least and the largest
        possible value.
    worthless : float or None, default 0
        The normalised value of a query whose ideal DCG is 0; None leaves the query out.
    missing : float or None, default 0
        The value of a query that is missing from a run; None leaves the query out.
    least : float, optional
        Gains below it count 0.
    single : bool, optional
        Whether scores are compared in single precision, as in trec_eval. By default where `ties`
        is "docid".
    pool : {"all", "own"}, optional
        Documents without a judgment in the ideal of a query, where they may gain something: those
        of all runs, so that all are divided by one ideal, or the run's own. By default "all", and
        "own" for bounds.

    Raises
    ------
    InputError
        If `ties`, `unjudged` or `pool` is not one of its choices.

    Examples
    --------
    The defaults are those of trec_eval, but queries that are missing from a run count 0 and gains
    below 0 are kept:

    >>> from dataclasses import replace
    >>> from dcglearn import LIKE
    >>> replace(LIKE["trec_eval"], missing=0.0, least=None) == Rules()
    True
    """

    ties: Ties = "docid"
    unjudged: Unjudged = "nothing"
    worthless: float | None = 0.0
    missing: float | None = 0.0
    least: float | None = None
    single: bool | None = None
    pool: Pool | None = None

    def __post_init__(self) -> None:
        if not is_one_of(self.ties, TIES):
            raise unknown_name("`ties`", self.ties, TIES)
        if self.single is None:
            object.__setattr__(self, "single", self.ties == "docid")
        if not is_one_of(self.unjudged, UNJUDGED):
            raise unknown_name("`unjudged`", self.unjudged, UNJUDGED)
        if self.pool is not None and not is_one_of(self.pool, POOLS):
            raise unknown_name("`pool`", self.pool, POOLS)

    @property
    def shared_pool(self) -> bool:
        """Whether the ideal of a query counts the documents without a judgment of all runs."""
        return self.unjudged != "bounds" if self.pool is None else self.pool == "all"


LIKE: dict[str, Rules] = {
    "trec_eval": Rules(missing=None, least=0.0),
    "ir_measures": Rules(least=0.0),
    "ranx": Rules("input", "nothing", 0.0, 0.0, 1.0),
    "sklearn": Rules("mean", "nothing", 0.0, 0.0),
    "gdeval": Rules("docid", "nothing", None, None, 0.0, single=False),
}
"""The choices of other tools, for the measures that they have."""


def rules_like(tool: str) -> Rules:
    """Return the choices of another tool.

    >>> rules_like("trec_eval").ties
    'docid'
    """
    if not is_one_of(tool, LIKE):
        raise unknown_name("tool", tool, LIKE)
    return LIKE[tool]
