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


def checked_count(value: int, name: str, low: int = 1, high: int = 10**9) -> int:
    """Check that an argument is a whole number within limits.

    Parameters
    ----------
    value : int
    name : str
        The argument, in backquotes.
    low, high : int
        The smallest and the largest number allowed.

    Returns
    -------
    int

    Raises
    ------
    InputError
        If it is anything else.

    Examples
    --------
    >>> checked_count(0, "`n_ranks`")
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: `n_ranks` is 0; use a whole number of 1 or more
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        limits = f"of {low:,} or more" if high == 10**9 else f"from {low:,} to {high:,}"
        raise InputError(f"{name} is {value!r:.60}", f"use a whole number {limits}")
    return int(value)


def checked_number(
    value: float, name: str, low: float = -np.inf, high: float = np.inf, above: bool = False
) -> float:
    """Check that an argument is a finite number within limits.

    Parameters
    ----------
    value : float
    name : str
        The argument, in backquotes.
    low, high : float
        The smallest and the largest number allowed.
    above : bool, default False
        If True, `low` itself is not allowed.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If it is anything else.

    Examples
    --------
    >>> checked_number(-1, "`cost`", 0)
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: `cost` is -1; use a finite number of 0 or more
    """
    given: object = value
    try:
        number = np.nan if isinstance(given, str | bytes) or np.ndim(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not (np.isfinite(number) and low <= number <= high) or (above and number == low):
        limits = {
            (True, True): f" from {low:g} to {high:g}",
            (True, False): f" above {low:g}" if above else f" of {low:g} or more",
            (False, True): f" of {high:g} or less",
            (False, False): "",
        }[low > -np.inf, high < np.inf]
        raise InputError(f"{name} is {value!r:.60}", f"use a finite number{limits}")
    return number


def checked_text(value: str, name: str, example: str) -> str:
    """Check that an argument is text.

    Parameters
    ----------
    value : str
    name : str
        What to call it in an error.
    example : str
        Text to give instead.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If it is anything else.
    """
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r:.60}", f"give text, such as {example}")
    return value


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
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} are a masked array", "fill it, or leave out what is masked")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and not any(isinstance(value, str) for value in array.flat):
            array = array.astype(float)
        if array.dtype.kind not in "biuf":
            raise TypeError
        array = array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} are not numbers", remedy or _numbers_of(shape)) from error
    if array.ndim != len(shape) or any(
        n is not None and n != length for n, length in zip(shape, array.shape, strict=True)
    ):
        problem = f"{name} of shape {array.shape}, not {_text_of(shape)}"
        raise InputError(problem, remedy or _numbers_of(shape))
    right = np.isfinite(array)
    if low > -np.inf:
        right &= array >= low
    if not right.all():
        wrong = ~right
        row = int(np.argwhere(wrong)[0][0])
        remedy = "use finite numbers" + (f" of {low:g} or more" if np.isfinite(low) else "")
        raise InputError(f"{name} hold {array[wrong][0]}", remedy, f"row {row}")
    return array


def _text_of(shape: tuple[int | None, ...]) -> str:
    lengths = ", ".join("any" if n is None else str(n) for n in shape)
    return f"({lengths},)" if len(shape) == 1 else f"({lengths})"


def _numbers_of(shape: tuple[int | None, ...]) -> str:
    return f"give numbers in an array of shape {_text_of(shape)}"


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
    if isinstance(values, str | bytes | Set | Mapping | np.ma.MaskedArray):
        raise InputError(f"{name} {values!r:.60} are not a list of numbers", remedy)
    try:
        given = tuple(values)
    except TypeError as error:
        raise InputError(f"{name} {values!r:.60} are not a list of numbers", remedy) from error
    if not given or any(isinstance(value, bool | np.bool_) for value in given):
        raise InputError(f"{name} are {list(given)!r:.60}", remedy)
    return tuple(finite_array(given, name, (None,), remedy).tolist())
