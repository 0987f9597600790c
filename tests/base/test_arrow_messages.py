"""Arrow files whose batches unpack to far more than they take, and damaged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from dcglearn import InputError, read_preferences

TABLE = pa.table({"a": [[2, 0]], "b": [[1, 1]], "answer": ["a"]})
BOMB = pa.table({"a": [[2, 0]] * 9, "b": [[1, 1]] * 9, "answer": ["a"] * 9, "x": ["-" * 9999] * 9})


def write(
    path: Path, table: pa.Table, codec: str | None, new: Callable[..., Any] = pa.ipc.new_file
) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with path.open("wb") as file, new(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("codec", ["lz4", "zstd", None])
def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codec: str | None, new: Callable[..., Any]
) -> None:
    monkeypatch.setattr("dcglearn.base.tables.old.arrow_messages.MAX_DECOMPRESSED", 2**14)
    monkeypatch.setattr("dcglearn.base.tables.old.arrow_messages.MAX_RATIO", 20)
    path = write(tmp_path / "x.arrow", BOMB, codec, new)
    if codec is None:
        assert len(read_preferences(path, note=lambda _: None)) == 9
    else:
        with pytest.raises(InputError, match=r"x\.arrow: a batch that unpacks to"):
            read_preferences(path, note=lambda _: None)


def test_dictionaries_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dcglearn.base.tables.old.arrow_messages.MAX_DECOMPRESSED", 2**14)
    monkeypatch.setattr("dcglearn.base.tables.old.arrow_messages.MAX_RATIO", 20)
    table = BOMB.set_column(3, "x", BOMB["x"].dictionary_encode())
    path = write(tmp_path / "x.arrow", table, "zstd")
    if path.stat().st_size * 20 > 10_000:
        monkeypatch.setattr("dcglearn.base.tables.old.arrow_messages.MAX_RATIO", 2)
        monkeypatch.setattr("dcglearn.base.tables.old.arrow_messages.MAX_DECOMPRESSED", 9_000)
    with pytest.raises(InputError, match="a batch that unpacks to"):
        read_preferences(path, note=lambda _: None)


def test_compressed_files_of_usual_size_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lists = pa.array(rng.integers(0, 3, (1000, 5)).tolist())
    table = pa.table({"a": lists, "b": lists[::-1], "answer": ["a", "b"] * 500})
    for codec in ("lz4", "zstd"):
        feather.write_feather(table, tmp_path / "x.feather", compression=codec)
        found = read_preferences(tmp_path / "x.feather")
        labels = [[found.scale.labels[g] for g in side] for side in found.lists[:, 0]]
        assert labels == lists.to_pylist()


def refused_by_name(path: Path) -> bool:
    """Whether a file is read, or the error names it."""
    try:
        read_preferences(path, note=lambda _: None)
    except InputError as error:
        return path.name in str(error)
    return True


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_by_name(tmp_path: Path, seed: int) -> None:
    content = write(tmp_path / "x.arrow", TABLE, "zstd").read_bytes()
    rng = np.random.default_rng(seed)
    path = tmp_path / "y.arrow"
    for _ in range(100):
        damaged = bytearray(content)
        for place in rng.integers(8, len(content), 3):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        assert refused_by_name(path)
