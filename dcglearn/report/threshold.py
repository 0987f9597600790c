"""What ``threshold`` says about the score that a document must reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcglearn.base.numbers import counted
from dcglearn.measures.discounts import format_number
from dcglearn.report.tables import Table


def threshold_text(content: Mapping[str, Any]) -> str:
    """Say in words and a table what the document of the command holds."""
    beta, gamma, judged = content["beta"], content["gamma"], content["judged"]
    worth = ", ".join(f"{grade}: {format_number(x)}" for grade, x in content["worth"].items())
    rows = []
    for name in ("theta_opt", "theta_zero", "theta"):
        score, documents, utility = content[name].values()
        rows.append((name, format_number(score), documents, f"{utility:.10g}"))
    lines = [
        f"{content['file']}: {counted(content['documents'], 'document')}, {judged:,} judged",
        f"worth of a document by its grade: {worth}; not judged: "
        f"{format_number(content['unjudged'])}",
        f"alpha = {beta:g} + {1 - beta:g} exp(-{gamma:g} N) = {content['alpha']:.6f}, "
        f"N = {judged:,}",
        "",
        Table(("threshold", "score", "documents pass", "utility"), rows).text(),
    ]
    if not content["pays"]:
        lines.append("no cut brings utility above 0: theta_opt is just above the highest score")
    return "\n".join(lines)
