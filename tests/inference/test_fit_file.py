"""From a file of judgments to a measure file, in one call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcglearn import (
    DCGLearner,
    PackedPairs,
    Preferences,
    Scale,
    fit_file,
    preset,
    write_preferences,
)
from dcglearn.measures.measure import measure_to_json
from helpers.commands import Run
from helpers.written import write_packed


@pytest.fixture
def data(tmp_path: Path, rng: np.random.Generator) -> Preferences:
    """Judgments, which are also in p.jsonl and, packed, in p.parquet."""
    lists = rng.integers(0, 3, (200, 2, 3))
    first, second = preset("linear-log2", Scale((2, 1, 0)), 3).score(lists).T
    answers = np.where(first + rng.normal(0, 0.5, 200) > second, "a", "b").astype(object)
    queries = [f"q{i}" for i in rng.integers(0, 30, 200)]
    found = Preferences.of(lists, answers, Scale((2, 1, 0)), queries=queries)
    write_preferences(found, tmp_path / "p.jsonl")
    write_packed(found, tmp_path / "p.parquet", found.scale)
    return found


def test_it_is_what_the_command_does(run: Run, data: Preferences) -> None:
    asked: dict[str, Any] = {"C": "cv", "intervals": 3, "draws": 4, "seed": 7, "use": "utility"}
    options = [part for name, value in asked.items() for part in (f"--{name}", value)]
    printed = run("fit", "p.jsonl", *options, "--json")
    content = fit_file(data, **asked, source="p.jsonl")
    assert json.loads(measure_to_json(content)) == json.loads(printed.stdout)


def test_packed_judgments_are_read_in_parts(tmp_path: Path, data: Preferences) -> None:
    whole = fit_file(data, draws=3)
    for packed in (tmp_path / "p.parquet", PackedPairs.of(tmp_path / "p.parquet")):
        parts = fit_file(packed, draws=3)
        assert parts.dcg == whole.dcg
        assert parts.utility is not None
        assert whole.utility is not None
        np.testing.assert_allclose(parts.utility.weights, whole.utility.weights, atol=1e-9)


def test_arguments_of_the_readers(tmp_path: Path, data: Preferences) -> None:
    (tmp_path / "d.csv").write_text("l,r,answer\nd1 d2,d2 d1,a\nd1 d2,d2 d1,a\n")
    found = fit_file(tmp_path / "d.csv", documents=True, columns="a=l,b=r")
    assert found.dcg is not None
    assert found.dcg.grades == ("d1", "d2")
    assert found.about["learned_from"] == {"file": "d.csv", "judgments": 2, "strict": 2}


def test_what_it_starts_from(data: Preferences) -> None:
    named, none = fit_file(data, prior="zipf"), fit_file(data, prior="none")
    own = fit_file(data, prior=preset("zipf", data.scale, 3))
    assert named.dcg == own.dcg
    assert named.about["prior"]["centres"] == {"zipf": 1.0}
    assert none.dcg is not None
    assert none.dcg.gains == pytest.approx(DCGLearner().fit(data).dcg_.gains)
    assert "prior" not in none.about
    assert named.utility == none.utility
