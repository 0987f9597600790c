"""Evaluations as files: tables for a paper, rows for data frames, lines as trec_eval's."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dcglearn import (
    Evaluation,
    InputError,
    Rules,
    compare_all_pairs,
    compare_systems,
    evaluate,
    write_evaluation,
)
from dcglearn.system_commands.evaluation_output import print_evaluation
from dcglearn.system_report.evaluation_files import EVALUATION_FORMATS, evaluation_text
from dcglearn.system_report.marks import label_list, significance_marks, system_labels
from dcglearn.system_report.paper_table import paper_table
from dcglearn.system_report.trec_eval_lines import paths_of_systems, trec_eval_name
from helpers.places import ROOT
from helpers.written import write_qrels, write_run

Run = Callable[..., "subprocess.CompletedProcess[str]"]
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
    compared = compare_systems(found, "low", np.random.default_rng(0))
    lines = paper_table(found, compared).markdown().splitlines()
    assert lines[:5] == [
        f"| system | nDCG@10 | {FIRST} |",
        "| :-- | --: | --: |",
        r"| high | **1.0000**\* | **1.0000**\* |",
        r"| equal | 0.9502\* | **1.0000**\* |",
        "| low | 0.6199 | 0.0000 |",
    ]
    notes = "\n".join(lines[5:])
    for words in (
        "means over 12 queries, the best of each measure in bold",
        r"\* differs significantly from low (p < 0.05; paired randomisation test; "
        "corrected for the 2 comparisons of each measure, by Holm's method)",
        "documents without a judgment keep their rank and gain nothing",
        "judged: 100% of the first 10, 100% of the first 1",
        "nDCG@10 is nDCG({2: 2, 1: 1, 0: 0}, log2) @ 10",
    ):
        assert words in notes
    same = compare_systems(found, "high", np.random.default_rng(0), "t")
    table = paper_table(found, same).markdown()
    assert r"| equal | 0.9502\* | **1.0000** |" in table
    assert "paired t test" in table
    digits = paper_table(found, digits=2).markdown().splitlines()
    assert digits[3] == "| equal | 0.95 | **1.00** |"
    rounded = paper_table(evaluate(QRELS, RUNS, "nDCG@10"), digits=0).best
    assert rounded == [[True], [True], [True]], "0.6, 1 and 0.95 are equal as shown"


def test_after_all_pairs_letters_name_the_systems_below(found: Evaluation) -> None:
    rng = np.random.default_rng(0)
    each = paper_table(found, compare_all_pairs(found, rng, correct="none"))
    assert each.markdown().splitlines()[2:5] == [
        "| a | high | **1.0000**<sup>bc</sup> | **1.0000**<sup>c</sup> |",
        "| b | equal | 0.9502<sup>c</sup> | **1.0000**<sup>c</sup> |",
        "| c | low | 0.6199 | 0.0000 |",
    ]
    assert r"a & high & \textbf{1.0000}&\textsuperscript{bc} & " in each.latex()
    meaning = "letters after a mean name the systems that it is significantly above"
    test = "paired randomisation test; not corrected for the number of comparisons"
    assert each.notes[1] == f"{meaning} (p < 0.05; {test})"
    tukey = paper_table(found, compare_all_pairs(found, rng))
    test = "corrected for the 3 pairs of each measure, by Tukey's HSD test with randomisation"
    assert tukey.notes[1] == f"{meaning} (p < 0.05; {test})"
    assert tukey.marks.of["high", "nDCG@10"] == "c", "a stricter test than that of single pairs"
    given = evaluate(QRELS, RUNS, ["nDCG@10", FIRST])  # each pair the other way round
    reverse = compare_all_pairs(given, rng, correct="none")
    assert significance_marks(found.systems, reverse).of == each.marks.of


def test_no_marks_are_said_as_well(found: Evaluation) -> None:
    rng = np.random.default_rng(0)
    same = evaluate(QRELS, {"one": RUNS["high"], "two": RUNS["high"]}, FIRST)
    pair = paper_table(same, compare_systems(same, "one", rng))
    test = "(p < 0.05; paired randomisation test)"
    assert pair.notes[1] == f"no mean differs significantly from one {test}"
    assert "&" not in pair.latex().split(r"\textbf{1.0000}")[-1]
    three = evaluate(QRELS, dict.fromkeys("xyz", RUNS["high"]), FIRST)
    text = paper_table(three, compare_all_pairs(three, rng, "t")).notes[1]
    assert text.startswith("no mean is significantly above another (p < 0.05; paired t test; ")


def test_many_systems_have_numbers_and_ranges() -> None:
    assert system_labels(26)[-1] == "z"
    assert system_labels(27)[:2] == ["1", "2"]
    labels = system_labels(60)
    assert label_list([2, 3, 4, 5, 7, 58, 59], labels) == "3-6,8,59,60"
    assert label_list([11], labels) == "12"
    assert label_list([1, 2, 3], "abcd") == "bcd"
    assert label_list([0, 1, 2, 3], "abcd") == "a-d"
    assert significance_marks(["x"], []).of == {}


def test_a_table_of_bounds_has_no_best_one() -> None:
    run = {q: {"new": 3.0, "a": 2.0} for q in QUERIES}
    bounds = evaluate(QRELS, {"one": run, **RUNS}, FIRST, rules=Rules(unjudged="bounds"))
    text = paper_table(bounds).markdown()
    assert "| one | 0.0000 to 1.0000 |" in text
    assert "**" not in text
    assert "bold" not in text
    alone = evaluate(QRELS, {"one": run}, FIRST)
    assert "**" not in paper_table(alone).markdown(), "a single system is not the best"


def test_systems_are_not_compared_by_residuals() -> None:
    runs = {"one": {q: {"a": 1.0, "new": 0.5} for q in QUERIES}, "two": RUNS["high"]}
    found = evaluate(QRELS, runs, "RBP(p=0.8)")
    names = [one.name for one in found.measures]
    assert len(names) == 2, "the residual is there"
    assert paper_table(found).best == [[False, False], [True, False]]


def test_what_is_missing_or_left_out_is_said() -> None:
    short = {q: RUNS["high"][q] for q in QUERIES[:9]}
    runs = {"short": short, "low": RUNS["low"]}
    counted = evaluate(QRELS, runs, FIRST)
    assert "missing queries: short 3" in paper_table(counted).notes
    left_out = paper_table(evaluate(QRELS, runs, FIRST, rules=Rules(missing=None))).notes
    assert left_out[0].startswith("means over 9 to 12 of 12 queries")
    none = {q: dict.fromkeys(docs, 0) for q, docs in QRELS.items()} | {"q0": {"a": 1}}
    worthless = evaluate(
        none, {"x": {"q1": {"a": 1.0}}}, FIRST, rules=Rules(worthless=None, missing=None)
    )
    assert paper_table(worthless).cells == [["-"]]


def test_a_table_of_63_systems_breaks_over_pages() -> None:
    runs = {f"run {n}": RUNS[["low", "high"][n % 2]] for n in range(63)}
    found = evaluate(QRELS, runs, FIRST)
    for latex in (paper_table(found).latex(), evaluation_text(found, ".tex", per_query=True)):
        assert latex.count(r"\begin{longtable}") == latex.count(r"\endhead") == 1
        assert r"\begin{table}" not in latex
    few = paper_table(evaluate(QRELS, RUNS, FIRST)).latex()
    assert r"\begin{table}" in few
    assert few.count("documents with equal scores") == 1, "rules are comments"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles_whatever_the_names(tmp_path: Path) -> None:
    """As a paper has it, without packages."""
    names = [r"\input{x}", "50% & more", "a_b^c~#$", "[first]", "*", "<-->", "{", "ok"]
    runs = dict(zip(names, [*RUNS.values()] * 3, strict=False))
    measures = {"nDCG@10": "nDCG@10", "x_1 & [y]%": FIRST, "*": "nDCG(exponential-log2) @ 10"}
    found = evaluate(QRELS, runs, measures).best_first()
    for number, comparisons in enumerate(
        (
            [],
            compare_systems(found, "ok", np.random.default_rng(0)),
            compare_all_pairs(found, np.random.default_rng(0)),
        )
    ):
        table = paper_table(found, comparisons).latex()
        begin, end = "\\documentclass{article}\\begin{document}", "\\end{document}"
        (tmp_path / f"{number}.tex").write_text(f"{begin}\n{table}\n{end}\n")
        done = subprocess.run(
            ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", f"{number}.tex"],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout[-2000:]
        assert b"Warning" not in done.stdout


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


def test_parquet_in_polars(with_gaps: Evaluation, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars", reason="the extra dev is not installed")
    (path,) = write_evaluation(with_gaps, tmp_path / "values.parquet")
    frame = pl.read_parquet(path)
    assert frame.columns == ["system", "measure", "query", "value", "judged"]
    assert frame.height == with_gaps.values.size
    assert frame["value"].is_nan().sum() == 0
    assert frame["value"].null_count() == np.isnan(with_gaps.values).sum() == 9
    means = {
        (system, measure): mean
        for system, measure, mean in frame.group_by("system", "measure")
        .agg(pl.col("value").mean())
        .iter_rows()
    }
    for s, system in enumerate(with_gaps.systems):
        for m, one in enumerate(with_gaps.measures):
            assert means[system, one.name] == pytest.approx(with_gaps.means()[s, m], abs=1e-15)
    ours = with_gaps.to_frame()
    assert frame["query"].to_list() == ours["query"].tolist()
    assert frame["value"].fill_null(-1).to_list() == ours["value"].fillna(-1).tolist()
    assert frame["judged"].fill_null(-1).to_list() == ours["judged"].fillna(-1).tolist()


def test_parquet_in_duckdb_and_pandas(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra dev is not installed")
    run = {q: {"new": 3.0, "a": 2.0} for q in QUERIES}
    found = evaluate(QRELS, {"one": run, **RUNS}, FIRST, rules=Rules(unjudged="bounds"))
    (path,) = write_evaluation(found, tmp_path / "values.parquet")
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT system, avg(value), avg(high), avg(judged) FROM '{path}' "  # noqa: S608 - no text from outside
            "GROUP BY system ORDER BY avg(high) - avg(value) DESC LIMIT 1"
        ).fetchall()
    assert rows == [("one", 0.0, 1.0, 0.0)]
    assert list(pd.read_parquet(path).columns) == [*found.to_frame().columns]
    said = json.loads(pq.read_schema(path).metadata[b"dcglearn"])
    assert said["rules"]["unjudged"] == "bounds"
    assert said["measures"] == {FIRST: "nDCG({2: 2, 1: 1, 0: 0}, log2) @ 1"}


def test_names_of_measures_in_trec_eval() -> None:
    for ours, theirs in (
        ("nDCG@10", "ndcg_cut_10"),
        ("ndcg_cut.5", "ndcg_cut_5"),
        ("nDCG(linear-log2)", "ndcg"),
        ("ndcg_burges@10", "ndcg_burges@10"),
        ("nDCG({2: 3, 1: 1}, log2) @ 10", "nDCG({2:3,1:1},log2)@10"),
        ("AP", "map"),
        ("RR", "recip_rank"),
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
    rng = np.random.default_rng(3)
    queries, documents = [str(i) for i in range(301, 321)], [f"d{i:03}" for i in range(60)]
    qrels = {q: {d: int(rng.choice(3)) for d in documents[:40]} for q in queries}
    runs = {
        name: {q: {d: float(rng.integers(30)) for d in documents[::2]} for q in queries[skipped:]}
        for name, skipped in (("bm25", 0), ("my/run", 3))
    }
    write_qrels(tmp_path / "qrels", qrels)
    for number, (name, ranked) in enumerate(runs.items()):
        write_run(tmp_path / f"run{number}", ranked, name)
    given = ("evaluate", "qrels", "run0", "run1", "--like", "trec_eval", "--test", "none")
    done = run(*given, "-m", "nDCG@10", "-m", "nDCG", "-o", "all.eval")
    assert done.returncode == 0, done.stderr
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10", "ndcg"})
    for name, file in (("bm25", "all.bm25.eval"), ("my/run", "all.my_run.eval")):
        lines = read_lines(tmp_path / file)
        theirs = evaluator.evaluate(runs[name])
        means: dict[str, list[float]] = defaultdict(list)
        for query, values in theirs.items():
            for measure, value in values.items():
                assert lines.pop((measure, query)) == f"{value:.4f}"
                means[measure].append(value)
        for measure, all_values in means.items():
            assert lines.pop((measure, "all")) == f"{np.mean(all_values):.4f}"
        assert lines == {("runid", "all"): name, ("num_q", "all"): str(len(theirs))}


def test_files_of_systems_have_names_of_their_own() -> None:
    names = ["../../etc/x", "a b", "a/b", "A b", ".", "x" * 300]
    paths = paths_of_systems(Path("folder", "all.eval"), names)
    assert {path.parent for path in paths} == {Path("folder")}
    assert len({path.name.lower() for path in paths}) == len(names)
    assert all(len(path.name) < 130 for path in paths)
    numbered = paths_of_systems(Path("x.eval"), ["my_run-3", "my/run", "my run"])
    assert len({path.name for path in numbered}) == 3, "a number may make a name that is taken"


def test_what_trec_evals_lines_cannot_hold(tmp_path: Path) -> None:
    blank = evaluate({"new york": {"a": 1}}, {"new york": {"a": 1.0}}, "nDCG@10")
    with pytest.raises(InputError, match=r"'new york' has blanks.*write \.csv or \.parquet"):
        write_evaluation(blank, tmp_path / "x.eval")
    bounds = evaluate(QRELS, RUNS, FIRST, rules=Rules(unjudged="bounds"))
    with pytest.raises(InputError, match="not two bounds"):
        write_evaluation(bounds, tmp_path / "x.eval")
    alike = evaluate(QRELS, RUNS["high"], {"a b": "nDCG@10", "ab": FIRST})
    with pytest.raises(InputError, match="two measures are called ab"):
        write_evaluation(alike, tmp_path / "x.eval")
    assert not list(tmp_path.iterdir())
    twice = evaluate(QRELS, RUNS["high"], ["nDCG@10", "nDCG(linear-log2) @ 10"])
    (path,) = write_evaluation(twice, tmp_path / "x.eval")
    assert read_lines(path)["nDCG(linear-log2)@10", "all"] == "1.0000"


def test_one_evaluation_in_every_format(run: Run, files: Path) -> None:
    """The table stays on the screen, and every file is named after it."""
    names = [f"out{suffix}" for suffix in EVALUATION_FORMATS]
    options = [part for name in names for part in ("-o", name)]
    asked = ("evaluate", "qrels", *RUNS, "-m", "nDCG@10", "-m", FIRST)
    done = run(*asked, *options)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["system", "high", "equal", "low"]
    assert lines[-len(names) :] == [
        *(f"wrote {name}" for name in names[:-1]),
        "wrote out.high.eval, ..., out.low.eval: 3 files",
    ]
    assert "ndcg_cut_10, ndcg_cut_1: values by other rules than trec_eval's" in done.stderr
    for form, name in (("csv", "out.csv"), ("md", "out.md"), ("latex", "out.tex")):
        assert run(*asked, "--format", form).stdout == (files / name).read_text()
    said = json.loads((files / "out.json").read_text())
    assert said == json.loads(run(*asked, "--json").stdout)
    assert [one["system"] for one in said["systems"]] == ["high", "equal", "low"]
    order = [(one["measure"], one["system"]) for one in said["comparisons"]]
    assert order == [(m, s) for m in ("nDCG@10", FIRST) for s in ("high", "equal")]
    quiet = run(*asked, "--json", "-o", "again.csv")
    assert quiet.stderr == "wrote again.csv\n"
    assert json.loads(quiet.stdout) == said
    assert "differs significantly from low" in (files / "out.tex").read_text()
    few = run(*asked, "--digits", "2", "-o", "few.md")
    assert few.stdout.splitlines()[2].split() == ["equal", "0.95", "1.00", "1.00", "1.00"]
    assert r"| equal | 0.95\* | **1.00**\* |" in (files / "few.md").read_text()
    by_query = run(*asked, "--per-query", "-o", "q.csv", "-o", "q.tex", "-o", "q.md")
    assert by_query.returncode == 0, by_query.stderr
    assert len((files / "q.csv").read_text().splitlines()) == 1 + 3 * len(QUERIES)
    assert "| high | q0 |" in (files / "q.md").read_text()
    assert "high & q0 &" in (files / "q.tex").read_text()


def test_a_terminal_has_tables_as_wide_as_it_is(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measures = [f"nDCG(linear-log2) @ {k}" for k in range(1, 13)]
    found = evaluate(QRELS, RUNS, measures)
    print_evaluation(found, [], "text", False, False, 4)
    assert max(map(len, capsys.readouterr().out.splitlines())) > 300
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_evaluation(found, [], "text", False, False, 4)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 60
    assert len(re.findall(r"^high +(?:[01]\.\d+ *)+$", shown, re.M)) > 1
    assert len(re.findall(r"[01]\.\d{4}\b", shown)) == 3 * (len(measures) + 2)
    assert re.findall(r"judged@\d+", shown) == ["judged@1", "judged@12"], "the extreme cutoffs"


def test_systems_sorted_on_request(run: Run, files: Path) -> None:
    def order(*options: str) -> list[str]:
        asked = ("evaluate", "qrels", *RUNS, "-m", FIRST, "-m", "nDCG@10", "--format", "csv")
        return [line.split(",")[0] for line in run(*asked, *options).stdout.splitlines()[1:]]

    assert order() == ["high", "equal", "low"]
    assert order("--sort", "given") == ["low", "high", "equal"]
    assert order("--sort", "nDCG@10") == ["high", "equal", "low"]
    found = run("evaluate", "qrels", *RUNS, "-m", "nDCG@10", "--per-query", "--format", "csv")
    assert found.stdout.splitlines()[1].startswith("high,q0,")
    compared = run("evaluate", "qrels", "equal", "low", "high", "-m", "nDCG@10")
    table = compared.stdout.split("Differences from equal\n")[1].splitlines()
    assert [re.split(r"\s\s+", line)[1] for line in table[1:3]] == ["high", "low"]


def test_output_that_is_refused(refused: Callable[..., str], files: Path) -> None:
    asked = ("evaluate", "qrels", "low", "high", "-m", "nDCG@10")
    (files / "folder.csv").mkdir()
    shutil.copy(files / "low", files / "run.csv")
    for options, message in (
        (("-o", "x.xlsx"), "x.xlsx: ends in '.xlsx'; use a name that ends in .csv, .md, .tex"),
        (("-o", "x"), "x: has no suffix; use a name that ends in"),
        (("-o", "x.csv", "-o", "./x.csv"), "./x.csv: is to be written twice"),
        (("-o", "no/x.csv"), "no/x.csv: cannot be written: its folder does not exist"),
        (
            ("run.csv", "-o", "run.csv"),
            "run.csv: is read here, and would be replaced",
        ),
        (("--sort", "nDCG@1"), "unknown --sort 'nDCG@1'; did you mean 'nDCG@10'"),
    ):
        assert message in refused(*asked, *options), options
    assert {path.name for path in files.iterdir()} == {"qrels", *RUNS, "folder.csv", "run.csv"}
