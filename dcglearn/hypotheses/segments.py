"""Whether groups of judgments follow the same measure.

Groups may be files, judges, kinds of query. The gains and discounts of two groups, each estimated
by itself, are compared by a Wald test,

    F = h' V^-1 h / d,      h = (gains, discounts)_1 - (gains, discounts)_2,

where V adds up what each cluster has moved the two estimates by
(:mod:`dcglearn.inference.covariance`), so that queries that occur in both groups are counted once,
and d is the number of gains and discounts that both groups determine. How decided judges are, how
often they lapse and which side they like may differ without a difference in what is good.
With more than two groups, each is compared with all others together, corrected by Holm's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.types import Floats
from dcglearn.hypotheses.likelihood_ratios import TestVerdict, verdict_of
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.judgments.preferences import Preferences
from dcglearn.statistics.significance import holm

MIN_JUDGMENTS = 20
"""A group of fewer strict judgments is not compared."""


@dataclass(frozen=True)
class SegmentComparison:
    """One group of judgments, compared with the others.

    Attributes
    ----------
    name : str
    judgments, other_judgments : int
        Those that the model uses.
    fit, other : JudgmentFit
    statistic, df, cluster_df : float
        F, and its two degrees of freedom.
    p, corrected : float
        Corrected for the number of groups.
    reversed_judged : float
        The share of all judgments that the two estimates order differently.
    """

    name: str
    judgments: int
    other_judgments: int
    fit: JudgmentFit
    other: JudgmentFit
    statistic: float
    df: int
    cluster_df: float
    p: float
    corrected: float
    reversed_judged: float

    @property
    def verdict(self) -> TestVerdict:
        """What the test says of the hypothesis that the two are alike."""
        return verdict_of(self.corrected)


@dataclass(frozen=True)
class Segments:
    """Groups of judgments compared with each other.

    Attributes
    ----------
    compared : tuple of SegmentComparison
        One if there are two groups, else one per group.
    too_small : tuple of str
        Groups with fewer than :data:`MIN_JUDGMENTS`; they are left out.
    """

    compared: tuple[SegmentComparison, ...]
    too_small: tuple[str, ...]


def compare_segments(
    preferences: Preferences, groups: Sequence[object], model: JudgmentModel | None = None
) -> Segments:
    """Compare groups of judgments.

    Parameters
    ----------
    preferences : Preferences
    groups : sequence, length n
        The group of each judgment; None leaves it out.
    model : JudgmentModel, optional
        By default ``JudgmentModel()``: gains and discounts are free.

    Returns
    -------
    Segments

    Raises
    ------
    InputError
        If fewer than two groups are left, or they have nothing in common that both determine.
    """
    model = JudgmentModel() if model is None else model
    if len(groups) != len(preferences):
        raise InputError(
            f"{counted(len(groups), 'group')} for {counted(len(preferences), 'judgment')}",
            "give one per judgment",
        )
    evidence = Evidence.of(preferences, model.ties)
    labels = np.array([None if one is None else str(one) for one in groups], object)[evidence.rows]
    names = sorted({one for one in labels.tolist() if one is not None})
    sizes = {name: int((labels == name).sum()) for name in names}
    kept = [name for name in names if sizes[name] >= MIN_JUDGMENTS]
    small = tuple(name for name in names if name not in kept)
    if len(kept) < 2:
        raise InputError(
            f"{counted(len(kept), 'group')} of {MIN_JUDGMENTS} or more strict judgments "
            f"(of {len(names)} in all)",
            "name groups that are larger",
        )
    used = np.isin(labels, kept)
    evidence, labels = evidence.take(used), labels[used]
    asked = kept[:1] if len(kept) == 2 else kept
    found = [_compare(preferences, evidence, labels, name, kept, model) for name in asked]
    corrected = holm(np.array([one.p for one in found]))
    compared = tuple(
        SegmentComparison(**(vars(one) | {"corrected": float(p)}))
        for one, p in zip(found, corrected, strict=True)
    )
    return Segments(compared, small)


def _compare(
    preferences: Preferences,
    evidence: Evidence,
    labels: np.ndarray[tuple[int], np.dtype[np.object_]],
    name: str,
    kept: Sequence[str],
    model: JudgmentModel,
) -> SegmentComparison:
    inside = labels == name
    parts = [evidence.take(inside), evidence.take(~inside)]
    fits = [model.fit_evidence(part, preferences.scale) for part in parts]
    numbers = [_contrasts(fit) for fit in fits]
    both = numbers[0].determined & numbers[1].determined
    d = int(both.sum())
    if not d:
        raise InputError(
            f"{name} and the others determine no gain or discount that could be compared",
            "give more judgments, or families with fewer parameters",
        )
    h = (numbers[0].values - numbers[1].values)[both]
    slopes = [one.slopes[both] for one in numbers]
    V = _joint_variance(fits, slopes)
    df = min(
        one.degrees_of_freedom(fit.covariance.root.T @ slope.T)
        for fit, slope in zip(fits, slopes, strict=True)
        for one in fit.covariance.clusterings
    )
    statistic = float(h @ np.linalg.pinv(V, hermitian=True) @ h) / d
    p = float(fdtrc(d, df, statistic))
    scores = [_differences(preferences, evidence, fit) for fit in fits]
    reversed_share = np.average(np.abs(scores[0] - scores[1]) / 2, weights=evidence.weights)
    return SegmentComparison(
        name,
        len(parts[0]),
        len(parts[1]),
        fits[0],
        fits[1],
        statistic,
        d,
        df,
        p,
        p,
        float(reversed_share),
    )


@dataclass(frozen=True)
class _Contrasts:
    values: Floats
    slopes: Floats
    determined: np.ndarray[tuple[int], np.dtype[np.bool_]]


def _contrasts(fit: JudgmentFit) -> _Contrasts:
    """Return gains and discounts, their derivatives in the parameters, and which the data tell."""
    found = (*fit.gains(), *fit.discounts())
    slopes = np.concatenate([fit.gain_slopes, fit.discount_slopes])
    values = np.array([one.estimate for one in found])
    return _Contrasts(values, slopes, np.array([one.determined and not one.given for one in found]))


def _joint_variance(fits: Sequence[JudgmentFit], slopes: Sequence[Floats]) -> Floats:
    """Return the covariance of the difference, (d, d): the largest of any clustering's trace."""
    candidates = []
    both = [{one.name: one for one in fit.covariance.clusterings} for fit in fits]
    for name in ("query", "judge"):
        if not all(name in one for one in both):  # a group of one judge has no clusters of judges
            continue
        moves = [one[name].steps @ slope.T for one, slope in zip(both, slopes, strict=True)]
        total = np.zeros((max(map(len, moves)), moves[0].shape[1]))
        total[: len(moves[0])] += moves[0]
        total[: len(moves[1])] -= moves[1]
        candidates.append(total.T @ total)
    return max(candidates, key=lambda V: float(np.trace(V)))


def _differences(preferences: Preferences, evidence: Evidence, fit: JudgmentFit) -> Floats:
    """Return the sign of each judgment's difference of utilities."""
    padded = np.hstack([fit.weights, np.zeros((len(fit.weights), 1))])
    utility = padded[np.arange(len(padded)), preferences.lists[evidence.rows]].sum(axis=2)
    return np.asarray(np.sign(np.round(utility[:, 0] - utility[:, 1], 9)))
