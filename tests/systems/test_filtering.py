"""Beta-Gamma thresholds: the rule, the two ends it moves between, files, the command.

The slow version goes down the distinct scores and sums what passes, from the start each time.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import DCG, InputError, LinearUtility, MeasureFile, write_measure
from dcglearn import beta_gamma_threshold as threshold
from dcglearn.filtering.beta_gamma import (
    Delivery,
    beta_gamma_alpha,
    interpolated_threshold,
    read_scored,
)
from dcglearn.judgments.options import ReadOptions
from helpers.notes import noted
from helpers.written import write

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Documents = tuple[list[float], list[float], list[bool]]

FILE = """id,score,grade
d1,.9,2
d2,.8,1
d3,.7,0
d4,.6,
d5,.6,1
d6,.4,
d7,.3,0
d8,.2,
"""


@st.composite
def documents(draw: st.DrawFn) -> Documents:
    """Scores with ties, whole utilities, and who was judged."""
    n = draw(st.integers(1, 12))
    scores = draw(st.lists(st.integers(0, 6).map(float), min_size=n, max_size=n))
    utilities = draw(st.lists(st.integers(-3, 3).map(float), min_size=n, max_size=n))
    judged = [u > 0 or draw(st.booleans()) for u in utilities]
    return scores, utilities, judged


def interpolated(
    optimal: float, zero: float, N: int, beta: float = 0.1, gamma: float = 0.05
) -> float:
    return interpolated_threshold(optimal, zero, beta_gamma_alpha(N, beta, gamma))


def relevance_utilities(relevant: list[bool]) -> list[float]:
    """A credit of 3 and a debit of 2, as LF1 of TREC's filtering track."""
    return [3.0 if one else -2.0 for one in relevant]


def worth(scores: list[float], utilities: list[float], theta: float) -> float:
    return sum(u for s, u in zip(scores, utilities, strict=True) if s >= theta)


def ends(scores: list[float], utilities: list[float]) -> tuple[float, float]:
    """theta_opt and theta_zero, step by step."""
    best, optimal = 0.0, math.nextafter(max(scores), math.inf)
    ranked = sorted(set(scores), reverse=True)
    for score in ranked:
        if worth(scores, utilities, score) > best:
            best, optimal = worth(scores, utilities, score), score
    for score in ranked:
        if score < optimal and worth(scores, utilities, score) <= 0:
            return optimal, score
    return optimal, ranked[-1]


def test_the_worked_numbers() -> None:
    for N, expected in [(0, 0.3), (1, 0.321947), (10, 0.477061), (100, 0.746968)]:
        assert round(interpolated(0.8, 0.3, N), 6) == expected
    assert interpolated(0.8, 0.3, 10**9) == pytest.approx(0.1 * 0.3 + 0.9 * 0.8)
    assert beta_gamma_alpha(0) == 1.0
    assert beta_gamma_alpha(10**9) == 0.1


def test_the_ends_of_beta_and_gamma() -> None:
    assert beta_gamma_alpha(7, beta=1.0) == beta_gamma_alpha(7, gamma=0.0) == 1.0
    assert interpolated(0.8, 0.3, 10**6, beta=0.0) == 0.8  # to the last bit: it passes
    assert interpolated(0.8, 0.3, 0) == 0.3
    for N in range(40):  # rounding never excludes a document with that score
        assert interpolated(0.7, 0.7, N) == 0.7


@given(
    ends_=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)),
    N=st.integers(0, 200),
    beta=st.floats(0, 1),
    gamma=st.floats(0, 2),
)
def test_more_judgments_lead_from_zero_utility_towards_the_optimum(
    ends_: tuple[float, float], N: int, beta: float, gamma: float
) -> None:
    zero, optimal = sorted(ends_)
    now, later = (interpolated(optimal, zero, n, beta, gamma) for n in (N, N + 1))
    assert zero <= now <= optimal
    assert later >= now - 1e-9 * (1 + abs(now))
    assert beta - 1e-12 <= beta_gamma_alpha(N, beta, gamma) <= 1


