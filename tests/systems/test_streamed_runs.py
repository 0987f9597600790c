"""Runs are read, graded and dropped one by one: with two threads everything is as with one."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest

from dcglearn import Evaluation, InputError, Rules, evaluate, read_run
from dcglearn.base import threads
from dcglearn.systems import inputs

QUERIES, LENGTH = 5, 400


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_processors", lambda: 2)


def lines(seed: int, tag: str = "same", length: int = LENGTH) -> list[str]:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(QUERIES + 1, length)), 2)
    documents = [rng.permutation(2 * LENGTH)[:length] for _ in scores]
    return [
        f"q{q} Q0 d{d} 1 {score} {tag}\n"
        for q, row in enumerate(scores)
        for d, score in zip(documents[q], row, strict=True)
    ]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[Path]]:
    qrels = tmp_path / "qrels"
    judged = [f"q{q} 0 d{d} {d % 3}\n" for q in range(QUERIES) for d in range(q, 300, 7)]
    qrels.write_text("".join(judged))
    runs = [tmp_path / f"run{i}.gz" for i in range(7)]
    for i, path in enumerate(runs):  # those after a long one would be finished first
        text = "".join(lines(i, length=LENGTH if i % 3 == 0 else 20))
        path.write_bytes(gzip.compress(text.encode()))
    return qrels, runs


def same(found: Evaluation, expected: Evaluation) -> bool:
    return (
        found.systems == expected.systems
        and found.values.tobytes() == expected.values.tobytes()
        and found.judged.tobytes() == expected.judged.tobytes()
        and found.extra == expected.extra
        and all(
            one.grades.tobytes() == other.grades.tobytes()
            for one, other in zip(found.runs, expected.runs, strict=True)
        )
    )


@pytest.mark.parametrize(
    "rules", [Rules(), Rules("mean", "removed"), Rules("mean", "worst"), Rules("input")]
)
def test_threads_change_nothing(
    files: tuple[Path, list[Path]], rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = files
    measures = ["nDCG([2, 1, 0.5], log2) @ 10", "linear-discount"]
    found = evaluate(qrels, runs, measures, rules=rules)
    assert found.systems == tuple(path.name for path in runs)  # they have the same tag
    alone = [
        evaluate(qrels, path, measures, rules=Rules(**{**vars(rules), "pool": "own"}))
        for path in runs
    ]
    monkeypatch.setattr(inputs, "READING_THREADS", 1)
    assert same(evaluate(qrels, runs, measures, rules=rules), found)
    own = evaluate(qrels, runs, measures, rules=Rules(**{**vars(rules), "pool": "own"}))
    assert np.array_equal(own.values[:, 0], [one.values[0, 0] for one in alone])


def test_the_pool_of_all_runs_counts_a_document_once(files: tuple[Path, list[Path]]) -> None:
    qrels, runs = files
    found = evaluate(qrels, runs, "nDCG([2, 1, 0.5], log2) @ 10", rules=Rules(unjudged="worst"))
    texts = [gzip.decompress(path.read_bytes()).decode() for path in runs]
    held, known = (
        {tuple(line.split()[:3:2]) for text in some for line in text.splitlines()}
        for some in (texts, [qrels.read_text()])
    )
    expected = [sum(query == f"q{q}" for query, _ in held - known) for q in range(QUERIES)]
    for run in found.runs:
        assert run.pooled is not None
        assert run.pooled.tolist() == expected


@pytest.mark.parametrize("first", [0, 1, 2, 5])
def test_the_first_faulty_run_is_named(files: tuple[Path, list[Path]], first: int) -> None:
    """It is found last: its fault is at the end of many lines, the others' at the beginning."""
    qrels, runs = files
    late = [*lines(first), "q1 Q0 d0 1 nothing same\n"]
    runs[first].write_bytes(gzip.compress("".join(late).encode()))
    for path in runs[first + 1 :]:
        path.write_text("q1 Q0 d0\n")
        path.rename(path.with_suffix(""))
    rest = [path.with_suffix("") for path in runs[first + 1 :]]
    for _ in range(3):
        with pytest.raises(InputError, match=f"run{first}.gz, line {len(late)}: "):
            evaluate(qrels, [*runs[: first + 1], *rest], "zipf")


def test_scores_that_only_rise_are_said_in_the_order_of_the_runs(
    files: tuple[Path, list[Path]],
) -> None:
    """Of distances the smallest is the best; one score that falls, or few steps, say nothing."""
    qrels, runs = files
    rising = [f"q{q} Q0 d{d} {d + 1} {d / 8} a\n" for q in range(2) for d in range(11)]
    longer = [f"q0 Q0 e{d} {d + 12} {d + 2} a\n" for d in range(400)]
    few_steps, turned = rising[1:], rising[::-1]
    some = [[*longer, *rising[11:]], [*rising, "q1 Q0 x 12 0 a\n"], few_steps, turned, rising]
    for path, lines_of_run in zip(runs, some, strict=False):
        path.write_bytes(gzip.compress("".join(lines_of_run).encode()))
    runs[5].write_bytes(gzip.compress(b"q1 Q0 x 1 1.7e308 a\nq1 Q0 y 2 -1.7e308 a\n"))
    with warnings.catch_warnings(record=True) as said:  # none of an overflow either
        warnings.simplefilter("always")
        evaluate(qrels, runs, "zipf")
    words = "the scores rise from line to line in every query, and the largest counts as the best"
    assert [str(one.message).partition(";")[0] for one in said] == [
        f"{runs[i]}: {words}" for i in (0, 4)
    ]


def test_only_documents_of_judged_queries_are_kept(files: tuple[Path, list[Path]]) -> None:
    """A document that appears twice is refused in every query."""
    qrels, runs = files
    assert len(read_run(runs[0], {f"q{q}" for q in range(QUERIES)})) == QUERIES * LENGTH
    for query in (f"q{QUERIES}", "q1"):
        text = "".join([f"q{QUERIES} Q0 d9 1 1 same\n", *lines(0), f"{query} Q0 d1 1 1 same\n" * 2])
        runs[0].write_bytes(gzip.compress(text.encode()))
        with pytest.raises(InputError, match=f"the document d1 appears twice for query {query}"):
            evaluate(qrels, runs[0], "zipf")


def test_a_preset_may_depend_on_the_longest_run(files: tuple[Path, list[Path]]) -> None:
    qrels, runs = files
    short = evaluate(qrels, runs[1:3], ["linear-discount", "linear-discount:20"]).values
    assert np.array_equal(short[:, 0], short[:, 1])
    both = evaluate(qrels, runs[:2], ["linear-discount", f"linear-discount:{LENGTH}"]).values
    assert np.array_equal(both[:, 0], both[:, 1])
    named = evaluate(qrels, runs[:2], {"mine": "linear-discount"})
    assert [one.name for one in named.measures] == ["mine"]
    assert np.array_equal(named.values[:, 0], both[:, 0])
