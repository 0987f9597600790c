"""Folds of queries, summaries, and what reading says."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold

from dcglearn import InputError, Preferences, Scale, inspect_judgments, read_preferences
from dcglearn.judgments.folds import query_folds
from dcglearn.judgments.meaning.answers import ANSWERS
from helpers.written import write


def test_grade_names_need_a_scale(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", '{"a": ["good"], "b": ["bad"], "answer": "a"}\n')
    with pytest.raises(InputError, match="declare their order"):
        read_preferences(path)
    assert read_preferences(path, Scale(("good", "bad"))).pairs.tolist() == [[[0], [1]]]
    with pytest.raises(InputError, match='line 1, "a": is not a ranking of all 2 documents'):
        read_preferences(path, documents=True)
    path = write(tmp_path / "p.jsonl", '{"a": ["x", "y"], "b": ["y", "x"], "answer": "a"}\n')
    assert read_preferences(path, documents=True).scale.labels == ("x", "y")


def test_the_preferred_list_comes_first() -> None:
    data = Preferences.of(
        [[[0, 0], [1, 1]]] * 5, list(ANSWERS), Scale((1, 0)), [1, 2, 3, 4, 5], list("vwxyz")
    )
    assert data.pairs.tolist() == [[[0, 0], [1, 1]], [[1, 1], [0, 0]]]
    assert data.pair_weights.tolist() == [1, 2]
    assert data.lists[1].tolist() == [[0, 0], [1, 1]]  # the sides as shown are kept
    assert data[np.array([4, 1])].queries.tolist() == ["z", "w"]


@pytest.mark.parametrize(
    ("lists", "answers", "weights", "problem"),
    [
        ([[[0], [1]]], ["tie"], None, "no strict preference"),
        ([[[0], [1]]], ["a"], [0.0], "no strict preference"),
        ([[[0], [0]], [[1], [1]]], ["a", "b"], None, "identical lists"),
        ([[[0, -1], [0, 0]]], ["b"], None, "only one grade occurs"),
    ],
)
def test_judgments_from_which_nothing_can_be_learned(
    lists: object, answers: object, weights: object, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        Preferences.of(lists, answers, Scale((1, 0)), weights).check_strict()


@given(
    groups=st.lists(st.integers(0, 9), min_size=2, max_size=40).filter(lambda g: len(set(g)) > 1),
    seed=st.integers(0, 99),
)
def test_folds_keep_a_query_whole(groups: list[int], seed: int) -> None:
    found = np.array(groups)
    n_folds = min(3, len(set(groups)))
    folds = list(query_folds(found, n_folds, np.random.default_rng(seed)))
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested) == list(range(len(groups)))
    for train, test in folds:
        assert not set(found[train]) & set(found[test])
        assert len(train)
    shuffle = int(np.random.default_rng(seed).integers(2**31))
    expected = GroupKFold(n_folds, shuffle=True, random_state=shuffle).split(found, groups=found)
    for (train, test), (their_train, their_test) in zip(folds, expected, strict=True):
        assert train.tolist() == their_train.tolist()
        assert test.tolist() == their_test.tolist()
    again = list(query_folds(found, n_folds, np.random.default_rng(seed)))
    assert all((a[1] == b[1]).all() for a, b in zip(folds, again, strict=True))


def test_more_folds_than_queries_are_refused(rng: np.random.Generator) -> None:
    for groups, n_folds in (([0, 0], 2), ([0, 1], 3), ([0, 1], 1)):
        with pytest.raises(InputError, match="folds"):
            next(query_folds(np.array(groups), n_folds, rng))


def slow_ceiling(data: Preferences) -> float:
    """The best a measure can do, by trying every order of the distinct lists."""
    kinds = sorted({tuple(row) for pair in data.lists.tolist() for row in pair})
    best = 0.0
    for order in itertools.permutations(range(len(kinds))):
        score = dict(zip(kinds, order, strict=True))
        got = 0.0
        for pair, weight in zip(data.pairs.tolist(), data.pair_weights, strict=True):
            a, b = score[tuple(pair[0])], score[tuple(pair[1])]
            got += weight * (1.0 if a > b else 0.5 if a == b else 0.0)
        best = max(best, got)
    return best / float(data.pair_weights.sum())


def test_summary_counts_and_ceiling() -> None:
    x, y, z = [0, 0], [0, 1], [1, 1]
    lists = [[x, y], [y, x], [x, y], [x, x], [y, z], [x, z], [x, y]]
    answers = ["a", "a", "a", "b", "b", "a", "tie"]
    data = Preferences.of(lists, answers, Scale((1, 0)), [1, 2, 1, 4, 1, 1, 1], [None] + ["q"] * 6)
    inspection = inspect_judgments(data)
    found = inspection.summary
    assert (found.judgments, found.strict, found.ties) == (7, 6, 1)
    assert found.answers == {"a": 4, "b": 2, "tie": 1, "good": 0, "bad": 0}
    assert (found.identical, found.repeated_pairs, found.contradicted_pairs) == (1, 1, 1)
    assert (found.contradicted, found.also_tied) == (3, 3)
    assert found.ceiling == pytest.approx(slow_ceiling(data))
    assert (found.queries, found.without_query) == (1, 1)
    json.dumps(inspection.to_json())
    assert np.isnan(inspect_judgments(data[np.array([6])]).summary.ceiling)
