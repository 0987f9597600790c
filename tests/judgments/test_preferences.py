"""Preferences: from arrays and frames, selected, compared, copied; folds, groups and counts."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold

from dcglearn import (
    InputError,
    Preferences,
    Scale,
    inspect_judgments,
    read_groups,
    read_preferences,
)
from dcglearn.judgments.preferences import group_numbers, query_folds
from helpers.copies import copies_of
from helpers.generated import preferences
from helpers.notes import noted
from helpers.written import write, write_packed

THREE = Scale((2, 1, 0))


@pytest.fixture
def data() -> Preferences:
    return Preferences.of(
        [[[0, 1], [1, -1]], [[2, 2], [0, 2]], [[1, 1], [2, -1]], [[0, 0], [0, 1]]],
        ["a", "b", "tie", "b"],
        THREE,
        [1.0, 2.0, 3.0, 0.5],
        ["q1", None, "q2", "q1"],
        [None, "j", None, "k"],
    )


@settings(max_examples=30)
@given(data=preferences())
def test_a_frame_reads_back_the_same(data: Preferences) -> None:
    again = Preferences.from_frame(data.to_frame(), data.scale, unjudged="nothing")
    assert again == data
    assert again.lists.dtype == np.int8
    assert again.queries.tolist() == data.queries.tolist()


@settings(max_examples=30)
@given(data=preferences())
def test_arrays_of_labels_and_of_indices_build_the_same(data: Preferences) -> None:
    frame = data.to_frame()
    columns: dict[str, Any] = {
        "queries": data.queries,
        "judges": data.judges.tolist(),
        "weights": data.weights,
    }
    labels = Preferences.from_arrays(
        frame["a"].tolist(),
        frame["b"].tolist(),
        frame["answer"],
        scale=data.scale,
        unjudged="nothing",
        **columns,
    )
    indices = Preferences.of(data.lists, frame["answer"], data.scale, **columns)
    assert labels == data
    assert indices == data


def test_frames_of_other_tools() -> None:
    frame = pd.DataFrame(
        {
            "answer": ["a", "good"],
            "b": [np.array([1.0, np.nan]), ("2", None, 0)],
            "a": [[2], [pd.NA, 1]],
            "query": [7, 8],
            "judge": ["j", np.nan],
            "weight": [1, 2],
        }
    )
    found = Preferences.from_frame(frame, unjudged="nothing")
    assert found.lists.tolist() == [[[0, -1, -1], [1, -1, -1]], [[-1, 1, -1], [0, -1, 2]]]
    assert found.queries.tolist() == ["7", "8"]
    assert found.judges.tolist() == ["j", None]
    assert found.weights.tolist() == [1.0, 2.0]
    with noted():
        plain = Preferences.from_frame(frame[["a", "b", "answer"]], n_ranks=4, unjudged="drop")
    assert plain.lists[1].tolist() == [[1, -1, -1, -1], [0, 2, -1, -1]]
    assert plain.weights.tolist() == [1.0, 1.0]
    assert plain.queries.tolist() == [None, None]


def test_frames_that_were_written_as_csv(data: Preferences, tmp_path: Path) -> None:
    data.to_frame().to_csv(tmp_path / "p.csv", index=False)
    assert Preferences.from_frame(pd.read_csv(tmp_path / "p.csv")) == data
    with (tmp_path / "p.csv").open() as file:
        assert read_preferences(file) == data


FRAME = pd.DataFrame({"a": [[1], [0]], "b": [[0], [2]], "answer": ["a", "b"]})
TWICE = pd.concat([FRAME, FRAME[["b"]]], axis=1)


def framed(**change: list[Any]) -> Callable[[], Preferences]:
    return lambda: Preferences.from_frame(FRAME.assign(**change), THREE)


def arrays(a: Any, b: Any, **more: Any) -> Callable[[], Preferences]:
    return lambda: Preferences.from_arrays(a, b, ["a"] * len(a), **more)


def indices(lists: Any, weights: Any = None) -> Callable[[], Preferences]:
    return lambda: Preferences.of(lists, ["a"], THREE, weights)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (framed(answer=["a", "tied up"]), "row 2: the answer is 'tied up'"),
        (framed(a=[[1], [True]]), 'row 2, "a", rank 1: grade True is a truth value'),
        (framed(a=[[1], 3]), 'row 2, "a": 3 is not a list'),
        (framed(a=["1", "[2"]), "row 2, \"a\": the list '[2' cannot be read"),
        (framed(a=[[1], [0, 1, 7]]), 'row 2, "a", rank 3: grade 7 is off the scale 2 > 1 > 0'),
        (framed(weight=[1.0, np.inf]), "row 2: the weight is inf"),
        (framed(query=["q", 1.5]), 'row 2: "query" is 1.5; use text or a whole number'),
        (lambda: Preferences.from_frame(FRAME[["a", "b"]]), 'the column "answer" is missing'),
        (lambda: Preferences.from_frame(TWICE), "the column 'b' appears twice"),
        (lambda: Preferences.from_frame(FRAME, n_ranks=0), "a list of 1 grades, and K = 0"),
        (arrays([[1], [2]], [[1]]), "differ in length"),
        (arrays([[1]], [[2]], judges=["x", "y"]), "differ in length"),
        (arrays([1, 2], [1, 2]), 'row 1, "a": 1 is not a list'),
        (arrays([[1]], [[3]], scale=THREE), 'row 1, "b", rank 1: grade 3 is off the scale'),
        (arrays([[2, -1]], [[1, 1]]), 'row 1, "a", rank 2: -1 may be a grade'),
        (arrays([[2, -1]], [[1, 1]], scale=THREE), "rank 2: grade -1 is off the scale"),
        (indices([[0], [1]]), "lists of shape"),
        (indices([[[0.0], [1.0]]]), "give integers"),
        (indices([[[0], [3]]]), "row 0: lists hold the grade index 3"),
        (indices([[[0], [1]]], [2e12]), "row 1: the weight is"),
    ],
)
def test_what_cannot_be_taken_is_named(make: Callable[[], Preferences], message: str) -> None:
    with pytest.raises(InputError) as refused:
        make()
    assert message in str(refused.value)


def test_labels_are_never_taken_for_indices() -> None:
    a, b = [[2, 0]], [[1, 1]]
    assert Preferences.from_arrays(a, b, ["a"]).lists.tolist() == [[[0, 2], [1, 1]]]
    assert Preferences.of([[a[0], b[0]]], ["a"], THREE).lists.tolist() == [[[2, 0], [1, 1]]]
    below = Preferences.from_arrays([[2, -1]], b, ["a"], scale=Scale((2, 1, -1)))
    assert below.lists.tolist() == [[[0, 2], [1, 1]]]


def test_derived_arrays_are_read_only(data: Preferences) -> None:
    assert data.pairs.tolist() == [[[0, 1], [1, -1]], [[0, 2], [2, 2]], [[0, 1], [0, 0]]]
    assert data.pair_weights.tolist() == [1.0, 2.0, 0.5]
    assert data.pair_groups.tolist() == [0, 1, 0]
    assert data.strict.tolist() == [True, True, False, True]
    for name in ("pairs", "pair_weights", "pair_groups", "strict", "lists", "answers", "weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[0] = 0


def test_judgments_are_selected_like_rows_of_an_array(data: Preferences) -> None:
    chosen = data[[3, 0]]
    for name in ("lists", "answers", "weights", "queries", "judges"):
        whole = getattr(data, name).tolist()
        assert getattr(chosen, name).tolist() == [whole[3], whole[0]]
    assert data[data.strict] == data[[0, 1, 3]]
    assert data[1:3] == data[[1, 2]]
    assert len(data[[]]) == 0
    with pytest.raises(TypeError, match="a slice, a mask"):
        data[0]


def test_pickles_and_copies_are_equal_and_read_only(data: Preferences) -> None:
    fresh = len(pickle.dumps(data))
    assert data.pairs.size
    assert len(pickle.dumps(data)) == fresh  # derived arrays are not pickled
    for again in copies_of(data):
        assert again == data
        assert not again.lists.flags.writeable


@given(st.lists(st.sampled_from(["q", "p", None, float("nan"), 1, 1.0, True, "", np.nan])))
def test_group_numbers_are_those_of_a_dictionary(ids: list[Any]) -> None:
    keys = [("alone", row) if x is None or x != x else ("of", x) for row, x in enumerate(ids)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    assert group_numbers(np.array(ids, object)).tolist() == [numbers[key] for key in keys]
    assert group_numbers([3, 1, 3]).tolist() == [0, 1, 0]


def test_other_judgments_are_not_equal(data: Preferences) -> None:
    frame = data.to_frame()
    assert data not in (data[::-1], Preferences.from_frame(frame, Scale((3, 2, 1, 0))), "data")
    for name, values in (
        ("a", [[2, 1], [0, 0], [1, 1], [2, 1]]),
        ("answer", ["a", "b", "tie", "a"]),
        ("weight", [1.0, 2.0, 3.0, 0.6]),
        ("query", ["q1", None, "q2", None]),
        ("judge", [None] * 4),
    ):
        assert Preferences.from_frame(frame.assign(**{name: values}), THREE) != data


def test_grade_names_need_a_scale(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", '{"a": ["Good"], "b": ["bad"], "answer": "a"}\n')
    with pytest.raises(InputError, match="declare their order"):
        read_preferences(path)
    assert read_preferences(path, Scale(("good", "bad"))).pairs.tolist() == [[[0], [1]]]
    with pytest.raises(InputError, match='line 1, "a": is not a ranking of all 2 documents'):
        read_preferences(path, documents=True)
    path = write(tmp_path / "p.jsonl", '{"a": ["x", "y"], "b": ["y", "x"], "answer": "a"}\n')
    assert read_preferences(path, documents=True).scale.labels == ("x", "y")


@given(
    groups=st.lists(st.integers(0, 9), min_size=2, max_size=40).filter(lambda g: len(set(g)) > 1),
    seed=st.integers(0, 99),
)
def test_folds_are_those_of_scikit_learn(groups: list[int], seed: int) -> None:
    found = np.array(groups)
    n_folds = min(3, len(set(groups)))
    folds = query_folds(found, n_folds, np.random.default_rng(seed))
    shuffle = int(np.random.default_rng(seed).integers(2**31))
    expected = GroupKFold(n_folds, shuffle=True, random_state=shuffle).split(found, groups=found)
    for (train, test), (their_train, their_test) in zip(folds, expected, strict=True):
        assert train.tolist() == their_train.tolist()
        assert test.tolist() == their_test.tolist()


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


# Groups, by a field or by file

notes_are_ignored = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

ROWS = '{"a": [2, 0], "b": [1, 1], "answer": "%s", "query": "%s", "week": %s}\n'


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("old.jsonl", "new.jsonl", "more.jsonl")]
    for number, path in enumerate(paths):
        path.write_text(ROWS % ("a", f"q{number}", number) + ROWS % ("tie", "q", "null"))
    return paths


@notes_are_ignored
def test_groups_are_what_a_field_or_a_column_says(files: list[Path]) -> None:
    data, weeks = read_groups(files, by="week")
    assert weeks.tolist() == ["0", None, "1", None, "2", None]
    again, queries = read_groups(files, by="query")
    assert again == data
    assert queries.tolist() == data.queries.tolist()
    _, kept = read_groups(files, by="week", answers="tie=out,a=a")
    assert kept.tolist() == ["0", "1", "2"]
    with pytest.raises(InputError, match="unknown field 'weak'"):
        read_groups(files, by="weak")


@notes_are_ignored
def test_groups_are_files(files: list[Path]) -> None:
    old, new = map(str, files[:2])
    with files[0].open("a") as file:
        file.write(ROWS % ("b", "q", "7"))
    assert read_groups(files[:2])[1].tolist() == [old] * 3 + [new] * 2
    with pytest.raises(InputError, match="one file without a field"):
        read_groups(files[0])
    assert read_groups(files)[1].tolist() == [old] * 3 + ["the other files"] * 4


@notes_are_ignored
def test_packed_judgments_have_queries_and_judges(tmp_path: Path, files: list[Path]) -> None:
    data, queries = read_groups(files, by="query")
    path = tmp_path / "p.parquet"
    write_packed(data, path, data.scale)
    assert read_groups(path, by="query")[1].tolist() == queries.tolist()
    with pytest.raises(InputError, match="did you mean 'query'"):
        read_groups(path, by="qurey")
    files[0].write_text('{"a": [2, 0], "b": [1, 1], "answer": "a"}\n')
    write_packed(read_preferences(files[0]), path, Scale((2, 1, 0)))
    for without in (files[0], path):
        with pytest.raises(InputError, match="no judgment has a query"):
            read_groups(without, by="query")
