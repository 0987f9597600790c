"""The covariance of estimates when judgments come in clusters.

Judgments of one query, or of one judge, are not independent. The sandwich estimate

    V = H^-1 (sum_q A_q u_q u_q' A_q') H^-1

takes the scores u_q of whole clusters, with H the expected information of all judgments and of the
prior. With few or uneven clusters it is too small, since the estimate has followed the data. The
adjustment CR2 of Bell & McCaffrey (Survey Methodology 28, 2002), A_q = (I - F_q H^-1)^-1/2 with F_q
the expected information of the cluster, makes it unbiased when the model is right; and the variance
of a contrast a'theta has the degrees of freedom of Satterthwaite,

    df = (sum_q p_q)^2 / sum_q p_q^2,      p_q = a' H^-1 F_q H^-1 a,

as many as there are clusters if all count the same, and few if one query holds most judgments.

Judgments of one single query say nothing about others: then there is no variance, and no interval.
A single judge is taken as the one whom intervals and tests are about.

With clusters by query and by judge, V = V_query + V_judge - V_both (Cameron, Gelbach & Miller,
J. Bus. Econ. Stat. 29, 2011), but never less than either of the first two.

Two passes over the judgments find V, the first of which sums the scores of each cluster, the second
what its information does to them; only such sums are in memory. A judgment without a query is a
cluster of its own, which is done with at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Integers
from dcglearn.inference.evidence import Evidence, Judged
from dcglearn.inference.likelihood import Likelihood, Rows

SMALL_CLUSTER = 0.02
"""Up to this trace of F_q H^-1, I + F_q H^-1 / 2 is the root to within 2e-4."""

FEW = 20
"""From fewer queries of equal weight, a variance has at most one degree of freedom less: in
simulation, tests with Satterthwaite's reject too often there."""

MANY_JUDGES = 20
"""Fewer judges are not a sample of all that could have been asked."""

_FIRMEST = 0.02
"""Lower limit of the eigenvalues of I - F_q H^-1: a cluster that decides a direction alone."""

_MAX_BYTES = 4 * 2**30
"""Sums of clusters that take more bytes are refused."""

_MAX_KEPT = 1 << 24
"""Rows of information with more entries are computed again where they are needed again."""

_Sums = TypeVar("_Sums")


@dataclass(frozen=True, eq=False)
class Way:
    """One way to group judgments into clusters: ``query``, ``judge`` or ``both``.

    `count` clusters may hold several judgments; `keys` are those of pairs of a query and a judge,
    ascending, where both decide.
    """

    name: str
    count: int
    keys: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    n_judges: int = 0

    def number_of(self, judged: Judged) -> Integers:
        """Return the cluster of each judgment, -1 for one of its own."""
        if self.name != "both":
            return judged.queries if self.name == "query" else judged.judges
        wanted = _pair_keys(judged, self.n_judges)
        return np.where(wanted < 0, -1, np.searchsorted(self.keys, wanted))

    def sums(self, judged: Judged, values: Floats) -> tuple[Integers, Floats]:
        """Return the clusters that occur, and the sums (clusters, columns) of values (n, columns).

        Judgments that are clusters of their own are left out.
        """
        numbers = self.number_of(judged)
        known = numbers >= 0
        if not known.all():
            numbers, values = numbers[known], values[known]
        found, local = np.unique(numbers, return_inverse=True)
        sums = np.empty((len(found), values.shape[1]))
        for column, total in zip(values.T, sums.T, strict=True):
            total[:] = np.bincount(local, column, len(found))
        return found, sums

    def alone(self, judged: Judged) -> NDArray[np.bool_]:
        """Return which judgments are clusters of their own."""
        return self.number_of(judged) < 0


def ways_of(evidence: Evidence) -> list[Way]:
    """Return the ways to group judgments: by query; by judge and by both, if judges are many.

    With few judges, what is said is said of them.
    """
    ways, n_judges = [Way("query", evidence.n_queries)], evidence.n_judges
    if evidence.n_judges >= MANY_JUDGES:
        found = evidence.map(lambda judged: np.unique(_pair_keys(judged, n_judges)), with_ids=True)
        keys = np.unique(np.concatenate(list(found)))
        keys = keys[keys >= 0]
        ways += [Way("judge", n_judges), Way("both", len(keys), keys, n_judges)]
    return ways


def _pair_keys(judged: Judged, n_judges: int) -> Integers:
    return np.where(judged.queries < 0, -1, judged.queries * n_judges + judged.judges)


