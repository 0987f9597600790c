"""A fit as a measure file: what was learned, from what, how surely, and how well it fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcglearn.data.preferences import Preferences
from dcglearn.learning.factorise import rank_one
from dcglearn.learning.learner import DCGLearner
from dcglearn.measures.agreement import agreement
from dcglearn.measures.dcg import DCG
from dcglearn.measures.files import MeasureFile, MeasurePart
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import Label
from dcglearn.measures.utility import LinearUtility
from dcglearn.solver.streamed import Streamed


def learned_measure(
    learner: DCGLearner, preferences: Preferences, source: str, use: MeasurePart = "dcg"
) -> MeasureFile:
    """Return what a fitted learner found as a measure file.

    Parameters
    ----------
    learner : DCGLearner
        Fitted on the strict judgments of `preferences`.
    preferences : Preferences
    source : str
        The name of the file they came from.
    use : {"dcg", "utility"}, default "dcg"
        Which of the two the file stands for.

    Returns
    -------
    MeasureFile
        Its ``about`` holds parameters, certificate, identifiability, factors, and the
        agreement of W, of its rank-1 part and of the DCG with the judgments learned
        from.
    """
    pairs, weights = preferences.pairs, preferences.pair_weights
    readings = _readings(learner, preferences.scale.labels)
    found = {name: agreement(measure, pairs, weights) for name, measure in readings.items()}
    learned_from = {"file": source, "judgments": len(preferences), "strict": len(pairs)}
    parameters = {
        "encoding": learner.encoding,
        "margin": str(learner.margin),
        "C": learner.C_,
        "solver": learner.solver,
    }
    return _measure_file(learner, readings, learned_from, parameters, found, use)


def learned_from_files(
    learner: DCGLearner, problem: Streamed, source: str, use: MeasurePart = "dcg"
) -> MeasureFile:
    """Return what a learner found from packed pairs as a measure file.

    Parameters
    ----------
    learner : DCGLearner
        After ``fit_problem(problem)``.
    problem : Streamed
    source : str
        The name of the file or folder.
    use : {"dcg", "utility"}, default "dcg"

    Returns
    -------
    MeasureFile
        As that of :func:`learned_measure`; the agreements take one more pass.
    """
    readings = _readings(learner, problem.pairs.labels)
    shares = problem.agreements(list(readings.values()))
    n, ties = problem.n_pairs, problem.pairs.ties
    learned_from = {"file": source, "judgments": n + ties, "strict": n}
    parameters = {
        "encoding": "grades",
        "margin": problem.margin,
        "C": problem.C,
        "solver": learner.solver,
    }
    found = dict(zip(readings, shares, strict=True))
    return _measure_file(learner, readings, learned_from, parameters, found, use)


def _readings(learner: DCGLearner, labels: Sequence[Label]) -> dict[str, Measure]:
    return {
        "utility": LinearUtility(learner.weights_, labels),
        "rank_one": LinearUtility(rank_one(learner.weights_), labels),
        "dcg": DCG(learner.dcg_.gains, learner.dcg_.discounts, grades=labels),
    }


def _measure_file(
    learner: DCGLearner,
    readings: dict[str, Any],
    learned_from: dict[str, Any],
    parameters: dict[str, Any],
    agreements: dict[str, float],
    use: MeasurePart,
) -> MeasureFile:
    factors, solution = learner.factors_, learner.solution_
    noun = str(parameters["encoding"])[:-1]
    about: dict[str, Any] = {
        "learned_from": learned_from,
        "parameters": parameters,
        "solution": {
            "solver": solution.solver,
            "status": solution.status,
            "iterations": solution.iterations,
            "passes": solution.passes,
            "polished": solution.polished,
        },
        "certificate": learner.certificate_.to_json(),
        "factors": {
            "gauge": factors.gauge,
            "fixed_gains": list(factors.fixed_gains),
            "fixed_discounts": list(factors.fixed_discounts),
            "singular_values": factors.singular_values.tolist(),
            "second_ratio": factors.second_ratio,
            "first_share": factors.first_share,
        },
        "identifiability": learner.identifiability_.to_json(readings["utility"].grades, noun),
        "agreement": agreements,
    }
    return MeasureFile(dcg=readings["dcg"], utility=readings["utility"], use=use, about=about)
