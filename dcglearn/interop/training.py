"""Any DCG as what LightGBM and XGBoost train on, and as the metric that they report.

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

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.checks import checked_number
from dcglearn.base.errors import InputError, check_name
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats, Integers
from dcglearn.interop.tools import labelled_dcg, labels_of, values_of_lists
from dcglearn.measures.dcg import DCG, DCG_FORMS
from dcglearn.measures.ideal import NO_IDEAL, ratio
from dcglearn.measures.names import MeasureLike
from dcglearn.systems.rules import Ties


def lambdarank_objective(
    measure: MeasureLike, sigma: float = 1.0, norm: bool = True
) -> LambdaRankObjective:
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
    LambdaRankObjective
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
    checked_number(sigma, "`sigma`", 0, above=True)
    return LambdaRankObjective(_checked_measure(measure), float(sigma), bool(norm))


def ranking_metric(
    measure: MeasureLike, ties: Ties = "mean", name: str | None = None
) -> RankingMetric:
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
    RankingMetric
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
    form = next(form for form, by in DCG_FORMS.items() if by == checked.normalise)
    usual = form if checked.n_ranks is None else f"{form}@{checked.n_ranks}"
    return RankingMetric(checked, ties, name or usual)


@dataclass(frozen=True)
class LambdaRankObjective:
    """LambdaRank under a measure; made by :func:`lambdarank_objective`."""

    measure: DCG
    sigma: float
    norm: bool

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None
    ) -> tuple[Floats, Floats]:
        """Return gradients and second derivatives, one per document."""
        data = training_data(first, second, weight, group)
        used = self.measure
        grades = label_grades(used, data.labels)
        found = np.zeros((2, len(grades)))

        def fill(block: tuple[Integers, Integers]) -> None:
            _, documents = block
            own = np.array(used.gains)[grades[documents]]
            if used.normalise is not None:
                best, worst = used.extremes(grades[documents], grades[documents])
                own *= ratio(np.ones(len(own)), best - worst)[:, None]
            discounts = used.discounts_for(documents.shape[1])
            scores = data.scores[documents]
            found[:, documents] = lambdas_of_lists(own, scores, discounts, self.sigma, self.norm)

        map_threads(fill, blocks_of_lists(data.sizes))
        if data.weights is not None:
            found *= data.weights
        return found[0], found[1]


@dataclass(frozen=True)
class RankingMetric:
    """The mean of a measure over queries; made by :func:`ranking_metric`."""

    measure: DCG
    ties: Ties
    name: str

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool] | tuple[str, float]:
        """Return the name, the mean over queries and True: larger is better."""
        data = training_data(first, second, weight, group)
        grades = label_grades(self.measure, data.labels)
        values = np.zeros(len(data.sizes))
        weights = (data.sizes > 0).astype(float)
        for queries, documents in blocks_of_lists(data.sizes):
            own, scores = grades[documents], data.scores[documents]
            values[queries] = values_of_lists(self.measure, own, scores, self.ties)
            if data.weights is not None:
                weights[queries] = data.weights[documents].mean(axis=1)
        total = weights.sum()
        mean = float(values @ weights / total) if total else float("nan")
        if type(second).__module__.startswith("xgboost"):
            return self.name, mean
        return self.name, mean, True


def _checked_measure(measure: MeasureLike) -> DCG:
    found = labelled_dcg(measure)
    if found.normalise == "ideal" and max(found.gains) <= 0:
        raise InputError(*NO_IDEAL)
    return found


class TrainingData(NamedTuple):
    """Documents of several queries, one query after the other; a weight per document, if any."""

    labels: Floats
    scores: Floats
    sizes: Integers
    weights: Floats | None


def training_data(first: Any, second: Any, weight: Any, group: Any) -> TrainingData:
    """Return the documents that a tool passed."""
    labels, scores = first, second
    if hasattr(second, "get_label"):
        labels, scores = second.get_label(), first
        weight, group = second.get_weight(), second.get_group()
    if labels is None:
        raise InputError("the dataset has no labels", "give each document its grade as label")
    if group is None or not len(group):
        raise InputError(
            "it is not known which documents belong to one query",
            "give the dataset the size of each query, `group`",
        )
    found = np.asarray(scores, float)
    if not np.isfinite(found).all():
        row = int(np.argmin(np.isfinite(found)))
        raise InputError("a score is not a finite number", "lower the learning rate", f"row {row}")
    sizes = np.asarray(group).astype(np.int64)
    if sizes.sum() != len(found):
        problem = f"queries of {sizes.sum()} documents, and {len(found)} scores"
        raise InputError(problem, "give the number of documents of each query")
    weights = None if weight is None or not len(weight) else np.asarray(weight, float)
    if weights is not None and weights.shape != found.shape:  # one per query
        weights = np.repeat(weights, sizes)
    return TrainingData(np.asarray(labels, float), found, sizes, weights)


def label_grades(measure: DCG, labels: Floats) -> Integers:
    """Return the grade index of each label, compared in 32 bits."""
    grades = labels_of(measure)
    if any(isinstance(grade, str) for grade in grades):
        grades = tuple(range(len(grades)))[::-1]
    known = np.array(grades, np.float32)
    order = np.argsort(known)
    found = np.searchsorted(known, labels.astype(np.float32), sorter=order)
    indices: Integers = order[np.minimum(found, len(order) - 1)]
    wrong = known[indices] != labels.astype(np.float32)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"the label {labels[row]:g} is not one of {', '.join(map(str, grades))}",
            "give the measure a gain for it: the grades of the measure are the labels",
            f"row {row}",
        )
    return indices


PAIRS_AT_ONCE = 2**17
"""Few enough for the arrays of a block to stay in the processor's cache."""

