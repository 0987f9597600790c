"""Public functions with odd arguments: a result, or an error that says what to give instead."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dcglearn as d
from dcglearn.base.errors import LONGEST_PART

PAIRS = np.array([[[0, 1, 2], [2, 1, 0]], [[0, 0, 1], [1, 2, 2]], [[0, 2, 2], [1, 1, 2]]])
QRELS = {"q": {"d1": 2, "d2": 0}, "r": {"d1": 1, "d2": 0}}
RUNS = {"one": {"q": {"d1": 2.0, "d2": 1.0}}, "two": {"q": {"d2": 2.0}, "r": {"d1": 1.0}}}
D = d.DCG([2, 1, 0])
TABLE = d.advantage([1, 2], [2, 0], 3)
RANKED = d.ranked_arrays(np.array([[1, 0, 0]]), np.array([[0.3, 0.2, 0.1]]), 2)
NORMALISED = d.evaluate(QRELS, RUNS, "ndcg@2", rules=d.coherence_rules(d.Rules()))
EVALUATION = d.evaluate(QRELS, RUNS, ["zipf", "linear-log2"], rules=d.coherence_rules(d.Rules()))
UTILITY = d.LinearUtility([[2, 1, 0], [1, 0.5, 0], [0.5, 0.2, 0]])
RNG = np.random.default_rng

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "DCG": (
        d.DCG,
        {"gains": [2, 1], "discounts": "log2", "cutoff": 2, "normalise": "ideal", "grades": "ab"},
    ),
    "DCG.score": (D.normalised().score, {"rankings": [[0, 1, 2]], "pools": [[0, 1, 2]]}),
    "DCG.ideal": (D.ideal, {"pools": [[0, 1, 2]]}),
    "DCG.utility": (D.utility, {"n_ranks": 3}),
    "DCG.parse": (d.DCG.parse, {"text": "DCG([1, 0], log2)"}),
    "LinearUtility": (d.LinearUtility, {"weights": [[2, 1], [1, 0]], "grades": ["a", "b"]}),
    "LinearUtility.score": (UTILITY.score, {"rankings": [[0, 1, 2]]}),
    "LinearUtility.ideal": (UTILITY.ideal, {"pools": [[0, 1, 2]]}),
    "Scale": (d.Scale, {"labels": (2, 1, 0), "values": (2, 1, 0)}),
    "Scale.parse": (d.Scale.parse, {"text": "2,1,0"}),
    "Scale.index": (d.Scale((2, 1, 0)).index, {"label": 2}),
    "preset": (d.preset, {"name": "zipf", "scale": "2,1,0", "n_ranks": 5}),
    "usual_presets": (d.usual_presets, {"scale": "2,1,0", "n_ranks": 5}),
    "measure_for": (d.measure_for, {"text": "zipf", "scale": "2,1,0", "n_ranks": 3}),
    "agreement": (d.agreement, {"measure": D, "pairs": PAIRS, "sample_weight": np.ones(3)}),
    "Rules": (d.Rules, {"ties": "mean", "unjudged": "worst"}),
    "evaluate": (d.evaluate, {"qrels": QRELS, "runs": RUNS, "measures": "zipf", "scale": "2,1,0"}),
    "compare_systems": (
        d.compare_systems,
        {"evaluation": EVALUATION, "baseline": "one", "rng": RNG(0), "test": "t", "resamples": 9},
    ),
    "compare_all_pairs": (
        d.compare_all_pairs,
        {"evaluation": EVALUATION, "rng": RNG(0), "resamples": 9, "correct": "all"},
    ),
    "system_pairs": (
        d.system_pairs,
        {
            "evaluation": EVALUATION,
            "measure": d.DCG({2: 2, 1: 1, 0: 0}, "zipf"),
            "n_ranks": 2,
            "max_boxes": 50,
        },
    ),
    "system_conclusions": (
        d.system_conclusions,
        {
            "evaluation": NORMALISED,
            "n_ranks": 2,
            "rng": RNG(0),
            "between": [("one", "two")],
            "alpha": 0.1,
            "resamples": 9,
            "max_boxes": 50,
        },
    ),
    "index_qrels": (lambda scale: d.index_qrels(d.qrels_of(QRELS), scale), {"scale": "2,1,0"}),
    "ranked_arrays": (
        d.ranked_arrays,
        {"grades": np.array([[1, 0]]), "scores": np.array([[0.3, 0.2]]), "n_grades": 2, "top": 2},
    ),
    "score_runs": (
        d.score_runs,
        {"measure": d.DCG([1, 0]), "ranked": RANKED, "unjudged_gain": 0.0},
    ),
    "beta_gamma_threshold": (
        d.beta_gamma_threshold,
        {"scores": [0.9, 0.8], "utilities": [3, -2], "judged": [True, False], "beta": 0.1},
    ),
    "advantage": (d.advantage, {"a": [1, 2], "b": [2, 0], "n_grades": 3}),
    "verdict": (
        d.verdict,
        {"D": TABLE, "gains": [3, 2, 0.5], "discounts": [1.5, 0.5], "worst_gain": "zero"},
    ),
    "smallest_change_of_gains": (
        d.smallest_change_of_gains,
        {"D": TABLE, "gains": [3, 2, 0.5], "discounts": [1.5, 0.5], "norm": "euclidean"},
    ),
    "smallest_change_of_discounts": (
        d.smallest_change_of_discounts,
        {"D": TABLE, "gains": [3, 2, 0.5], "discounts": [1.5, 0.5], "norm": "largest"},
    ),
    "mean_verdict": (
        d.mean_verdict,
        {
            "a": [[0, 1, 1]],
            "b": [[1, 1, 0]],
            "pools": [[0, 1, 1, 1]],
            "discounts": "log2",
            "n_grades": 2,
            "worst_gain": "nonnegative",
            "resolution": 1e-3,
            "max_boxes": 50,
        },
    ),
    "explain": (d.explain, {"first": D, "second": D, "a": [0, 2, 2], "b": [1, 1, 2]}),
    "kendall_tau": (d.kendall_tau, {"truth": [3, 2, 1], "estimate": [2, 3, 1], "variant": "b"}),
    "tau_ap": (d.tau_ap, {"truth": [3, 2, 1], "estimate": [2, 3, 1], "positions": "estimate"}),
    "edrc": (d.edrc, {"truth": [("a", "b")], "prediction": [("b", "a")], "discount": "linear"}),
    "export": (d.export, {"measure": D, "to": "json", "labels": [2, 1, 0], "n_ranks": 5}),
    "named_truth": (
        d.named_truth,
        {"name": "data-1", "n_ranks": 3, "n_grades": 3, "rng": RNG(0)},
    ),
    "drawn_lists": (
        d.drawn_lists,
        {"n": 3, "n_ranks": 3, "probabilities": [0.5, 0.5], "rng": RNG(0), "shortest": 2},
    ),
    "permuted_lists": (d.permuted_lists, {"n": 3, "rng": RNG(0), "base": (0, 1, 1)}),
    "lists_of_queries": (
        d.lists_of_queries,
        {"n": 3, "n_ranks": 2, "counts": [[1, 2], [2, 1]], "rng": RNG(0)},
    ),
    "side_by_side": (
        lambda **named: d.side_by_side(truth=D, scale=d.Scale((2, 1, 0)), rng=RNG(0), **named),
        {"lists": PAIRS, "reliability": 4.0, "indifference": 0.5, "bias": 0.0, "n_queries": 3},
    ),
    "true_pairs": (d.true_pairs, {"truth": D, "lists": PAIRS}),
    "similarity": (d.similarity, {"W": [[2, 1], [1, 0]], "learned": [[2, 1], [1, 0.5]]}),
}
"""Functions with arguments that they take; each argument in turn is replaced by an odd value."""

ODD: list[Any] = [
    *(None, float("nan"), float("inf"), -1, 0, 2**70, 10**400, 0.5, 1e308, -1e308, 1e-320, True),
    *("x", "", "9" * 5000, "\x1b[31m", b"x", Path("none"), object(), len, Fraction(1, 3)),
    *([], [[]], [[[]]], [[1], [1, 2]], [2**70, 1, 0], [10**400, 1, 0], [[2**70, 1, 0]], [[-5, 1]]),
    *([[99, 1, 2]], [[0.5, 1.5]], [1e308, -1e308, 0], [[1e308] * 3] * 3, [1e-320, 0, 0], [3, 3, 3]),
    *({}, {1: 2}, {"a": None}, {"q": {"d": float("nan")}}, {"q": {"d": 10**400}}, {1, 2}),
    *(np.zeros(0), np.zeros((0, 2, 3), int), np.zeros((2, 2, 2, 2), int), np.array(5), np.int8(3)),
    *(np.array([1, "a"], object), np.array([np.nan, 1]), np.array([[np.nan, 1, 0]])),
    *(np.array([1j, 2, 3]), np.array(["2020-01-01"], "M8[D]"), np.array(["a", "b", "c"])),
    *(np.ma.masked_array([1, 2, 3], [0, 1, 0]), np.array([1, 6e4, np.inf], np.float16)),
    *(np.array([0, 255], np.uint8), np.array([[-128, 127, 0]], np.int8), np.float32(0.1)),
    *(pd.DataFrame({"a": [1, 2]}), pd.Series([1, 2, 3]), sparse.eye(3), Decimal("NaN")),
]


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments_are_refused_or_used(name: str) -> None:
    function, usual = CALLS[name]
    function(**usual)
    longest = 0
    for argument in usual.keys() - {"evaluation", "ranked"}:
        for odd in ODD:
            try:
                function(**{**usual, argument: odd})
            except (d.InputError, d.SolverError) as error:
                longest = max(longest, len(str(error)))
            except Exception as error:
                error.add_note(f"{name}: {argument} = {odd!r:.200}")
                raise
    assert longest < 4 * LONGEST_PART
