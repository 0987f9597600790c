"""Numbers from 0 to 1 for grades, as ERR and RBP need them."""

from __future__ import annotations

from collections.abc import Sequence

from dcglearn.base.errors import InputError
from dcglearn.measures.dcg import DCG, Gains, gains_by_grade
from dcglearn.measures.discounts import format_number
from dcglearn.measures.scale import Label

Fractions = tuple[float, ...]
"""One number from 0 to 1 per grade, best grade first."""


def checked_fractions(
    numbers: Gains, name: str, grades: Sequence[Label] | None
) -> tuple[Fractions, tuple[Label, ...] | None]:
    """Check that there is a number from 0 to 1 for each grade."""
    checked, labels = gains_by_grade(numbers, name, grades)
    outside = next((number for number in checked if not 0 <= number <= 1), None)
    if outside is not None:
        raise InputError(f"{name} hold {outside:g}", "use numbers from 0 to 1")
    return checked, labels


def fractions_of_gains(measure: DCG, top: float) -> Fractions:
    """Return the gains of a DCG, multiplied so that the best grade gets `top`.

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
