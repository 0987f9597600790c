"""Beta-Gamma thresholding: the score that a document must reach to be delivered.

    theta = (1 - alpha) theta_opt + alpha theta_zero
    alpha = beta + (1 - beta) exp(-gamma N)

(Zhai, Notes on Selected Topics of CS410, 2008; Zhai, Jansen, Stoica, Grot & Evans, TREC-7.)
Training documents are ranked by score, and their utilities summed down the ranking, documents with
equal scores together. theta_opt is the score at which the sum is largest, the first of several;
theta_zero is the first score below it at which the sum is 0 or less, or the lowest. With few of N
judged, the threshold is lower, so that more are delivered and judged. If no cut brings the sum
above 0, theta_opt is the smallest number above the highest score, and theta_zero is that score. An
unjudged document counts as non-relevant: its utility must be 0 or less.

A file of training documents holds one per row: ``score``, ``grade`` (empty or null for an unjudged
document) and, where known, ``id``.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.base.checks import checked_number, finite_array
from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.progress import Advance, silent
from dcglearn.base.tables.sources import Place
from dcglearn.base.types import Floats
from dcglearn.judgments.meaning.columns import RecordFields
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.reading.fields import read_records
from dcglearn.measures.names import as_dcg
from dcglearn.measures.scale import Label, Scale, canonical_label

_ROUNDING = 1e-12
"""Sums that differ by less than this share of the sum of absolute terms are equal: utilities such
as .1 - .3 + .2 sum to 0."""

_ONE_EACH = "give one number per document"


class Delivery(NamedTuple):
    """How many documents pass a threshold, and the sum of their utilities."""

    documents: int
    utility: float


@dataclass(frozen=True, eq=False)
class Threshold:
    """A Beta-Gamma threshold and the numbers it is computed from.

    Attributes
    ----------
    theta : float
        A document passes if its score is `theta` or more.
    theta_optimal, theta_zero, alpha : float
        See :mod:`dcglearn.systems.beta_gamma`.
    n_judged : int
        N, the number of judged training documents.
    scores : ndarray of float, shape (m,)
        The distinct scores of the training documents, the highest first.
    documents : ndarray of int, shape (m,)
        Number of documents with that score or a higher one.
    utilities : ndarray of float, shape (m,)
        Sum of their utilities.
    """

    theta: float
    theta_optimal: float
    theta_zero: float
    alpha: float
    n_judged: int
    scores: Floats
    documents: NDArray[np.int64]
    utilities: Floats

    def passing(self, theta: float) -> Delivery:
        """Return how many training documents score `theta` or more, and their utility."""
        passed = int((self.scores >= theta).sum())
        documents, utilities = np.append(0, self.documents), np.append(0.0, self.utilities)
        return Delivery(int(documents[passed]), float(utilities[passed]))


def beta_gamma_threshold(
    scores: ArrayLike,
    utilities: ArrayLike,
    judged: ArrayLike | None = None,
    beta: float = 0.1,
    gamma: float = 0.05,
) -> Threshold:
    """Learn a Beta-Gamma threshold from scored training documents.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
    utilities : array-like of float, shape (n,)
        The utility of delivering each document: a credit if it is relevant and otherwise minus a
        debit, or the gain of its grade minus the cost of reading it.
    judged : array-like of bool, shape (n,), optional
        Which documents have been judged; all by default.
    beta : float, default 0.1
        The limit of alpha for many judgments, 0 ... 1.
    gamma : float, default 0.05
        The rate at which alpha falls with the number of judgments, 0 or more.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> found = beta_gamma_threshold([0.9, 0.8, 0.5, 0.3, 0.1], [3, 3, -2, -4, 1])
    >>> found.theta_optimal, found.theta_zero, found.passing(found.theta)
    (0.8, 0.3, Delivery(documents=3, utility=4.0))
    """
    points = finite_array(scores, "scores", (None,), _ONE_EACH)
    values = finite_array(utilities, "utilities", (len(points),), _ONE_EACH)
    if not len(points):
        raise InputError("no document", "give at least one with a score")
    known = np.ones(len(points), bool) if judged is None else np.asarray(judged, bool)
    if (wrong := ~known & (values > 0)).any():
        row = int(np.argmax(wrong))
        problem = f"an unjudged document has the utility {values[row]:g}"
        raise InputError(problem, "it counts as non-relevant: give it 0 or less", f"row {row}")
    checked_number(beta, "`beta`", 0.0, 1.0)
    checked_number(gamma, "`gamma`", 0.0)
    n_judged = int(known.sum())
    alpha = beta + (1 - beta) * math.exp(-gamma * n_judged)
    order = np.argsort(-points, kind="stable")
    ranked = points[order]
    last = np.flatnonzero(np.diff(ranked, append=-np.inf) < 0)
    totals = np.cumsum(values[order])[last]
    totals[np.abs(totals) <= _ROUNDING * np.cumsum(np.abs(values[order]))[last]] = 0.0
    distinct, largest = ranked[last], float(totals.max())
    if largest <= 0:
        optimal, zero = math.nextafter(distinct[0], math.inf), float(distinct[0])
    else:
        slack = _ROUNDING * float(np.abs(values).sum())
        best = int(np.argmax((totals > 0) & (totals >= largest - slack)))
        back = np.flatnonzero(totals[best + 1 :] <= 0)
        optimal = float(distinct[best])
        zero = float(distinct[best + 1 + back[0] if len(back) else -1])
    # From the nearer end, so that it is exact at both: documents with that score pass.
    end, share = (zero, 1 - alpha) if alpha > 0.5 else (optimal, -alpha)
    theta = end + share * (optimal - zero)
    return Threshold(theta, optimal, zero, alpha, n_judged, distinct, last + 1, totals)


class Scored(NamedTuple):
    """Documents with scores, shape (n,), and grades, None for an unjudged one."""

    scores: Floats
    grades: tuple[Label | None, ...]
    place: Callable[[int], str]


def read_scored(
    path: Place | Iterable[Place], advance: Advance = silent, options: ReadOptions | None = None
) -> Scored:
    """Read files of scored documents; of the options, those on columns and text apply."""
    fields = RecordFields("document", ("id", "score", "grade"), ("score",))
    table = read_records(path, fields, options or ReadOptions(), advance)
    first: dict[str, int] = {}
    for row, name in enumerate(table.ids("id").decoded().tolist()):
        if name is not None and first.setdefault(name, row) != row:
            problem = f"the document {name!r} is also in {table.place(first[name])}"
            raise InputError(problem, "keep one", table.place(row))
    grades = (
        table.column("grade")
        .parsed(lambda value: None if value == "" else canonical_label(value), table.place)
        .decoded()
    )
    return Scored(table.numbers("score"), tuple(grades.tolist()), table.place)


def net_gains(measure: str, cost: float) -> dict[Label, float]:
    """Return the gain of each grade by a measure, minus the cost of reading a document."""
    found = as_dcg(measure)
    if found.grades is None:
        remedy = "write its gains as {2: 1, 1: .4, 0: 0}"
        raise InputError("its grades have no names", remedy, measure)
    return {grade: gain - cost for grade, gain in zip(found.grades, found.gains, strict=True)}


def by_relevance(
    documents: Scored, relevant: str | None, credit: float, other: float
) -> dict[Label, float]:
    """Return the worth of relevant grades, by default numbers above 0, and of others."""
    grades = [grade for grade in dict.fromkeys(documents.grades) if grade is not None]
    if relevant is None:
        for row, grade in enumerate(documents.grades):
            if isinstance(grade, str):
                remedy = "name the relevant grades, such as `relevant=perfect,good`"
                raise InputError(f"the grade {grade!r} is a name", remedy, documents.place(row))
        labels = tuple(grade for grade in grades if float(grade) > 0)
    else:
        labels = Scale.parse(relevant).labels
        if not {*grades} & {*labels}:
            names = ", ".join(map(str, grades))
            warn_of_input(f"no document has the grade {relevant}; they have {names}")
    return {grade: credit if grade in labels else other for grade in grades}


def utilities_of(documents: Scored, worth: Mapping[Label, float], unjudged: float) -> list[float]:
    """Return what delivering each document is worth."""
    for row, grade in enumerate(documents.grades):
        if grade is not None and grade not in worth:
            remedy = f"give one, as {', '.join(map(str, worth))} have"
            raise InputError(f"the grade {grade} has no gain", remedy, documents.place(row))
    return [unjudged if grade is None else worth[grade] for grade in documents.grades]
