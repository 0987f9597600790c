"""How far learned gains and discounts move with other queries; learned measures in files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden.make_learned import learned

from dcglearn import (
    DCGLearner,
    InputError,
    MeasureFile,
    Preferences,
    SolverError,
    learned_measure,
    parameter_intervals,
)
from dcglearn.learning.record import LearnedRecord, as_json
from dcglearn.learning.solve import solve
from dcglearn.measures.measure import measure_from_json, measure_to_json
from dcglearn.report.measures import learned_text
from helpers.places import GOLDEN
from helpers.simulated import SCALE, simulated_judgments, weighted_and_repeated


def test_judgments_of_one_query_are_refused() -> None:
    data = simulated_judgments(40, 3)
    one = data[data.queries == data.queries[np.flatnonzero(data.strict)[0]]]
    learner = DCGLearner(n_grades=3).fit(data.pairs)
    with pytest.raises(InputError, match="intervals from judgments of one query"):
        parameter_intervals(learner, one, np.random.default_rng(0), 5)
    alone = replace(one, queries=np.array([None] * len(one)))
    with pytest.raises(InputError, match="intervals from 1 strict judgment; judge more lists"):
        parameter_intervals(learner, alone, np.random.default_rng(0), 5)


def test_a_judgment_counts_as_often_as_it_weighs() -> None:
    weighted, repeated = weighted_and_repeated(150, 3, least=1)
    unweighted = replace(weighted, weights=np.ones(len(weighted)))
    one, two, other = (
        parameter_intervals(DCGLearner().fit(data), data, np.random.default_rng(1), 15)
        for data in (weighted, repeated, unweighted)
    )
    assert one.gains == pytest.approx(two.gains, abs=1e-6)
    assert one.discounts == pytest.approx(two.discounts, abs=1e-6)
    assert one.discounts != pytest.approx(other.discounts, abs=1e-3)


def test_the_level_is_the_share_of_resamples_within() -> None:
    data = simulated_judgments(120, 4)
    learner = DCGLearner(n_grades=3).fit(data.pairs)
    rng = np.random.default_rng(2)
    each = [parameter_intervals(learner, data, rng, 1) for _ in range(30)]
    steps: list[tuple[int, int]] = []
    for options, level in (({}, 0.95), ({"level": 0.5}, 0.5)):
        found = parameter_intervals(
            learner,
            data,
            np.random.default_rng(2),
            30,
            advance=lambda done, total: steps.append((done, total)),
            **options,
        )
        assert (found.level, found.resamples) == (level, 30)
        tails = [(1 - level) / 2, (1 + level) / 2]
        for part in ("gains", "discounts"):
            drawn = np.array([getattr(one, part)[:, 0] for one in each])
            known = np.quantile(drawn, tails, axis=0).T
            assert getattr(found, part) == pytest.approx(known, abs=1e-12)
    assert steps == [(done, 30) for done in range(1, 31)] * 2


def test_c_is_chosen_again_in_each_resample_if_it_was_chosen() -> None:
    data = simulated_judgments(150, 5)
    chosen = DCGLearner(C="cv", n_grades=3).fit(data.pairs, groups=data.pair_groups)
    given = DCGLearner(C=chosen.C_, n_grades=3).fit(data.pairs)
    again, kept = (
        parameter_intervals(learner, data, np.random.default_rng(0), 5)
        for learner in (chosen, given)
    )
    assert kept.C == (chosen.C_, chosen.C_)
    assert again.C[0] < again.C[1]
    asked = parameter_intervals(given, data, np.random.default_rng(0), 5, choose="dcg")
    assert (asked.discounts == again.discounts).all()


def test_numbers_that_the_penalty_decides_have_none() -> None:
    data = simulated_judgments(100, 5)
    learner = DCGLearner(C=1e-3, n_grades=3).fit(data.pairs)
    by = learner.identifiability_.discounts_determined_by
    assert "ridge" in by
    found = parameter_intervals(learner, data, np.random.default_rng(0), 5)
    for bounds, origin in zip(found.discounts, by, strict=True):
        assert np.isnan(bounds).all() == (origin != "data")
    content = learned_measure(learner, data, "j.jsonl", intervals=found)
    record = LearnedRecord.read(measure_from_json(measure_to_json(content)))
    assert record is not None
    assert record.intervals is not None
    assert np.isnan(record.intervals.discounts).any()
    assert "nan" not in learned_text(content)


def test_resamples_without_a_difference_are_left_out() -> None:
    """The lists of one query in three differ; (2/3)^3 of the resamples lack it."""
    lists = np.array([[[0, 1], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 0]]])
    data = Preferences.of(lists, ["a"] * 3, SCALE, queries=["p", "q", "r"])
    learner = DCGLearner(n_grades=3).fit(data.pairs)
    found = parameter_intervals(learner, data, np.random.default_rng(0), 100)
    assert found.left_out == pytest.approx(100 * (2 / 3) ** 3, abs=10)
    with pytest.raises(InputError, match="1 of 1 resamples"):
        parameter_intervals(learner, data, np.random.default_rng(0), 1)
    assert found.gains[0].tolist() == [1, 1]


def test_a_few_resamples_that_are_not_solved_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    data = simulated_judgments(60, 4)
    learner = DCGLearner(n_grades=3).fit(data.pairs)
    solved, refused = [0], [1]

    def sometimes(*arguments: Any) -> Any:
        solved[0] += 1
        if solved[0] % 100 < refused[0]:
            raise SolverError("no solver reached a confirmed optimum")
        return solve(*arguments)

    monkeypatch.setattr("dcglearn.learning.resample.solve", sometimes)
    found = parameter_intervals(learner, data, np.random.default_rng(0), 200)
    assert found.left_out == 2
    text = learned_text(learned_measure(learner, data, "j.jsonl", intervals=found))
    assert "(2 left out: nothing to learn, or not solved)" in " ".join(text.split())
    refused[0] = 6
    with pytest.raises(SolverError, match="no solver reached"):
        parameter_intervals(learner, data, np.random.default_rng(0), 200)


# Learned measures in files


def golden() -> dict[str, Any]:
    return json.loads((GOLDEN / "learned.json").read_text())


def content_of(document: dict[str, Any]) -> MeasureFile:
    return measure_from_json(json.dumps(document))


def assert_alike(one: Any, other: Any, key: str = "") -> None:
    """Same keys in the same order, same values; numbers to 1e-9, for other processors.

    What is learned by steps that end once they bring next to nothing is the same to 1e-3.
    """
    if isinstance(one, dict):
        assert list(one) == list(other), key
        for name, value in one.items():
            assert_alike(value, other[name], f"{key}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), key
        for a, b in zip(one, other, strict=True):
            assert_alike(a, b, key)
    elif isinstance(one, float):
        assert type(other) is float, key
        rel = 1e-3 if re.match(r"\.(dcg|about\.(prior|certainty))\b", key) else 1e-9
        assert one == pytest.approx(other, rel=rel, abs=rel), key
    else:
        assert (type(one), one) == (type(other), other), key


def test_a_fit_writes_what_it_wrote() -> None:
    written, known = json.loads(measure_to_json(learned())), golden()
    for document in (written, known):
        for count in ("iterations", "passes"):  # of the solver, which may find a shorter path
            del document["about"]["solution"][count]
    assert_alike(known, written)


def test_a_record_is_read_as_it_was_written() -> None:
    document = golden()
    record = LearnedRecord.read(content_of(document))
    assert record is not None
    assert as_json(record) == document["about"]
    assert record.learned_from.strict == 55
    assert 0.9 < record.factors.rank_one_share < 1
    assert record.identifiability.constant_ranks == ()
    assert record.identifiability.determined_offsets == (False, False, False)
    assert record.intervals is not None
    assert record.intervals.gains[0].tolist() == [1.0, 1.0]


def drop(part: str, key: str) -> Callable[[dict[str, Any]], object]:
    return lambda about: about[part].pop(key)


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.pop("agreement"),
        drop("factors", "fixed_gains"),
        drop("intervals", "level"),
        lambda about: about.update(certificate="fine"),
        lambda about: about["factors"].update(gauge="best"),
    ],
)
def test_other_facts_are_not_taken_for_a_fit(change: Callable[[dict[str, Any]], object]) -> None:
    document = golden()
    change(document["about"])
    assert LearnedRecord.read(content_of(document)) is None
