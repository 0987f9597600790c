"""Whether groups of judgments follow the same measure.

Groups may be files, judges, kinds of query. The gains and discounts of two groups, each estimated
by itself, are compared by a Wald test,

    F = h' V^-1 h / d,      h = (gains, discounts)_1 - (gains, discounts)_2,

where V adds up what each cluster has moved the two estimates by
(:mod:`dcglearn.inference.covariance`), and d is the number of gains and discounts that both groups
determine; of a formula, its parameter counts. How often judges lapse and which side they like may
differ. With more than two groups, each is compared with all others together, corrected by Holm's
method.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.statistics import holm
from dcglearn.base.types import Booleans, Floats, Ids
from dcglearn.inference.covariance import MIN_SHARE
from dcglearn.inference.estimate import JudgmentFit, JudgmentModel
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.questions import reversed_judged
from dcglearn.inference.tests import verdict_of
from dcglearn.judgments.preferences import Preferences

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
    effective : float
        How many queries, or judges, of equal weight the judgments of the smaller group are worth.
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
    effective: float
    p: float
    corrected: float
    reversed_judged: float

    @property
    def verdict(self) -> str:
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
    model = model or JudgmentModel()
    if len(groups) != len(preferences):
        raise InputError(
            f"{counted(len(groups), 'group')} for {counted(len(preferences), 'judgment')}",
            "give one per judgment",
        )
    evidence = Evidence.of(preferences, model.ties)
    labels = np.array([None if one is None else str(one) for one in groups], object)[evidence.rows]
    named = [one for one in labels.tolist() if one is not None]
    names, sizes = np.unique(named, return_counts=True)
    large = sizes >= MIN_JUDGMENTS
    kept = names[large].tolist()
    if len(kept) < 2:
        raise InputError(
            f"{counted(len(kept), 'group')} of {MIN_JUDGMENTS} or more strict judgments "
            f"(of {len(names)} in all)",
            "name groups that are larger",
        )
    used = np.isin(labels, kept)
    evidence, labels = evidence.take(used), labels[used]
    asked = kept[:1] if len(kept) == 2 else kept
    found = [_compare(evidence, labels, name, model) for name in asked]
    corrected = holm(np.array([one.p for one in found]))
    compared = [replace(one, corrected=p) for one, p in zip(found, corrected.tolist(), strict=True)]
    return Segments(tuple(compared), tuple(names[~large].tolist()))


def _compare(evidence: Evidence, labels: Ids, name: str, model: JudgmentModel) -> SegmentComparison:
    inside = labels == name
    fits = [model.fit(evidence.take(inside)), model.fit(evidence.take(~inside))]
    (mine, my_slopes, told), (theirs, their_slopes, also_told) = map(_numbers, fits)
    both = told & also_told
    d = int(both.sum())
    if not d:
        raise InputError(
            f"{name} and the others determine no gain or discount that could be compared",
            "give more judgments, or families with fewer parameters",
        )
    h, slopes = (mine - theirs)[both], [my_slopes[both], their_slopes[both]]
    V = _joint_variance(fits, slopes)
    df = min(
        fit.covariance.degrees_of_freedom(slope, pooled=True).item()
        for fit, slope in zip(fits, slopes, strict=True)
    )
    statistic = float(h @ np.linalg.pinv(V, hermitian=True) @ h) / d
    p = float(fdtrc(d, df, statistic))
    effective = min(fit.covariance.effective for fit in fits)
    (fit, other), (n, others) = fits, (len(one.evidence) for one in fits)
    (differ,) = reversed_judged(evidence, [(fit, other)])
    return SegmentComparison(name, n, others, fit, other, statistic, d, df, effective, p, p, differ)


def _numbers(fit: JudgmentFit) -> tuple[Floats, Floats, Booleans]:
    """Return gains and discounts, their derivatives, and which of them the data tell."""
    family, end, parts = fit.likelihood.family, 0, []
    for one, found, slopes in (
        (family.discounts, fit.discounts(), fit.discount_slopes),
        (family.gains, fit.gains(), fit.gain_slopes),
    ):
        values = np.array([number.estimate for number in found])
        told = np.array([number.determined and not number.given for number in found])
        end += len(one.start)
        if one.formula:
            at, spread = [end - 1], fit.covariance
            values, slopes = fit.parameters[at], np.eye(len(fit.parameters))[at]
            seen = not spread.one_cluster and spread.share_of_data(slopes[0]) >= MIN_SHARE
            told = fit.maximum.free[at] & seen
        parts.append((values, slopes, told))
    values, slopes, told = map(np.concatenate, zip(*parts, strict=True))
    return values, slopes, told


def _joint_variance(fits: Sequence[JudgmentFit], slopes: Sequence[Floats]) -> Floats:
    """Return the covariance of the difference, (d, d): the largest of any clustering's trace."""
    candidates = []
    # a group of one judge has no clusters of judges
    for both in zip(*(fit.covariance.clusterings[:2] for fit in fits), strict=False):
        pairs = list(zip(both, slopes, strict=True))
        moves = [one.steps @ slope.T for one, slope in pairs]
        total = moves[0] - moves[1]  # both groups number clusters alike
        alone = sum(slope @ one.alone @ slope.T for one, slope in pairs)
        candidates.append(total.T @ total + alone)
    return max(candidates, key=np.trace)
