"""Why two measures disagree: contributions of ranks, reasons, examples, and the command."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import DCG, InputError, LinearUtility, explain
from dcglearn.coherence.explain import clearest_example, example_depth

FEW = settings(max_examples=settings().max_examples * 2 // 5)
LISTS = st.lists(st.integers(-1, 2), min_size=3, max_size=3)
GAINS = st.lists(st.integers(0, 5), min_size=3, max_size=3)
DISCOUNTS = st.lists(st.integers(0, 5), min_size=3, max_size=3)


@FEW
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


@FEW
@given(g=GAINS, h=GAINS, c=DISCOUNTS, d=DISCOUNTS, cuts=st.tuples(*[st.integers(1, 6)] * 2))
def test_the_example_is_the_clearest_down_to_the_larger_of_two_depths(
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
    if found is not None and (cuts[0] != cuts[1] or K <= 5):  # deeper: five ranks are enough
        one, other = (
            np.subtract(*m.score(found)) / np.ptp(v)
            for m, v in zip((first, second), values, strict=True)
        )
        assert min(one, -other) == pytest.approx(best, abs=1e-9)


def test_weights_that_are_not_a_dcg_have_no_reason() -> None:
    weights = LinearUtility([[1, 0], [5, 0]])
    found = explain(DCG([1, 0], "zipf"), weights, [0, 1], [1, 0])
    assert (found.winners, found.exchanged, found.reason) == (("a", "b"), None, "")
    for lists, message in (
        (([0, 1], [0]), "of shape"),
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
