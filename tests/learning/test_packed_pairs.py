"""Packed pairs: files and folders of them, and problems that are solved from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    DCGLearner,
    InputError,
    PackedPairs,
    Preferences,
    Problem,
    Scale,
    agreement,
    drawn_lists,
    fit,
    packed_writer,
    preset,
    solve,
    true_pairs,
    write_preferences,
)
from dcglearn.base.workers import open_workers
from dcglearn.cli import options
from dcglearn.judgments import packed
from dcglearn.learning import source
from helpers.truths import DATA_1
from helpers.written import write_packed

FIVE = Scale((4, 3, 2, 1, 0))


@pytest.fixture
def pairs(rng: np.random.Generator) -> np.ndarray:
    """Some with empty ranks, a tenth of them reversed."""
    found = true_pairs(DATA_1, drawn_lists(3000, 6, [0.2] * 5, rng, shortest=3))
    swapped = rng.random(len(found)) < 0.1
    found[swapped] = found[swapped][:, ::-1]
    return found


@pytest.fixture
def folder(tmp_path: Path, pairs: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files of several row groups each."""
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 500)
    (tmp_path / "many").mkdir()
    write_packed(pairs[:1700], tmp_path / "many" / "a.parquet", FIVE)
    with packed_writer(tmp_path / "many" / "b.parquet", FIVE) as write:
        write(pairs[1700:2000])
        write(pairs[2000:])
    return tmp_path / "many"


@pytest.mark.parametrize("margin", ["unit", "hamming"])
@pytest.mark.parametrize("weighed", [False, True])
def test_the_answer_is_that_of_the_pairs_in_memory(
    tmp_path: Path,
    pairs: np.ndarray,
    folder: Path,
    margin: str,
    weighed: bool,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = rng.integers(0, 3, len(pairs)).astype(float) if weighed else None
    if weighed:
        write_packed(pairs[:1700], folder / "a.parquet", FIVE, weights[:1700])
        write_packed(pairs[1700:], folder / "b.parquet", FIVE, weights[1700:])
    monkeypatch.setattr("dcglearn.learning.newton.SUBSAMPLE_MIN", 1000)
    monkeypatch.setattr("dcglearn.learning.newton.SUBSAMPLE_FROM", 1)
    monkeypatch.setattr(source, "MAX_BLOCK_PAIRS", 300)
    problem = Problem.packed(PackedPairs.of(folder), margin, 3.0)
    found = solve(problem)
    twin = solve(Problem.of(pairs, 5, margin, weights, 3.0))
    assert found.certificate.confirmed
    assert pytest.approx(twin.W, abs=1e-9) == found.W
    assert found.certificate.active_pairs == twin.certificate.active_pairs
    if weighed:
        with open_workers("2") as workers:  # the same bits in processes as on threads
            there = Problem.packed(PackedPairs.of(folder), margin, 3.0, workers=workers)
            assert (solve(there).W == found.W).all()
    measure = preset("zipf", FIVE, 6)
    assert problem.agreements([measure]) == pytest.approx([agreement(measure, pairs, weights)])
    learned = fit(problem)
    again = DCGLearner(margin=margin, C=3.0).fit(pairs, sample_weight=weights)
    assert learned.dcg.gains == pytest.approx(again.dcg_.gains, abs=1e-8)
    assert learned.identifiability.undetermined() == again.identifiability_.undetermined()
    assert agreement(learned.dcg, pairs) == again.score(pairs)


def test_only_newton_reads_row_groups(folder: Path) -> None:
    with pytest.raises(InputError, match="the pairs are in files"):
        solve(Problem.packed(PackedPairs.of(folder)), "clarabel")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[[0, 1], [0, 1]]] * 9, r"strict preferences \(18\) are between identical lists"),
        ([[[0, -1], [-1, -1]]], "only one grade occurs"),
    ],
)
def test_nothing_can_be_learned(folder: Path, rows: list[Any], message: str) -> None:
    for path in folder.iterdir():
        write_packed(rows, path, FIVE)
    with pytest.raises(InputError, match=message):
        Problem.packed(PackedPairs.of(folder))


def test_row_groups_without_a_difference_have_no_effect(folder: Path, pairs: np.ndarray) -> None:
    write_packed(np.repeat(pairs[:9, :1], 2, axis=1), folder / "c.parquet", FIVE)
    write_packed(pairs[:9], folder / "d.parquet", FIVE, np.zeros(9))
    with_them = solve(Problem.packed(PackedPairs.of(folder)))
    assert pytest.approx(solve(Problem.of(pairs, 5)).W, abs=1e-10) == with_them.W


def test_what_takes_too_much_memory_is_to_be_packed_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = Preferences.of([[[0, 1], [1, 1]]] * 500, ["a"] * 500, Scale((1, 0)))
    write_preferences(data, tmp_path / "p.csv")
    monkeypatch.setattr(options, "MOST_IN_MEMORY", 1000)
    with pytest.raises(InputError, match="500 judgments") as refused:
        options.JudgmentOptions().load([str(tmp_path / "p.csv")])
    assert "dcglearn pack" in refused.value.remedy
