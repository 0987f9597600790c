"""Make ``learned.json``: a measure learned from ``learned_from.jsonl``, with intervals.

Later versions must read it, and write the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dcglearn import (
    DCGLearner,
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
    content = learned_measure(learner, data, "learned_from.jsonl", intervals=intervals)
    write_measure(content, FOLDER / "learned.json")
