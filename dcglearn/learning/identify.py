"""What pairs of rankings can and cannot determine.

Pairs depend on W only through X w, so a direction t with X t = 0 is undetermined. Three
kinds of such directions have a meaning:

* *rank offsets*: the same constant added to every grade at one rank. Undetermined unless
  some list is empty at that rank and its partner is not;
* *grade offsets*: the same constant added to one grade at every rank. Undetermined if the
  two lists of each pair hold the same grades: W = (c + a) g' orders such lists as c g' does, so
  discounts are determined up to an affine map;
* offsets of grades that no chain of pairs compares at a rank: the connected components of
  the graph that joins two grades when some pair compares them there.

Rank alone does not show it: a few pairs of different content give X full rank while the penalty
w'w still dominates. For a direction t, |t| = 1, and the hessian C X'VX of some pairs, the
*data share* is

    share(t) = 1 - t'(I + C X'VX)^-1 t = sum_e (e't)^2 C h_e / (1 + C h_e)

with the eigenvectors e and eigenvalues h of X'VX. It is 0 where the penalty alone determines W, and
tends to 1 as the data do (in ridge regression: 1 minus the ratio of the posterior to the prior
variance along t). The null part of t is the sum over h_e = 0. Shares of all pairs are an upper
bound: a pair that reaches its margin no longer contributes.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from dcglearn.base.types import Booleans, Floats
from dcglearn.learning.cones import Cone
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import (
    Determined,
    Factors,
    Gauge,
    Identifiability,
    NullSpace,
    is_affine,
)
from dcglearn.learning.source import Additive, Block, taken
from dcglearn.measures.discounts import rule_discounts

NULL_TOLERANCE = 1e-6
"""A direction is determined only if at most this share of it lies in the null space of X."""

HALF = 0.5
"""Below this data share the penalty outweighs the data."""

NEGLIGIBLE = 1e-9
"""A data share below this is rounding: the data determine nothing."""


@dataclass(frozen=True, repr=False)
class GramMatrices(Additive):
    """X'X and X'VX, shape (K L, K L), of the pairs whose weight is positive, and their number."""

    gram: Floats
    weighted_gram: Floats
    n_pairs: int


def gram_matrices(block: Block) -> GramMatrices:
    """Return the Gram matrices of the pairs whose weight is positive."""
    rows = np.flatnonzero(block.weighted(np.ones(len(block))))
    gram = block.gram(rows)
    weights = taken(block.weights, rows)
    return GramMatrices(gram, gram if weights is None else block.gram(rows, weights), len(rows))


class DataShare:
    """Data shares of directions t of W, (..., K, L), for the active pairs of a problem, or for all.

    `active` is X'VX of the active ones, `gram` are the matrices of all; `differs`, (K,), and
    `varying`, (L,), are the ranks and the grades at which some pair differs.
    """

    def __init__(self, problem: Problem, active: Floats | None = None) -> None:
        self.gram = problem.sum_over_blocks(gram_matrices)
        self.shape = problem.shape
        self._C = problem.C
        self._of_active = self._of_all if active is None else spectrum(active)
        compared = np.diag(self.gram.gram).reshape(self.shape) > 0
        self.differs = compared.any(axis=1)
        self.varying = compared.any(axis=0)
        self.constant_grades = tuple(np.flatnonzero(~self.varying).tolist())

    @cached_property
    def _of_all(self) -> tuple[Floats, Floats]:
        return spectrum(self.gram.weighted_gram)

    def share(self, directions: Floats) -> Floats:
        """Return the data share of each direction; 0 for the direction 0."""
        values, vectors = self._of_active
        return _squares(directions, vectors) @ (1.0 - 1.0 / (1.0 + self._C * values))

    def null_part(self, directions: Floats) -> Floats:
        """Return the part of each direction in the null space of X; 1 for the direction 0."""
        values, vectors = self._of_all
        return 1.0 - _squares(directions, vectors) @ (values > 0)

    @cached_property
    def determined_offsets(self) -> Booleans:
        """Whether a rank's offset has half the share of its discount, shape (K,)."""
        ranks = np.eye(self.shape[0])[:, :, None]
        of_discounts = self.share(ranks * self.spaced_gains(-1.0))
        return self.share(ranks * self.varying) >= np.maximum(HALF * of_discounts, NEGLIGIBLE)

    @cached_property
    def gauge(self) -> Gauge:
        """The gauge that the pairs determine."""
        n_ranks = self.shape[0]
        gains = self.spaced_gains(-1.0)
        zero = "absolute" if self.determined_offsets.any() else "worst"
        between = self.share((np.eye(n_ranks)[self.differs, :, None] - 1 / n_ranks) * gains)
        common = self.without_offsets(np.outer(np.ones(n_ranks), gains + self.varying))
        affine = self.share(common) < HALF * (np.median(between) if len(between) else 0.0)
        return cast(Gauge, f"{zero} order" if affine else zero)

    def spaced_gains(self, worst: float) -> Floats:
        """Return equally spaced gains of the varying grades from 1 down, and 0 for the others."""
        gains = np.zeros(self.shape[1])
        gains[self.varying] = np.linspace(1.0, worst, self.varying.sum())
        return gains

    def without_offsets(self, directions: Floats) -> Floats:
        """Subtract the rank offsets that are undetermined."""
        ones = self.varying * 1.0
        offsets = directions @ ones / max(1.0, ones.sum()) * ~self.determined_offsets
        return np.asarray(directions - offsets[..., None] * ones)


