"""Blocks decoded by Arrow give what the records read one by one give: values, counts and errors."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import IgnoredInput, InputError, read_preferences
from dcglearn.judgments.reading import csv_blocks, json_blocks, judgment_files, table_blocks
from dcglearn.judgments.reading.coded_values import UndecidedError
from dcglearn.judgments.reading.judgment_files import gather_judgments, read_field


def outcome(path: Path, **options: Any) -> Any:
    """Return what is read, or the message; and what was ignored."""
    ignored = IgnoredInput() if options.pop("lenient", False) else None
    notes: list[str] = []
    try:
        found = read_preferences(path, ignored=ignored, note=notes.append, **options)
    except InputError as error:
        return str(error)
    columns = (found.lists, found.answers, found.weights, found.queries, found.judges)
    kept = {} if ignored is None else dict(ignored.counts)
    return [column.tolist() for column in columns], found.scale, kept, notes


@contextmanager
def small_blocks(size: int) -> Iterator[None]:
    """Read blocks of some bytes or rows, and split those that Arrow cannot decode."""
    with (
        mock.patch.object(json_blocks, "read_chunks", partial(json_blocks.read_chunks, size=size)),
        mock.patch.object(csv_blocks, "read_chunks", partial(csv_blocks.read_chunks, size=size)),
        mock.patch.object(json_blocks, "_FEWEST_LINES", 1),
        mock.patch.object(table_blocks, "_BLOCK_ROWS", 2),
    ):
        yield


def check_same(path: Path, size: int, **options: Any) -> bool:
    """Check that both ways agree; return whether the file can be read."""
    with small_blocks(size):
        fast = outcome(path, **options)
        with mock.patch.object(judgment_files, "code_columns", side_effect=UndecidedError):
            exact = outcome(path, **options)
    assert fast == exact
    assert outcome(path, **options) == exact
    return not isinstance(exact, str)


ODD_TEXTS = """
    2012-01-01
    2012-01-01T10:00:00Z
    007 - 2 2.0 x é \" a,b null NaN [1] \\u00e9
"""
odd_texts = st.sampled_from(
    [*ODD_TEXTS.split(), "", "a\u0085b", "1\u00a02", "\x1c", " 2", "\n", "\r\n", "\x00"]
)
labels = st.one_of(
    st.sampled_from([0, 1, 2, None, 1.0, 0.5, "1", "x"]),
    st.sampled_from([-0.0, 2**53, 2**53 + 1, 10**18, 2**63, 2**64, 1e300, True, [], {}, [1]]),
    odd_texts,
)
plain_lists = st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=3)
lists = st.one_of(
    plain_lists,
    plain_lists,
    st.lists(st.sampled_from([0, 1, None, 2.0]), min_size=1, max_size=3),
    st.lists(st.sampled_from(["good", "bad"]), min_size=1, max_size=3),
    st.lists(labels, max_size=4),
    odd_texts,
    st.none(),
)
answers = st.one_of(
    st.sampled_from(["a", "b", "tie"]), st.sampled_from([1, -1, None, "A", "", 2.5])
)
ids = st.one_of(
    st.sampled_from(["q1", "q2", None, 7, 8]), st.sampled_from([1.5, True, 2**70, [1]]), odd_texts
)
weights = st.one_of(
    st.sampled_from([1, 2, 0.5, None]), st.sampled_from([-1, True, 1e13, "2", -0.0])
)
extra = st.one_of(st.none(), st.booleans(), st.lists(st.integers()), st.just({"x": {"y": [1.5]}}))


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw records most of which are as they should be, of some of which one field is odd."""
    names = draw(st.sets(st.sampled_from(["query", "weight", "judge", "note"]), max_size=3))
    kinds: dict[str, Any] = {
        "a": (plain_lists, lists),
        "b": (plain_lists, lists),
        "answer": (st.sampled_from(["a", "b", "tie"]), answers),
        "query": (st.sampled_from(["q1", "q2"]), ids),
        "judge": (st.just("j"), ids),
        "weight": (st.sampled_from([1, 2]), weights),
        "note": (st.just("n"), extra),
    }
    used = ["a", "b", "answer", *sorted(names)]
    odd = draw(st.one_of(st.none(), st.sampled_from(used)))
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        row = {name: draw(kinds[name][name == odd]) for name in used}
        if draw(st.integers(0, 30)) == 0:
            del row[draw(st.sampled_from(used))]
        rows.append(row)
    return rows


