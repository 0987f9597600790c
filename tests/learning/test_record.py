"""Learned measures in files: what is written and read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    DCGLearner,
    MeasureFile,
    certainty_of,
    learn_dcg,
    learned_measure,
    parameter_intervals,
    read_preferences,
)
from dcglearn.learning.record import LearnedRecord, as_json
from dcglearn.measures.measure_files import measure_from_json, measure_to_json
from helpers.places import GOLDEN


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
    data = read_preferences(GOLDEN / "learned_from.jsonl")
    learner = DCGLearner(n_grades=3).fit(data.pairs, sample_weight=data.pair_weights)
    intervals = parameter_intervals(learner, data, np.random.default_rng(0), 20)
    content = learned_measure(
        learner,
        data,
        "learned_from.jsonl",
        intervals=intervals,
        certainty=certainty_of(data),
        usual=learn_dcg(data),
    )
    written, known = json.loads(measure_to_json(content)), golden()
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
