"""A DCG as an object that ir_measures, PyTerrier or scikit-learn calls.

For what their own nDCG cannot express: fractional and negative gains, other discounts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError, check_name
from dcglearn.collections.runs import qrels_of, run_of
from dcglearn.interop.tools import labelled_dcg, values_of_lists
from dcglearn.measures.names import MeasureLike
from dcglearn.measures.scale import Scale
from dcglearn.systems.evaluate import evaluate
from dcglearn.systems.rules import TIES, Rules, Ties

if TYPE_CHECKING:
    import pandas as pd


def sklearn_metric(
    measure: MeasureLike, ties: Ties = "mean"
) -> Callable[[ArrayLike, ArrayLike], float]:
    """Return the measure as a metric for scikit-learn.

    Parameters
    ----------
    measure : DCG, MeasureFile, or its name
        With any gains, discounts and normalisation.
    ties : {"mean", "input"}, default "mean"
        Documents with equal scores count the mean over their orders (as in ``ndcg_score``), or
        keep the order of the input.

    Returns
    -------
    callable
        From labels and scores, both of shape (n_lists, n_documents) or (n_documents,), to the
        mean over lists. ``sklearn.metrics.make_scorer`` takes it.

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> metric = sklearn_metric(DCG([1, 0.65, 0], "zipf", 2, "ideal"))
    >>> metric([[2, 0, 1]], [[0.3, 0.9, 0.5]])
    0.24528301886792456
    """
    check_name(ties, "`ties`", ("mean", "input"))
    labelled = labelled_dcg(measure)
    scale = Scale(labelled.labels)

    def metric(y_true: ArrayLike, y_score: ArrayLike) -> float:
        labels, scores = np.atleast_2d(y_true), np.atleast_2d(y_score).astype(float)
        distinct, which = np.unique(labels, return_inverse=True)
        grades = np.array([scale.index(label) for label in distinct.tolist()])[which]
        return float(values_of_lists(labelled, grades, scores, ties).mean())

    return metric


def ir_measure(measure: MeasureLike, ties: Ties = "mean") -> Any:
    """Return the measure as a measure object of ir_measures, which PyTerrier takes too.

    Parameters
    ----------
    measure : DCG, MeasureFile, or its name
        Its labels are the relevances of the qrels.
    ties : {"mean", "input", "docid"}, default "mean"
        How documents with equal scores count, see :class:`dcglearn.Rules`.

    Returns
    -------
    ir_measures.Measure
        For ``ir_measures.calc_aggregate([it], qrels, run)`` and ``eval_metrics`` of
        ``pyterrier.Experiment``. A document without a judgment gains nothing. A query that is
        missing from the run counts 0; a query without qrels is left out.
    """
    check_name(ties, "`ties`", TIES)
    labelled = labelled_dcg(measure)
    scale = Scale(labelled.labels)

    def values(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        judged, ranked = _with_text_ids(qrels, "relevance"), _with_text_ids(run, "score")
        if set(judged["query_id"]).isdisjoint(ranked["query_id"]):
            return
        rules = Rules(ties, missing=None)
        found = evaluate(qrels_of(judged), run_of(ranked), labelled, rules=rules, scale=scale)
        for query, value in zip(found.queries, found.values[0, 0].tolist(), strict=True):
            if not np.isnan(value):
                yield query, value

    try:
        import ir_measures
    except ImportError as error:
        remedy = "pip install 'dcglearn[evaluators]'"
        raise InputError("ir_measures is not installed", remedy) from error
    name = str(labelled) if ties == "mean" else f"{labelled} [ties by {ties}]"
    return ir_measures.define(values, name=name, support_cutoff=False)


def _with_text_ids(frame: pd.DataFrame, number: str) -> pd.DataFrame:
    """Return the columns that are used; refuse ids that are not text: 1 and "1" would not match."""
    for field in ("query_id", "doc_id"):
        wrong = next((one for one in frame[field].unique() if not isinstance(one, str)), None)
        if wrong is not None:
            raise InputError(f"{field} {wrong} is not text", "give all of them as text")
    return frame[["query_id", "doc_id", number]]
