"""Systems under measures that judgments support, in tables."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

from dcglearn.base.types import Floats
from dcglearn.report.tables import Table
from dcglearn.systems.supported import Supported

MOST_PAIRS = 50
"""Of more pairs of systems, neighbours are shown."""


def supported_tables(found: Supported, digits: int = 4) -> tuple[Table, Table]:
    """Return systems with their bands of ranks, and pairs of systems."""
    order, names = found.order.tolist(), found.systems
    bands = [
        [f"{low}" if low == high else f"{low} to {high}" for low, high in ranks.tolist()]
        for ranks in (found.ranks, found.ranks_resampled)
    ]
    rows = [(names[s], float(found.means[s]), *(band[s] for band in bands)) for s in order]
    systems = Table(
        ("system", found.measure, "ranks", "ranks, topics drawn"),
        rows,
        f"95% of the ranks under {found.n_measures:,} measures that the judgments support",
        digits,
    )
    pairs = list(combinations(order, 2))
    if len(pairs) > MOST_PAIRS:
        pairs = list(pairwise(order))
    shares = [
        (names[i], names[j], f"{found.ahead[i, j]:.1%}", f"{found.ahead_resampled[i, j]:.1%}")
        for i, j in pairs
    ]
    words = ("above", "below", "of the measures", "topics drawn, too")
    return systems, Table(words, shares, "How often the system above is ahead")


def supported_json(found: Supported) -> dict[str, Any]:
    """Return the same as a JSON-able dict, for all pairs."""
    names = found.systems

    def shares(values: Floats) -> dict[str, dict[str, float]]:
        return {
            name: {other: float(values[i, j]) for j, other in enumerate(names) if i != j}
            for i, name in enumerate(names)
        }

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
            for s in found.order.tolist()
        ],
        "ahead": shares(found.ahead),
        "ahead_topics_drawn": shares(found.ahead_resampled),
    }