GOOD = '{"a": [1], "b": [0], "answer": "a"'
FAULTS = [
    *("", "", "", "", "\n", " \t\n", "\x0b\n", "{\n", "[1]\n", "null\n", "{}\n", "{} {}\n"),
    *("\r", "\ud800", "\udcff\n", "#\n", f"  {GOOD}}} \r\n", f"{GOOD}}}\x00\n"),
    *(f'{GOOD}, "a": [2]}}\n', f"{GOOD}}}{GOOD}}}\n", GOOD.replace(" ", "\n") + f"}}{GOOD}}}\n"),
    *(GOOD.replace("1", odd) + "}\n" for odd in ("NaN", "-Infinity", "01", "1e999", "1.8e308")),
    *(f'{GOOD}, "note": {odd}}}\n' for odd in ("[" * 2000 + "]" * 2000, "1" * 5000, '"\\ud800"')),
    *(f'{GOOD}, "note": {odd}}}\n' for odd in ("NaN", '{"x": 1, "x": 2}', '"\t"', "[null, 1]")),
]
faults = st.sampled_from(FAULTS)


@given(
    rows=records(),
    fault=faults,
    place=st.integers(0, 8),
    ends=st.sampled_from(["\n", "\r\n"]),
    ascii_only=st.booleans(),
    last=st.booleans(),
    size=st.sampled_from([20, 150, 1000]),
    lenient=st.booleans(),
)
def test_json_lines(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    fault: str,
    place: int,
    ends: str,
    ascii_only: bool,
    last: bool,
    size: int,
    lenient: bool,
) -> None:
    lines = [json.dumps(row, ensure_ascii=ascii_only) + ends for row in rows]
    lines.insert(place, fault)
    content = "".join(lines).encode("utf-8", "surrogateescape" if "\udcff" in fault else "replace")
    path = tmp_path_factory.mktemp("p") / "p.jsonl"
    path.write_bytes(content if last else content.rstrip(b"\r\n") or b"\n")
    check_same(path, size, lenient=lenient)
    check_same(path, size, strict=lenient, scale=(2, 1, 0), n_ranks=2, answers="=tie")
    array = path.with_suffix(".json")
    array.write_bytes(b"[" + b",\n".join(content.splitlines()) + b"]")
    check_same(array, size, lenient=lenient)


def cell(value: Any, draw: Any) -> str:
    """Return a value as exports write it."""
    if not isinstance(value, list):
        return "" if value is None else str(value)
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return json.dumps(value)
    if kind == 1:
        return str(value)
    return (" ", ", ")[kind - 2].join("-" if one is None else str(one) for one in value)


NAMES = {
    "query": ("query", "qid", "topic"),
    "answer": ("answer", "verdict", "preference"),
    "a": ("a", "left", "a1"),
    "b": ("b", "right", "b1"),
    "weight": ("weight", "weights"),
}
"""Names of columns that may all be one field."""


