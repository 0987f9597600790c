"""A DCG as a metric that scikit-learn or PyTerrier calls.

scikit-learn's ``ndcg_score`` and ``dcg_score`` take the gains themselves as labels and discount
by 1 / log2(i + 1). Other measures are computed by dcglearn (:mod:`dcglearn.interop.metrics`).
"""

from __future__ import annotations

from dcglearn.base.errors import InputError
from dcglearn.interop.requirements import (
    DOUBLE,
    UNJUDGED_NOTE,
    Export,
    check_gains,
    check_log2,
    check_range,
    gains_by_label,
    ndcg_notes,
)
from dcglearn.measures.dcg import DCG
from dcglearn.measures.discounts import format_number


def to_pyterrier(measure: DCG) -> Export:
    """Return Python text with the measure as an object for ``pyterrier.Experiment``.

    >>> print(to_pyterrier(DCG({1: 1, 0: 0}, "zipf")).text.splitlines()[-1])
    # pyterrier.Experiment(systems, topics, qrels, eval_metrics=[measure])
    """
    text = f"""\
from dcglearn import DCG
from dcglearn.interop.metrics import ir_measure

measure = ir_measure(DCG.parse({str(measure)!r}))
# pyterrier.Experiment(systems, topics, qrels, eval_metrics=[measure])
"""
    return Export(
        text,
        (
            "dcglearn computes the measure; ir_measures.calc_aggregate([measure], qrels, run) "
            "takes the same object.",
            "Documents with equal scores count the mean over their orders; "
            "ir_measure(..., ties='docid') orders them as trec_eval does.",
            UNJUDGED_NOTE,
        ),
    )


def to_scikit_learn(measure: DCG) -> Export:
    """Return Python text with a metric of true labels and scores.

    >>> print(to_scikit_learn(DCG([1, 0], "log2", 5, "ideal")).text.splitlines()[-1])
        return ndcg_score(y_true, y_score, k=5)
    """
    use = "sklearn.metrics.make_scorer takes the metric."
    ties = "Documents with equal scores count the mean over their orders"
    try:
        check_log2(measure, "scikit-learn")
        check_range(measure, "scikit-learn", DOUBLE)
        ndcg_notes(measure, "scikit-learn")
        check_gains(measure, "scikit-learn", positive=measure.normalise is not None)
    except InputError as why:
        text = f"""\
from dcglearn import DCG
from dcglearn.interop.metrics import sklearn_metric

metric = sklearn_metric(DCG.parse({str(measure)!r}))
"""
        other = f"{ties}; with sklearn_metric(..., ties='input') they keep the order of the input."
        return Export(text, (f"dcglearn computes it: {why.problem}.", other, use))
    table = gains_by_label(measure).items()
    gains = ", ".join(f"{label!r}: {format_number(gain)}" for label, gain in table)
    name = "dcg_score" if measure.normalise is None else "ndcg_score"
    k = "" if measure.n_ranks is None else f", k={measure.n_ranks}"
    text = f'''\
# {measure}
import numpy as np
from sklearn.metrics import {name}

GAINS = {{{gains}}}


def metric(labels, y_score):
    """Return the mean over lists; labels and scores are (lists, documents)."""
    labels = np.atleast_2d(labels)
    y_true = np.array([[GAINS[label] for label in row] for row in labels.tolist()])
    y_score = np.atleast_2d(y_score)
    return {name}(y_true, y_score{k})
'''
    notes = [f"{ties}; with ignore_ties=True they are ordered by position."]
    if name == "ndcg_score":
        notes.append("ndcg_score refuses lists of one document.")
    return Export(text, (*notes, use))
