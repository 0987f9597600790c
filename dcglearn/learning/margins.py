"""Margins: the difference in utility by which the preferred ranking should win.

``unit``     m = 1                              (Zhou, Zha, Xue & Yu, eq. 1)
``hamming``  m = #{k : pi_k differs from pi'_k} (the same paper, eq. 4, "enhanced")

or one number per pair. With a margin of 0 or less, the preferred ranking need not win.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import is_one_of, unknown_name
from dcglearn.base.types import Floats, Grades
from dcglearn.correlation.agreement import one_per_pair

MarginName = Literal["unit", "hamming"]
MARGINS: tuple[MarginName, ...] = ("unit", "hamming")


def margins(pairs: Grades, margin: str | ArrayLike = "unit") -> Floats:
    """Return the margin of each pair.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2, K)
    margin : {"unit", "hamming"} or array-like of float, shape (n,)

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    InputError
        If the name is unknown, or the numbers are not finite or not one per pair.

    Examples
    --------
    >>> pairs = np.array([[[0, 0, 1, 3, 4], [0, 1, 0, 3, 4]], [[0, 0, 1, 3, 4], [3, 4, 0, 0, 1]]])
    >>> margins(pairs, "hamming"), margins(pairs)
    (array([2., 5.]), array([1., 1.]))
    """
    if isinstance(margin, str):
        if not is_one_of(margin, MARGINS):
            raise unknown_name("margin", margin, MARGINS)
        if margin == "unit":
            return constant_array(1.0, len(pairs))
        distance: Floats = (pairs[:, 0] != pairs[:, 1]).sum(axis=1).astype(float)
        return distance
    return one_per_pair(margin, len(pairs), "margins")


def constant_array(value: float, n_pairs: int) -> Floats:
    """Return a read-only array that repeats one value without storing it n times.

    Parameters
    ----------
    value : float
    n_pairs : int

    Returns
    -------
    ndarray of float, shape (n_pairs,)
    """
    return np.ndarray((n_pairs,), float, np.float64(value).tobytes(), strides=(0,))
