"""Very large and very small numbers: a right value, by exact fractions, or an error."""

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
    Scale,
    advantage,
    agreement,
    beta_gamma_threshold,
    compare_systems,
    evaluate,
    explain,
    export,
    score_runs,
    sklearn_metric,
    smallest_change_of_discounts,
    smallest_change_of_gains,
    verdict,
)
from dcglearn.correlation.agreement import score_differences
from dcglearn.correlation.pairwise_loss import pairwise_loss
from dcglearn.evaluation.unjudged_bounds import unjudged_bounds
from dcglearn.figures.measure_figures import draw_measure
from dcglearn.figures.style import save
from dcglearn.measures.dcg import Normalisation
from dcglearn.measures.discounts import format_number
from dcglearn.measures.linear_ndcg import linear_error, linear_ndcg
from dcglearn.report.tables import Table
from dcglearn.statistics.significance import mean_of_counted, paired_intervals, paired_p_values

Run = Callable[..., "subprocess.CompletedProcess[str]"]

LARGE = (1e308, 0.0, -1e308)
TOO_LARGE = [
    DCG((1e308, 1e308, 0.0), "constant"),
    DCG((1e200, 1e200, 0.0), (1e200, 1e200, 1e200)),
    LinearUtility([[1e308, 1e308, 1.0]] * 3),
]
NUMBERS = st.sampled_from([1e308, -1e308, 1e300, 1e-320, 5e-324, 1e-300, 1.0, 3.0, 0.1, 0.0, -2.0])
FORMS: list[Normalisation | None] = [None, "ideal", "minmax"]


def exact_value(measure: DCG, ranking: list[int]) -> tuple[Fraction, Fraction]:
    """Return the value by its definition over all orderings, and the sum of absolute terms."""
    c, g = ([Fraction(x) for x in xs] for xs in (measure.discounts, measure.gains))
    terms = [c[k] * g[grade] for k, grade in enumerate(ranking)]
    size = sum(map(abs, terms), Fraction())
    if measure.normalise is None:
        return sum(terms, Fraction()), size
    every = [sum(map(lambda x, i: x * g[i], c, order)) for order in permutations(ranking)]
    floor = min(every) if measure.normalise == "minmax" else Fraction()
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


@given(exponent=st.integers(-1000, 1000), form=st.sampled_from(FORMS), seed=st.integers(0, 99))
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


@pytest.mark.parametrize("measure", TOO_LARGE, ids=lambda m: str(m)[:20])
def test_overflow_names_the_measure(measure: DCG | LinearUtility) -> None:
    with pytest.raises(InputError, match="too large for floating-point") as caught:
        measure.score([0, 1, 1])
    assert caught.value.place == str(measure)
    ranked = Ranked(np.array([0, 3]), np.array([0, 1, 1]), np.array([[2, 2, 2]]))
    with pytest.raises(InputError, match="too large for floating-point") as caught:
        score_runs(measure, ranked)
    assert caught.value.place == str(measure)


@pytest.mark.parametrize(
    "measure", [DCG((1.0, 1e-320, 0.0)), DCG((1e308, 0.0), (1e308, 1e-308)), DCG((1e308, 1e-99, 0))]
)
def test_numbers_too_far_apart_are_refused(measure: DCG) -> None:
    with pytest.raises(InputError, match="differ by too many orders of magnitude") as caught:
        measure.score([0, 1])
    assert caught.value.place == str(measure)


def test_ideals() -> None:
    with pytest.raises(InputError, match="too large"):
        DCG((1e308, 0.0), "constant").ideal([0, 0])
    with pytest.raises(InputError, match="too large"):
        LinearUtility([[1e308, 0.0]] * 2).ideal([0, 0])
    assert DCG((1e308, -1e308), "constant").ideal([0, 0, 1]) == 1e308
    assert LinearUtility([[1e308, 0.0], [1e308, 0.0], [0.0, -1e308]]).ideal([0, 0, 1]) == 1e308


def test_large_values_that_do_not_overflow() -> None:
    assert DCG((1e307, 0.0), "constant").score([0, 0]) == 2e307
    assert DCG(LARGE, "constant", 1, "minmax").score([1, 0, 2]) == 0.5
    assert DCG((1e308, 1e308, 0), "constant", normalise="ideal").score([0, 1, 1]) == 1
    assert DCG((1e-320, 0.0), "constant", normalise="ideal").score([1, 0]) == 1


