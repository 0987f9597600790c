"""What is concluded from ordinary and from bad judgments."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dcglearn import (
    JudgmentModel,
    Preferences,
    Scale,
    ask,
    usual_questions,
)
from dcglearn.base.errors import InputError
from dcglearn.inference import questions as conclusions
from dcglearn.inference.questions import conclude, judge_shares
from dcglearn.judgments.writing import write_preferences
from dcglearn.lab.simulation.judges import DESIGNS, SCALE, simulated_study
from dcglearn.learning.record import Estimated, HypothesisRecord
from dcglearn.report.study.facts import study_judgments
from dcglearn.report.study.page import headline
from dcglearn.report.words import verdict_sentences
from helpers.commands import run_commands
from helpers.simulated import with_ids

WORDS = np.array(["a", "b", "tie"])


def of_design(name: str, n: int, seed: int = 0) -> Preferences:
    return simulated_study(DESIGNS[name], n, np.random.default_rng(seed))


def test_one_random_judge_of_five_changes_nothing() -> None:
    data = of_design("spammer", 1500)
    found = conclude(data)
    assert found.answer == ("supported", "linear", "log2")
    shares = {one.judge: one for one in judge_shares(data, found)}
    worst = max(shares.values(), key=lambda one: one.lapses[0])
    assert worst.judge == "judge 0"
    assert worst.lapses[1] > 0.5
    assert all(one.without is not None for one in shares.values())


@pytest.mark.parametrize("seed", [0, 1])
def test_a_judge_who_only_guesses_is_no_reason_to_say_that_nobody_does(seed: int) -> None:
    """In the first of these the share is estimated at the most that a judge may lapse."""
    found = {one.about: one for one in usual_questions(of_design("spammer", 800, seed))}
    assert found["lapses"].verdict == "rejected"


def test_people_who_judged_once_make_no_sample_of_five(monkeypatch: pytest.MonkeyPatch) -> None:
    """What five said most of is about these five, as if the others had said nothing."""
    monkeypatch.setattr(conclusions, "MOST_LEFT_OUT", 0)
    data = of_design("spammer", 800)
    data = with_ids(data, judges=[*(f"once {i}" for i in range(25)), *data.judges[25:]])
    found = conclude(data)
    assert found.answer == ("supported", "linear", "log2")
    assert [one.name for one in found.free.evidence.ways] == ["query"]
    shares = judge_shares(data, found)
    assert len(shares) == 19
    assert {one.judge for one in shares[:5]} == {f"judge {i}" for i in range(5)}


def test_one_judge_who_changes_the_answer_is_named() -> None:
    """Two judges follow linear gains; a third, with most judgments, the best grade only."""
    rng = np.random.default_rng(4)
    gains = np.where(np.arange(1600) < 400, 0.5, 0.0)
    lists = rng.integers(0, 3, (1600, 2, 5)).astype(np.int8)
    worth = np.stack([np.ones(1600), gains, np.zeros(1600)], axis=1)
    found = np.take_along_axis(worth, lists.reshape(1600, -1), axis=1).reshape(lists.shape)
    v = 5 * (found / np.log2(np.arange(2, 7))).sum(axis=2) @ [1.0, -1.0]
    answers = WORDS[(v + rng.logistic(size=1600) < 0).astype(int)]
    judges = [("ann", "bob")[i % 2] if i < 400 else "cid" for i in range(1600)]
    queries = [f"q{i // 4}" for i in range(1600)]
    data = Preferences.of(lists, answers, SCALE, None, queries, judges)
    study = study_judgments(data, "x", rng)
    named = [one for one in headline(study) if one.startswith("Without judge")]
    assert [one.split()[2] for one in named] == ["cid"]


def test_test_fit_and_study_say_the_same(tmp_path: Path) -> None:
    data = of_design("spammer", 250, 1)
    path = tmp_path / "j.jsonl"
    write_preferences(data, path)
    said = {(one.about, one.hypothesis): one for one in usual_questions(data)}
    commands = ["study", "test", "test --gains linear", "fit -o m.json"]
    done = run_commands([[*one.split(), str(path), "--json"] for one in commands], tmp_path)
    assert not any(one.returncode for one in done), done[0].stderr
    study, tests, (alone,), _ = (json.loads(one.stdout) for one in done)
    of_study, of_test = (
        {(one["about"], one["hypothesis"]): one for one in found}
        for found in (study["questions"], tests)
    )
    assert of_study.keys() == of_test.keys() == said.keys()
    for key, one in said.items():
        for other in (of_study[key], of_test[key]):
            assert other["verdict"] == one.verdict
            assert other["corrected_p"] == pytest.approx(one.corrected, rel=1e-6)
    assert alone["corrected_p"] == pytest.approx(said["gains", "linear"].corrected, rel=1e-6)
    record = json.loads((tmp_path / "m.json").read_text())["about"]["certainty"]
    for one in record["hypotheses"]:
        assert one["verdict"] == said["gains", one["hypothesis"]].verdict


def test_a_gain_outside_its_interval_is_in_doubt_although_it_is_not_rejected() -> None:
    one = HypothesisRecord("linear", "not rejected", 0.2, (1, 0.5, 0), 0.25)
    given = Estimated("gain", 1, 1, 1, given=True)
    for low, words in ((0.6, "leave linear gains (middle"), (0.4, "do not contradict linear")):
        gains = given, Estimated("gain 1", 0.7, low, 0.8), given
        (said,) = verdict_sentences([one], gains, "more raters")
        assert said.startswith(f"These judgments {words}")
        assert said.endswith(" in doubt: more raters could decide.") == (low == 0.6)
    both = given, Estimated("gain 2", 0.75, 0.67, 0.83), Estimated("gain 1", 0.3, 0.2, 0.4), given
    of_four = HypothesisRecord("linear", "not rejected", 0.2, (1, 2 / 3, 1 / 3, 0), 0.25)
    for gains, doubt in ((both, False), (both[:2], True)):
        assert ("in doubt" in verdict_sentences([of_four], gains)[0]) == doubt


@pytest.mark.parametrize("design", ["one pair", "few queries"])
def test_judgments_that_cannot_say_much(design: str) -> None:
    data = of_design("even", 500)
    if design == "one pair":
        lists = np.broadcast_to([[0, 1, 2, 2, 1], [1, 0, 2, 1, 2]], (500, 2, 5))
        words = WORDS[(np.random.default_rng(0).random(500) < 0.2).astype(int)]
        said = Preferences.of(lists, words, Scale((2, 1, 0)), None, [f"q{i}" for i in range(500)])
    else:
        said = with_ids(data, [f"q{i % 6}" for i in range(500)])
    study = study_judgments(said, "x", np.random.default_rng(0))
    assert study.change == "not yet"
    for one in study.conclusion.questions:
        known = {"linear": (1, 1 / 2, 0), "exponential": (1, 1 / 3, 0)}
        assert one.gains == pytest.approx(known[one.hypothesis] if one.about == "gains" else ())


def test_a_best_grade_that_is_worth_nothing_gives_no_dcg() -> None:
    fit = JudgmentModel(gains="linear").fit(of_design("even", 300))
    nothing = fit.maximum._replace(parameters=0 * fit.parameters)
    with pytest.raises(InputError, match="best grade is worth as little"):
        _ = replace(fit, maximum=nothing).dcg


def test_p_is_doubled_for_what_decides_what_to_use() -> None:
    data = of_design("even", 300)
    for one in usual_questions(data):
        decides = one.about in ("measure", "gains", "discounts")
        assert one.corrected == min(1.0, 2 * one.test.p if decides else one.test.p)
    side = ask(data, JudgmentModel(side=False), JudgmentModel(), "no side")
    assert (side.about, side.corrected) == ("model", side.test.p)
