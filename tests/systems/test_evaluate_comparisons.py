"""Which systems the command evaluate compares, and what it says of many pairs."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dcglearn import Evaluation, Rules, compare_all_pairs, compare_systems, evaluate
from dcglearn.statistics.significance import holm
from dcglearn.statistics.tukey import tukey_test
from dcglearn.system_report.all_pairs import all_pairs_tables, ranges
from dcglearn.system_report.system_comparisons import comparisons_in_words, comparisons_table
from helpers.written import write_qrels, write_run

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Refused = Callable[..., str]
N_QUERIES, N_SYSTEMS = 12, 12
MEASURES = ("-m", "zipf", "-m", "nDCG@3", "-m", "nDCG@5", "-m", "nDCG@2", "-m", "nDCG@1")
SYSTEMS = [f"s{s:02}" for s in range(N_SYSTEMS)]


def scores(s: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Scores of six documents per query; later systems have less noise."""
    noise = 4 / (1 + s)
    return {
        f"q{q}": {f"d{d}": -d + float(rng.normal(0, noise)) for d in range(6)}
        for q in range(N_QUERIES)
    }


QRELS = {f"q{q}": {f"d{d}": max(0, 3 - d) for d in range(6)} for q in range(N_QUERIES)}


@pytest.fixture(scope="module")
def runs() -> dict[str, dict[str, dict[str, float]]]:
    rng = np.random.default_rng(0)
    return {name: scores(s, rng) for s, name in enumerate(SYSTEMS)}


@pytest.fixture
def files(tmp_path: Path, runs: dict[str, dict[str, dict[str, float]]]) -> Path:
    write_qrels(tmp_path / "qrels", QRELS)
    for name, run in runs.items():
        write_run(tmp_path / name, run, name)
    return tmp_path


@pytest.fixture(scope="module")
def found(runs: dict[str, dict[str, dict[str, float]]]) -> Evaluation:
    return evaluate(QRELS, runs, ["zipf", "nDCG(linear-log2) @ 3"])


def test_many_comparisons_are_made_only_if_asked_for(run: Run, files: Path) -> None:
    unasked = run("evaluate", "qrels", *SYSTEMS, *MEASURES)
    assert unasked.returncode == 0, unasked.stderr
    assert "Differences" not in unasked.stdout
    assert unasked.stderr == (
        "no tests: 55 comparisons with s00 are made on request only: --compare baseline, "
        "--baseline OTHER for another system, --compare all for all pairs\n"
    )
    for asking in (
        ("--compare", "baseline"),
        ("--baseline", "s00"),
        ("--correct", "all"),
        ("--resamples", "9999"),
    ):
        asked = run("evaluate", "qrels", *SYSTEMS, *MEASURES, *asking)
        assert asked.stderr == ""
        assert asked.stdout.count("\nnDCG@3  ") == 11, asking
    few = run("evaluate", "qrels", *SYSTEMS[:11], *MEASURES)
    assert few.stdout.count("\nnDCG@3  ") == 10
    assert few.stderr == ""


def test_many_pairs_are_summed_up_and_written_in_full(run: Run, files: Path) -> None:
    arguments = (
        *("evaluate", "qrels", *SYSTEMS, "-m", "nDCG@3"),
        *("--compare", "all", "--sort", "given"),
    )
    text = run(*arguments)
    assert text.returncode == 0, text.stderr
    assert "All pairs by nDCG@3: " in text.stdout
    assert "each of the 66 comparisons: --format csv, or --json" in text.stdout
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").stdout)))
    pairs = json.loads(run(*arguments, "--json").stdout)["comparisons"]
    assert [(one["system"], one["other system"]) for one in rows] == [*combinations(SYSTEMS, 2)]
    for row, pair in zip(rows, pairs, strict=True):
        assert float(row["corrected"]) == pair["corrected"]
        assert [int(row[name]) for name in ("better", "worse", "equal")] == [
            pair[name] for name in ("better", "worse", "equal")
        ]
        assert pair["better"] + pair["worse"] + pair["equal"] == pair["queries"] == N_QUERIES
    significant = sum(pair["corrected"] < 0.05 for pair in pairs)
    assert f"All pairs by nDCG@3: {significant} of 66 significant" in text.stdout
    assert 0 < significant < 66


