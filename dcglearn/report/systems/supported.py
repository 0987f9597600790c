"""Systems under measures that judgments support, in tables."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

from dcglearn.report.tables import Table
from dcglearn.systems.supported import Supported

MOST_PAIRS = 50
"""Of more pairs of systems, neighbours are shown."""


def supported_tables(found: Supported, digits: int = 4) -> tuple[Table, Table]:
    """Return systems with their bands of ranks, and pairs of systems."""
    content = supported_json(found)
    rows = [
        (name, mean, *(f"{low}" if low == high else f"{low} to {high}" for low, high in bands))
        for name, mean, *bands in map(dict.values, content["systems"])
    ]
    systems = Table(
        ("system", found.measure, "ranks", "ranks, topics drawn"),
        rows,
        f"95% of the ranks under {found.n_measures:,} measures that the judgments support",
        digits,
    )
    pairs = content["pairs"]
    if len(pairs) > MOST_PAIRS:
        neighbours = {*pairwise(one["system"] for one in content["systems"])}
        pairs = [one for one in pairs if (one["above"], one["below"]) in neighbours]
    shares = [
        (one["above"], one["below"], f"{one['ahead']:.1%}", f"{one['ahead_topics_drawn']:.1%}")
        for one in pairs
    ]
    words = ("above", "below", "of the measures", "topics drawn, too")
    return systems, Table(words, shares, "How often the system above is ahead")


def supported_json(found: Supported) -> dict[str, Any]:
    """Return the same as a JSON-able dict, for all pairs."""
    names, order = found.systems, found.order.tolist()
    return {
        "measure": found.measure,
        "measures": found.n_measures,
        "systems": [
            {
                "system": names[s],
                "mean": float(found.means[s]),
                "ranks": found.ranks[s].tolist(),
                "ranks_topics_drawn": found.ranks_resampled[s].tolist(),
            }
            for s in order
        ],
        "pairs": [
            {
                "above": names[i],
                "below": names[j],
                "ahead": float(found.ahead[i, j]),
                "ahead_topics_drawn": float(found.ahead_resampled[i, j]),
            }
            for i, j in combinations(order, 2)
        ],
    }