def test_agreement_and_explain_of_extreme_gains() -> None:
    large = DCG(LARGE, "constant")
    pairs = [[[0, 0], [2, 2]], [[0, 2], [1, 1]], [[2, 2], [0, 0]]]
    assert agreement(large, pairs) == 0.5
    with pytest.raises(InputError, match="too large"):
        score_differences(large, pairs)
    found = explain(DCG((1e-320, 0), "zipf"), DCG((1e308, 0), "zipf"), [0, 1], [1, 0])
    assert found.winners == ("a", "a")
    assert found.contributions.tolist() == [[2 / 3, -1 / 3]] * 2
    assert found.differences[1] == 5e307
    with pytest.raises(InputError, match="too large"):
        explain(large, large, [0, 0], [2, 2])


@pytest.mark.parametrize("exponent", [-1060, -500, 500, 1021])
def test_coherence_of_extreme_gains(exponent: int) -> None:
    D, usual = advantage([1, 2], [2, 0], 3), np.array([3.0, 2.0, 0.5])
    gains, factor = np.ldexp(usual, exponent), 2.0**exponent
    found = verdict(D, gains=gains)
    assert found.winner == verdict(D, gains=usual).winner == "depends"
    differences = [x * factor for x in verdict(D, gains=usual).differences]
    assert list(found.differences) == differences
    for witness, difference in zip(found.witnesses, differences, strict=True):
        ahead = explain(witness, witness, [1, 2], [2, 0])
        assert ahead.differences[0] == difference
    one, other = (smallest_change_of_gains(D, g, [1.5, 0.5]) for g in (gains, usual))
    assert one is not None
    assert other is not None
    assert one.distance == other.distance * factor
    assert one.tie == tuple(x * factor for x in other.tie)
    assert one.beyond is not None
    assert verdict(D, one.beyond.gains, [1.5, 0.5]).winner == "b"
    one, other = (smallest_change_of_discounts(D, g, [1.5, 0.5]) for g in (gains, usual))
    assert one is not None
    assert other is not None
    assert one.tie == other.tie
    assert one.difference == other.difference * factor
    with pytest.raises(InputError, match=r"above 2\^53"):
        verdict([[1e300, 1.0]])


def test_linear_measures_of_extreme_gains() -> None:
    rows = [0, 2, 1]
    assert linear_ndcg(rows, [1e308, 9e307, 0]) == linear_ndcg(rows, [1, 0.9, 0])
    assert linear_error(rows, [2.0**1023, 2.0**1022, 0]) == 2.0**1022
    with pytest.raises(InputError, match="pair-wise loss"):
        pairwise_loss(rows, [1, 2, 3], gains=[1e308, 0, -1e308])


def test_means_and_tests_of_extreme_differences() -> None:
    rng = np.random.default_rng
    usual = rng(0).normal(0.3, 1.0, (2, 12))
    for exponent in (-1000, 1020):
        rows = np.ldexp(usual, exponent)
        for test in ("t", "randomisation"):
            found = paired_p_values(rows, rng(0), test, 99)  # type: ignore[arg-type]  # a Literal
            assert found.tolist() == paired_p_values(usual, rng(0), test, 99).tolist()  # type: ignore[arg-type]  # a Literal
        expected = np.ldexp(paired_intervals(usual, rng(0), 99), exponent)
        assert paired_intervals(rows, rng(0), 99).tolist() == expected.tolist()
    assert mean_of_counted(np.array([1e308, 1e308, np.nan])) == 1e308


def test_a_difference_of_systems_that_overflows_names_the_measure() -> None:
    qrels = {q: {"d1": 1, "d2": 0} for q in "ab"}
    runs = {
        name: {q: {document: 1.0} for q in qrels}
        for name, document in zip("12", ("d1", "d2"), strict=True)
    }
    measure = DCG({1: 1e308, 0: -1e308})
    evaluation = evaluate(qrels, runs, {"large": measure})
    assert evaluation.means()[:, 0].tolist() == [1e308, -1e308]
    with pytest.raises(InputError, match="too large") as caught:
        compare_systems(evaluation, "1", np.random.default_rng(0))
    assert caught.value.place == "large"


