"""AP correlation and Kendall's tau, against published numbers and their definitions.

The numbers for ten items are those in the README and the tests of `ircor`, the R package of the
authors of the treatment of ties (github.com/julian-urbano/ircor).
"""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, kendall_tau, tau_ap
from dcglearn.base.types import Floats
from dcglearn.correlation.tau import Positions

FEW = settings(max_examples=settings().max_examples * 2 // 5)
ABCD = [5, 4, 3, 2]
BACD = [3, 4, 2, 1]  # the scores of A, B, C and D where B is first
BCDA = [1, 4, 3, 2]

X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
TIED_X = [0, 0.2, 0.2, 0.4, 0.6, 0.6, 0.6, 0.8, 1, 1]  # rounded to fifths, 0.9 to 0.8
TIED_Y = [0.4, 0, 0.2, 0.2, 0.6, 0.6, 0.6, 1, 0.8, 1]

POSITIONS: tuple[Positions, ...] = ("estimate", "truth")


@st.composite
def strict_pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two strict orders of the same items."""
    n = draw(st.integers(2, 25))
    return draw(st.permutations(range(n))), draw(st.permutations(range(n)))


@st.composite
def tied_estimates(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A strict order and scores with ties, of few items so that all orders can be listed."""
    n = draw(st.integers(2, 6))
    estimate = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return draw(st.permutations(range(n))), draw(estimate)


@st.composite
def tied_pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two lists of scores with ties, neither of them all tied."""
    n = draw(st.integers(2, 20))
    scores = st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(lambda s: len(set(s)) > 1)
    return draw(scores), draw(scores)


def by_definition(positions: Sequence[float], correct: Sequence[float]) -> float:
    """The definition, item by item: the share of the items strictly above it that should be."""
    items = range(len(positions))
    shares = []
    for i in items:
        above = [j for j in items if positions[j] > positions[i]]
        if above:
            shares.append(sum(correct[j] > correct[i] for j in above) / len(above))
    return 2 * sum(shares) / len(shares) - 1


def orders_of_tied(scores: Sequence[int]) -> list[list[int]]:
    """Strict scores for every order of the items that keeps the order of unequal scores."""
    found = []
    for ranking in itertools.permutations(range(len(scores))):
        in_order = [scores[i] for i in ranking]
        if in_order == sorted(scores, reverse=True):
            found.append([-ranking.index(i) for i in range(len(scores))])
    return found


def test_worked_examples() -> None:
    assert tau_ap(ABCD, BACD) == pytest.approx(1 / 3, abs=1e-15)
    assert tau_ap(ABCD, BACD, positions="truth") == pytest.approx(1 / 3, abs=1e-15)
    assert tau_ap(ABCD, BCDA) == pytest.approx(1 / 3, abs=1e-15)
    assert tau_ap(ABCD, BCDA, positions="truth") == pytest.approx(-2 / 9, abs=1e-15)


def test_numbers_of_ircor() -> None:
    assert tau_ap(X, Y) == pytest.approx(0.7491182, abs=5e-8)
    assert tau_ap(X, TIED_Y, variant="a") == pytest.approx(0.6074515, abs=5e-8)
    assert tau_ap(TIED_X, TIED_Y, variant="b") == pytest.approx(0.6269841, abs=5e-8)
    assert kendall_tau(X, Y) == pytest.approx(0.7777778, abs=5e-8)
    assert kendall_tau(TIED_X, TIED_Y) == pytest.approx(0.75, abs=5e-8)


@pytest.mark.parametrize(
    ("truth", "estimate", "plain", "a", "b_strict", "b_tied"),
    [
        (
            [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
            [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
            *(0.8519, 0.7454, 0.8333, 0.7321),
        ),
        (
            [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
            [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
            *(0.2504, 0.2692, 0.2880, 0.2970),
        ),
        (
            [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
            [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
            *(-0.6971, -0.5558, -0.6680, -0.7047),
        ),
    ],
)
def test_more_numbers_of_ircor(
    truth: Floats, estimate: Floats, plain: float, a: float, b_strict: float, b_tied: float
) -> None:
    tied_truth, tied_estimate = np.round(truth, 1), np.round(estimate, 1)
    assert tau_ap(truth, estimate) == pytest.approx(plain, abs=5e-5)
    assert tau_ap(truth, tied_estimate, variant="a") == pytest.approx(a, abs=5e-5)
    assert tau_ap(truth, estimate, variant="b") == pytest.approx(b_strict, abs=5e-5)
    assert tau_ap(tied_truth, tied_estimate, variant="b") == pytest.approx(b_tied, abs=5e-5)


@FEW
@given(case=strict_pairs())
def test_both_directions_match_the_definition(case: tuple[list[int], list[int]]) -> None:
    truth, estimate = case
    assert tau_ap(truth, estimate) == pytest.approx(by_definition(estimate, truth), abs=1e-12)
    reverse = tau_ap(truth, estimate, positions="truth")
    assert reverse == pytest.approx(by_definition(truth, estimate), abs=1e-12)


@pytest.mark.parametrize("positions", POSITIONS)
@FEW
@given(case=tied_estimates())
def test_variant_a_is_the_mean_over_all_orders_of_tied_items(
    positions: Positions, case: tuple[list[int], list[int]]
) -> None:
    truth, estimate = case
    values = [tau_ap(truth, order, positions) for order in orders_of_tied(estimate)]
    value = tau_ap(truth, estimate, positions, "a")
    assert value == pytest.approx(np.mean(values), abs=1e-12)
    assert -1 <= value <= 1


@FEW
@given(case=tied_pairs())
def test_variant_b_is_the_mean_of_both_directions(case: tuple[list[int], list[int]]) -> None:
    first, second = case
    value = tau_ap(first, second, variant="b")
    expected = (by_definition(first, second) + by_definition(second, first)) / 2
    assert value == pytest.approx(expected, abs=1e-12)
    assert tau_ap(first, first, variant="b") == 1
    assert tau_ap(first, [-s for s in first], variant="b") == -1


@FEW
@given(case=tied_pairs())
def test_kendalls_tau_is_the_count_over_all_pairs(case: tuple[list[int], list[int]]) -> None:
    first, second = case
    signs = [
        (np.sign(first[i] - first[j]), np.sign(second[i] - second[j]))
        for i, j in itertools.combinations(range(len(first)), 2)
    ]
    surplus = sum(a * b for a, b in signs)
    untied = [sum(s[side] != 0 for s in signs) for side in (0, 1)]
    expected = surplus / np.sqrt(untied[0] * untied[1])
    assert kendall_tau(first, second) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("truth", "estimate", "options", "message"),
    [
        ([3, 2, 1], [1, 2, 1], {}, "^estimate: items are tied; use `variant` a .* or b"),
        ([3, 2, 2], [1, 2, 3], {}, "^truth: items are tied; use `variant` b"),
        ([3, 2, 1], [1, 1, 1], {"variant": "b"}, "^estimate: all 3 items are tied"),
        ([2, 1], [2, 1], {"variant": "c"}, "unknown variant 'c'"),
        ([2, 1], [2, 1], {"positions": "both"}, "unknown positions 'both'"),
        ([2, 1], [2, 1], {"positions": "truth", "variant": "b"}, "omit `positions`"),
        ([2, 1], [2, float("nan")], {}, "scores of the estimate hold nan"),
        ([2, 1], [2], {}, "2 items in the truth, 1 in the estimate"),
        ([2], [1], {}, "at least two"),
        ([[1, 2]], [1, 2], {}, "scores of the truth of shape"),
        ([1, 2], ["a", "b"], {}, "scores of the estimate are not numbers"),
    ],
)
def test_bad_input_is_refused(
    truth: list[float], estimate: list[float], options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        tau_ap(truth, estimate, **options)


def test_tied_lists_and_large_integers() -> None:
    with pytest.raises(InputError, match="estimate: all 2 items are tied"):
        kendall_tau([2, 1], [1, 1])
    assert kendall_tau([2**60, 2**60 + 1], [0, 1]) == 1  # beyond double precision


def test_ten_thousand_items_without_a_matrix_of_pairs(rng: np.random.Generator) -> None:
    truth = rng.permutation(10_000)
    estimate = truth + rng.normal(0, 3_000, 10_000)
    ranked = truth[np.argsort(-estimate)]
    right = [(ranked[:i] > ranked[i]).mean() for i in range(1, 10_000)]
    tracemalloc.start()
    found = tau_ap(truth, estimate)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == pytest.approx(2 * np.mean(right) - 1, abs=1e-12)
    assert peak < 5e6  # a matrix of one bit per pair would take 12.5e6
