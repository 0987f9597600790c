"""A DCG as an object that ir_measures, PyTerrier or scikit-learn calls.

For what their own nDCG cannot express: fractional and negative gains, other discounts. The values
are computed by :func:`dcglearn.evaluation.ranked.score_runs`, as everywhere in this package: by
default, documents with equal scores each gain the mean of their gains, the expectation over all
their orders (McSherry & Najork, ECIR 2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.types import Integers
from dcglearn.collections.join import index_qrels
from dcglearn.collections.runs import qrels_of, run_of
from dcglearn.evaluation.from_arrays import ranked_arrays
from dcglearn.evaluation.lookup import look_up
from dcglearn.evaluation.ranked import score_runs
from dcglearn.evaluation.rules import TIES, Ties
from dcglearn.interop.requirements import as_dcg, labels_of, with_labels
from dcglearn.measures.scale import Scale
from dcglearn.naming.names import MeasureLike
from dcglearn.statistics.significance import mean_of_counted

if TYPE_CHECKING:
    import pandas as pd

_TIES_IN_NAMES = {"mean": "", "input": " [ties by input]", "docid": " [ties by docid]"}


class Metric(Protocol):
    """A function of true labels and scores, as scikit-learn's ``make_scorer`` takes it."""

    def __call__(self, y_true: ArrayLike, y_score: ArrayLike) -> float:
        """Return the mean over the lists."""


def sklearn_metric(measure: MeasureLike, ties: Ties = "mean") -> Metric:
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

    Raises
    ------
    InputError
        If `ties` is something else. The metric raises it for a label that is not on the scale,
        for a score that is not finite, and for an ideal below 0.

    Examples
    --------
    >>> from dcglearn.measures.dcg import DCG
    >>> metric = sklearn_metric(DCG([1, 0.65, 0], "zipf", 2, "ideal"))
    >>> metric([[2, 0, 1]], [[0.3, 0.9, 0.5]])
    0.24528301886792456
    """
    if not is_one_of(ties, ("mean", "input")):
        raise unknown_name("`ties`", ties, ["mean", "input"])
    labelled = with_labels(as_dcg(measure))
    scale = Scale(labels_of(labelled))

    def metric(y_true: ArrayLike, y_score: ArrayLike) -> float:
        labels, scores = np.atleast_2d(np.asarray(y_true)), np.atleast_2d(np.asarray(y_score))
        if labels.shape != scores.shape or labels.ndim != 2 or not labels.size:
            raise InputError(
                f"labels of shape {labels.shape}, scores of shape {scores.shape}",
                "give both as (lists, documents)",
            )
        grades = _grade_indices(labels, scale)
        ranked = ranked_arrays(grades, scores.astype(float), len(scale), ties=ties)
        values = score_runs(labelled.plain(), ranked)
        if labelled.normalise is not None:
            values = labelled.normalise_values(values, grades, grades)
        return float(mean_of_counted(values))

    return metric


def ir_measure(measure: MeasureLike, ties: Ties = "mean") -> Any:
    """Return the measure as a measure object of ir_measures, which PyTerrier takes too.

    Parameters
    ----------
    measure : DCG, MeasureFile, or its name
        With any gains, discounts and normalisation. Its labels are the relevances of the qrels.
    ties : {"mean", "input", "docid"}, default "mean"
        How documents with equal scores count, see :data:`dcglearn.evaluation.rules.TIES`. With
        "docid", scores are compared in single precision, as in trec_eval.

    Returns
    -------
    ir_measures.Measure
        For ``ir_measures.calc_aggregate([it], qrels, run)`` and ``eval_metrics`` of
        ``pyterrier.Experiment``; ir_measures makes frames of other forms of qrels and runs first.
        A document without a judgment gains nothing. A query that is missing from the run counts 0;
        a query without qrels is left out. With gains below 0 the ideal leaves out documents with a
        negative gain, see :func:`dcglearn.evaluation.ranked.score_runs`.

    Raises
    ------
    InputError
        If `ties` is something else, or ir_measures is not installed. The object raises it for a
        relevance that is not on the scale, and for ids that are not text.
    """
    if not is_one_of(ties, TIES):
        raise unknown_name("`ties`", ties, TIES)
    labelled = with_labels(as_dcg(measure))
    scale = Scale(labels_of(labelled))

    def values(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        if not (len(qrels) and len(run)):
            return
        known = index_qrels(qrels_of(_with_text_ids(qrels, "relevance")), scale)
        found = look_up(run_of(_with_text_ids(run, "score")), known, ties, single=ties == "docid")
        scores = score_runs(labelled, found.ranked, unjudged_gain=0.0)
        there = ~found.missing
        yield from zip(np.array(known.queries)[there].tolist(), scores[there].tolist(), strict=True)

    try:
        import ir_measures
    except ImportError as error:
        remedy = "pip install 'dcglearn[evaluators]'"
        raise InputError("ir_measures is not installed", remedy) from error
    name = f"{labelled}{_TIES_IN_NAMES[ties]}"
    return ir_measures.define(values, name=name, support_cutoff=False)


def _with_text_ids(frame: pd.DataFrame, number: str) -> pd.DataFrame:
    """Return the columns that are used; refuse ids that are not text: 1 and "1" would not match."""
    for field in ("query_id", "doc_id"):
        wrong = next((one for one in frame[field].unique() if not isinstance(one, str)), None)
        if wrong is not None:
            raise InputError(f"{field} {wrong} is not text", "give all of them as text")
    return frame[["query_id", "doc_id", number]]


def _grade_indices(labels: NDArray[Any], scale: Scale) -> Integers:
    """Return the grade index of each label; each distinct label is looked up once."""
    distinct, inverse = np.unique(labels, return_inverse=True)
    indices = np.array([scale.index(label) for label in distinct.tolist()], dtype=np.int64)
    return indices[inverse].reshape(labels.shape)
