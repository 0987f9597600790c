"""Tukey's test of all pairs: against plain counts over all orders, and what must not change it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from dcglearn.systems.paired_tests import paired_p_values, tukey_test

Table = list[list[Fraction | None]]
"""One row per query, one value per system, None where it is left out."""


def mean_difference(table: Table, a: int, b: int) -> Fraction:
    both = [(row[a], row[b]) for row in table]
    differences = [x - y for x, y in both if x is not None and y is not None]
    return sum(differences, Fraction(0)) / len(differences)


def orders(row: list[Fraction | None]) -> list[list[Fraction | None]]:
    """All orders of the values that are there; the others stay left out."""
    held = [s for s, value in enumerate(row) if value is not None]
    found = []
    for values in permutations([row[s] for s in held]):
        other: list[Fraction | None] = [None] * len(row)
        for s, value in zip(held, values, strict=True):
            other[s] = value
        found.append(other)
    return found


def counted_p(table: Table) -> list[Fraction]:
    pairs = list(combinations(range(len(table[0])), 2))
    every = [
        max(abs(mean_difference(list(chosen), a, b)) for a, b in pairs)
        for chosen in product(*map(orders, table))
    ]
    return [
        Fraction(sum(one >= abs(mean_difference(table, a, b)) for one in every), len(every))
        for a, b in pairs
    ]


def as_array(table: Table) -> NDArray[np.float64]:
    rows = [[np.nan if value is None else float(value) for value in row] for row in table]
    return np.array(rows).T[None]


def drawn_table(rng: np.random.Generator, queries: int, systems: int, left_out: int = 0) -> Table:
    table: Table = [
        [Fraction(int(value), 10) for value in row]
        for row in rng.integers(0, 11, (queries, systems))
    ]
    for cell in rng.choice(queries * systems, left_out, replace=False):
        table[cell // systems][cell % systems] = None
    return table


@pytest.mark.parametrize(
    ("queries", "systems", "left_out"), [(3, 3, 0), (4, 3, 0), (2, 4, 0), (4, 3, 1), (5, 3, 2)]
)
def test_small_cases_are_counts_over_all_orders(
    queries: int, systems: int, left_out: int, rng: np.random.Generator
) -> None:
    done = 0
    while done < 3:
        table = drawn_table(rng, queries, systems, left_out)
        held = np.array([[value is not None for value in row] for row in table]) * 1
        if (held.T @ held).min() == 0:
            continue
        found, drawn = tukey_test(as_array(table), rng)
        assert drawn == 0
        assert found[0] == pytest.approx([float(p) for p in counted_p(table)], abs=1e-12)
        done += 1


def test_drawn_orders_give_the_p_values_of_all_orders(rng: np.random.Generator) -> None:
    for left_out in (0, 2):
        values = as_array(drawn_table(rng, 5, 3, left_out))
        exact, _ = tukey_test(values, rng)
        found, drawn = tukey_test(values, rng, resamples=799)  # there are 864 or more
        assert (exact != found).any()
        assert (np.abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 800) + 2e-3).all()
        assert drawn == 799


def test_two_systems_are_the_paired_test(rng: np.random.Generator) -> None:
    values = rng.random((2, 2, 11)).round(2)
    values[0, 1, 3] = np.nan
    differences = values[:, 1] - values[:, 0]
    expected = paired_p_values(differences, rng)
    assert tukey_test(values, rng)[0][:, 0] == pytest.approx(expected)
    assert tukey_test(values, rng, 999)[0][:, 0] == pytest.approx(expected, abs=0.06)


def test_correction_across_measures_is_a_count_over_all_orders(rng: np.random.Generator) -> None:
    """Plain loops: the largest standardised difference over pairs and measures."""
    values = rng.random((2, 3, 3))
    centred = values - values.mean(axis=1, keepdims=True)
    scaled = centred / centred.std(axis=(1, 2), keepdims=True)
    largest = []
    for chosen in product(permutations(range(3)), repeat=3):
        moved = np.stack([scaled[:, order, q] for q, order in enumerate(map(list, chosen))], axis=2)
        largest.append(np.ptp(moved.mean(axis=2), axis=1).max())
    for m, means in enumerate(scaled.mean(axis=2)):
        expected = [
            np.mean(np.array(largest) >= abs(means[a] - means[b]) - 1e-9)
            for a, b in combinations(range(3), 2)
        ]
        assert tukey_test(values, rng, across_measures=True)[0][m] == pytest.approx(expected)


def test_what_is_left_out_stays_left_out(rng: np.random.Generator) -> None:
    """A query that no system has, in one measure or in all, is as if it were not there."""
    values = rng.random((2, 3, 4))
    wider = np.concatenate([values, np.full((2, 3, 1), np.nan)], axis=2)
    assert (tukey_test(wider, rng)[0] == tukey_test(values, rng)[0]).all()
    wider[1, :, 4] = rng.random(3)
    assert tukey_test(wider, rng)[0][0] == pytest.approx(tukey_test(values, rng)[0][0])


def test_equal_systems_do_not_differ(rng: np.random.Generator) -> None:
    values = np.tile(rng.random(30), (1, 4, 1)) * 0.1
    assert (tukey_test(values, rng, 99)[0] == 1).all()
    values[0, 3] += 1  # and one that is better everywhere, by the same
    found = tukey_test(values, rng, 99)[0][0]
    assert found.tolist() == [1, 1, 0.01, 1, 0.01, 0.01]
