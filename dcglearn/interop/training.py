"""Any DCG as what LightGBM and XGBoost train on, and as the metric that they report.

What their own ``lambdarank`` and ``rank:ndcg`` cannot express (discounts other than
1/log2(i + 1), gains that do not increase with the label, min-max normalisation) is computed here
and passed to them as gradients (:mod:`dcglearn.interop.lambdas`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcglearn.base.checks import checked_number
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.base.threads import map_threads
from dcglearn.base.types import Floats, Integers
from dcglearn.evaluation.from_arrays import ranked_arrays
from dcglearn.evaluation.ranked import ratio, score_runs
from dcglearn.evaluation.rules import Ties
from dcglearn.interop.lambdas import blocks_of_lists, lambdas_of_lists
from dcglearn.interop.requirements import SINGLE, as_dcg, check_range, with_labels
from dcglearn.interop.training_data import label_grades, training_data
from dcglearn.measures.dcg import DCG, DCG_FORMS
from dcglearn.measures.ideal import NO_IDEAL, check_ideal
from dcglearn.naming.names import MeasureLike

_FEW = 10_000
"""Fewer documents are not worth a thread."""


def lambdarank_objective(
    measure: MeasureLike, sigma: float = 1.0, norm: bool = True
) -> LambdaRankObjective:
    """Return a measure as an objective for LightGBM and XGBoost: LambdaRank under this measure.

    Parameters
    ----------
    measure : DCG, MeasureFile, or its name
        With any gains, discounts, cutoff and normalisation. Its grades are the labels of the
        documents; grades that are names are numbered L - 1, ..., 0.
    sigma : float, default 1.0
        The steepness of the logistic loss of a pair; ``sigmoid`` in LightGBM.
    norm : bool, default True
        As LightGBM's ``lambdarank_norm``: a pair weighs less the further its scores are apart,
        and the sum S of a query's gradients is replaced by log2(1 + S).

    Returns
    -------
    LambdaRankObjective
        For ``lightgbm.train({"objective": it}, ...)``, ``lightgbm.LGBMRanker(objective=it)`` and
        ``xgboost.train(..., obj=it)``. XGBRanker takes no objective of one's own. The dataset
        needs the size of each query. Documents with equal scores keep their order, as in
        LightGBM.

    Raises
    ------
    InputError
        If gains differ by rank, an nDCG has no gain above 0, or an argument is out of range. The
        objective raises it for a label that is not a grade of the measure, for missing query
        sizes, and for an ideal below 0.

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
        What the tool calls it; by default its form and cutoff, such as nDCG@10.

    Returns
    -------
    RankingMetric
        For ``feval`` of ``lightgbm.train``, ``eval_metric`` of ``LGBMRanker.fit``, and
        ``custom_metric`` of ``xgboost.train``, where early stopping needs ``maximize=True``. The
        mean over queries; a query whose ideal is 0 counts 0.

    Raises
    ------
    InputError
        As for :func:`lambdarank_objective`, and if `name` has a blank or a colon.

    Examples
    --------
    >>> metric = ranking_metric(DCG({1: 1, 0: 0}, [1, 0.5], normalise="ideal"))
    >>> metric([0, 1, 0, 1], [0.3, 0.2, 0.1, 0.0], None, [3, 1])
    ('nDCG@2', 0.75, True)
    """
    if not is_one_of(ties, ("mean", "input")):
        raise unknown_name("`ties`", ties, ["mean", "input"])
    checked = _checked_measure(measure)
    if name is None:
        form = next(form for form, by in DCG_FORMS.items() if by == checked.normalise)
        name = form if checked.n_ranks is None else f"{form}@{checked.n_ranks}"
    elif not isinstance(name, str) or not name or ":" in name or name.split() != [name]:
        problem = f"`name` is {name!r:.60}"
        raise InputError(problem, "use text without blanks and colons, as XGBoost needs it")
    return RankingMetric(checked, ties, name)


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
        gains = np.array(used.gains)[label_grades(self.measure, data.labels)]
        found = np.zeros((2, len(gains)))
        at_once = blocks_of_lists(data.sizes)

        def fill(block: tuple[Integers, Integers]) -> None:
            _, documents = block
            own = gains[documents]
            if used.normalise is not None:
                best, worst = _extremes(used, own)
                own *= ratio(np.ones(len(own)), best - worst, 0.0)[:, None]
            discounts = used.discounts_for(documents.shape[1])
            scores = data.scores[documents]
            found[:, documents] = lambdas_of_lists(own, scores, discounts, self.sigma, self.norm)

        if len(gains) < _FEW:
            for block in at_once:
                fill(block)
        else:
            map_threads(fill, at_once)
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
        used = self.measure
        values, weights = np.zeros(len(data.sizes)), (data.sizes > 0).astype(float)
        for queries, documents in blocks_of_lists(data.sizes):
            scores = data.scores[documents]
            ranked = ranked_arrays(grades[documents], scores, used.n_grades, ties=self.ties)
            values[queries] = score_runs(used.plain(), ranked)
            if used.normalise is not None:
                own = np.array(used.gains)[grades[documents]]
                best, worst = _extremes(used, own)
                if used.normalise == "ideal":
                    check_ideal(best, values[queries], _names_of(queries))
                values[queries] = ratio(values[queries] - worst, best - worst, 0.0)
            if data.weights is not None:
                weights[queries] = data.weights[documents].mean(axis=1)
        total = weights.sum()
        mean = float(values @ weights / total) if total else float("nan")
        if type(second).__module__.startswith("xgboost"):
            return self.name, mean
        return self.name, mean, True


def _checked_measure(measure: MeasureLike) -> DCG:
    found = as_dcg(measure)
    if found.normalise is None:
        check_range(found, "a training tool", SINGLE)
    elif found.normalise == "ideal" and max(found.gains) <= 0:
        raise InputError(*NO_IDEAL)
    labelled = with_labels(found)
    label_grades(labelled, np.zeros(0))  # refuses grades that labels cannot hold
    return labelled


def _names_of(queries: Integers) -> Callable[[int], str]:
    return lambda row: f"query {queries[row] + 1}"


def _extremes(measure: DCG, gains: Floats) -> tuple[Floats, Floats]:
    """Return the largest and, for minmaxDCG, the smallest plain DCG of lists of one length.

    Positive discounts take the largest gains, negative ones the smallest (the rearrangement
    inequality). The ideal of nDCG leaves out documents with gains below 0; otherwise every document
    is ranked. `gains` has the shape (B, N).
    """
    n = gains.shape[1]
    discounts = np.sort(measure.discounts_for(min(n, measure.n_ranks or n)))
    ranked = np.sort(gains, axis=1)

    def best(largest: Floats, smallest: Floats) -> Floats:
        n_positive = int((discounts > 0).sum())
        n_other = len(discounts) - n_positive
        top: Floats = largest[:, n - n_positive :] @ discounts[n_other:]
        return top + smallest[:, :n_other] @ discounts[:n_other]

    if measure.normalise == "minmax":
        reverse = -ranked[:, ::-1]
        return best(ranked, ranked), -best(reverse, reverse)
    largest = best(np.maximum(ranked, 0.0), np.minimum(ranked, 0.0))
    return largest, np.zeros_like(largest)
