"""The answer of a fit: sentences and intervals beside what was learned, or why there are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dcglearn.inference.fit_file as limits
from dcglearn import (
    Certainty,
    DCGLearner,
    JudgmentModel,
    MeasureFile,
    Preferences,
    Scale,
    certainty_of,
    learned_measure,
    usual_questions,
    write_preferences,
)
from dcglearn.learning.record import LearnedRecord
from dcglearn.measures.measure_files import measure_from_json, measure_to_json
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.report.measures import answer, learned_text
from dcglearn.report.questions import questions_text
from dcglearn.report.words import judged_pairs, p_phrase, short
from helpers.simulated import preset_judgments

FIVE = Scale(("perfect", "good", "fair", "poor", "bad"))


def learned(data: Preferences, certainty: Certainty) -> MeasureFile:
    return learned_measure(DCGLearner().fit(data), data, "j.jsonl", certainty=certainty)


def sentences(data: Preferences, **families: Any) -> list[str]:
    return answer(learned(data, certainty_of(data, **families)))


def test_numbers_and_shares_in_words() -> None:
    assert [short(x) for x in (-0.001, 0.5, -0.25, 0.994, 0.996, 12.0)] == [
        ".00",
        ".50",
        "-.25",
        ".99",
        "1.00",
        "12.00",
    ]
    assert [judged_pairs(x) for x in (0.0, 0.016, 0.3, 0.34, 0.7, 0.99)] == [
        "no judged pair",
        "1 in 62 judged pairs",
        "1 in 3 judged pairs",
        "34% of judged pairs",
        "70% of judged pairs",
        "99% of judged pairs",
    ]
    assert [p_phrase(p) for p in (1e-9, 0.0131, 1.0)] == ["p < .001", "p = .013", "p = 1"]


def test_the_answer_has_the_numbers_of_the_model_and_of_its_tests() -> None:
    data = preset_judgments("linear-log2", 3000, 1)
    one = JudgmentModel().fit(data).gains()[1]
    found = sentences(data)
    numbers = [f"{number:.2f}".lstrip("0") for number in (one.estimate, one.low, one.high)]
    assert found[0] == (
        f"The middle grade is worth {numbers[0]} of the best (95% interval {numbers[1]} to "
        f"{numbers[2]})."
    )
    about_gains = {one.hypothesis: one for one in usual_questions(data) if one.about == "gains"}
    changed = round(1 / about_gains["exponential"].reversed_judged)
    assert found[1] == (
        f"These judgments contradict 2^g - 1 (middle grade .33, 1 in {changed} judged pairs would "
        "be ordered differently)."
    )
    assert found[2] == "They do not contradict linear gains (middle grade .50)."
    record = LearnedRecord.read(learned(data, certainty_of(data)))
    assert record is not None
    assert record.certainty is not None
    stored = {one.hypothesis: one.p for one in record.certainty.hypotheses}
    assert stored == {name: one.corrected for name, one in about_gains.items()}


def test_many_grades_are_named() -> None:
    data = preset_judgments("linear-log2", 4000, 2, FIVE)
    found = sentences(data)
    assert found[0].startswith("Grade good is worth .")
    assert found[0].count(" to .") == 3
    assert ", grade fair ." in found[0]
    assert "middle" not in " ".join(found)


def test_two_grades_leave_discounts() -> None:
    found = sentences(preset_judgments("linear-log2", 600, 3, Scale((1, 0))))
    assert len(found) == 1
    assert found[0].startswith("There are two grades, so gains are not in question; rank 2 counts")


def test_a_record_is_read_as_it_was_written() -> None:
    data = preset_judgments("linear-log2", 400, 5)
    content = learned(data, certainty_of(data, discounts="decreasing"))
    again = measure_from_json(measure_to_json(content))
    assert learned_text(again) == learned_text(content)
    assert "95% interval" in learned_text(again)


def test_without_query_ids_judgments_count_as_independent() -> None:
    data = preset_judgments("linear-log2", 400, 6)
    alone = Preferences.of(data.lists, np.array(["a", "b"])[data.answers], data.scale)
    words = " ".join(learned_text(learned(alone, certainty_of(alone))).split())
    assert "no judgment is known to share its query with another, so each is independent" in words
    named = " ".join(learned_text(learned(data, certainty_of(data))).split())
    assert "judgments that share a query are kept together" in named


def test_empty_ranks_are_said_where_they_matter() -> None:
    data = preset_judgments("linear-log2", 600, 11)
    lists = data.lists.copy()
    lists[::3, 0, 3] = NO_DOCUMENT
    words = np.array(["a", "b"])[data.answers]
    short = Preferences.of(lists, words, data.scale, None, [str(one) for one in data.queries])
    for judged, said in ((short, True), (data, False)):
        certainty = certainty_of(judged)
        text = " ".join(learned_text(learned(judged, certainty)).split())
        assert ("what an empty rank is worth is estimated as well" in text) == said
        assert ("differ in their empty ranks" in questions_text(certainty.questions)) == said


def test_answers_at_random_determine_nothing() -> None:
    """Or, as intervals of 95% do, something by chance."""
    rng, determined = np.random.default_rng(1), 0
    for _ in range(6):
        lists = rng.integers(0, 4, size=(30, 2, 4))
        data = Preferences.of(lists, rng.choice(["a", "b"], 30), Scale((3, 2, 1, 0)))
        certainty = certainty_of(data)
        assert not certainty.reason
        assert not certainty.untested
        assert certainty.fit is not None
        determined += any(one.determined for one in certainty.fit.gains() if not one.given)
        assert "rejected" not in {one.verdict for one in certainty.questions}
    assert determined <= 1


def test_a_fit_without_an_estimate_says_why() -> None:
    words = learned_text(
        learned(preset_judgments("linear-log2", 100, 10), Certainty(reason="noise"))
    )
    assert words.split("\n\n")[0].endswith("of the best. No interval: noise.")


def test_many_judgments_are_left_to_other_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    data = preset_judgments("linear-log2", 400, 7)
    monkeypatch.setattr(limits, "MAX_COST", 1)
    content = learned(data, certainty_of(data))
    assert answer(content)[0].startswith("The middle grade is worth .")
    assert answer(content)[1].startswith("No interval: 400 strict judgments of lists of 4 take")
    assert "estimate" not in learned_text(content)


def test_lists_of_many_ranks_are_left_to_other_commands() -> None:
    """The time grows with the cube of the number of parameters."""
    rng = np.random.default_rng(0)
    lists = rng.integers(0, 3, size=(60, 2, 200))
    data = Preferences.of(lists, rng.choice(["a", "b"], 60), Scale((2, 1, 0)))
    assert certainty_of(data).reason.startswith("60 strict judgments of lists of 200 take")


def test_the_command_answers_first(tmp_path: Path, run: Any) -> None:
    write_preferences(preset_judgments("linear-log2", 600, 8), tmp_path / "p.jsonl")
    done = run("fit", "p.jsonl", "-o", "learned.json")
    assert done.returncode == 0, done.stderr
    head, source, gains, *_ = done.stdout.split("\n\n")
    assert head.startswith("The middle grade is worth .")
    assert source.startswith("p.jsonl: 600 judgments")
    assert gains.splitlines()[0].split("  ")[:2] == ["grade", "learned gain"]
    shown = run("show", "learned.json", "--no-figure")
    assert head in shown.stdout
    printed = json.loads(run("fit", "p.jsonl", "--json").stdout)["about"]["certainty"]
    assert printed == json.loads((tmp_path / "learned.json").read_text())["about"]["certainty"]
    assert printed["gains"][1]["low"] < printed["gains"][1]["estimate"]


def test_documents_have_no_interval_and_say_why(tmp_path: Path, run: Any) -> None:
    (tmp_path / "d.csv").write_text(
        "query,a,b,answer\nq1,d1 d2 d3,d3 d2 d1,a\nq2,d2 d1 d3,d1 d3 d2,a\n"
    )
    documents = run("fit", "d.csv", "--documents").stdout
    assert documents.startswith("d.csv: 2 judgments")
    assert (
        "no interval: the model of the judgment takes grades, and documents have none" in documents
    )
