"""Families of weights W: products of discounts and gains, any W, or the multiples of one.

W[k, l] = c_k g_l with c and g from families of their own (:mod:`dcglearn.families.vectors`), or W
itself is free, so that the gains may depend on the position. The worst grade has the weight 0:
one list has one grade at each rank, so a constant added to a row of W changes no order (Zhou, Zha,
Xue & Yu, arXiv 1212.5650, section 5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dcglearn.base.types import Floats
from dcglearn.families.vectors import Family

START = 2.0
"""The weight of the best grade at the first rank, in log odds, where an estimate begins."""


class WeightFamily(Protocol):
    """Matrices W as functions of parameters."""

    @property
    def name(self) -> str:
        """As people read it."""
        ...

    @property
    def start(self) -> Floats:
        """Where an estimate begins, shape (p,)."""
        ...

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the parameters, each of shape (p,)."""
        ...

    def weights(self, parameters: Floats) -> Floats:
        """Return W, shape (K, L)."""
        ...

    def jacobian(self, parameters: Floats) -> Floats:
        """Return dW / d parameters, shape (K L, p)."""
        ...

    def curvature(self, parameters: Floats, gradient: Floats) -> Floats:
        """Return sum_kl gradient_kl d^2 W_kl, shape (p, p), for a gradient of shape (K, L)."""
        ...


@dataclass(frozen=True, eq=False)
class Products:
    """W = c g'. The parameters of the discounts come first.

    Parameters
    ----------
    gains, discounts : Family

    Examples
    --------
    >>> from dcglearn.families.vectors import discount_family, gain_family
    >>> family = Products(gain_family("linear", np.array([2, 1, 0])), discount_family("zipf", 2))
    >>> family.weights(np.array([4.0]))
    array([[4., 2., 0.],
           [2., 1., 0.]])
    """

    gains: Family
    discounts: Family

    @property
    def name(self) -> str:
        """As people read it."""
        return f"gains {self.gains.name}, discounts {self.discounts.name}"

    @cached_property
    def start(self) -> Floats:
        """Where an estimate begins, shape (p,)."""
        discounts = self.discounts.start.copy()
        discounts[self.scale] *= START
        return np.concatenate([discounts, self.gains.start])

    @property
    def scale(self) -> slice:
        """The parameters that W is in proportion to: one with a formula, else all of discounts."""
        return slice(1 if self.discounts.shape else self.discounts.n_parameters)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the parameters, each of shape (p,)."""
        lower = np.concatenate([self.discounts.lower, self.gains.lower])
        return lower, np.concatenate([self.discounts.upper, self.gains.upper])

    def weights(self, parameters: Floats) -> Floats:
        """Return W, shape (K, L)."""
        of_discounts, of_gains = self._split(parameters)
        return np.outer(self.discounts.at(of_discounts).values, self.gains.at(of_gains).values)

    def jacobian(self, parameters: Floats) -> Floats:
        """Return dW / d parameters, shape (K L, p)."""
        of_discounts, of_gains = self._split(parameters)
        c, g = self.discounts.at(of_discounts), self.gains.at(of_gains)
        left = c.jacobian[:, None, :] * g.values[:, None]
        right = c.values[:, None, None] * g.jacobian
        return np.concatenate([left, right], axis=2).reshape(-1, len(parameters))

    def curvature(self, parameters: Floats, gradient: Floats) -> Floats:
        """Return sum_kl gradient_kl d^2 W_kl, shape (p, p), for a gradient of shape (K, L)."""
        of_discounts, of_gains = self._split(parameters)
        c, g = self.discounts.at(of_discounts), self.gains.at(of_gains)
        n, p = self.discounts.n_parameters, len(parameters)
        found = np.zeros((p, p))
        if c.hessian.any():
            found[:n, :n] = np.tensordot(gradient @ g.values, c.hessian, 1)
        if g.hessian.any():
            found[n:, n:] = np.tensordot(c.values @ gradient, g.hessian, 1)
        found[:n, n:] = c.jacobian.T @ gradient @ g.jacobian
        found[n:, :n] = found[:n, n:].T
        return found

    def _split(self, parameters: Floats) -> tuple[Floats, Floats]:
        n = self.discounts.n_parameters
        return parameters[:n], parameters[n:]


@dataclass(frozen=True, eq=False)
class AnyWeights:
    """Any W: every rank has gains of its own.

    Parameters
    ----------
    n_ranks, n_grades : int

    Examples
    --------
    >>> AnyWeights(1, 3).weights(np.array([2.0, 1.0]))
    array([[2., 1., 0.]])
    """

    n_ranks: int
    n_grades: int

    @property
    def name(self) -> str:
        """As people read it."""
        return "gains of each position"

    @cached_property
    def start(self) -> Floats:
        """Where an estimate begins, shape (p,): linear gains and the usual discounts."""
        gains = START * np.arange(self.n_grades - 1, 0, -1) / (self.n_grades - 1)
        return np.outer(1 / np.log2(np.arange(2, self.n_ranks + 2)), gains).ravel()

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the parameters, each of shape (p,)."""
        return np.full(len(self.start), -math.inf), np.full(len(self.start), math.inf)

    def weights(self, parameters: Floats) -> Floats:
        """Return W, shape (K, L)."""
        rows = parameters.reshape(self.n_ranks, self.n_grades - 1)
        return np.hstack([rows, np.zeros((self.n_ranks, 1))])

    def jacobian(self, parameters: Floats) -> Floats:
        """Return dW / d parameters, shape (K L, p)."""
        entries = np.arange(self.n_ranks * self.n_grades).reshape(self.n_ranks, self.n_grades)
        return np.eye(entries.size)[:, entries[:, :-1].ravel()]

    def curvature(self, parameters: Floats, gradient: Floats) -> Floats:
        """Return sum_kl gradient_kl d^2 W_kl, shape (p, p), which is 0."""
        return np.zeros((len(parameters), len(parameters)))


@dataclass(frozen=True, eq=False)
class GivenWeights:
    """The multiples of one W.

    Parameters
    ----------
    given : ndarray of float, shape (K, L)
        The last column is subtracted from all.
    name : str

    Examples
    --------
    >>> GivenWeights(np.array([[3.0, 2.0, 1.0]]), "mine").weights(np.array([2.0]))
    array([[4., 2., 0.]])
    """

    given: Floats
    name: str

    @cached_property
    def start(self) -> Floats:
        """Where an estimate begins, shape (1,): the weight START for the largest entry."""
        return np.array([START / np.abs(self._relative).max()])

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the parameters, each of shape (1,)."""
        return np.array([-math.inf]), np.array([math.inf])

    def weights(self, parameters: Floats) -> Floats:
        """Return W, shape (K, L)."""
        return np.asarray(parameters[0] * self._relative)

    def jacobian(self, parameters: Floats) -> Floats:
        """Return dW / d parameters, shape (K L, 1)."""
        return self._relative.reshape(-1, 1)

    def curvature(self, parameters: Floats, gradient: Floats) -> Floats:
        """Return sum_kl gradient_kl d^2 W_kl, shape (1, 1), which is 0."""
        return np.zeros((1, 1))

    @cached_property
    def _relative(self) -> Floats:
        return np.asarray(self.given - self.given[:, -1:])
