"""What is certain about systems, and where orderings part: tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dcglearn.evaluation.system_coherence import PairOfSystems, SystemCoherence
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number
from dcglearn.report.tables import Cell, Table


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
    kinds: dict[tuple[str, str, str], Sequence[str]] = {
        ("mean DCG", "any", "any"): [pair.anything.winner for pair in pairs],
        ("mean DCG", "any", discounts): [pair.any_gains.winner for pair in pairs],
        ("mean DCG", gains, "any"): [pair.any_discounts.winner for pair in pairs],
        ("mean nDCG", "any", discounts): [pair.mean.winner for pair in pairs],
    }
    rows: list[tuple[Cell, ...]] = []
    for (by, g, c), found in kinds.items():
        count = Counter(found)
        decided = count["a"] + count["b"] + count["equal"]
        rows.append((by, g, c, decided, count["depends"], count["undecided"]))
    return Table(
        ("by", "gains", "discounts", "decided", "depends", "not settled"),
        rows,
        f"{_pairs(len(pairs))} of systems",
    )


def winners_table(pairs: Sequence[PairOfSystems]) -> Table:
    """Return who is ahead in each pair, by what is left open.

    Parameters
    ----------
    pairs : sequence of PairOfSystems

    Returns
    -------
    Table
        The name of the system that is ahead, or what there is instead.
    """
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        found = (pair.anything, pair.any_gains, pair.any_discounts, pair.mean)
        names = {"a": pair.a, "b": pair.b, "undecided": "not settled"}
        rows.append((pair.a, pair.b, *(names.get(one.winner, one.winner) for one in found)))
    columns = ("system", "another", "DCG, any", "DCG, any gains", "DCG, any discounts", "mean nDCG")
    return Table(columns, rows, "Who is ahead")


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
    found.sort(key=lambda pair: -min(map(abs, pair.mean.differences)))
    rows: list[tuple[Cell, ...]] = []
    for pair in found[:most]:
        shown = [
            "" if one is None else " ".join(format_number(round(gain, 4)) for gain in one.gains)
            for one in pair.mean.witnesses
        ]
        rows.append(
            (pair.a, shown[0], pair.mean.differences[0], pair.b, shown[1], pair.mean.differences[1])
        )
    caption = f"Order depends on the gains, by mean nDCG: {_pairs(len(found))}"
    if most is not None and len(found) > most:
        caption += f", of which the {most} clearest"
    columns = ("ahead", "with gains", "by", "or ahead", "with gains", "by")
    return Table(columns, rows, caption)


def changes_table(
    pairs: Sequence[PairOfSystems], given: DCG, n_ranks: int, most: int | None = None
) -> Table:
    """Return the smallest changes of gains, and of discounts, that turn an order round.

    Parameters
    ----------
    pairs : sequence of PairOfSystems
    given : DCG
        With the given gains and discounts.
    n_ranks : int
        The depth.
    most : int, optional
        How many at most, those that the smallest changes turn round; all by default.

    Returns
    -------
    Table
        Pairs that are tied, or that nothing turns round, are left out.
    """
    sizes = np.linalg.norm(given.gains), np.linalg.norm(given.discounts_for(n_ranks))

    def shares(pair: PairOfSystems) -> list[float]:
        flips = pair.gains_flip, pair.discounts_flip
        return [
            np.inf if flip is None else flip.distance / float(size)
            for flip, size in zip(flips, sizes, strict=True)
        ]

    found = [pair for pair in pairs if pair.lead and min(shares(pair)) < np.inf]
    found.sort(key=lambda pair: min(shares(pair)))
    rows: list[tuple[Cell, ...]] = []
    for pair in found[:most]:
        ahead, behind = (pair.a, pair.b) if pair.lead > 0 else (pair.b, pair.a)
        flip = pair.gains_flip
        tied = "" if flip is None else " ".join(format_number(round(g, 4)) for g in flip.tie)
        changes = ["none" if share == np.inf else f"{share:.1%}" for share in shares(pair)]
        rows.append((ahead, behind, abs(pair.lead), changes[0], tied, changes[1]))
    caption = f"Smallest changes that turn an order by mean DCG round: {_pairs(len(found))}"
    if most is not None and len(found) > most:
        caption += f", of which the {most} nearest"
    columns = ("ahead", "behind", "by", "of the gains", "tied at gains", "of the discounts")
    return Table(columns, rows, caption)


def orderings_table(found: Sequence[SystemCoherence]) -> Table:
    """Return how alike the orderings of systems are, by pairs of measures.

    Parameters
    ----------
    found : sequence of SystemCoherence

    Returns
    -------
    Table
    """
    rows = [(one.first, one.second, one.tau, one.tau_ap, len(one.flipped)) for one in found]
    return Table(("measure", "another", "tau", "tau_ap", "pairs turned round"), rows)


def flips_table(found: Sequence[SystemCoherence], most: int | None = None) -> Table:
    """Return the pairs of systems that measures order differently, and on which queries.

    Parameters
    ----------
    found : sequence of SystemCoherence
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


def _pairs(n: int) -> str:
    return f"{n:,} pair" + ("" if n == 1 else "s")
