"""Problems, their encodings and margins, and what an optimum means for gains and discounts."""

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
from dcglearn.learning.problem import margins_of
from dcglearn.learning.qp import encode

TRUTH = DCG([1, 0.6, 0.2], "zipf")


@pytest.fixture
def affine(rng: np.random.Generator) -> Fit:
    """Of permutations, which leave an affine map open."""
    return fit(Problem.of(true_pairs(TRUTH, permuted_lists(300, rng, [0, 0, 1, 2])), 3))


def test_another_fit_gives_the_gauge(affine: Fit, rng: np.random.Generator) -> None:
    plain = fit(Problem.of(true_pairs(TRUTH, drawn_lists(300, 4, [0.3, 0.3, 0.4], rng)), 3))
    assert plain.factors.discounts[-1] > 0.1
    as_affine = plain.factors_as_in(affine.identifiability)
    assert (as_affine.discounts[0], as_affine.discounts[-1]) == (1, 0)
    assert as_affine.gauge == affine.factors.gauge


def test_an_optimum_of_zero_is_a_utility_and_not_a_dcg(affine: Fit) -> None:
    problem = Problem.of([[[0, 1], [1, 0]], [[1, 0], [0, 1]]], 2)
    learned = Fit(problem, solve(problem))
    assert not learned.utility.matrix.any()
    for read in (
        lambda: learned.factors,
        lambda: learned.dcg,
        lambda: learned.identifiability,
        lambda: learned.factors_as_in(affine.identifiability),
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


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": float("nan")}, "C is nan"),
        ({"C": True}, "C is True"),
        ({"C": 1e200}, "below 1e\\+100"),
        ({"weights": [1, np.nan]}, "weights hold nan"),
        ({"weights": [1]}, "weights of shape"),
        ({"margin": [1, np.nan]}, "row 1: margins hold nan"),
        ({"margin": "unti"}, "did you mean 'unit'"),
        ({"pairs": np.zeros((0, 2, 3), int)}, "no pair"),
        ({"pairs": [[[0, 5], [1, 1]]]}, "grade index 5"),
        ({"pairs": [[0, 1, 1]]}, "pairs of shape"),
        ({"pairs": np.zeros((1, 2, 2000), int), "n_grades": 6}, "12,000 weights"),
    ],
)
def test_bad_parts_are_refused(change: dict[str, object], problem: str) -> None:
    parts: dict[str, object] = {"pairs": [[[0, 1], [1, 1]], [[0, 0], [1, 0]]], "n_grades": 2}
    with pytest.raises(InputError, match=problem):
        Problem.of(**(parts | change))


def test_the_encodings_of_the_paper() -> None:
    def bits(row: np.ndarray, width: int) -> str:
        text = "".join(str(int(x)) for x in row)
        return " ".join(text[i : i + width] for i in range(0, len(text), width))

    perfect, good, bad = 0, 2, 4
    assert bits(encode(np.array([[perfect, bad, good]]), 5).toarray()[0], 5) == "10000 00001 00100"
    documents = [[3 - 1, 1 - 1, 4 - 1, 2 - 1, 5 - 1]]
    assert bits(encode(np.array(documents), 5).toarray()[0], 5) == "00100 10000 00010 01000 00001"


def test_hamming_margins_of_the_paper() -> None:
    values = np.array([[[5, 5, 4, 2, 1], [5, 4, 5, 2, 1]], [[5, 5, 4, 2, 1], [2, 1, 5, 5, 4]]])
    assert margins_of("hamming")(5 - values).tolist() == [2.0, 5.0]
