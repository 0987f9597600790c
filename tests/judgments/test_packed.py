"""Packed files: nothing is lost, the same judgments give the same bytes, and damage is noticed."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import (
    InputError,
    PackedPairs,
    Preferences,
    Problem,
    Scale,
    packed_writer,
    read_preferences,
    write_preferences,
)
from dcglearn.inference.evidence import Evidence
from dcglearn.judgments import packed
from dcglearn.judgments.preferences import B
from helpers.generated import preferences
from helpers.simulated import every_answer, with_ids
from helpers.written import write_packed

IDS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


def simulated(n: int) -> Preferences:
    data = every_answer(n, 0, empty=True)
    queries = [None if i % 7 == 0 else query for i, query in enumerate(data.queries)]
    return with_ids(data, queries, [f"j{i % 5}" for i in range(n)])


@pytest.fixture
def some() -> Preferences:
    return simulated(1000)


# What is written is read back


@settings(max_examples=40)
@given(preferences(ids=IDS), st.integers(1, 5), st.integers(1, 5))
def test_what_is_packed_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, given: Preferences, size: int, batch: int
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "ROW_GROUP_SIZE", size)
        write_packed(given, folder / "p.parquet", given.scale)
        with packed_writer(folder / "q.parquet", given.scale) as write:
            for begin in range(0, len(given), batch):
                write(given[begin : begin + batch])
    found = PackedPairs.of(folder / "p.parquet")
    assert found.preferences() == given
    assert len(found.row_groups) == -(-len(given) // size)
    parts = zip(*[part.read() for part in found.row_groups], strict=True)
    pairs, weights, b_wins = map(np.concatenate, parts)
    np.testing.assert_array_equal(pairs, given.pairs)
    np.testing.assert_array_equal(weights, given.pair_weights)
    np.testing.assert_array_equal(b_wins, given.answers[given.strict] == B)
    assert (folder / "p.parquet").read_bytes() == (folder / "q.parquet").read_bytes()


# Several files


@pytest.fixture
def parts(tmp_path: Path, some: Preferences, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two files, of 4 and 6 row groups."""
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 100)
    (tmp_path / "many").mkdir()
    write_packed(some[:400], tmp_path / "many" / "a.parquet", some.scale)
    write_packed(some[400:], tmp_path / "many" / "b.parquet", some.scale)
    return tmp_path / "many"


def test_several_files_are_read_as_one(parts: Path, some: Preferences) -> None:
    a, b = sorted(parts.iterdir())
    for place in (parts, str(parts), [parts], [a, str(b)]):
        found = PackedPairs.of(place)
        assert (found.n_pairs, len(found.row_groups)) == (1000, 10)
        assert found.preferences() == some
    assert [len(batch) for batch in found.batches()] == [100] * 10
    assert PackedPairs.of([b, a]).preferences() == some[[*range(400, 1000), *range(400)]]


def test_judgments_of_another_kind_are_refused(parts: Path, some: Preferences) -> None:
    (parts / "README.md").write_text("Parts of May.")
    (parts / ".b-half.parquet").write_bytes(b"PAR1")
    assert PackedPairs.of(parts).n_pairs == 1000
    write_preferences(some[:9], parts / "more.csv")
    for read, message in (
        (lambda: PackedPairs.of(parts), "not Parquet"),
        (lambda: read_preferences([parts / "a.parquet", parts / "more.csv"]), "is not packed"),
    ):
        with pytest.raises(InputError, match=message) as refused:
            read()
        assert refused.value.place == str(parts / "more.csv")


@pytest.mark.parametrize(
    "other",
    [
        Preferences.of([[[0], [1]]], ["a"], Scale((2, 1, 0))),
        Preferences.of([[[0] * 4, [1] * 4]], ["a"], Scale((4, 1, 0))),
    ],
    ids=["K", "scale"],
)
def test_files_differ(parts: Path, other: Preferences) -> None:
    write_packed(other, parts / "c.parquet", other.scale)
    with pytest.raises(InputError, match=r"in a\.parquet") as refused:
        PackedPairs.of(parts)
    assert refused.value.place == str(parts / "c.parquet")


# The digest


def test_the_digest_is_that_of_the_content(
    tmp_path: Path, some: Preferences, parts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 1 << 19)
    write_packed(some, tmp_path / "p.parquet", some.scale)
    digest = PackedPairs.of(tmp_path / "p.parquet").digest
    head = pq.ParquetFile(tmp_path / "p.parquet").metadata.metadata[packed.HEAD]
    assert hashlib.sha256(head).hexdigest() == digest
    others = [some[::-1]]
    for column in ("lists", "answers", "weights", "queries", "judges"):
        changed = getattr(some, column).copy()
        changed[500] = {"queries": "other", "judges": "other"}.get(column, 2)
        others.append(replace(some, **{column: changed}))
    digests = {digest, PackedPairs.of(parts).digest}
    for number, other in enumerate(others):
        write_packed(other, tmp_path / f"{number}.parquet", other.scale)
        digests.add(PackedPairs.of(tmp_path / f"{number}.parquet").digest)
    digests |= {PackedPairs.of(part).digest for part in parts.iterdir()}
    assert len(digests) == len(others) + 4


