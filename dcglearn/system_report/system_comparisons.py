"""Tables of comparisons of systems: differences, intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence

from dcglearn.base.numbers import counted
from dcglearn.report.tables import Cell, Table
from dcglearn.system_report.p_values import SIGNIFICANT, is_least, shown_p
from dcglearn.systems.compare_systems import (
    FEW_QUERIES,
    SystemComparison,
    has_several_baselines,
    has_t_interval,
)

_COLUMNS = (
    *("measure", "system", "other system", "difference", "from", "to", "p", "corrected"),
    *("better", "worse", "equal", "queries"),
)


def in_order(
    comparisons: Sequence[SystemComparison], systems: Sequence[str]
) -> list[SystemComparison]:
    """Return the comparisons under each measure in the order of the systems."""
    place = {system: s for s, system in enumerate(systems)}
    measure = {name: m for m, name in enumerate(dict.fromkeys(c.measure for c in comparisons))}
    if has_several_baselines(comparisons):
        comparisons = [
            c.exchanged() if place[c.system] > place[c.baseline] else c for c in comparisons
        ]
    return sorted(
        comparisons, key=lambda c: (measure[c.measure], place[c.system], place[c.baseline])
    )


def comparisons_table(comparisons: Sequence[SystemComparison], caption: str = "") -> Table:
    """Return the differences of systems, with intervals, p-values and counts of queries."""
    shown: list[list[Cell]] = []
    numbers: list[list[Cell]] = []
    for c in comparisons:
        start = c.measure, c.system, c.baseline, c.difference, c.low, c.high
        counts = c.better, c.worse, c.equal, c.queries
        shown.append([*start, *_p(c), *counts])
        numbers.append([*start, c.p, c.corrected, *counts])
    hidden = set()
    if not has_several_baselines(comparisons):
        hidden.add("other system")
    if all(c.correction == "none" for c in comparisons):
        hidden.add("corrected")
    kept = [at for at, name in enumerate(_COLUMNS) if name not in hidden]
    return Table(
        [_COLUMNS[at] for at in kept],
        [[row[at] for at in kept] for row in shown],
        caption,
        csv_columns=_COLUMNS,
        csv_rows=numbers,
    )


def comparisons_in_words(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Return what the columns of :func:`comparisons_table` are, and the least p of the test."""
    if not comparisons:
        return []
    several = has_several_baselines(comparisons)
    other = "the other system" if several else comparisons[0].baseline
    lines = [
        f"difference: mean of the system minus that of {other}; "
        f"from, to: its 95% interval, {_intervals_in_words(comparisons)}",
        f"p: {paired_test_in_words(comparisons)}, two-sided; {correction_in_words(comparisons)}",
        "better, worse, equal: queries on which the system's value is higher, lower, the same",
        *shared_queries_in_words(comparisons),
    ]
    drawn = max((c.drawn for c in comparisons if is_least(c.p, c.drawn)), default=0)
    if drawn:
        lines.append(
            f"p <= {1 / (drawn + 1):g}: none of {drawn:,} random exchanges of the two systems gave "
            "as large a difference"
        )
    drawn = max(
        (c.orders_drawn for c in comparisons if is_least(c.corrected, c.orders_drawn)), default=0
    )
    if drawn:
        lines.append(
            f"corrected p <= {1 / (drawn + 1):g}: none of {drawn:,} random orders of all systems "
            "gave any two as large a difference"
        )
    return lines + (_limits(comparisons) if comparisons[0].test == "randomisation" else [])


def _intervals_in_words(comparisons: Sequence[SystemComparison]) -> str:
    kinds = {has_t_interval(c.test, c.queries) for c in comparisons}
    student, bootstrap = "by Student's t", "by a bootstrap over queries"
    how = student if kinds == {True} else bootstrap
    if len(kinds) > 1:
        how = f"{student} below {FEW_QUERIES} queries and otherwise {bootstrap}"
    single = comparisons[0].correction != "none" and comparisons[0].family > 1
    return how + (", of this comparison alone" if single else "")


def paired_test_in_words(comparisons: Sequence[SystemComparison]) -> str:
    """Return the name of the paired test."""
    return f"paired {comparisons[0].test} test"


def shared_queries_in_words(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Return on how many queries systems are compared, if that differs between pairs."""
    numbers = [c.queries for c in comparisons]
    if min(numbers) == max(numbers):
        return []
    both = f"{min(numbers):,} to {max(numbers):,}"
    return [f"two systems are compared on the queries that neither leaves out, {both} of them"]


def correction_in_words(comparisons: Sequence[SystemComparison]) -> str:
    """Return what the p-values of comparisons are corrected for, and how."""
    one = comparisons[0]
    if one.correction == "none":
        return "not corrected for the number of comparisons"
    how = {"holm": "Holm's method", "tukey": "Tukey's HSD test with randomisation"}[one.correction]
    several = len({c.measure for c in comparisons}) > 1
    if several and one.family == len(comparisons):
        whose = "all measures"
    else:
        whose = "each measure" if several else "the measure"
    if one.family == 1:
        return f"one comparison of {whose}: nothing to correct"
    count = counted(one.family, "pair" if has_several_baselines(comparisons) else "comparison")
    return f"corrected for the {count} of {whose}, by {how}"


def _limits(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Return how small p, and p corrected by Holm's method, can be, where that is too large."""
    few = min(c.queries for c in comparisons)
    least = 2.0 ** (1 - few)
    lines = [f"with {few} queries no p can be below {least:g}"] if least >= SIGNIFICANT else []
    drawn, family = comparisons[0].drawn, comparisons[0].family
    holm = comparisons[0].correction == "holm"
    if holm and drawn and least < SIGNIFICANT <= family / (drawn + 1):
        bound = min(1.0, family / (drawn + 1))
        lines.append(
            f"with {drawn:,} random exchanges none of {family:,} corrected p can be below "
            f"{bound:.4g}: draw more, or use the t test"
        )
    return lines


def _p(c: SystemComparison) -> tuple[float, float]:
    """Return p and the corrected p, as upper bounds where the test gives no more."""
    least = is_least(c.p, c.drawn)
    by_orders = c.correction == "tukey"
    corrected_least = is_least(c.corrected, c.orders_drawn) if by_orders else least
    return shown_p(c.p, least), shown_p(c.corrected, corrected_least)
