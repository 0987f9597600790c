"""All pairs of systems in a table that can be read: one row per system, not one per pair.

The systems are in the order of their means. Of each, the table says how many it is significantly
better and worse than, and from which ranks it is not told apart; 63 systems make 1,953 pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcglearn.base.numbers import decimals
from dcglearn.evaluation.evaluate import Evaluation
from dcglearn.report.tables import Table
from dcglearn.system_report.marks import consecutive
from dcglearn.system_report.p_values import SIGNIFICANT
from dcglearn.system_report.system_comparisons import (
    correction_in_words,
    paired_test_in_words,
    shared_queries_in_words,
)
from dcglearn.systems.compare_systems import SystemComparison


def all_pairs_tables(
    evaluation: Evaluation, comparisons: Sequence[SystemComparison]
) -> list[Table]:
    """Return a table per measure that sums up the comparisons of all pairs of systems.

    >>> from dcglearn.evaluation.evaluate import evaluate
    >>> from dcglearn.systems.compare_systems import compare_all_pairs
    >>> qrels = {f"q{i}": {"d1": 1, "d2": 0} for i in range(8)}
    >>> runs = {name: {q: {first: 2.0, other: 1.0} for q in qrels}
    ...         for name, first, other in (("a", "d1", "d2"), ("b", "d1", "d2"), ("c", "d2", "d1"))}
    >>> evaluation = evaluate(qrels, runs, "zipf")
    >>> found = compare_all_pairs(evaluation, np.random.default_rng(0))
    >>> print(all_pairs_tables(evaluation, found)[0].text())
    All pairs by zipf: 2 of 3 significant, differences of 0.5000 and more
    rank  system    mean  better than  worse than  not told apart
       1  a       1.0000            1           0  1-2
       2  b       1.0000            1           0  1-2
       3  c       0.5000            0           2  3
    """
    means = {
        one.name: dict(zip(evaluation.systems, column.tolist(), strict=True))
        for one, column in zip(evaluation.measures, evaluation.means().T, strict=True)
    }
    by_measure: dict[str, list[SystemComparison]] = {}
    for one in comparisons:
        by_measure.setdefault(one.measure, []).append(one)
    return [_table(name, means[name], pairs) for name, pairs in by_measure.items()]


def _table(measure: str, means: dict[str, float], pairs: Sequence[SystemComparison]) -> Table:
    """Return the table of one measure, from the means by system and the pairs."""
    order = sorted(means, key=lambda system: -means[system])
    place = {system: s for s, system in enumerate(order)}
    sign = np.zeros((len(order), len(order)), int)
    for c in pairs:
        found = int(np.sign(c.difference)) if c.corrected < SIGNIFICANT else 0
        sign[place[c.system], place[c.baseline]] = found
        sign[place[c.baseline], place[c.system]] = -found
    rows = [
        (
            rank,
            system,
            means[system],
            int((row > 0).sum()),
            int((row < 0).sum()),
            ranges((np.flatnonzero(row == 0) + 1).tolist()),
        )
        for rank, (system, row) in enumerate(zip(order, sign, strict=True), start=1)
    ]
    columns = "rank", "system", "mean", "better than", "worse than", "not told apart"
    return Table(columns, rows, _caption(measure, pairs))


def all_pairs_in_words(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Return what the columns of :func:`all_pairs_tables` are."""
    tested = (
        ""
        if comparisons[0].correction == "tukey"
        else f"{paired_test_in_words(comparisons)}, two-sided; "
    )
    return [
        f"significant: p < {SIGNIFICANT:g}; {tested}{correction_in_words(comparisons)}",
        "not told apart: ranks of the systems that do not differ significantly, which does not "
        "make them equal",
        *shared_queries_in_words(comparisons),
    ]


def _caption(measure: str, pairs: Sequence[SystemComparison]) -> str:
    """Return how many pairs differ, and from which difference on where it decides alone."""
    significant = [abs(c.difference) for c in pairs if c.corrected < SIGNIFICANT]
    others = [abs(c.difference) for c in pairs if c.corrected >= SIGNIFICANT]
    words = f"All pairs by {measure}: {len(significant):,} of {len(pairs):,} significant"
    if significant and min(significant) > max(others, default=0.0):
        words += f", differences of {decimals(min(significant))} and more"
    return words


def ranges(numbers: Sequence[int]) -> str:
    """Return ascending whole numbers as text, those in a row as ranges.

    >>> ranges([1, 2, 3, 5, 8, 9])
    '1-3, 5, 8-9'
    """
    return ", ".join(
        str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}" for row in consecutive(numbers)
    )
