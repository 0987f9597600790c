"""Public values: they print shortly, compare, hash, copy and pickle."""

from __future__ import annotations

import numpy as np
import pytest

from dcglearn import DCG, LinearUtility, MeasureFile, NamedMeasure, Scale
from dcglearn.measures.names import parse_measure
from helpers.copies import copies_of

NDCG = DCG({"good": 1, "bad": 0}, [1, 0.5], 1, "ideal")
UTILITY = LinearUtility([[3, 0], [1, 0]], (1, 0))
VALUES = {
    "nDCG({'good': 1, 'bad': 0}, [1, 0.5]) @ 1": NDCG,
    "DCG([3, 0.1], rbp(0.8))": DCG([3, 0.1], "rbp:0.8"),
    "LinearUtility([[3, 0], [1, 0]], grades=[1, 0])": UTILITY,
    "LinearUtility(<20 ranks, 5 grades>)": LinearUtility(np.ones((20, 5))),
    "Scale((2, 1, 0))": Scale((2, 1, 0)),
    "Scale(('good', 'bad'), (3.0, 0.0))": Scale(("good", "bad"), (3, 0)),
    "MeasureFile(dcg=DCG([1, 0], log2), utility=None, use='dcg')": MeasureFile(
        DCG([1, 0]), about={"note": ["a", "b"]}
    ),
    "NamedMeasure(name='DCG([1], zipf)', measure=DCG([1], zipf))": parse_measure("DCG([1], zipf)"),
}
each_value = pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=list(VALUES))


@each_value
def test_copies_and_pickles_are_equal_values(text: str, value: object) -> None:
    for copied in copies_of(value):
        assert type(copied) is type(value)
        assert copied == value
        assert repr(copied) == text
        assert hash(copied) == hash(value)


def test_equal_values_are_one_key_and_others_are_not() -> None:
    assert len({DCG([1, 0]), DCG((1.0, 0.0)), DCG(np.array([1, 0]))}) == 1
    assert len({LinearUtility([[1, 0]]), LinearUtility(np.array([[1.0, 0.0]]))}) == 1
    others = [
        DCG([1, 0]),
        DCG([1, 0.5]),
        DCG([1, 0], "zipf"),
        DCG([1, 0], cutoff=3),
        DCG([1, 0], normalise="ideal"),
        DCG([1, 0], normalise="minmax"),
        DCG([1, 0], grades=["a", "b"]),
    ]
    assert len(set(others)) == len(others)
    assert NamedMeasure("a", others[0]) != NamedMeasure("b", others[0])


def test_values_are_frozen() -> None:
    for value, name in ((NDCG, "gains"), (UTILITY, "weights"), (Scale((1, 0)), "labels")):
        with pytest.raises(AttributeError, match="cannot assign"):
            setattr(value, name, ())
    with pytest.raises(ValueError, match="read-only"):
        UTILITY.matrix[0, 0] = 2
