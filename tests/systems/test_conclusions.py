"""Conclusions about systems: verdicts on single queries, the test beside them, --between, files."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from dcglearn import (
    DCG,
    LIKE,
    Evaluation,
    InputError,
    NamedMeasure,
    Rules,
    coherence_rules,
    evaluate,
    system_conclusions,
)
from dcglearn.statistics.tukey import tukey_test
from dcglearn.system_commands.between import named_pair
from dcglearn.system_report.coherence import conclusions_in_words, conclusions_table
from dcglearn.systems.conclusions import given_measure
from helpers.written import write_qrels, write_run

Run = Callable[..., "subprocess.CompletedProcess[str]"]
K = 4
GAINS = {3: 3.0, 2: 2.0, 1: 1.0, 0: 0.0}


def drawn_collection(rng: np.random.Generator, n_systems: int = 5) -> tuple[Any, Any]:
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(0, 4)) for d in range(9)} for q in range(12)}
    runs = {
        f"system {s}": {
            q: {f"d{d}": float(rng.random()) + s / 9 * judged.get(f"d{d}", 0) for d in range(11)}
            for q, judged in qrels.items()
            if (s, q) not in ((0, "q3"), (2, "q0"))
        }
        for s in range(n_systems)
    }
    return qrels, runs


def evaluated(qrels: Any, runs: Any, rules: Rules) -> Evaluation:
    return evaluate(qrels, runs, DCG(GAINS, "log2", K, "ideal"), rules=coherence_rules(rules))


@pytest.mark.parametrize("rules", [Rules(), LIKE["trec_eval"], Rules(unjudged="removed")])
def test_queries_by_themselves_against_all_gains_that_are_tried(
    rules: Rules, rng: np.random.Generator
) -> None:
    """No gains reverse a decided query, and some extreme ones reverse each that depends."""
    qrels, runs = drawn_collection(rng)
    evaluation = evaluated(qrels, runs, rules)
    pairs = system_conclusions(evaluation, K, rng).pairs
    extreme = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    drawn = np.sort(rng.random((80, 3)))[:, ::-1].tolist()
    signs: dict[tuple[str, str, str], set[int]] = {}
    for gains in extreme + drawn:
        measure = DCG(dict(zip(GAINS, [*gains, 0], strict=True)), "log2", K)
        values = evaluate(qrels, runs, measure, rules=evaluation.rules).values[:, 0]
        for i, j in combinations(range(len(runs)), 2):
            names = evaluation.systems[i], evaluation.systems[j]
            difference = np.round(values[i] - values[j], 12)
            for query, one in zip(evaluation.queries, difference, strict=True):
                signs.setdefault((*names, query), set()).add(0 if np.isnan(one) else np.sign(one))
    seen = set()
    for one in pairs:
        for query, winner in zip(evaluation.queries, one.query_winners, strict=True):
            found = signs[one.pair.a, one.pair.b, query]
            left_out = rules.missing is None and not all(
                query in runs[name] for name in (one.pair.a, one.pair.b)
            )
            assert (winner is None) == left_out
            seen.add(winner)
            if winner is not None:
                expected = {"a": {1}, "b": {-1}, "equal": set(), "depends": {1, -1}}[winner]
                assert found - {0} == expected, (one.pair.a, one.pair.b, query)
    assert seen >= {"a", "b", "depends"}
    assert (None in seen) == (rules.missing is None)


def test_queries_by_themselves_as_trec_eval_scores_them(rng: np.random.Generator) -> None:
    qrels, runs = drawn_collection(rng)
    conclusions = system_conclusions(evaluated(qrels, runs, LIKE["trec_eval"]), K, rng)
    decided = 0
    for gains in np.sort(rng.random((40, 3)))[:, ::-1]:
        levels = dict(zip(GAINS, [*(round(1e5 * gain) for gain in gains), 0], strict=True))
        graded = {q: {d: levels[g] for d, g in judged.items()} for q, judged in qrels.items()}
        evaluator = pytrec_eval.RelevanceEvaluator(graded, {f"ndcg_cut.{K}"})
        theirs = {name: evaluator.evaluate(run) for name, run in runs.items()}
        for one in conclusions.pairs:
            for query, winner in zip(conclusions.queries, one.query_winners, strict=True):
                if winner in ("a", "b"):
                    decided += 1
                    a, b = (theirs[s][query][f"ndcg_cut_{K}"] for s in (one.pair.a, one.pair.b))
                    assert (a - b) * (1 if winner == "a" else -1) > -1e-12
    assert decided > 1000


def test_the_test_is_tukeys_and_its_direction_is_that_of_the_verdict(
    rng: np.random.Generator,
) -> None:
    qrels, runs = drawn_collection(rng)
    evaluation = evaluated(qrels, runs, Rules())
    found = system_conclusions(evaluation, K, np.random.default_rng(4), alpha=0.2)
    expected = tukey_test(evaluation.values[:, 0][None], np.random.default_rng(4))
    assert [one.p for one in found.pairs] == expected.p[0].tolist()
    assert found.drawn == expected.drawn
    means = dict(zip(evaluation.systems, evaluation.means()[:, 0], strict=True))
    for one in found.pairs:
        assert one.difference == pytest.approx(means[one.pair.a] - means[one.pair.b])
        assert one.significant == (one.p < 0.2)
        winner = one.pair.mean_ndcg.winner
        assert one.decided == (winner in ("a", "b"))
        if one.decided:
            assert one.leader == winner
            assert one.difference * (1 if winner == "a" else -1) > 0
            assert one.ahead == {"a": one.pair.a, "b": one.pair.b}[winner]
        agreeing = sum(x == one.leader for x in one.query_winners)
        assert one.agreeing == agreeing / len(evaluation.queries)
        assert one.n_queries() == len(evaluation.queries)
    counts = found.counts()
    assert sum(counts.values()) == len(found.pairs) == 10
    assert {significant for _, significant in counts} == {True, False}
    assert {extent for extent, _ in counts} >= {"nDCG any gains, DCG both", "depends"}


def test_an_exact_p_of_two_systems() -> None:
    """One is ahead on five of six queries: 2 (1 + 6) of the 64 signs are as far from 0."""
    qrels = {f"q{i}": {"good": 1, "bad": 0} for i in range(6)}
    best, worst = {"good": 2.0, "bad": 1.0}, {"bad": 2.0, "good": 1.0}
    runs = {
        "one": {q: worst if q == "q5" else best for q in qrels},
        "two": {q: best if q == "q5" else worst for q in qrels},
    }
    found = system_conclusions(evaluate(qrels, runs, "nDCG@2", rules=Rules("input")), 2, RNG())
    (one,) = found.pairs
    assert (one.p, found.drawn, one.significant) == (14 / 64, 0, False)
    assert (one.ahead, one.holds_for, one.agreeing) == ("one", "nDCG any gains, DCG both", 5 / 6)
    assert found.counts() == {("nDCG any gains, DCG both", False): 1}


def test_a_difference_in_favour_of_the_other_system_is_not_significant() -> None:
    """By its mean "first" is ahead; on the queries that both answer, where it is tested, behind."""
    qrels = {f"q{i:02}": {"good": 1, "bad": 0} for i in range(20)}
    runs = {
        "first": {q: {"bad": 2.0, "good": 1.0} for q in list(qrels)[:8]},
        "second": {q: {"good" if q < "q08" else "bad": 1.0} for q in qrels},
    }
    rules = Rules("input", missing=None)
    (one,) = system_conclusions(evaluate(qrels, runs, "nDCG@2", rules=rules), 2, RNG()).pairs
    assert (one.ahead, one.decided, one.p) == ("first", True, 2 / 2**8)
    assert one.difference == pytest.approx(1 / np.log2(3) - 8 / 20)
    assert one.significant is False


def RNG() -> np.random.Generator:
    return np.random.default_rng(0)


def test_pairs_by_name_and_what_is_refused(rng: np.random.Generator) -> None:
    qrels, runs = drawn_collection(rng)
    evaluation = evaluated(qrels, runs, Rules())
    every = system_conclusions(evaluation, K, RNG())
    asked = [("system 4", "system 1"), ("system 0", "system 2")]
    some = system_conclusions(evaluation, K, RNG(), between=asked)
    assert [(one.pair.a, one.pair.b) for one in some.pairs] == asked
    for one in some.pairs:
        other = every.between(one.pair.a, one.pair.b)
        turned = other.pair.a != one.pair.a
        assert (one.p, one.significant, one.ahead) == (other.p, other.significant, other.ahead)
        assert one.holds_for == other.holds_for
        assert one.difference == (-other.difference if turned else other.difference)
        low, high = other.pair.mean_ndcg.bounds
        assert one.pair.mean_ndcg.bounds == pytest.approx((-high, -low) if turned else (low, high))
        assert one.agreeing == other.agreeing
    with pytest.raises(InputError, match="were not compared; compare them with `between`"):
        some.between("system 0", "system 1")
    with pytest.raises(InputError, match="did you mean 'system 0'"):
        some.between("system 0", "sytem 0")
    for between, message in (
        ([("system 0", "sytem 1")], "unknown system 'sytem 1'; did you mean 'system 1'"),
        ([("system 0", "system 0")], "'system 0' compared with itself"),
        ([("system 0", "system 1"), ("system 1", "system 0")], "are named twice"),
        (["system 0"], "`between` holds 'system 0'"),
        ([], r"`between` is \[\]"),
    ):
        with pytest.raises(InputError, match=message):
            system_conclusions(evaluation, K, RNG(), between=between)  # type: ignore[arg-type]  # what is no pair is refused
    for measure, message in (
        (DCG(GAINS, "log2", K), "is not an nDCG; name nDCG"),
        (DCG(GAINS, "log2", normalise="ideal"), "has all ranks, and 4 are compared; raise `n_r"),
        (DCG(GAINS, "log2", K + 1, "ideal"), "has 5 ranks, and 4 are compared"),
    ):
        with pytest.raises(InputError, match=message):
            given_measure(NamedMeasure("m", measure), K)
    with pytest.raises(InputError, match="unknown winner 'c'"):
        some.pairs[0].n_queries("c")


def test_equal_systems_and_one_query() -> None:
    qrels = {"q": {"good": 2, "fair": 1, "bad": 0}}
    run = {"q": {"good": 2.0, "bad": 1.0}}
    rules = Rules("input")
    found = system_conclusions(
        evaluate(qrels, {"one": run, "two": run}, "nDCG@2", rules=rules), 2, RNG()
    )
    (one,) = found.pairs
    assert not found.tested
    assert (one.holds_for, one.ahead, one.significant) == ("equal", None, None)
    assert np.isnan(one.agreeing)
    assert np.isnan(one.p)
    assert found.counts() == {("equal", None): 1}
    assert replace(one, difference=1e-17).leader is None, "rounding puts no system ahead"


def test_frame_and_json_hold_the_same(rng: np.random.Generator) -> None:
    qrels, runs = drawn_collection(rng)
    found = system_conclusions(evaluated(qrels, runs, Rules()), K, RNG())
    frame = found.to_frame()
    assert not {"mean_ndcg_least", "mean_ndcg_most"} & {*frame}  # where a search happened to end
    assert len(frame) == len(found.pairs) == 10
    for row, pair in zip(frame.to_dict("records"), found.pairs, strict=True):
        one = pair.to_json()
        assert one.items() >= {k: v for k, v in row.items() if v == v}.items()
        assert row["mean_ndcg_any_gains"] == pair.pair.mean_ndcg.winner
        counts = [row[f"queries_{kind}"] for kind in ("a", "b", "depend", "equal")]
        assert sum(counts) == row["queries"] == 12
        if row["mean_ndcg_any_gains"] == "depends":
            assert [*one["witnesses"]["mean_ndcg_any_gains"]] == ["a", "b"]


def test_what_is_not_settled_is_explained(rng: np.random.Generator) -> None:
    found = system_conclusions(evaluated(*drawn_collection(rng), Rules()), K, rng)
    first, *others = found.pairs
    verdict = replace(first.pair.mean_ndcg, winner="undecided")
    open_pair = replace(first, pair=replace(first.pair, mean_ndcg=verdict))
    unsettled = replace(found, pairs=(open_pair, *others))
    assert not any(line.startswith("not settled:") for line in conclusions_in_words(found))
    assert any(line.startswith("not settled:") for line in conclusions_in_words(unsettled))


def test_rules_of_coherence_by_the_name_of_a_tool() -> None:
    assert coherence_rules("trec_eval") == coherence_rules(LIKE["trec_eval"])
    assert coherence_rules("sklearn") == replace(LIKE["sklearn"], ties="input")
    with pytest.raises(InputError, match="unknown tool 'treceval'; did you mean 'trec_eval'"):
        coherence_rules("treceval")


def test_names_that_hold_commas() -> None:
    assert named_pair("a, b", ["a", "b"]) == ("a", "b")
    assert named_pair("x,y,z", ["x", "y,z"]) == ("x", "y,z")
    assert named_pair('"x,y",z', ["x,y", "z", "x", "y,z"]) == ("x,y", "z")
    for text, message in (
        ("x,y,z", "'x,y,z' may mean 'x' and 'y,z' or 'x,y' and 'z'; write names with commas in"),
        ("x", "'x' is not a pair of systems; write A,B. Known: x, x,y, y,z, z"),
        ("x,w", "unknown system 'w'"),
        ("x,y,w", "unknown pair of systems 'x,y,w'"),
        ('"x,w', "unknown system '\"x'"),
        ("x\nz,x", r"unknown system 'x\\nz'"),
        ("\r\n", r"'\\r\\n' is not a pair of systems"),
    ):
        with pytest.raises(InputError, match=message):
            named_pair(text, ["x", "y,z", "x,y", "z"])


@pytest.fixture
def files(tmp_path: Path, rng: np.random.Generator) -> list[str]:
    qrels, runs = drawn_collection(rng)
    write_qrels(tmp_path / "qrels.txt", qrels)
    names = dict(zip(runs, ("a", "b,c", "d_1", "e&f", "g"), strict=True))
    for system, run in runs.items():
        write_run(tmp_path / f"{names[system]}.run", run, names[system])
    return ["qrels.txt", *(f"{name}.run" for name in names.values())]


def test_the_command_writes_every_pair(files: list[str], run: Run, tmp_path: Path) -> None:
    outputs = [f"pairs{suffix}" for suffix in (".csv", ".tex", ".md", ".txt", ".json", ".svg")]
    options = [text for name in outputs for text in ("-o", name)]
    found = run("coherence", *files, "--K", K, *options)
    assert found.returncode == 0, found.stderr
    assert found.stdout.rstrip().endswith("wrote pairs.svg")
    assert "concluded about 10 pairs of systems: where the order holds, and whether" in found.stdout
    assert "corrected for all 10 pairs of 5 systems; *, significant: below 0.05" in found.stdout
    with (tmp_path / "pairs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    content = json.loads(run("coherence", *files, "--K", K, "--json").stdout)
    assert content["tested"]["measure"] == "nDCG(linear-log2) @ 4"
    assert json.loads((tmp_path / "pairs.json").read_text()) == content
    for row, one in zip(rows, content["pairs"], strict=True):
        assert (row["a"], row["b"], row["ahead"]) == (one["a"], one["b"], one["ahead"] or "")
        assert float(row["p"]) == one["p"]
        assert row["significant"] == str(one["significant"]).lower()
        assert float(row["difference"]) == one["difference"]
    printed = run("coherence", *files, "--K", K, "--format", "csv").stdout
    assert printed == (tmp_path / "pairs.csv").read_text()
    latex = (tmp_path / "pairs.tex").read_text()
    assert latex == run("coherence", *files, "--K", K, "--format", "latex").stdout
    assert latex.count(r"\begin{tabular}") == 1
    assert r"e\&f" in latex
    ahead = [line.split(" & ")[0] for line in latex.splitlines() if line.count(" & ") == 5][1:]
    assert ahead == [
        (row["ahead"] or row["a"]).replace("&", r"\&").replace("_", r"\_") for row in rows
    ]
    proved = (
        "mean nDCG with any gains at log2 discounts; DCG both: also by mean DCG with any gains and"
    )
    assert proved in found.stdout
    assert latex.count(proved) == 1
    assert proved in (tmp_path / "pairs.md").read_text()
    assert "% p: Tukey's HSD test with randomisation" in latex
    listed = (tmp_path / "pairs.md").read_text().split("| :-- |\n")[1].splitlines()[:10]
    leaders = [line.split(" | ")[0].removeprefix("| ") for line in listed]
    assert leaders == [row["ahead"] or row["a"] for row in rows]
    n_depending = sum(row["holds_for"] == "depends" for row in rows)
    assert "depends on the gains" in (tmp_path / "pairs.txt").read_text()
    assert n_depending == sum(
        one["pairs"] for one in content["counts"] if one["holds_for"] == "depends"
    )


def test_many_systems_in_latex_break_over_pages(rng: np.random.Generator) -> None:
    qrels, runs = drawn_collection(rng, 11)
    every = system_conclusions(evaluated(qrels, runs, Rules()), K, RNG(), resamples=99)
    latex = conclusions_table(every).latex()
    assert len(every.pairs) == 55
    assert latex.count(r"\begin{longtable}") == latex.count(r"\endhead") == 1
    assert r"\begin{table}" not in latex


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_fits_the_width_of_an_article(files: list[str], run: Run, tmp_path: Path) -> None:
    assert run("coherence", *files, "--K", K, "-o", "pairs.tex").returncode == 0
    package = "\\documentclass{article}\\usepackage{longtable}"
    paper = f"{package}\n\\begin{{document}}\n\\input{{pairs.tex}}\n\\end{{document}}\n"
    (tmp_path / "paper.tex").write_text(paper)
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert b"Overfull" not in done.stdout


def test_the_command_between_two_systems(files: list[str], run: Run, tmp_path: Path) -> None:
    found = run("coherence", *files, "--K", K, "--between", "b,c,a", "--between", "g,d_1")
    assert found.returncode == 0, found.stderr
    assert "\nWhat may be concluded about 2 pairs of systems" in found.stdout
    assert "\nb,c and a: the queries that differ most\n" in found.stdout
    assert "corrected for all 10 pairs of 5 systems" in found.stdout
    listed = run("coherence", *files, "--K", K, "--between", "b,c,a", "--json").stdout
    every = json.loads(run("coherence", *files, "--K", K, "--json").stdout)
    (pair,) = json.loads(listed)["pairs"]
    (same,) = [one for one in every["pairs"] if {one["a"], one["b"]} == {"a", "b,c"}]
    assert pair["p"] == same["p"]
    winners = list(pair["by query"].values())
    assert len(winners) == 12
    assert winners.count("a") == same["queries_b"]
    drawn = run("coherence", *files, "--K", K, "--between", "g,a", "-o", "two.svg")
    assert drawn.returncode == 0, drawn.stderr
    assert "b,c" not in (tmp_path / "two.svg").read_text()


def test_the_grades_of_the_clearest_queries(run: Run, tmp_path: Path) -> None:
    write_qrels(tmp_path / "qrels", {q: {f"d{g}": g for g in (2, 1, 0)} for q in "xyz"})
    orders = {"one": ("d2 d1 d0", "d2 new d1", "d1 d2"), "two": ("d0 d1 d2", "d2", "d2 d1")}
    for name, documents in orders.items():
        found = {
            q: {d: 9.0 - rank for rank, d in enumerate(order.split())}
            for q, order in zip("xyz", documents, strict=True)
        }
        write_run(tmp_path / f"{name}.run", found, name)
    found = run("coherence", "qrels", "one.run", "two.run", "--between", "one,two", "--K", "3")
    table = found.stdout.partition("one and two: the queries that differ most\n")[2].split("\n\n")[
        0
    ]
    rows = [line.split() for line in table.splitlines()]
    assert rows[0][:4] == ["query", "one", "two", "difference"]
    assert [(row[0], *row[4:]) for row in rows[1:]] == [
        ("x", "one", "2", "1", "0", "0", "1", "2"),
        ("y", "one", "2", "-", "1", "2"),
        ("z", "two", "1", "2", "2", "1"),
    ]


def test_what_the_command_refuses(files: list[str], refused: Callable[..., str]) -> None:
    for options, message in (
        (("--between", "a,gg"), "--between: unknown system 'gg'; did you mean 'g'"),
        (("--between", "a"), "--between: 'a' is not a pair of systems"),
        (("--between", "a,a"), "--between holds 'a' compared with itself"),
        (("--between", "a,g", "--between", "g,a"), "'g' and 'a' are named twice"),
        (("-o", "pairs.xlsx"), "pairs.xlsx: ends in '.xlsx'"),
        (("-o", "a.csv", "--figure", "./a.csv"), "./a.csv: is to be written twice"),
        (("--json", "--format", "md"), "--json with --format md; use one of them"),
        (("-m", "minmaxDCG(zipf)"), "is not an nDCG; name nDCG(...) @ 10 first"),
    ):
        assert message in refused("coherence", *files, *options), options
