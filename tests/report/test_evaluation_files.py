"""Evaluations as files: tables for a paper, rows for data frames, lines as trec_eval's."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dcglearn import DCG, Evaluation, InputError, Rules, compare_systems, evaluate, write_evaluation
from dcglearn.base.numbers import in_ranges
from dcglearn.report.systems.evaluations import (
    EVALUATION_FORMATS,
    evaluation_in_words,
    means_table,
    paper_table,
    paths_of_systems,
    significance_marks,
    trec_eval_name,
)
from helpers.commands import Run
from helpers.places import ROOT
from helpers.typeset import typeset
from helpers.written import write_qrels, write_run

GOLDEN = ROOT.parent / "shared" / "data" / "trec" / "trec_eval"
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

QUERIES = [f"q{i}" for i in range(12)]
QRELS = {query: {"a": 2, "b": 1, "c": 0} for query in QUERIES}
RUNS = {
    "low": {q: {"c": 3.0, "b": 2.0, "a": 1.0} for q in QUERIES},
    "high": {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in QUERIES},
    "equal": {q: {"a": 3.0, "c": 2.0, "b": 1.0} for q in QUERIES},
}
FIRST = "nDCG(linear-log2) @ 1"
"""Under it "high" and "equal" are equally good."""


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return evaluate(QRELS, RUNS, ["nDCG@10", FIRST]).best_first()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_qrels(tmp_path / "qrels", QRELS)
    for name, run in RUNS.items():
        write_run(tmp_path / name, run, name)
    return tmp_path


def read_lines(path: Path) -> dict[tuple[str, str], str]:
    """Read what trec_eval prints, as another program does: three fields between blanks."""
    rows = [line.split() for line in path.read_text().splitlines()]
    found = {(name, query): value for name, query, value in rows}
    assert len(found) == len(rows)
    return found


def test_the_best_are_bold_and_what_differs_from_the_baseline_is_marked(found: Evaluation) -> None:
    """By hand: nDCG of (2, 0, 1) is 2.5 / 2.6309, of (0, 1, 2) 1.6309 / 2.6309."""
    table = paper_table(found, compare_systems(found, "low", np.random.default_rng(0)))
    assert r"\* differs significantly from low" in table.markdown()
    assert "corrected for 2 comparisons of a measure by Holm's method" in table.caption
    assert table.markdown().splitlines()[2:7] == [
        f"| system | nDCG@10 | {FIRST} | judged@10 | judged@1 |",
        "| :-- | :-- | :-- | --: | --: |",
        r"| high | **1.0000**<sup>\*</sup> | **1.0000**<sup>\*</sup> | 1.0000 | 1.0000 |",
        r"| equal | 0.9502<sup>\*</sup> | **1.0000**<sup>\*</sup> | 1.0000 | 1.0000 |",
        "| low | 0.6199 | 0.0000 | 1.0000 | 1.0000 |",
    ]
    same = compare_systems(found, "high", np.random.default_rng(0), "t")
    text = paper_table(found, same).markdown()
    assert r"| equal | 0.9502<sup>\*</sup> | **1.0000** |" in text
    assert "paired t test" in text
    rounded = paper_table(evaluate(QRELS, RUNS, "nDCG@10"), digits=0).markdown()
    assert rounded.count("| **1** |") == 3, "0.6, 1 and 0.95 are equal as shown"


def test_after_all_pairs_letters_name_the_systems_below(found: Evaluation) -> None:
    rng = np.random.default_rng(0)
    each = paper_table(found, compare_systems(found, None, rng, correct="none"))
    rows = [row.rpartition(" | 1.0000 | 1.0000 |")[0] for row in each.markdown().splitlines()[4:7]]
    assert rows == [
        "| a | high | **1.0000**<sup>b,c</sup> | **1.0000**<sup>c</sup>",
        "| b | equal | 0.9502<sup>c</sup> | **1.0000**<sup>c</sup>",
        "| c | low | 0.6199 | 0.0000",
    ]
    assert "not corrected for the number of comparisons" in each.caption
    marks, _ = significance_marks(found.systems, compare_systems(found, None, rng))
    assert marks["high", "nDCG@10"] == "c", "a stricter test than that of single pairs"
    given = evaluate(QRELS, RUNS, ["nDCG@10", FIRST])  # each pair the other way round
    reverse = compare_systems(given, None, rng, correct="none")
    marks, labels = significance_marks(found.systems, reverse)
    assert (labels, marks["high", "nDCG@10"]) == (["a", "b", "c"], "b,c")
    assert "a  high    1.0000 b,c  1.0000 c " in means_table(found, reverse).text()


def test_many_systems_have_numbers_and_ranges() -> None:
    labels = [str(n) for n in range(1, 61)]
    assert in_ranges([2, 3, 4, 5, 7, 58, 59], labels) == "3-6,8,59,60"
    assert in_ranges([11], labels) == "12"
    assert in_ranges([1, 3], "abcd") == "b,d"
    assert in_ranges([0, 1, 2, 3], "abcd") == "a-d"
    assert significance_marks(["x"], []) == ({}, [])


def test_what_is_missing_or_left_out_is_said() -> None:
    runs = {"short": {q: RUNS["high"][q] for q in QUERIES[:9]}, "low": RUNS["low"]}
    table = paper_table(evaluate(QRELS, runs, FIRST))
    assert (table.columns[-1], [row[-1] for row in table.rows]) == ("missing", [3, 0])
    left_out = paper_table(evaluate(QRELS, runs, FIRST, rules=Rules(missing=None)))
    assert left_out.caption.startswith("Means over 9 to 12 of 12 queries")
    worthless = {q: dict.fromkeys(docs, 0) for q, docs in QRELS.items()}
    rules = Rules(worthless=None, missing=None)
    found = evaluate(worthless | {"q0": {"a": 1}}, {"x": {"q1": {"a": 1.0}}}, FIRST, rules=rules)
    assert means_table(found).shown()[0][1] == "-"


def test_a_table_of_63_systems_breaks_over_pages(tmp_path: Path) -> None:
    runs = {f"run {n}": RUNS[["low", "high"][n % 2]] for n in range(63)}
    (path,) = write_evaluation(evaluate(QRELS, runs, FIRST), tmp_path / "x.tex")
    latex = path.read_text()
    assert latex.count(r"\begin{longtable}") == latex.count(r"\endhead") == 1
    assert r"\begin{table}" not in latex
    assert r"\begin{table}" in paper_table(evaluate(QRELS, RUNS, FIRST)).latex()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles_whatever_the_names(tmp_path: Path) -> None:
    """As a paper has it, without packages."""
    names = [r"\input{x}", "50% & more", "a_b^c~#$", "[first]", "*", "<-->", "{", "ok"]
    runs = dict(zip(names, [*RUNS.values()] * 3, strict=False))
    measures = {"nDCG@10": "nDCG@10", "x_1 & [y]%": FIRST, "*": "nDCG(exponential-log2) @ 10"}
    found, rng = evaluate(QRELS, runs, measures).best_first(), np.random.default_rng(0)
    each = ([], compare_systems(found, "ok", rng), compare_systems(found, None, rng))
    for one in each:
        assert "Warning" not in typeset(paper_table(found, one).latex(), tmp_path)


def test_csv_holds_numbers_in_full(found: Evaluation, tmp_path: Path) -> None:
    (path,) = write_evaluation(found, tmp_path / "means.csv")
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["system"] for row in rows] == list(found.systems)
    for m, one in enumerate(found.measures):
        assert [float(row[one.name]) for row in rows] == found.means()[:, m].tolist()
    write_evaluation(found, path, per_query=True)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [float(row["nDCG@10"]) for row in rows] == found.values[:, 0].ravel().tolist()


@pytest.fixture
def with_gaps() -> Evaluation:
    short = {q: RUNS["high"][q] for q in QUERIES[:9]}
    runs = {"sh\xf6rt, 'x'": short, **RUNS}
    return evaluate(QRELS, runs, ["nDCG@10", FIRST, "zipf"], rules=Rules(missing=None))


def test_parquet_holds_the_frame_and_what_it_depends_on(
    with_gaps: Evaluation, tmp_path: Path
) -> None:
    pl = pytest.importorskip("polars", reason="the extra dev is not installed")
    bounds = evaluate(QRELS, RUNS, FIRST, rules=Rules(unjudged="bounds"))
    for found in (with_gaps, bounds):
        (path,) = write_evaluation(found, tmp_path / "values.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(path), found.to_frame())
        said = pd.read_parquet(path).attrs
        assert said["measures"] == {one.name: str(one.measure) for one in found.measures}
    assert said["rules"]["unjudged"] == "bounds"
    (path,) = write_evaluation(with_gaps, tmp_path / "values.parquet")
    values = pl.read_parquet(path)["value"]
    assert values.is_nan().sum() == 0
    assert values.null_count() == np.isnan(with_gaps.values).sum() == 9


def test_names_of_measures_in_trec_eval() -> None:
    for ours, theirs in (
        ("nDCG@10", "ndcg_cut_10"),
        ("nDCG(linear-log2)", "ndcg"),
        ("ndcg_burges@10", "ndcg_burges@10"),
        ("nDCG({2: 3, 1: 1}, log2) @ 10", "nDCG({2:3,1:1},log2)@10"),
        ("AP", "map"),
        ("R@100", "recall_100"),
    ):
        assert trec_eval_name(ours) == theirs


def test_the_very_lines_of_trec_eval(run: Run, tmp_path: Path) -> None:
    if not GOLDEN.is_dir():
        pytest.skip("trec_eval's test files are not next to this project")
    measures = [part for k in CUTOFFS for part in ("-m", f"ndcg_cut.{k}")]
    given = ("evaluate", GOLDEN / "qrels.test", GOLDEN / "results.test", "--like", "trec_eval")
    done = run(*given, "-m", "ndcg", *measures, "-o", "x.eval")
    assert (done.returncode, done.stderr) == (0, "")
    names = {"runid", "num_q", "ndcg", *(f"ndcg_cut_{k}" for k in CUTOFFS)}
    theirs = (GOLDEN / "out.test.aq").read_text().splitlines()
    expected = [line for line in theirs if line.split()[0] in names]
    assert len(expected) == 2 + 4 * (1 + len(CUTOFFS))
    assert (tmp_path / "x.eval").read_text().splitlines() == expected


def test_pytrec_eval_computes_what_the_lines_hold(run: Run, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="the extra dev is not installed")
    runs = {"bm25": RUNS["low"], "my/run": {q: RUNS["equal"][q] for q in QUERIES[3:]}}
    write_qrels(tmp_path / "qrels", QRELS)
    for number, (name, ranked) in enumerate(runs.items()):
        write_run(tmp_path / f"run{number}", ranked, name)
    given = ("evaluate", "qrels", "run0", "run1", "--like", "trec_eval", "--test", "none")
    done = run(*given, "-m", "nDCG@2", "-m", "nDCG", "-o", "all.eval")
    assert done.returncode == 0, done.stderr
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg_cut_2", "ndcg"})
    for name, file in (("bm25", "all.bm25.eval"), ("my/run", "all.my_run.eval")):
        theirs = evaluator.evaluate(runs[name])
        lines = {("runid", "all"): name, ("num_q", "all"): str(len(theirs))}
        for measure in ("ndcg_cut_2", "ndcg"):
            values = {query: found[measure] for query, found in theirs.items()}
            values["all"] = np.mean([*values.values()])
            lines |= {(measure, query): f"{value:.4f}" for query, value in values.items()}
        assert read_lines(tmp_path / file) == lines


def test_files_of_systems_have_names_of_their_own() -> None:
    names = ["../../etc/x", "a b", ".", "x" * 300]
    paths = paths_of_systems(Path("folder", "all.eval"), names)
    assert {path.parent for path in paths} == {Path("folder")}
    assert len({path.name.lower() for path in paths}) == len(names)
    assert all(len(path.name) < 130 for path in paths)
    with pytest.raises(InputError, match=r"two systems would have the file x\.my_run; rename one"):
        paths_of_systems(Path("x.eval"), ["my/run", "My run"])


def test_control_characters_of_a_run_tag_are_escaped_in_trec_evals_lines(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 2.5 \x1b[31mred\n")
    assert not run("evaluate", "qrels", "run", "-m", "nDCG@10", "-o", "x.eval").returncode
    assert read_lines(tmp_path / "x.eval")["runid", "all"] == "\\x1b[31mred"


def test_what_trec_evals_lines_cannot_hold(tmp_path: Path) -> None:
    blank = evaluate({"new york": {"a": 1}}, {"new york": {"a": 1.0}}, "nDCG@10")
    with pytest.raises(InputError, match=r"'new york' has blanks.*write \.csv or \.parquet"):
        write_evaluation(blank, tmp_path / "x.eval")
    bounds = evaluate(QRELS, RUNS, FIRST, rules=Rules(unjudged="bounds"))
    with pytest.raises(InputError, match="not two bounds"):
        write_evaluation(bounds, tmp_path / "x.eval")
    alike = evaluate(QRELS, RUNS["high"], {"a b": "nDCG@10", "ab": FIRST})
    with pytest.raises(InputError, match="two measures are called ab in these lines; rename one"):
        write_evaluation(alike, tmp_path / "x.eval")
    assert not list(tmp_path.iterdir())


def test_one_evaluation_in_every_format(run: Run, files: Path) -> None:
    """The table stays on the screen, and every file is named after it."""
    names = [f"out{suffix}" for suffix in EVALUATION_FORMATS]
    options = [part for name in names for part in ("-o", name)]
    asked = ("evaluate", "qrels", *RUNS, "-m", "nDCG@10", "-m", FIRST)
    done = run(*asked, *options)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["system", "high", "equal", "low"]
    assert lines[-len(names) - 2 :] == [
        *(f"wrote {name}" for name in names[:-1]),
        *(f"wrote out.{system}.eval" for system in ("high", "equal", "low")),
    ]
    said = json.loads((files / "out.json").read_text())
    assert [one["system"] for one in said["systems"]] == ["high", "equal", "low"]
    order = [(one["measure"], one["system"]) for one in said["comparisons"]]
    assert order == [(m, s) for m in ("nDCG@10", FIRST) for s in ("high", "equal")]
    quiet = run(*asked, "--json", "-o", "again.csv")
    assert quiet.stderr == "wrote again.csv\n"
    assert json.loads(quiet.stdout) == said
    few = run(*asked, "--digits", "2")
    assert few.stdout.splitlines()[2].split() == ["equal", "0.95", "1.00", "1.00", "1.00"]
    by_query = run(*asked, "--per-query", "-o", "q.csv", "-o", "q.md")
    assert by_query.returncode == 0, by_query.stderr
    assert len((files / "q.csv").read_text().splitlines()) == 1 + 3 * len(QUERIES)
    assert "| high | q0 |" in (files / "q.md").read_text()


def test_a_discount_that_rises_is_said() -> None:
    falling, rising = (DCG([2.0, 1.0, 0.0], [1.0, *rest]) for rest in ([0.5, 0.4], [0.3, 0.4]))
    qrels, runs = {"q": {"d": 2, "e": 1, "f": 0}}, {"run": {"q": {"d": 1.0}}}
    said = ["\n".join(evaluation_in_words(evaluate(qrels, runs, one))) for one in (falling, rising)]
    assert "rises" not in said[0]
    assert "the discount rises from rank 2 to rank 3" in said[1]


def test_the_command_writes_the_frame(files: Path) -> None:
    """Though it keeps pandas out of its process."""
    words = ["evaluate", "qrels", *RUNS, "-m", FIRST, "--sort", "given", "-o", "x.Parquet"]
    subprocess.run([sys.executable, "-m", "dcglearn", *words], cwd=files, check=True)
    found = evaluate(files / "qrels", [files / name for name in RUNS], FIRST).to_frame()
    pd.testing.assert_frame_equal(pq.read_table(files / "x.Parquet").to_pandas(), found)
