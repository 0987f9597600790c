"""Mean nDCG with any gains, those of 0 included, against the measure itself at random gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import DCG
from dcglearn.base.types import Floats, Grades
from dcglearn.coherence.mean_ndcg import mean_verdicts
from dcglearn.coherence.mean_ndcg_faces import mean_verdicts_with_faces

# The second query has no best document: it counts 0 where only the best grade has a gain.
POOLS = np.array([[0, 1, 2], [1, 2, 2]])
A, B = np.array([[0, 1], [2, 1]]), np.array([[1, 2], [1, 2]])


def mean_difference_of(gains: Floats, a: Grades, b: Grades, pools: Grades) -> float:
    measure = DCG(gains, "zipf", a.shape[1], "ideal")
    return float(np.mean(measure.score(a, pools) - measure.score(b, pools)))


def gains_with_zeros(rng: np.random.Generator, L: int) -> Floats:
    """Decreasing gains of which the last 1 ... L - 1 are 0."""
    gains = np.sort(np.append(rng.random(L - 1), 1.0))[::-1] ** rng.choice([0.3, 1.0, 8.0])
    gains[rng.integers(1, L) :] = 0.0
    return gains


@pytest.mark.parametrize("swapped", [False, True])
def test_faces_widen_the_bounds_on_either_side(swapped: bool) -> None:
    runs, sign = ([B, A], -1) if swapped else ([A, B], 1)
    inside = mean_verdicts(runs, POOLS, "zipf", 3)[0, 1]
    with_faces = mean_verdicts_with_faces(runs, POOLS, "zipf", 3)[0, 1]
    on_face = mean_difference_of(np.array([1.0, 0, 0]), *runs, POOLS)
    assert on_face == sign * 0.5
    side = 0 if swapped else 1
    assert with_faces.bounds[side] == pytest.approx(on_face, abs=1e-12)
    assert sign * inside.bounds[side] < 0.3
    assert with_faces.bounds[1 - side] == inside.bounds[1 - side]


@given(seed=st.integers(0, 10**6), L=st.integers(2, 4))
def test_verdicts_hold_for_gains_of_zero(seed: int, L: int) -> None:
    rng = np.random.default_rng(seed)
    pools = rng.integers(0, L, (int(rng.integers(1, 4)), 4))
    a, b = (rng.permuted(pools, axis=1)[:, :3] for _ in range(2))
    found = mean_verdicts_with_faces([a, b], pools, "zipf", L, max_boxes=200)[0, 1]
    for _ in range(30):
        value = mean_difference_of(gains_with_zeros(rng, L), a, b, pools)
        assert found.bounds[0] - 1e-12 <= value <= found.bounds[1] + 1e-12
        assert found.winner not in ("a", "equal") or value >= -1e-12
        assert found.winner not in ("b", "equal") or value <= 1e-12
    for measure, difference, sign in zip(found.witnesses, found.differences, (1, -1), strict=True):
        if measure is None:
            assert difference == 0
        else:
            assert measure.n_grades == L
            value = mean_difference_of(np.array(measure.gains), a, b, pools)
            assert value == pytest.approx(difference, abs=1e-12)
            assert sign * difference > 0
    assert (found.winner == "depends") == (None not in found.witnesses)
    back = mean_verdicts_with_faces([b, a], pools, "zipf", L, max_boxes=200)[0, 1]
    assert back.bounds == pytest.approx((-found.bounds[1], -found.bounds[0]), abs=1e-12)
    assert back.winner == {"a": "b", "b": "a"}.get(found.winner, found.winner)


def test_a_run_that_is_ahead_only_on_a_face_is_a_witness() -> None:
    pools = np.array([[0, 1, 2], [1, 2, 2], [1, 2, 2]])
    a, b = np.array([[0, 1], [2, 1], [2, 1]]), np.array([[1, 2], [1, 2], [1, 2]])
    inside = mean_verdicts([a, b], pools, "zipf", 3)[0, 1]
    assert inside.winner == "b" or inside.witnesses[1] is not None
    found = mean_verdicts_with_faces([a, b], pools, "zipf", 3)[0, 1]
    assert found.winner == "depends"
    (for_a, for_b) = found.witnesses
    assert for_a is not None
    assert for_b is not None
    assert mean_difference_of(np.array(for_a.gains), a, b, pools) > 0
    assert mean_difference_of(np.array(for_b.gains), a, b, pools) < 0


def test_a_nonnegative_worst_gain_adds_the_face_where_it_is_zero() -> None:
    """With gains 1, 0 the second query stops counting."""
    pools, a, b = (
        np.array([[0, 1], [1, 1]]),
        np.array([[0, 1], [1, -1]]),
        np.array([[1, 0], [1, 1]]),
    )
    inside = mean_verdicts([a, b], pools, "zipf", 2, "nonnegative")[0, 1]
    found = mean_verdicts_with_faces([a, b], pools, "zipf", 2, "nonnegative")[0, 1]
    assert inside.bounds[1] < 0.2
    assert found.bounds[1] == pytest.approx(0.25)
    assert (found.winner, inside.winner) == ("depends", "depends")
