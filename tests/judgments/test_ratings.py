"""Ratings of single lists as judgments of pairs, against pandas' groups and itertools."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dcglearn
from dcglearn import InputError, Ratings, pairs_from_ratings, read_ratings
from dcglearn.judgments.ratings import MAX_PAIRS, Within
from helpers.notes import noted

rated = st.lists(
    st.fixed_dictionaries(
        {
            "query": st.sampled_from([None, "p", "q"]),
            "judge": st.sampled_from([None, "x", "y"]),
            "grades": st.lists(st.sampled_from([2, 1, 0]), min_size=1, max_size=3),
            "rating": st.sampled_from([1.0, 2.0, 2.5, 4.0]),
            "weight": st.sampled_from([0, 1, 1, 3]),
        }
    ),
    min_size=1,
    max_size=12,
)


def plain_pairs(rows: list[dict[str, Any]], within: Within, least: float, ties: bool) -> list[Any]:
    """The pairs as sets, with their exact weights, by loops."""
    table = pd.DataFrame(rows)
    table["row"] = range(len(table))
    keys = {"query": ["query"], "judge": ["query", "judge"], "all": []}[within]
    table = table.dropna(subset=keys) if keys else table
    groups = table.groupby(keys, sort=False) if keys else [("", table)]
    found = []
    for _, group in groups:
        total = int(group.weight.sum())
        for i, j in itertools.combinations(group.row, 2):
            one, other = rows[i], rows[j]
            difference = abs(one["rating"] - other["rating"])
            if (difference == 0 and not ties) or 0 < difference < least:
                continue
            weight = Fraction(2 * one["weight"] * other["weight"], total or 1)
            best, worst = (one, other) if one["rating"] >= other["rating"] else (other, one)
            found.append((best["grades"], worst["grades"], difference > 0, float(weight)))
    return found


@settings(max_examples=100)
@given(
    rated,
    st.sampled_from(["query", "judge", "all"]),
    st.sampled_from([0.0, 0.5, 1.6]),
    st.booleans(),
    st.sampled_from([None, 0, 5]),
)
def test_pairs_are_those_of_plain_loops(
    rows: list[dict[str, Any]], within: Within, least: float, ties: bool, seed: int | None
) -> None:
    expected = plain_pairs(rows, within, least, ties)
    frame = pd.DataFrame(rows)
    if not any(strict for _, _, strict, _ in expected):
        with pytest.raises(InputError):
            pairs_from_ratings(frame, within, least, ties, seed=seed)
        return
    result = pairs_from_ratings(frame, within, least, ties, seed=seed)
    made = result.preferences.to_frame()
    found = []
    for a, b, answer, weight in zip(made.a, made.b, made.answer, made.weight, strict=True):
        a, b = ([label for label in side if label is not None] for side in (a, b))
        best, worst = (b, a) if answer == "b" else (a, b)
        found.append((best, worst, answer != "tie", weight))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):  # groups and pairs in the same order
        assert one[2:] == (other[2], pytest.approx(other[3]))
        if one[2]:
            assert one[:2] == other[:2]
        else:
            assert sorted(one[:2]) == sorted(other[:2])
    assert result.possible == len(found) + result.equal + result.small
    if seed is None:
        wins = int((made.answer == "a").sum()) - int((made.answer == "b").sum())
        assert wins in (0, 1)


def many(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    lists = rng.integers(0, 3, (n, 3)).tolist()
    return pd.DataFrame({"query": "q", "grades": lists, "rating": rng.normal(size=n)})


def test_drawn_pairs_have_all_of_the_weight_and_are_drawn_from_all() -> None:
    frame = many(60)
    everything = pairs_from_ratings(frame)
    drawn = pairs_from_ratings(frame, at_most=100, seed=1)
    assert (len(everything.preferences), len(drawn.preferences)) == (1770, 100)
    assert drawn.not_drawn == 1670
    assert drawn.preferences.weights.sum() == pytest.approx(59)
    assert everything.preferences.weights.sum() == pytest.approx(59)
    again, other = (pairs_from_ratings(frame, at_most=100, seed=seed) for seed in (1, 2))
    assert drawn.preferences == again.preferences
    assert drawn.preferences != other.preferences
    frame["grades"] = [[number] for number in range(60)]
    order = np.sort(59 - pairs_from_ratings(frame, at_most=100, seed=1).preferences.lists[..., 0])
    assert [tuple(pair) for pair in order] == sorted(tuple(pair) for pair in order), "in order"
    counts = np.zeros(60)
    for seed in range(60):
        lists = pairs_from_ratings(frame, at_most=100, seed=seed).preferences.lists
        counts += np.bincount(lists.ravel(), minlength=60)
    expected = 2 * 100 * 60 / 60
    assert ((counts - expected) ** 2 / expected).sum() < 59 + 5 * np.sqrt(2 * 59)


def test_files_and_frames_hold_the_same(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"query": "p", "grades": [[2, None, 1], [0]], "stars": [4.5, 3], "judge": "x"}
    ).assign(weight=[2.0, 1.0])
    path = tmp_path / "r.csv"
    frame.assign(grades=["2 - 1", "0"]).to_csv(path, index=False)
    found = read_ratings(path, "stars", unjudged="nothing")
    assert found.lists.tolist() == [[0, -1, 1], [2, -1, -1]]
    assert found.ratings.tolist() == [4.5, 3.0]
    assert found.weights.tolist() == [2.0, 1.0]
    assert (found.queries.tolist(), found.judges.tolist()) == (["p", "p"], ["x", "x"])
    assert repr(found) == repr(read_ratings(frame, "stars", unjudged="nothing"))
    longer = read_ratings(path, "stars", n_ranks=4, unjudged="nothing")
    assert longer.lists.tolist() == [[0, -1, 1, -1], [2, -1, -1, -1]]
    with noted() as notes:
        worst = read_ratings(path, columns="rating=stars")
    assert "documents within the lists without a grade (null): 1" in notes[-1]
    assert worst.lists.tolist() == [[0, 2, 1], [2, -1, -1]]


def test_too_many_pairs_are_refused_before_they_are_made() -> None:
    n = int((2 * MAX_PAIRS) ** 0.5) + 2
    rated = Ratings(
        np.zeros((n, 1), np.int8),
        np.arange(float(n)),
        dcglearn.Scale((1, 0)),
        np.ones(n),
        np.full(n, None, object),
        np.full(n, None, object),
    )
    with pytest.raises(InputError, match="can be compared"):
        pairs_from_ratings(rated, "all")


def test_shorter_lists_end_with_empty_ranks() -> None:
    found = read_ratings({"grades": [[2, 0], [1]], "score": [4.5, 3]}, n_ranks=4)
    assert found.lists.tolist() == [[0, 2, -1, -1], [1, -1, -1, -1]]
    assert len(found) == 2


def test_differences_that_are_short_by_rounding_count() -> None:
    frame = pd.DataFrame({"query": "q", "grades": [[1], [0]], "rating": [0.3, 0.1]})
    assert 0.3 - 0.1 < 0.2
    assert len(pairs_from_ratings(frame, min_difference=0.2).preferences) == 1
    with pytest.raises(InputError, match=r"no two ratings of one query differ by 0\.21"):
        pairs_from_ratings(frame, min_difference=0.21)


def test_queries_and_judges_are_kept_where_both_lists_have_them() -> None:
    frame = pd.DataFrame(
        {
            "query": ["p", "p", "q"],
            "judge": ["x", "y", "x"],
            "grades": [[2], [1], [0]],
            "rating": [3, 2, 1],
        }
    )
    made = pairs_from_ratings(frame, "all").preferences
    assert made.queries.tolist() == ["p", None, None]
    assert made.judges.tolist() == [None, "x", None]
    assert pairs_from_ratings(frame).preferences.judges.tolist() == [None]
    with pytest.raises(InputError, match="no two ratings of one judge"):
        pairs_from_ratings(frame, "judge")


def test_equal_weights() -> None:
    made = pairs_from_ratings(many(4).assign(weight=[1, 1, 2, 1]), equal_weights=True).preferences
    assert sorted(made.weights) == [1, 1, 1, 2, 2, 2]