def test_few_pairs_are_printed_one_by_one(run: Run, files: Path) -> None:
    found = run("evaluate", "qrels", *SYSTEMS[:3], "-m", "nDCG@3", "--compare", "all")
    assert "Differences of all pairs" in found.stdout
    assert (
        "corrected for the 3 pairs of the measure, by Tukey's HSD test with randomisation"
        in found.stdout
    )
    means, table = (part.splitlines()[1:4] for part in found.stdout.split("\n\n")[:2])
    order = [row.split()[0] for row in means]
    assert order != SYSTEMS[:3], "the best comes first"
    assert [tuple(row.split()[1:3]) for row in table[1:]] == [*combinations(order, 2)][:2]
    assert not any(row.split()[3].startswith("-") for row in table[1:])


def test_what_contradicts_itself_is_refused(refused: Refused, files: Path) -> None:
    two = ("evaluate", "qrels", "s00", "s01")
    for arguments, message in (
        ((*two, "--compare", "all", "--baseline", "s00"), "--compare all with --baseline; use one"),
        ((*two, "--compare", "all", "--test", "none"), "--compare without a comparison"),
        ((*two, "--correct", "all", "--per-query"), "--correct without a comparison"),
        ((*two, "--compare", "pairs"), "unknown --compare 'pairs'"),
        ((*two, "--baseline", "s02"), "unknown --baseline 's02'; did you mean"),
        ((*two, "--compare", "all", "--unjudged", "bounds"), "no single value to compare"),
    ):
        assert message in refused(*arguments)


def test_corrections_of_all_pairs(found: Evaluation) -> None:
    def compared(**options: str) -> np.ndarray:
        pairs = compare_all_pairs(found, np.random.default_rng(1), resamples=500, **options)  # type: ignore[arg-type]  # options by name
        names = [(one.measure, one.system, one.baseline) for one in pairs]
        assert names == [
            (m.name, a, b) for m in found.measures for a, b in combinations(found.systems, 2)
        ]
        return np.array([[one.p, one.corrected, one.family] for one in pairs]).reshape(2, 66, 3)

    within, across, none = (compared(correct=name) for name in ("measure", "all", "none"))
    assert (within[..., 0] == across[..., 0]).all(), "what is corrected does not change p"
    assert (none[..., 0] == none[..., 1]).all()
    assert [one[0, 0, 2] for one in (within, across, none)] == [66, 132, 1]
    values, rng = found.values.swapaxes(0, 1), np.random.default_rng(2)
    for corrected, across_measures in ((within[..., 1], False), (across[..., 1], True)):
        again = tukey_test(values, rng, 500, across_measures).p
        assert np.abs(corrected - again).max() < 0.1, "other draws of the same orders"
    assert (across[..., 1] >= within[..., 1]).all()
    assert (across[..., 1] > within[..., 1]).any()
    t = compared(test="t")
    assert t[1, :, 1] == pytest.approx(holm(t[1, :, 0]))


def test_one_system_has_no_pairs() -> None:
    """Not even if all its queries are left out."""
    qrels = {"q1": {"a": 0}, "q2": {"a": 0}}
    rules = Rules(worthless=None, missing=None)
    found = evaluate(qrels, {"one": {"q1": {"a": 1.0}}}, "nDCG@2", rules=rules)
    assert np.isnan(found.values).all()
    assert compare_all_pairs(found, np.random.default_rng(0)) == []


def test_corrections_with_a_baseline(found: Evaluation) -> None:
    def compared(correct: str) -> np.ndarray:
        rng = np.random.default_rng(1)
        ones = compare_systems(found, "s00", rng, "t", correct=correct)  # type: ignore[arg-type]  # by name
        return np.array([[one.p, one.corrected, one.family] for one in ones])

    within, across, none = map(compared, ("measure", "all", "none"))
    assert (within[:, 0] == across[:, 0]).all()
    assert across[:, 1] == pytest.approx(holm(across[:, 0]))
    assert within[:11, 1] == pytest.approx(holm(within[:11, 0]))
    assert (none[:, 0] == none[:, 1]).all()
    assert [one[0, 2] for one in (within, across, none)] == [11, 22, 1]


