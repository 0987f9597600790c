"""Numbers from 0 to 1 for grades, as ERR and RBP need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dcglearn.base.checks import finite_tuple
from dcglearn.base.errors import InputError
from dcglearn.measures.dcg import DCG, Gains
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Label
from dcglearn.measures.utility import checked_labels

Fractions = tuple[float, ...]
"""One number from 0 to 1 per grade, best grade first."""


def checked_fractions(
    numbers: Gains, name: str, grades: Sequence[Label] | None
) -> tuple[Fractions, tuple[Label, ...] | None]:
    """Check that there is a number from 0 to 1 for each grade.

    Parameters
    ----------
    numbers : sequence of float, or mapping from grade to float
        Best grade first.
    name : str
        What to call them in an error, in the plural.
    grades : sequence of labels or None

    Returns
    -------
    numbers : tuple of float
    grades : tuple of labels or None

    Raises
    ------
    InputError
        If a number is outside, or there is not one label per number.
    """
    if isinstance(numbers, Mapping):
        grades = tuple(numbers) if grades is None else grades
        numbers = tuple(numbers.values())
    checked = finite_tuple(numbers, name)
    outside = next((number for number in checked if not 0 <= number <= 1), None)
    if outside is not None:
        raise InputError(f"{name} hold {outside:g}", "use numbers from 0 to 1")
    return checked, checked_labels(grades, len(checked))


def fractions_of_gains(measure: DCG, top: float) -> Fractions:
    """Return the gains of a DCG, multiplied so that the best grade gets `top`.

    Parameters
    ----------
    measure : DCG
    top : float

    Returns
    -------
    tuple of float

    Raises
    ------
    InputError
        If a gain is below 0, or none is above.

    Examples
    --------
    >>> fractions_of_gains(DCG([2, 1, 0]), 0.9)
    (0.9, 0.45, 0.0)
    """
    largest = max(measure.gains)
    if min(measure.gains) < 0 or largest <= 0:
        raise InputError(
            f"the gains {', '.join(map(format_number, measure.gains))}",
            "ERR and RBP need gains of 0 or more, at least one above 0: write a number from 0 to 1 "
            "for each grade, such as {2: 1, 1: 0.5, 0: 0}",
        )
    return tuple(top * (gain / largest) for gain in measure.gains)


def fractions_text(fractions: Fractions, grades: tuple[Label, ...] | None) -> str:
    """Return numbers per grade as text that parses back.

    >>> fractions_text((0.9, 0.0), (1, 0)), fractions_text((0.9, 0.0), None)
    ('{1: 0.9, 0: 0}', '[0.9, 0]')
    """
    numbers = [format_number(number) for number in fractions]
    if grades is None:
        return f"[{', '.join(numbers)}]"
    named = zip(grades, numbers, strict=True)
    return f"{{{', '.join(f'{grade!r}: {number}' for grade, number in named)}}}"
