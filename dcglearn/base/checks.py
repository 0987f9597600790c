"""The checks of arguments that must be finite numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats


def checked_rng(rng: object) -> np.random.Generator:
    """Check that an argument is a generator of random numbers, not a seed.

    Parameters
    ----------
    rng : numpy.random.Generator

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    InputError
        If it is anything else.
    """
    if not isinstance(rng, np.random.Generator):
        raise InputError(
            f"`rng` is {rng!r}", "give a generator: numpy.random.default_rng(0), for a seed of 0"
        )
    return rng


def finite_array(
    values: ArrayLike,
    name: str,
    shape: tuple[int | None, ...],
    remedy: str = "",
    low: float = -np.inf,
) -> Floats:
    """Check that an argument is an array of finite numbers of a given shape.

    Parameters
    ----------
    values : array-like of float
        Text that looks like a number is refused.
    name : str
        What to call the argument in an error, in the plural.
    shape : tuple of int or None
        The expected shape; None for an axis of any length.
    remedy : str, optional
        What to give instead where the shape or the type is wrong, such as
        ``"give one number per pair"``.
    low : float, optional
        The smallest number allowed.

    Returns
    -------
    ndarray of float
        Of that shape.

    Raises
    ------
    InputError
        If the values are not numbers, or not of that shape; or a number is not finite or
        too small, naming the row.

    Examples
    --------
    >>> finite_array([1, 2], "weights", (2,))
    array([1., 2.])
    >>> finite_array([1, -2], "weights", (2,), low=0.0)
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: row 1: weights hold -2.0; use finite numbers of 0 or more
    """
    lengths = ", ".join("any" if n is None else str(n) for n in shape)
    expected = f"({lengths},)" if len(shape) == 1 else f"({lengths})"
    remedy = remedy or f"give numbers in an array of shape {expected}"
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and not any(isinstance(value, str) for value in array.flat):
            array = array.astype(float)
        if array.dtype.kind not in "biuf":
            raise TypeError
        array = array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} are not numbers", remedy) from error
    if len(array.shape) != len(shape) or any(
        n is not None and n != length for n, length in zip(shape, array.shape, strict=True)
    ):
        raise InputError(f"{name} of shape {array.shape}, not {expected}", remedy)
    wrong = ~(np.isfinite(array) & (array >= low))
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        remedy = "use finite numbers" + (f" of {low:g} or more" if np.isfinite(low) else "")
        raise InputError(f"{name} hold {array[wrong][0]}", remedy, f"row {row}")
    return array


def finite_tuple(values: Iterable[float], name: str) -> tuple[float, ...]:
    """Check that an argument is a sequence of finite numbers, at least one.

    Parameters
    ----------
    values : iterable of float
        Ordered, so not a set or a mapping. Booleans and text are refused.
    name : str
        What to call the argument in an error, in the plural.

    Returns
    -------
    tuple of float

    Raises
    ------
    InputError
        If the values are not finite numbers, or there are none.

    Examples
    --------
    >>> finite_tuple([3, 1, 0], "gains")
    (3.0, 1.0, 0.0)
    """
    remedy = "give a list of finite numbers, at least one"
    if isinstance(values, str | bytes | Set | Mapping):
        raise InputError(f"{name} {values!r:.60} are not a list of numbers", remedy)
    try:
        given = tuple(values)
    except TypeError as error:
        raise InputError(f"{name} {values!r:.60} are not a list of numbers", remedy) from error
    if not given or any(isinstance(value, bool | np.bool_) for value in given):
        raise InputError(f"{name} are {list(given)!r:.60}", remedy)
    return tuple(finite_array(given, name, (None,), remedy).tolist())
