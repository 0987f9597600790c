"""The same judgments in every format, compression, encoding and layout are the same arrays."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError, Preferences, read_preferences, write_preferences
from helpers.written import write

Command = Callable[..., subprocess.CompletedProcess[str]]
Records = list[dict[str, Any]]

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
RECORDS: Records = [
    {"query": "caf\xe9, bar", "a": [2, 0, 1], "b": [1, 1, 0], "answer": "a", "weight": 1.0},
    {"query": 'the "best"', "a": [0, 2], "b": [1, 2, 0], "answer": "b", "weight": 2.5},
    {"query": "7", "a": [1, 1, 1], "b": [2], "answer": "tie", "weight": 0.5},
    {"query": "caf\xe9, bar", "a": [2, 2, 2], "b": [0], "answer": "good", "weight": 1.0},
] * 3


def json_lines(records: Records) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()


def delimited(
    records: Records,
    delimiter: str = ",",
    write_list: Callable[[list[Any]], str] = lambda labels: " ".join(map(str, labels)),
    end: str = "\n",
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(records[0])
    for one in records:
        values = (one[name] for name in records[0])
        writer.writerow(write_list(v) if isinstance(v, list) else v for v in values)
    return text.getvalue()


def table(records: Records) -> pa.Table:
    return pa.Table.from_pylist(records)


def ipc(records: Records, new: Callable[..., Any]) -> bytes:
    sink = io.BytesIO()
    with new(sink, table(records).schema) as writer:
        writer.write_table(table(records), max_chunksize=5)
    return sink.getvalue()


def in_a_sink(write: Callable[[io.BytesIO], object]) -> bytes:
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def spread(records: Records, pattern: str = "{}{}") -> pd.DataFrame:
    """Judgments with one column per rank."""
    rows = []
    for one in records:
        row = {name: value for name, value in one.items() if not isinstance(value, list)}
        for side in "ab":
            for rank in range(3):
                held = one[side]
                row[pattern.format(side, rank + 1)] = held[rank] if rank < len(held) else None
        rows.append(row)
    return pd.DataFrame(rows)


FRAME = pd.DataFrame(RECORDS)
FILES: dict[str, Callable[[], bytes]] = {
    "x.jsonl": lambda: json_lines(RECORDS),
    "x.ndjson": lambda: json_lines(RECORDS).replace(b"\n", b"\r\n"),
    "lines.json": lambda: json_lines(RECORDS),
    "x.json": lambda: json.dumps(RECORDS).encode(),
    "indented.json": lambda: json.dumps(RECORDS, indent=2, ensure_ascii=False).encode(),
    "utf16.jsonl": lambda: json_lines(RECORDS).decode().encode("utf-16"),
    "no suffix": lambda: json_lines(RECORDS),
    "x.csv": lambda: delimited(RECORDS).encode(),
    "semicolons.csv": lambda: delimited(RECORDS, ";", end="\r\n").encode("utf-8-sig"),
    "tabs.txt": lambda: delimited(RECORDS, "\t", end="\r\n").encode("utf-16"),
    "bars.csv": lambda: delimited(RECORDS, "|").encode("cp1252"),
    "sep.csv": lambda: ("sep=;\r\n" + delimited(RECORDS, ";", end="\r\n")).encode("cp1252"),
    "x.tsv": lambda: delimited(RECORDS, "\t").encode(),
    "big-endian.csv": lambda: b"\xfe\xff" + delimited(RECORDS).encode("utf-16-be"),
    "x.parquet": lambda: in_a_sink(FRAME.to_parquet),
    "x.feather": lambda: in_a_sink(FRAME.to_feather),
    "x.arrow": lambda: ipc(RECORDS, pa.ipc.new_stream),
    "file.arrow": lambda: ipc(RECORDS, pa.ipc.new_file),
    "records.json": lambda: FRAME.to_json(orient="records").encode(),
    "records.jsonl": lambda: FRAME.to_json(orient="records", lines=True).encode(),
    "python.csv": lambda: FRAME.to_csv(index=False).encode(),
    "python-semicolons.csv": lambda: FRAME.to_csv(index=False, sep=";").encode(),
    "commas.csv": lambda: delimited(
        RECORDS, write_list=lambda labels: ",".join(map(str, labels))
    ).encode(),
    "json.csv": lambda: delimited(RECORDS, write_list=json.dumps).encode(),
    "numpy.csv": lambda: delimited(
        RECORDS, write_list=lambda labels: str(np.array(labels))
    ).encode(),
    "ranks.csv": lambda: spread(RECORDS).to_csv(index=False).encode(),
    "ranks_.tsv": lambda: spread(RECORDS, "{}_{}").to_csv(index=False, sep="\t").encode(),
    "ranks..parquet": lambda: in_a_sink(spread(RECORDS, "{}.{}").to_parquet),
    "ranks[].json": lambda: spread(RECORDS, "{}[{}]").to_json(orient="records").encode(),
    "ranks.jsonl": lambda: spread(RECORDS).to_json(orient="records", lines=True).encode(),
}


def contents(found: Preferences) -> list[Any]:
    labels = [[[found.scale.labels[g] for g in side if g >= 0] for side in p] for p in found.lists]
    rest = (found.answers, found.weights, found.queries, found.judges)
    return [found.lists.tolist(), labels, *(column.tolist() for column in rest)]


NOTES = {
    "utf16 tabs.txt big-endian": "the text is UTF-16",
    "bars sep": "the text is Latin-1",
    "semicolons sep": "columns are separated by semicolons",
    "tabs.txt": "columns are separated by tabs",
    "bars": "columns are separated by vertical bars",
}
EXPECTED = contents(Preferences.from_frame(FRAME))


@pytest.mark.parametrize("name", FILES)
def test_every_format_in_every_compression(tmp_path: Path, name: str) -> None:
    for suffix, compress in COMPRESS.items():
        path = write(tmp_path / (name + suffix), compress(FILES[name]()))
        notes: list[str] = []
        assert contents(read_preferences(path, note=notes.append)) == EXPECTED, suffix
        with path.open("rb") as file:
            assert contents(read_preferences(file, note=lambda _: None)) == EXPECTED, suffix
        assert [note for note in notes if note in NOTES.values()] == [
            note for words, note in NOTES.items() if any(word in name for word in words.split())
        ]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet", ".arrow"])
def test_parts_in_a_folder_and_by_a_pattern(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "_SUCCESS").touch()
    parts = {
        ".jsonl": json_lines,
        ".json": lambda part: json.dumps(part).encode(),
        ".csv": lambda part: delimited(part).encode(),
        ".parquet": lambda part: in_a_sink(pd.DataFrame(part).to_parquet),
        ".arrow": lambda part: ipc(part, pa.ipc.new_file),
    }
    paths = [
        write(tmp_path / f"part-{number:04}{suffix}", parts[suffix](RECORDS[start : start + 5]))
        for number, start in enumerate(range(0, len(RECORDS), 5))
    ]
    for places in (tmp_path, f"{tmp_path}/part-*", paths, iter(paths)):
        notes: list[str] = []
        found = read_preferences(places, note=notes.append)  # type: ignore[arg-type]  # of several kinds
        assert contents(found) == EXPECTED
        assert notes == ["1 hidden file is left out"] * (places == tmp_path)


texts = st.text("ab\xe9\u20ac ,;\t\"'\n", min_size=1, max_size=5).filter(
    lambda text: text == text.strip() and text not in ("", "-")
)
judgments = st.lists(
    st.fixed_dictionaries(
        {
            "query": texts,
            "a": st.lists(st.integers(0, 2), min_size=1, max_size=3),
            "b": st.lists(st.integers(0, 2), min_size=1, max_size=3),
            "answer": st.sampled_from(["a", "b", "tie"]),
            "weight": st.sampled_from([0.0, 1.0, 0.25]),
            "judge": texts,
        }
    ),
    min_size=1,
    max_size=6,
)


@given(
    judgments,
    st.sampled_from([".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow"]),
    st.sampled_from(list(COMPRESS)),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(",;\t|"),
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    records: Records,
    suffix: str,
    compression: str,
    encoding: str,
    delimiter: str,
) -> None:
    delimiter = "\t" if suffix == ".tsv" else delimiter
    held = {
        ".jsonl": lambda: json_lines(records).decode().encode(encoding),
        ".json": lambda: json.dumps(records, ensure_ascii=False).encode(encoding),
        ".csv": lambda: delimited(records, delimiter).encode(encoding),
        ".tsv": lambda: delimited(records, delimiter, json.dumps).encode(encoding),
        ".parquet": lambda: in_a_sink(pd.DataFrame(records).to_parquet),
        ".arrow": lambda: ipc(records, pa.ipc.new_stream),
    }[suffix]()
    path = tmp_path_factory.getbasetemp() / f"written{suffix}{compression}"
    path.write_bytes(COMPRESS[compression](held))
    assert contents(read_preferences(path, note=lambda _: None)) == contents(
        Preferences.from_frame(pd.DataFrame(records))
    )


@pytest.mark.parametrize(
    "name",
    [
        *(".jsonl", ".jsonl.gz", ".csv.zst", ".csv.bz2", ".jsonl.xz", ".ndjson", ".json"),
        *(".json.zst", ".tsv", ".tsv.gz", ".parquet", ".arrow"),
    ],
)
def test_what_is_written_is_compressed_as_its_name_says(tmp_path: Path, name: str) -> None:
    data = Preferences.from_frame(FRAME)
    path = tmp_path / f"x{name}"
    write_preferences(data, path)
    assert contents(read_preferences(path)) == EXPECTED
    first = path.read_bytes()
    write_preferences(data, path)
    assert path.read_bytes() == first


def test_commands_take_several_files(run: Command, tmp_path: Path) -> None:
    for number in (0, 1):
        part = RECORDS[6 * number : 6 * number + 6]
        write(tmp_path / f"part-{number}.csv", delimited(part, ";").encode("cp1252"))
    whole = write(tmp_path / "x.jsonl", json_lines(RECORDS))
    expected = json.loads(run("inspect", "x.jsonl", "--json").stdout)
    for places in (("part-0.csv", "part-1.csv"), ("part-*.csv",), (".",)):
        if places == (".",):
            whole.unlink()
        found = run("inspect", *places, "--json")
        assert found.returncode == 0, found.stderr
        document = json.loads(found.stdout)
        assert {**document, "file": "x.jsonl"} == expected
        assert found.stderr.splitlines() == [
            *("the text is Latin-1", "columns are separated by semicolons")
        ]
    assert document["file"] == "."
    assert json.loads(run("inspect", "part-0.csv", "part-1.csv", "--json").stdout)["file"] == (
        "part-0.csv and 1 more"
    )
    again = run("inspect", "part-0.csv", "./part-0.csv")
    assert again.returncode == 2
    assert "./part-0.csv: appears twice (as part-0.csv, too); name it once" in again.stderr


def test_commands_read_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dcglearn", "inspect", "-", "--json"]
    packed = gzip.compress(delimited(RECORDS, "\t").encode("utf-16"))
    found = subprocess.run(command, input=packed, capture_output=True, cwd=tmp_path, check=True)
    assert json.loads(found.stdout)["judgments"] == len(RECORDS)
    assert found.stderr.decode().splitlines() == [
        *("the text is UTF-16", "columns are separated by tabs")
    ]


BOMBS = {
    "blank.jsonl": (b"", b"\n"),
    "line.jsonl": (b'{"a": [1], "b": [0], "answer": "', b"x"),
    "blank.json": (b"[", b" "),
    "text.json": (b'[{"a": "', b"x"),
    "blank.csv": (b"a,b,answer\n", b"\n"),
    "cell.csv": (b'a,b,answer\n"', b"x"),
    "rows.csv": (b"a,b,answer\n", b"1,0,a\n"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("dcglearn.base.tables.old.compressed.MAX_DECOMPRESSED", 2**22)
    head, filling = BOMBS[name]
    content = head + filling * (2**25 // len(filling))
    path = write(tmp_path / f"{name}.xz", lzma.compress(content, preset=1))
    tracemalloc.start()
    with pytest.raises(InputError, match="over 100 times its compressed size; decompress it first"):
        read_preferences(path, note=lambda _: None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(content)
