"""Why two measures disagree: contributions of ranks, reasons, examples, and the command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import DCG, InputError, LinearUtility, explain
from dcglearn.coherence.clearest_example import clearest_example, example_depth

Run = Callable[..., "subprocess.CompletedProcess[str]"]
LISTS = st.lists(st.integers(-1, 2), min_size=3, max_size=3)
GAINS = st.lists(st.integers(0, 5), min_size=3, max_size=3)
DISCOUNTS = st.lists(st.integers(0, 5), min_size=3, max_size=3)


@settings(max_examples=200)
@given(a=LISTS, b=LISTS, g=GAINS, c=DISCOUNTS, h=GAINS, d=DISCOUNTS)
def test_the_reason_is_the_part_that_reverses_the_verdict(
    a: list[int], b: list[int], g: list[int], c: list[int], h: list[int], d: list[int]
) -> None:
    def winner(gains: list[int], discounts: list[int]) -> str:
        values = DCG(gains, discounts).score([a, b])  # whole numbers: exact
        return "equal" if values[0] == values[1] else "a" if values[0] > values[1] else "b"

    found = explain(DCG(g, c), DCG(h, d), a, b)
    assert found.winners == (winner(g, c), winner(h, d))
    assert found.differences == tuple(
        pytest.approx(np.subtract(*m.score([a, b]))) for m in (DCG(g, c), DCG(h, d))
    )
    sizes = np.abs(found.contributions).sum(axis=1)
    assert all(size == pytest.approx(1) or size == 0 for size in sizes)
    assert found.agree == (winner(g, c) == winner(h, d))
    if found.agree:
        assert found.reason == ""
        return
    by_gains = winner(h, c) == winner(h, d)
    by_discounts = winner(g, d) == winner(h, d)
    names = {(True, True): "either", (True, False): "gains", (False, True): "discounts"}
    assert found.reason == names.get((by_gains, by_discounts), "both together")


def test_the_example_is_the_clearest_of_all_short_lists() -> None:
    first, second = DCG([3, 2, 1, 0], "log2"), DCG([7, 3, 1, 0], "zipf")
    a, b = clearest_example(first, second, 3)
    lists = [list(row) for row in product(range(4), repeat=3)]
    spans = [float(np.ptp(m.score(lists))) for m in (first, second)]

    def clear(x: list[int], y: list[int]) -> float:
        one, other = (np.subtract(*m.score([x, y])) for m in (first, second))
        return float(min(one / spans[0], -other / spans[1]))

    assert clear(a.tolist(), b.tolist()) == pytest.approx(
        max(clear(x, y) for x in lists for y in lists)
    )
    assert clearest_example(first, first, 3) is None
    assert clearest_example(first, DCG([6, 4, 2, 0], "log2"), 3) is None
    long = clearest_example(first, second, 9)
    assert long is not None
    assert (long[0][4:] == -1).all()


@settings(max_examples=60)
@given(g=GAINS, h=GAINS, c=DISCOUNTS, d=DISCOUNTS, cuts=st.tuples(*[st.integers(1, 6)] * 2))
def test_measures_of_two_depths_are_compared_to_the_larger_one(
    g: list[int], h: list[int], c: list[int], d: list[int], cuts: tuple[int, int]
) -> None:
    """Against all pairs of lists; of more than five ranks, those are 729."""
    first, second = DCG(g, [*c, 1, 1, 1]) @ cuts[0], DCG(h, [*d, 1, 1, 1]) @ cuts[1]
    K = max(cuts)
    assert example_depth(first, second) == K
    lists = np.array(list(product(range(3), repeat=K)))
    values = [m.score(lists) for m in (first, second)]
    one, other = ((v[:, None] - v) / max(np.ptp(v), 1e-9) for v in values)
    best = float(np.minimum(one, -other).max())
    found = clearest_example(first, second)
    assert (found is None) == (best < 1e-9)
    if found is not None and cuts[0] != cuts[1]:
        one, other = (
            np.subtract(*m.score(found)) / np.ptp(v)
            for m, v in zip((first, second), values, strict=True)
        )
        assert min(one, -other) == pytest.approx(best, abs=1e-9)


def test_depths_of_examples() -> None:
    measure, weights = DCG([1, 0], "log2"), LinearUtility([[1, 0], [2, 0]])
    for one, other, depth in (
        (measure, measure, 5),
        (measure @ 3, measure, 8),
        (measure @ 5, measure @ 10, 10),
        (measure @ 10, DCG([1, 0], [1, 0.5]), 2),
        (weights, measure @ 1, 2),
        (DCG([1, 0], [1, 0.5]) @ 1, measure @ 4, 4),
    ):
        assert example_depth(one, other) == example_depth(other, one) == depth
        found = clearest_example(one, other)
        assert found is None or found.shape[1] <= depth


def test_weights_that_are_not_a_dcg_have_no_reason() -> None:
    weights = LinearUtility([[1, 0], [5, 0]])
    found = explain(DCG([1, 0], "zipf"), weights, [0, 1], [1, 0])
    assert (found.winners, found.exchanged, found.reason) == (("a", "b"), None, "")
    for lists, message in (
        (([0, 1], [0]), "lists of shape"),
        (([0, 1, 1], [0, 1, 1]), "weights for 2"),
        (([0, 2], [0, 1]), "grade index 2"),
    ):
        with pytest.raises(InputError, match=message):
            explain(DCG([1, 0], "zipf"), weights, *lists)
    with pytest.raises(InputError, match="measures of 2 and 3 grades"):
        explain(weights, DCG([2, 1, 0]), [0], [0])


def test_presets_need_labels() -> None:
    named = explain("linear-log2", "nDCG(zipf)", [0, 2, 2], [2, 0, 0], labels=[2, 1, 0])
    given_ = explain(DCG([2, 1, 0], "log2"), DCG([2, 1, 0], "zipf"), [0, 2, 2], [2, 0, 0])
    np.testing.assert_array_equal(named.contributions, given_.contributions)
    assert (named.winners, named.reason) == (given_.winners, given_.reason)
    with pytest.raises(InputError, match="the preset 'linear-log2' needs the grades"):
        explain("linear-log2", DCG([2, 1, 0]), [0, 2, 2], [2, 0, 0])


def test_the_command(run: Run, refused: Callable[..., str]) -> None:
    found = run(
        "explain", "linear-log2", "zipf", "--scale", "2,1,0", "--a", "2,0,-", "--b", "0,2,2"
    )
    assert found.returncode == 0, found.stderr
    assert "The discounts are the reason" in found.stdout
    assert "which is better depends on the gains or the discounts" in found.stdout
    drawn = run("explain", "linear-log2", "exponential-log2", "--scale", "3,2,1,0")
    assert drawn.stdout.startswith("An example on which they differ most:")
    assert "The gains are the reason" in drawn.stdout
    assert (
        "ties at gains 3: 3, 2: 1.676, 1: 1, 0: 0; a small step further reverses its verdict"
        in drawn.stdout
    )
    alike = run("explain", "linear-log2", "constant", "--scale", "1,0", "--K", "1")
    alone = "No two lists of 1 rank are ordered differently by the two measures."
    assert alike.stdout.strip() == alone
    deeper = run("explain", "linear-log2 @ 3", "linear-log2", "--scale", "3,2,1,0")
    assert "linear-log2 @ 3 prefers a" in deeper.stdout
    assert "linear-log2 prefers b" in deeper.stdout
    assert "The discounts are the reason" in deeper.stdout
    lists = ("--a", "2,0,1,0", "--b", "0,3,0,3")
    given = run("explain", "linear-log2 @ 3", "linear-log2", "--scale", "3,2,1,0", *lists)
    assert "linear-log2 @ 3 prefers a" in given.stdout
    assert "linear-log2 prefers b" in given.stdout
    told = json.loads(
        run("explain", "DCG([1, 0], zipf)", "LinearUtility([[1, 0], [5, 0]])", "--json").stdout
    )
    assert told["winners"] == ["a", "b"]
    normalised = run("explain", "nDCG(zipf)", "linear-log2", "--scale", "2,1,0")
    assert "in DCG: nDCG(" in normalised.stdout
    assert told["reason"] is None
    for arguments, message in (
        (
            ("linear-log2", "zipf"),
            "the preset 'linear-log2' needs grades; declare them, such as --scale",
        ),
        (("linear-log2", "zip", "--scale", "1,0"), "did you mean 'zipf'"),
        (("linear-log2", "zipf", "--scale", "1,0", "--a", "1"), "--a without --b; give both"),
        (("linear-log2", "zipf", "--scale", "1,0", "--a", "1", "--b", "2"), "--b: grade"),
        (
            ("DCG([2, 1, 0], zipf)", "DCG([1, 0], zipf)"),
            "has 2 gains, but the documents have 3 grades",
        ),
        (("none.json", "zipf"), "none.json: no such file"),
        (
            ("linear-log2", "zipf", "--scale", "1,0", "--K", "101"),
            "an example of 101 ranks, and it can have at most 100; lower --K",
        ),
    ):
        assert message in refused("explain", *arguments), arguments
