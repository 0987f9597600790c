"""One fit: what an optimum means for gains and discounts."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from dcglearn import (
    DCG,
    Fit,
    InputError,
    Problem,
    SolverError,
    drawn_lists,
    fit,
    permuted_lists,
    solve,
    true_pairs,
)
from dcglearn.learning.factorise import factorise

TRUTH = DCG([1, 0.6, 0.2], "zipf")
DESIGNS = ["different content", "permutations", "empty ranks", "a constant grade"]


def problem_of(design: str, n: int = 300, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    lists = drawn_lists(n, 4, [0.3, 0.3, 0.4], rng)
    if design == "permutations":
        lists = permuted_lists(n, rng, [0, 0, 1, 2])
    elif design == "empty ranks":
        lists = drawn_lists(n, 4, [0.3, 0.3, 0.4], rng, shortest=2)
    return Problem.of(true_pairs(TRUTH, lists), 4 if design == "a constant grade" else 3)


@pytest.mark.parametrize("design", DESIGNS)
def test_factors_are_those_of_what_the_pairs_determine(design: str) -> None:
    """The short way to the factors, and the long one that also says how sure they are."""
    problem = problem_of(design)
    learned = fit(problem)
    known = learned.identifiability
    assert learned.factors.gauge == known.gauge
    by_hand = factorise(
        learned.weights, known.gauge, known.determined_offsets, known.constant_grades
    )
    for factors in (by_hand, learned.factors_as_in(known)):
        assert (factors.discounts == learned.factors.discounts).all()
        assert (factors.gains == learned.factors.gains).all()
    assert learned.dcg == DCG(learned.factors.gains, learned.factors.discounts)
    assert (learned.utility.matrix == learned.weights).all()
    assert learned.certificate.confirmed
    assert learned.factors is learned.factors


def test_another_fit_gives_the_gauge() -> None:
    affine, plain = fit(problem_of("permutations")), fit(problem_of("different content"))
    assert plain.factors.discounts[-1] > 0.1
    as_affine = plain.factors_as_in(affine.identifiability)
    assert (as_affine.discounts[0], as_affine.discounts[-1]) == (1, 0)
    assert as_affine.gauge == affine.factors.gauge


def test_an_optimum_of_zero_is_a_utility_and_not_a_dcg() -> None:
    problem = Problem.of([[[0, 1], [1, 0]], [[1, 0], [0, 1]]], 2)
    learned = Fit(problem, solve(problem))
    assert not learned.utility.matrix.any()
    for read in (
        lambda: learned.factors,
        lambda: learned.dcg,
        lambda: learned.identifiability,
        lambda: learned.factors_as_in(fit(problem_of("permutations")).identifiability),
    ):
        with pytest.raises(InputError, match="cancel out"):
            read()


@pytest.mark.parametrize("weighed", [False, True])
def test_stiff_problems_are_solved_or_refused(weighed: bool) -> None:
    """Weights from 1e-12 to 1e12 and C from 1e-8 to 1e8: no error of the linear algebra."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, K, L = rng.integers(1, 12), rng.integers(1, 5), rng.integers(1, 5)
        pairs = rng.integers(rng.choice([-1, 0]), L, (n, 2, K))
        weights = 10.0 ** rng.uniform(-12, 12, n) if weighed else None
        C = 10.0 ** rng.uniform(-8, 8)
        with suppress(InputError, SolverError):
            learned = fit(Problem.of(pairs, L, weights=weights, C=C, monotone=bool(seed % 3)))
            assert learned.certificate.confirmed
            assert learned.identifiability.change_on_doubling_c is not None
