"""What is certain about systems, and where orderings part: tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dcglearn.measures.discounts import number_text
from dcglearn.report.tables import Cell, Table
from dcglearn.study.orderings import Orderings, PairOfSystems


def decided_table(pairs: Sequence[PairOfSystems], gains: str, discounts: str) -> Table:
    """Return how many pairs are decided, by what is left open.

    Parameters
    ----------
    pairs : sequence of PairOfSystems
    gains, discounts : str
        The given ones, in words.

    Returns
    -------
    Table
    """
    kinds: dict[tuple[str, str, str], list[str]] = {
        ("sum of DCG", "any", "any"): [pair.anything for pair in pairs],
        ("sum of DCG", "any", discounts): [pair.any_gains for pair in pairs],
        ("sum of DCG", gains, "any"): [pair.any_discounts for pair in pairs],
        ("mean nDCG", "any", discounts): [str(pair.mean.winner) for pair in pairs],
    }
    rows: list[tuple[Cell, ...]] = []
    for (by, g, c), found in kinds.items():
        count = Counter(found)
        decided = count["a"] + count["b"] + count["equal"]
        rows.append((by, g, c, decided, count["depends"], count["undecided"]))
    return Table(
        ("by", "gains", "discounts", "decided", "depends", "not settled"),
        rows,
        f"{len(pairs):,} pairs of systems",
    )


def depending_table(pairs: Sequence[PairOfSystems], most: int | None = None) -> Table:
    """Return the pairs whose order by mean nDCG depends on the gains, and gains that show it.

    Parameters
    ----------
    pairs : sequence of PairOfSystems
    most : int, optional
        How many at most, those with the largest differences; all by default.

    Returns
    -------
    Table
    """
    found = [pair for pair in pairs if pair.mean.winner == "depends"]
    found.sort(key=lambda pair: -min(abs(margin) for margin in pair.mean.margins))
    rows: list[tuple[Cell, ...]] = []
    for pair in found[:most]:
        shown = [
            "" if one is None else " ".join(number_text(round(gain, 4)) for gain in one.gains)
            for one in pair.mean.witnesses
        ]
        rows.append(
            (pair.a, shown[0], pair.mean.margins[0], pair.b, shown[1], pair.mean.margins[1])
        )
    caption = f"Order depends on the gains, by mean nDCG: {len(found):,} pairs"
    if most is not None and len(found) > most:
        caption += f", of which the {most} clearest"
    columns = ("ahead", "with gains", "by", "or ahead", "with gains", "by")
    return Table(columns, rows, caption)


def orderings_table(found: Sequence[Orderings]) -> Table:
    """Return how alike the orderings of systems are, by pairs of measures.

    Parameters
    ----------
    found : sequence of Orderings

    Returns
    -------
    Table
    """
    rows = [(one.first, one.second, one.tau, one.tau_ap, len(one.flipped)) for one in found]
    return Table(("measure", "another", "tau", "tau_ap", "pairs turned round"), rows)


def flips_table(found: Sequence[Orderings], most: int | None = None) -> Table:
    """Return the pairs of systems that measures order differently, and on which queries.

    Parameters
    ----------
    found : sequence of Orderings
    most : int, optional
        How many at most a pair of measures, those that part the most; all by default.

    Returns
    -------
    Table
    """
    rows: list[tuple[Cell, ...]] = []
    left = 0
    for one in found:
        flips = sorted(one.flipped, key=lambda flip: -min(flip.first, -flip.second))
        left += max(0, len(flips) - (most or len(flips)))
        for flip in flips[:most]:
            causes = ", ".join(flip.causes)
            rows.append(
                (one.first, one.second, flip.ahead, flip.behind, flip.first, flip.second, causes)
            )
    columns = ("measure", "another", "ahead", "behind", "by", "then by", "most against it")
    caption = "Pairs turned round, and the queries that do most for it"
    return Table(columns, rows, caption + (f" ({left:,} more are not shown)" if left else ""))
