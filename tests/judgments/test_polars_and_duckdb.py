"""Files that polars and DuckDB write, and their frames and relations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcglearn import InputError, Preferences, read_preferences
from dcglearn.judgments.options import ReadOptions
from dcglearn.judgments.read import JudgmentTable

pl = pytest.importorskip("polars", reason="the extra dev is not installed")
duckdb = pytest.importorskip("duckdb", reason="the extra dev is not installed")

LISTS = [[[2, 0, 1], [1, 1, 0]], [[0, 2, 0], [1, 2, 0]], [[1, 1, 1], [2, 0, 0]]]
QUERIES, WORDS, WEIGHTS = ["new york", "caf\xe9", "7"], ["a", "b", "tie"], [1.0, 2.0, 1.0]
FRAME = pl.DataFrame(
    {
        "query": QUERIES,
        "a": [a for a, _ in LISTS],
        "b": [b for _, b in LISTS],
        "answer": WORDS,
        "weight": WEIGHTS,
        "date": ["2026-01-01", "2026-01-02", "2026-01-02"],
    }
)

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")
PLAIN = FRAME.drop("date")
NAMES = pl.col("a", "b").cast(pl.List(pl.String))
EXPECTED = Preferences.from_frame(PLAIN.to_dict(as_series=False))

Write = Callable[[Path], object]


def by_duckdb(select: str = "SELECT * FROM judged", options: str = "") -> Write:
    def write(path: Path) -> None:
        with duckdb.connect() as connection:
            connection.register("judged", PLAIN.to_arrow())
            connection.execute(f"COPY ({select}) TO '{path}' {options and f'({options})'}")

    return write


KINDS = {
    "categories": PLAIN.cast({"answer": pl.Categorical, "query": pl.Enum(QUERIES)}),
    "lists of categories": PLAIN.with_columns(NAMES.cast(pl.List(pl.Categorical))),
    "arrays": PLAIN.with_columns(pl.col("a", "b").list.to_array(3)),
    "decimals": PLAIN.cast({"weight": pl.Decimal(10, 2), "a": pl.List(pl.Decimal(5, 1))}),
}
SELECT_MORE = """SELECT *, now() AS t, uuid() AS u, {'x': 1} AS s, map {'k': 2} AS m,
    INTERVAL 1 day AS i FROM judged"""
TYPED = "SELECT query, answer::ENUM('a', 'b', 'tie') AS answer, weight::DECIMAL(5, 1) AS weight"
FILES: dict[str, Write] = {
    "polars.ndjson": PLAIN.write_ndjson,
    "polars.json": PLAIN.write_json,
    "polars.parquet": PLAIN.write_parquet,
    "small numbers.parquet": lambda path: PLAIN.cast(
        {"a": pl.List(pl.Int8), "b": pl.List(pl.UInt8), "weight": pl.Float32}
    ).write_parquet(path),
    "zstd.arrow": lambda path: PLAIN.write_ipc(path, compression="zstd"),
    "old.arrow": lambda path: PLAIN.write_ipc(path, compat_level=pl.CompatLevel.oldest()),
    "stream.arrow": PLAIN.write_ipc_stream,
    **{f"{kind}.parquet": frame.write_parquet for kind, frame in KINDS.items()},
    "duckdb.csv": by_duckdb(),
    "duckdb.csv.gz": by_duckdb(options="COMPRESSION gzip"),
    "duckdb.json": by_duckdb(),
    "second version.parquet": by_duckdb(options="FORMAT parquet, PARQUET_VERSION v2"),
    "types.parquet": by_duckdb(f"{TYPED}, a::TINYINT[] AS a, b::FLOAT[3] AS b FROM judged"),
    "huge.parquet": by_duckdb("SELECT * REPLACE (weight::HUGEINT AS weight) FROM judged"),
    "other columns.parquet": by_duckdb(SELECT_MORE),
    "other columns.json": by_duckdb(SELECT_MORE),
}


def check_same(found: Preferences) -> None:
    assert found.scale == EXPECTED.scale
    assert found.lists.tolist() == EXPECTED.lists.tolist()
    assert found.answers.tolist() == EXPECTED.answers.tolist()
    assert found.weights.tolist() == WEIGHTS
    assert found.queries.tolist() == QUERIES


@pytest.mark.parametrize("name", FILES)
def test_files_that_they_write(tmp_path: Path, name: str) -> None:
    FILES[name](tmp_path / name)
    check_same(read_preferences(tmp_path / name))


@pytest.mark.parametrize(
    ("written", "place"),
    [("parquet", "{}"), ("csv", "{}/*/*/*"), ("json", "{}/date=2026-01-0[12]/**/*.{}")],
)
def test_partitions_of_duckdb(tmp_path: Path, written: str, place: str) -> None:
    folder = tmp_path / "parts"
    with duckdb.connect() as connection:
        connection.register("judged", FRAME.to_arrow())
        options = f"FORMAT {written}, PARTITION_BY (date, query)"
        connection.execute(f"COPY judged TO '{folder}' ({options})")
    (folder / "_SUCCESS").touch()
    found = read_preferences(place.format(folder, written), strict=True)
    order = [found.queries.tolist().index(query) for query in QUERIES]
    check_same(found[order])
    dates = JudgmentTable(place.format(folder, written), ReadOptions(keep=["date"])).kept("date")
    assert [dates[row] for row in order] == FRAME["date"].to_list()


def test_the_column_of_a_file_goes_before_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "query=folder"
    folder.mkdir()
    for number, record in enumerate(('"query": "own", ', '"query": null, ', "")):
        line = f'{{{record}"a": [1], "b": [0], "answer": "a"}}\n'
        (folder / f"{number}.jsonl").write_text(line)
    found = read_preferences(tmp_path)
    assert found.queries.tolist() == ["own", None, "folder"]
    missing = tmp_path / "query=folder" / "query=__HIVE_DEFAULT_PARTITION__"
    missing.mkdir()
    (folder / "2.jsonl").rename(missing / "2.jsonl")
    assert read_preferences(missing).queries.tolist() == [None]


def test_other_folders_are_refused_with_the_pattern_that_works(tmp_path: Path) -> None:
    inside = tmp_path / "2026" / "01"
    inside.mkdir(parents=True)
    FILES["duckdb.csv.gz"](inside / "day.1.csv.gz")
    with pytest.raises(InputError) as refused:
        read_preferences(tmp_path)
    pattern = refused.value.remedy.split("'")[1]
    check_same(read_preferences(pattern))


FRAMES: dict[str, Callable[[], Any]] = {
    "lazy frame": PLAIN.lazy,
    "relation": lambda: duckdb.from_arrow(PLAIN.to_arrow()),
    "table": PLAIN.to_arrow,
    "stream of batches": lambda: PLAIN.to_arrow().to_reader(),
    "pandas": lambda: PLAIN.to_arrow().to_pandas(),
    **{name: frame.clone for name, frame in KINDS.items()},
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_and_relations(name: str) -> None:
    check_same(Preferences.from_frame(FRAMES[name]()))
    check_same(read_preferences(FRAMES[name]()))
