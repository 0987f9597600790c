"""Make ``learned.json``: a measure learned from ``learned_from.jsonl``, with intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dcglearn import (
    DCGLearner,
    MeasureFile,
    certainty_of,
    learn_dcg,
    learned_measure,
    parameter_intervals,
    read_preferences,
    write_measure,
)

FOLDER = Path(__file__).resolve().parent


def learned() -> MeasureFile:
    """Return what is learned from the file, with all that it can be asked for."""
    data = read_preferences(FOLDER / "learned_from.jsonl")
    learner = DCGLearner().fit(data)
    intervals = parameter_intervals(learner, data, np.random.default_rng(0), 20)
    certainty, usual = certainty_of(data), learn_dcg(data)
    name = "learned_from.jsonl"
    return learned_measure(
        learner, data, name, intervals=intervals, certainty=certainty, usual=usual
    )


if __name__ == "__main__":
    write_measure(learned(), FOLDER / "learned.json")
