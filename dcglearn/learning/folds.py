"""What repeated cross-validations share: errors that name the fold, the variance of the folds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.types import Floats


def variance_between_repeats(shares: Floats) -> float:
    """Return the variance of a mean over repeats of cross-validation that the folds cause.

    Parameters
    ----------
    shares : ndarray of float, shape (n_repeats,)
        Agreement, or a difference of agreements, in each repeat.

    Returns
    -------
    float
        0 if there is one repeat.
    """
    return float(shares.var(ddof=1) / len(shares)) if len(shares) > 1 else 0.0


@contextmanager
def naming_fold(number: int, count: int) -> Iterator[None]:
    """Name the training part in the message of an error."""
    where = f"without fold {number} of {count} of the cross-validation"
    try:
        yield
    except InputError as error:
        remedy = f"give `C` a value; or {error.remedy}"
        raise InputError(f"{where}: {error.problem}", remedy) from error
    except SolverError as error:
        raise SolverError(f"{where}: {error}") from error
