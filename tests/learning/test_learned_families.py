"""The learner in families: what is reported, written, exported and printed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from dcglearn import (
    DCGLearner,
    InputError,
    Scale,
    choose_C,
    export,
    learned_measure,
    write_preferences,
)
from dcglearn.families.vectors import DISCOUNT_FAMILIES, GAIN_FAMILIES
from dcglearn.interop.export import TARGETS
from dcglearn.learning.record import LearnedRecord
from dcglearn.measures.discounts import rule_discounts
from dcglearn.naming.measure_files import measure_from_json, measure_to_json
from dcglearn.report.learned_text import learned_text
from dcglearn.terminal.choices import DISCOUNT_FAMILY_NAMES, GAIN_FAMILY_NAMES
from helpers.commands import run_command
from helpers.simulated import simulated_judgments

DATA = simulated_judgments(800, 3, reliability=2.0)
LOG2_ONLY = ["trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost"]
"""Tools that refuse freely learned discounts."""


def test_given_discounts_stay_as_they_are() -> None:
    learner = DCGLearner(discounts="log2").fit(DATA)
    assert learner.dcg_.discounts_for(5).tolist() == rule_discounts("log2", 5).tolist()
    assert learner.score(DATA.pairs) > 0.9
    known = learner.identifiability_
    assert known.gauge == "worst"
    assert 0 < known.gain_share[1] < 1
    assert known.discount_share.tolist() == [1.0] * 5
    given = DCGLearner(discounts=rule_discounts("log2", 5)).fit(DATA)
    assert given.weights_.tolist() == learner.weights_.tolist()


def test_given_gains_stay_as_they_are() -> None:
    learner = DCGLearner(gains=(9.0, 3.0, 0.0)).fit(DATA)
    assert learner.dcg_.gains == (1.0, 3.0 / 9.0, 0.0)
    assert learner.certificate_.confirmed
    assert learner.identifiability_.gain_share.tolist() == [1.0] * 3


def test_formulas_use_the_values_of_the_scale() -> None:
    uneven = replace(DATA, scale=Scale((2, 1, 0), (10.0, 9.0, 0.0)))
    assert DCGLearner(gains="linear").fit(uneven).dcg_.gains == (1.0, 0.9, 0.0)
    by_hand = DCGLearner(gains="linear", grade_values=(10.0, 9.0, 0.0)).fit(DATA.pairs)
    assert by_hand.dcg_.gains == (1.0, 0.9, 0.0)
    with pytest.raises(InputError, match="grade values"):
        DCGLearner(gains="linear", grade_values=(1.0, 2.0, 0.0)).fit(DATA.pairs)


def test_without_families_nothing_changes() -> None:
    learner = DCGLearner().fit(DATA)
    assert learner.families_ is None
    assert learner.solution_.product is None
    assert DCGLearner(grade_values=(9, 1, 0)).fit(DATA).weights_.tobytes() == (
        learner.weights_.tobytes()
    )


@pytest.mark.parametrize("discounts", ["decreasing", "convex"])
def test_ordered_discounts_never_rise(discounts: str) -> None:
    for seed in range(6):  # few judgments, many of them random
        data = simulated_judgments(60, seed, reliability=0.3)
        c = DCGLearner(discounts=discounts).fit(data).dcg_.discounts_for(5)
        assert (np.diff(c) <= 0).all()
        assert discounts == "decreasing" or (np.diff(c, 2) >= -1e-9).all()


def test_reordered_lists_determine_discounts_up_to_an_affine_map() -> None:
    lists = np.sort(np.random.default_rng(0).integers(0, 3, (300, 1, 5)), axis=2)
    rng = np.random.default_rng(1)
    pairs = rng.permuted(np.repeat(lists, 2, axis=1), axis=2)
    u = np.array([2.0, 1.0, 0.0])[pairs] @ (1 / np.log2(np.arange(2, 7)))
    pairs = np.where((u[:, 0] >= u[:, 1])[:, None, None], pairs, pairs[:, ::-1])
    free = DCGLearner(gains="linear").fit(pairs)
    assert free.identifiability_.gauge == "worst order"
    assert free.dcg_.discounts_for(5).min() == 0
    assert free.identifiability_.discounts_determined_by == ["data"] * 5
    given = DCGLearner(discounts="log2").fit(pairs)
    assert given.identifiability_.gauge == "worst"


def test_the_share_of_the_data_grows_with_C_and_tends_to_1() -> None:
    shares = [
        DCGLearner(discounts="zipf:free", C=C).fit(DATA).identifiability_ for C in (1e-4, 1e-2, 1.0)
    ]
    for name in ("gain_share", "discount_share"):
        values = [getattr(one, name)[1] for one in shares]
        assert all(a < b for a, b in pairwise(values))
    assert shares[0].gains_determined_by[1] == "ridge"


def test_the_change_on_doubling_C_is_about_that_of_another_fit() -> None:
    for families in ({"discounts": "log2"}, {"gains": "linear"}, {"discounts": "convex"}):
        learner = DCGLearner(C=0.01, **families).fit(DATA)
        doubled = clone(learner).set_params(C=0.02).fit(DATA)
        change = max(
            np.abs(np.subtract(learner.dcg_.gains, doubled.dcg_.gains)).max(),
            np.abs(learner.dcg_.discounts_for(5) - doubled.dcg_.discounts_for(5)).max(),
        )
        assert learner.identifiability_.change_on_doubling_c == pytest.approx(
            change, rel=1, abs=1e-3
        )


@pytest.mark.parametrize(
    ("gains", "discounts", "words"),
    [
        (None, "log2", "gains free, discounts log2 (given)"),
        ("power:free", "log2", "gains power:free ("),
        ("free", "decreasing", "each given the other; the best of 3 starts"),
        ((4.0, 1.0, 0.0), None, "gains given, discounts free"),
    ],
)
def test_records_are_read_as_written(gains: object, discounts: str | None, words: str) -> None:
    learner = DCGLearner(gains=gains, discounts=discounts).fit(DATA)
    content = learned_measure(learner, DATA, "j.jsonl")
    again = measure_from_json(measure_to_json(content))
    record = LearnedRecord.read(again)
    assert record is not None
    assert record == LearnedRecord.read(content)
    assert again.dcg == content.dcg
    assert words in learned_text(again)
    assert "sigma_2" not in learned_text(again)
    assert record.families is not None
    if gains == "power:free":
        assert record.families.gain_parameter == pytest.approx(1.0, abs=0.2)


def test_given_discounts_are_taken_by_the_tools_that_refuse_learned_ones() -> None:
    free = learned_measure(DCGLearner().fit(DATA), DATA, "j").dcg
    given = learned_measure(DCGLearner(discounts="log2").fit(DATA), DATA, "j").dcg
    assert free is not None
    assert given is not None
    for target in TARGETS:
        export(given, target)
        if target in LOG2_ONLY:
            with pytest.raises(InputError):
                export(free, target)


def test_C_is_chosen_within_the_families() -> None:
    problem = DCGLearner(discounts="log2").fit(DATA)
    learner = clone(problem).set_params(C="cv").fit(DATA)
    assert learner.C_ in learner.choice_.grid
    assert learner.dcg_.discounts_for(5).tolist() == rule_discounts("log2", 5).tolist()
    restricted = learner.set_params(C=1.0).problem(DATA.pairs)
    chosen = choose_C(restricted, DATA.pair_groups, np.random.default_rng(0), use="dcg")
    assert chosen.C in chosen.grid


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gains": "linar"}, "unknown family of gains 'linar'; did you mean 'linear'"),
        ({"discounts": "decresing"}, "did you mean 'decreasing'"),
        ({"gains": "power:x"}, "does not give the exponent"),
        ({"gains": (1.0, 0.0)}, "gains of shape"),
        ({"discounts": "log2", "encoding": "documents"}, "documents have no grades"),
    ],
)
def test_families_that_cannot_be_learned(options: dict[str, object], message: str) -> None:
    documents = [[[0, 1, 2], [2, 1, 0]]]
    pairs = documents if "encoding" in options else DATA.pairs
    with pytest.raises(InputError, match=message):
        DCGLearner(**options).fit(pairs)


def test_names_on_the_command_line_are_those_of_the_library() -> None:
    assert GAIN_FAMILY_NAMES == GAIN_FAMILIES
    assert DISCOUNT_FAMILY_NAMES == DISCOUNT_FAMILIES


def test_fit_takes_families(tmp_path: Path) -> None:
    write_preferences(DATA, tmp_path / "j.jsonl")
    options = ("--gains", "1,0.4,0", "--discounts", "decreasing")

    def printed(*arguments: str) -> str:
        run = run_command(list(arguments), tmp_path, dict(os.environ))
        assert not run.returncode, run.stderr
        return run.stdout

    text = printed("fit", "j.jsonl", *options)
    assert "in the families: gains given, discounts decreasing" in text
    assert "1      0.400         0.400                   given" in text
    printed("pack", "j.jsonl", "p.parquet")
    files = [
        json.loads(printed("fit", name, *options, "--json")) for name in ("j.jsonl", "p.parquet")
    ]
    assert files[0]["dcg"] == files[1]["dcg"]