def test_down_a_ranking() -> None:
    """+3, +3, -2, -2, +3, -2, -2, -2: the sum is 3 6 4 2 5 3 1 -1."""
    utilities = relevance_utilities([True, True, False, False, True, False, False, False])
    scores = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    judged = [True, True, True, False, True, False, True, False]
    found = threshold(scores, utilities, judged)
    assert found.utilities.tolist() == [3, 6, 4, 2, 5, 3, 1, -1]
    assert (found.theta_optimal, found.theta_zero, found.n_judged) == (0.8, 0.2, 5)
    assert found.alpha == pytest.approx(0.1 + 0.9 * math.exp(-0.25))
    assert found.theta == pytest.approx((1 - found.alpha) * 0.8 + found.alpha * 0.2)
    assert found.passing(found.theta) == Delivery(6, 3.0)
    assert found.passing(1.0) == Delivery(0, 0.0)
    assert found.passing(-1.0) == Delivery(8, -1.0)


@given(case=documents())
def test_the_ends_are_those_found_step_by_step(case: Documents) -> None:
    scores, utilities, judged = case
    found = threshold(scores, utilities, judged)
    assert (found.theta_optimal, found.theta_zero) == ends(scores, utilities)
    assert found.n_judged == sum(judged)
    assert found.theta == interpolated(found.theta_optimal, found.theta_zero, sum(judged))
    for theta in (found.theta, found.theta_optimal, found.theta_zero, 2.5):
        expected = Delivery(sum(s >= theta for s in scores), worth(scores, utilities, theta))
        assert found.passing(theta) == expected


@given(case=documents(), data=st.data())
def test_neither_order_nor_units_matter(case: Documents, data: st.DataObject) -> None:
    scores, utilities, judged = map(np.array, case)
    before = threshold(scores, utilities, judged, beta=0.0, gamma=0.0)
    order = data.draw(st.permutations(range(len(scores))))
    shuffled = threshold(scores[order], utilities[order], judged[order])
    tenths = threshold(scores, utilities * 0.1, judged)
    doubled = threshold(scores * 2, utilities, judged)
    for after in (shuffled, tenths):
        assert (after.theta_optimal, after.theta_zero) == (before.theta_optimal, before.theta_zero)
    assert doubled.theta_optimal == before.theta_optimal * 2 or before.theta_optimal > max(scores)
    assert doubled.theta_zero == before.theta_zero * 2


def test_equal_scores_pass_together() -> None:
    """The best cut by single documents would lie inside the group."""
    for utilities in ([3, 3, -2, -4], [3, -2, 3, -4]):  # in any order within the group
        found = threshold([0.9, 0.5, 0.5, 0.1], utilities)
        assert found.scores.tolist() == [0.9, 0.5, 0.1]
        assert found.documents.tolist() == [1, 3, 4]
        assert found.utilities.tolist() == [3, 4, 0]
        assert (found.theta_optimal, found.theta_zero) == (0.5, 0.1)
    assert threshold([1, 1, 1], [3, -2, -2]).theta_optimal > 1  # together not worth it


def test_the_first_maximum_wins() -> None:
    found = threshold([5, 4, 3, 2], [3, -3, 3, -1])
    assert (found.theta_optimal, found.theta_zero) == (5, 4)


def test_rounding_does_not_move_a_maximum_or_a_zero() -> None:
    assert sum([0.1, 0.2, -0.3]) > 0
    back = threshold([4, 3, 2, 1], [0.1, 0.2, -0.3, -1])
    assert (back.theta_optimal, back.theta_zero) == (3, 2)
    assert 0.3 + 0.1 + 0.2 - 0.3 > 0.3
    again = threshold([5, 4, 3, 2, 1], [0.3, -0.3, 0.1, 0.2, -5])
    assert (again.theta_optimal, again.theta_zero) == (5, 4)
    assert threshold([3, 2, 1], [-0.3, 0.1, 0.2]).theta_optimal > 3  # 0 but for rounding


def test_utility_that_never_returns_ends_at_the_lowest_score() -> None:
    found = threshold([3, 2, 1], [3, 3, -2])
    assert (found.theta_optimal, found.theta_zero) == (2, 1)
    last = threshold([3, 2, 1], [3, 3, 3])
    assert (last.theta_optimal, last.theta_zero, last.theta) == (1, 1, 1)


def test_a_zero_above_the_optimum_does_not_count() -> None:
    found = threshold([5, 4, 3, 2, 1], [-2, -2, 9, -3, -2])
    assert (found.theta_optimal, found.theta_zero) == (3, 1)
    assert found.utilities.tolist() == [-2, -4, 5, 2, 0]