class Whitened(NamedTuple):
    """Some judgments: scores (n, P) and rows of expected information (n, answers, P), times R.

    Of judgments that are counted, those of a single one.
    """

    judged: Judged
    scores: Floats
    information: Floats

    @property
    def leverage(self) -> Floats:
        """The traces of F_i H^-1, shape (n,)."""
        return np.asarray(np.einsum("nap,nap->n", self.information, self.information))

    def moved(self, scores: Floats) -> Floats:
        """Return F_i u_i for scores (n, P)."""
        pull = np.einsum("nap,np->na", self.information, scores)
        return np.asarray(np.einsum("nap,na->np", self.information, pull))


@dataclass(frozen=True, eq=False)
class Passes:
    """Passes over judgments at an estimate, whose scores are multiplied by R, (P, P)."""

    likelihood: Likelihood
    parameters: Floats
    root: Floats
    kept: list[Whitened] = field(default_factory=list)

    def run(self, sums: Callable[[Whitened], _Sums]) -> Iterable[_Sums]:
        """Return the sums of each chunk of judgments, in order; scores come with the first pass."""
        likelihood = self.likelihood
        evidence = likelihood.evidence.independent or likelihood.evidence
        if self.kept:
            return map(sums, self.kept)
        rows = 1 if likelihood.ties == "strict" else len(likelihood.answers)
        if len(evidence) * len(self.root) * rows > _MAX_KEPT:
            return likelihood.map(
                evidence, self.parameters, lambda rows: sums(self._whitened(rows)), with_ids=True
            )

        def of_rows(rows: Rows) -> tuple[_Sums, Whitened]:
            found = self._whitened(rows)
            return sums(found), found._replace(scores=found.scores[:, :0])

        found = list(likelihood.map(evidence, self.parameters, of_rows, with_ids=True))
        self.kept.extend(kept for _, kept in found)
        return [one for one, _ in found]

    def _whitened(self, rows: Rows) -> Whitened:
        judged, copies = rows.judged, rows.judged.copies
        found = self.likelihood.scores_and_information(self.parameters, rows)
        scores = found[0] * (judged.weights / copies)[:, None]
        information = _times(found[1] / np.sqrt(copies)[:, None, None], self.root)
        return Whitened(judged, scores @ self.root, information)


@dataclass(frozen=True, eq=False)
class Clustering:
    """One way to group judgments into clusters, at an estimate.

    `steps`, (clusters, P), are by how much each cluster has moved the estimate, adjusted; `alone`,
    (P, P), is the covariance from judgments that are clusters of their own. So many `effective`
    clusters of equal weight would be as uneven: (sum w)^2 / sum w^2.
    """

    way: Way
    steps: Floats
    alone: Floats
    n_clusters: int
    effective: float

    @property
    def name(self) -> str:
        """``query``, ``judge``, or both."""
        return self.way.name

    @cached_property
    def covariance(self) -> Floats:
        """CR2, shape (P, P); 0 for parameters that are held by a bound."""
        return np.asarray(self.steps.T @ self.steps + self.alone)


