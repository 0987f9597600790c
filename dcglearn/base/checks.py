"""Checks of arguments: counts, finite numbers, arrays of them, text and generators."""

from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats

MAX_COUNT = 10**9


def checked_rng(rng: object) -> np.random.Generator:
    """Check that an argument is a generator of random numbers, not a seed."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(
            f"`rng` is {rng!r}", "give a generator: numpy.random.default_rng(0), for a seed of 0"
        )
    return rng


def check_kind(value: object, kinds: type | tuple[type, ...], what: str, remedy: str) -> None:
    """Check that an argument is an object of some class, not its path."""
    if not isinstance(value, kinds):
        raise InputError(f"{value!r:.60} is not {what}", remedy)


def checked_count(value: int, name: str, low: int = 1, high: int = MAX_COUNT) -> int:
    """Check that an argument is a whole number from `low` to `high`; True and 2.0 are not."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        raise InputError(f"{name} is {value!r:.60}", f"use a whole number{_limits(low, high)}")
    return int(value)


def checked_number(
    value: float, name: str, low: float = -np.inf, high: float = np.inf, above: bool = False
) -> float:
    """Check that an argument is a finite number from `low` (if `above`, beyond it) to `high`."""
    number = float(value) if isinstance(value, SupportsFloat) and not np.ndim(value) else np.nan
    if not (np.isfinite(number) and low <= number <= high) or (above and number == low):
        raise InputError(
            f"{name} is {value!r:.60}", f"use a finite number{_limits(low, high, above)}"
        )
    return number


def checked_text(value: str, name: str, example: str) -> str:
    """Check that an argument is text; `example` is part of the remedy."""
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
    """Return finite numbers as an array of that shape (None: any length); text is refused."""
    expected = str(shape).replace("None", "any")
    remedy = remedy or f"give numbers in an array of shape {expected}"
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":  # O: fractions, whole numbers of any size
            raise TypeError
        array = array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} are not numbers", remedy) from error
    lengths = zip(shape, array.shape, strict=False)
    if array.ndim != len(shape) or any(n not in (None, length) for n, length in lengths):
        raise InputError(f"{name} of shape {array.shape}, not {expected}", remedy)
    wrong = ~np.isfinite(array) | (array < low)
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise InputError(
            f"{name} hold {array[wrong][0]}", f"use finite numbers{_limits(low)}", f"row {row}"
        )
    return array


def finite_tuple(values: ArrayLike, name: str) -> tuple[float, ...]:
    """Return finite numbers, at least one, in their order."""
    remedy = "give a list of finite numbers, at least one"
    array = finite_array(values, name, (None,), remedy)
    if not len(array):
        raise InputError(f"{name} are {values!r:.60}", remedy)
    return tuple(array.tolist())


LARGEST = 1e100
"""Products of three such numbers, and sums of those, are far from the largest float."""


def refuse_large(values: ArrayLike, name: str) -> None:
    """Refuse numbers beyond 1e100, whose products may not fit into a float."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > LARGEST:
        raise InputError(f"{name} of size {largest:g}", "use numbers below 1e100")


def _limits(low: float, high: float = np.inf, above: bool = False) -> str:
    if high not in (MAX_COUNT, np.inf):
        return f" from {low:,.15g} to {high:,.15g}"
    if low > -np.inf:
        return f" above {low:,.15g}" if above else f" of {low:,.15g} or more"
    return ""
