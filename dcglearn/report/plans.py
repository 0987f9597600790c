"""What a plan says, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcglearn.asking.plan import UNKNOWN, Plan
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.report.certainty_words import short
from dcglearn.report.tables import Table


def plan_text(found: Plan, widths: Mapping[str, float]) -> str:
    """Say how many pairs are chosen, what will be known how well, and what cannot be."""
    pairs = counted(len(found.candidates), "pair")
    lines = [f"{counted(len(found.chosen), 'question')} chosen from {pairs} of lists"]
    lines += [
        f"left out: {counted(count, 'pair')} {why}"
        for why, count in found.candidates.left_out.items()
    ]
    if found.judged:
        lines.append(f"{counted(found.judged, 'judgment')} so far")
    queries = len(set(found.candidates.queries[found.chosen].tolist()) - {""})
    if queries == 1:
        lines.append(
            "all questions are about one query: answers will show no interval, as nothing says how "
            "other queries differ"
        )
    if found.undetermined:
        lines.append(f"no answers to such pairs determine {', '.join(found.undetermined)}")
    lines += ["", _table(found).text()]
    if widths:
        lines += ["", _target(found, widths)]
    return "\n".join(lines)


def _table(found: Plan) -> Table:
    columns = ["", "now", *(f"{count:,}" for count in found.counts), "all"]
    rows = []
    for q, name in enumerate(found.numbers):
        if name not in found.asked:
            continue
        after = [
            f"{_half(found.after[k], q)} ({_half(found.after_random[k], q)})"
            for k in range(len(found.counts))
        ]
        rows.append([name, _half(found.now, q), *after, _half(found.at_most, q)])
    return Table(
        columns,
        rows,
        "Half widths of 95% intervals after so many more answers, chosen (at random); -: not known",
    )


def _half(widths: Floats, q: int) -> str:
    return "-" if widths[q] >= UNKNOWN else short(float(widths[q]))


def _target(found: Plan, widths: Mapping[str, float]) -> str:
    asked = ", ".join(f"{name} to within {short(half)}" for name, half in widths.items())
    answers = found.answers_for(widths)
    at = [found.numbers.index(name) for name in widths]
    if answers == 0:
        return f"{asked}: reached; more answers are not needed"
    if answers is not None:
        return f"{asked}: expected after {answers:,} chosen answers"
    if (found.at_most[at] > list(widths.values())).any():
        return f"{asked}: never with these pairs, even if all were judged; add queries or lists"
    return f"{asked}: needs more than {found.counts[-1] if found.counts else 0:,} answers"


def plan_json(found: Plan, widths: Mapping[str, float]) -> dict[str, Any]:
    """Return a plan as a JSON-able dict."""

    def by_name(values: Floats) -> dict[str, float | None]:
        return {
            name: None if value >= UNKNOWN else value
            for name, value in zip(found.numbers, values.tolist(), strict=True)
        }

    return {
        "candidates": len(found.candidates),
        "left_out": dict(found.candidates.left_out),
        "judged": found.judged,
        "chosen": [int(i) for i in found.chosen],
        "asked": list(found.asked),
        "undetermined": list(found.undetermined),
        "half_widths": {
            "now": by_name(found.now),
            "chosen": {
                str(count): by_name(one)
                for count, one in zip(found.counts, found.after, strict=True)
            },
            "random": {
                str(count): by_name(one)
                for count, one in zip(found.counts, found.after_random, strict=True)
            },
            "all": by_name(found.at_most),
        },
        "target": None
        if not widths
        else {"half_widths": dict(widths), "answers": found.answers_for(widths)},
    }
