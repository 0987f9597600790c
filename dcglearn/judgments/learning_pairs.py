"""Strict judgments on their own, as learning and its report need them."""

from __future__ import annotations

from dataclasses import dataclass

from dcglearn.base.representation import ShortRepr
from dcglearn.base.types import Floats, Pairs
from dcglearn.judgments.preferences import Preferences
from dcglearn.measures.scale import Scale


@dataclass(frozen=True, eq=False, repr=False)
class LearningPairs(ShortRepr):
    """The strict judgments of a set, without their sides and ids: what learning needs of it.

    They take less than half of the memory.

    Attributes
    ----------
    pairs : ndarray of int8, shape (m, 2, K)
        The preferred list first.
    pair_weights : ndarray of float, shape (m,), or None
        None if each counts 1.
    scale : Scale
    n_judgments : int
        The number of judgments, ties included.
    """

    pairs: Pairs
    pair_weights: Floats | None
    scale: Scale
    n_judgments: int

    @classmethod
    def of(cls, preferences: Preferences) -> LearningPairs:
        """Return the strict judgments of a set.

        Parameters
        ----------
        preferences : Preferences

        Returns
        -------
        LearningPairs

        Examples
        --------
        >>> data = Preferences.from_arrays([[2], [0]], [[1], [0]], ["b", "tie"])
        >>> strict = LearningPairs.of(data)
        >>> strict.pairs.tolist(), strict.pair_weights, len(strict)
        ([[[1], [0]]], None, 2)
        """
        weights = preferences.pair_weights
        kept = None if (weights == 1).all() else weights
        return cls(preferences.pairs, kept, preferences.scale, len(preferences))

    def __len__(self) -> int:
        return self.n_judgments
