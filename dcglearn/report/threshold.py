"""What ``threshold`` says about the score that a document must reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcglearn.base.numbers import counted
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Label
from dcglearn.report.tables import Table
from dcglearn.systems.beta_gamma import Threshold


def threshold_document(
    found: Threshold,
    name: str,
    documents: int,
    worth: Mapping[Label, float],
    unjudged: float,
    beta: float,
    gamma: float,
) -> dict[str, Any]:
    """Return a threshold, and what it was computed from, as a dict that JSON can hold."""
    cuts = {
        name: {"score": theta, **found.passing(theta)._asdict()}
        for name, theta in (
            ("theta_opt", found.theta_optimal),
            ("theta_zero", found.theta_zero),
            ("theta", found.theta),
        )
    }
    return {
        "file": name,
        "documents": documents,
        "judged": found.n_judged,
        "worth": worth,
        "unjudged": unjudged,
        "beta": beta,
        "gamma": gamma,
        "alpha": found.alpha,
        "pays": cuts["theta_opt"]["documents"] > 0,
        **cuts,
    }


def threshold_text(content: Mapping[str, Any]) -> str:
    """Say in words and a table what the document holds."""
    beta, gamma, judged = content["beta"], content["gamma"], content["judged"]
    worth = ", ".join(f"{grade}: {format_number(x)}" for grade, x in content["worth"].items())
    rows = [
        (name, format_number(cut["score"]), cut["documents"], f"{cut['utility']:.10g}")
        for name in ("theta_opt", "theta_zero", "theta")
        for cut in [content[name]]
    ]
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