@given(
    data=st.data(),
    n=st.integers(1, 8),
    several=st.sets(st.sampled_from([*NAMES]), max_size=2),
    size=st.sampled_from([20, 150, 1000]),
    lenient=st.booleans(),
)
def test_names_that_become_known_late(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    n: int,
    several: set[str],
    size: int,
    lenient: bool,
) -> None:
    lines = []
    for _ in range(n):
        row: dict[str, Any] = {}
        for field, names in NAMES.items():
            value = [1, 0] if field in "ab" else 1 if field == "weight" else "a"
            some = st.sets(st.sampled_from(names), max_size=2, min_size=field in ("a", "b"))
            for name in sorted(data.draw(some)) if field in several else names[:1]:
                if name in ("a1", "b1"):
                    ranks = data.draw(st.sets(st.integers(1, 4), min_size=1))
                    row |= {f"{field}{rank}": rank % 2 for rank in sorted(ranks)}
                else:
                    row[name] = value
        lines.append(json.dumps(row))
    path = tmp_path_factory.mktemp("p") / "p.jsonl"
    path.write_text("\n".join(lines))
    check_same(path, size, lenient=lenient, strict=lenient)
    with small_blocks(size):
        few = outcome(path)
    assert outcome(path) == few


def test_a_name_that_comes_later_is_refused_wherever_a_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    line = '{"qid": "x", "a": [1], "b": [0], "answer": "a"}\n'
    first, second = line, line.replace("qid", "query")
    path.write_text(first * 3 + second * 3)
    for size in (10, 60, 100, 1000):
        with small_blocks(size):
            assert "the columns qid and query could both be the query" in outcome(path)