@pytest.mark.parametrize("utilities", [[-2, -2, -2], [-2, 2, -2], [0, 0, 0]])
def test_if_no_cut_pays_the_optimum_is_before_the_first_document(
    utilities: list[float],
) -> None:
    judged = [True] * 3
    found = threshold([0.9, 0.5, 0.1], utilities, judged)
    assert found.theta_optimal == math.nextafter(0.9, 1)
    assert found.theta_zero == 0.9
    assert found.passing(found.theta_optimal) == Delivery(0, 0.0)
    for beta in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        later = threshold([0.9, 0.5, 0.1], utilities, judged, beta, gamma=1000.0)
        assert later.alpha == beta
        assert later.theta == (0.9 if beta > 0.5 else found.theta_optimal)


def test_without_judgments_the_threshold_is_theta_zero() -> None:
    utilities = relevance_utilities([False] * 3)
    found = threshold([0.9, 0.5, 0.1], utilities, [False] * 3)
    assert (found.n_judged, found.alpha, found.theta) == (0, 1.0, 0.9)
    one = threshold([0.4], [-2.0], [False])
    assert one.theta == 0.4


def test_an_unjudged_document_counts_as_a_non_relevant_one() -> None:
    known = threshold([3, 2, 1], relevance_utilities([True, False, False]))
    unknown = threshold([3, 2, 1], relevance_utilities([True, False, False]), [True, False, False])
    assert known.theta_optimal == unknown.theta_optimal
    assert known.theta_zero == unknown.theta_zero
    assert (known.n_judged, unknown.n_judged) == (3, 1)
    assert unknown.theta < known.theta


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: threshold([], []), "no document"),
        (lambda: threshold([1, 2], [1]), r"utilities of shape \(1,\), not \(2,\)"),
        (lambda: threshold([1, math.nan], [1, 1]), "row 1: scores hold nan"),
        (lambda: threshold([1, 2], [1, 1], [True]), "`judged` has shape"),
        (
            lambda: threshold([1, 2], [1, 3], [True, False]),
            "row 1: an unjudged .* utility 3",
        ),
        (lambda: threshold([1], [1], beta=1.1), r"`beta` is 1.1; use a finite number from 0 to 1"),
        (
            lambda: threshold([1], [1], gamma=-1.0),
            "`gamma` is -1.0; use a finite number of 0 or more",
        ),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call()


def test_the_three_formats_hold_the_same(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {"id": "d1", "score": 0.5, "grade": 2},
        {"id": "d2", "score": -1.0, "grade": None},
        {"id": "d3", "score": 0.25, "grade": 0},
    ]
    lines = "\n\n".join(map(json.dumps, rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet")
    for path in (
        write(tmp_path / "d.jsonl", lines),
        write(tmp_path / "d.csv", "grade,id,score\n2,d1,.5\n,d2,-1\n0,d3,0.25\n"),
        tmp_path / "d.parquet",
    ):
        found = read_scored(path)
        assert found.scores.tolist() == [0.5, -1, 0.25]
        assert found.grades == (2, None, 0)
        assert found.place(2).startswith(f"{path}, ")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("d.csv", "score,grade\n.5,1\n,1\n", 'line 3: "score" is missing'),
        ("d.csv", "score,grade\nhigh,1\n", "line 2: \"score\" is 'high'"),
        ("d.csv", "score,label,rel\n1,1,1\n", "'label' and 'rel' could both be the grade; say"),
        ("d.csv", "id,score\na,1\nb,2\na,1\n", "line 4: the document 'a' is also in .*, line 2"),
        ("d.csv", "score,grade\n", "d.csv: holds no document"),
        ("d.jsonl", '{"score": 1, "grade": [1]}', r'line 1: "grade" is \[1\]'),
        ("none.csv", None, "none.csv: no such file"),
    ],
)
def test_a_faulty_file_is_refused(
    tmp_path: Path, name: str, text: str | None, problem: str
) -> None:
    if text is not None:
        write(tmp_path / name, text)
    with pytest.raises(InputError, match=problem):
        read_scored(tmp_path / name)


