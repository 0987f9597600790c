"""Files of every format, compression and encoding, from every place, and those that are refused."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn.base.tables.delimited import find_layout
from dcglearn.base.tables.sources import Source, find_sources
from helpers.written import COMPRESS, write

pytestmark = pytest.mark.filterwarnings("ignore::dcglearn.InputWarning")

ROWS = "query;a;b;answer\nq1;2 0;1 1;a\nq2;1 1;2 0;b\n"


def only(place: Any, encoding: str = "utf-8") -> Source:
    (source,) = find_sources(place, encoding)
    return source


def content(source: Source) -> bytes:
    with source.open() as file:
        return file.read()


def refusal(place: object) -> str:
    def read() -> list[Any]:
        sources = find_sources(place)  # type: ignore[arg-type]  # any kind of place
        return [list(source.blocks(list)) for source in sources]

    with pytest.raises(InputError) as refused:
        read()
    return str(refused.value)


def test_standard_input_pipes_and_open_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = gzip.compress(ROWS.encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed)))
    found = [only("-"), only(io.BytesIO(packed)), only(io.StringIO(ROWS))]
    path = write(tmp_path / "x.csv.gz", packed)
    with gzip.open(path) as file:
        found.append(only(file))
    with path.open("rb") as file:
        found.append(only(file))
    with write(tmp_path / "x.unknown", ROWS.encode()).open("rb") as file:
        found.append(only(file))
    os.mkfifo(tmp_path / "pipe.csv")
    writer = threading.Thread(target=(tmp_path / "pipe.csv").write_text, args=(ROWS,))
    writer.start()
    found.append(only(tmp_path / "pipe.csv"))
    writer.join()
    for source in found:
        assert (source.format, source.layout.delimiter) == ("csv", ";")
        assert [content(source), content(source)] == [ROWS.encode()] * 2
    assert found[0].name == "standard input"
    assert found[1].name == "an open file"


def test_parts_come_in_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv.gz", ".a.csv.crc", "_SUCCESS", "b.csv.crc", "_logs/x"):
        write(tmp_path / name, COMPRESS[".gz" if name.endswith("gz") else ""](b"a,b\n1,2\n"))
    for place in (tmp_path, str(tmp_path), f"{tmp_path}/*", f"{tmp_path}/**/*.csv*"):
        sources = find_sources(place)
        assert [Path(source.name).name for source in sources] == ["a.csv.gz", "b.csv"]
    assert [s.name for s in find_sources([tmp_path / "b.csv", tmp_path / "a.csv.gz"])] == [
        str(tmp_path / name) for name in ("b.csv", "a.csv.gz")
    ]


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    path = write(tmp_path / "x[1].csv", b"a,b\n")
    write(tmp_path / "x1.csv", b"other")
    assert only(str(path)).name == str(path)


@pytest.mark.parametrize(
    ("files", "place", "at", "problem"),
    [
        ({}, "*.csv", "*.csv", "no such file"),
        ({"d/_SUCCESS": b"x"}, "d", "d", "without files"),
        ({"x.csv.gz": gzip.compress(b"")}, "x.csv.gz", "x.csv.gz", "is empty"),
        ({"d/a.csv": b"a,b", "d/b.jsonl": b"{}"}, "d", "d", "csv, json"),
        ({"d/x/a.csv": b"a"}, "d", "d", "the folder x"),
        ({"x.csv": b"a"}, ["x.csv", "x.csv"], "x.csv", "appears twice"),
        ({"d/x.csv": b"a"}, ["./d/x.csv", "d"], "d/x.csv", "appears twice"),
        ({"d/x.csv": b"a"}, ["d/*.csv", "link.csv"], "link.csv", "appears twice"),
    ],
)
def test_what_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, bytes],
    place: Any,
    at: str,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, held in files.items():
        write(tmp_path / name, held)
    if "link.csv" in place:
        (tmp_path / "link.csv").symlink_to("d/x.csv")
    with pytest.raises(InputError) as refused:
        find_sources(place)
    assert refused.value.place == at
    assert problem in refused.value.problem


LINES = "".join(f'{{"query": "q{i * 7919 % 1000}", "n": {i}}}\n' for i in range(5_000)).encode()


@pytest.mark.parametrize("compression", [name for name in COMPRESS if name])
def test_compressed_files_in_parts_cut_short_or_damaged(tmp_path: Path, compression: str) -> None:
    packed, path = COMPRESS[compression](LINES), tmp_path / f"x.jsonl{compression}"
    assert content(only(write(path, packed + packed))) == LINES + LINES
    damaged = packed[:6] + bytes(200) + packed[206:]  # pyarrow writes Zstandard without checksums
    for held in (damaged, *(packed[:size] for size in (5, 30, len(packed) // 2, len(packed) - 3))):
        message = refusal(write(path, held))
        assert message.startswith(str(path))
        assert "is damaged" in message or len(held) == 5


ENCODINGS = {
    "utf-8": b"",
    "utf-8-sig": b"",
    "utf-16": b"",
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}


@settings(max_examples=10)
@given(st.text(max_size=100).filter(lambda t: "\r" not in t and "\0" not in t))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_of_every_encoding_is_read_as_python_reads_it(encoding: str, text: str) -> None:
    text = "ab" + text  # a header
    assert content(only(io.BytesIO(ENCODINGS[encoding] + text.encode(encoding)))) == text.encode()
    told = only(io.BytesIO(text.encode(encoding)), encoding)
    assert content(told) == text.encode()


@pytest.mark.parametrize("character", ["a", "\u20ac"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_chunks_end_anywhere_in_a_long_line(character: str, encoding: str) -> None:
    text = "x" + character * (2**20 + 2**17)
    assert content(only(io.BytesIO(text.encode(encoding)))) == text.encode()
    for end in ("\r\n", "\r", "\n"):
        ends = f"xy{end}" * 300_000
        assert content(only(io.BytesIO(ends.encode(encoding)))) == b"xy\n" * 300_000


FILL = b"1,2\n" * 600_000


@pytest.mark.parametrize(
    ("held", "line"),
    [
        ("\u00e9\n".encode() + FILL + b"\xe9\n", 600_002),
        (b"ab\n" + "\u00e9\n".encode() + b"\xe9\n", 3),
        (b"\xef\xbb\xbfa\n\xe9", 2),
        (b"\xff\xfea\0\n\0\0\xd8a\0", 2),
    ],
)
def test_text_that_is_refused_names_the_line(tmp_path: Path, held: bytes, line: int) -> None:
    path = write(tmp_path / "x.csv", held)
    with pytest.raises(InputError) as refused:
        content(only(path))
    assert refused.value.place == f"{path}, line {line}"


@given(
    st.sampled_from(",;\t|"),
    st.lists(
        st.lists(st.text("ab,;\t|\" '0\u00e9", max_size=6), min_size=3, max_size=3), max_size=9
    ),
)
def test_delimiters_are_found_whatever_the_cells(delimiter: str, rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([["query", "a b", "answer"], *rows])
    assert find_layout(text.getvalue().encode(), "").delimiter == delimiter
