"""What ``threshold`` says about the score that a document must reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcglearn.base.numbers import counted
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Label
from dcglearn.report.tables import Table
from dcglearn.systems.beta_gamma import Threshold


def _cuts(found: Threshold) -> dict[str, dict[str, float]]:
    thetas = {
        "theta_opt": found.theta_optimal,
        "theta_zero": found.theta_zero,
        "theta": found.theta,
    }
    return {
        name: {"score": theta, **found.passing(theta)._asdict()} for name, theta in thetas.items()
    }


def _pays(found: Threshold) -> bool:
    return found.passing(found.theta_optimal).documents > 0


def threshold_json(
    found: Threshold,
    name: str,
    documents: int,
    worth: Mapping[Label, float],
    unjudged: float,
    beta: float,
    gamma: float,
) -> dict[str, Any]:
    """Return a threshold, and what it was computed from, as a JSON-able dict."""
    return {
        "file": name,
        "documents": documents,
        "judged": found.n_judged,
        "worth": {str(grade): value for grade, value in worth.items()},
        "unjudged": unjudged,
        "beta": beta,
        "gamma": gamma,
        "alpha": found.alpha,
        "pays": _pays(found),
        **_cuts(found),
    }


def threshold_text(
    found: Threshold,
    name: str,
    documents: int,
    worth: Mapping[Label, float],
    unjudged: float,
    beta: float,
    gamma: float,
) -> str:
    """Return the same in words and a table."""
    rows = [
        (name, format_number(cut["score"]), int(cut["documents"]), f"{cut['utility']:.10g}")
        for name, cut in _cuts(found).items()
    ]
    listed = ", ".join(f"{grade}: {format_number(gain)}" for grade, gain in worth.items())
    text = (
        f"{name}: {counted(documents, 'document')}, {found.n_judged:,} judged\n"
        f"worth of a document by its grade: {listed}; not judged: {format_number(unjudged)}\n"
        f"alpha = {beta:g} + {1 - beta:g} exp(-{gamma:g} N) = {found.alpha:.6f}, "
        f"N = {found.n_judged:,}\n\n"
    )
    text += Table(("threshold", "score", "documents pass", "utility"), rows).text()
    if not _pays(found):
        text += "\nno cut brings utility above 0: theta_opt is just above the highest score"
    return text
