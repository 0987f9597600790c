"""Why two measures differ on two lists, in words and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dcglearn.base.types import Grades
from dcglearn.coherence.advantage import advantage
from dcglearn.coherence.explain import Explanation
from dcglearn.coherence.smallest_change import smallest_change_of_gains
from dcglearn.coherence.verdict import verdict
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale
from dcglearn.naming.names import NamedMeasure
from dcglearn.report.tables import Table

_REASONS = {
    "gains": "The gains are the reason: exchanging the gains reverses the verdict, exchanging the "
    "discounts does not.",
    "discounts": "The discounts are the reason: exchanging the discounts reverses the verdict, "
    "exchanging the gains does not.",
    "either": "Gains and discounts are each a reason: exchanging either reverses the verdict.",
    "both together": "Gains and discounts are the reason together: exchanging one of them does "
    "not reverse the verdict.",
}
_VERDICTS = {
    "a": "a is better for all falling gains and discounts",
    "b": "b is better for all falling gains and discounts",
    "equal": "they are equal for all falling gains and discounts",
    "depends": "which is better depends on the gains or the discounts",
}


@dataclass(frozen=True)
class ExplanationReport:
    """Two measures on two lists: what each rank contributes, who wins, and why."""

    explanation: Explanation
    measures: Sequence[NamedMeasure]
    lists: tuple[Grades, Grades]
    scale: Scale

    def text(self) -> str:
        """Return the table of contributions, the verdicts and the reason."""
        result = self.explanation
        lines = [self._table().text()]
        for named, difference, winner in zip(
            self.measures, result.differences, result.winners, strict=True
        ):
            unit = " in DCG" if isinstance(named.measure, DCG) and named.measure.normalise else ""
            by = f", by {abs(difference):g}{unit}"
            words = "finds a and b equal" if winner == "equal" else f"prefers {winner}{by}"
            lines.append(f"{named.name} {words}: {named.measure}")
        lines.append("")
        if result.agree:
            lines.append("They agree on these lists.")
        elif result.reason:
            lines.append(_REASONS[result.reason])
        else:
            lines.append(
                "One of them has weights of its own at every rank, so its gains and discounts "
                "cannot be separated."
            )
        return "\n".join([*lines, *self._for_every_dcg()])

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON document."""
        return {
            "first": str(self.measures[0].measure),
            "second": str(self.measures[1].measure),
            "lists": [self._labels(row) for row in self.lists],
            "leads": list(self.explanation.differences),
            "winners": list(self.explanation.winners),
            "shares by rank": self.explanation.contributions.tolist(),
            "reason": self.explanation.reason or None,
        }

    def _labels(self, row: Grades) -> list[str]:
        return ["-" if grade < 0 else str(self.scale.labels[grade]) for grade in row.tolist()]

    def _table(self) -> Table:
        a, b = map(self._labels, self.lists)
        first, second = self.explanation.contributions
        rows = [
            (str(rank), *values)
            for rank, values in enumerate(
                zip(a, b, first.tolist(), second.tolist(), strict=True), start=1
            )
        ]
        total = ("sum", "", "", float(first.sum()), float(second.sum()))
        columns = ("rank", "a", "b", self.measures[0].name, self.measures[1].name)
        caption = "Contribution of each rank, for a (+) or b (-), as a share of their absolute sum"
        return Table(columns, [*rows, total], caption, 3)

    def _for_every_dcg(self) -> list[str]:
        """Return what holds for every DCG, and the smallest change that reverses the first."""
        measure = self.measures[0].measure
        D = advantage(*self.lists, len(self.scale))
        winner = verdict(D, worst_gain="zero").winner
        lines = [f"With the worst grade worth 0, {_VERDICTS[winner]}."]
        if winner == "depends" and isinstance(measure, DCG) and _falls(measure.gains):
            c = measure.discounts_for(len(self.lists[0]))
            flip = smallest_change_of_gains(D, measure.gains, c)
            if flip is not None and flip.distance > 0:
                tie = ", ".join(
                    f"{label}: {gain:.4g}"
                    for label, gain in zip(self.scale.labels, flip.tie, strict=True)
                )
                lines.append(
                    f"The first measure ties at gains {tie}; a small step further reverses its "
                    "verdict."
                )
        return lines


def _falls(gains: Sequence[float]) -> bool:
    return all(x >= y for x, y in pairwise(gains))
