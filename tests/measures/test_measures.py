"""Measures and scales: formulas, ideals, names, files, presets, agreement, large numbers.

The expected numbers are those of Jarvelin & Kekalainen's and Burges' forms for the example
3, 2, 3, 0, 1, 2 of the encyclopedia article on DCG, recomputed. Independent checks enumerate
all orderings, or use scikit-learn.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import (
    DCG,
    InputError,
    Label,
    LinearUtility,
    MeasureFile,
    Scale,
    agreement,
    evaluate,
    measure_for,
    preset,
    read_measure,
    usual_presets,
    write_measure,
)
from dcglearn.measures.agreement import outcomes, score_differences
from dcglearn.measures.dcg import Normalisation
from dcglearn.measures.discounts import DISCOUNT_RULES, canonical_rule, rule_discounts
from dcglearn.measures.measure import measure_from_json, measure_to_json
from dcglearn.measures.names import parse_measure
from dcglearn.measures.presets import PRESETS

ORDERS = sorted(set(itertools.permutations([0, 0, 1, 2, 2])))
WIKI = [0, 1, 0, 3, 2, 1]  # 3,2,3,0,1,2 on the scale 3 > 2 > 1 > 0

THREE = Scale((2, 1, 0))
finite = st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 3))


@st.composite
def cases(draw: st.DrawFn) -> tuple[DCG, list[int], int]:
    """A DCG of any signs and order, a pool of documents, and how many ranks are filled."""
    L, K, N = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    gains = draw(st.lists(finite, min_size=L, max_size=L))
    discounts = draw(st.lists(finite, min_size=K, max_size=K))
    pool = draw(st.lists(st.integers(0, L - 1), min_size=N, max_size=N))
    return DCG(gains, discounts), pool, min(K, N)


def value(measure: DCG, rankings: object) -> float:
    return round(float(measure.score(rankings)), 7)


def test_penalised_grades_by_preset() -> None:
    """The printed formula 1 - 2^r would reward bad documents: 1 - 2^-2 is above 0."""
    found = preset("exponential-log2", Scale((2, 1, 0, -1, -2)), 5)
    assert found.gains == (3, 1, 0, -1, -3)
    assert value(found, [4, 0]) == round(-3 + 3 / math.log2(3), 7)
    assert 1 - 2.0**-2 > 0 > found.gains[-1]


def test_the_worked_example_by_preset() -> None:
    scale = Scale((3, 2, 1, 0))
    for name, expected in [("constant", 11), ("jk", 8.0971714), ("exponential-log2", 13.8482636)]:
        assert value(preset(name, scale, 6), WIKI) == pytest.approx(expected, abs=2e-7)
    discounts = preset("jk", scale, 6).discounts_for(6)
    assert 3 * discounts[2] == pytest.approx(1.8927893)  # printed as 1.892, truncated
    assert 1 / discounts[5] == pytest.approx(2.5849625)  # and this as 2.584


@given(case=cases())
def test_the_ideal_is_that_of_all_orderings(case: tuple[DCG, list[int], int]) -> None:
    measure, pool, filled = case
    every = [float(measure.score(list(p))) for p in itertools.permutations(pool, filled)]
    assert float(measure.ideal(pool)) == pytest.approx(max(every), abs=1e-9)


def test_an_ndcg_with_a_gain_below_0_is_that_of_runs() -> None:
    measure = DCG([2, 1, -1], "log2", normalise="ideal")
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = evaluate({"q": {"a": 2, "b": 1, "c": 0}}, run, measure).values.item()
    assert float(measure.score([0, 1, 2])) == pytest.approx(found)
    assert found == pytest.approx(1 - 0.5 / (2 + 1 / math.log2(3)))


def test_an_ideal_of_zero_and_a_value_below_it_are_refused() -> None:
    measure = DCG([0.5, -1], "constant", normalise="ideal")
    with pytest.raises(
        InputError, match="row 0: the ideal is 0: dividing by it reverses the order"
    ):
        measure.score([1, -1], [1, 1])  # both ranks empty would be worth 0
    assert float(measure.score([-1, -1], [1, 1])) == 0.0
    assert measure.score([[0, 1], [1, 0]], [[0, 0, 1], [0, 0, 1]]).tolist() == [-0.5, -0.5]
    assert float(measure.score([0])) == 1.0  # an ideal between 0 and 1
    cut = DCG([1, -1], "constant", 3, "ideal")
    assert float(cut.score([1, 0, 1], [0, 0, 1, 1])) == -0.5  # a value below 0 has a meaning


def test_cutoff_and_length() -> None:
    assert (DCG([1, 0]) @ 1).score([[0, 0], [1, 0]]).tolist() == [1.0, 0.0]
    assert float(SHORT.score([0])) == 1.0
    assert (SHORT @ 1).score([[0, 0, 0]]).tolist() == [1.0]
    assert (SHORT @ 2).score([[0, 0, 0]]).tolist() == [1.5]
    for cutoff in (0, -1, 1.5, True, "3"):
        with pytest.raises(InputError, match="cutoff"):
            DCG([1, 0], cutoff=cutoff)


SHORT, NDCG, FLAT = DCG([1, 0], [1, 0.5]), DCG([1, 0], normalise="ideal"), DCG([1, 2], "constant")
LARGE = "of size 1e+101; use numbers below 1e100"
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: NDCG.score([[0, 1], [0, 0]], [[0, 1]] * 2), "row 1: a ranking holds documents that"),
    (lambda: NDCG.score([[0, 1], [1, 0]], [[0, 1]]), "give one pool per ranking"),
    (
        lambda: DCG([1, 0]).score([0, 1], [0, 1]),
        "pools given to a plain DCG; use nDCG",
    ),
    (lambda: DCG([1, 0], normalise="max"), "unknown normalisation 'max'"),
    (lambda: SHORT.score([0, 1, 1]), "discounts for 2"),
    (lambda: SHORT @ 3, "a cutoff of 3 with 2 discounts"),
    (lambda: LinearUtility([[1, 0], [1, 0]]).score([0, 0, 0]), "weights for 2"),
    (lambda: DCG([1e101, 0]), f"gains {LARGE}"),
    (lambda: DCG([1, 0], [1e101, 1]), f"discounts {LARGE}"),
    (lambda: LinearUtility([[1, 0], [-1e101, 0]]), f"weights {LARGE}"),
    (lambda: DCG.parse("nDCG([1e101, 0], log2)"), f"gains {LARGE}"),
    (lambda: agreement(FLAT, np.zeros((0, 2, 3), int)), "no judgment"),
    (lambda: agreement(FLAT, np.zeros((1, 2, 3), int), [0]), "no judgment"),
    (lambda: agreement(FLAT, np.zeros((3, 3, 3), int)), "pairs of shape"),
    (lambda: canonical_rule("zipff"), "did you mean 'zipf'"),
    (lambda: preset("exponental-log2", THREE, 5), "did you mean 'exponential-log2'"),
    (lambda: preset("exponential-log2", Scale((5000, 0)), 5), "gains hold inf"),
    (lambda: Scale.parse("2,2"), "appears twice"),
    (lambda: Scale.parse("2,,1"), "empty grade"),
    (lambda: Scale.parse("a=1,b"), "only some grades"),
    (lambda: Scale.parse("a=x,b=1"), "not a finite number"),
    (lambda: Scale(range(128)), "128 grades"),
    (lambda: Scale.from_numbers(["good", 1]), "declare their order"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as refused:
        call()
    assert message in str(refused.value)


labels = st.one_of(st.integers(-3, 9), st.floats(0.1, 0.9), st.text("aé'\"\\{}[]:, \n", min_size=1))


@st.composite
def any_dcg(draw: st.DrawFn) -> DCG:
    number = st.floats(-1e30, 1e30, allow_nan=False)
    gains = draw(st.lists(number, min_size=1, max_size=4))
    rules = ["log2", "zipf", "constant", "jk(2.5)", "rbp(0.8)", "linear(7)"]
    vector = st.lists(number, min_size=3, max_size=5)
    grades: list[Label] | None = None
    if draw(st.booleans()):
        n = len(gains)
        grades = draw(st.lists(labels, min_size=n, max_size=n, unique_by=lambda x: str(x)))
    return DCG(
        gains,
        draw(st.one_of(st.sampled_from(rules), vector)),
        draw(st.one_of(st.none(), st.integers(1, 3))),
        draw(st.sampled_from([None, "ideal"])),
        grades,
    )


@given(measure=any_dcg())
def test_names_and_files_read_back_the_same(measure: DCG) -> None:
    assert DCG.parse(str(measure)) == measure
    assert measure_from_json(measure_to_json(measure)).measure == measure
    K = measure.n_ranks or 3
    utility = measure.utility(K) if np.isfinite(measure.matrix_for(K)).all() else None
    if utility is not None:
        assert LinearUtility.parse(str(utility)) == utility
        assert parse_measure(str(utility)).measure == utility
        assert measure_from_json(measure_to_json(utility)).measure == utility


@pytest.mark.parametrize("text", ["", "DCG", "DCG([1, 0])", "DCG([1, 0], rbp(2))"])
def test_a_text_that_is_not_a_measure_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        DCG.parse(text)


def test_rules_and_their_ranges() -> None:
    assert rule_discounts("jk(3)", 4)[:3].tolist() == [1.0, 1.0, 1.0]
    assert rule_discounts("jk(3)", 9)[8] == pytest.approx(0.5)
    assert rule_discounts("rbp(0.5)", 3).tolist() == [0.5, 0.25, 0.125]
    assert rule_discounts("linear(4)", 6).tolist() == [1, 0.75, 0.5, 0.25, 0, 0]
    assert rule_discounts("log2", 3).tolist() == pytest.approx([1, 1 / math.log2(3), 0.5])
    for wrong in ("jk", "jk(1)", "jk(0)", "rbp(0)", "rbp(1)", "rbp(x)", "zipf(2)", "lg2", "2", ""):
        with pytest.raises(InputError):
            canonical_rule(wrong)
    assert all(rule.source and rule.formula for rule in DISCOUNT_RULES.values())


def test_presets() -> None:
    scale = THREE
    assert str(preset("exponential-log2", scale, 5)) == "DCG({2: 3, 1: 1, 0: 0}, log2)"
    assert preset("binary:1", scale, 5).gains == (1, 1, 0)
    assert preset("binary", scale, 5).gains == (1, 0, 0)
    assert preset("jk:10 @ 3", scale, 5) == DCG({2: 2, 1: 1, 0: 0}, "jk(10)", 3)
    assert preset("linear-discount", scale, 5).discounts == "linear(5)"
    named = Scale.parse("perfect=3,good=1,bad=0")
    assert preset("linear-log2", named, 5).gains == (3, 1, 0)
    assert preset("rbp:0.5", named, 5).gains == (1, 1 / 3, 0)
    assert set(usual_presets(scale, 5)) >= {"zipf", "jk:2", "rbp:0.8", "binary:2"}
    assert all(found.source and found.formula for found in PRESETS.values())
    for wrong in ("zipf:2", "rbp:2", "zipf @ x", "zipf @ 0", "jk:nan", "binary:9"):
        with pytest.raises(InputError):
            preset(wrong, scale, 5)


def test_agreement_counts_ties_half_and_rounding_as_a_tie() -> None:
    thirds = DCG([0.1, 0.2, 0.3], "constant")
    pairs = np.array([[[0, 1, 2], [2, 1, 0]], [[2, 2, 2], [0, 0, 0]], [[0, 0, 0], [2, 2, 2]]])
    assert score_differences(thirds, pairs)[0] == 0.0
    assert outcomes(thirds, pairs).tolist() == [0.5, 1.0, 0.0]
    assert agreement(thirds, pairs, [2, 1, 0]) == pytest.approx(2 / 3)
    normalised = DCG([0.1, 0.2, 0.3], "constant", normalise="ideal")
    assert outcomes(normalised, pairs).tolist() == [0.5, 1.0, 0.0]


@pytest.mark.parametrize(
    "gains", [(0.1, 0.2, 0.3), (-0.1, -0.2, -0.3), (1e5 + 0.1, 2e5, 3e5 + 0.3)]
)
def test_equal_sums_that_differ_by_rounding_are_ties(gains: tuple[float, ...]) -> None:
    measure = DCG(gains, "constant")
    pairs = np.array([[a, b] for a in ORDERS for b in ORDERS])
    as_added = np.zeros(len(pairs))
    for k in range(len(ORDERS[0])):
        as_added += np.array(gains)[pairs[:, 0, k]] - np.array(gains)[pairs[:, 1, k]]
    assert (as_added != 0).any()
    assert (score_differences(measure, pairs) == 0).all()


def test_measure_files(tmp_path: Path) -> None:
    dcg, utility = DCG({2: 1, 0: 0}, [1, 0.5]), LinearUtility([[1, 0], [0.5, 0]], (2, 0))
    path = tmp_path / "m.json"
    write_measure(MeasureFile(dcg, utility, "utility", {"note": [1, {"a": None}]}), path)
    found = read_measure(path)
    assert found.measure == utility
    assert found.pick("dcg") == dcg
    assert found.about == {"note": [1, {"a": None}]}
    assert parse_measure(f"{path}:dcg").measure == dcg
    assert parse_measure(str(path)).measure == utility
    for name in (str(path), f"{path}:utility"):  # the form that the message suggests is accepted
        with pytest.raises(InputError, match=re.escape(f"write {path}:dcg")):
            measure_for(f"nDCG({name})", Scale((2, 1, 0)), 3)
    write_measure(dcg, path)
    with pytest.raises(InputError, match="holds no utility"):
        parse_measure(f"{path}:utility")


def test_a_measure_of_other_lists_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_measure(MeasureFile(DCG({2: 1, 0: 0}, [1, 0.5])), path)
    scale = Scale((2, 0))
    assert measure_for(str(path), scale, 2).name == str(path)
    for other, K, problem in [
        (Scale((2, 1, 0)), 2, "has 2 grades, but the judgments have 3"),
        (Scale((1, 0)), 2, "has the grades 2 > 0"),
        (scale, 3, "has 2 ranks, but the judgments have 3"),
    ]:
        with pytest.raises(InputError, match=problem):
            measure_for(str(path), other, K)
    assert measure_for("DCG([1, 0], [1, 0.5]) @ 1", scale, 3).measure.n_ranks == 1


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


NUMBERS = st.sampled_from([1e100, -1e100, 1e90, 1e-90, 1e-100, 1.0, 3.0, 0.1, 0.0, -2.0])
FORMS: list[Normalisation | None] = [None, "ideal"]


def exact_value(measure: DCG, ranking: list[int]) -> tuple[Fraction, Fraction]:
    """Return the value by its definition over all orderings, and the sum of absolute terms."""
    c, g = ([Fraction(x) for x in xs] for xs in (measure.discounts, measure.gains))
    terms = [c[k] * g[grade] for k, grade in enumerate(ranking)]
    size = sum(map(abs, terms), Fraction())
    if measure.normalise is None:
        return sum(terms, Fraction()), size
    orders = [
        [x * g[i] for x, i in zip(c, order, strict=True)]
        for order in itertools.permutations(ranking)
    ]
    # documents may be left out
    best = max(sum((max(term, Fraction()) for term in order), Fraction()) for order in orders)
    if not best:
        return Fraction(), Fraction(1)
    return sum(terms, Fraction()) / best, size / best


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