@dataclass(frozen=True, eq=False)
class Covariance:
    """How much estimates vary.

    Attributes
    ----------
    passes : Passes
    root : ndarray of float, shape (P, P)
        R with R R' = H^-1, 0 for parameters that are held.
    information, prior : ndarray of float, shape (P, P)
        Expected, of the judgments and of the prior: H is their sum.
    free : ndarray of bool, shape (P,)
        Parameters that are not held.
    clusterings : tuple of Clustering
        By query; by judge as well, if judges are known.
    both : ndarray of float, shape (P, P), or None
        CR2 of clusters that share query and judge.
    """

    passes: Passes
    root: Floats
    information: Floats
    prior: Floats
    free: NDArray[np.bool_]
    clusterings: tuple[Clustering, ...]
    both: Floats | None

    @property
    def one_cluster(self) -> bool:
        """Whether all judgments are of one query, so that nothing varies."""
        return self.clusterings[0].n_clusters == 1

    @property
    def effective(self) -> float:
        """How many queries, or judges, of equal weight the judgments are worth: the fewest."""
        return min(one.effective for one in self.clusterings)

    def variance(self, contrast: Floats) -> float:
        """Return the variance of contrast'theta, for a contrast (P,)."""
        single = [float(contrast @ one.covariance @ contrast) for one in self.clusterings]
        if self.both is None:
            return max(single)
        return max(*single, sum(single) - float(contrast @ self.both @ contrast))

    def degrees_of_freedom(self, contrasts: Floats) -> Floats:
        """Return those of the variance of each contrast, (m, P): the smallest of any clustering."""
        return self.pooled_degrees_of_freedom([one[:, None] for one in (contrasts @ self.root)])

    def pooled_degrees_of_freedom(self, directions: Sequence[Floats]) -> Floats:
        """Return those of the mean variance of each of several whitened directions, (P, d)."""
        if not directions:
            return np.zeros(0)
        starts = np.cumsum([0, *(one.shape[1] for one in directions)])[:-1]
        columns = np.hstack(directions)
        ways = [one.way for one in self.clusterings]

        def shares_of(rows: Whitened) -> list[tuple[Integers, Floats, Floats, Floats]]:
            squares = (_times(rows.information, columns) ** 2).sum(axis=1)
            shares, found = np.add.reduceat(squares, starts, axis=1), []
            for way in ways:
                alone = way.alone(rows.judged)
                copies, own = rows.judged.copies[alone], shares[alone]
                found.append((*way.sums(rows.judged, shares), copies @ own, copies @ own**2))
            return found

        of_clusters = [np.zeros((way.count, len(directions))) for way in ways]
        total, squares = np.zeros((2, len(ways), len(directions)))
        for chunk in self.passes.run(shares_of):
            for i, (numbers, shares, alone, alone_squares) in enumerate(chunk):
                of_clusters[i][numbers] += shares
                total[i] += alone
                squares[i] += alone_squares
        for i, sums in enumerate(of_clusters):
            total[i] += sums.sum(axis=0)
            squares[i] += (sums**2).sum(axis=0)
        found = np.asarray((total**2 / np.maximum(squares, 1e-300)).min(axis=0))
        return np.minimum(found, max(self.effective - 1, 1.0)) if self.effective < FEW else found

    @property
    def model(self) -> Floats:
        """H^-1, shape (P, P): the covariance if the model is right and judgments independent."""
        return self.root @ self.root.T

    def share_of_data(self, contrast: Floats) -> float:
        """Return how much of the information on contrast'theta, (P,), is not the prior's."""
        step = self.model @ contrast
        total = float(contrast @ step)
        return 1 - float(step @ self.prior @ step) / total if total > 0 else 1.0

    @cached_property
    def robust(self) -> Floats:
        """The covariance of all parameters, shape (P, P), positive semidefinite.

        With two clusterings, negative eigenvalues of the sum are set to 0.
        """
        total = sum(one.covariance for one in self.clusterings)
        if self.both is None:
            return np.asarray(total)
        values, vectors = np.linalg.eigh(total - self.both)
        return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def covariance(likelihood: Likelihood, parameters: Floats, free: NDArray[np.bool_]) -> Covariance:
    """Return the covariance of estimates, robust to clusters."""
    information = likelihood.information(parameters)
    prior = likelihood.prior_information(parameters)
    root = inverse_root(information + prior, free)
    passes, ways = Passes(likelihood, parameters, root), ways_of(likelihood.evidence)
    n_bytes = 3 * 8 * len(root) * sum(way.count for way in ways)
    if n_bytes > _MAX_BYTES:
        raise InputError(
            f"sums of {ways[-1].count:,} clusters take {n_bytes / 2**30:.1f} GiB",
            "leave judges out, or pack fewer queries",
        )
    found = _clusterings(ways, passes)
    both = found[2].covariance if found[2:] else None
    return Covariance(passes, root, information, prior, free, tuple(found[:2]), both)


