"""What a strict type checker sees of the package: mypy checks this file, and nothing runs it.

An ignored error is one that must be found: mypy reports an ``ignore`` that is not needed.
"""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import dcglearn as d

Floats = NDArray[np.float64]


def measures() -> None:
    measure = d.DCG({"good": 1.0, "bad": 0.0}, np.array([2, 1]))
    assert_type(measure @ 3, d.DCG)
    assert_type(measure.score([0, 1]), Floats)
    assert_type(measure.gains, tuple[float, ...])
    assert_type(measure.n_ranks, int | None)
    assert_type(d.LinearUtility([[1, 0]]).matrix, Floats)
    assert_type(d.read_measure("m.json").measure, d.DCG | d.LinearUtility)
    assert_type(d.measure_for("zipf", d.Scale((1, 0)), 2).file, d.MeasureFile | None)


def learning() -> None:
    data = d.read_preferences("judgments.jsonl")
    assert_type(data, d.Preferences)
    learner = d.DCGLearner(n_grades=3).fit(data.pairs)
    assert_type(learner, d.DCGLearner)
    assert_type(learner.dcg_, d.DCG)
    assert_type(learner.score(data.pairs), float)
    assert_type(d.agreement(learner.dcg_, data.pairs), float)


def evaluating() -> None:
    measures = [d.DCG([1, 0]), "linear-log2 @ 5"]
    evaluation = d.evaluate("qrels.txt", {"q1": {"d1": 1.0}}, measures)
    assert_type(evaluation, d.Evaluation)
    assert_type(evaluation.means(), Floats)


def wrong() -> None:
    d.DCG(1, 2, 3, 4, 5, 6, 7)  # type: ignore[call-arg, arg-type]  # too many
    d.DCG([1, 0], "log2", "3")  # type: ignore[arg-type]  # a cutoff is a whole number
    d.DCG([1, 0], normalise="max")  # type: ignore[arg-type]  # of two names
