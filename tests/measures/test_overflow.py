"""Large and small numbers: the right value, by exact fractions; beyond 1e100, an error."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import (
    DCG,
    InputError,
    LinearUtility,
)
from dcglearn.measures.dcg import Normalisation

NUMBERS = st.sampled_from([1e100, -1e100, 1e90, 1e-90, 1e-100, 1.0, 3.0, 0.1, 0.0, -2.0])
FORMS: list[Normalisation | None] = [None, "ideal", "minmax"]


def exact_value(measure: DCG, ranking: list[int]) -> tuple[Fraction, Fraction]:
    """Return the value by its definition over all orderings, and the sum of absolute terms."""
    c, g = ([Fraction(x) for x in xs] for xs in (measure.discounts, measure.gains))
    terms = [c[k] * g[grade] for k, grade in enumerate(ranking)]
    size = sum(map(abs, terms), Fraction())
    if measure.normalise is None:
        return sum(terms, Fraction()), size
    orders = [[x * g[i] for x, i in zip(c, order, strict=True)] for order in permutations(ranking)]
    every = [sum(order, Fraction()) for order in orders]
    floor = min(every) if measure.normalise == "minmax" else Fraction()
    if measure.normalise == "ideal":  # documents may be left out
        every = [sum((max(term, Fraction()) for term in order), Fraction()) for order in orders]
    width = max(every) - floor
    if not width:
        return Fraction(), Fraction(1)
    return (sum(terms, Fraction()) - floor) / width, (size + abs(floor)) / width


@given(
    gains=st.lists(NUMBERS, min_size=3, max_size=3),
    discounts=st.lists(NUMBERS, min_size=3, max_size=3),
    ranking=st.lists(st.sampled_from([0, 1, 2]), min_size=3, max_size=3),
    form=st.sampled_from(FORMS),
)
def test_values_are_right_or_refused(
    gains: list[float], discounts: list[float], ranking: list[int], form: Normalisation | None
) -> None:
    measure = DCG(gains, discounts, normalise=form)
    expected, size = exact_value(measure, ranking)
    try:
        found = float(measure.score(ranking))
    except InputError:
        return
    least = Fraction(5e-324)  # a very small DCG is the nearest floating-point number
    assert abs(Fraction(found) - expected) <= max(size * Fraction(1e-12), least)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: DCG([1e101, 0]), "gains"),
        (lambda: DCG([1, 0], [1e200, 1]), "discounts"),
        (lambda: LinearUtility([[1, 0], [-1e101, 0]]), "weights"),
        (lambda: DCG.parse("nDCG([1e300, 0], log2)"), "gains"),
    ],
)
def test_a_measure_of_large_numbers_is_not_made(make: Callable[[], object], what: str) -> None:
    with pytest.raises(InputError, match=rf"{what} of size 1e\+\d+; use numbers below 1e100"):
        make()
