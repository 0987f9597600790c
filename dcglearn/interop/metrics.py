"""A DCG as an object that other tools call: a metric, or what they train on.

ir_measures, PyTerrier and scikit-learn take it for what their own nDCG cannot express: fractional
and negative gains, other discounts. LightGBM and XGBoost also train on it.

Of two documents of a query with gains g_i > g_j, at ranks r_i and r_j by the present scores s,

    delta_ij  = (g_i - g_j) (c_{r_i} - c_{r_j}) / (ideal - worst)
    lambda_ij = -sigma |delta_ij| / (1 + exp(sigma (s_i - s_j)))

is added to the gradient of s_i and subtracted from that of s_j; the second derivative of both is
sigma^2 |delta_ij| rho (1 - rho), rho = 1 / (1 + exp(sigma (s_i - s_j))): the logistic loss of each
pair, weighted by what exchanging the two changes in the measure (Burges, "From RankNet to
LambdaRank to LambdaMART", MSR-TR-2010-82). Where a lower rank counts more than a higher one, the
better document is still moved up. Labels are 32-bit floats in both tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.checks import checked_number, finite_array
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats, Grades, Integers
from dcglearn.collections.runs import qrels_of, run_of
from dcglearn.interop.tools import labelled_dcg, numeric_labels
from dcglearn.measures.dcg import DCG, NO_IDEAL, cut_text, ratio
from dcglearn.measures.names import MeasureLike
from dcglearn.measures.scale import Scale
from dcglearn.systems.evaluate import evaluate
from dcglearn.systems.ranked import Rules, Ties, ranked_arrays
from dcglearn.systems.scoring import score_runs

if TYPE_CHECKING:
    import pandas as pd


def values_of_lists(measure: DCG, grades: Grades, scores: Floats, ties: Ties) -> Floats:
    """Return the value of each list of documents, of which all are judged and ranked (Q, N)."""
    ranked = ranked_arrays(grades, scores, measure.n_grades, ties=ties)
    values = score_runs(measure.plain(), ranked)
    return values if measure.normalise is None else measure.normalise_values(values, grades)


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
    rules, labelled = Rules(ties, missing=None), labelled_dcg(measure)

    def values(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        judged, ranked = _with_text_ids(qrels, "relevance"), _with_text_ids(run, "score")
        if set(judged["query_id"]).isdisjoint(ranked["query_id"]):
            return
        found = evaluate(
            qrels_of(judged), run_of(ranked), labelled, rules=rules, scale=labelled.labels
        )
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


def lambdarank_objective(
    measure: MeasureLike, sigma: float = 1.0, norm: bool = True
) -> Callable[..., tuple[Floats, Floats]]:
    """Return a measure as an objective for LightGBM and XGBoost: LambdaRank under this measure.

    Parameters
    ----------
    measure : DCG, MeasureFile, or its name
        Its grades are the labels of the documents; names are numbered L - 1, ..., 0.
    sigma : float, default 1.0
        The steepness of the logistic loss of a pair; ``sigmoid`` in LightGBM.
    norm : bool, default True
        As LightGBM's ``lambdarank_norm``: a pair weighs less the further its scores are apart,
        and the sum S of a query's gradients is replaced by log2(1 + S).

    Returns
    -------
    callable
        For ``objective`` of LightGBM and ``obj`` of ``xgboost.train``, with a dataset that has the
        size of each query. Documents with equal scores keep their order.

    Examples
    --------
    A query of three documents, of which the worst has the largest score:

    >>> objective = lambdarank_objective(DCG({1: 1, 0: 0}, [1, 0.5]), norm=False)
    >>> gradients, hessians = objective([0, 1, 0], [0.0, 0.0, 0.0], None, [3])
    >>> gradients.tolist(), hessians.tolist()
    ([0.25, -0.5, 0.25], [0.125, 0.25, 0.125])
    """
    sigma = checked_number(sigma, "`sigma`", 0, above=True)
    return partial(_objective, _checked_measure(measure), sigma, norm)


def ranking_metric(
    measure: MeasureLike, ties: Ties = "mean", name: str | None = None
) -> Callable[..., tuple[str, float, bool] | tuple[str, float]]:
    """Return a measure as a metric that LightGBM and XGBoost report and stop early by.

    Parameters
    ----------
    measure : DCG, MeasureFile, or its name
        As for :func:`lambdarank_objective`.
    ties : {"mean", "input"}, default "mean"
        Documents with equal scores count the mean over their orders, or keep their order.
    name : str, optional
        What the tool calls it, without blanks and colons; by default its form and cutoff, such as
        nDCG@10.

    Returns
    -------
    callable
        The mean over queries, for ``feval`` or ``eval_metric`` of LightGBM and ``custom_metric`` of
        XGBoost, where early stopping needs ``maximize=True``.

    Examples
    --------
    >>> metric = ranking_metric(DCG({1: 1, 0: 0}, [1, 0.5], normalise="ideal"))
    >>> metric([0, 1, 0, 1], [0.3, 0.2, 0.1, 0.0], None, [3, 1])
    ('nDCG@2', 0.75, True)
    """
    check_name(ties, "`ties`", ("mean", "input"))
    checked = _checked_measure(measure)
    return partial(_metric, checked, ties, name or checked.form + cut_text(checked.n_ranks, "@"))


def _checked_measure(measure: MeasureLike) -> DCG:
    found = labelled_dcg(measure)
    if found.normalise and max(found.gains) <= 0:
        raise InputError(*NO_IDEAL)
    return found


def _objective(
    measure: DCG,
    sigma: float,
    norm: bool,
    first: Any,
    second: Any,
    weight: Any = None,
    group: Any = None,
) -> tuple[Floats, Floats]:
    grades, scores, sizes, weights = _documents(measure, first, second, weight, group)
    found = np.zeros((2, len(grades)))

    def fill(block: tuple[Integers, Integers]) -> None:
        _, documents = block
        order = np.argsort(-scores[documents], axis=1, kind="stable")
        ranked = np.take_along_axis(documents, order, 1)
        gains = np.array(measure.gains)[grades[ranked]]
        if measure.normalise is not None:
            gains *= ratio(np.ones(len(gains)), measure.best(grades[ranked]))[:, None]
        discounts = measure.discounts_for(ranked.shape[1])
        found[:, ranked] = _lambdas(gains, scores[ranked], discounts, sigma, norm)

    map_threads(fill, list(_blocks_of_lists(sizes)))
    gradients, hessians = found * weights
    return gradients, hessians


def _metric(
    measure: DCG,
    ties: Ties,
    name: str,
    first: Any,
    second: Any,
    weight: Any = None,
    group: Any = None,
) -> tuple[str, float, bool] | tuple[str, float]:
    grades, scores, sizes, weights = _documents(measure, first, second, weight, group)
    values = np.zeros(len(sizes))
    for queries, documents in _blocks_of_lists(sizes):
        values[queries] = values_of_lists(measure, grades[documents], scores[documents], ties)
    query = np.repeat(np.arange(len(sizes)), sizes)
    of_queries = np.bincount(query, weights, len(sizes)) / np.maximum(sizes, 1)
    total = of_queries.sum()
    mean = float(values @ of_queries / total) if total else float("nan")
    if type(second).__module__.startswith("xgboost"):
        return name, mean
    return name, mean, True


def _documents(
    measure: DCG, first: Any, second: Any, weight: Any, group: Any
) -> tuple[Integers, Floats, Integers, Floats]:
    """Return the grade index, score and weight of each document, and the sizes of queries."""
    labels, scores = first, second
    if hasattr(second, "get_label"):
        labels, scores = second.get_label(), first
        weight, group = second.get_weight(), second.get_group()
    if group is None or not len(group):
        raise InputError(
            "it is not known which documents belong to one query",
            "give the dataset the size of each query, `group`",
        )
    found = finite_array(scores, "scores", (None,))
    sizes = np.asarray(group, np.int64)
    if sizes.sum() != len(found):
        problem = f"queries of {sizes.sum()} documents, and {len(found)} scores"
        raise InputError(problem, "give the number of documents of each query")
    weights = np.asarray(weight if weight is not None and len(weight) else np.ones(len(found)))
    if weights.shape != found.shape:  # one per query
        weights = np.repeat(weights, sizes)
    labels, known = np.asarray(labels, np.float32), numeric_labels(measure)
    of_grade = labels[:, None] == np.array(known, np.float32)
    missing = ~of_grade.any(axis=1)
    if missing.any():
        row = int(np.argmax(missing))
        raise InputError(
            f"the label {labels[row]:g} is not one of {', '.join(map(str, known))}",
            "give the measure a gain for it: the grades of the measure are the labels",
            f"row {row}",
        )
    return of_grade.argmax(axis=1), found, sizes, weights


DOCUMENTS_AT_ONCE = 2**13
"""Few enough for the arrays of a block to stay in the processor's cache."""

