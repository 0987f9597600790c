"""Systems under measures that judgments support, in tables."""

from itertools import combinations, pairwise
from typing import Any

from dcglearn.report.tables import Table
from dcglearn.systems.supported import Supported

MOST_PAIRS = 50
"""Of more pairs of systems, neighbours are shown."""


def supported_tables(
    found: Supported, digits: int = 4, most: int | None = MOST_PAIRS
) -> tuple[Table, Table]:
    """Return systems with their bands of ranks, and pairs of systems: of many, neighbours."""
    order, names = found.order.tolist(), found.systems
    systems = Table(
        ("system", "mean", "rank from", "to", "topics drawn, rank from", "to, topics drawn"),
        [
            [
                names[s],
                found.means[s],
                *map(int, (*found.ranks[s], *found.ranks_resampled[s])),
            ]
            for s in order
        ],
        f"Means of {found.measure}, and 95% of the ranks under {found.n_measures:,} measures that "
        "the judgments support",
        digits,
    )
    pairs = [*combinations(order, 2)]
    if most is not None and len(pairs) > most:
        pairs = [*pairwise(order)]
    shares = [
        [names[i], names[j], found.ahead[i, j], found.ahead_resampled[i, j]] for i, j in pairs
    ]
    return systems, Table(
        ("above", "below", "of the measures", "topics drawn, too"),
        shares,
        "How often the system above is ahead",
        digits=3,
    )


def supported_json(found: Supported) -> dict[str, Any]:
    """Return the same as a JSON-able dict, for all pairs."""
    systems, pairs = (table.named_rows() for table in supported_tables(found, most=None))
    return {
        "measure": found.measure,
        "measures": found.n_measures,
        "systems": systems,
        "pairs": pairs,
    }
