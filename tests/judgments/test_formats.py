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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dcglearn import Preferences, read_preferences, write_preferences
from helpers.notes import noted
from helpers.written import write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

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
    "bars.csv": lambda: delimited(RECORDS, "|").encode(),
    "sep.csv": lambda: ("sep=;\r\n" + delimited(RECORDS, ";", end="\r\n")).encode(),
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
    "semicolons sep": "columns are separated by semicolons",
    "tabs.txt": "columns are separated by tabs",
    "bars": "columns are separated by vertical bars",
}
EXPECTED = contents(Preferences.from_frame(FRAME))


@pytest.mark.parametrize("name", FILES)
def test_every_format_in_every_compression(tmp_path: Path, name: str) -> None:
    for suffix, compress in COMPRESS.items():
        path = write(tmp_path / (name + suffix), compress(FILES[name]()))
        with noted() as notes:
            assert contents(read_preferences(path)) == EXPECTED, suffix
        with path.open("rb") as file:
            assert contents(read_preferences(file)) == EXPECTED, suffix
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
        found = read_preferences(places)  # type: ignore[arg-type]  # of several kinds
        assert contents(found) == EXPECTED


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
        write(tmp_path / f"part-{number}.csv", delimited(part, ";"))
    whole = write(tmp_path / "x.jsonl", json_lines(RECORDS))
    expected = json.loads(run("inspect", "x.jsonl", "--json").stdout)
    for places in (("part-0.csv", "part-1.csv"), ("part-*.csv",), (".",)):
        if places == (".",):
            whole.unlink()
        found = run("inspect", *places, "--json")
        assert found.returncode == 0, found.stderr
        document = json.loads(found.stdout)
        assert {**document, "file": "x.jsonl"} == expected
        assert found.stderr == "columns are separated by semicolons\n"
    assert document["file"] == "."
    assert json.loads(run("inspect", "part-0.csv", "part-1.csv", "--json").stdout)["file"] == (
        "part-0.csv and 1 more"
    )
    again = run("inspect", "part-0.csv", "./part-0.csv")
    assert again.returncode == 2
    assert "./part-0.csv: appears twice" in again.stderr


def test_commands_read_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dcglearn", "inspect", "-", "--json"]
    packed = gzip.compress(delimited(RECORDS, "\t").encode("utf-16"))
    found = subprocess.run(command, input=packed, capture_output=True, cwd=tmp_path, check=True)
    assert json.loads(found.stdout)["judgments"] == len(RECORDS)
    assert found.stderr.decode() == "columns are separated by tabs\n"


TABLE = pd.DataFrame(
    {
        "query": ["new york", "caf\xe9", "7"],
        "a": [[2, 0, 1], [0, 2, 0], [1, 1]],
        "b": [[1, 1, 0], [1, 2, 0], [2]],
        "answer": ["a", "b", "tie"],
        "weight": [1.0, 0.5, 2.0],
    }
)
ORIENTS = ["columns", "index", "split", "records"]
ROWS = TABLE.to_dict("records")
TOLD: dict[str, Any] = {
    "a list per column": TABLE.to_dict("list"),
    "tight": TABLE.to_dict("tight"),
    "one record": ROWS[0],
}


def read(path: Path) -> Preferences:
    return read_preferences(path)


@pytest.mark.parametrize("index", [None, [5, 3, 9]])
@pytest.mark.parametrize("orient", ORIENTS)
def test_what_pandas_writes(tmp_path: Path, orient: Any, index: list[int] | None) -> None:
    frame = TABLE if index is None else TABLE.set_index(np.array(index))
    path = tmp_path / "x.json"
    for indent in (0, 2):
        frame.to_json(path, orient=orient, indent=indent)
        assert read(path) == Preferences.from_frame(TABLE)
    frame.to_json(tmp_path / "x.json.gz", orient=orient)
    assert read(tmp_path / "x.json.gz") == Preferences.from_frame(TABLE)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", TOLD)
def test_what_other_programs_write(tmp_path: Path, name: str, indent: int | None) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(TOLD[name], indent=indent))
    rows = TABLE[:1] if name == "one record" else TABLE
    assert read(path) == Preferences.from_frame(rows)


def test_a_table_larger_than_a_block(tmp_path: Path) -> None:
    many = pd.concat([TABLE] * 10_000, ignore_index=True)
    many.to_json(tmp_path / "x.json")
    assert (tmp_path / "x.json").stat().st_size > 2**20
    assert read(tmp_path / "x.json") == Preferences.from_frame(many)


def test_lines_stay_lines(tmp_path: Path) -> None:
    line = '{"a": [1], "b": [0], "answer": "a", "documents": [{"id": 1}]}'
    (tmp_path / "x.jsonl").write_text(line)
    assert len(read(tmp_path / "x.jsonl")) == 1
    (tmp_path / "x.jsonl").write_text(f"\n{line}\n\n{line}\n")
    assert len(read(tmp_path / "x.jsonl")) == 2
