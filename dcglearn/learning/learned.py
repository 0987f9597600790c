"""A fit as a measure file: what was learned, from what, how surely, and how well it fits."""

from __future__ import annotations

from typing import Any

from dcglearn.data.preferences import Preferences
from dcglearn.learning.factorise import rank_one
from dcglearn.learning.learner import DCGLearner
from dcglearn.measures.agreement import agreement
from dcglearn.measures.dcg import DCG
from dcglearn.measures.files import MeasureFile, Use
from dcglearn.measures.utility import LinearUtility


def learned_measure(
    learner: DCGLearner, preferences: Preferences, source: str, use: Use = "dcg"
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
    labels = preferences.scale.labels
    dcg = DCG(learner.dcg_.gains, learner.dcg_.discounts, grades=labels)
    utility = LinearUtility(learner.weights_, labels)
    pairs, weights = preferences.pairs, preferences.pair_weights
    plain = LinearUtility(rank_one(learner.weights_), labels)
    factors, solution = learner.factors_, learner.solution_
    about: dict[str, Any] = {
        "learned_from": {"file": source, "judgments": len(preferences), "strict": len(pairs)},
        "parameters": {
            "encoding": learner.encoding,
            "margin": str(learner.margin),
            "C": float(learner.C),
            "solver": learner.solver,
        },
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
        "identifiability": learner.identifiability_.to_json(labels, learner.encoding[:-1]),
        "agreement": {
            "utility": agreement(utility, pairs, weights),
            "rank_one": agreement(plain, pairs, weights),
            "dcg": agreement(dcg, pairs, weights),
        },
    }
    return MeasureFile(dcg=dcg, utility=utility, use=use, about=about)