def evidence_of(path: Path) -> Any:
    found = Evidence.of(PackedPairs.of(path))
    return len(found), pickle.dumps(list(found.parts.read(True) if found.parts else ()))


def problem_of(path: Path) -> Any:
    found = Problem.packed(PackedPairs.of(path))
    return found.n_pairs, found.source.has_empty_ranks, found.sample(9).pairs.tolist()


READERS: list[Callable[[Path], Any]] = [
    problem_of,
    read_preferences,
    evidence_of,
    lambda path: list(PackedPairs.of(path).batches()),
]


@pytest.mark.parametrize("kind", ["judgments", "pairs"])
def test_no_flipped_bit_is_read_as_other_judgments(
    tmp_path: Path, kind: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "ROW_GROUP_SIZE", 25)
    data, path, readers = simulated(40), tmp_path / "p.parquet", READERS
    n_bits = 400 if kind == "judgments" else 200
    if kind == "judgments":
        write_packed(data, path, data.scale)
    else:
        write_packed(data.pairs, path, data.scale, data.pair_weights)
        readers = [problem_of, lambda path: PackedPairs.of(path).preferences(strict=True)]
    whole, refused = path.read_bytes(), 0
    known = [read(path) for read in readers]
    for number, bit in enumerate(rng.choice(8 * len(whole), n_bits, replace=False).tolist()):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        reader = number % len(readers)
        try:
            found = readers[reader](path)
        except InputError as error:
            refused += 1
            found = error.place
        assert found in (known[reader], str(path)), f"bit {bit}, reader {reader}"
    assert refused > n_bits // 2


@pytest.mark.parametrize("damage", [lambda content: content[:-200], lambda content: b""])
def test_damaged_files_are_named(parts: Path, damage: Callable[[bytes], bytes]) -> None:
    (parts / "b.parquet").write_bytes(damage((parts / "b.parquet").read_bytes()))
    with pytest.raises(InputError, match="is damaged") as refused:
        PackedPairs.of(parts).preferences()
    assert refused.value.place == str(parts / "b.parquet")


def test_other_files_are_named(tmp_path: Path, some: Preferences) -> None:
    by_another_program, empty = tmp_path / "p.parquet", tmp_path / "empty"
    write_packed(some, by_another_program, some.scale)
    pq.write_table(pq.read_table(by_another_program), by_another_program)  # without digests
    empty.mkdir()
    for place, message in (
        (tmp_path / "none.parquet", "no such file"),
        (by_another_program, "does not hold packed pairs"),
        (empty, r"holds no \.parquet file"),
    ):
        with pytest.raises(InputError, match=message) as refused:
            PackedPairs.of(place)
        assert refused.value.place == str(place)


# Arrays of pairs


def test_arrays_of_pairs_are_read_as_strict_judgments_without_sides(
    tmp_path: Path, some: Preferences
) -> None:
    pairs, weights = some.pairs, some.pair_weights
    with packed_writer(tmp_path / "a.parquet", some.scale) as write:
        write(pairs[:1], weights[:1])
        write(pairs[1:], weights[1:])
    write_packed(pairs, tmp_path / "b.parquet", some.scale, weights)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    packed_pairs = PackedPairs.of(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="do not say how the lists were shown"):
        packed_pairs.preferences()
    found = packed_pairs.preferences(strict=True)
    np.testing.assert_array_equal(found.pairs, pairs)
    np.testing.assert_array_equal(found.pair_weights, weights)


# What cannot be read or written


def test_what_does_not_fit_in_memory_is_refused(
    tmp_path: Path, some: Preferences, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_packed(some, tmp_path / "p.parquet", some.scale)
    found = PackedPairs.of(tmp_path / "p.parquet")
    arrays = (some.lists, some.answers, some.weights, some.queries, some.judges)
    monkeypatch.setattr(packed, "MAX_MEMORY", 2 * sum(array.nbytes for array in arrays))
    assert found.preferences() == some
    with pytest.raises(InputError, match="1,000 judgments take"):
        found.preferences(bytes_each=1)


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path, some: Preferences) -> None:
    out, pairs = tmp_path / "p.parquet", some.pairs
    other = Preferences.of([[[0], [1]]], ["a"], Scale((1, 0)))

    def write_all(batches: list[Any]) -> None:
        with packed_writer(out, some.scale) as write:
            for batch in batches:
                write(*batch)

    for batches, message in (
        ([[pairs[:0]]], "no pair to write"),
        ([[pairs + 5]], "grade index"),
        ([[pairs, [1.0]]], r"weights of shape \(1,\)"),
        ([[pairs[:2], [1.0, -1.0]]], "weights hold -1"),
        ([[pairs], [pairs[:, :, :3]]], "lists of 3"),
        ([[some, [1.0]]], "other weights than theirs"),
        ([[other]], "judgments on the grades 1 > 0"),
    ):
        with pytest.raises(InputError, match=message):
            write_all(batches)
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"ends in \.parquet"):
        write_packed(pairs, tmp_path / "p.csv", some.scale)