def test_queries_are_counted_as_better_worse_or_equal() -> None:
    """By hand; what one system leaves out is not counted."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(7)}
    first = {q: {"a": 2.0, "b": 1.0} for q in list(qrels)[:6]}
    second = {q: {"a": 2.0, "b": 1.0 if q in ("q0", "q1", "q6") else 3.0} for q in qrels}
    third = {q: {"a": 1.0, "b": 1.0 if q == "q0" else 0.0} for q in qrels}
    runs = {"first": first, "second": second, "third": third}
    found = evaluate(qrels, runs, "zipf", rules=Rules(missing=None))
    pairs = compare_all_pairs(found, np.random.default_rng(0))
    counts = [(one.better, one.worse, one.equal, one.queries) for one in pairs]
    (said,) = (line for line in comparisons_in_words(pairs) if "neither" in line)
    assert said == "two systems are compared on the queries that neither leaves out, 6 to 7 of them"
    assert counts == [(4, 0, 2, 6), (1, 0, 5, 6), (1, 4, 2, 7)]


def test_an_exchanged_comparison_is_that_of_the_other_system(found: Evaluation) -> None:
    pair = compare_all_pairs(found, np.random.default_rng(0), resamples=99)[0]
    other = pair.exchanged()
    assert (other.system, other.baseline) == (pair.baseline, pair.system)
    assert (other.low, other.difference, other.high) == (-pair.high, -pair.difference, -pair.low)
    assert (other.better, other.worse, other.p) == (pair.worse, pair.better, pair.p)
    assert other.exchanged() == pair


def test_rounding_makes_no_query_better() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(3)}
    run = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    found = evaluate(qrels, {"one": run, "two": run}, "zipf")
    found.values[1] *= 1 + 2**-52
    (pair,) = compare_all_pairs(found, np.random.default_rng(0))
    assert (pair.better, pair.worse, pair.equal) == (0, 0, 3)


def test_the_digest_holds_every_significant_pair(found: Evaluation) -> None:
    pairs = compare_all_pairs(found, np.random.default_rng(0), resamples=999)
    table = all_pairs_tables(found, pairs)[1]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    order = [str(row["system"]) for row in rows]
    means = found.means()[:, 1]
    assert order == sorted(found.systems, key=lambda one: -means[found.systems.index(one)])
    ahead = {
        ((c.system, c.baseline) if c.difference > 0 else (c.baseline, c.system))
        for c in pairs
        if c.measure == found.measures[1].name and c.corrected < 0.05
    }
    assert 0 < len(ahead) < 66
    for row in rows:
        name = row["system"]
        better, worse = {b for a, b in ahead if a == name}, {a for a, b in ahead if b == name}
        assert (row["better than"], row["worse than"]) == (len(better), len(worse))
        rest = [rank for rank, other in enumerate(order, 1) if other not in better | worse]
        assert row["not told apart"] == ranges(rest)


def test_words_say_what_is_corrected_and_what_no_p_can_reach(found: Evaluation) -> None:
    def words(**options: object) -> str:
        rng = np.random.default_rng(0)
        pairs = compare_systems(found, "s00", rng, **options)  # type: ignore[arg-type]  # by name
        return "\n".join(comparisons_in_words(pairs))

    assert "corrected for the 11 comparisons of each measure, by Holm's method" in words()
    assert "corrected for the 22 comparisons of all measures, by Holm's method" in words(
        correct="all"
    )
    assert "not corrected for the number of comparisons" in words(correct="none")
    assert (
        "with 300 random exchanges none of 22 corrected p can be below 0.07309: draw more"
        in words(correct="all", resamples=300)
    )
    assert "can be below" not in words(resamples=300, test="t")
    uncorrected = compare_systems(found, "s00", np.random.default_rng(0), correct="none")
    assert "corrected" not in comparisons_table(uncorrected).columns
    assert "corrected" in (comparisons_table(uncorrected).csv_columns or ())
    assert comparisons_in_words([]) == []
