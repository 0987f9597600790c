"""The covariance of estimates when judgments come in clusters.

Judgments of one query, or of one judge, are not independent. The sandwich estimate

    V = H^-1 (sum_q A_q u_q u_q' A_q') H^-1

takes the scores u_q of whole clusters, with H the negative Hessian of the log posterior. With few
or uneven clusters it is too small, since the estimate has followed the data. The adjustment CR2 of
Bell & McCaffrey (Survey Methodology 28, 2002), A_q = (I - F_q H^-1)^-1/2 with F_q the expected
information of the cluster, makes it unbiased when the model is right; and the variance of a
contrast a'theta has the degrees of freedom of Satterthwaite,

    df = (sum_q p_q)^2 / sum_q p_q^2,      p_q = a' H^-1 F_q H^-1 a,

as many as there are clusters if all count the same, and few if one query holds most judgments.

Judgments of one single query say nothing about others: then there is no variance, and no interval.
A single judge is taken as the one whom intervals and tests are about.

With clusters by query and by judge, V = V_query + V_judge - V_both (Cameron, Gelbach & Miller,
J. Bus. Econ. Stat. 29, 2011), but never less than either of the first two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcglearn.base.types import Floats, Integers
from dcglearn.inference.likelihood import Likelihood, Rows
from dcglearn.inference.maximise import Maximum

SMALL_CLUSTER = 0.02
"""Up to this trace of F_q H^-1, I + F_q H^-1 / 2 is the root to within 2e-4."""

_FIRMEST = 0.02
"""Lower limit of the eigenvalues of I - F_q H^-1: a cluster that decides a direction alone."""


@dataclass(frozen=True, eq=False)
class Clustering:
    """One way to group judgments into clusters, at an estimate.

    Attributes
    ----------
    name : str
        ``query``, ``judge``, or both.
    steps : ndarray of float, shape (clusters, P)
        By how much each cluster has moved the estimate, adjusted; their products are V.
    rows : ndarray of float, shape (m, P)
        Rows of expected information, times R: their outer products sum to R' F R.
    clusters : ndarray of int, shape (m,)
        The cluster of each row.
    """

    name: str
    steps: Floats
    rows: Floats
    clusters: Integers

    @cached_property
    def covariance(self) -> Floats:
        """CR2, shape (P, P); 0 for parameters that are held by a bound."""
        return self.steps.T @ self.steps

    @property
    def is_one_cluster(self) -> bool:
        """Whether all judgments are in one cluster."""
        return bool(self.clusters.min() == self.clusters.max())

    def degrees_of_freedom(self, directions: Floats) -> float:
        """Return Satterthwaite's degrees of freedom of a variance.

        Parameters
        ----------
        directions : ndarray of float, shape (P, d)
            Whitened: R' times contrasts.
        """
        shares = np.bincount(self.clusters, ((self.rows @ directions) ** 2).sum(axis=1))
        return float(shares.sum() ** 2 / max((shares**2).sum(), 1e-300))


@dataclass(frozen=True, eq=False)
class Covariance:
    """How much estimates vary.

    Attributes
    ----------
    root : ndarray of float, shape (P, P)
        R with R R' = H^-1, 0 for parameters that are held.
    clusterings : tuple of Clustering
        By query; by judge as well, if judges are known.
    both : ndarray of float, shape (P, P), or None
        CR2 of clusters that share query and judge.
    """

    root: Floats
    clusterings: tuple[Clustering, ...]
    both: Floats | None

    @property
    def one_cluster(self) -> bool:
        """Whether all judgments are of one query, so that nothing varies."""
        return any(one.is_one_cluster for one in self.clusterings)

    def variance(self, contrast: Floats) -> float:
        """Return the variance of contrast'theta.

        Parameters
        ----------
        contrast : ndarray of float, shape (P,)
        """
        single = [float(contrast @ one.covariance @ contrast) for one in self.clusterings]
        if self.both is None:
            return max(single)
        return max(*single, sum(single) - float(contrast @ self.both @ contrast))

    def degrees_of_freedom(self, contrast: Floats) -> float:
        """Return the degrees of freedom of that variance: the smallest of any clustering."""
        directions = (self.root.T @ contrast)[:, None]
        return min(one.degrees_of_freedom(directions) for one in self.clusterings)

    @property
    def model(self) -> Floats:
        """H^-1, shape (P, P): the covariance if the model is right and judgments independent."""
        return self.root @ self.root.T

    def inflation(self, directions: Floats) -> tuple[float, float]:
        """Return the mean of the robust variance of directions, and its degrees of freedom.

        Parameters
        ----------
        directions : ndarray of float, shape (P, d)
            Whitened and orthonormal, so that the model's own variance of each is 1.
        """
        inverse = self._inverse_root
        whitened = directions.T @ inverse @ self.robust @ inverse.T @ directions
        df = min(one.degrees_of_freedom(directions) for one in self.clusterings)
        return float(np.trace(whitened)) / directions.shape[1], df

    @cached_property
    def _inverse_root(self) -> Floats:
        return np.asarray(np.linalg.pinv(self.root), float)

    @property
    def robust(self) -> Floats:
        """The covariance of all parameters, shape (P, P), positive semidefinite.

        With two clusterings, negative eigenvalues of the sum are set to 0.
        """
        total = sum(one.covariance for one in self.clusterings)
        if self.both is None:
            return np.asarray(total)
        values, vectors = np.linalg.eigh(total - self.both)
        return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def covariance(likelihood: Likelihood, maximum: Maximum) -> Covariance:
    """Return the covariance of estimates, robust to clusters.

    Parameters
    ----------
    likelihood : Likelihood
    maximum : Maximum
        Of its posterior. Parameters at a bound are taken as fixed.

    Returns
    -------
    Covariance
    """
    theta, evidence = maximum.parameters, likelihood.evidence
    root = inverse_root(-maximum.at.hessian, maximum.free)
    sums = likelihood.sum_over_rows(theta, lambda rows: score_rows(likelihood, theta, root, rows))
    scores, information = (joined(part) for part in zip(*sums, strict=True))
    groups = {"query": evidence.queries}
    both = None
    if evidence.judges is not None and np.ptp(evidence.judges):
        groups["judge"] = evidence.judges
        pairs = evidence.queries * (evidence.judges.max() + 1) + evidence.judges
        both = np.unique(pairs, return_inverse=True)[1]
    found = tuple(
        _clustering(name, numbers, scores, information, root) for name, numbers in groups.items()
    )
    joint = None if both is None else _clustering("both", both, scores, information, root)
    return Covariance(root, found, None if joint is None else joint.covariance)


def inverse_root(matrix: Floats, free: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return R with R R' = matrix^-1 on the free parameters, and 0 elsewhere."""
    root = np.zeros_like(matrix)
    values, vectors = np.linalg.eigh(matrix[np.ix_(free, free)])
    values = np.maximum(values, 1e-12 * values.max(initial=1e-300))
    root[np.ix_(free, free)] = vectors / np.sqrt(values)
    return root


