"""EDRC: the published example, the definition on sets, AP correlation as a special case."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, edrc, tau_ap
from dcglearn.base.types import Floats
from dcglearn.correlation.edrc import EdrcDiscount

FEW = settings(max_examples=settings().max_examples * 2 // 5)
Edges = list[tuple[int, int]]

DISCOUNTS: tuple[EdrcDiscount, ...] = get_args(EdrcDiscount)
TRUTH = [("A", "C"), ("A", "D"), ("A", "E"), ("C", "D"), ("B", "D"), ("B", "E")]
PREDICTION = [("C", "A"), ("C", "B"), ("C", "D"), ("A", "E"), ("B", "E"), ("D", "E")]
D = {
    "linear": lambda R: R,
    "linear-from-0": lambda R: R - 1,
    "exponential": lambda R: 2**R,
    "log2": lambda R: math.log2(1 + R),
}


@st.composite
def graphs(draw: st.DrawFn, at_least: int = 0) -> Edges:
    """Preferences between six items, without a cycle."""
    order = draw(st.permutations(range(6)))
    every = list(itertools.combinations(order, 2))
    return draw(st.lists(st.sampled_from(every), min_size=at_least, max_size=10))


def closed(edges: Edges) -> set[tuple[int, int]]:
    found = set(edges)
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return found
        found |= more


def by_definition(
    truth: Edges,
    prediction: Edges,
    discount: str,
    likelihoods: Mapping[tuple[int, int], float] | None = None,
    n: int = 6,
) -> float:
    """The definition with C(v), W(v) and EP, on sets of pairs."""
    G, P = closed(truth), closed(prediction)
    given = {(b, a): 1 - p for (a, b), p in (likelihoods or {}).items()} | dict(likelihoods or {})

    def rank(v: int) -> int:
        return 1 + max((rank(a) for a, b in truth if b == v), default=0)

    def expected(v: int, w: int) -> float:
        if (w, v) in G:
            return 1.0 if (w, v) in P else 0.0 if (v, w) in P else 0.5
        p = given.get((w, v), 0.5)
        return p if (w, v) in P else 1 - p if (v, w) in P else 0.5

    C_sum = Z = 0.0
    for v in {b for _, b in truth}:
        W = [w for w in range(n) if w != v and (v, w) not in G]
        C_sum += sum(expected(v, w) for w in W) / D[discount](rank(v))
        Z += len(W) / D[discount](rank(v))
    return 2 / Z * C_sum - 1


def of_scores(truth: Floats, estimate: Floats, discount: str) -> float:
    """The same from scores of all items: every item is preferred to those of lower score."""
    above = truth > truth[:, None]
    ranks = np.array([len({*truth[row]}) + 1 for row in above])
    counted = ranks > 1
    weights = np.array([1 / D[discount](R) for R in ranks[counted].tolist()])
    surplus = (above * np.sign(estimate - estimate[:, None])).sum(axis=1)
    possible = (truth >= truth[:, None]).sum(axis=1) - 1
    return float(weights @ surplus[counted] / (weights @ possible[counted]))


def test_the_worked_example() -> None:
    assert edrc(TRUTH, PREDICTION) == pytest.approx(5 / 29, abs=1e-15)
    assert edrc(TRUTH, PREDICTION, discount="exponential") == pytest.approx(1 / 6, abs=1e-15)
    assert edrc(TRUTH, PREDICTION, discount="log2") == pytest.approx(0.1762531, abs=5e-8)
    assert edrc(TRUTH, TRUTH) == pytest.approx(15 / 29, abs=1e-15)
    assert edrc(TRUTH, PREDICTION, normalise="attainable") == pytest.approx(1 / 3, abs=1e-15)
    misprinted = [pair for pair in TRUTH if pair != ("B", "E")]  # in the table of the paper
    assert edrc(misprinted, PREDICTION) == pytest.approx(2 / 29, abs=1e-15)


def test_all_orders_of_five_items_give_ap_correlation_with_positions_of_the_truth() -> None:
    differs = 0
    for ranking in itertools.permutations(range(5)):
        scores = [-ranking.index(i) for i in range(5)]
        expected = tau_ap([5, 4, 3, 2, 1], scores, positions="truth")
        chains = list(itertools.pairwise(range(5))), list(itertools.pairwise(ranking))
        assert edrc(*chains, discount="linear-from-0") == pytest.approx(expected, abs=1e-12)
        differs += abs(tau_ap([5, 4, 3, 2, 1], scores) - expected) > 1e-9
    assert differs  # the usual form, with the ranks of the estimate, is different


@pytest.mark.parametrize("discount", DISCOUNTS)
@FEW
@given(truth=graphs(1), prediction=graphs())
def test_values_match_the_definition(
    discount: EdrcDiscount, truth: Edges, prediction: Edges
) -> None:
    value = edrc(truth, prediction, items=range(6), discount=discount)
    assert value == pytest.approx(by_definition(truth, prediction, discount), abs=1e-12)
    best = edrc(truth, truth, items=range(6), discount=discount)
    assert 0 < best <= 1
    assert -best - 1e-12 <= value <= best + 1e-12
    relative = edrc(truth, prediction, items=range(6), discount=discount, normalise="attainable")
    assert relative == pytest.approx(value / best, abs=1e-12)
    assert -1 <= relative <= 1


@FEW
@given(
    truth=graphs(1),
    prediction=graphs(),
    likelihoods=st.dictionaries(
        st.sampled_from(list(itertools.combinations(range(6), 2))),
        st.sampled_from([0, 0.2, 0.5, 0.7, 1.0]),
    ),
)
def test_likelihoods_of_pairs_that_the_truth_does_not_relate(
    truth: Edges, prediction: Edges, likelihoods: dict[tuple[int, int], float]
) -> None:
    value = edrc(truth, prediction, items=range(6), likelihoods=likelihoods)
    expected = by_definition(truth, prediction, "linear", likelihoods)
    assert value == pytest.approx(expected, abs=1e-12)
    assert -1 - 1e-12 <= value <= 1 + 1e-12
    reverse = {(b, a): 1 - p for (a, b), p in likelihoods.items()}
    again = edrc(truth, prediction, items=range(6), likelihoods=reverse)
    assert again == pytest.approx(value, abs=1e-12)
    relative = edrc(
        truth, prediction, items=range(6), likelihoods=likelihoods, normalise="attainable"
    )
    assert -1 - 1e-12 <= relative <= 1 + 1e-12


def test_the_likelier_side_is_attainable() -> None:
    truth, likelihoods = [("A", "B"), ("A", "C")], {("B", "C"): 0.9}
    likelier, other = [("A", "B"), ("B", "C")], [("A", "C"), ("C", "B")]
    # B and C have rank 2, and each two items that may be above: 1 and 2 * .9 - 1 of 2
    assert edrc(truth, likelier, likelihoods=likelihoods) == pytest.approx(1.8 / 2)
    assert edrc(truth, other, likelihoods=likelihoods) == pytest.approx(0.2 / 2)
    assert edrc(truth, truth, likelihoods=likelihoods) == pytest.approx(1 / 2)
    best = edrc(truth, likelier, likelihoods=likelihoods, normalise="attainable")
    assert best == pytest.approx(1)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_a_long_chain(discount: EdrcDiscount, rng: np.random.Generator) -> None:
    n = 2_000
    ranking = rng.permutation(n)
    scores = np.empty(n)
    scores[ranking] = -np.arange(n)
    chain, predicted = itertools.pairwise(range(n)), itertools.pairwise(ranking.tolist())
    value = edrc(chain, predicted, discount=discount)
    expected = of_scores(-np.arange(n), scores, discount)
    assert value == pytest.approx(expected, abs=1e-12)


CYCLE = [("D", "A"), ("A", "B"), ("B", "C"), ("C", "A")]
NAMED = "(A > B > C > A|B > C > A > B|C > A > B > C)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth": CYCLE}, f"^truth: .* cycle: {NAMED}; remove one of them"),
        ({"prediction": CYCLE}, f"^prediction: .* cycle: {NAMED}; remove one of them"),
        ({"prediction": [("A", "B"), ("B", "A")]}, r"cycle: (A > B > A|B > A > B);"),
        ({"truth": [("A", "A")]}, "cycle: A > A;"),
        ({"truth": []}, "^truth: the truth prefers no item to another; give at least one"),
        ({"items": "ABCD"}, "^truth, preference 2: E is not one of the items; add it to `items`"),
        ({"normalise": "best"}, "unknown normalisation 'best'"),
        ({"discount": "exponentail"}, "unknown discount .* did you mean 'exponential'"),
        ({"likelihoods": {("A", "B"): 1.2}}, "^likelihoods: likelihood 1.2 of A over B; use 0"),
        (
            {"likelihoods": {("A", "B"): 0.7, ("B", "A"): 0.6}},
            "likelihoods of A over B and of the reverse; give one of them",
        ),
    ],
)
def test_bad_input_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        edrc(**{"truth": TRUTH, "prediction": PREDICTION, **options})
