"""AP correlation, Kendall's tau, EDRC and linear NDCG: published numbers and the definitions.

The numbers of tau for ten items are those in the README and the tests of `ircor`, the R package of
the authors of the treatment of ties (github.com/julian-urbano/ircor). EDRC is computed on sets of
preferences, linear NDCG and its pair-wise loss by all pairs and by all orders of tied documents.
"""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import DCG, InputError, edrc, kendall_tau, linear_ndcg, pairwise_loss, tau_ap
from dcglearn.base.types import Floats
from dcglearn.correlation.edrc import EdrcDiscount
from dcglearn.correlation.tau import Positions

FEW = settings(max_examples=settings().max_examples * 2 // 5)

# AP correlation and Kendall's tau

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


def ap_by_definition(positions: Sequence[float], correct: Sequence[float]) -> float:
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
    assert tau_ap(truth, estimate) == pytest.approx(ap_by_definition(estimate, truth), abs=1e-12)
    reverse = tau_ap(truth, estimate, positions="truth")
    assert reverse == pytest.approx(ap_by_definition(truth, estimate), abs=1e-12)


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
    expected = (ap_by_definition(first, second) + ap_by_definition(second, first)) / 2
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
def test_bad_scores_are_refused(
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


# EDRC

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


def test_the_worked_example_of_edrc() -> None:
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


def test_a_long_chain(rng: np.random.Generator) -> None:
    n = 2_000
    ranking = rng.permutation(n)
    scores = np.empty(n)
    scores[ranking] = -np.arange(n)
    chain, predicted = itertools.pairwise(range(n)), itertools.pairwise(ranking.tolist())
    value = edrc(chain, predicted, discount="linear-from-0")
    assert value == pytest.approx(tau_ap(-np.arange(n), scores, positions="truth"), abs=1e-12)


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
def test_bad_preferences_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        edrc(**{"truth": TRUTH, "prediction": PREDICTION, **options})


# Linear NDCG

whole = st.integers(-4, 4).map(float)
Query = tuple[int, list[int], list[float]]


def linear_gains(n_grades: int) -> np.ndarray:
    return np.arange(n_grades - 1.0, -1, -1)


def linear_measure(gains: list[float], n_documents: int, normalise: Any = None) -> DCG:
    """The same measure by its discounts |S| - 1, ..., 0."""
    return DCG(gains, np.arange(n_documents - 1.0, -1, -1), normalise=normalise)


def error(ranking: list[int], gains: list[float] | None = None) -> float:
    """The loss of the scores that put documents in the order in which they are given."""
    return float(pairwise_loss(ranking, range(len(ranking), 0, -1), "mean", gains))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """The number of grades, the documents' grade indices, and scores with ties."""
    L, N = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    grades = draw(st.lists(st.integers(0, L - 1), min_size=N, max_size=N))
    return L, grades, draw(st.lists(st.integers(-1, 1).map(float), min_size=N, max_size=N))


def by_pairs(gains: list[float], grades: list[int], scores: list[float]) -> tuple[float, float]:
    """R and T by definition: every pair of documents, x of the smaller gain."""
    inverted = tied = 0.0
    for y, x in itertools.permutations(range(len(grades)), 2):
        step = gains[grades[y]] - gains[grades[x]]
        if step > 0:
            inverted += step * (scores[y] < scores[x])
            tied += step * (scores[y] == scores[x])
    return inverted, tied


def orderings(scores: list[float]) -> list[tuple[int, ...]]:
    """Every order of the documents in which none is above one with a higher score."""
    every = itertools.permutations(range(len(scores)))
    return [p for p in every if all(scores[a] >= scores[b] for a, b in itertools.pairwise(p))]


@pytest.mark.parametrize(
    ("ranking", "dcg", "ideal"), [([0, 1, 0, 1, 1, 0], 8, 12), ([0, 0, 2, 2, 2, 1], 18, 21)]
)
def test_the_figures_of_the_paper(ranking: list[int], dcg: int, ideal: int) -> None:
    assert float(linear_ndcg(ranking, linear_gains(max(ranking) + 1))) == dcg / ideal
    assert error(ranking) == ideal - dcg


@FEW
@given(query=queries(), data=st.data())
def test_the_loss_is_that_of_all_pairs_and_of_all_orders(query: Query, data: st.DataObject) -> None:
    """Gains of any order and sign, as theorem 3 allows; by default those of the paper."""
    L, grades, scores = query
    drawn = data.draw(st.lists(whole, min_size=L, max_size=L))
    for gains, given_gains in ((linear_gains(L).tolist(), None), (drawn, drawn)):
        R, T = by_pairs(gains, grades, scores)
        for ties, expected in (("best", R), ("mean", R + T / 2), ("worst", R + T)):
            assert float(pairwise_loss(grades, scores, ties, given_gains)) == expected
        errors = [error([grades[d] for d in order], given_gains) for order in orderings(scores)]
        assert (min(errors), max(errors)) == (R, R + T)
        assert np.mean(errors) == pytest.approx(R + T / 2)


@FEW
@given(query=queries(), data=st.data())
def test_a_dcg_with_these_discounts_agrees(query: Query, data: st.DataObject) -> None:
    L, ranking, _ = query
    N = len(ranking)
    gains = data.draw(st.lists(whole.map(abs), min_size=L, max_size=L))
    ndcg = float(linear_ndcg(ranking, gains))
    assert float(linear_measure(gains, N, "ideal").score(ranking)) == pytest.approx(ndcg)
    plain = linear_measure(gains, N)
    assert error(ranking, gains) == float(plain.ideal(ranking) - plain.score(ranking))
    if N > 1:  # the rule linear(n) with n = |S| - 1 is the same up to scale
        preset = DCG(gains, f"linear({N - 1})", normalise="ideal")
        assert float(preset.score(ranking)) == pytest.approx(ndcg)


@FEW
@given(rows=st.lists(queries(), min_size=1, max_size=4))
def test_many_queries_at_once(rows: list[Query]) -> None:
    """Rows of different length: an empty entry has no effect, wherever it is."""
    width = max(len(grades) for _, grades, _ in rows) + 1
    table, scores = np.full((len(rows), width), -1), np.full((len(rows), width), np.nan)
    for i, (_, grades, f) in enumerate(rows):
        table[i, : len(grades)], scores[i, : len(grades)] = grades, f
    gains = [3.0, -1.0, 0.5, 0.0]
    expected = [float(pairwise_loss(g, f, "worst", gains)) for _, g, f in rows]
    assert pairwise_loss(table, scores, "worst", gains).tolist() == expected
    reverse = pairwise_loss(table[:, ::-1], scores[:, ::-1], "worst", gains)
    assert reverse.tolist() == expected  # now with empty entries first
    ndcg = [float(linear_ndcg(g, linear_gains(4))) for _, g, _ in rows]
    assert linear_ndcg(table, linear_gains(4)).tolist() == ndcg


def test_two_grades_are_one_minus_the_area_under_the_roc_curve(rng: np.random.Generator) -> None:
    from sklearn.metrics import roc_auc_score

    grades, scores = rng.integers(0, 2, 200), rng.integers(0, 20, 200)
    loss = float(pairwise_loss(grades, scores)) / ((grades == 0).sum() * (grades == 1).sum())
    assert loss == pytest.approx(1 - roc_auc_score(grades == 0, scores))


def test_a_million_documents_have_5_10_11_pairs(rng: np.random.Generator) -> None:
    grades = rng.integers(0, 2, 1_000_000)  # as scores they are in the worst order
    assert float(pairwise_loss(grades, grades)) == (grades == 0).sum() * (grades == 1).sum()


def test_extremes_of_linear_ndcg() -> None:
    assert float(linear_ndcg([1, 1], [1, 0])) == 0.0
    assert float(linear_ndcg([0], [1, 0])) == 0.0  # one document: |S| - 1 = 0
    assert pairwise_loss(np.zeros((0, 3), int), np.zeros((0, 3))).shape == (0,)
    assert float(pairwise_loss([1, 1, 0], [np.inf, -np.inf, -np.inf])) == 1 + 0.5


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: linear_ndcg([[0, 1], [-1, 1]], [1, 0]), "row 1: an empty rank"),
        (lambda: linear_ndcg([0, 2], [1, 0]), "index 2, but the number of grades is 2"),
        (lambda: linear_ndcg([0, 1], [1, -1]), "a gain of -1"),
        (lambda: pairwise_loss([0, 1], [1, 2], "third"), "unknown order of ties 'third'"),
        (lambda: pairwise_loss([0, 1], [1]), r"scores of shape \(1,\) for grades of shape \(2,\)"),
        (lambda: pairwise_loss([[0, 1], [0, 1]], [[0, 1], [1, np.nan]]), "row 1: a score is nan"),
    ],
)
def test_bad_lists_are_refused(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call()
