"""Parquet files of odd types and of far more content than their size says."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packaging.version import Version

from dcglearn import (
    InputError,
    PackedPairs,
    Preferences,
    Scale,
    read_preferences,
    read_qrels,
    read_run,
    write_preferences,
)
from dcglearn.base.errors import InputWarning
from dcglearn.base.tables.parquet import open_parquet, python_values
from dcglearn.base.tables.parquet_footer import ColumnSize, column_sizes
from dcglearn.filtering.scored import read_scored
from dcglearn.judgments import packed
from dcglearn.judgments.packed import PACKED_METADATA
from dcglearn.judgments.preferences import concatenated
from dcglearn.judgments.reading.judgment_files import gather_judgments
from helpers.packed_files import write_packed

FAR = pa.array([2**62, -(2**62)], pa.timestamp("us"))
ROWS: dict[str, Any] = {"a": [[2, 0], [1, None]], "b": [[1, 1], [0]], "answer": ["a", "tie"]}


def written(path: Path, columns: Any, **options: Any) -> Path:
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, path, **options)
    return path


def message(path: Path, read: Any = read_preferences) -> str:
    with pytest.raises(InputError) as error:
        read(path)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "column", "expected"),
    [
        ("a", pa.array(["[2 0", "1"]), "row 1: the list '[2 0' cannot be read"),
        (
            "a",
            pa.array([2, 1]),
            'the column "a" holds int64; it must hold lists of numbers or text',
        ),
        ("a", pa.array([[[1]], [[2]]]), 'the column "a" holds list<'),
        ("a", pa.array([[True], [False]]), 'the column "a" holds list<element: bool>'),
        ("a", pa.array([{"x": 1}, {"x": 2}]), 'the column "a" holds struct<'),
        ("a", pa.array([[b"\xff"], [b"1"]]), 'the column "a" holds list<element: binary>'),
        ("a", pa.array([None, [1]]), 'row 1: "a" is missing'),
        ("a", pa.array([[], [1]], pa.list_(pa.int64())), 'row 1: "a": an empty list'),
        ("answer", pa.array([0, 1]), "row 1: the answers are the numbers 0, 1, which do not say"),
        ("answer", pa.array([[["a"]], [["b"]]]), 'the column "answer" holds list<'),
        ("answer", pa.array([None, "a"]), "row 1: the answer is empty"),
        ("weight", pa.array(["1", "x"]), 'the column "weight" holds string; it must hold numbers'),
        ("weight", FAR, 'the column "weight" holds timestamp[us]'),
        ("weight", pa.array([1.0, float("nan")]), "row 2: the weight is nan"),
        ("query", FAR, 'the column "query" holds timestamp[us]; it must hold text or whole'),
        ("query", pa.array([1.5, 2.0]), 'row 1: "query" is 1.5'),
        ("judge", pa.array([True, False]), 'the column "judge" holds bool'),
    ],
)
def test_columns_of_other_types_are_named(
    tmp_path: Path, name: str, column: pa.Array, expected: str
) -> None:
    assert expected in message(written(tmp_path / "j.parquet", ROWS | {name: column}))


def test_columns_that_are_ignored_are_never_read(tmp_path: Path) -> None:
    broken = pa.StringArray.from_buffers(
        2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xff\xfe")
    )
    unused = {"when": FAR, "text": broken, "deep": pa.array([[{"x": [1]}], None])}
    plain = read_preferences(written(tmp_path / "plain.parquet", ROWS))
    path = written(tmp_path / "j.parquet", ROWS | unused)
    with pytest.warns(InputWarning, match="3 unknown columns are ignored: 'when', 'text', 'deep'"):
        assert read_preferences(path) == plain
    with pytest.raises(InputError, match="row 1: unknown field 'when'"):
        read_preferences(path, strict=True)
    scored = {"score": [0.5, 0.25], "grade": [2, None], "when": FAR, "text": broken}
    found = read_scored(written(tmp_path / "s.parquet", scored), note=lambda _: None)
    assert found.grades == (2, None)
    qrels = {"query": ["q", "q"], "document": ["d", "e"], "grade": [1, 0], "when": FAR}
    assert read_qrels(written(tmp_path / "q.parquet", qrels | {"text": broken})).number.size == 2


@pytest.mark.parametrize(
    "columns",
    [
        {
            name: pa.array(values).cast(kind)
            for (name, values), kind in zip(ROWS.items(), kinds, strict=True)
        }
        for kinds in (
            (pa.list_(pa.float32()), pa.large_list(pa.int8()), pa.large_string()),
            (pa.list_(pa.string()), pa.list_(pa.large_string()), pa.string()),
        )
    ],
)
def test_all_forms_of_a_column_are_read_alike(tmp_path: Path, columns: dict[str, Any]) -> None:
    plain = read_preferences(written(tmp_path / "plain.parquet", ROWS))
    columns["answer"] = columns["answer"].dictionary_encode()
    path = written(tmp_path / "j.parquet", columns | {"judge": pa.nulls(2)}, use_dictionary=False)
    assert read_preferences(path) == plain
    assert gather_judgments(path).n_ranks == 2


@pytest.mark.skipif(
    Version(pa.__version__) < Version("26"), reason="before 26, pyarrow refuses to read such gaps"
)
def test_lists_of_fixed_size_with_gaps(tmp_path: Path) -> None:
    fixed = pa.array([[2, 0], None, [1, None]], pa.list_(pa.int64(), 2))
    rows = {"a": fixed, "b": fixed, "answer": ["a"] * 3}
    assert 'row 2: "a" is missing' in message(written(tmp_path / "j.parquet", rows))
    path = written(tmp_path / "k.parquet", {"a": fixed})
    with open_parquet(path, dictionaries=True) as file:
        (batch,) = file.iter_batches()
        assert python_values(batch.column("a")) == [[2, 0], None, [1, None]]


def test_columns_that_appear_twice_are_refused(tmp_path: Path) -> None:
    names = ["a", "b", "answer", "a"]
    twice = pa.Table.from_arrays([pa.array(ROWS[name]) for name in names], names)
    assert "the column 'a' appears twice" in message(written(tmp_path / "j.parquet", twice))
    text = pa.array(["1", "2"])
    names = ["query", "query", "document", "grade"]
    qrels = pa.Table.from_arrays([text] * 4, names)
    found = message(written(tmp_path / "q.parquet", qrels), read_qrels)
    assert "the column 'query' appears twice" in found or "duplicate field names" in found  # Arrow


def test_files_without_rows_or_row_groups(tmp_path: Path) -> None:
    empty = pa.table(ROWS).slice(0, 0)
    assert "holds no judgment" in message(written(tmp_path / "j.parquet", empty))
    with pq.ParquetWriter(tmp_path / "none.parquet", empty.schema):
        pass
    assert "holds no judgment" in message(tmp_path / "none.parquet")
    assert "holds no judgment" in message(written(tmp_path / "n.parquet", pa.table({})))
    qrels = pa.table({"query": ["q"], "document": ["d"], "grade": [1]}).slice(0, 0)
    assert "is empty" in message(written(tmp_path / "q.parquet", qrels), read_qrels)


def test_names_that_belong_to_another_format(tmp_path: Path) -> None:
    named = tmp_path / "j.parquet"
    named.write_text("a,b,answer\n1 0,0 1,a\n")
    assert "j.parquet: is not a readable Parquet file" in message(named)
    assert "j.parquet: is not a readable Parquet file" in message(named, read_qrels)
    for suffix in ("csv", "jsonl"):
        path = written(tmp_path / f"j.{suffix}", ROWS)
        assert f"j.{suffix}" in message(path)
    assert "line" in message(written(tmp_path / "qrels", ROWS), read_qrels)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("query", FAR),
        ("document", pa.array([True, False])),
        ("document", pa.array([["x"], ["y"]])),
        ("score", FAR),
        ("score", pa.array([True, False])),
        ("score", pa.array(["1", "1_0"])),
        ("score", pa.array(["1", "\u0661"])),
        ("score", pa.array(["1", "1e400"])),
        ("score", pa.array([{"x": 1}, None])),
    ],
)
def test_runs_of_other_types_are_refused(tmp_path: Path, name: str, column: pa.Array) -> None:
    rows = {"query": ["q", "q"], "document": ["d", "e"], "score": [0.5, 0.25]} | {name: column}
    assert "r.parquet" in message(written(tmp_path / "r.parquet", rows), read_run)


def test_runs_of_text_and_categories_are_read_as_those_of_text_files(tmp_path: Path) -> None:
    rows = {"query": ["q2", "q1"], "document": ["d", "e"], "score": ["+.5", "1e1"]}
    columns = {name: pa.array(values).dictionary_encode() for name, values in rows.items()}
    found = read_run(written(tmp_path / "r.parquet", columns))
    assert (found.queries, found.number.tolist()) == (("q2", "q1"), [0.5, 10.0])


def packed(path: Path, columns: dict[str, Any], **head: Any) -> Path:
    text = json.dumps({"layout": 1, "scale": [1, 0], "ties": 0} | head).encode()
    return written(path, pa.table(columns).replace_schema_metadata({PACKED_METADATA: text}))


GRADES = pa.array([b"\x00\x01", b"\x01\x01"], pa.binary(2))


@pytest.mark.parametrize(
    ("columns", "head", "expected"),
    [
        ({"weight": ["1", "x"]}, {}, "the column 'weight' holds string"),
        ({"weight": FAR}, {}, "the column 'weight' holds timestamp[us]"),
        ({"weight": [[1.0], [2.0]]}, {}, "the column 'weight' holds list<"),
        ({"weight": [True, False]}, {}, "the column 'weight' holds bool"),
        ({"weight": [1.0, None]}, {}, "row 2 holds a weight that is not a finite number"),
        ({"weight": [1.0, -1.0]}, {}, "row 2 holds a weight that is not a finite number"),
        ({"worse": ["x", "y"]}, {}, "the columns 'better' and 'worse' hold"),
        ({"worse": pa.array([b"x", b"y"], pa.binary(1))}, {}, "'better' and 'worse' hold"),
        ({"worse": pa.array([None, b"\x00\x01"], pa.binary(2))}, {}, "has missing values"),
        ({"worse": pa.array([b"\x00\x02"] * 2, pa.binary(2))}, {}, "row 1 holds a grade index"),
        ({}, {"ties": -1}, "does not hold packed pairs"),
        ({}, {"ties": "3"}, "does not hold packed pairs"),
        ({}, {"ties": 10**400}, "does not hold packed pairs"),
        ({}, {"scale": "10"}, "does not hold packed pairs"),
        ({}, {"scale": [1, 1]}, "does not hold packed pairs"),
        ({}, {"layout": 3}, "does not hold packed pairs"),
        ({"answer": [0.0, 1.0]}, {}, "the column 'answer' holds double"),
        ({"answer": [0, None]}, {}, "the column 'answer' has missing values"),
        ({"answer": [0, 5]}, {}, "row 2 holds an unknown answer"),
        ({"query": [1, 2]}, {}, "the column 'query' holds int64"),
        ({"judge": ["x" * 200_000, None]}, {}, "the column 'judge' holds a text of more than"),
    ],
)
def test_packed_pairs_are_checked(
    tmp_path: Path, columns: dict[str, Any], head: dict[str, Any], expected: str
) -> None:
    def read(path: Path) -> None:
        for group in PackedPairs.of(path).row_groups:
            group.read()
            group.read_judgments()

    path = packed(tmp_path / "p.parquet", {"better": GRADES, "worse": GRADES} | columns, **head)
    assert expected in message(path, read)


def test_packed_pairs_with_other_columns_are_read(tmp_path: Path) -> None:
    columns = {"better": GRADES, "worse": GRADES, "when": FAR, "weight": [1, 2]}
    pairs, weights = PackedPairs.of(packed(tmp_path / "p.parquet", columns)).row_groups[0].read()
    assert pairs.tolist() == [[[0, 1], [0, 1]], [[1, 1], [1, 1]]]
    assert weights is not None
    assert weights.tolist() == [1.0, 2.0]


def equal_rows(value: Any, n: int) -> pa.Array:
    """One value in n rows: a few bytes per million of them."""
    values = pa.array([value])
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int8)), values)


def test_packed_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.parquet"
    write_packed(np.zeros((5, 2, 3), np.int8), path, Scale((1, 0)))
    assert len(PackedPairs.of(path).row_groups) == 1
    monkeypatch.setattr(packed, "MAX_GROUP_BYTES", 6)
    monkeypatch.setattr(packed, "MAX_GROUP_BYTES", 6)
    assert "a row group of 5 pairs of 3 ranks" in message(path, PackedPairs.of)
    write_packed(np.zeros((5, 2, 3), np.int8), path, Scale((1, 0)))
    assert len(PackedPairs.of(path).row_groups) == 3


def test_many_equal_judgments_take_memory_in_proportion_to_their_arrays(tmp_path: Path) -> None:
    n, K = 200_000, 5
    offsets = pa.array(np.arange(n + 1, dtype=np.int32) * K)
    lists = [pa.ListArray.from_arrays(offsets, pa.array(np.full(n * K, g))) for g in (1, 0)]
    path = tmp_path / "j.parquet"
    columns = {"a": lists[0], "b": lists[1], "answer": equal_rows("a", n)}
    written(path, columns | {"query": equal_rows("q" * 1000, n)}, compression="zstd")
    assert path.stat().st_size < 40_000
    code = (
        "import resource, sys, numpy, pyarrow.parquet, pyarrow.compute\n"
        "from dcglearn.judgments.reading.judgment_files import read_preferences\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "found = read_preferences(sys.argv[1])\n"
        "print(len(found), (peak() - before) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    count, mebibytes = map(int, done.stdout.split())
    assert count == n
    assert mebibytes < 100  # 7 MB of arrays, and 200 MB if every judgment were a Python object


def test_content_far_beyond_the_size_of_a_file_is_refused(tmp_path: Path) -> None:
    text = "x" * 200_000
    rows = {"query": ["q"], "document": [text], "grade": [1]}
    assert "a text of 200,000 bytes" in message(
        written(tmp_path / "j.parquet", {"a": [[1]], "b": [[0]], "answer": ["a"], "query": [text]})
    )
    rows = {"query": equal_rows(text, 20_000), "document": map(str, range(20_000))}
    path = written(tmp_path / "q.parquet", rows | {"grade": [1] * 20_000})
    assert path.stat().st_size < 10**6
    assert "ids of 4 GiB" in message(path, read_qrels)
    zeros = pa.array(np.zeros(2**26 // 2))
    many = pa.table({"a": [[1]], "b": [[0]], "answer": ["a"]})
    offsets = pa.array(np.array([0, len(zeros)], np.int32))
    long = pa.table(
        {
            "a": pa.ListArray.from_arrays(offsets, zeros),
            "b": many["b"],
            "answer": many["answer"],
        }
    )
    path = written(tmp_path / "l.parquet", long, use_dictionary=False, compression="zstd")
    assert path.stat().st_size < 10**6
    assert "times its compressed size" in message(path) or "33,554,432 ranks" in message(path)


def test_a_list_far_longer_than_the_others_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    long = json.dumps({"a": [1] * 90_000, "b": [0], "answer": "a"})
    path.write_text(long + '\n{"a": [1], "b": [0], "answer": "a"}' * 2000)
    assert "lists of up to 90,000 ranks, and 23.5 on average in 2,001 judgments" in message(path)
    path.write_text(json.dumps({"a": [1] * 100_001, "b": [0], "answer": "a"}))
    assert 'line 1: "a": 100,001 ranks' in message(path)


def test_batches_equal_the_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lists = rng.integers(-1, 3, (10_000, 2, 4)).clip(-1)
    lists[:, :, 0] = lists[:, :, 0].clip(0)
    data = Preferences.of(
        lists,
        rng.choice(["a", "b", "tie"], 10_000),
        Scale((2, 1, 0)),
        weights=rng.uniform(0, 2, 10_000),
        queries=[f"q{i % 97}" for i in range(10_000)],
    )
    for suffix in (".parquet", ".csv", ".jsonl"):
        path = tmp_path / f"j{suffix}"
        write_preferences(data, path)
        assert read_preferences(path, unjudged="nothing") == data
        for memory in (None, 0):
            gathered = gather_judgments(path, memory=memory)
            assert gathered.on_disk == (memory == 0)
            assert concatenated(list(gathered.batches("nothing"))) == data


def test_dates_beyond_those_of_python(tmp_path: Path) -> None:
    with pytest.raises((ValueError, OverflowError)):
        FAR.to_pylist()  # why columns that are not used are not read
    assert datetime.MAXYEAR == 9999


def test_sizes_in_the_footer_are_those_of_pyarrow(tmp_path: Path) -> None:
    rows = ROWS | {"query": ["q", None], "when": FAR, "weight": [1.0, 2.0]}
    path = written(
        tmp_path / "j.parquet", pa.concat_tables([pa.table(rows)] * 20), row_group_size=7
    )
    metadata = pq.read_metadata(path)
    expected = [
        ColumnSize(
            number,
            column.path_in_schema.partition(".")[0],
            column.num_values,
            column.total_compressed_size,
            column.total_uncompressed_size,
        )
        for number in range(metadata.num_row_groups)
        for column in map(metadata.row_group(number).column, range(metadata.num_columns))
    ]
    assert len(expected) == 36
    assert column_sizes(path) == expected


DAMAGE = """
import random, sys
from pathlib import Path
from dcglearn.base.errors import InputError
from dcglearn.collections.runs import read_qrels
content, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[1])
rng = random.Random(0)
for _ in range(300):
    damaged = bytearray(content)
    damaged[rng.randrange(len(content) // 2, len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(damaged)
    try:
        read_qrels(path)
    except InputError:
        pass
print("done")
"""


def test_damaged_files_do_not_end_the_process(tmp_path: Path) -> None:
    rows = {"query": ["q"] * 9, "document": [f"d{i}" for i in range(9)], "grade": [1] * 9}
    path = written(tmp_path / "q.parquet", rows)
    done = subprocess.run(
        [sys.executable, "-c", DAMAGE, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
