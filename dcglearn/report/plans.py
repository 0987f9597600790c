"""What a plan says: in words and a table, and as JSON."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dcglearn.asking.plan import ROUGH, UNKNOWN, Plan
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.report.tables import Table, page
from dcglearn.report.words import short


def plan_text(found: Plan, widths: Mapping[str, float]) -> str:
    """Say how many pairs are chosen, what will be known how well, and what cannot be."""
    pool, chosen = found.candidates, counted(len(found.chosen), "question")
    lines = [f"{chosen} chosen from {counted(len(pool), 'pair')} of lists"]
    lines += [f"left out: {counted(count, 'pair')} {why}" for why, count in pool.left_out.items()]
    if found.judged:
        lines.append(f"{counted(found.judged, 'judgment')} so far")
    if len({*pool.queries[found.chosen].tolist()} - {""}) == 1:
        lines.append(
            "all questions are about one query: answers will show no interval, as nothing says how "
            "other queries differ"
        )
    if found.undetermined:
        lines.append(f"no answers to such pairs determine {', '.join(found.undetermined)}")
    if found.rejected:
        lines.append(f"decided: the judgments so far contradict {' and '.join(found.rejected)}")
    columns = {"": found.numbers, "now": tuple(map(_half, found.now))}
    for count, *after in zip(found.counts, found.after, found.after_random, strict=True):
        both = zip(*(map(_half, one) for one in after), strict=True)
        columns[f"{count:,}"] = tuple(f"{chosen} ({at_random})" for chosen, at_random in both)
    columns[f"all {found.possible:,}"] = tuple(map(_half, found.at_most))
    rows = [row for row in zip(*columns.values(), strict=True) if row[0] in found.asked]
    what = "Half widths of 95% intervals after so many more answers, chosen (at random)"
    table = Table([*columns], rows, f"{what}; -: not known").text()
    rough = f"\nrough: from fewer than {ROUGH} strict judgments, half or twice as much may come"
    wanted = ", ".join(f"{name} to within {short(half)}" for name, half in widths.items())
    when = f"{wanted}: {_when(found, widths)}" if widths else ""
    return page("\n".join(lines), table + rough * found.rough, when)


def _half(width: float) -> str:
    return "-" if width >= UNKNOWN else short(width)


def _when(found: Plan, widths: Mapping[str, float]) -> str:
    """Return after how many answers intervals are so narrow."""
    answers = found.answers_for(widths)
    if answers is not None:
        return f"expected after {answers:,} chosen answers" if answers else "reached already"
    for name, half in widths.items():
        least = found.at_most[found.numbers.index(name)]
        if least > half:
            known = "unknown" if least >= UNKNOWN else f"+-{least:.3f}"
            after = f"even after all {found.possible:,} questions; add queries or lists"
            return f"never with these pairs: {name} is {known} {after}"
    return f"needs more than {max(found.counts, default=0):,} answers"


def plan_json(found: Plan, widths: Mapping[str, float]) -> dict[str, Any]:
    """Return a plan as a JSON-able dict."""

    def by_name(values: Floats) -> dict[str, float]:
        known = np.where(values < UNKNOWN, values, np.nan)  # which JSON holds as null
        return dict(zip(found.numbers, known.tolist(), strict=True))

    said = ("judged", "rough", "chosen", "possible", "asked", "undetermined", "rejected")
    target = {"half_widths": widths, "answers": found.answers_for(widths)}
    return {
        "candidates": len(found.candidates),
        "left_out": found.candidates.left_out,
        **{name: getattr(found, name) for name in said},
        "half_widths": {
            "now": by_name(found.now),
            "chosen": dict(zip(found.counts, map(by_name, found.after), strict=True)),
            "random": dict(zip(found.counts, map(by_name, found.after_random), strict=True)),
            "all": by_name(found.at_most),
        },
        "target": target if widths else None,
    }
