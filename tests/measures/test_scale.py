from __future__ import annotations

import numpy as np
import pytest

from dcglearn import InputError, Scale
from dcglearn.measures.scale import checked_grades


def test_labels_become_indices_best_first() -> None:
    scale = Scale((2, 1, 0))
    assert [scale.index(label) for label in (2, "1", 0.0, "2.0")] == [0, 1, 2, 0]
    assert scale.values == (2.0, 1.0, 0.0)
    assert Scale.parse(" perfect , good,bad").labels == ("perfect", "good", "bad")
    assert Scale.parse("3=10,1=2").values == (10.0, 2.0)
    assert Scale.from_numbers([0, 2, 1, 2]).labels == (2, 1, 0)
    assert Scale.from_documents([10, "b", 2, "a"]).labels == (2, 10, "a", "b")


@pytest.mark.parametrize("label", ["3", 3, True, None, float("nan"), "", [1]])
def test_a_label_off_the_scale_is_refused(label: object) -> None:
    with pytest.raises(InputError, match="off the scale"):
        Scale((2, 1, 0)).index(label)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2,2", "appears twice"),
        ("2,,1", "empty grade"),
        ("a=1,b", "only some grades"),
        ("a=x,b=1", "not a finite number"),
        (",".join(map(str, range(128))), "128 grades"),
    ],
)
def test_a_malformed_scale_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Scale.parse(text)


def test_names_need_a_declared_order() -> None:
    with pytest.raises(InputError, match="declare their order"):
        Scale.from_numbers(["good", 1])


def test_grade_arrays_are_checked() -> None:
    assert checked_grades([[0.0, 1.0]], 2).dtype.kind == "i"
    unsigned = np.array([[0, 1]], np.uint8)
    assert checked_grades(unsigned, 2) is unsigned
    for wrong, problem in [
        ([[0, 2]], "grade index 2"),
        ([[0, -2]], "grade index -2"),
        ([[0, 0.5]], "0.5"),
        ([[0, np.nan]], "nan"),
        ([["a", "b"]], "not numbers"),
    ]:
        with pytest.raises(InputError, match=problem):
            checked_grades(wrong, 2)
