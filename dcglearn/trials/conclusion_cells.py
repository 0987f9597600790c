"""Cells that measure what conclusions are worth: how often a study says what is true.

Judgments of a design (:mod:`dcglearn.simulation.designs`) are drawn, and what is concluded from
them (:mod:`dcglearn.inference.conclusions`) is compared with what is true of it. Over repetitions,
means are the coverage of an interval, the size and the power of tests, and the share of studies
that recommend a measure, that reject what is true, and that say nothing.
"""

from __future__ import annotations

import numpy as np

from dcglearn.inference.calibration import link_test
from dcglearn.inference.conclusions import Conclusion, conclude
from dcglearn.inference.questions import Question
from dcglearn.inference.tests import verdict_of
from dcglearn.simulation.designs import DESIGNS, Design, simulated_study

LEVEL = 0.05


def conclusions(name: str, n: int, rng: np.random.Generator) -> dict[str, float]:
    """Draw n judgments of a design, and compare what is concluded with what is true.

    Each is 1 or 0, and left out where it makes no sense: ``coverage`` of the middle gain by its
    95% interval, where judgments determine it; ``determined``; ``size:ABOUT``, whether p is below
    .05 for what is true, and ``power:ABOUT`` for what is not; ``recommended``, whether there is a
    recommendation, and ``right``, whether it names the true families; ``false_stop``, whether true
    gains or true discounts are rejected; ``no_dcg``, whether documents are said not to
    add up.
    """
    design = DESIGNS[name]
    found = conclude(simulated_study(design, n, rng))
    result: dict[str, float] = {}
    truth = design.middle_gain
    if truth is not None:
        middle = found.free_gains.gains()[1]
        result["determined"] = middle.determined
        if middle.determined:
            result["coverage"] = middle.low <= truth <= middle.high
    result |= _rejections(design, found)
    supported = found.support == "supported"
    result["recommended"] = supported
    if truth is not None and supported:
        result["right"] = found.answer[1:] == (_true_of(design)["gains"], "log2")
    if design.worth == "dcg":
        result["false_stop"] = any(
            one.verdict == "rejected" and one.about != "measure"
            for one in found.questions
            if _is_true(design, one)
        )
    result["no_dcg"] = any(
        one.about == "additivity" and one.verdict == "rejected" for one in found.questions
    )
    result["link"] = verdict_of(link_test(found.recommended).p) == "rejected"
    return {key: float(value) for key, value in result.items()}


def _true_of(design: Design) -> dict[str, str]:
    gains = "exponential" if design.middle_gain == 1 / 3 else "linear"
    return {"gains": gains, "discounts": "log2", "measure": f"{gains}-log2"}


def _is_true(design: Design, one: Question) -> bool:
    """Return whether a hypothesis on what to use is true; where a coin decides, all are."""
    truths = _true_of(design)
    return one.about in truths and (bool(design.coin) or one.hypothesis == truths[one.about])


def _rejections(design: Design, found: Conclusion) -> dict[str, bool]:
    """Return whether p is below the level, for hypotheses that are true and that are not."""
    p = {(one.about, one.hypothesis): one.test.p for one in found.questions}
    rejected = {}
    if design.worth == "dcg":
        truths = _true_of(design)
        for about, name in truths.items():
            rejected[f"size:{about}"] = p[about, name] < LEVEL
        if not design.coin:
            other = "linear" if truths["gains"] == "exponential" else "exponential"
            rejected["power:gains"] = p["gains", other] < LEVEL
            rejected["power:discounts"] = p["discounts", "constant"] < LEVEL
        rejected["size:positions"] = p["positions", "the same gains at every rank"] < LEVEL
        rejected["size:additivity"] = p["additivity", "documents add up"] < LEVEL
    if not design.side:
        rejected["size:side"] = p["side", "no side bias"] < LEVEL
    return rejected