def test_what_is_ignored_and_taken_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "bm25;label;note\n1,5;2;x\n0,25;;y\n")
    with noted() as notes:
        found = read_scored(path, options=ReadOptions(columns="score=bm25"))
    assert (found.scores.tolist(), found.grades) == ([1.5, 0.25], (2, None))
    assert notes == [
        "columns are separated by semicolons",
        "columns taken: grade=label",
        "1 unknown column is ignored: 'note'",
    ]
    with noted(), pytest.raises(InputError, match="unknown column 'note'"):
        read_scored(path, options=ReadOptions(columns="score=bm25", strict=True))


def asked(run: Run, *arguments: object) -> dict[str, object]:
    found = run("threshold", *arguments, "--json")
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    assert isinstance(document, dict)
    return document


def test_the_command_prints_thresholds_and_what_passes(run: Run, tmp_path: Path) -> None:
    """Sums 3, 6, 4, 5 after the two of .6, 3, 1, -1."""
    write(tmp_path / "d.csv", FILE)
    found = run("threshold", "d.csv")
    assert found.returncode == 0
    assert "8 documents, 5 judged" in found.stdout
    assert "relevant (grade above 0): 3, worth 3 each; all others, unjudged ones" in found.stdout
    assert "alpha = 0.1 + 0.9 exp(-0.05 N) = 0.800921, N = 5" in found.stdout
    words = [line.split() for line in found.stdout.splitlines()[-3:]]
    assert words[0] == ["theta_opt", "0.8", "2", "6"]
    assert words[1] == ["theta_zero", "0.2", "8", "-1"]
    assert words[2][0] == "theta"
    assert float(words[2][1]) == interpolated(0.8, 0.2, 5)  # in full: who passes depends on it
    assert words[2][2:] == ["6", "3"]


def test_the_command_as_json_with_beta_and_gamma(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "d.csv", FILE)
    found = asked(run, "d.csv", "--credit", 4, "--debit", 1, "--beta", 0, "--gamma", 1000)
    assert found["alpha"] == 0.0
    assert found["worth"] == {"credit": 4.0, "debit": 1.0, "relevant": "above 0"}
    assert found["theta"] == found["theta_opt"]
    assert found["theta_opt"] == {"score": 0.6, "documents": 5, "utility": 10.0}
    assert found["theta_zero"] == {"score": 0.2, "documents": 8, "utility": 7.0}
    assert (found["documents"], found["judged"], found["pays"]) == (8, 5, True)


def test_the_command_with_named_grades(
    run: Run, refused: Callable[..., str], tmp_path: Path
) -> None:
    rows = [(0.9, "good"), (0.8, "perfect"), (0.7, "bad"), (0.6, None)]
    text = "\n".join(json.dumps({"score": s, "grade": g}) for s, g in rows)
    write(tmp_path / "d.jsonl", text)
    found = asked(run, "d.jsonl", "--relevant", "perfect,good")
    assert found["theta_opt"] == {"score": 0.8, "documents": 2, "utility": 6.0}
    assert asked(run, "d.jsonl", "--relevant", "perfect")["pays"] is True
    assert "d.jsonl, line 1: the grade 'good' is a name" in refused("threshold", "d.jsonl")


def test_the_command_with_gains(run: Run, tmp_path: Path) -> None:
    """Sums 1, 1.4, .9, .8 after the two of .6, .3, -.2, -.7."""
    write(tmp_path / "d.csv", FILE)
    found = asked(run, "d.csv", "--gains", "2=1,1=.4,0=-0.5")
    assert found["theta_opt"] == {"score": 0.8, "documents": 2, "utility": 1.4}
    assert found["theta_zero"]["score"] == 0.3
    assert found["worth"] == {"gains": {"2": 1.0, "1": 0.4, "0": -0.5}, "cost": 0.0}
    shifted = asked(run, "d.csv", "--gains", "2=1.5,1=.9,0=0", "--cost", 0.5)
    assert shifted["theta"]["score"] == found["theta"]["score"]
    shown = run("threshold", "d.csv", "--gains", "2=1,1=.4,0=-0.5").stdout
    assert "gains by grade: 2 1, 1 0.4, 0 -0.5; cost of a document 0; unjudged" in shown
    assert "count as 0" in shown


