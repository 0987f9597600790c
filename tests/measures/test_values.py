"""Public values: they print shortly, compare, hash, copy and pickle, and have precise types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dcglearn import DCG, LinearUtility, MeasureFile, NamedMeasure, Scale
from dcglearn.naming.names import parse_measure
from helpers.copies import copies_of
from helpers.places import ROOT

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
def test_a_value_prints_in_one_short_line(text: str, value: object) -> None:
    assert repr(value) == text


@each_value
def test_copies_and_pickles_are_equal_values(text: str, value: object) -> None:
    for copied in copies_of(value):
        assert type(copied) is type(value)
        assert copied == value
        assert repr(copied) == text
        assert hash(copied) == hash(value)


def test_copies_of_a_used_utility_are_read_only() -> None:
    utility = LinearUtility([[3, 0], [1, 0]])
    utility.score([0, 1])
    for copied in copies_of(utility):
        assert (copied.matrix == utility.matrix).all()
        with pytest.raises(ValueError, match="read-only"):
            copied.matrix[0, 0] = 5


def test_copies_of_a_used_scale_find_their_labels() -> None:
    scale = Scale(("good", 1, 0.5))
    assert scale.index("0.5") == 2
    assert all(copied.index("0.5") == 2 for copied in copies_of(scale))


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


TYPED = """
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from dcglearn.correlation.agreement import agreement
from dcglearn.measures.dcg import DCG
from dcglearn.naming.measure_files import MeasureFile, read_measure
from dcglearn.naming.names import measure_for
from dcglearn.measures.scale import Scale
from dcglearn.measures.utility import LinearUtility

Floats = NDArray[np.float64]
gains: dict[str, float] = {"good": 1.0, "bad": 0.0}
measure = DCG(gains, np.array([2, 1]))
assert_type(measure, DCG)
assert_type(measure.score([0, 1]), Floats)
assert_type(measure.ideal([0, 1]), Floats)
assert_type(measure.gains, tuple[float, ...])
assert_type(measure.discounts, str | tuple[float, ...])
assert_type(measure.n_ranks, int | None)
assert_type(measure @ 3, DCG)
assert_type(LinearUtility([[1, 0]]).matrix, Floats)
assert_type(LinearUtility([[1, 0]]).grades, tuple[str | int | float, ...] | None)
assert_type(read_measure("m.json").measure, DCG | LinearUtility)
assert_type(measure_for("zipf", Scale((1, 0)), 2).file, MeasureFile | None)
assert_type(Scale((1, 0)).index(1), int)
assert_type(agreement(measure, [[[0], [1]]]), float)
DCG(1, 2, 3, 4, 5, 6, 7)
DCG([1, 0], "log2", "3")
DCG([1, 0], normalise="max")
"""


def test_a_strict_type_check_of_a_users_script_sees_precise_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="the extra dev is not installed")
    script = tmp_path / "script.py"
    script.write_text(TYPED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", script],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"script\.py:(\d+): error", done.stdout)
    last = len(script.read_text().splitlines())
    assert set(errors) == {str(last - 2), str(last - 1), str(last)}, done.stdout
    assert 'Too many arguments for "DCG"' in done.stdout
