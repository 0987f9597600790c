"""What may be concluded about one pair of systems: for which parameters, and by what chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from dcglearn.base.errors import unknown_name
from dcglearn.coherence.mean_ndcg import MeanVerdict
from dcglearn.coherence.verdict import Verdict
from dcglearn.systems.system_coherence import SystemPair

Extent = Literal["nDCG any gains, DCG both", "nDCG any gains", "depends", "equal", "not settled"]
"""The parameters for which the order of two systems holds."""

EXTENTS: tuple[Extent, ...] = (
    "nDCG any gains, DCG both",
    "nDCG any gains",
    "depends",
    "equal",
    "not settled",
)


@dataclass(frozen=True)
class PairConclusion:
    """What may be concluded about two systems.

    Attributes
    ----------
    pair : SystemPair
        The verdicts that hold whatever the parameters, their proofs and the smallest changes.
    difference : float
        Mean of `pair.a` minus mean of `pair.b` under the tested measure.
    p : float
        The p-value of the difference, corrected for all pairs of systems; nan if not tested.
    significant : bool or None
        Whether p is below alpha, and the difference that was tested is in favour of the system
        that is ahead; None if not tested.
    query_winners : tuple of str or None
        Of each query by itself, for all gains: ``"a"``, ``"b"``, ``"equal"`` or ``"depends"``;
        None where the query is left out of a system.
    """

    pair: SystemPair
    difference: float
    p: float
    significant: bool | None
    query_winners: tuple[str | None, ...]

    @property
    def holds_for(self) -> Extent:
        """The parameters for which the order holds.

        ``"nDCG any gains"``: by mean nDCG with any gains and the given discounts. ``"nDCG any
        gains, DCG both"``: the same system is also ahead by mean DCG with any gains and any
        discounts. Neither is a proof for mean nDCG with other discounts.
        """
        winner = self.pair.mean_ndcg.winner
        if winner in ("a", "b"):
            both = winner == self.pair.any_parameters.winner
            return "nDCG any gains, DCG both" if both else "nDCG any gains"
        extents: dict[str, Extent] = {"equal": "equal", "depends": "depends"}
        return extents.get(winner, "not settled")

    @property
    def decided(self) -> bool:
        """Whether the same system is ahead by mean nDCG whatever the gains."""
        return self.pair.mean_ndcg.winner in ("a", "b")

    @property
    def leader(self) -> Literal["a", "b"] | None:
        """The system that is ahead whatever the gains, or else under the tested measure."""
        if self.decided:
            return "a" if self.pair.mean_ndcg.winner == "a" else "b"
        if self.holds_for == "equal" or not self.difference:
            return None
        return "a" if self.difference > 0 else "b"

    @property
    def ahead(self) -> str | None:
        """The name of that system; None if neither is ahead."""
        return {"a": self.pair.a, "b": self.pair.b, None: None}[self.leader]

    def n_queries(self, *winners: str) -> int:
        """Return how many queries have one of these winners by themselves; by default all."""
        known = ("a", "b", "equal", "depends")
        for winner in winners:
            if winner not in known:
                raise unknown_name("winner", winner, known)
        return sum(one in (winners or known) for one in self.query_winners)

    @property
    def agreeing(self) -> float:
        """The share of queries that are decided by themselves for the system that is ahead.

        nan if neither system is ahead, or no query counts.
        """
        if self.leader is None or not self.n_queries():
            return math.nan
        return self.n_queries(self.leader) / self.n_queries()

    def to_json(self) -> dict[str, Any]:
        """Return the row of :func:`conclusion_row`, with gains and discounts that prove it.

        Witnesses put either system ahead; at the ties, a smallest change makes both equal.
        """
        pair = self.pair
        verdicts: dict[str, Verdict | MeanVerdict] = {
            "mean_ndcg_any_gains": pair.mean_ndcg,
            "dcg_anything": pair.any_parameters,
            "dcg_any_gains": pair.any_gains,
            "dcg_any_discounts": pair.any_discounts,
        }
        changes = {"gains": pair.gains_change, "discounts": pair.discounts_change}
        return {
            **conclusion_row(self),
            "witnesses": {name: _witnesses(found) for name, found in verdicts.items()},
            "ties": {name: None if one is None else one.tie for name, one in changes.items()},
        }


def _witnesses(found: Verdict | MeanVerdict) -> dict[str, Any]:
    """Return gains and discounts under which each system is ahead, and by how much."""
    return {
        name: {"gains": dcg.gains, "discounts": dcg.discounts, "difference": difference}
        for name, dcg, difference in zip("ab", found.witnesses, found.differences, strict=False)
        if dcg is not None
    }


def conclusion_row(one: PairConclusion) -> dict[str, Any]:
    """Return a conclusion as a flat row: names of columns and values."""
    pair = one.pair
    changes = {"gains": pair.gains_change, "discounts": pair.discounts_change}
    return {
        "a": pair.a,
        "b": pair.b,
        "ahead": one.ahead,
        "holds_for": one.holds_for,
        "difference": one.difference,
        "dcg_difference": pair.difference,
        "p": one.p,
        "significant": one.significant,
        "queries": one.n_queries(),
        "queries_a": one.n_queries("a"),
        "queries_b": one.n_queries("b"),
        "queries_depend": one.n_queries("depends"),
        "queries_equal": one.n_queries("equal"),
        "agreeing": one.agreeing,
        "mean_ndcg_any_gains": pair.mean_ndcg.winner,
        "at_usual_discounts": pair.usual_discounts,
        "dcg_anything": pair.any_parameters.winner,
        "dcg_any_gains": pair.any_gains.winner,
        "dcg_any_discounts": pair.any_discounts.winner,
        **{
            f"smallest_change_of_{what}": math.nan if change is None else change.distance
            for what, change in changes.items()
        },
    }
