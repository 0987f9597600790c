"""Real side-by-side judgments, and published numbers about them.

Urbano & Marrero, ECIR 2015: 4,115 crowd judgments of two rankings of five documents.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from dcglearn import (
    DCG,
    DCGLearner,
    JudgmentModel,
    LinearUtility,
    Preferences,
    agreement,
    compare,
    inspect_judgments,
    preset,
    usual_presets,
)
from dcglearn.learning.factorise import rank_one
from helpers.commands import run_program

SCRIPT = ROOT / "scripts" / "prepare_ecir2015.py"


def test_counts_of_the_file(ecir: Preferences) -> None:
    found = inspect_judgments(ecir).summary
    assert found.judgments == 4115
    assert found.answers == {"a": 1019, "b": 1071, "tie": 0, "good": 969, "bad": 1056}
    assert (found.strict, found.queries, found.n_ranks, found.n_grades) == (2090, 432, 5, 3)
    assert found.identical == 20


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("linear-log2", 0.8967),
        ("zipf", 0.8916),
        ("constant", 0.8926),
        ("exponential-log2", 0.8943),
        ("binary:2", 0.8598),
    ],
)
def test_agreement_of_presets(ecir: Preferences, name: str, known: float) -> None:
    assert round(agreement(preset(name, ecir.scale, 5), ecir.pairs), 4) == known


def test_the_learned_measure(ecir: Preferences) -> None:
    learner = DCGLearner(n_grades=3).fit(ecir.pairs)
    factors = learner.factors_
    assert factors.gains == pytest.approx([1, 0.65, 0], abs=0.005)
    assert factors.discounts == pytest.approx([1, 0.39, 0.48, 0.38, 0.27], abs=0.005)
    assert factors.second_ratio == pytest.approx(0.08, abs=0.005)
    assert round(agreement(learner.utility_, ecir.pairs), 4) == 0.8976
    assert round(agreement(LinearUtility(rank_one(learner.weights_)), ecir.pairs), 4) == 0.8986
    assert round(agreement(learner.dcg_, ecir.pairs), 4) == 0.9000
    assert learner.identifiability_.rank == 10
    assert min(learner.identifiability_.discount_share) > 0.99


def test_cross_validated_it_does_not_clearly_beat_the_best_preset(ecir: Preferences) -> None:
    rng = np.random.default_rng(0)
    found = compare(ecir, usual_presets(ecir.scale, 5), DCGLearner(), rng, n_folds=5, n_repeats=1)
    rows = {row.name: row for row in found.rows}
    assert rows["linear-log2"].verdict == "undecided"
    assert rows["binary:2"].verdict == "learned better"


def test_the_published_file_becomes_the_judgments(published: Path, prepared: Path) -> None:
    """Equal to the file that others recovered, if it is next to the published one."""
    known = published.with_name("ecir2015.jsonl")
    if not known.is_file():
        pytest.skip("ecir2015.jsonl is not next to the published file")
    assert prepared.read_bytes() == known.read_bytes()


def test_a_file_that_was_changed_is_refused(published: Path, tmp_path: Path) -> None:
    rows = published.read_text().splitlines()[:3]
    (tmp_path / "changed.csv").write_text("\n".join(rows).replace("0.281", "0.289", 1))
    run = run_program([sys.executable, SCRIPT, "changed.csv", "-o", "out.jsonl"], tmp_path)
    assert run.returncode == 2
    assert "line 2: 0 rankings give the scores of side B" in run.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_what_a_tenth_of_random_answers_does_to_a_model_without_them(ecir: Preferences) -> None:
    rng, judge, n = np.random.default_rng(0), DCG([3, 1, 0]), 100_000
    lists = ecir.lists[rng.integers(len(ecir), size=n)]
    lead = judge.score(lists[:, 0]) - judge.score(lists[:, 1])
    first = rng.random(n) < 0.05 + 0.9 / (1 + np.exp(-lead))
    data = Preferences.of(lists, np.where(first, "a", "b").astype(object), ecir.scale)
    with_them, without = (
        JudgmentModel(discounts="log2", lapses=lapses).fit(data).gains()[1]
        for lapses in (True, False)
    )
    assert with_them.low < 1 / 3 < with_them.high
    assert round(without.estimate, 2) == 0.36  # docs/certainty.md
    assert without.low > 1 / 3
