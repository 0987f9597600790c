"""The answer of a fit: sentences and intervals beside what was learned, or why there are none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dcglearn.inference.fit_file as limits
from dcglearn import (
    Certainty,
    DCGLearner,
    InputWarning,
    JudgmentModel,
    MeasureFile,
    Preferences,
    certainty_of,
    inspect_judgments,
    learned_measure,
    usual_questions,
)
from dcglearn.learning.record import LearnedRecord
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.report.measures import answer, learned_text
from dcglearn.report.questions import questions_text
from dcglearn.report.words import judged_pairs, p_phrase, short
from helpers.simulated import logistic_judgments, preset_judgments


def learned(data: Preferences, certainty: Certainty) -> MeasureFile:
    return learned_measure(DCGLearner().fit(data), data, "j.jsonl", certainty=certainty)


@pytest.mark.parametrize(
    ("word", "numbers", "shown"),
    [
        (short, (-0.001, 0.5, -0.25, 0.996, 12.0), (".00", ".50", "-.25", "1.00", "12.00")),
        (p_phrase, (1e-9, 0.0131, 1.0), ("p < .001", "p = .013", "p = 1")),
        (
            judged_pairs,
            (0.0, 0.016, 0.34),
            ("no judged pair", "1 in 62 judged pairs", "34% of judged pairs"),
        ),
    ],
)
def test_numbers_and_shares_in_words(
    word: Callable[[float], str], numbers: tuple[float, ...], shown: tuple[str, ...]
) -> None:
    assert tuple(map(word, numbers)) == shown


def test_the_answer_has_the_numbers_of_the_model_and_of_its_tests() -> None:
    data = preset_judgments("linear-log2", 3000, 1)
    one = JudgmentModel().fit(data).gains()[1]
    content = learned(data, certainty_of(data))
    found = answer(LearnedRecord.read(content), content.dcg)
    assert all(short(number) in found[0] for number in (one.estimate, one.low, one.high))
    about_gains = {one.hypothesis: one for one in usual_questions(data) if one.about == "gains"}
    changed = judged_pairs(about_gains["exponential"].reversed_judged)
    assert "contradict 2^g - 1" in found[1]
    assert changed in found[1]
    assert found[2] == "They do not contradict linear gains (middle grade .50)."
    record = LearnedRecord.read(content)
    assert record is not None
    assert record.certainty is not None
    stored = {one.hypothesis: one.corrected for one in record.certainty.hypotheses}
    assert stored == {name: one.corrected for name, one in about_gains.items()}


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
        assert ("differ in their empty ranks" in questions_text(certainty.hypotheses)) == said


def test_better_grades_that_lose_and_gains_that_rise_are_said(rng: np.random.Generator) -> None:
    log2 = 1 / np.log2(np.arange(2, 7))
    losing = usual_questions(
        lost := logistic_judgments(4 * np.outer(log2, [-1, -0.5, 0]), 600, rng)
    )
    assert {one.verdict for one in losing if one.about in ("measure", "gains")} == {"rejected"}
    assert "better lists lose" in questions_text(losing)
    with pytest.warns(InputWarning, match="upside down"):
        inspect_judgments(lost)
    rising = logistic_judgments(4 * np.outer(log2, [0.6, 1, 0]), 900, rng)
    content = learned(rising, certainty_of(rising))
    said = answer(LearnedRecord.read(content), content.dcg)
    assert said[-1].endswith("so the gain of 1 is not in its interval (see study).")


def test_many_judgments_are_left_to_other_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    data = preset_judgments("linear-log2", 400, 7)
    monkeypatch.setattr(limits, "MAX_COST", 1)
    content = learned(data, certainty_of(data))
    assert answer(LearnedRecord.read(content), content.dcg)[0].startswith(
        "No interval: 400 strict judgments of lists of 4 take"
    )
    assert "estimate" not in learned_text(content)
