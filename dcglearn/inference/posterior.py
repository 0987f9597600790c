"""Measures as probable as judgments make them: draws around the learned DCG.

    theta ~ sum_m share_m N(theta_m, H_m^-1)

m are the usual measures with spreads (:mod:`dcglearn.inference.centres`), each with its share of
the evidence, its most probable parameters and the information there: Laplace's approximation
(MacKay, Neural Computation 4, 1992). Gains and discounts of every draw fall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats
from dcglearn.inference.centres import Members


@dataclass(frozen=True, eq=False, repr=False)
class Draws(ShortRepr):
    """Measures and judges, drawn.

    Attributes
    ----------
    weights : ndarray of float, shape (n, K, L)
        W, in log odds; the worst grade is worth 0, or more or less than an empty rank.
    lapses, side : ndarray of float, shape (n,)
        The share of answers at random, and by how much list a is preferred for its place.
    """

    weights: Floats
    lapses: Floats
    side: Floats

    @property
    def scale(self) -> Floats:
        """The best grade at the first rank over the worst, in log odds, shape (n,)."""
        return np.asarray(self.weights[:, 0, 0] - self.weights[:, 0, -1])

    @property
    def gains(self) -> Floats:
        """Falling by 1 from the best to the worst: to 0, unless lists have empty ranks, (n, L)."""
        return np.asarray(self.weights[:, 0] / self.scale[:, None])

    @property
    def discounts(self) -> Floats:
        """From 1 for the first rank down, shape (n, K)."""
        spans = self.weights[..., 0] - self.weights[..., -1]
        return np.asarray(spans / self.scale[:, None])


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(ShortRepr):
    """What is known of a measure: members, each with its share, parameters and information."""

    members: Members
    share: Floats
    theta: Floats
    hessian: Floats

    def draw(self, n: int, rng: np.random.Generator) -> Draws:
        """Draw measures and judges.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator

        Returns
        -------
        Draws
        """
        some = np.sort(rng.choice(len(self.share), n, p=self.share))
        roots = np.linalg.inv(np.linalg.cholesky(self.hessian))  # H^-1 = roots' roots
        normal = rng.standard_normal((n, self.theta.shape[1]))
        theta = self.theta[some] + np.einsum("np,npq->nq", normal, roots[some])
        members = self.members
        lapses = expit(theta[:, members.lapse])
        return Draws(members.weights(theta, some), lapses, theta[:, members.side])


def before_judgments(members: Members) -> Posterior:
    """Return what is known before the first judgment: the prior."""
    share = np.exp(members.log_prior - members.log_prior.max())
    theta = np.tile(members.mean, (len(members), 1))
    hessian = members.precision[:, :, None] * np.eye(theta.shape[1])
    return Posterior(members, share / share.sum(), theta, hessian)
