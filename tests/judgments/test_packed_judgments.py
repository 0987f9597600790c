"""Packed judgments: nothing is lost, and the same judgments give the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError, PackedPairs, Preferences, Scale, read_preferences
from dcglearn.judgments import packed_pairs, packed_writer
from dcglearn.judgments.meaning.judgment_fields import ANSWERS
from dcglearn.judgments.packed_pairs import PACKED_METADATA
from dcglearn.judgments.packed_writer import write_packed

SCALES = [Scale((2, 1, 0)), Scale(("good", "fair", "bad")), Scale((0.5, -1))]
IDS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


@st.composite
def judgments(draw: st.DrawFn) -> Preferences:
    scale = draw(st.sampled_from(SCALES))
    n, K = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    grade = st.integers(-1, len(scale) - 1)
    lists = draw(st.lists(grade, min_size=n * 2 * K, max_size=n * 2 * K))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    return Preferences.of(
        np.array(lists).reshape(n, 2, K),
        column(st.sampled_from(ANSWERS)),
        scale,
        column(st.just(1.0) | st.floats(0, 1e6)),
        column(IDS) if draw(st.booleans()) else None,
        column(IDS) if draw(st.booleans()) else None,
    )


@pytest.fixture
def some(rng: np.random.Generator) -> Preferences:
    n = 1000
    return Preferences.of(
        rng.integers(-1, 3, (n, 2, 5)),
        rng.choice(ANSWERS, n, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
        Scale((2, 1, 0)),
        rng.integers(0, 3, n),
        [None if i % 7 == 0 else f"q{i % 90}" for i in range(n)],
        [f"j{i % 5}" for i in range(n)],
    )


@settings(deadline=None)
@given(judgments(), st.integers(1, 5), st.integers(1, 5))
def test_what_is_packed_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, given: Preferences, size: int, batch: int
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_writer, "ROW_GROUP_SIZE", size)
        write_packed(given, folder / "p.parquet", given.scale)
        with packed_writer.packed_writer(folder / "q.parquet", given.scale) as write:
            for begin in range(0, len(given), batch):
                write(given[begin : begin + batch])
    found = PackedPairs.of(folder / "p.parquet")
    assert found.preferences() == given
    assert len(found.row_groups) == -(-len(given) // size)
    strict = [part.read() for part in found.row_groups]
    np.testing.assert_array_equal(np.concatenate([pairs for pairs, _ in strict]), given.pairs)
    weights = [np.ones(len(pairs)) if v is None else v for pairs, v in strict]
    np.testing.assert_array_equal(np.concatenate(weights), given.pair_weights)
    assert (folder / "p.parquet").read_bytes() == (folder / "q.parquet").read_bytes()


def test_another_reader_sees_the_same(tmp_path: Path, some: Preferences) -> None:
    path = tmp_path / "p.parquet"
    write_packed(some, path, some.scale)
    fastparquet = pytest.importorskip("fastparquet", reason="another reader of Parquet")
    frame = (
        fastparquet.ParquetFile(io.BytesIO(path.read_bytes())).to_pandas().replace({np.nan: None})
    )
    first, second = (
        np.array([np.frombuffer(row.ljust(5, b"\0"), np.int8) for row in frame[name]])
        for name in ("better", "worse")
    )
    b_wins = frame["answer"].to_numpy() == 1
    first[b_wins], second[b_wins] = second[b_wins].copy(), first[b_wins].copy()
    assert some == Preferences.of(
        np.stack([first, second], axis=1),
        [ANSWERS[code] for code in frame["answer"]],
        some.scale,
        *(frame[name].tolist() for name in ("weight", "query", "judge")),
    )


def test_judgments_take_a_byte_per_grade_and_some_bits(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    n = 100_000
    lists = rng.integers(0, 5, (n, 2, 6))
    answers = rng.choice(["a", "b", "tie"], n)
    plain = Preferences.of(lists, answers, Scale((4, 3, 2, 1, 0)))
    write_packed(plain, tmp_path / "p.parquet", plain.scale)
    assert (tmp_path / "p.parquet").stat().st_size < n * (12 + 0.3) + 5000
    queries = np.array([f"a query of some length {i % 1000}" for i in range(n)])
    with_ids = Preferences.of(lists, answers, plain.scale, None, queries, queries)
    write_packed(with_ids, tmp_path / "q.parquet", plain.scale)
    assert (tmp_path / "q.parquet").stat().st_size < n * (12 + 0.3 + 3) + 5000


def test_packed_judgments_are_read_like_others(tmp_path: Path, some: Preferences) -> None:
    write_packed(some, tmp_path / "p.parquet", some.scale)
    assert read_preferences(tmp_path / "p.parquet") == read_preferences(str(tmp_path)) == some
    with pytest.raises(InputError, match="`scale` does not apply to packed pairs; leave it out"):
        read_preferences(tmp_path, "2,1,0")
    with pytest.raises(InputError, match="holds packed pairs; name it alone"):
        read_preferences([tmp_path / "p.parquet"])


def test_names_are_shared_by_row_groups(
    tmp_path: Path, some: Preferences, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_writer, "ROW_GROUP_SIZE", 100)
    write_packed(some, tmp_path / "p.parquet", some.scale)
    found = PackedPairs.of(tmp_path / "p.parquet").preferences()
    assert len({id(one) for one in found.queries}) == len(set(found.queries.tolist()))


def test_pairs_without_sides_are_not_taken_for_judgments(tmp_path: Path, some: Preferences) -> None:
    write_packed(some, tmp_path / "a.parquet", some.scale)
    write_packed(some.pairs, tmp_path / "b.parquet", some.scale, some.pair_weights, ties=9)
    found = PackedPairs.of(tmp_path)
    assert (found.has_sides, found.ties, found.n_pairs) == (
        False,
        9,
        len(some) + len(some.pairs),
    )
    with pytest.raises(InputError, match="strict pairs without sides"):
        found.preferences()
    twice = found.preferences(strict=True)
    np.testing.assert_array_equal(twice.pairs, np.concatenate([some.pairs, some.pairs]))


def test_files_of_the_first_layout_are_read(tmp_path: Path, some: Preferences) -> None:
    write_packed(some.pairs, tmp_path / "p.parquet", some.scale)
    table = pq.read_table(tmp_path / "p.parquet")
    assert table.column_names == ["better", "worse"]
    old = b'{"layout": 1, "scale": [2, 1, 0], "ties": 3}'
    pq.write_table(table.replace_schema_metadata({PACKED_METADATA: old}), tmp_path / "p.parquet")
    found = PackedPairs.of(tmp_path / "p.parquet")
    assert (found.ties, found.has_sides) == (3, False)
    np.testing.assert_array_equal(found.row_groups[0].read()[0], some.pairs)


def test_what_does_not_fit_in_memory_is_refused(
    tmp_path: Path, some: Preferences, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_packed(some, tmp_path / "p.parquet", some.scale)
    found = PackedPairs.of(tmp_path / "p.parquet")
    arrays = (some.lists, some.answers, some.weights, some.queries, some.judges)
    assert found.nbytes == sum(array.nbytes for array in arrays)
    monkeypatch.setattr(packed_pairs, "MAX_MEMORY", found.nbytes - 1)
    with pytest.raises(InputError, match="1,000 judgments take"):
        found.preferences()


def one(query: str) -> Preferences:
    return Preferences.of([[[0], [1]]], ["a"], Scale((2, 1, 0)), None, [query])


def test_bad_batches(tmp_path: Path, some: Preferences) -> None:
    out = tmp_path / "p.parquet"

    def write_all(*batches: Any) -> None:
        with packed_writer.packed_writer(out, some.scale) as write:
            for batch in batches:
                write(*batch)

    for batches, message in (
        ([[some], [some.pairs]], "judgments after pairs, or pairs after judgments"),
        ([[some, [1.0]]], "weights beside judgments"),
        ([[Preferences.of([[[0], [1]]], ["a"], Scale((1, 0)))]], "judgments on the grades 1 > 0"),
        ([[one("\ud800")]], "a query is not valid text"),
        ([[one("x" * 200_000)]], "a query of 200,000 bytes"),
    ):
        with pytest.raises(InputError, match=message):
            write_all(*batches)
        assert not out.exists()