def test_thresholds_of_extreme_utilities() -> None:
    scores, utilities = [0.9, 0.8, 0.5, 0.3], np.array([3.0, 3.0, -2.0, -4.0])
    usual = beta_gamma_threshold(scores, utilities)
    for exponent in (-1060, 1020):
        found = beta_gamma_threshold(scores, np.ldexp(utilities, exponent))
        assert found.theta == usual.theta
        assert (found.curve.utilities == np.ldexp(usual.curve.utilities, exponent)).all()
    with pytest.raises(InputError, match="utilities"):
        beta_gamma_threshold(scores, utilities * 4e307)


def test_commands_refuse_overflow(run: Run, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d1 1023\nq 0 d2 1023\nq 0 d3 1023\n")
    (tmp_path / "run").write_text("q Q0 d1 1 2 r\nq Q0 d2 2 1 r\nq Q0 d3 3 0 r\n")
    found = run("evaluate", "qrels", "run", "-m", "exponential-log2", cwd=tmp_path)
    assert found.returncode == 2
    assert "too large for floating-point numbers; use smaller gains" in found.stderr
    assert found.stderr.count("\n") == 1
    found = run("evaluate", "qrels", "run", "-m", "nDCG(exponential-log2)", cwd=tmp_path)
    assert found.returncode == 0
    assert "1.0000" in found.stdout


def test_a_tiny_cost_gives_no_nan(run: Run, tmp_path: Path) -> None:
    assert run("simulate", "p.jsonl", "-n", "100", cwd=tmp_path).returncode == 0
    for cost in ("1e-300", "1e-320"):
        found = run("fit", "p.jsonl", "--C", cost, cwd=tmp_path)
        assert "nan" not in found.stdout + found.stderr
        assert "Warning" not in found.stderr
        assert found.returncode in (0, 1)


@pytest.mark.parametrize("size", [1e308, 1e-320])
def test_pictures_of_extreme_measures(size: float, tmp_path: Path) -> None:
    scale = Scale((2, 1, 0))
    presets = {"other": DCG((size, 0.0, -size), (size, 0.0))}
    utility = LinearUtility([[size, 0.0, -size], [0.0, 0.0, 0.0]])
    figure = draw_measure(DCG((size, 0.0, -size), (size, 0.0)), utility, presets, scale, "extreme")
    save(figure, tmp_path / "figure.png")
    drawn = figure.axes[0].get_lines()[-1]
    assert np.asarray(drawn.get_ydata()).tolist() == [1.0, 0.0, -1.0]
    assert drawn.get_label() == f"this measure, divided by {size:g}"


def test_tables_show_extreme_numbers_as_powers() -> None:
    rows = [("a", 1e308), ("b", -1.25e-300), ("c", 0.5), ("d", 0.0)]
    shown = [line.split()[1] for line in Table(("name", "number"), rows).text().splitlines()[1:]]
    assert shown == ["1e+308", "-1.25e-300", "0.5000", "0.0000"]
    assert [float(row.split(",")[1]) for row in Table(("n", "x"), rows).csv().split("\n")[1:]] == [
        number for _, number in rows
    ]


@pytest.mark.parametrize("gain", [1e308, 1e-320])
@pytest.mark.parametrize("tool", ["lightgbm", "xgboost", "torch", "tf-ranking"])
def test_tools_whose_sums_would_overflow_are_refused(tool: str, gain: float) -> None:
    with pytest.raises(InputError, match="computes with numbers from") as caught:
        export(DCG({1: gain, 0: 0}, "log2", normalise="ideal"), tool)
    assert caught.value.problem.endswith(f"a gain is {format_number(gain)}")


def test_scikit_learn_is_given_the_measure_itself_if_its_sums_would_overflow() -> None:
    found = export(DCG({1: 1e308, 0: 0}, "log2", normalise="ideal"), "scikit-learn")
    assert "sklearn_metric" in found.text
    metric = sklearn_metric(DCG({1: 1e308, 0: 0}, "log2", normalise="ideal"))
    assert metric([[1, 1, 1, 0]], [[3.0, 2.0, 1.0, 0.0]]) == 1
