"""The choices an evaluation makes besides gains and discounts: :class:`Rules`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from dcglearn.base.errors import check_name
from dcglearn.collections.runs import Unjudged

Ties = Literal["docid", "mean", "input"]
Pool = Literal["all", "own"]


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
        count as the worst grade; are removed; or may have any grade: the values are then bounds.
    worthless : float or None, default 0
        The normalised value of a query whose ideal DCG is 0; None leaves the query out.
    missing : float or None, default 0
        The value of a query that is missing from a run; None leaves the query out.
    least : float, optional
        Gains below it count 0.
    single : bool, optional
        Whether scores are compared in single precision; by default where `ties` is "docid".
    pool : {"all", "own"}, optional
        Whose documents without a judgment are in the ideal of a query, where they may gain
        something. By default those of "all" runs, and the run's "own" for bounds.

    Examples
    --------
    The defaults are those of trec_eval, but queries that are missing from a run count 0 and gains
    below 0 are kept:

    >>> from dataclasses import replace
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
        check_name(self.ties, "`ties`", get_args(Ties))
        if self.single is None:
            vars(self)["single"] = self.ties == "docid"
        check_name(self.unjudged, "`unjudged`", get_args(Unjudged))
        check_name(self.pool, "`pool`", (None, *get_args(Pool)))

    @property
    def shared_pool(self) -> bool:
        """Whether the ideal of a query counts the documents without a judgment of all runs."""
        return self.unjudged != "bounds" if self.pool is None else self.pool == "all"


LIKE: dict[str, Rules] = {
    "trec_eval": Rules(missing=None, least=0.0),
    "ir_measures": Rules(least=0.0),
    "ranx": Rules(ties="input", least=1.0),
    "sklearn": Rules(ties="mean"),
    "gdeval": Rules(worthless=None, missing=None, least=0.0, single=False),
}
"""The choices of other tools, for the measures that they have."""


def rules_like(rules: Rules | str) -> Rules:
    """Return the choices themselves, or those of another tool."""
    if isinstance(rules, Rules):
        return rules
    check_name(rules, "tool", LIKE)
    return LIKE[rules]


def chosen_rules(like: str | None, **choices: str | None) -> Rules:
    """Return the rules of a tool, or the usual ones, with the choices in words that are given."""
    given: dict[str, Any] = {name: value for name, value in choices.items() if value is not None}
    for name in given.keys() & {"worthless", "missing"}:
        given[name] = None if given[name] == "out" else float(given[name])
    return Rules(**given) if like is None else replace(rules_like(like), **given)
