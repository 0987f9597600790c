"""The covariance of estimates from judgments in packed files, robust to clusters.

It is that of :mod:`dcglearn.inference.covariance`, in passes over the files: the first sums the
scores of each cluster, the second what its information does to them, and one more finds the degrees
of freedom of any number of contrasts. Only the sums of each cluster are in memory; a judgment
without a query is a cluster of its own, which is done with at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.threads import map_in_order
from dcglearn.base.types import Floats, Integers
from dcglearn.inference.covariance import (
    SMALL_CLUSTER,
    Clustering,
    Covariance,
    adjusted_total,
    information_of_rows,
    inverse_root,
    score_rows,
    sum_by,
)
from dcglearn.inference.evidence import Evidence
from dcglearn.inference.likelihood import Likelihood, Rows
from dcglearn.inference.maximise import Maximum
from dcglearn.streaming.packed_evidence import PackedEvidence

MAX_CLUSTER_BYTES = 4 * 2**30
"""Sums of clusters that take more bytes are refused."""

_Sums = TypeVar("_Sums")


class WhitenedRows(NamedTuple):
    """Some judgments at an estimate.

    Attributes
    ----------
    evidence : Evidence
        With queries and judges.
    scores : ndarray of float, shape (n, P)
        Times R; no columns where a pass does not need them.
    information : ndarray of float, shape (n, answers, P)
        Rows of expected information, times R.
    """

    evidence: Evidence
    scores: Floats
    information: Floats


@dataclass(frozen=True, eq=False)
class Passes:
    """Reads all judgments at an estimate.

    Attributes
    ----------
    part : callable
        From the place of a row group to the likelihood of its judgments.
    n_groups : int
    theta : ndarray of float, shape (P,)
    root : ndarray of float, shape (P, P)
        R.
    """

    part: Callable[[int], Likelihood]
    n_groups: int
    theta: Floats
    root: Floats

    def run(
        self, sums: Callable[[WhitenedRows], _Sums], with_scores: bool = False
    ) -> Iterator[_Sums]:
        """Yield the sums of each chunk of judgments, in order."""

        def of_group(group: int) -> list[_Sums]:
            likelihood = self.part(group)

            def of_rows(rows: Rows) -> _Sums:
                evidence = likelihood.evidence.take(rows.rows)
                if with_scores:
                    found = score_rows(likelihood, self.theta, self.root, rows)
                    return sums(WhitenedRows(evidence, *found))
                information = information_of_rows(likelihood, self.theta, self.root, rows)
                return sums(WhitenedRows(evidence, information[:, 0, :0], information))

            return likelihood.sum_over_rows(self.theta, of_rows)

        for found in map_in_order(of_group, range(self.n_groups)):
            yield from found


@dataclass(frozen=True)
class Clusters:
    """One way to group judgments into clusters.

    Attributes
    ----------
    name : str
    count : int
        Of clusters that may hold several judgments.
    number_of : callable
        From judgments to the number of their clusters, -1 for one of its own.
    """

    name: str
    count: int
    number_of: Callable[[Evidence], Integers]

    def sums(self, rows: WhitenedRows, values: Floats) -> tuple[Integers, Floats]:
        """Return the clusters that occur, and the sums (clusters, columns) of values (n, columns).

        Judgments that are clusters of their own are left out.
        """
        numbers = self.number_of(rows.evidence)
        found, local = np.unique(numbers, return_inverse=True)
        known = found >= 0
        return found[known], sum_by(local, values)[known]


@dataclass(frozen=True, eq=False)
class StreamedClustering(Clustering):
    """One way to group judgments of packed files into clusters.

    Attributes
    ----------
    alone : ndarray of float, shape (P, P)
        The covariance that comes from judgments that are clusters of their own.
    n_clusters : int
        Those of one judgment as well.
    passes : Passes
    by : Clusters
    """

    alone: Floats
    n_clusters: int
    passes: Passes
    by: Clusters
    known: dict[bytes, float] = field(default_factory=dict)

    @property
    def is_one_cluster(self) -> bool:
        """Whether all judgments are in one cluster."""
        return self.n_clusters == 1

    @cached_property
    def covariance(self) -> Floats:
        """CR2, shape (P, P); 0 for parameters that are held by a bound."""
        return np.asarray(self.steps.T @ self.steps + self.alone)

    def degrees_of_freedom(self, directions: Floats) -> float:
        """Return Satterthwaite's degrees of freedom of a variance.

        Parameters
        ----------
        directions : ndarray of float, shape (P, d)
            Whitened: R' times contrasts.
        """
        if directions.tobytes() not in self.known:
            self.prepare([directions])
        return self.known[directions.tobytes()]

    def prepare(self, directions: Sequence[Floats]) -> None:
        """Find the degrees of freedom of several variances in one pass.

        Parameters
        ----------
        directions : sequence of ndarray of float, shape (P, d)
            Whitened.
        """
        starts = np.cumsum([0, *(one.shape[1] for one in directions)])[:-1]
        columns = np.hstack(directions)

        def shares_of(rows: WhitenedRows) -> tuple[Integers, Floats, Floats, Floats]:
            squares = ((rows.information @ columns) ** 2).sum(axis=1)
            shares = np.add.reduceat(squares, starts, axis=1)
            alone = shares[self.by.number_of(rows.evidence) < 0]
            return *self.by.sums(rows, shares), alone.sum(axis=0), (alone**2).sum(axis=0)

        of_clusters = np.zeros((self.by.count, len(directions)))
        total, squares = np.zeros((2, len(directions)))
        for numbers, shares, alone, alone_squares in self.passes.run(shares_of):
            of_clusters[numbers] += shares
            total += alone
            squares += alone_squares
        total += of_clusters.sum(axis=0)
        squares += (of_clusters**2).sum(axis=0)
        for one, df in zip(directions, total**2 / np.maximum(squares, 1e-300), strict=True):
            self.known[one.tobytes()] = float(df)


def streamed_covariance(
    packed: PackedEvidence, part: Callable[[int], Likelihood], maximum: Maximum
) -> Covariance:
    """Return the covariance of estimates, robust to clusters.

    Parameters
    ----------
    packed : PackedEvidence
    part : callable
        From the place of a row group to the likelihood of its judgments, with queries and judges.
    maximum : Maximum
        Of the posterior of all judgments.

    Returns
    -------
    Covariance

    Raises
    ------
    InputError
        If the sums of all queries, or of all pairs of a query and a judge, take more than
        :data:`MAX_CLUSTER_BYTES`.
    """
    root = inverse_root(-maximum.at.hessian, maximum.free)
    n_groups = len(packed.pairs.row_groups)
    ways = [Clusters("query", packed.queries.count, lambda one: one.queries)]
    if packed.judges is not None:
        ways.append(Clusters("judge", packed.judges.count, _judges))
        ways.append(_both(packed, packed.judges.count))
    n_bytes = 3 * 8 * len(root) * sum(way.count for way in ways)
    if n_bytes > MAX_CLUSTER_BYTES:
        raise InputError(
            f"sums of {ways[-1].count:,} clusters take {n_bytes / 2**30:.1f} GiB",
            "leave judges out, or pack fewer queries",
        )
    passes = Passes(part, n_groups, maximum.parameters, root)
    found = _clusterings(ways, passes)
    return Covariance(root, tuple(found[:2]), found[2].covariance if found[2:] else None)


def _judges(evidence: Evidence) -> Integers:
    return np.full(len(evidence), -1) if evidence.judges is None else evidence.judges


def _both(packed: PackedEvidence, n_judges: int) -> Clusters:
    """Return the clusters that share query and judge."""

    def keys_of(evidence: Evidence) -> Integers:
        return np.where(evidence.queries < 0, -1, evidence.queries * n_judges + _judges(evidence))

    keys = np.zeros(0, np.int64)
    groups = range(len(packed.pairs.row_groups))
    for found in map_in_order(lambda group: np.unique(keys_of(packed.read(group, True))), groups):
        keys = np.union1d(keys, found[found >= 0])

    def number_of(evidence: Evidence) -> Integers:
        wanted = keys_of(evidence)
        return np.where(wanted < 0, -1, np.searchsorted(keys, wanted))

    return Clusters("both", len(keys), number_of)


class _Scores(NamedTuple):
    """Sums of a chunk: of each cluster, with its leverage in the last column; of others, (P, P)."""

    clusters: Integers
    totals: Floats
    alone: Floats
    n_alone: int


def _clusterings(ways: Sequence[Clusters], passes: Passes) -> list[StreamedClustering]:
    P = len(passes.root)
    totals = [np.zeros((way.count, P + 1)) for way in ways]
    alone = [np.zeros((P, P)) for _ in ways]
    present = [np.zeros(way.count, bool) for way in ways]
    counts = [0 for _ in ways]
    for chunk in passes.run(lambda rows: [_scores(way, rows) for way in ways], with_scores=True):
        for i, one in enumerate(chunk):
            totals[i][one.clusters] += one.totals
            alone[i] += one.alone
            present[i][one.clusters] = True
            counts[i] += one.n_alone
    large = [total[:, P] > SMALL_CLUSTER for total in totals]
    moves = [np.zeros((way.count, P)) for way in ways]
    information: list[dict[int, Floats]] = [{} for _ in ways]

    def moves_of(rows: WhitenedRows) -> list[tuple[Integers, Floats, dict[int, Floats]]]:
        return [_moves(*one, rows) for one in zip(ways, totals, large, strict=True)]

    for found in passes.run(moves_of):
        for (clusters, moved, of_large), move, known in zip(found, moves, information, strict=True):
            move[clusters] += moved
            for number, matrix in of_large.items():
                known[number] = known.get(number, 0.0) + matrix
    clusterings = []
    nothing = np.zeros((0, P)), np.zeros(0, np.int64)
    for i, way in enumerate(ways):
        adjusted = totals[i][:, :P] + moves[i] / 2
        for number, matrix in information[i].items():
            adjusted[number] = adjusted_total(totals[i][number, :P], matrix)
        steps = adjusted @ passes.root.T
        covariance = passes.root @ alone[i] @ passes.root.T
        n = int(present[i].sum()) + counts[i]
        clusterings.append(
            StreamedClustering(way.name, steps, *nothing, covariance, n, passes, way)
        )
    return clusterings


def _scores(way: Clusters, rows: WhitenedRows) -> _Scores:
    P = rows.scores.shape[1]
    leverage = (rows.information**2).sum(axis=(1, 2))
    sums = way.sums(rows, np.column_stack([rows.scores, leverage]))
    alone = way.number_of(rows.evidence) < 0
    scores, information, leverage = rows.scores[alone], rows.information[alone], leverage[alone]
    adjusted = scores + _moved(information, scores) / 2
    for row in np.flatnonzero(leverage > SMALL_CLUSTER):
        part = information[row]
        adjusted[row] = adjusted_total(scores[row], part.T @ part)
    products = adjusted.T @ adjusted if len(adjusted) else np.zeros((P, P))
    return _Scores(*sums, products, len(adjusted))


def _moves(
    way: Clusters, totals: Floats, large: NDArray[np.bool_], rows: WhitenedRows
) -> tuple[Integers, Floats, dict[int, Floats]]:
    """Return what the information of a chunk does to the scores of its clusters.

    Of the clusters that are large, the information itself, (P, P), as well.
    """
    numbers, P = way.number_of(rows.evidence), rows.information.shape[2]
    if not way.count:
        return np.zeros(0, np.int64), np.zeros((0, P)), {}
    sums = way.sums(rows, _moved(rows.information, totals[numbers, :P]))
    known = {}
    for number in np.unique(numbers[(numbers >= 0) & large[numbers]]).tolist():
        part = rows.information[numbers == number].reshape(-1, P)
        known[number] = part.T @ part
    return *sums, known


def _moved(information: Floats, scores: Floats) -> Floats:
    """Return F_i u_i for the information (n, answers, P) and scores (n, P) of each judgment."""
    pull = np.einsum("nap,np->na", information, scores)
    return np.asarray(np.einsum("nap,na->np", information, pull))
