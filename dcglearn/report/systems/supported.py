"""Systems under measures that judgments support, in tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

from dcglearn.report.tables import Table
from dcglearn.systems.supported import Supported

MOST_PAIRS = 50
"""Of more pairs of systems, neighbours are shown."""


def supported_json(found: Supported) -> dict[str, Any]:
    """Return systems with their bands of ranks, and all pairs of systems, as a JSON-able dict."""
    names, order = found.systems, found.order.tolist()
    systems = [
        {
            "system": names[s],
            "mean": float(found.means[s]),
            "ranks": found.ranks[s].tolist(),
            "ranks_topics_drawn": found.ranks_resampled[s].tolist(),
        }
        for s in order
    ]
    pairs = [
        {
            "above": names[i],
            "below": names[j],
            "of_measures": float(found.ahead[i, j]),
            "topics_drawn_too": float(found.ahead_resampled[i, j]),
        }
        for i, j in combinations(order, 2)
    ]
    about = {"measure": found.measure, "measures": found.n_measures}
    return {**about, "systems": systems, "pairs": pairs}


def supported_tables(document: dict[str, Any], digits: int = 4) -> tuple[Table, Table]:
    """Return the same as tables; of many systems, only neighbours."""
    systems, pairs = document["systems"], document["pairs"]
    below = dict(pairwise(one["system"] for one in systems))
    few = len(pairs) <= MOST_PAIRS
    return (
        Table(
            ("system", document["measure"], "ranks", "ranks, topics drawn"),
            [[name, mean, *map(_band, bands)] for name, mean, *bands in map(_values, systems)],
            f"95% of the ranks under {document['measures']:,} measures that the judgments support",
            digits,
        ),
        Table(
            ("above", "below", "of the measures", "topics drawn, too"),
            [
                [name, other, *map("{:.1%}".format, shares)]
                for name, other, *shares in map(_values, pairs)
                if few or below.get(name) == other
            ],
            "How often the system above is ahead",
        ),
    )


def _values(row: dict[str, Any]) -> list[Any]:
    return [*row.values()]


def _band(ranks: Sequence[int]) -> str:
    low, high = ranks
    return f"{low}" if low == high else f"{low} to {high}"
