"""Encodings and margins against the printed examples and a dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from dcglearn import DCG, LinearUtility, Problem
from dcglearn.learning.problem import margins_of
from dcglearn.learning.qp import encode
from helpers.kkt import dense_differences
from helpers.solver_cases import problems


def test_the_encodings_of_the_paper() -> None:
    def bits(row: np.ndarray, width: int) -> str:
        text = "".join(str(int(x)) for x in row)
        return " ".join(text[i : i + width] for i in range(0, len(text), width))

    perfect, good, bad = 0, 2, 4
    assert bits(encode(np.array([[perfect, bad, good]]), 5).toarray()[0], 5) == "10000 00001 00100"
    documents = [[3 - 1, 1 - 1, 4 - 1, 2 - 1, 5 - 1]]
    assert bits(encode(np.array(documents), 5).toarray()[0], 5) == "00100 10000 00010 01000 00001"


def test_utility_is_linear_in_the_encoding(rng: np.random.Generator) -> None:
    rankings = rng.integers(-1, 4, (60, 6))
    for measure in (DCG([7, 3, 1, 0], "log2") @ 4, LinearUtility(rng.normal(size=(6, 4)))):
        W = measure.matrix_for(6)
        assert measure.score(rankings) == pytest.approx(encode(rankings, 4) @ W.ravel(), abs=1e-12)


@given(problem=problems())
def test_the_matrix_of_differences_is_the_dense_one(problem: Problem) -> None:
    X = dense_differences(problem.pairs, problem.shape[1])
    first, second = (encode(problem.pairs[:, side], problem.shape[1]) for side in (0, 1))
    assert ((first - second).toarray() == X).all()


def test_hamming_margins_of_the_paper() -> None:
    values = np.array([[[5, 5, 4, 2, 1], [5, 4, 5, 2, 1]], [[5, 5, 4, 2, 1], [2, 1, 5, 5, 4]]])
    assert margins_of("hamming")(5 - values).tolist() == [2.0, 5.0]
