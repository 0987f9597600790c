"""P, AP, RR and their like, checked on ir_measures, and ERR and RBP, next to DCG."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

from dcglearn import (
    DCG,
    ERR,
    RBP,
    InputError,
    Ranked,
    Rules,
    Scale,
    compare_orderings,
    compare_systems,
    evaluate,
    score_runs,
    system_conclusions,
    write_measure,
)
from dcglearn.measures.grammar import parse_other_name
from dcglearn.measures.other_measures import relevance_levels
from dcglearn.systems.scoring import mean_products
from helpers.exported import drawn_run
from helpers.places import DATA

Dicts = dict[str, dict[str, Any]]

TREC = DATA / "trec"
ASKED = ["AP", "AP@10", "AP(rel=2)", "P@10", "P(rel=2)@5", "RR", "RR(rel=2)", "R@10", "R@1000"]
ASKED += ["Rprec", "Rprec(rel=2)", "Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)", "Success@1"]
ASKED += ["IPrec@0.1", "SetP", "SetP(relative=True)", "SetR", "SetF", "SetF(beta=0.5)", "SetAP"]
ASKED += ["AP(judged_only=True)", "P(judged_only=True)@10"]


def orders_of(tied: np.ndarray) -> list[tuple[int, ...]]:
    """The orders of documents that keep those of different scores where they are."""
    every = permutations(range(len(tied)))
    return [order for order in every if all(tied[a] <= tied[b] for a, b in pairwise(order))]


def theirs(qrels: Dicts, run: Dicts, measure: Any) -> dict[str, float]:
    asked = ir_measures.parse_measure(measure) if isinstance(measure, str) else measure
    return {one.query_id: one.value for one in ir_measures.iter_calc([asked], qrels, run)}


def ours(
    qrels: Any, run: Any, measures: Any, rules: Any = "ir_measures"
) -> dict[str, dict[str, float]]:
    found = evaluate(qrels, {"run": run}, measures, rules=rules)
    return {
        one.name: dict(zip(found.queries, found.values[0, m].tolist(), strict=True))
        for m, one in enumerate(found.measures)
    }


# Measures of relevant documents


@pytest.mark.parametrize("seed", range(2))
def test_values_are_those_of_ir_measures_to_the_last_digit(seed: int) -> None:
    qrels, run = drawn_run(seed)
    found = ours(qrels, run, ["nDCG@10", *ASKED])
    for measure in ASKED:
        assert found[measure] == theirs(qrels, run, measure), measure
    assert len({tuple(one.values()) for one in found.values()}) > len(ASKED) - 3


def test_a_reciprocal_rank_with_a_cutoff_is_that_of_ms_marco_without_ties() -> None:
    """With ties, its script has the smallest id first, and all other measures the largest."""
    qrels, run = drawn_run(3)
    run = {q: {d: i / 7 for i, d in enumerate(one)} for q, one in run.items()}
    for measure in ("RR@1", "RR@10", "RR(rel=2)@10"):
        assert ours(qrels, run, measure)[measure] == theirs(qrels, run, measure)


def test_values_of_tied_documents_are_the_mean_over_their_orders() -> None:
    """The values of ir_measures for every order, one after the other."""
    asked = [
        *("AP", "AP@3", "P@3", "RR", "R@3", "Rprec", "Success@2"),
        *("SetP", "SetR", "SetF", "SetAP", "AP(rel=2)"),
    ]
    rng = np.random.default_rng(0)
    for _ in range(20):
        documents = [f"d{i}" for i in range(5)]
        qrels = {"q": {d: int(rng.integers(0, 3)) for d in [*documents[1:], "more"]}}
        tied = np.sort(rng.integers(0, 3, 5))
        run = {"q": {d: -float(t) for d, t in zip(documents, tied, strict=True)}}
        found = ours(qrels, run, asked, Rules(ties="mean", unjudged="nothing"))
        for measure in asked:
            each = [
                theirs(qrels, {"q": {documents[d]: -i for i, d in enumerate(order)}}, measure)["q"]
                for order in orders_of(tied)
            ]
            assert found[measure]["q"] == pytest.approx(np.mean(each), abs=1e-14), measure
    for measure in ("IPrec@0.1", "Bpref", "infAP"):
        with pytest.raises(InputError, match=r'no formula for the mean .*`ties="docid"`'):
            ours(qrels, run, measure, Rules(ties="mean"))


def collections() -> list[tuple[Path, Path]]:
    robust = TREC / "robust03"
    found = [(robust / "qrels.gz", one) for one in sorted(robust.glob("input.*"))]
    found = found[::9]
    found.append((TREC / "trec_eval" / "qrels.rel_level", TREC / "trec_eval" / "results.test"))
    return found


@pytest.mark.skipif(not TREC.is_dir(), reason="needs the runs of TREC")
def test_values_on_real_runs_are_those_of_ir_measures() -> None:
    for qrels_path, run_path in collections():
        qrels: Dicts = {}
        for one in ir_measures.read_trec_qrels(str(qrels_path)):
            qrels.setdefault(one.query_id, {})[one.doc_id] = one.relevance
        run: Dicts = {}
        for doc in ir_measures.read_trec_run(str(run_path)):
            run.setdefault(doc.query_id, {})[doc.doc_id] = doc.score
        asked = [ir_measures.parse_measure(one) for one in ASKED]
        expected: dict[str, dict[str, float]] = {}
        for metric in ir_measures.iter_calc(asked, qrels, run):
            expected.setdefault(str(metric.measure), {})[metric.query_id] = metric.value
        found = ours(str(qrels_path), str(run_path), asked)
        assert found == expected, run_path.name


def _is_other(name: str) -> bool:
    try:
        return parse_other_name(name) is not None
    except InputError:  # it is not computed here
        return False


@pytest.mark.skipif(not TREC.is_dir(), reason="needs the files of trec_eval")
def test_values_are_those_of_trec_evals_golden_files() -> None:
    """Every line of its output, under the names that it prints.

    Without iprec_at_recall: the trec_eval in pytrec_eval rounds a recall to another number of
    documents than the one that wrote the file.
    """
    golden: dict[str, dict[str, float]] = {}
    for line in (TREC / "trec_eval" / "out.test.aq").read_text().splitlines():
        name, query, value = line.split()
        if _is_other(name) and query != "all" and "iprec" not in name:
            golden.setdefault(name, {})[query] = float(value)
    assert len(golden) == 40
    files = (str(TREC / "trec_eval" / one) for one in ("qrels.test", "results.test"))
    found = ours(*files, [*golden], "trec_eval")
    for name, values in golden.items():
        kept = {q: value for q, value in found[name].items() if not math.isnan(value)}
        assert {q: float(f"{value:.4f}") for q, value in kept.items()} == values, name


def test_removed_documents_are_those_that_judged_only_leaves_out() -> None:
    qrels, run = drawn_run(4, (0, 1, 2))  # ir_measures leaves out grades below 0 as well
    found = ours(qrels, run, ["AP", "P@10", "RR"], Rules("docid", unjudged="removed", single=True))
    for measure in ("AP", "P@10", "RR"):
        head, at, cutoff = measure.partition("@")
        expected = theirs(qrels, run, f"{head}(judged_only=True){at}{cutoff}")
        assert found[measure] == expected


def test_queries_that_the_rules_leave_out() -> None:
    qrels, run = drawn_run(5)
    found = ours(qrels, run, ["AP", "ERR@20"], Rules(worthless=None, missing=None))
    for values in found.values():
        assert {q for q, value in values.items() if math.isnan(value)} == {"3", "7"}
    found = ours(qrels, run, ["AP", "P@5"], Rules(worthless=1.0, missing=0.25))
    assert found["AP"]["3"] == found["P@5"]["3"] == 0.0
    assert found["AP"]["7"] == found["P@5"]["7"] == 0.25


def test_grades_that_are_names_or_fractions() -> None:
    qrels, run = drawn_run(6, (0, 1, 2))
    expected = theirs(qrels, run, "AP"), theirs(qrels, run, "RR(rel=2)")
    halves = {q: {d: g / 2 for d, g in one.items()} for q, one in qrels.items()}
    found = ours(halves, run, ["AP(rel=0.5)", "AP(rel=0.3)", "RR(rel=1)"])
    assert [*found.values()] == [expected[0], expected[0], expected[1]]
    assert relevance_levels("good", Scale(("very good", "good", "bad"))) == ("good", (1, 1, 0))
    with pytest.raises(InputError, match=r"do not say which are relevant.*rel=0.5"):
        relevance_levels(None, Scale((0.5, 0)))
    with pytest.raises(InputError, match=r"do not say which are relevant.*such as rel=good"):
        relevance_levels(None, Scale(("good", "bad")))
    with pytest.raises(InputError, match=r"'god' is off the scale.*did you mean 'good'"):
        relevance_levels("god", Scale(("good", "bad")))


def test_objects_of_ir_measures() -> None:
    qrels, run = drawn_run(8)
    asked = [ir_measures.AP(rel=2) @ 10, ir_measures.RR, ir_measures.nDCG @ 10]
    found = ours(qrels, run, asked, "ir_measures")
    for one in asked:
        assert found[str(one)] == pytest.approx(theirs(qrels, run, one), abs=1e-12)
    assert ours(qrels, run, {"mine": ir_measures.P @ 5}) == {"mine": theirs(qrels, run, "P@5")}
    assert evaluate(qrels, run, ir_measures.AP).measures[0].name == "AP"
    with pytest.raises(InputError, match="NumRet: is not a measure here; trec_eval has it"):
        evaluate(qrels, run, ir_measures.NumRet)


# ERR


def err_of(R: list[Fraction], cutoff: int | None) -> Fraction:
    reached, value = Fraction(1), Fraction(0)
    for rank, one in enumerate(R[:cutoff], start=1):
        value += reached * one / rank
        reached *= 1 - one
    return value


@pytest.mark.parametrize("cutoff", [None, 1, 3])
def test_err_of_tied_documents_is_the_mean_over_their_orders(cutoff: int | None) -> None:
    rng = np.random.default_rng(0)
    R = [Fraction(9, 10), Fraction(3, 10), Fraction(0), Fraction(1, 4)]  # the last: not judged
    for _ in range(30):
        grades, tied = rng.integers(0, 4, 5), np.sort(rng.integers(0, 3, 5))
        tied = np.unique(tied, return_inverse=True)[1]
        orders = orders_of(tied)
        expected = sum(err_of([R[grades[i]] for i in order], cutoff) for order in orders)
        ranked = Ranked(np.array([0, 5]), grades, np.array([[5, 5, 5]]), tied)
        (found,) = score_runs(ERR([0.9, 0.3, 0], cutoff), ranked, 0.25)
        assert found == pytest.approx(float(expected / len(orders)), abs=1e-15)


def test_err_with_many_tied_documents_and_with_certain_satisfaction() -> None:
    q = np.random.default_rng(1).choice([0.1, 0.75, 1.0], 3000)
    means = mean_products(q, 20)
    assert means[1] == pytest.approx(q.mean())
    pairs = (q.sum() ** 2 - np.sum(q**2)) / (3000 * 2999)
    assert means[2] == pytest.approx(pairs, rel=1e-12)
    sure = Ranked(np.array([0, 3]), np.array([0, 0, 1]), np.array([[2, 1]]), np.array([0, 0, 0]))
    expected = (2 / 3) * 1 + (1 / 3) * (1 / 2)
    assert score_runs(ERR([1, 0]), sure)[0] == pytest.approx(expected)


def test_the_probabilities_of_err(tmp_path: Path) -> None:
    scale = Scale((2, 1, 0))
    assert ERR(max_rel=2).on_scale(scale).probabilities == (0.75, 0.25, 0.0)
    assert ERR().on_scale(Scale((1, 0, -1))).probabilities == (1 / 16, 0.0, 0.0)
    with pytest.raises(InputError, match=r"4 for the largest grade.*write ERR\(max_rel=5\)"):
        ERR().on_scale(Scale((5, 0)))
    for wrong in ([1.5, 0], [-0.1, 0], []):
        with pytest.raises(InputError, match="probabilities"):
            ERR(wrong)
    write_measure(DCG({2: 4, 1: 1, 0: 0}), tmp_path / "learned.json")
    qrels, run = drawn_run(12, (0, 1, 2))
    path = tmp_path / "learned.json"
    for text, same in (
        (f"ERR({path})@20", ERR({2: 15 / 16, 1: 15 / 64, 0: 0}) @ 20),
        (f"ERR({path}, top=0.8)@20", ERR({2: 0.8, 1: 0.2, 0: 0}) @ 20),
        ("ERR([0.9, 0.3, 0])@20", ERR([0.9, 0.3, 0], 20)),
        ("ERR({2: 0.9, 1: 0.3, 0: 0}) @ 20", ERR({2: 0.9, 1: 0.3, 0: 0}, 20)),
    ):
        named = ours(qrels, run, text)[text]
        assert [named] == [*ours(qrels, run, same).values()]
    found = evaluate(qrels, run, "ERR@20")
    assert str(found.measures[0].measure) == "ERR({2: 0.1875, 1: 0.0625, 0: 0}) @ 20"
    assert ours(qrels, run, str(found.measures[0].measure)).popitem()[1] == pytest.approx(
        ours(qrels, run, "ERR@20")["ERR@20"], nan_ok=False
    )


# RBP


def test_rbp_and_its_residual_in_exact_fractions() -> None:
    rng = np.random.default_rng(2)
    gains, p = [Fraction(1), Fraction(1, 2), Fraction(0), Fraction(0)], Fraction(4, 5)
    for cutoff in (None, 2):
        measure = RBP([1, 0.5, 0], 0.8, cutoff)
        for length in range(6):
            grades = rng.integers(0, 4, length)
            seen = grades[:cutoff].tolist()
            weights = [(1 - p) * p**i for i in range(len(seen))]
            unknown = [w for w, g in zip(weights, seen, strict=True) if g == 3]
            residual = sum(unknown, Fraction(0)) + p ** len(seen)
            known = sum((w * gains[g] for w, g in zip(weights, seen, strict=True)), Fraction(0))
            qrels = {
                "q": {f"d{i}": 2 - int(g) for i, g in enumerate(grades) if g < 3},
                "r": {"x": 2, "y": 1, "z": 0},
            }
            run = {"q": {f"d{i}": float(-i) for i in range(length)}, "r": {"x": 1.0}}
            if not qrels["q"]:
                qrels["q"] = {"other": 2}
            if not length:
                del run["q"]
            found = ours(qrels, run, measure)
            value, rest = (one["q"] for one in found.values())
            assert (value, rest) == pytest.approx((float(known), float(residual)), abs=1e-15)


def test_bounds_of_rbp_hold_the_residual_and_those_of_err_are_reached() -> None:
    qrels, run = drawn_run(13, (0, 1, 2))
    usual = ours(qrels, run, "RBP(p=0.9)")
    found = evaluate(qrels, run, ["RBP(p=0.9)", "ERR@5"], rules=Rules(unjudged="bounds"))
    assert [one.name for one in found.measures] == ["RBP(p=0.9)", "ERR@5"]
    assert found.high is not None
    value, residual = (list(one.values()) for one in usual.values())
    present = ~found.missing[0]
    np.testing.assert_allclose(found.values[0, 0][present], np.array(value)[present])
    np.testing.assert_allclose(
        (found.high - found.values)[0, 0][present], np.array(residual)[present]
    )
    cut = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RBP(p=0.5)@1", rules=found.rules)
    assert cut.high is not None
    assert cut.values.item() == cut.high.item() == 0.5  # everything that counts is judged
    one_query = {"q": {"a": 2, "b": 1, "c": 0}}
    ranking = {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}}
    bounds = evaluate(one_query, ranking, "ERR", rules=Rules(unjudged="bounds"))
    values = [
        next(iter(ours({"q": {**one_query["q"], "x": x, "y": y}}, ranking, "ERR")["ERR"].values()))
        for x, y in product((0, 1, 2), repeat=2)
    ]
    assert bounds.high is not None
    assert (bounds.values.item(), bounds.high.item()) == pytest.approx((min(values), max(values)))
    with pytest.raises(InputError, match="AP: no bounds for measures of relevant documents"):
        evaluate(qrels, run, ["zipf", "AP"], rules=Rules(unjudged="bounds"))


def test_the_gains_of_rbp(tmp_path: Path) -> None:
    write_measure(DCG({2: 4, 1: 1, 0: 0}), tmp_path / "learned.json")
    qrels, run = drawn_run(14, (0, 1, 2))
    for text, gains in (
        ("RBP", (1, 0.5, 0)),
        ("RBP(0.8)", (1, 0.5, 0)),
        ("RBP:0.8", (1, 0.5, 0)),
        ("RBP(p=0.8, rel=2)", (1, 0, 0)),
        ("RBP(rel=1)", (1, 1, 0)),
        ("rbp.80", (1, 1, 0)),
        ("RBP({2: 1, 1: 0.25, 0: 0}, p=0.8)", (1, 0.25, 0)),
        (f"RBP({tmp_path / 'learned.json'}, p=0.8)", (1, 0.25, 0)),
    ):
        found = ours(qrels, run, [text, DCG(gains, "rbp(0.8)")])
        assert [*found][1] == f"{text}, residual"
        value, _, dcg = found.values()
        assert value == pytest.approx(dcg, abs=1e-15), text
    assert ours(qrels, run, "RBP")["RBP, residual"]["7"] == 1.0  # nothing is known
    for twice in ({"x": RBP(), "x, residual": "zipf"}, [ir_measures.AP, "AP"], [ERR(), ERR()]):
        with pytest.raises(InputError, match="is named twice; name it once"):
            evaluate(qrels, run, twice)
    write_measure(DCG([1, -1]), tmp_path / "costs.json")
    with pytest.raises(InputError, match=r"the gains of DCG\(\[1, -1\]"):
        evaluate(qrels, run, f"RBP({tmp_path / 'costs.json'})")


def test_systems_are_not_compared_by_residuals() -> None:
    qrels, run = drawn_run(17)
    other = {q: {d: -score for d, score in one.items()} for q, one in run.items()}
    found = evaluate(qrels, {"a": run, "b": other}, ["AP", "RBP(p=0.8)", "ERR@20"])
    assert found.compared == (True, True, False, True)
    names = ["AP", "RBP(p=0.8)", "ERR@20"]
    rng = np.random.default_rng(0)
    assert [one.measure for one in compare_systems(found, "a", rng)] == names
    assert [one.measure for one in compare_systems(found, None, rng)] == names
    assert {one.second for one in compare_orderings(found)} == {*names[1:]}
    with pytest.raises(InputError, match="AP: is not an nDCG"):
        system_conclusions(found, 10, rng)