def score_rows(
    likelihood: Likelihood, theta: Floats, root: Floats, rows: Rows
) -> tuple[Floats, Floats]:
    """Return the whitened scores of a chunk (n, P), and rows of information (n, answers, P)."""
    weights = likelihood.evidence.weights[rows.rows]
    scores = (likelihood.scores(theta, rows) * weights[:, None]) @ root
    return scores, information_of_rows(likelihood, theta, root, rows)


def information_of_rows(likelihood: Likelihood, theta: Floats, root: Floats, rows: Rows) -> Floats:
    """Return the whitened rows of information of a chunk, (n, answers, P)."""
    information = [part @ root for part in likelihood.information_rows(theta, rows)]
    return information[0][:, None] if len(information) == 1 else np.stack(information, axis=1)


def joined(parts: Sequence[Floats]) -> Floats:
    """Concatenate the rows of chunks; one chunk is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _clustering(
    name: str, clusters: Integers, scores: Floats, information: Floats, root: Floats
) -> Clustering:
    n, answers, P = information.shape
    rows = information.reshape(-1, P)
    of_row = clusters if answers == 1 else np.repeat(clusters, answers)
    if answers == 1 and np.array_equal(clusters, np.arange(n)):
        factors = adjustment_of_one((rows**2).sum(axis=1))
        return Clustering(name, (scores * factors[:, None]) @ root.T, rows, of_row)
    totals = sum_by(clusters, scores)
    pull = np.einsum("ij,ij->i", rows, totals[of_row])
    adjusted = totals + sum_by(of_row, rows * pull[:, None]) / 2
    leverage = np.bincount(of_row, (rows**2).sum(axis=1))
    large = np.flatnonzero(leverage > SMALL_CLUSTER)
    if len(large):
        order = np.argsort(of_row, kind="stable")
        ends = np.searchsorted(of_row[order], np.arange(len(totals) + 1)).tolist()
        parts = [rows[order[ends[q] : ends[q + 1]]] for q in large.tolist()]
        adjusted[large] = adjusted_totals(totals[large], np.stack([x.T @ x for x in parts]))
    steps = adjusted @ root.T
    return Clustering(name, steps, rows, of_row)


def adjustment_of_one(leverage: Floats) -> Floats:
    """Return what adjusts the score of a cluster of one strict judgment, shape (n,).

    The score has the direction of the judgment's row of information, so that its adjustment is a
    factor, (1 - leverage)^-1/2.

    Parameters
    ----------
    leverage : ndarray of float, shape (n,)
        The traces of F_q H^-1.

    Examples
    --------
    >>> adjustment_of_one(np.array([0.01, 0.36]))
    array([1.005, 1.25 ])
    """
    firm = np.maximum(1 - leverage, _FIRMEST) ** -0.5
    return np.asarray(np.where(leverage > SMALL_CLUSTER, firm, 1 + leverage / 2))


def adjusted_total(total: Floats, information: Floats) -> Floats:
    """Return the scores of a cluster (P,), adjusted for its information (P, P), both whitened."""
    return np.asarray(adjusted_totals(total[None], information[None])[0])


def adjusted_totals(totals: Floats, information: Floats) -> Floats:
    """Return the scores of clusters (m, P), adjusted for their information (m, P, P)."""
    values, vectors = np.linalg.eigh(np.eye(totals.shape[1]) - information)
    values = np.maximum(values, _FIRMEST)
    along = (vectors.transpose(0, 2, 1) @ totals[:, :, None])[:, :, 0] / np.sqrt(values)
    return np.asarray((vectors @ along[:, :, None])[:, :, 0])


def sum_by(clusters: Integers, rows: Floats) -> Floats:
    """Return the sums (clusters, P) of rows (n, P)."""
    return np.stack([np.bincount(clusters, column) for column in rows.T], axis=1)
