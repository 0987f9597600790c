"""What a plan says, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcglearn.asking.plan import UNKNOWN, Plan
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.report.results import jsonable
from dcglearn.report.tables import Table
from dcglearn.report.words import short


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
    rows = []
    for name in found.asked:
        q = found.numbers.index(name)
        after = [
            f"{_half(chosen, q)} ({_half(drawn, q)})"
            for chosen, drawn in zip(found.after, found.after_random, strict=True)
        ]
        rows.append([name, _half(found.now, q), *after, _half(found.at_most, q)])
    return Table(
        ["", "now", *(f"{count:,}" for count in found.counts), "all"],
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
    """Return a plan as a JSON-able dict; a number whose half width is 1 or more is not known."""
    candidates, target = found.candidates, None
    if widths:
        target = {"half_widths": dict(widths), "answers": found.answers_for(widths)}
    content = {"candidates": len(candidates), "left_out": candidates.left_out, "target": target}
    known: dict[str, Any] = jsonable(vars(found) | content)
    return known