def inverse_root(matrix: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return R with R R' = matrix^-1 on the free parameters, and 0 elsewhere."""
    root = np.zeros_like(matrix)
    values, vectors = np.linalg.eigh(matrix[np.ix_(free, free)])
    values = np.maximum(values, 1e-12 * values.max(initial=1e-300))
    root[np.ix_(free, free)] = vectors / np.sqrt(values)
    return root


class _Scores(NamedTuple):
    """Sums of a chunk, of clusters with leverage, weight and 1 in the last columns; of others."""

    clusters: Integers
    totals: Floats
    alone: Floats
    n_alone: int
    weight: float
    squares: float


def _clusterings(ways: Sequence[Way], passes: Passes) -> list[Clustering]:
    P = len(passes.root)
    totals = [np.zeros((way.count, P + 3)) for way in ways]
    alone, counts, squares = np.zeros((len(ways), P, P)), [0] * len(ways), np.zeros(len(ways))
    weights = np.zeros(len(ways))
    for chunk in passes.run(lambda rows: [_scores(way, rows) for way in ways]):
        for i, one in enumerate(chunk):
            totals[i][one.clusters] += one.totals
            alone[i] += one.alone
            counts[i] += one.n_alone
            squares[i] += one.squares
            weights[i] += one.weight
    large = [total[:, P] > SMALL_CLUSTER for total in totals]
    moves = [np.zeros((way.count, P)) for way in ways]
    information: list[dict[int, Floats]] = [{} for _ in ways]

    def moves_of(rows: Whitened) -> list[tuple[Integers, Floats, dict[int, Floats]]]:
        return [_moves(*one, rows) for one in zip(ways, totals, large, strict=True)]

    for found in passes.run(moves_of) if any(way.count for way in ways) else ():
        for (clusters, moved, of_large), move, known in zip(found, moves, information, strict=True):
            move[clusters] += moved
            for number, matrix in of_large.items():
                known[number] = known.get(number, 0.0) + matrix
    clusterings = []
    for i, way in enumerate(ways):
        adjusted = totals[i][:, :P] + moves[i] / 2
        if information[i]:
            numbers = np.array(list(information[i]))
            matrices = np.stack(list(information[i].values()))
            adjusted[numbers] = _adjusted(totals[i][numbers, :P], matrices)
        of_alone = passes.root @ alone[i] @ passes.root.T
        n = int((totals[i][:, P + 2] > 0).sum()) + counts[i]
        of_clusters = totals[i][:, P + 1]
        weight = weights[i] + of_clusters.sum()
        effective = float(weight**2 / (squares[i] + (of_clusters**2).sum()))
        clusterings.append(Clustering(way, adjusted @ passes.root.T, of_alone, n, effective))
    return clusterings


def _scores(way: Way, rows: Whitened) -> _Scores:
    judged, leverage = rows.judged, rows.leverage
    columns = np.column_stack([rows.scores, leverage, judged.weights, np.ones(len(leverage))])
    sums = way.sums(judged, columns)
    alone = way.alone(judged)
    copies, weights = judged.copies[alone], judged.weights[alone]
    own = Whitened(judged.take(alone), rows.scores[alone], rows.information[alone])
    adjusted = own.scores + own.moved(own.scores) / 2
    large = np.flatnonzero(leverage[alone] > SMALL_CLUSTER)
    parts = own.information[large]
    adjusted[large] = _adjusted(own.scores[large], parts.transpose(0, 2, 1) @ parts)
    products = adjusted.T @ (adjusted * copies[:, None])
    squares = float((weights**2 / copies).sum())
    return _Scores(*sums, products, int(copies.sum()), float(weights.sum()), squares)


def _moves(
    way: Way, totals: Floats, large: NDArray[np.bool_], rows: Whitened
) -> tuple[Integers, Floats, dict[int, Floats]]:
    """Return what the information of a chunk does to the scores of its clusters.

    Of the clusters that are large, the information itself, (P, P), as well.
    """
    numbers, P = way.number_of(rows.judged), rows.information.shape[2]
    if not way.count:
        return np.zeros(0, np.int64), np.zeros((0, P)), {}
    sums = way.sums(rows.judged, rows.moved(totals[numbers, :P]))
    known = {}
    order = np.flatnonzero((numbers >= 0) & large[numbers])
    order = order[np.argsort(numbers[order], kind="stable")]
    found, starts = np.unique(numbers[order], return_index=True)
    for number, some in zip(found.tolist(), np.split(order, starts[1:]), strict=False):
        part = rows.information[some].reshape(-1, P)
        known[number] = part.T @ part
    return *sums, known


def _times(rows: Floats, matrix: Floats) -> Floats:
    """Return rows (n, answers, P) times a matrix (P, q), as one product."""
    n, answers, P = rows.shape
    return (rows.reshape(-1, P) @ matrix).reshape(n, answers, -1)


def _adjusted(totals: Floats, information: Floats) -> Floats:
    """Return the scores of clusters (m, P), adjusted for their information (m, P, P)."""
    values, vectors = np.linalg.eigh(np.eye(totals.shape[1]) - information)
    values = np.maximum(values, _FIRMEST)
    along = (vectors.transpose(0, 2, 1) @ totals[:, :, None])[:, :, 0] / np.sqrt(values)
    return np.asarray((vectors @ along[:, :, None])[:, :, 0])
