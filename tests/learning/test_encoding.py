"""Encodings and margins against the printed examples and a dense matrix."""

from __future__ import annotations

import numpy as np

from dcglearn.learning.problem import margins_of
from dcglearn.learning.qp import encode


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
