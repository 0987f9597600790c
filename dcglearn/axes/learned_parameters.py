"""Results that compare learned gains and discounts with the true ones.

Gains are identified up to an affine map; discounts up to scale, or up to an affine map where all
pairs compare lists of the same content. They are compared with the truth after the least-squares
map of that kind. There is nothing to compare if the truth is not a DCG, or if the learned measure
ties all lists; then the results are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.axes.decorators import CellData, result
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats
from dcglearn.learning.factorise import factorise
from dcglearn.learning.record import Factors, Gauge, is_affine
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure


@result(name="gains")
def learned_gains(truth: Measure, learned: Measure, data: CellData) -> list[float] | None:
    """Learned gains on the scale of the truth (gains_1 is the best grade's).

    Parameters
    ----------
    truth, learned : DCG or LinearUtility
    data : CellData

    Returns
    -------
    list of float or None
    """
    found = _gains(truth, learned, data)
    return None if found is None else found.aligned()


@result(name="gains_correlation")
def gains_correlation(truth: Measure, learned: Measure, data: CellData) -> float | None:
    """Correlation of learned and true gains.

    Parameters
    ----------
    truth, learned : DCG or LinearUtility
    data : CellData

    Returns
    -------
    float or None
    """
    found = _gains(truth, learned, data)
    return None if found is None else found.correlation()


@result(name="discounts")
def learned_discounts(truth: Measure, learned: Measure, data: CellData) -> list[float] | None:
    """Learned discounts on the scale of the truth (discounts_1 is the first rank's).

    Parameters
    ----------
    truth, learned : DCG or LinearUtility
    data : CellData

    Returns
    -------
    list of float or None
    """
    found = _discounts(truth, learned, data)
    return None if found is None else found.aligned()


@result(name="discounts_correlation")
def discounts_correlation(truth: Measure, learned: Measure, data: CellData) -> float | None:
    """Correlation of learned and true discounts.

    Parameters
    ----------
    truth, learned : DCG or LinearUtility
    data : CellData

    Returns
    -------
    float or None
    """
    found = _discounts(truth, learned, data)
    return None if found is None else found.correlation()


def align_to_truth(estimated: ArrayLike, true: ArrayLike, affine: bool = True) -> Floats:
    """Map estimated parameters onto the true ones by least squares, as far as identified.

    Parameters
    ----------
    estimated, true : array-like of float, shape (m,)
    affine : bool, default True
        Whether they are identified up to an affine map; otherwise up to scale.

    Returns
    -------
    ndarray of float, shape (m,)
        The mapped estimates.

    Examples
    --------
    >>> align_to_truth([0.0, 0.5, 1.0], [1.0, 2.0, 3.0]).round(6)
    array([1., 2., 3.])
    >>> align_to_truth([1.0, 0.5], [2.0, 1.0], affine=False).round(6)
    array([2., 1.])
    """
    found, truth = np.asarray(estimated, float), np.asarray(true, float)
    columns = np.column_stack([found, np.ones(len(found))] if affine else [found])
    nearest: Floats = columns @ np.linalg.lstsq(columns, truth)[0]
    return nearest


@dataclass(frozen=True)
class _Estimated:
    """Learned numbers and the true ones."""

    learned: Floats
    true: Floats
    affine: bool = True

    def aligned(self) -> list[float]:
        numbers: list[float] = align_to_truth(self.learned, self.true, self.affine).tolist()
        return numbers

    def correlation(self) -> float:
        """Return |r|, or 0 if one of them is constant."""
        a, b = self.learned - self.learned.mean(), self.true - self.true.mean()
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        return abs(float(a @ b)) / size if size else 0.0


def _gains(truth: Measure, learned: Measure, data: CellData) -> _Estimated | None:
    factors = _factors(learned, data)
    if factors is None or not isinstance(truth, DCG):
        return None
    return _Estimated(factors.gains, np.array(truth.gains))


def _discounts(truth: Measure, learned: Measure, data: CellData) -> _Estimated | None:
    factors = _factors(learned, data)
    if factors is None or not isinstance(truth, DCG):
        return None
    true = truth.discounts_for(len(factors.discounts))
    return _Estimated(factors.discounts, true, is_affine(factors.gauge))


def _factors(learned: Measure, data: CellData) -> Factors | None:
    """Return learned gains and discounts; None if the measure ties all lists.

    A fit keeps its factors. Of a learner of one's own, nothing but the measure is known: pairs that
    reorder one list determine its discounts only up to an affine map.
    """
    try:
        if data.fit is not None:
            return data.fit.factors
        pairs, setting = data.training_pairs, data.setting
        reordered = bool((np.sort(pairs[:, 0], axis=1) == np.sort(pairs[:, 1], axis=1)).all())
        gauge: Gauge = "worst order" if reordered else "worst"
        return factorise(learned.matrix_for(setting.n_ranks), gauge, ordered=not setting.documents)
    except InputError:
        return None