_APART = 0.01
"""LightGBM divides by this much plus the difference of two scores."""


def blocks_of_lists(sizes: Integers) -> list[tuple[Integers, Integers]]:
    """Group queries by their number of documents, into blocks of few pairs."""
    starts = np.cumsum(sizes) - sizes
    found = []
    for size in np.unique(sizes[sizes > 0]).tolist():
        queries = np.flatnonzero(sizes == size)
        at_once = max(1, PAIRS_AT_ONCE // size**2)
        for begin in range(0, len(queries), at_once):
            some = queries[begin : begin + at_once]
            found.append((some, starts[some, None] + np.arange(size)))
    return found


def lambdas_of_lists(
    gains: Floats, scores: Floats, discounts: Floats, sigma: float, norm: bool
) -> Floats:
    """Return gradients and second derivatives (2, B, N) of lists of one length."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked_gains, ranked_scores = (np.take_along_axis(x, order, 1) for x in (gains, scores))
    found = np.zeros((2, *scores.shape))
    ranked = _lambdas_of_ranked(ranked_gains, ranked_scores, discounts, sigma, norm)
    np.put_along_axis(found, order[None], ranked, 2)
    return found


def _lambdas_of_ranked(
    gains: Floats, scores: Floats, discounts: Floats, sigma: float, norm: bool
) -> Floats:
    """Sum over pairs (upper, lower) of ranks, a few upper ranks at a time."""
    n_lists, n = scores.shape
    gradients, hessians, total = np.zeros_like(scores), np.zeros_like(scores), np.zeros(n_lists)
    counted = np.flatnonzero(discounts)
    last = min(n - 1, int(counted[-1]) + 1) if len(counted) else 0  # pairs below differ by 0
    step = max(1, min(16, PAIRS_AT_ONCE // n))
    offset = np.where(scores[:, :1] == scores[:, -1:], 1.0, _APART)[:, :, None]
    for begin in range(0, last, step):
        upper, lower = slice(begin, min(begin + step, last)), slice(begin + 1, n)
        drop = np.triu(discounts[upper, None] - discounts[lower])  # each pair once
        better = gains[:, upper, None] - gains[:, None, lower]
        delta = np.abs(better * drop)
        apart = np.abs(scores[:, upper, None] - scores[:, None, lower])
        if norm:
            delta /= apart + offset
        odds = np.exp(-sigma * apart)
        other = 1.0 / (1.0 + odds)
        rho = odds * other  # the model's probability that the lower one belongs above
        curvature = other * rho * delta
        pull = (rho - (better < 0)) * delta  # upwards, on the upper one
        gradients[:, upper] -= pull.sum(axis=2)
        gradients[:, lower] += pull.sum(axis=1)
        hessians[:, upper] += curvature.sum(axis=2)
        hessians[:, lower] += curvature.sum(axis=1)
        if norm:
            total += np.abs(pull).sum(axis=(1, 2))
    factor = np.full(n_lists, sigma)
    if norm:
        total *= 2 * sigma
        np.divide(sigma * np.log2(1.0 + total), total, out=factor, where=total > 0)
    gradients *= factor[:, None]
    hessians *= sigma * factor[:, None]
    return np.stack([gradients, hessians])
