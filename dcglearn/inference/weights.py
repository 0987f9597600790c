"""Families of weights W: products of discounts and gains, or combinations of given matrices.

W[k, l] = c_k g_l with c and g from families of their own (:mod:`dcglearn.inference.families`), or W
is linear in its parameters: any W, or the multiples of one. The worst grade has the weight 0: a
constant added to a row of W changes no order (Zhou, Zha, Xue & Yu, arXiv 1212.5650, section 5).
Where lists of a pair have empty ranks at different places, these are one more grade, with the last
column.

Where c is free, it may be multiplied and g divided by any number. The search stays where
coefficients of c and g are of equal size: a penalty on b = (|c|^2 - |g|^2) / 2 is 0 at one point of
each orbit, and so changes no maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.inference.families import Expansion, Family

START = 2.0
"""The weight of the best grade at the first rank, in log odds, where an estimate begins."""


@dataclass(frozen=True, eq=False)
class Products:
    """W = c g'. The parameters of the discounts come first."""

    gains: Family
    discounts: Family

    @property
    def name(self) -> str:
        """As people read it."""
        return f"gains {self.gains.name}, discounts {self.discounts.name}"

    @cached_property
    def start(self) -> Floats:
        """Where an estimate begins, shape (p,)."""
        found = np.concatenate([self.discounts.first, self.gains.first])
        found[self._scale_of_gains] *= START
        return self._balanced(found)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds; with discounts of 0 or more, so is the gain of the best grade."""
        low, high = (
            np.concatenate(both)
            for both in zip(self.discounts.bounds, self.gains.bounds, strict=True)
        )
        if self.discounts.n_coefficients and (self.discounts.lower == 0).all():
            low[self.discounts.n_parameters] = 0.0
        return low, high

    def weights(self, parameters: Floats) -> Floats:
        """Return W, shape (K, L)."""
        c, g = self.factors(parameters)
        return np.outer(c.values, g.values)

    def jacobian(self, parameters: Floats) -> Floats:
        """Return dW / d parameters, shape (K L, p)."""
        c, g = self.factors(parameters)
        left = c.jacobian[:, None, :] * g.values[:, None]
        right = c.values[:, None, None] * g.jacobian
        return np.concatenate([left, right], axis=2).reshape(-1, len(parameters))

    def curvature(self, parameters: Floats, gradient: Floats) -> Floats:
        """Return sum_kl gradient_kl d^2 W_kl, shape (p, p), for a gradient of shape (K, L)."""
        c, g = self.factors(parameters)
        n, p = self.discounts.n_parameters, len(parameters)
        found = np.zeros((p, p))
        found[:n, :n] = np.tensordot(gradient @ g.values, c.hessian, 1)
        found[n:, n:] = np.tensordot(c.values @ gradient, g.hessian, 1)
        found[:n, n:] = c.jacobian.T @ gradient @ g.jacobian
        found[n:, :n] = found[:n, n:].T
        return found

    @cached_property
    def signs(self) -> Floats:
        """Return signs (p,): c grows and g shrinks, and W stays the same, along signs theta."""
        found = np.zeros(len(self.start))
        if self.discounts.n_coefficients:
            found[self._coefficients] = 1.0
            found[self._scale_of_gains] = -1.0
        return found

    def near(self, W: Floats) -> list[Floats]:
        """Return products with the first and the second singular vectors of W, where both serve."""
        found, (low, high) = [], self.bounds
        generators = self.gains.at(self.gains.first).jacobian[:, : self.gains.n_coefficients]
        for left in np.linalg.svd(W)[0].T[:2]:
            parameters, upwards = self.start.copy(), left if left.sum() >= 0 else -left
            parameters[self._coefficients] = np.linalg.lstsq(self.discounts.generators, upwards)[0]
            c = self.factors(parameters)[0].values
            parameters[self._scale_of_gains] = np.linalg.lstsq(generators, c @ W / (c @ c))[0]
            found.append(self._balanced(np.clip(parameters, low, high)))
        return found

    def factors(self, parameters: Floats) -> tuple[Expansion, Expansion]:
        """Return discounts and gains, with their derivatives."""
        n = self.discounts.n_parameters
        return self.discounts.at(parameters[:n]), self.gains.at(parameters[n:])

    @property
    def _coefficients(self) -> slice:
        return slice(self.discounts.n_coefficients)

    @property
    def _scale_of_gains(self) -> slice:
        n = self.discounts.n_parameters
        return slice(n, n + self.gains.n_coefficients)

    def _balanced(self, parameters: Floats) -> Floats:
        """Return the parameters of the same W at which both sets of coefficients are as large."""
        found = parameters.copy()
        c, g = found[self._coefficients], found[self._scale_of_gains]
        sizes = np.linalg.norm(c), np.linalg.norm(g)
        if all(sizes):
            factor = math.sqrt(sizes[1] / sizes[0])
            c *= factor
            g /= factor
        return found


@dataclass(frozen=True, eq=False)
class Combinations:
    """W of `shape` (K, L) that is linear in its parameters: `generators`, (K L, p), times them."""

    name: str
    generators: Floats
    start: Floats
    shape: tuple[int, int]

    @property
    def signs(self) -> Floats:
        """Return 0, shape (p,): every direction changes W."""
        return np.zeros(len(self.start))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the parameters: none."""
        return np.full(len(self.start), -math.inf), np.full(len(self.start), math.inf)

    def weights(self, parameters: Floats) -> Floats:
        """Return W, shape (K, L)."""
        return np.asarray((self.generators @ parameters).reshape(self.shape))

    def jacobian(self, parameters: Floats) -> Floats:
        """Return dW / d parameters, shape (K L, p)."""
        return self.generators

    def near(self, W: Floats) -> list[Floats]:
        """Return the parameters of the W that is nearest."""
        return [np.asarray(np.linalg.lstsq(self.generators, W.ravel())[0])]

    def curvature(self, parameters: Floats, gradient: Floats) -> Floats:
        """Return 0, shape (p, p)."""
        return np.zeros((len(parameters), len(parameters)))


WeightFamily: TypeAlias = Products | Combinations
"""Matrices W as functions of parameters."""


def any_weights(n_ranks: int, n_grades: int, empty: bool = False) -> Combinations:
    """Return the family of all W: every rank has gains of its own."""
    varying = np.delete(np.arange(n_grades + empty), n_grades - 1)
    gains = START * np.maximum(n_grades - 1 - varying, 0) / (n_grades - 1)
    start = np.outer(1 / np.log2(np.arange(2, n_ranks + 2)), gains).ravel()
    shape = (n_ranks, n_grades + empty)
    columns = np.arange(n_ranks * shape[1]).reshape(shape)[:, varying].ravel()
    return Combinations(
        "gains of each position", np.eye(n_ranks * shape[1])[:, columns], start, shape
    )


def multiples_of(W: Floats, name: str, empty: bool = False) -> Combinations:
    """Return the multiples of one W, (K, L); an empty rank may be worth something of its own."""
    K, L = W.shape
    relative = W - W[:, -1:]
    generators = np.zeros((K, L + empty, 1 + empty))
    generators[:, :L, 0] = relative
    if empty:  # discounted as the best grade is
        generators[:, L, 1] = relative[:, 0] / max(np.abs(relative[:, 0]).max(), 1e-300)
    start = np.zeros(1 + empty)
    start[0] = START / np.abs(relative).max()
    return Combinations(name, generators.reshape(K * (L + empty), -1), start, (K, L + empty))
