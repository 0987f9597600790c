"""The transitive closure as bits, against all chains of preferences."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn.correlation.preference_graph import (
    check_preferences,
    number_items,
    transitive_closure,
)

N = 6


@given(data=st.data())
def test_closure_and_ranks_match_all_chains(data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(N)))
    every = list(itertools.combinations(order, 2))
    pairs = data.draw(st.lists(st.sampled_from(every), max_size=12))
    chains = [
        chain
        for length in range(1, N + 1)
        for chain in itertools.combinations(order, length)
        if all(step in pairs for step in itertools.pairwise(chain))
    ]
    found = transitive_closure(pairs, {i: i for i in range(N)}, "truth")
    for v in range(N):
        above = {chain[0] for chain in chains if chain[-1] == v} - {v}
        below = {chain[-1] for chain in chains if chain[0] == v} - {v}
        assert found.above[v] == sum(1 << i for i in above)
        assert found.below[v] == sum(1 << i for i in below)
        assert found.ranks[v] == max(len(chain) for chain in chains if chain[-1] == v)
        for i in range(N):
            assert found.side(i, v) == (i in above) - (i in below)


def test_a_cycle_is_reported_in_order() -> None:
    pairs = [("D", "A"), ("A", "B"), ("B", "C"), ("C", "A"), ("C", "E")]
    with pytest.raises(InputError, match=r"cycle: (.*); remove one of them") as error:
        transitive_closure(pairs, number_items(None, truth=pairs), "truth")
    named = error.value.problem.split(": ")[1].split(" > ")
    assert len(named) == 4
    assert set(itertools.pairwise(named)) == {("A", "B"), ("B", "C"), ("C", "A")}


def test_items_are_hashable_and_numbered_in_order() -> None:
    pairs = check_preferences(([(1, "a"), "x"], ("x", None)), "truth")
    assert number_items(None, truth=pairs) == {(1, "a"): 0, "x": 1, None: 2}
    assert number_items(iter([None, "x", (1, "a")]), truth=pairs)[None] == 0
