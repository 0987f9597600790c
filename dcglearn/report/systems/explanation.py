"""Why two measures differ on two lists, in words and as JSON."""

from collections.abc import Sequence
from typing import Any

from dcglearn.base.types import Grades
from dcglearn.coherence.explain import Explanation
from dcglearn.coherence.verdict import advantage, verdict
from dcglearn.measures.names import NamedMeasure
from dcglearn.measures.scale import Scale
from dcglearn.report.tables import Table

_REASONS = {
    "gains": "The gains are the reason: exchanging the gains reverses the verdict, exchanging the "
    "discounts does not.",
    "discounts": "The discounts are the reason: exchanging the discounts reverses the verdict, "
    "exchanging the gains does not.",
    "either": "Gains and discounts are each a reason: exchanging either reverses the verdict.",
    "both together": "Gains and discounts are the reason together: exchanging one of them does "
    "not reverse the verdict.",
    "": "One of them has weights of its own at every rank, so its gains and discounts cannot be "
    "separated.",
}
_VERDICTS = {
    "a": "a is better for all falling gains and discounts",
    "b": "b is better for all falling gains and discounts",
    "equal": "they are equal for all falling gains and discounts",
    "depends": "which is better depends on the gains or the discounts",
}


def explanation_text(
    found: Explanation, measures: Sequence[NamedMeasure], lists: Grades, scale: Scale
) -> str:
    """Return what each rank contributes to two lists, (2, K), the verdicts and the reason."""
    columns = [*(labels_of(row, scale) for row in lists), *found.contributions.tolist()]
    rows = [(str(rank), *row) for rank, row in enumerate(zip(*columns, strict=True), start=1)]
    rows.append(("sum", "", "", *found.contributions.sum(axis=1).tolist()))
    table = Table(
        ("rank", "a", "b", *(named.name for named in measures)),
        rows,
        "Contribution of each rank, for a (+) or b (-), as a share of their absolute sum",
        digits=3,
    )
    lines = [table.text()]
    for named, winner in zip(measures, found.winners, strict=True):
        words = "finds a and b equal" if winner == "equal" else f"prefers {winner}"
        lines.append(f"{named.name} {words}: {named.measure}")
    lines += ["", "They agree on these lists." if found.agree else _REASONS[found.reason]]
    a, b = lists
    certain = verdict(advantage(a, b, len(scale)), worst_gain="zero").winner
    return "\n".join([*lines, f"With the worst grade worth 0, {_VERDICTS[certain]}."])


def explanation_to_json(
    found: Explanation, measures: Sequence[NamedMeasure], lists: Grades, scale: Scale
) -> dict[str, Any]:
    """Return the same as a JSON-able dict."""
    return {
        "first": str(measures[0].measure),
        "second": str(measures[1].measure),
        "lists": [labels_of(row, scale) for row in lists],
        **vars(found),
    }


def labels_of(row: Grades, scale: Scale) -> list[str]:
    """Return the grades of a list as text, - where there is no document."""
    return ["-" if grade < 0 else str(scale.labels[grade]) for grade in row.tolist()]
