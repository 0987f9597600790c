"""A DCG as an object that other tools call, computed by this project.

For what their own nDCG cannot say: fractional and negative gains, other discounts. Tied
scores have no order, so by default each of m tied documents gains the mean of their m gains,
which is the expectation over all orders of the tie (McSherry & Najork, ECIR 2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Floats, Grades
from dcglearn.interop.requirements import labels_of, with_labels
from dcglearn.measures.dcg import DCG
from dcglearn.measures.ideal import ideal_dcg
from dcglearn.measures.scale import NO_DOCUMENT, Label, Scale
from dcglearn.measures.utility import LinearUtility

if TYPE_CHECKING:
    import pandas as pd

Ties = Literal["mean", "order"]


class Metric(Protocol):
    """A function of true labels and scores, as scikit-learn's ``make_scorer`` takes it."""

    def __call__(self, y_true: ArrayLike, y_score: ArrayLike) -> float:
        """Return the mean over the lists."""


def sklearn_metric(measure: DCG, ties: Ties = "mean") -> Metric:
    """Return the measure as a metric of scikit-learn's kind.

    Parameters
    ----------
    measure : DCG
        Any gains, discounts and normalisation.
    ties : {"mean", "order"}, default "mean"
        The expectation over orders of tied scores (as ``ndcg_score``), or the order in
        which the documents stand.

    Returns
    -------
    callable
        From labels and scores, both of shape (n_lists, n_documents) or (n_documents,), to
        the mean over lists. ``sklearn.metrics.make_scorer`` takes it.

    Raises
    ------
    InputError
        If `ties` is neither; the metric raises it for a label off the scale.

    Examples
    --------
    >>> metric = sklearn_metric(DCG([1, 0.65, 0], "zipf", 2, "ideal"))
    >>> metric([[2, 0, 1]], [[0.3, 0.9, 0.5]])
    0.24528301886792456
    """
    _check_ties(ties)
    cut = with_labels(measure)
    scale = Scale(labels_of(cut))

    def metric(y_true: ArrayLike, y_score: ArrayLike) -> float:
        labels, scores = np.atleast_2d(np.asarray(y_true)), np.atleast_2d(np.asarray(y_score))
        if labels.shape != scores.shape or labels.ndim != 2 or not labels.size:
            raise InputError(
                f"labels of shape {labels.shape}, scores of shape {scores.shape}",
                "give both as (lists, documents)",
            )
        grades = _indices(labels, scale)
        values = [
            _value(cut, row, scored.astype(float), ties, cut.ideal(row), cut.worst(row))
            for row, scored in zip(grades, scores, strict=True)
        ]
        return float(np.mean(values))

    return metric


