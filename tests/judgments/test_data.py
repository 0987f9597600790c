"""Judgment files in and out, folds of queries, and summaries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold

from dcglearn import summarise
from dcglearn.base.errors import InputError, InputWarning
from dcglearn.base.ignored import IgnoredInput
from dcglearn.judgments.folds import query_folds
from dcglearn.judgments.meaning.answers import ANSWERS
from dcglearn.judgments.preferences import Preferences
from dcglearn.judgments.rankings import encode_list, pad_lists
from dcglearn.judgments.reading.judgment_files import read_preferences, write_preferences
from dcglearn.measures.scale import Scale

GOOD = '{"query": "q1", "a": [2, 0, 1], "b": [1, 1, 0], "answer": "a"}\n'


def written(folder: Path, text: str, name: str = "p.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_schema_in_three_formats(tmp_path: Path) -> None:
    lines = written(
        tmp_path,
        GOOD + "\n"
        '{"query": 7, "a": ["2"], "b": [1.0, 2, 0], "answer": "bad", '
        '"weight": 2, "judge": "j"}\r\n',
    )
    table = written(
        tmp_path,
        'query,a,b,answer,weight,judge\nq1,2 0 1,1 1 0,a,,\n7,"2",1.0 2 0,bad,2,j\n',
        "p.csv",
    )
    parquet = tmp_path / "p.parquet"
    pq.write_table(
        pa.table(
            {
                "query": ["q1", "7"],
                "a": [[2, 0, 1], [2]],
                "b": [[1, 1, 0], [1, 2, 0]],
                "answer": ["a", "bad"],
                "weight": [1.0, 2.0],
                "judge": [None, "j"],
            }
        ),
        parquet,
    )
    for path in (lines, table, parquet):
        found = read_preferences(path)
        assert found.lists.tolist() == [[[0, 2, 1], [1, 1, 2]], [[0, -1, -1], [1, 0, 2]]]
        assert found.lists.dtype == np.int8
        assert [ANSWERS[code] for code in found.answers] == ["a", "bad"]
        assert found.weights.tolist() == [1.0, 2.0]
        assert found.queries.tolist() == ["q1", "7"]
        assert found.judges.tolist() == [None, "j"]
        assert found.pairs.tolist() == [[[0, 2, 1], [1, 1, 2]]]


@st.composite
def preferences(draw: st.DrawFn) -> Preferences:
    n, K, L = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    scale = draw(st.sampled_from([Scale(tuple(range(L))[::-1]), Scale(tuple("pqrs"[:L]))]))
    lists = np.array(
        draw(
            st.lists(
                st.lists(
                    st.lists(st.integers(-1, L - 1), min_size=K, max_size=K).filter(
                        lambda row: max(row) >= 0
                    ),
                    min_size=2,
                    max_size=2,
                ),
                min_size=n,
                max_size=n,
            )
        )
    )
    one = st.lists(st.sampled_from(ANSWERS), min_size=n, max_size=n)
    ids = st.lists(st.sampled_from([None, "x", "17", "é b"]), min_size=n, max_size=n)
    weights = st.lists(st.sampled_from([0.0, 1.0, 0.1, 1e-300, 3.5e7]), min_size=n, max_size=n)
    return Preferences.of(lists, draw(one), scale, draw(weights), draw(ids), draw(ids))


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
@given(data=preferences())
def test_what_is_written_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, ending: str, data: Preferences
) -> None:
    path = tmp_path_factory.mktemp("round") / f"p{ending}"
    write_preferences(data, path)
    found = read_preferences(path, data.scale, unjudged="nothing")
    width = found.n_ranks
    assert (data.lists[:, :, width:] == -1).all()
    assert (found.lists == data.lists[:, :, :width]).all()
    for part in ("answers", "weights", "queries", "judges"):
        assert getattr(found, part).tolist() == getattr(data, part).tolist()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


BAD_LINES = [
    ("{", "is not JSON"),
    ("[1]", "not a JSON object"),
    ('{"a": [1], "b": [2], "answer": "c"}', "the answer is 'c'; use one of a, b, tie, good, bad"),
    ('{"a": [1], "b": [2], "answer": 1}', "the answers are numbers (1) and words (a)"),
    ('{"a": [1], "b": [2]}', '"answer" is missing'),
    ('{"a": [1], "answer": "a"}', '"b" is missing'),
    ('{"a": 1, "b": [2], "answer": "a"}', '"a" is 1, not a list'),
    ('{"a": [], "b": [2], "answer": "a"}', '"a": an empty list'),
    ('{"a": [null], "b": [2], "answer": "a"}', '"a": an empty list'),
    ('{"a": [true], "b": [2], "answer": "a"}', "grade True is a truth value"),
    ('{"a": [[1]], "b": [2], "answer": "a"}', "use numbers or names"),
    ('{"a": [NaN], "b": [2], "answer": "a"}', "is not JSON (NaN)"),
    ('{"a": [1], "b": [2], "answer": "a", "weight": NaN}', "not JSON (NaN)"),
    ('{"a": [1], "b": [2], "answer": "a", "weight": Infinity}', "is not JSON (Infinity)"),
    ('{"a": [1], "b": [2], "answer": "a", "weight": -1}', "the weight is -1"),
    ('{"a": [1], "b": [2], "answer": "a", "weight": "x"}', "the weight is 'x'"),
    ('{"a": [1], "b": [2], "answer": "a", "query": [1]}', '"query" is'),
    ('{"a": [1], "b": [2], "a": [1], "answer": "a"}', 'the key "a" appears twice'),
    ('{"a": [7], "b": [2], "answer": "a"}', "grade 7 is off the scale 2 > 1 > 0"),
    ('{"a": [1, 2, 9], "b": [2], "answer": "a"}', "rank 3"),
    ('{"a": [1, 1, 1, 1], "b": [2], "answer": "a"}', "a list of 4 grades, and K = 3"),
    ("[" * 100_000, "is not JSON"),
    ('{"a": [1], "b": [2], "answer": "a", "weight": 1' + "0" * 400 + "}", "the weight is 1000"),
    ('{"a": [1' + "0" * 400 + '], "b": [2], "answer": "a"}', "more than 18 digits"),
    ('{"a": [1' + "0" * 5000 + '], "b": [2], "answer": "a"}', "is not JSON"),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES, ids=[p for _, p in BAD_LINES])
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = written(tmp_path, GOOD + "\n" + line + "\n")
    with pytest.raises(InputError) as refused:
        read_preferences(path, Scale((2, 1, 0)), 3)
    assert f"{path}, line 3" in str(refused.value)
    assert problem in str(refused.value)


BAD_TABLES = [
    ("a,b,answer,a\n1,2,a,1\n", "line 1: the column 'a' appears twice"),
    ("a,b,answer\n1,2\n", "line 2: 2 fields under 3 column names"),
    ('a,b,answer\n1,2,"a\n', "is not CSV"),
    ("a,b,answer\n1 x,2,a\n", "grades are numbers (1, 2) and names (x)"),
    ("a,b,answer\n,2,a\n", "line 2"),
    ("a,b,answer,weight\n1,2,a,heavy\n", "the weight is 'heavy'"),
    ("a,b,answr\n1,2,a\n", "did you mean 'answr'"),
    ("a,b,answer\n", "holds no judgment"),
    ("", "is empty"),
    ("\n1,2,a\n", "holds no judgment"),
]


@pytest.mark.parametrize(("text", "problem"), BAD_TABLES, ids=[p for _, p in BAD_TABLES])
def test_a_bad_table_is_named(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path, text, "p.csv")
    with pytest.raises(InputError) as refused:
        read_preferences(path)
    assert str(path) in str(refused.value)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"a": [1], "b": [[1]], "answer": ["a"]}, 'the column "a" holds int64'),
        ({"a": [[1]], "b": [[1]], "answer": [1]}, "row 1: the answers are the numbers 1"),
        ({"a": [[1]], "b": [[1]], "answer": ["a"], "weight": ["x"]}, 'the column "weight" holds'),
        ({"a": [[1]], "b": [[1]], "answer": ["a"], "query": [1.5]}, 'row 1: "query" is 1.5'),
        ({"a": [[1]], "b": [[1]], "answer": ["x"]}, "row 1: the answer is 'x'"),
        ({"a": [[1]], "b": [[1]]}, '"answer" is missing'),
    ],
)
def test_a_parquet_file_of_wrong_columns_is_refused(
    tmp_path: Path, columns: dict[str, object], problem: str
) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputError) as refused:
        read_preferences(path)
    assert problem in str(refused.value)
    assert str(path) in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    whole = tmp_path / "p.parquet"
    pq.write_table(pa.table({"a": [[1]], "b": [[1]], "answer": ["a"]}), whole)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-20])
    (tmp_path / "p.xls").write_text("x")
    for path, problem in [
        (cut, "not a readable Parquet"),
        (written(tmp_path, "x", "x.parquet"), "not a readable Parquet"),
        (tmp_path / "none.parquet", "no such file"),
        (tmp_path / "none.jsonl", "no such file"),
        (tmp_path / "p.xls", "is a spreadsheet"),
    ]:
        with pytest.raises(InputError, match=problem):
            read_preferences(path)


def test_a_lenient_reader_counts_what_it_ignores(tmp_path: Path) -> None:
    line = '{"a": [1], "b": [2], "a": [0], "answer": "a", "note": "x"}\n'
    ignored = IgnoredInput()
    with pytest.warns(InputWarning, match="1 unknown column is ignored: 'note'"):
        found = read_preferences(written(tmp_path, line * 3), ignored=ignored)
    assert found.lists[0, 0, 0] == 1  # 0 on the scale 2 > 0: the last of the two counts
    assert ignored.counts == {"repeated key 'a'": 3}


def test_of_two_unknown_fields_the_first_is_named(tmp_path: Path) -> None:
    line = '{"zeta": 1, "a": [1], "alpha": 1, "b": [2], "answer": "a"}\n'
    with pytest.raises(InputError, match="unknown field 'zeta'"):
        read_preferences(written(tmp_path, line), strict=True)
    with pytest.warns(InputWarning, match="2 unknown columns are ignored: 'zeta', 'alpha'"):
        read_preferences(written(tmp_path, line))
    nearly = '{"a": [1], "b": [2], "answer": "a", "jugde": "x"}\n'
    with pytest.warns(InputWarning, match="'jugde': did you mean 'judge'?"):
        read_preferences(written(tmp_path, nearly))
    with pytest.raises(InputError, match="line 1: unknown field 'jugde'; did you mean 'judge'"):
        read_preferences(written(tmp_path, nearly), strict=True)


def test_grade_names_need_a_scale(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": ["good"], "b": ["bad"], "answer": "a"}\n')
    with pytest.raises(InputError, match="declare their order"):
        read_preferences(path)
    assert read_preferences(path, Scale(("good", "bad"))).pairs.tolist() == [[[0], [1]]]
    with pytest.raises(InputError, match='line 1, "a": is not a ranking of all 2 documents'):
        read_preferences(path, documents=True)
    path = written(tmp_path, '{"a": ["x", "y"], "b": ["y", "x"], "answer": "a"}\n')
    assert read_preferences(path, documents=True).scale.labels == ("x", "y")


def test_a_name_with_blanks_cannot_be_written_in_csv(tmp_path: Path) -> None:
    data = Preferences.of([[[0], [1]]], ["a"], Scale(("very good", "bad")))
    with pytest.raises(InputError, match=r"use \.jsonl"):
        write_preferences(data, tmp_path / "p.csv")
    with pytest.raises(InputError, match="ends in"):
        write_preferences(data, tmp_path / "p.txt")
    assert not list(tmp_path.iterdir())


def test_short_lists_are_padded() -> None:
    assert pad_lists([[0], [1, 0]], 3).tolist() == [[0, -1, -1], [1, 0, -1]]
    assert pad_lists([], 3).shape == (0, 3)
    assert encode_list([None, 2], Scale((2, 1))) == [-1, 0]


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
    import itertools

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
    found = summarise(data)
    assert (found.judgments, found.strict, found.ties) == (7, 6, 1)
    assert found.answers == {"a": 4, "b": 2, "tie": 1, "good": 0, "bad": 0}
    assert (found.identical, found.repeated_pairs, found.contradicted_pairs) == (1, 1, 1)
    assert (found.contradicted, found.also_tied) == (3, 3)
    assert found.ceiling_identical == 0.8
    assert found.ceiling == pytest.approx(slow_ceiling(data))
    assert (found.queries, found.without_query) == (1, 1)
    json.dumps(found.to_json())
    assert np.isnan(summarise(data[np.array([6])]).ceiling)


def test_reading_reports_its_progress(tmp_path: Path) -> None:
    seen: list[int] = []
    report: Callable[[int, int], None] = lambda done, total: seen.append(done)  # noqa: E731 - a probe
    read_preferences(written(tmp_path, GOOD * 2500), advance=report)
    assert seen[-1] == len(GOOD) * 2500
