"""Make ``learned.json``: a measure learned from ``learned_from.jsonl``, with intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dcglearn import (
    DCGLearner,
    certainty_of,
    learn_dcg,
    learned_measure,
    parameter_intervals,
    read_preferences,
    write_measure,
)

FOLDER = Path(__file__).resolve().parent

if __name__ == "__main__":
    data = read_preferences(FOLDER / "learned_from.jsonl")
    learner = DCGLearner().fit(data)
    intervals = parameter_intervals(learner, data, np.random.default_rng(0), 20)
    content = learned_measure(
        learner,
        data,
        "learned_from.jsonl",
        intervals=intervals,
        certainty=certainty_of(data),
        usual=learn_dcg(data),
    )
    write_measure(content, FOLDER / "learned.json")