def test_ranks_that_are_not_in_every_record(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    common = '"b1": 0, "answer": "a"'
    rows = ('"a1": 1, "a2": 0', '"a1": 1, "a3": 0', '"a1": 0')
    path.write_text("".join(f"{{{row}, {common}}}\n" for row in rows))
    for size in (10, 60, 1000):
        with small_blocks(size):
            found = read_preferences(path, scale=(1, 0), unjudged="nothing", note=print)
        assert found.lists[:, 0].tolist() == [[0, 1, -1], [0, -1, 1], [1, -1, -1]]


CSV_FAULTS = [
    *("", "", "", "\n", " \n", "x\n", '"', '"x\n', 'a"b,', '"a"b,c,d\n', "\r", ",,,\n", '"\n"\n'),
    *("\x00", "\udcff"),
]
csv_faults = st.sampled_from(CSV_FAULTS)


@given(
    rows=records(),
    data=st.data(),
    fault=csv_faults,
    place=st.integers(1, 300),
    delimiter=st.sampled_from([",", ";", "\t"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    ends=st.sampled_from(["\n", "\r\n"]),
    size=st.sampled_from([20, 150, 1000]),
    lenient=st.booleans(),
)
def test_delimited_text(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    data: st.DataObject,
    fault: str,
    place: int,
    delimiter: str,
    quoting: Any,
    ends: str,
    size: int,
    lenient: bool,
) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=ends)
    writer.writerow(names)
    for row in rows:
        writer.writerow([cell(row.get(name), data.draw) for name in names])
    content = text.getvalue()
    place = min(len(content), len(ends) + len(delimiter.join(names)) + place)
    content = content[:place] + fault + content[place:]
    path = tmp_path_factory.mktemp("p") / ("p.tsv" if delimiter == "\t" else "p.csv")
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    check_same(path, size, lenient=lenient)
    check_same(path, size, lenient=lenient, scale=("good", "bad", 2, 1, 0))


@given(
    cells=st.lists(st.text('x", \n\r', max_size=6), min_size=1, max_size=8),
    last=st.booleans(),
    delimiter=st.sampled_from([",", ";"]),
    size=st.sampled_from([20, 60, 1000]),
)
def test_quotes_anywhere(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[str],
    last: bool,
    delimiter: str,
    size: int,
) -> None:
    order = ("a", "b", "answer", "query") if last else ("query", "a", "b", "answer")
    lines = [delimiter.join(order)]
    for text in cells:
        values = {"a": "1", "b": "0", "answer": "a", "query": text}
        lines.append(delimiter.join(values[name] for name in order))
    path = tmp_path_factory.mktemp("p") / "p.csv"
    path.write_bytes("\n".join(lines).encode())
    check_same(path, size)
    with small_blocks(size):
        few = outcome(path)
    assert outcome(path) == few


@given(rows=records(), lenient=st.booleans(), dictionary=st.booleans())
def test_tables(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    lenient: bool,
    dictionary: bool,
) -> None:
    try:
        table = pa.Table.from_pylist(rows, schema=None)
    except (pa.ArrowException, OverflowError, TypeError):
        return  # a table holds one kind of value per column
    folder = tmp_path_factory.mktemp("p")
    pq.write_table(table, folder / "p.parquet", use_dictionary=dictionary)
    with (
        pa.OSFile(str(folder / "p.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as to,
    ):
        to.write_table(table, 3)
    outcomes = []
    for name in ("p.parquet", "p.arrow"):
        check_same(folder / name, 100, lenient=lenient)
        outcomes.append(outcome(folder / name, lenient=lenient))
    if not isinstance(outcomes[0], str):
        assert outcomes[0] == outcomes[1]


def test_blocks_are_decoded_by_arrow(tmp_path: Path) -> None:
    lines = [
        json.dumps({"query": f"q{i}", "a": [i % 3, None], "b": [1], "answer": "a"})
        for i in range(3000)
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    (tmp_path / "p.csv").write_text("query,a,b,answer\n" + 'q1,"[2, 0]",1 - 0,a\n' * 3000)
    rows = ('laptop 15",1,0,a\n', '"a ""b"" c",0,1,b\n', '5" x "y" z,1,0,a\n') * 3000
    (tmp_path / "quotes.csv").write_text("query,a,b,answer\n" + "".join(rows))
    pq.write_table(pa.table({"a": [[1]], "b": [[0]], "answer": ["a"]}), tmp_path / "p.parquet")
    for name in ("p.jsonl", "p.csv", "quotes.csv", "p.parquet"):
        with mock.patch.object(judgment_files, "code_records", side_effect=AssertionError):
            assert len(gather_judgments(tmp_path / name))


def test_one_odd_line_leaves_the_others_to_arrow(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    lines = ['{"a": [1, 0], "b": [0], "answer": "a"}'] * 20_000
    lines[12_345] = '{"a": ["1", 0], "b": [0], "answer": "a"}'
    path.write_text("\n".join(lines))
    read: list[int] = []

    def counted(*arguments: Any) -> Any:
        found = json_blocks_records(*arguments)
        for number, record in found:
            read.append(number)
            yield number, record

    json_blocks_records = json_blocks._records
    with mock.patch.object(json_blocks, "_records", counted):
        found = read_preferences(path)
    assert np.array_equal(found.lists, np.tile([[[0, 1], [1, -1]]], (20_000, 1, 1)))
    assert 12_346 in read
    assert len(read) <= 64


def field_outcome(path: Path, name: str) -> Any:
    """Return the values of a field, or the message."""
    try:
        return read_field(path, name)
    except InputError as error:
        return str(error)


@given(
    values=st.lists(ids, min_size=1, max_size=8),
    left_out=st.sets(st.integers(0, 7)),
    size=st.sampled_from([20, 150]),
)
def test_one_more_field(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], left_out: set[int], size: int
) -> None:
    folder = tmp_path_factory.mktemp("p")
    rows = [
        {"a": [1], "b": [0], "answer": "a"} | ({} if row in left_out else {"by": value})
        for row, value in enumerate(values)
    ]
    (folder / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with (folder / "p.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["a", "b", "answer", "by"])
        writer.writeheader()
        writer.writerows(rows)
    for path in folder.iterdir():
        with small_blocks(size):
            found = field_outcome(path, "by")
            with mock.patch.object(judgment_files, "column_ids", side_effect=UndecidedError):
                assert field_outcome(path, "by") == found
        assert field_outcome(path, "by") == found
