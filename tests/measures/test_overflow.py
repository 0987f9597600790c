"""Large and small numbers: the right value, by exact fractions; beyond 1e100, an error."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import (
    DCG,
    InputError,
    LinearUtility,
    Ranked,
    score_runs,
)
from dcglearn.evaluation.unjudged_bounds import unjudged_bounds
from dcglearn.measures.dcg import Normalisation

Run = Callable[..., "subprocess.CompletedProcess[str]"]

NUMBERS = st.sampled_from([1e100, -1e100, 1e90, 1e-90, 1e-100, 1.0, 3.0, 0.1, 0.0, -2.0])
FORMS: list[Normalisation | None] = [None, "ideal", "minmax"]


def exact_value(measure: DCG, ranking: list[int]) -> tuple[Fraction, Fraction]:
    """Return the value by its definition over all orderings, and the sum of absolute terms."""
    c, g = ([Fraction(x) for x in xs] for xs in (measure.discounts, measure.gains))
    terms = [c[k] * g[grade] for k, grade in enumerate(ranking)]
    size = sum(map(abs, terms), Fraction())
    if measure.normalise is None:
        return sum(terms, Fraction()), size
    orders = [[x * g[i] for x, i in zip(c, order, strict=True)] for order in permutations(ranking)]
    every = [sum(order, Fraction()) for order in orders]
    floor = min(every) if measure.normalise == "minmax" else Fraction()
    if measure.normalise == "ideal":  # documents may be left out
        every = [sum((max(term, Fraction()) for term in order), Fraction()) for order in orders]
    width = max(every) - floor
    if not width:
        return Fraction(), Fraction(1)
    return (sum(terms, Fraction()) - floor) / width, (size + abs(floor)) / width


@given(
    gains=st.lists(NUMBERS, min_size=3, max_size=3),
    discounts=st.lists(NUMBERS, min_size=3, max_size=3),
    ranking=st.lists(st.sampled_from([0, 1, 2]), min_size=3, max_size=3),
    form=st.sampled_from(FORMS),
)
def test_values_are_right_or_refused(
    gains: list[float], discounts: list[float], ranking: list[int], form: Normalisation | None
) -> None:
    measure = DCG(gains, discounts, normalise=form)
    expected, size = exact_value(measure, ranking)
    try:
        found = float(measure.score(ranking))
    except InputError:
        return
    least = Fraction(5e-324)  # a very small DCG is the nearest floating-point number
    assert abs(Fraction(found) - expected) <= max(size * Fraction(1e-12), least)


@given(exponent=st.integers(-300, 300), form=st.sampled_from(FORMS), seed=st.integers(0, 99))
def test_powers_of_two_change_nothing_but_the_unit(
    exponent: int, form: Normalisation | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    gains = np.sort(rng.random(3))[::-1]
    ranking = rng.integers(0, 3, 4)
    usual = DCG(gains, "log2", normalise=form)
    other = DCG(np.ldexp(gains, exponent), "log2", normalise=form)
    factor = 1.0 if form else 2.0**exponent
    assert other.score(ranking) == usual.score(ranking) * factor
    ranked = Ranked(np.array([0, 4]), np.where(ranking == 2, 3, ranking), np.array([[1, 2, 1]]))
    unjudged = (0.5, np.ldexp(0.5, exponent))
    assert score_runs(other, ranked, unjudged[1]) == score_runs(usual, ranked, unjudged[0]) * factor
    if form != "minmax":
        found, expected = (unjudged_bounds(measure, ranked) for measure in (other, usual))
        assert found.low == expected.low * factor
        assert found.high == expected.high * factor


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: DCG([1e101, 0]), "gains"),
        (lambda: DCG([1, 0], [1e200, 1]), "discounts"),
        (lambda: LinearUtility([[1, 0], [-1e101, 0]]), "weights"),
        (lambda: DCG.parse("nDCG([1e300, 0], log2)"), "gains"),
    ],
)
def test_a_measure_of_large_numbers_is_not_made(make: Callable[[], object], what: str) -> None:
    with pytest.raises(InputError, match=rf"{what} of size 1e\+\d+; use numbers below 1e100"):
        make()


def test_commands_refuse_overflow(run: Run, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d1 1023\nq 0 d2 1023\nq 0 d3 1023\n")
    (tmp_path / "run").write_text("q Q0 d1 1 2 r\nq Q0 d2 2 1 r\nq Q0 d3 3 0 r\n")
    for measure in ("exponential-log2", "nDCG(exponential-log2)"):
        found = run("evaluate", "qrels", "run", "-m", measure, cwd=tmp_path)
        assert found.returncode == 2
        assert "the gains of exponential-log2 overflow" in found.stderr
        assert found.stderr.count("\n") == 1


def test_a_tiny_cost_gives_no_nan(run: Run, tmp_path: Path) -> None:
    assert run("simulate", "p.jsonl", "-n", "100", cwd=tmp_path).returncode == 0
    for cost in ("1e-300", "1e-320"):
        found = run("fit", "p.jsonl", "--C", cost, cwd=tmp_path)
        assert "nan" not in found.stdout + found.stderr
        assert "Warning" not in found.stderr
        assert found.returncode in (0, 1)
