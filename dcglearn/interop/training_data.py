"""The documents of a training tool: labels, scores, weights and the size of each query.

LightGBM and XGBoost call a function of their own scores and their own dataset; LightGBM's
scikit-learn interface calls one of labels, scores, weights and query sizes. Labels are 32-bit
floats in both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.interop.requirements import labels_of
from dcglearn.measures.dcg import DCG


class TrainingData(NamedTuple):
    """Documents of several queries, one query after the other; a weight per document, if any."""

    labels: Floats
    scores: Floats
    sizes: Integers
    weights: Floats | None


def training_data(first: Any, second: Any, weight: Any, group: Any) -> TrainingData:
    """Return the documents that a tool passed.

    >>> training_data([1, 0, 1], [0.5, 0.1, 0.2], None, [2, 1]).sizes.tolist()
    [2, 1]
    """
    labels, scores = first, second
    if hasattr(second, "get_label"):
        labels, scores = second.get_label(), first
        weight, group = second.get_weight(), second.get_group()
    if labels is None:
        raise InputError("the dataset has no labels", "give each document its grade as label")
    given = np.asarray(labels, float), np.asarray(scores, float)
    if given[0].ndim != 1 or given[0].shape != given[1].shape:
        raise InputError(
            f"labels of shape {given[0].shape}, scores of shape {given[1].shape}",
            "give one of both per document",
        )
    if not np.isfinite(given[1]).all():
        row = int(np.argmin(np.isfinite(given[1])))
        raise InputError("a score is not a finite number", "lower the learning rate", f"row {row}")
    sizes = _checked_sizes(group, len(given[0]))
    return TrainingData(*given, sizes, _checked_weights(weight, sizes, len(given[0])))


def label_grades(measure: DCG, labels: Floats) -> Integers:
    """Return the grade index of each label, compared in 32 bits.

    >>> label_grades(DCG({2: 1, 0.1: 0}), np.array([0.1, 2, 0.1])).tolist()
    [1, 0, 1]
    """
    grades = labels_of(measure)
    if any(isinstance(grade, str) for grade in grades):
        grades = tuple(range(len(grades)))[::-1]
    known = np.array(grades, np.float32)
    order = np.argsort(known)
    if (np.diff(known[order]) == 0).any():
        raise InputError(
            f"the grades {', '.join(map(str, grades))} are not distinct as 32-bit floats, which "
            "LightGBM and XGBoost use for labels",
            "number them: 0 the worst, 1, 2, ...",
        )
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


def _checked_sizes(group: Any, n_documents: int) -> Integers:
    if group is None or not len(group):
        raise InputError(
            "it is not known which documents belong to one query",
            "give the dataset the size of each query, `group`",
        )
    sizes = np.asarray(group).astype(np.int64)
    if sizes.ndim != 1 or (sizes < 0).any() or int(sizes.sum()) != n_documents:
        raise InputError(
            f"queries of {int(sizes.sum())} documents in all, and {n_documents} labels",
            "give the number of documents of each query, in the order of the documents",
        )
    return sizes


def _checked_weights(weight: Any, sizes: Integers, n_documents: int) -> Floats | None:
    if weight is None or not len(weight):
        return None
    weights = np.asarray(weight, float)
    if weights.shape == (n_documents,):
        return weights
    if weights.shape == sizes.shape:
        return np.repeat(weights, sizes)
    raise InputError(
        f"{len(weights)} weights for {len(sizes)} queries of {n_documents} documents",
        "give one per document or per query",
    )
