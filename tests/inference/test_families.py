"""Families of gains, discounts and weights: formulas, derivatives, what holds what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn.inference.families import Family, WeightFamily, discount_family, gain_family
from dcglearn.measures.discounts import rule_discounts

VALUES = np.array([4.0, 2.5, 1.0, 0.0])
GAINS = ["free", "linear", "power:free", "power:0.5", "exponential:free", "exponential:1"]
DISCOUNTS = ["free", "decreasing", "convex", "log:free", "zipf:free", "rbp:free", "log2", "jk:2"]


def near(family: Family | WeightFamily, rng: np.random.Generator) -> np.ndarray:
    return family.start + rng.uniform(0, 0.3, len(family.start))


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("name", [*GAINS, *DISCOUNTS])
def test_derivatives_are_those_of_differences(name: str, empty: bool) -> None:
    rng = np.random.default_rng(len(name))
    family = gain_family(name, VALUES, empty) if name in GAINS else discount_family(name, 6)
    if name == "free" and not empty:
        family = discount_family(name, 6)
    x, h = near(family, rng), 1e-5
    at = family.at(x)
    for i in range(len(x)):
        step = np.zeros(len(x))
        step[i] = h
        up, down = family.at(x + step), family.at(x - step)
        first = (up.values - down.values) / (2 * h)
        second = (up.jacobian - down.jacobian) / (2 * h)
        np.testing.assert_allclose(at.jacobian[:, i], first, atol=1e-8)
        bends = np.stack([at.curvature(unit)[:, i] for unit in np.eye(len(second))])
        np.testing.assert_allclose(bends, second, atol=1e-7)


@pytest.mark.parametrize(
    ("family", "rule"), [("log:2", "log2"), ("rbp:0.7", "rbp(0.7)"), ("zipf:1", "zipf")]
)
def test_formulas_hold_the_rules(family: str, rule: str) -> None:
    discounts, expected = discount_family(family, 7).at(np.zeros(0)).values, rule_discounts(rule, 7)
    np.testing.assert_allclose(discounts, expected / expected[0])


@given(base=st.floats(0.05, 50))
def test_exponential_gains(base: float) -> None:
    gains = gain_family(f"exponential:{base!r}", VALUES).at(np.ones(1)).values
    expected = VALUES / 4 if base == 1 else (base**VALUES - 1) / (base**4.0 - 1)
    np.testing.assert_allclose(gains, expected, rtol=1e-6, atol=1e-12)


@given(st.lists(st.floats(0, 5), min_size=6, max_size=6))
def test_ordered_discounts_never_rise(coefficients: list[float]) -> None:
    x = np.array(coefficients)
    decreasing = discount_family("decreasing", 6).at(x).values
    assert (np.diff(decreasing) <= 1e-12).all()
    convex = discount_family("convex", 6).at(x).values
    assert (np.diff(convex) <= 1e-12).all()
    assert (np.diff(convex, 2) >= -1e-12).all()
    assert convex[-1] >= 0


@pytest.mark.parametrize("name", ["log2", "zipf", "rbp:0.7", "linear:6"])
def test_the_generators_reach_every_ordered_vector(name: str) -> None:
    from scipy.optimize import nnls

    target = rule_discounts(name, 6)
    for family in ("decreasing", "convex"):
        at = discount_family(family, 6).at(np.ones(6))
        assert nnls(at.jacobian, target)[1] < 1e-12


@pytest.mark.parametrize(
    ("name", "words"),
    [("exponental", "exponential"), ("power:0", "above 0"), ("exponential:-2", "above 0")],
)
def test_bad_gains(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        gain_family(name, VALUES)


@pytest.mark.parametrize(
    ("name", "words"), [("decreasin", "decreasing"), ("log:1", "above 1"), ("rbp:1", "below 1")]
)
def test_bad_discounts(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        discount_family(name, 4)


def test_given_gains_are_scaled() -> None:
    gains = gain_family([7.0, 3.0, -1.0], VALUES[1:]).at(np.ones(1)).values
    assert gains.tolist() == [1.0, 0.5, 0.0]
