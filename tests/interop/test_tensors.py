"""The text for PyTorch runs without this package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dcglearn import DCG, export
from dcglearn.interop.tensors import DISCOUNT_TEXT
from dcglearn.measures.discounts import DISCOUNT_RULES
from helpers.exported import GAINS, executed

TEXT_MEASURES = [
    DCG(GAINS, rule) for rule in ("log2", "jk(2)", "zipf", "linear(4)", "constant", "rbp(0.8)")
] + [
    DCG(GAINS, "log2", 3, "ideal"),
    DCG({3: 1, 2: -0.5, 1: 2, 0: 0}, [1, 0.5, 0.6]),
    DCG({3: 0.1, 2: 0.5, 1: 2, 0: 0}, [1, 0.5, 0.25], 2, "ideal"),
]


def as_is(values: Any) -> Any:
    return values


def as_tensor(values: Any) -> Any:
    return pytest.importorskip(
        "torch", reason="torch is too large to be installed for one test"
    ).tensor(values)


@pytest.mark.parametrize("kind", [as_is, as_tensor])
@pytest.mark.parametrize("measure", TEXT_MEASURES, ids=str)
def test_the_text_for_torch_runs_without_this_package(
    measure: DCG, kind: Any, rng: np.random.Generator
) -> None:
    grades = rng.integers(0, 4, (20, 6))
    sizes = rng.integers(1, 7, 20)
    labels = np.where(np.arange(6) < sizes[:, None], 3 - grades, -1)
    scores = rng.integers(0, 4, (20, 6)).astype(float)
    module = executed(export(measure, "torch").text)
    assert "dcglearn" not in export(measure, "torch").text
    found = np.asarray(module["measure"](kind(scores), kind(labels)))
    cut = DCG(measure.gains, measure.discounts, measure.n_ranks, measure.normalise)
    for value, row, score, size in zip(found, grades, scores, sizes, strict=True):
        order = np.argsort(-score[:size], kind="stable")
        assert value == pytest.approx(float(cut.score(row[:size][order])), abs=1e-12)
    with pytest.raises(ValueError, match="a label has no gain"):
        module["measure"](kind(np.array([1.0])), kind(np.array([9])))
    with pytest.raises(ValueError, match="a score is not a number"):
        module["measure"](kind(np.array([1.0, np.nan])), kind(np.array([0, 3])))
    least = module["measure"](kind(np.array([5.0, 9.0, -np.inf])), kind(np.array([-1, 0, 3])))
    padded = module["measure"](kind(np.array([9.0, 0.0])), kind(np.array([0, 3])))
    assert float(least) == float(padded)  # padding is behind every document


def test_if_minus_one_is_a_grade_there_is_no_padding() -> None:
    exported = export(DCG({1: 1, 0: 0, -1: -1}, "zipf"), "torch")
    module = executed(exported.text)
    assert math.isnan(module["PADDING"])
    assert float(module["measure"](np.array([2.0, 1.0]), np.array([-1, 1]))) == -0.5


def test_every_rule_of_discounts_has_its_text() -> None:
    assert DISCOUNT_TEXT.keys() == DISCOUNT_RULES.keys()