def identify(problem: Problem) -> Identifiability:
    """Find out what the pairs of a problem determine, before a fit.

    Shares are those of all pairs, at equally spaced gains and the discounts 1 / log2(i + 1). Those
    at an optimum are :attr:`dcglearn.learning.solve.Fit.identifiability`.

    Parameters
    ----------
    problem : Problem
        Pairs of weight 0 do not count.

    Returns
    -------
    Identifiability

    Examples
    --------
    Two grades at two ranks, one pair that swaps them:

    >>> from dcglearn.learning.problem import Problem
    >>> known = identify(Problem.of([[[0, 1], [1, 0]]], 2))
    >>> known.rank, known.same_content, known.free_ranks
    (1, True, (1, 2))
    """
    shares = DataShare(problem)
    varying = np.flatnonzero(shares.varying).tolist()
    typical = Factors(
        gauge=shares.gauge,
        fixed_discounts=(0, shares.shape[0] - 1) if is_affine(shares.gauge) else (0,),
        fixed_gains=tuple(varying[:1] + varying[-1:]),
        singular_values=np.zeros(0),
        discounts=rule_discounts("log2", shares.shape[0]),
        gains=shares.spaced_gains(0.0),
    )
    return identify_at(shares, typical)


def spectrum(hessian: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of X'VX, 0 for what is rounding, and its eigenvectors."""
    values, vectors = np.linalg.eigh(hessian)
    null = values <= 10 * len(values) * np.finfo(float).eps * values.max(initial=0.0)
    return np.where(null, 0.0, values), vectors


def _squares(directions: Floats, vectors: Floats) -> Floats:
    """Return (e't)^2 for the eigenvectors e of X'VX, shape (..., K L); they sum to 1."""
    flat = directions.reshape(*directions.shape[:-2], len(vectors))
    squares = (flat @ vectors) ** 2
    total = squares.sum(axis=-1, keepdims=True)
    return np.where(total > 1e-24, squares / np.maximum(total, 1e-24), 0.0)


def identify_at(
    shares: DataShare, factors: Factors, change: float | None = None
) -> Identifiability:
    """Find out what pairs determine at some factors, from the shares of the active ones."""
    (n_ranks, n_grades), affine = shares.shape, is_affine(shares.gauge)
    common = np.outer(np.ones(n_ranks), factors.gains) * shares.varying
    offset = float(shares.share(shares.without_offsets(common)))

    def shares_of(
        directions: Floats, fixed: tuple[int, ...], most: float = np.inf
    ) -> tuple[Floats, Floats]:
        inside = shares.without_offsets(directions * shares.varying)
        relative_to = list(fixed)
        if affine:  # the means are fixed by convention
            inside -= inside.mean(axis=-2, keepdims=True)
        share = np.minimum(shares.share(inside), most)
        null = shares.null_part(inside)
        surest = share[relative_to].min(initial=1.0)
        least = null[relative_to].max(initial=0)
        return np.minimum(share, surest), np.maximum(null, least)

    # Unless the gauge is affine, a discount is no surer than their common offset.
    most = np.inf if affine else offset
    of_ranks = np.eye(n_ranks)[:, :, None]
    of_grades = np.eye(n_grades)[:, None, :]
    discount, discount_null = shares_of(of_ranks * factors.gains, factors.fixed_discounts, most)
    gain, gain_null = shares_of(of_grades * factors.discounts[:, None], factors.fixed_gains)
    return Identifiability(
        **vars(null_space(shares)),
        gauge=shares.gauge,
        determined_offsets=tuple(shares.determined_offsets.tolist()),
        offset_share=offset,
        discount_share=discount,
        gain_share=gain,
        discount_null=discount_null,
        gain_null=gain_null,
        discounts_determined_by=tuple(map(determined_by, discount, discount_null)),
        gains_determined_by=tuple(map(determined_by, gain, gain_null)),
        change_on_doubling_c=change,
    )


def determined_by(share: float, null: float) -> Determined:
    """Return what determines a number; with a part in the null space of X, not the data alone."""
    if share < NEGLIGIBLE:
        return "none"
    return "data" if share >= HALF and null < NULL_TOLERANCE else "ridge"


def derivative(W: Floats, CH: Floats, cone: Cone) -> Floats:
    """Return dW / d log C among the matrices with the ties of W, the active set being kept.

    With an orthonormal basis B of these matrices it is B (I + C B'X'VX B)^-1 B'w.
    """
    tie = cone.ties(W)
    B = np.eye(tie[-1] + 1)[tie] / np.sqrt(np.bincount(tie))
    curvature, vectors = np.linalg.eigh(B.T @ CH @ B)
    along = B @ vectors
    change: Floats = along @ (along.T @ W.ravel() / (1 + np.maximum(curvature, 0.0)))
    return change.reshape(W.shape)


def null_space(shares: DataShare) -> NullSpace:
    """Find the directions of W that all pairs leave undetermined."""
    XX, differs, (n_ranks, n_grades) = shares.gram.gram, shares.differs, shares.shape
    rank = _rank(XX)
    blocks = XX.reshape(n_ranks, n_grades, n_ranks, n_grades)
    free = []
    with_empty = []
    components = []
    offsets = []
    for k in np.flatnonzero(differs).tolist():
        # A comparison of two grades adds 1 to the diagonal and -1 off it; one with an empty rank,
        # the last node of the graph, adds 1 to the diagonal only.
        graph = np.pad(blocks[k, :, k], (0, 1))
        graph[:-1, -1] = graph[:-1].sum(axis=1)
        labels = connected_components(csr_array(graph))[1]
        groups = [labels[:-1] == one for one in dict.fromkeys(np.roll(labels, 1).tolist())]
        offsets += [np.outer(np.arange(n_ranks) == k, group).ravel() for group in groups[1:]]
        if groups[0].any():
            with_empty.append(k + 1)
        members = [tuple(np.flatnonzero(group & shares.varying).tolist()) for group in groups]
        several = tuple(filter(None, members))
        if len(several) > 1:
            components.append((k + 1, several))
        elif not members[0]:
            free.append(k + 1)
    columns = np.tile(np.eye(n_grades), n_ranks)
    grade_offsets = columns[~(columns @ XX).any(axis=1)]
    # Where no pair differs, each grade is a direction; the others are counted at the other ranks.
    elsewhere = np.repeat(differs, n_grades)
    named = np.array([*offsets, *grade_offsets], float).reshape(-1, len(XX))[:, elsewhere]
    return NullSpace(
        n_pairs=shares.gram.n_pairs,
        rank=rank,
        n_directions=len(XX),
        free_ranks=tuple(free),
        empty_ranks=tuple(with_empty),
        same_content=len(grade_offsets) == n_grades,
        constant_ranks=tuple((np.flatnonzero(~differs) + 1).tolist()),
        constant_grades=shares.constant_grades,
        components=tuple(components),
        n_unnamed=int(elsewhere.sum()) - rank - _rank(named @ named.T),
    )


def _rank(symmetric: Floats) -> int:
    """Return the rank of a positive semidefinite matrix, up to rounding."""
    return int(np.count_nonzero(spectrum(symmetric)[0]))
