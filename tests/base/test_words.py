"""Numbers, states, names and objects in words, and numbers and fields read from words."""

from __future__ import annotations

import math
import signal
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dcglearn import InputError
from dcglearn.base.checks import checked_count, checked_number, checked_rng, finite_tuple
from dcglearn.base.errors import did_you_mean, is_one_of
from dcglearn.base.fingerprint import difference_from_here, fingerprint, program_for
from dcglearn.base.numbers import counted, decimals, parse_number, parse_whole, round_up
from dcglearn.base.overflow import multiplied, usual_size
from dcglearn.base.process import uninterrupted
from dcglearn.base.progress import cumulative, state_in_words
from dcglearn.base.representation import ShortRepr
from dcglearn.base.threads import map_in_order, map_threads


def test_decimal_numbers_are_read() -> None:
    read = [parse_number(text) for text in ("10", "+.5", " 1e-3\t", "-7.")]
    assert read == [10.0, 0.5, 0.001, -7.0]
    for text in ("1_0", "infinity", "nan", "1e999", "", "1 0", "0x1", "\u0661"):
        assert math.isnan(parse_number(text))
    assert [parse_whole(text) for text in ("10", "-7", "+1")] == [10, -7, 1]
    assert {parse_whole(text) for text in ("1_0", " 1", "1.0", "1" * 19, "")} == {None}


def test_an_upper_bound_stays_one_when_it_is_printed() -> None:
    assert f"{round_up(1.31e-9, 2):.1e}" == "1.4e-09"
    assert f"{round_up(0.25, 2):.1e}" == "2.5e-01"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.89164, "0.8916"),
        (-0.00001, "0.0000"),
        (1e300, "1e+300"),
        (1e-320, "9.9999e-321"),
        (math.nan, "-"),
    ],
)
def test_numbers_are_shown_with_decimals(number: float, text: str) -> None:
    assert decimals(number) == text


def test_nouns_are_counted() -> None:
    found = [counted(1, "judgment"), counted(2090, "query", "queries"), counted(0, "tie")]
    assert found == ["1 judgment", "2,090 queries", "0 ties"]


@pytest.mark.parametrize(
    ("seconds", "done", "total", "words"),
    [
        (10, 2, 8, "2 of 8 (25%), 10 s, about 30 s left"),
        (10, 999, 1000, "999 of 1,000 (99%), 10 s, about 1 s left"),
        (10, 8, 8, "8 of 8 (100%), 10 s"),
        (10, 5000, 0, "5,000 so far, 10 s"),
        (10, 0, 0, "10 s"),
    ],
)
def test_progress_in_words(seconds: float, done: int, total: int, words: str) -> None:
    assert state_in_words(seconds, done, total) == words


def test_counts_of_several_passes_add_up() -> None:
    seen: list[int] = []
    count = cumulative(lambda done, total: seen.append(done))
    for done in (10, 20, 10, 5):
        count(done, 0)
    assert seen == [10, 20, 30, 35]


def test_similar_names_are_suggested() -> None:
    assert did_you_mean("Zipff", ["zipf", "constant"]) == "did you mean 'zipf'? "
    assert did_you_mean("qqq", ["zipf"]) == ""
    assert is_one_of("mean", ("mean", None))
    assert is_one_of(None, ("mean", None))
    assert not is_one_of(["mean"], {"mean": 1})


@pytest.mark.parametrize("count", [0, -1, 1.0, True, "1", None, 10**9 + 1])
def test_other_counts_are_refused(count: Any) -> None:
    with pytest.raises(InputError) as error:
        checked_count(count, "`n_ranks`")
    assert error.value.problem.startswith("`n_ranks` is ")


def test_a_count_is_an_int() -> None:
    assert type(checked_count(np.int8(3), "`n_ranks`")) is int
    assert checked_count(0, "`n`", 0, 5) == 0


@pytest.mark.parametrize(
    "number", [-1, 2, 0, math.nan, math.inf, "0.5", b"1", None, [0.5], np.ones(2), 1j, 10**400]
)
def test_other_numbers_are_refused(number: Any) -> None:
    with pytest.raises(InputError) as error:
        checked_number(number, "`cost`", 0, 1, above=True)
    assert error.value.problem.startswith("`cost` is ")


def test_a_number_is_a_float() -> None:
    for number in (1, Fraction(1, 2), np.float32(0.5), np.array(0.5)):
        assert type(checked_number(number, "`cost`")) is float
    with pytest.raises(InputError, match=r"above 0$"):
        checked_number(0, "`cost`", 0, above=True)
    with pytest.raises(InputError, match=r"of 0 or more$"):
        checked_number(-1, "`cost`", 0)
    with pytest.raises(InputError, match=r"number$"):
        checked_number(math.nan, "`cost`")


def test_a_seed_is_not_a_generator() -> None:
    rng = np.random.default_rng(0)
    assert checked_rng(rng) is rng
    with pytest.raises(InputError):
        checked_rng(0)


def test_a_list_of_numbers_is_ordered_and_has_no_truth_values() -> None:
    assert finite_tuple(iter([3, Fraction(1, 2)]), "gains") == (3.0, 0.5)
    assert finite_tuple(np.array([2, 1]), "gains") == (2.0, 1.0)
    others: list[Any] = [[], {1, 2}, {1: 2}, "12", 3, [True, 0], [[1]], ["1"], [math.nan], None]
    for other in others:
        with pytest.raises(InputError):
            finite_tuple(other, "gains")


def test_numbers_of_extreme_size_are_scaled_by_powers_of_two() -> None:
    values, exponent = usual_size(np.array([2.0**1000, 0.0]))
    assert np.array_equal(np.ldexp(values, exponent), [2.0**1000, 0.0])
    assert abs(values).max() < 2.0**301
    usual = np.array([2.0, 0.0])
    assert usual_size(usual) == (usual, 0)
    assert multiplied(np.array([3.0]), 2, "the measure").tolist() == [12.0]
    with pytest.raises(InputError) as error:
        multiplied(np.array([1e308]), 2, "the measure")
    assert error.value.place == "the measure"


@dataclass(frozen=True, repr=False)
class Holder(ShortRepr):
    name: str
    values: Any


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (np.zeros((1000, 2)), "<float64, shape (1000, 2)>"),
        (np.zeros(2), "array([0., 0.])"),
        (pa.array(["a"] * 9), "<StringArray, length 9>"),
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


def test_signals_wait_while_files_are_put_in_order() -> None:
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


class Documented:
    """A function with code of its own."""

    def program(self) -> dict[str, str]:
        return {"own code": "abc"}


def test_another_program_is_described_by_its_first_difference() -> None:
    here = fingerprint()
    assert program_for(abs) == here
    assert program_for(Documented()) == {**here, "own code": "abc"}
    assert difference_from_here(dict(here)) is None
    assert str(difference_from_here({**here, "numpy": "1.0"})).startswith("has numpy 1.0,")
    assert str(difference_from_here(here, Documented())).startswith("has own code None,")
    assert str(difference_from_here(OSError("no\nfile"))).endswith("(OSError: no file)")
