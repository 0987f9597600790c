"""Weights that are products: W = c g', each factor a combination of generators.

    c = G_c z_c,   g = G_g z_g,   z_c, z_g >= 0

so that c >= 0 and g falls, as the rows of W must. A factor that is given has one generator; one
that follows a formula has one generator that depends on the parameter t of the formula. The worst
grade has the gain 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dcglearn.base.types import Floats


@dataclass(frozen=True, eq=False)
class VectorCone:
    """Vectors of one factor.

    Attributes
    ----------
    generators : callable
        From t to an array of shape (m, p); only one that has bounds depends on t.
    bounds : (float, float), optional
        Of t.
    derivative : callable, optional
        From t to the derivative of the one generator, shape (m,).
    start : float
        The t at which a search begins.
    """

    generators: Callable[[float], Floats]
    bounds: tuple[float, float] | None = None
    derivative: Callable[[float], Floats] | None = None
    start: float = 0.0

    @property
    def n_generators(self) -> int:
        """Number of generators."""
        return int(self.generators(self.start).shape[1])


@dataclass(frozen=True, eq=False)
class ProductStructure:
    """The families of both factors."""

    gains: VectorCone
    discounts: VectorCone