def test_the_command_with_learned_gains(
    run: Run, refused: Callable[..., str], tmp_path: Path
) -> None:
    write(tmp_path / "d.csv", FILE)
    gains = {2: 1.0, 1: 0.6, 0: 0.0}
    dcg, utility = DCG(gains, [1, 0.5]), LinearUtility([[1, 0.6, 0], [0.5, 0.3, 0]], (2, 1, 0))
    write_measure(MeasureFile(dcg, utility, "dcg"), tmp_path / "learned.json")
    write_measure(MeasureFile(dcg, utility, "utility"), tmp_path / "w.json")
    typed = asked(run, "d.csv", "--gains", "2=1,1=.6,0=0", "--cost", 0.3)
    for name in ("learned.json", "w.json:dcg", "DCG({2: 1, 1: 0.6, 0: 0}, log2)"):
        assert asked(run, "d.csv", "--measure", name, "--cost", 0.3) == typed
    message = refused("threshold", "d.csv", "--measure", "w.json", "--cost", 0.3)
    assert "w.json: its weights differ by rank" in message
    assert "name its DCG: w.json:dcg" in message
    assert "--measure without --cost" in refused("threshold", "d.csv", "--measure", "learned.json")
    nameless = refused("threshold", "d.csv", "--measure", "DCG([1, 0], log2)", "--cost", 0.3)
    assert "its grades have no names" in nameless


def test_the_command_if_no_cut_pays(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "d.csv", "score,grade\n.9,\n.5,\n")
    found = run("threshold", "d.csv")
    assert "2 documents, 0 judged" in found.stdout
    assert "no cut brings utility above 0" in found.stdout
    document = asked(run, "d.csv")
    assert document["pays"] is False
    assert document["theta"] == {"score": 0.9, "documents": 1, "utility": -2.0}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--gains", "2=1,1=.4"], "d.csv, line 4: grade 0 is off the scale 2 > 1"),
        (
            ["--gains", "2=1,1=.4,0=.1"],
            "line 5: this document is not judged, and even with the grade 0 it would be worth 0.1",
        ),
        (["--gains", "2=1,2=0"], "--gains: a grade appears twice"),
        (["--gains", "2=1", "--credit", "3"], "--credit with --gains"),
        (["--cost", "1"], "--cost without --gains or --measure"),
        (["--relevant", "good"], "no document has the grade good; they have 0, 1, 2"),
        (["--beta", "2"], "--beta is 2"),
    ],
)
def test_the_command_refuses_in_one_line(
    refused: Callable[..., str], tmp_path: Path, options: list[str], problem: str
) -> None:
    write(tmp_path / "d.csv", FILE)
    assert problem in refused("threshold", "d.csv", *options)


def test_a_day_without_relevant_documents_is_ordinary(
    run: Run, refused: Callable[..., str], tmp_path: Path
) -> None:
    write(tmp_path / "d.csv", FILE)
    found = run("threshold", "d.csv", "--relevant", "3")
    assert found.returncode == 0
    assert found.stderr == "no document has the grade 3; they have 0, 1, 2\n"
    assert "relevant (grade 3): 0, worth 3 each" in found.stdout
    assert "no cut brings utility above 0" in found.stdout
    write(tmp_path / "n.csv", "score,grade\n.9,fair\n.8,bad\n")
    assert run("threshold", "n.csv", "--relevant", "good").returncode == 0
    problem = "no document has the grade fiar; did you mean 'fair'? they have bad, fair"
    assert problem in refused("threshold", "n.csv", "--relevant", "fiar")


def test_the_command_names_unknown_columns(
    run: Run, refused: Callable[..., str], tmp_path: Path
) -> None:
    write(tmp_path / "d.csv", "score,grade,note\n.9,1,x\n")
    assert "d.csv: unknown column 'note'" in refused("threshold", "d.csv", "--strict")
    found = run("threshold", "d.csv")
    assert found.returncode == 0
    assert "1 unknown column is ignored: 'note'" in found.stderr
    write(tmp_path / "e.csv", "bm25,label\n.8,0\n")
    both = run("threshold", "d.csv", "e.csv", "--columns", "score=bm25")
    assert both.returncode == 2
    assert "unknown column in --columns 'bm25'" in both.stderr
    write(tmp_path / "d.csv", "bm25,label\n.9,1\n")
    both = run("threshold", "d.csv", "e.csv", "--columns", "score=bm25")
    assert both.stdout.startswith("d.csv and 1 more: 2 documents, 2 judged\n")
