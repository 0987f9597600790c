"""Cells that measure what conclusions are worth: how often a study says what is true.

Judgments of a design (:mod:`dcglearn.lab.simulation.designs`) are drawn, and what is concluded from
them (:mod:`dcglearn.inference.conclusions`) is compared with what is true of it. Over repetitions,
means are the coverage of an interval, the size and the power of tests, and the share of studies
that recommend a measure, that reject what is true, and that say nothing.
"""

from __future__ import annotations

import numpy as np

from dcglearn.inference.calibration import link_test
from dcglearn.inference.conclusions import Conclusion, conclude
from dcglearn.inference.tests import verdict_of
from dcglearn.lab.simulation.designs import DESIGNS, Design, simulated_study

LEVEL = 0.05


def conclusions(name: str, n: int, rng: np.random.Generator) -> dict[str, float]:
    """Draw n judgments of a design, and compare what is concluded with what is true.

    Each is 1 or 0, and left out where it makes no sense; :data:`dcglearn.lab.columns.STUDY_COLUMNS`
    says what each is.
    """
    design = DESIGNS[name]
    found = conclude(simulated_study(design, n, rng))
    gains = "exponential" if design.middle_gain == 1 / 3 else "linear"
    true = {"gains": gains, "discounts": "log2", "measure": f"{gains}-log2"}
    result: dict[str, float] = {}
    truth, supported = design.middle_gain, found.support == "supported"
    if truth is not None:
        middle = found.free_gains.gains()[1]
        result["determined"] = middle.determined
        if middle.determined:
            result["coverage"] = middle.low <= truth <= middle.high
    result |= _rejections(design, found, true)
    result["recommended"] = supported
    if truth is not None and supported:
        result["right"] = found.answer[1:] == (gains, "log2")
    rejected = [one for one in found.questions if one.verdict == "rejected"]
    if design.worth == "dcg":  # where a coin decides, all hypotheses on what to use are true
        result["false_stop"] = any(
            design.coin or one.hypothesis == true[one.about]
            for one in rejected
            if one.about in ("gains", "discounts")
        )
    result["no_dcg"] = any(one.about == "additivity" for one in rejected)
    result["link"] = verdict_of(link_test(found.recommended).p) == "rejected"
    return {key: float(value) for key, value in result.items()}


def _rejections(design: Design, found: Conclusion, true: dict[str, str]) -> dict[str, bool]:
    """Return whether p is below the level, for hypotheses that are true and that are not."""
    p = {(one.about, one.hypothesis): one.test.p for one in found.questions}
    tested: dict[str, tuple[str, str]] = {}
    if design.worth == "dcg":
        tested |= {f"size:{about}": (about, name) for about, name in true.items()}
        if not design.coin:
            other = "linear" if true["gains"] == "exponential" else "exponential"
            tested["power:gains"] = "gains", other
            tested["power:discounts"] = "discounts", "constant"
        tested["size:positions"] = "positions", "the same gains at every rank"
        tested["size:additivity"] = "additivity", "documents add up"
    if not design.side:
        tested["size:side"] = "side", "no side bias"
    return {name: p[hypothesis] < LEVEL for name, hypothesis in tested.items()}
