"""Numbers, states, names and objects in words, and numbers and fields read from words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dcglearn import InputError
from dcglearn.base.checks import checked_count, checked_number, checked_rng, finite_tuple
from dcglearn.base.errors import did_you_mean, is_one_of
from dcglearn.base.fingerprint import difference_from_here, fingerprint
from dcglearn.base.numbers import parse_number, parse_whole
from dcglearn.base.progress import state_in_words
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import map_in_order, map_threads


def test_decimal_numbers_are_read() -> None:
    read = [parse_number(text) for text in ("10", "+.5", " 1e-3\t", "-7.")]
    assert read == [10.0, 0.5, 0.001, -7.0]
    for text in ("1_0", "infinity", "nan", "1e999", "", "1 0", "0x1", "\u0661"):
        assert math.isnan(parse_number(text))
    assert [parse_whole(text) for text in ("10", "-7", "+1")] == [10, -7, 1]
    assert {parse_whole(text) for text in ("1_0", " 1", "1.0", "1" * 19, "")} == {None}


@pytest.mark.parametrize(
    ("seconds", "done", "total", "words"),
    [
        (10, 2, 8, "2 of 8 (25%), 10 s, about 30 s left"),
        (10, 5000, 0, "5,000 so far, 10 s"),
    ],
)
def test_progress_in_words(seconds: float, done: int, total: int, words: str) -> None:
    assert state_in_words(seconds, done, total) == words


def test_similar_names_are_suggested() -> None:
    assert did_you_mean("Zipff", ["zipf", "constant"]) == "did you mean 'zipf'? "
    assert did_you_mean("qqq", ["zipf"]) == ""
    assert is_one_of("mean", ("mean", None))
    assert is_one_of(None, ("mean", None))
    assert not is_one_of(["mean"], {"mean": 1})


@pytest.mark.parametrize("count", [0, 1.0, True, "1", 10**9 + 1])
def test_other_counts_are_refused(count: Any) -> None:
    with pytest.raises(InputError) as error:
        checked_count(count, "`n_ranks`")
    assert error.value.problem.startswith("`n_ranks` is ")


@pytest.mark.parametrize("number", [2, 0, math.nan, "0.5", np.ones(2), 1j])
def test_other_numbers_are_refused(number: Any) -> None:
    with pytest.raises(InputError) as error:
        checked_number(number, "`cost`", 0, 1, above=True)
    assert error.value.problem.startswith("`cost` is ")


def test_a_number_is_a_float() -> None:
    for number in (1, Fraction(1, 2), np.float32(0.5), np.array(0.5)):
        assert type(checked_number(number, "`cost`")) is float


def test_a_seed_is_not_a_generator() -> None:
    rng = np.random.default_rng(0)
    assert checked_rng(rng) is rng
    with pytest.raises(InputError):
        checked_rng(0)


def test_a_list_of_numbers_is_ordered() -> None:
    assert finite_tuple([3, Fraction(1, 2)], "gains") == (3.0, 0.5)
    assert finite_tuple(np.array([2, 1]), "gains") == (2.0, 1.0)
    others: list[Any] = [[], {1, 2}, "12", [[1]], [math.nan]]
    for other in others:
        with pytest.raises(InputError):
            finite_tuple(other, "gains")


@dataclass(frozen=True, repr=False)
class Holder(ShortRepr):
    name: str
    values: Any


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.zeros((1000, 2)), "<float64, shape (1000, 2)>"),
        (list(range(9)), "[0, 1, 2, 3, ...]"),
    ],
)
def test_arrays_are_shown_by_their_shape(values: Any, shown: str) -> None:
    assert repr(Holder("pairs", values)) == f"Holder(name='pairs', values={shown})"


def test_threads_keep_the_order_of_items() -> None:
    items = list(range(-50, 50))
    assert map_threads(abs, items) == list(map_in_order(abs, items)) == [abs(i) for i in items]
    nested = map_threads(lambda n: map_threads(abs, [-n, n, -n]), [1, 2, 3])
    assert nested == [[n] * 3 for n in (1, 2, 3)]
    found = map_in_order(lambda n: 1 // n, [1, 1, 0, 1])
    assert [next(found), next(found)] == [1, 1]
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_another_program_is_described_by_its_first_difference() -> None:
    here = fingerprint()
    assert difference_from_here(dict(here)) is None
    assert str(difference_from_here({**here, "numpy": "1.0"})).startswith("has numpy 1.0,")
    assert str(difference_from_here(OSError("no\nfile"))).endswith("(OSError: no file)")
