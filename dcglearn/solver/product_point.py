"""Weights that are a product, W = c g', as a solver returns them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcglearn.base.types import Floats


@dataclass(frozen=True, eq=False)
class ProductPoint:
    """A product.

    Attributes
    ----------
    discounts : ndarray of float, shape (K,)
    gains : ndarray of float, shape (L,)
    discount_parameter, gain_parameter : float
        The t of each factor.
    n_starts : int
        From how many starts this is the best; 1 if the problem is convex.
    n_optima : int
        How many different local optima these starts led to.
    """

    discounts: Floats
    gains: Floats
    discount_parameter: float
    gain_parameter: float
    n_starts: int = 1
    n_optima: int = 1

    def weights(self, centred: bool) -> Floats:
        """Return W, shape (K, L).

        Parameters
        ----------
        centred : bool
            Whether each row is shifted to the mean 0. Where no rank is empty this changes no
            order, and W becomes as small as it can be, as that of a free fit is.

        Examples
        --------
        >>> ProductPoint(np.array([2.0, 1.0]), np.array([1.0, 0.0]), 0.0, 0.0).weights(True)
        array([[ 1. , -1. ],
               [ 0.5, -0.5]])
        """
        return np.outer(self.discounts, centred_columns(self.gains, centred))


def centred_columns(gains: Floats, centred: bool) -> Floats:
    """Return gains, or generators of gains as columns, with the mean 0 if that is asked for.

    Parameters
    ----------
    gains : ndarray of float, shape (L,) or (L, p)
    centred : bool
    """
    return gains - gains.mean(axis=0) if centred else gains