def ir_measure(measure: DCG, ties: Ties = "mean") -> Any:
    """Return the measure as a measure object of ir_measures, which PyTerrier takes too.

    Parameters
    ----------
    measure : DCG
        Any gains, discounts and normalisation. Its labels are the qrels' relevances.
    ties : {"mean", "order"}, default "mean"
        The expectation over orders of tied scores, or trec_eval's order of document
        identifiers, the last first, where scores are tied that are equal in single precision.

    Returns
    -------
    ir_measures.Measure
        For ``ir_measures.calc_aggregate([it], qrels, run)`` and ``eval_metrics`` of
        ``pyterrier.Experiment``. A document without a judgment gains nothing; a query of
        the qrels that is missing in the run counts 0; one without qrels is left out. With gains
        below 0 the ideal leaves out what costs, as
        :func:`dcglearn.evaluation.ranked.score_runs` does.

    Raises
    ------
    InputError
        If `ties` is neither or ir_measures is not installed; the object raises it for a
        relevance off the scale, and for identifiers that are no text.
    """
    _check_ties(ties)
    try:
        import ir_measures
    except ImportError as error:
        raise InputError("ir_measures is not installed", "pip install ir_measures") from error
    cut = with_labels(measure)
    scale = Scale(labels_of(cut))

    def evaluate(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        _check_ids(qrels, run)
        grades = _indices(qrels["relevance"].to_numpy(), scale)
        judged = qrels.assign(grade=grades).groupby("query_id", sort=False)
        pools = {query: rows.set_index("doc_id")["grade"] for query, rows in judged}
        for query, found in run.groupby("query_id", sort=False):
            if query in pools:
                yield str(query), _of_query(cut, pools[query], found, ties)

    name = str(cut) if ties == "mean" else f"{cut} [ties by document]"
    return ir_measures.define(evaluate, name=name, support_cutoff=False)


def frames(measure: DCG | LinearUtility, n_ranks: int = 10) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the measure's numbers as tables.

    Parameters
    ----------
    measure : DCG or LinearUtility
        Of a normalised one the numbers are those of its plain form.
    n_ranks : int, default 10
        How many ranks to list where a rule of discounts goes on for ever.

    Returns
    -------
    first : DataFrame
        Columns grade and gain; of a utility, its weights: rank, grade and weight.
    second : DataFrame
        Columns rank and discount; of a utility, of which a rank has none, no rows.

    Examples
    --------
    >>> gains, discounts = frames(DCG([1, 0.5, 0], "zipf"), 2)
    >>> gains["gain"].tolist(), discounts["discount"].tolist()
    ([1.0, 0.5, 0.0], [1.0, 0.5])
    """
    import pandas as pd

    none = pd.DataFrame({"rank": pd.Series(dtype=int), "discount": pd.Series(dtype=float)})
    if isinstance(measure, LinearUtility):
        labels = measure.grades or tuple(range(measure.n_grades))[::-1]
        rows = [
            {"rank": rank, "grade": label, "weight": weight}
            for rank, row in enumerate(measure.weights, start=1)
            for label, weight in zip(labels, row, strict=True)
        ]
        return pd.DataFrame(rows), none
    ranks = measure.n_ranks or n_ranks
    gains = pd.DataFrame({"grade": list(labels_of(measure)), "gain": list(measure.gains)})
    discounts = measure.discounts_for(ranks)
    return gains, pd.DataFrame({"rank": np.arange(1, ranks + 1), "discount": discounts})


def _check_ids(*tables: pd.DataFrame) -> None:
    """Refuse identifiers that are no text: 1 and "1" would be strangers."""
    for table in tables:
        for column in ("query_id", "doc_id"):
            strange = [one for one in table[column].unique() if not isinstance(one, str)]
            if strange:
                raise InputError(f"{column} {strange[0]} is no text", "give all of them as text")


def _of_query(measure: DCG, pool: pd.Series, found: pd.DataFrame, ties: Ties) -> float:
    """Return the value of one query's documents; any rank may hold one without a judgment."""
    if ties == "order":  # trec_eval's order of tied documents
        found = found.sort_values("doc_id", ascending=False, kind="stable")
    documents = found["doc_id"]
    if documents.duplicated().any() or pool.index.duplicated().any():
        raise InputError("a document stands twice in a query", "keep one")
    grades = pool.reindex(documents, fill_value=NO_DOCUMENT).to_numpy()
    scores = found["score"].to_numpy(float)
    if ties == "order":  # it compares in single precision
        scores = scores.astype(np.float32).astype(float)
    best, worst = _extremes(measure, pool.to_numpy())
    return _value(measure, grades, scores, ties, best, worst)


def _extremes(measure: DCG, pool: Grades) -> tuple[float, float]:
    """Return the best and worst value of a run of a pool, which may leave any document out."""
    discounts = measure.discounts_for(measure.n_ranks or len(pool))
    gains = np.append(np.array(measure.gains)[pool], np.zeros(len(discounts)))
    return ideal_dcg(discounts, gains), -ideal_dcg(discounts, -gains)


def _value(
    measure: DCG,
    grades: Grades,
    scores: Floats,
    ties: Ties,
    best: Floats | float,
    worst: Floats | float,
) -> float:
    if np.isnan(scores).any():
        raise InputError("a score is not a number", "score every document")
    order = np.argsort(-scores, kind="stable")
    gains = np.append(np.array(measure.gains), 0.0)[grades[order]]  # -1: no judgment
    if ties == "mean":
        tied = np.unique(-scores[order], return_inverse=True)[1]
        gains = (np.bincount(tied, gains) / np.bincount(tied))[tied]
    value = float(measure.discounts_for(len(gains)) @ gains)
    if measure.normalise is None:
        return value
    floor = float(worst) if measure.normalise == "minmax" else 0.0
    if measure.normalise == "ideal" and (best < 0 or (best == 0 and value < 0)):
        raise InputError(
            f"the ideal is {float(best):g}: dividing by it reverses the order",
            "use minmaxDCG, or gains of 0 or more",
        )
    span = float(best) - floor
    return (value - floor) / span if span > 0 else 0.0


def _indices(labels: NDArray[Any], scale: Scale) -> NDArray[np.int64]:
    """Turn labels into grade indices, each distinct one once."""
    distinct, inverse = np.unique(labels, return_inverse=True)
    known = np.array([scale.index(_plain(label)) for label in distinct], dtype=np.int64)
    return known[inverse].reshape(labels.shape)


def _plain(label: Any) -> Label:
    found: Label = label.item() if isinstance(label, np.generic) else label
    return found


def _check_ties(ties: str) -> None:
    if ties not in ("mean", "order"):
        raise unknown_name("rule for ties", ties, ["mean", "order"])
