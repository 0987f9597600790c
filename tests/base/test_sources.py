"""Files of every format, compression and encoding, from every place, and those that are refused."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import tempfile
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcglearn import InputError
from dcglearn.base.tables.compressed import read_content
from dcglearn.base.tables.delimiters import find_delimiter
from dcglearn.base.tables.encodings import Utf8Stream
from dcglearn.base.tables.sources import Source, SourceFormat, find_sources
from helpers.written import write


def zstandard(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
ROWS = "query;a;b;answer\nq1;2 0;1 1;a\nq2;1 1;2 0;b\n"


def only(place: object, file_format: SourceFormat | None = None) -> Source:
    (source,) = find_sources(place, file_format)  # type: ignore[arg-type]  # any kind of place
    return source


def content(source: Source) -> bytes:
    with source.open() as file:
        return file.read()


def refusal(place: object) -> str:
    with pytest.raises(InputError) as refused:
        list(map(content, find_sources(place)))  # type: ignore[arg-type]  # any kind of place
    return str(refused.value)


TABLE = pa.table({"answer": ["a", "b"], "weight": [1.0, 2.0]})


def binary(suffix: str) -> bytes:
    sink = io.BytesIO()
    if suffix == ".parquet":
        pq.write_table(TABLE, sink)
    elif suffix == ".feather":
        feather.write_feather(TABLE, sink)
    else:
        with pa.ipc.new_stream(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)
    return sink.getvalue()


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize(
    ("suffix", "text", "expected", "delimiter"),
    [
        (".jsonl", '{"a": 1}\n', "jsonl", None),
        (".ndjson", '{"a": 1}\n', "jsonl", None),
        (".json", '{"a": 1}\n{"a": 2}\n', "jsonl", None),
        (".json", ' \n[{"a": 1}]', "json", None),
        (".jsonl", '[{"a": 1}]', "json", None),
        (".csv", "a,b\n1,2\n", "csv", ","),
        (".csv", ROWS, "csv", ";"),
        (".txt", "a\tb\n1\t2\n", "csv", "\t"),
        (".tsv", "a\tb\n1\t2\n", "tsv", "\t"),
        ("", '{"a": 1}', "jsonl", None),
        ("", '\n[{"a": 1}]', "json", None),
        ("", "a|b\n1|2\n", "csv", "|"),
        (".007", "a|b\n1|2\n", "csv", "|"),
    ],
)
def test_text_is_the_same_however_compressed_and_opens_again(
    tmp_path: Path, compression: str, suffix: str, text: str, expected: str, delimiter: str | None
) -> None:
    path = write(tmp_path / f"x{suffix}{compression}", COMPRESS[compression](text.encode()))
    source = only(path)
    assert (source.format, source.delimiter, source.is_text) == (expected, delimiter, True)
    assert (source.name, source.size) == (str(path), path.stat().st_size)
    assert [content(source), content(source)] == [text.encode()] * 2


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_columns_are_on_disk_as_their_readers_need_them(
    tmp_path: Path, compression: str, suffix: str
) -> None:
    held = binary(suffix)
    path = write(tmp_path / f"x{suffix}{compression}", COMPRESS[compression](held))
    for place in (path, io.BytesIO(path.read_bytes())):
        source = only(place)
        assert source.format == ("parquet" if suffix == ".parquet" else "arrow")
        assert not source.is_text
        assert source.path.read_bytes() == held
        with source.open() as file:
            assert file.seekable()
            assert file.read() == held


def test_copies_are_removed_with_their_sources(tmp_path: Path) -> None:
    source = only(write(tmp_path / "x.parquet.gz", gzip.compress(binary(".parquet"))))
    copy = source.path
    assert copy.exists()
    del source
    assert not copy.exists()


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
        assert (source.format, source.delimiter) == ("csv", ";")
        assert [content(source), content(source)] == [ROWS.encode()] * 2
    assert found[0].name == "standard input"
    assert found[1].name == "an open file"


def test_a_position_in_an_open_file_is_where_it_is_read_from() -> None:
    file = io.BytesIO(b"note\na,b\n1,2\n")
    file.readline()
    assert content(only(file)) == b"a,b\n1,2\n"


def test_parts_come_in_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv.gz", ".a.csv.crc", "_SUCCESS", "b.csv.crc", "_logs/x"):
        write(tmp_path / name, COMPRESS[".gz" if name.endswith("gz") else ""](b"a,b\n1,2\n"))
    for place in (tmp_path, str(tmp_path), f"{tmp_path}/*", f"{tmp_path}/**/*.csv*"):
        sources = find_sources(place)
        assert [Path(source.name).name for source in sources] == ["a.csv.gz", "b.csv"]
        assert "hidden file" in sources[0].notes[-1]
        assert sources[1].notes == []
    assert [s.name for s in find_sources([tmp_path / "b.csv", tmp_path / "a.csv.gz"])] == [
        str(tmp_path / name) for name in ("b.csv", "a.csv.gz")
    ]


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    path = write(tmp_path / "x[1].csv", b"a,b\n")
    write(tmp_path / "x1.csv", b"other")
    assert only(str(path)).name == str(path)


def test_files_of_several_formats_may_be_named_one_by_one(tmp_path: Path) -> None:
    paths = [write(tmp_path / "x.csv", b"a,b\n"), write(tmp_path / "x.jsonl", b"{}\n")]
    assert [source.format for source in find_sources(paths)] == ["csv", "jsonl"]


def test_a_given_format_counts_more_than_the_suffix(tmp_path: Path) -> None:
    source = only(write(tmp_path / "x.dat", b"a,b\tc\n"), "tsv")
    assert (source.format, source.delimiter) == ("tsv", "\t")
    with pytest.raises(InputError, match="unknown `file_format` 'tvs'; did you mean 'tsv'"):
        find_sources("x", "tvs")  # type: ignore[arg-type]  # what is no format is refused


@pytest.mark.parametrize(
    ("files", "place", "message"),
    [
        ({}, "x.csv", "x.csv: no such file; check the path"),
        ({}, "*.csv", "*.csv: no file matches"),
        ({"d/_SUCCESS": b"x"}, "d", "d: is a folder without files of records; put files there"),
        ({"d/.x": b"x"}, "d/*", "d/*: no file matches; put files there"),
        ({"x.csv": b""}, "x.csv", "x.csv: is empty"),
        ({"x.csv.gz": gzip.compress(b"")}, "x.csv.gz", "x.csv.gz: is empty"),
        ({"x.csv.gz": b""}, "x.csv.gz", "x.csv.gz: is empty"),
        ({"d/a.csv": b"a,b", "d/b.jsonl": b"{}"}, "d", "such as a.csv and b.jsonl; name those of"),
        ({"d/a.csv": b"a,b", "d/b.tsv": b"a\tb"}, "d/*", "such as a.csv and b.tsv"),
        ({"d/a": b"a,b", "d/b": b"{}"}, "d/*", "such as a and b"),
        ({"d/a.csv": b"a", "d/a.csv.gz": gzip.compress(b"a")}, "d", "holds a.csv and a.csv.gz"),
        (
            {"x.cvs": b"a"},
            "x.cvs",
            "x.cvs: ends in '.cvs'; did you mean '.csv'? write it as .jsonl",
        ),
        ({"x.zip": b"PK"}, "x.zip", "x.zip: is an archive; unpack it, and name the files in it"),
        ({"x.tar.gz": b"\x1f\x8b"}, "x.tar.gz", "x.tar.gz: is an archive; unpack it"),
        ({"x.numbers": b"PK"}, "x.numbers", "x.numbers: is a spreadsheet; save it as CSV"),
        ({"x.csv": b"\n<!DOCTYPE html>"}, "x.csv", "x.csv: is a web page or XML, perhaps an error"),
        ({"x.json": b"<?xml version='1.0'?>"}, "x.json", "fetch or export the table as CSV"),
        ({"d/x/a.csv": b"a"}, "d", "d: holds the folder x; name the files in quotes: 'd/*/*.csv'"),
        ({"x.doc": b"a"}, "x.doc", "x.doc: ends in '.doc'; write it as .jsonl, .ndjson, .json"),
        ({"x.xlsx": b"a"}, "x.xlsx", "x.xlsx: is a spreadsheet; save it as CSV"),
        ({"x.csv": b"PK\x03\x04..."}, "x.csv", "x.csv: is a spreadsheet or a zip archive; save"),
        ({"x.csv": binary(".parquet")}, "x.csv", "x.csv: is Parquet, and its name"),
        ({"x.tsv": b"a,b\n1,2"}, "x.tsv", "columns are separated by commas, and its name says by"),
        ({"x.parquet": b"a,b"}, "x.parquet", "x.parquet: is not a readable Parquet file"),
        ({"x.arrow": b"a,b"}, "x.arrow", "x.arrow: is not a readable Arrow file"),
        ({"x.csv.gz": b"a,b"}, "x.csv.gz", "is not compressed by gzip, as its name says; rename"),
        (
            {"x.csv.gz": bz2.compress(b"a,b")},
            "x.csv.gz",
            "is not compressed by gzip, as its name says; it is by bzip2: name it .bz2",
        ),
    ],
)
def test_what_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, bytes],
    place: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, held in files.items():
        write(tmp_path / name, held)
    assert message in refusal(place)


def test_the_same_file_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "d/x.csv", b"a,b")
    (tmp_path / "link.csv").symlink_to("d/x.csv")
    assert "d/x.csv: appears twice; name it once" in refusal(["d/x.csv", "d/x.csv"])
    assert "d/x.csv: appears twice (as ./d/x.csv, too)" in refusal(["./d/x.csv", "d"])
    assert "link.csv: appears twice (as d/x.csv, too)" in refusal(["d/*.csv", "link.csv"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b")))
    assert "standard input: appears twice" in refusal(["-", "-"])
    file = io.BytesIO(b"a,b")
    assert "an open file: appears twice" in refusal([file, file])


@pytest.mark.parametrize("place", [3, None, [None], b"x.csv", [], "\0.csv", io.StringIO("\ud800")])
def test_what_is_not_a_place(place: object) -> None:
    assert refusal(place)


def test_a_text_file_opened_with_the_wrong_encoding(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,é".encode("cp1252"))
    with path.open(encoding="utf-8") as file:
        assert "open it as a binary file" in refusal(file)


LINES = "".join(f'{{"query": "q{i * 7919 % 1000}", "n": {i}}}\n' for i in range(20_000)).encode()


@pytest.mark.parametrize("compression", [name for name in COMPRESS if name])
def test_compressed_files_that_are_cut_short_or_damaged(tmp_path: Path, compression: str) -> None:
    packed = COMPRESS[compression](LINES)
    for size in (5, 30, len(packed) // 2, len(packed) - 3):
        path = write(tmp_path / f"x.jsonl{compression}", packed[:size])
        message = refusal(path)
        assert message.startswith(str(path))
        assert "is cut short; fetch or compress it again" in message or size == 5
    damaged = packed[:6] + bytes(200) + packed[206:]  # pyarrow writes Zstandard without checksums
    path = write(tmp_path / f"y.jsonl{compression}", damaged)
    message = refusal(path)
    assert message.startswith(str(path))
    assert "is damaged" in message or "is cut short" in message


@pytest.mark.parametrize("compression", [name for name in COMPRESS if name])
def test_parts_that_are_compressed_one_after_another(tmp_path: Path, compression: str) -> None:
    packed = COMPRESS[compression](LINES) + COMPRESS[compression](LINES)
    path = write(tmp_path / f"x.jsonl{compression}", packed)
    assert content(only(path)) == read_content(path) == LINES + LINES


@pytest.mark.parametrize("compression", [name for name in COMPRESS if name])
def test_a_bomb_is_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    monkeypatch.setattr("dcglearn.base.tables.compressed.MAX_DECOMPRESSED", 2**24)
    path = write(tmp_path / f"x.jsonl{compression}", COMPRESS[compression](bytes([32]) * 2**27))
    (source,) = find_sources(path)
    tracemalloc.start()
    with source.open() as file, pytest.raises(InputError, match="over 100 times its compressed"):
        assert not all(iter(lambda: file.read(2**20), b""))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
    with pytest.raises(InputError, match="over 100 times its compressed size"):
        read_content(path)


def test_progress_counts_the_bytes_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl.gz", gzip.compress(LINES))
    seen: list[tuple[int, int]] = []
    source = only(path)
    with source.open(lambda done, total: seen.append((done, total))) as file:
        file.read()
    assert seen[-1] == (source.size, source.size)
    assert sorted(seen) == seen


def utf_8(held: bytes) -> bytes:
    return io.BufferedReader(Utf8Stream(io.BytesIO(held), "x.csv")).read()


ENCODINGS = {
    "utf-8": b"",
    "utf-8-sig": b"",
    "utf-16": b"",
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}


@given(st.text(max_size=200).filter(lambda t: "\r" not in t and "\0" not in t))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_of_every_encoding_is_read_as_python_reads_it(encoding: str, text: str) -> None:
    text = "ab" + text  # a header
    assert utf_8(ENCODINGS[encoding] + text.encode(encoding)) == text.encode()
    if encoding.startswith("utf-16-"):
        assert utf_8(text.encode(encoding)) == text.encode()


@given(st.text("ab\n", max_size=50), st.text("aé€ü\n", max_size=50))
def test_latin_1_is_read_as_python_reads_it(head: str, tail: str) -> None:
    text = f"{head}é\n{tail}"
    assert utf_8(text.encode("cp1252")) == text.encode()


@pytest.mark.parametrize("character", ["a", "é", "€", "😀"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_chunks_end_anywhere_in_a_long_line(character: str, encoding: str) -> None:
    text = "x" + character * (2**20 + 2**17)
    assert utf_8(text.encode(encoding)) == text.encode()
    assert utf_8(("xy\r\n" * 300_000).encode(encoding)) == b"xy\r\n" * 300_000


def test_an_encoding_that_shows_late_is_noted_when_it_was_read(tmp_path: Path) -> None:
    text = "a,b\n" + "1,2\n" * 600_000 + "é,2\n"
    source = only(write(tmp_path / "x.csv", text.encode("cp1252")))
    assert source.notes == []
    assert content(source) == text.encode()
    assert source.notes == ["the text is Latin-1"]


FILL = b"1,2\n" * 600_000


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ("é\n".encode() + FILL + b"\xe9\n", "line 600002: mixed encodings: this line is not UTF-8"),
        (b"\xe9\n" + FILL + "é\n".encode(), "line 600002: mixed encodings: this line is UTF-8"),
        (
            b"ab\n" + "é\n".encode() + b"\xe9\n",
            "line 3: mixed encodings: this line is not UTF-8",
        ),
        ("é\n".encode() + b"\xe9\n", "this line is not UTF-8, and line 1 is; save the whole file"),
        (b"\xe9\n" + "é\n".encode(), "this line is UTF-8, and line 1 is not"),
        (b"\xef\xbb\xbfa\n\xe9", "line 2: mixed encodings: this line is not UTF-8, and line 1 is"),
        (b"a\n\x81\n", "line 2: the byte 0x81 is neither UTF-8 nor Latin-1; save it as UTF-8"),
        (b"\xff\xfea\0\n\0\0\xd8a\0", "line 2: is not valid UTF-16 (illegal UTF-16 surrogate)"),
        (b"\xff\xfea\0\n\0a", "line 2: is not valid UTF-16 (truncated data)"),
        ("ab".encode("utf-32"), "x.csv: is UTF-32 text; save it as UTF-8"),
        (b"a\nb\rc\n", "line 2: a carriage return without a line feed"),
        (FILL + b"a\r", "line 600001: a carriage return without a line feed"),
    ],
)
def test_text_that_is_refused_names_the_line(tmp_path: Path, held: bytes, message: str) -> None:
    path = write(tmp_path / "x.csv", held)
    found = refusal(path)
    assert str(path) in found
    assert message in found


@given(
    st.sampled_from(",;\t|"),
    st.lists(st.lists(st.text("ab,;\t|\" '0é", max_size=6), min_size=3, max_size=3), max_size=9),
)
def test_delimiters_are_found_whatever_the_cells(delimiter: str, rows: list[list[str]]) -> None:
    import csv

    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([["query", "a b", "answer"], *rows])
    assert find_delimiter(text.getvalue()) == delimiter


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("answer\na\n", ","),
        ("", ","),
        ("a,b;c,d\n1,2;3,4\n", ","),
        ("a,b;c,d\n1;2\n3;4\n", ";"),
        ('"a;b",c\n', ","),
        ('a;b\n1;"2\n3;4', ";"),
    ],
)
def test_delimiters_of_unusual_headers(text: str, delimiter: str) -> None:
    assert find_delimiter(text) == delimiter


def test_a_line_that_declares_the_delimiter_is_empty(tmp_path: Path) -> None:
    text = "sep=|\r\na|b;c\r\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        source = only(write(tmp_path / f"{encoding}.csv", text.encode(encoding)))
        assert source.delimiter == "|"
        assert content(source) == b"\r\na|b;c\r\n"
    source = only(write(tmp_path / "x.csv", b"sep=;x\n1;2\n"))
    assert content(source) == b"sep=;x\n1;2\n"


def test_the_last_row_of_a_beginning_may_be_cut() -> None:
    assert find_delimiter("a;b,c\n1;2\n3", whole=False) == ";"


def test_compressed_files_are_read_whole(tmp_path: Path) -> None:
    for suffix, compress in COMPRESS.items():
        assert read_content(write(tmp_path / f"x{suffix}", compress(LINES))) == LINES
    with tempfile.TemporaryDirectory() as folder, pytest.raises(InputError, match="cannot be read"):
        read_content(Path(folder))