_APART = 0.01
"""LightGBM divides by this much plus the difference of two scores."""


def _blocks_of_lists(sizes: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield queries (B,) of one size, and the places of their documents (B, size)."""
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]).tolist():
        queries = np.flatnonzero(sizes == size)
        at_once = max(1, DOCUMENTS_AT_ONCE // size)
        for some in np.array_split(queries, range(at_once, len(queries), at_once)):
            yield some, starts[some, None] + np.arange(size)


def _lambdas(gains: Floats, scores: Floats, discounts: Floats, sigma: float, norm: bool) -> Floats:
    """Return gradients and second derivatives (2, B, N) of lists of one length, in rank order."""
    n_lists, n = scores.shape
    found, total = np.zeros((2, n_lists, n)), np.zeros(n_lists)
    gradients, hessians = found
    last = min(n - 1, len(np.trim_zeros(discounts, "b")))  # pairs below differ by 0
    offset = np.where(scores[:, :1] == scores[:, -1:], 1.0, _APART)
    for upper in range(last):
        lower = slice(upper + 1, n)
        better = gains[:, upper, None] - gains[:, lower]
        delta = np.abs(better * (discounts[upper] - discounts[lower]))
        apart = scores[:, upper, None] - scores[:, lower]
        if norm:
            delta /= apart + offset
        odds = np.exp(-sigma * apart)
        other = 1.0 / (1.0 + odds)
        rho = odds * other  # the model's probability that the lower one belongs above
        curvature = other * rho * delta
        pull = (rho - (better < 0)) * delta  # upwards, on the upper one
        gradients[:, upper] -= pull.sum(axis=1)
        gradients[:, lower] += pull
        hessians[:, upper] += curvature.sum(axis=1)
        hessians[:, lower] += curvature
        total += np.abs(pull).sum(axis=1)
    factor = np.full(n_lists, sigma)
    if norm:
        total *= 2 * sigma
        factor = ratio(sigma * np.log2(1.0 + total), total, sigma)
    gradients *= factor[:, None]
    hessians *= sigma * factor[:, None]
    return found
