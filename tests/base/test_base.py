"""Errors, files replaced as a whole, progress, threads, numbers and fingerprints."""

from __future__ import annotations

import errno
import io
import os
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from dcglearn import InputError, Scale
from dcglearn.base import progress
from dcglearn.base.checks import checked_rng
from dcglearn.base.files import (
    atomic_write,
    check_outputs,
    check_writable,
    decode_json,
    json_document,
    read_text,
    write_text,
)
from dcglearn.base.progress import reporting, state_in_words
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.workers import difference_from_here, fingerprint
from dcglearn.measures.discounts import canonical_rule
from dcglearn.measures.names import as_measure


def test_an_error_says_place_problem_and_remedy_in_that_order() -> None:
    error = InputError("is wrong", "fix it", "line 3").at("file.csv")
    assert str(error) == "file.csv, line 3: is wrong; fix it"
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(errno.ENOSPC, ""), None])
def test_a_file_is_replaced_only_when_it_is_complete(
    tmp_path: Path, fault: BaseException | None
) -> None:
    """Interrupted, on a full disk, and where the temporary file is lost."""
    target = tmp_path / "a.txt"
    write_text(target, "old")

    def half() -> None:
        with atomic_write(target) as temporary:
            assert (temporary.parent, temporary.suffix) == (target.parent, target.suffix)
            temporary.write_text("half")
            if fault is not None:
                raise fault
            temporary.unlink()

    with pytest.raises((KeyboardInterrupt, InputError)) as error:
        half()
    if isinstance(error.value, InputError):
        assert error.value.place == str(target)
        assert error.value.problem.startswith("cannot be written")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_input_is_not_said_to_be_the_output(tmp_path: Path) -> None:
    target, missing = tmp_path / "out.txt", tmp_path / "in.txt"
    with pytest.raises(FileNotFoundError) as error, atomic_write(target):
        missing.read_text()
    assert error.value.filename == str(missing)
    with pytest.raises(InputError) as refused, atomic_write(target):
        read_text(missing)
    assert refused.value.place == str(missing)


@pytest.mark.parametrize("place", ["missing/a.txt", "folder"])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for attempt in (check_writable, lambda path: write_text(path, "x")):
        with pytest.raises(InputError, match=place):
            attempt(tmp_path / place)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_text(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path)
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"one\ntw\xf6\n")
    with pytest.raises(InputError, match=r"latin.txt, line 2: is not UTF-8"):
        read_text(latin)
    latin.write_bytes(b"\xef\xbb\xbfmark")
    assert read_text(latin) == "mark"


@pytest.fixture
def strict_umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("strict_umask")
def test_permissions_follow_the_umask_which_is_never_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(mask: int) -> int:
        raise AssertionError(f"the umask is set to {mask:o} while other threads may write")

    with monkeypatch.context() as patch:
        patch.setattr(os, "umask", changed)
        write_text(tmp_path / "new.txt", "new")
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_a_symbolic_link_stays_and_text_that_cannot_be_encoded_is_escaped(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "run \udcff")
    assert link.is_symlink()
    assert target.read_text() == r"run \udcff"


def test_outputs_differ_and_replace_no_input(tmp_path: Path) -> None:
    read, first, second = tmp_path / "in.csv", tmp_path / "a.csv", tmp_path / "b.csv"
    check_outputs([first, second], [read], [".csv"])
    for outputs, place in [
        (["", first], ""),
        ([first, tmp_path / "b.doc"], str(tmp_path / "b.doc")),
        ([first, tmp_path / "x" / ".." / "in.csv"], str(tmp_path / "x" / ".." / "in.csv")),
        ([first, second, first], str(first)),
        ([tmp_path / "x" / "a.csv"], str(tmp_path / "x" / "a.csv")),
    ]:
        with pytest.raises(InputError) as error:
            check_outputs(outputs, [read], [".csv"])
        assert error.value.place == place
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [('{"a": 1, "a": 2}', ""), ("[NaN]", ""), ('["\\ud800"]', ""), ('{"a": 1,\n"b"}', "line 2")],
)
def test_json_is_read_strictly(text: str, place: str) -> None:
    with pytest.raises(InputError) as error:
        decode_json(text, "write an object")
    assert error.value.place == place


def test_numbers_that_are_not_finite_are_null_in_json() -> None:
    document = {"mean": float("nan"), "values": (float("inf"), 1.5), "name": "é"}
    written = json_document(document)
    assert decode_json(written, "") == {"mean": None, "values": [None, 1.5], "name": "é"}
    assert "é" in written


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_is_a_plain_line_in_a_file_and_redrawn_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 7.0))
    with reporting("work [bold]") as advance:
        advance(2, 4)
        for _ in range(6_000):  # of a hundredth of a second
            if "50%" in stream.getvalue():
                break
            time.sleep(0.01)
    if terminal:
        clear = "\r\x1b[K"
        assert f"{clear}work [bold]: 2 of 4 (50%), 0 s, about 1 s left" in stream.getvalue()
        assert stream.getvalue().endswith(clear), "the line is removed"
    else:
        assert stream.getvalue().splitlines()[-1].startswith("work [bold]: 2 of 4 (50%), ")


def test_blas_has_one_thread_until_the_last_block_ends() -> None:
    def counts() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before, first, second = counts(), one_blas_thread(), one_blas_thread()
    with ThreadPoolExecutor(1) as other:
        first.__enter__()
        other.submit(second.__enter__).result()
        first.__exit__(None, None, None)
        assert counts() == {1}
        other.submit(second.__exit__, None, None, None).result()
    assert counts() == before


def test_progress_in_words() -> None:
    assert state_in_words(10, 2, 8) == "2 of 8 (25%), 10 s, about 30 s left"
    assert state_in_words(10, 5000, 0) == "5,000 so far, 10 s"


def test_a_seed_is_not_a_generator() -> None:
    rng = np.random.default_rng(0)
    assert checked_rng(rng) is rng
    with pytest.raises(InputError):
        checked_rng(0)


def test_another_program_is_described_by_its_first_difference() -> None:
    here = fingerprint()
    assert difference_from_here(dict(here)) is None
    assert str(difference_from_here({**here, "numpy": "1.0"})).startswith("has numpy 1.0,")
    assert str(difference_from_here(OSError("no\nfile"))).endswith("(OSError: no file)")


@pytest.mark.parametrize("text", ["\u0661", "1e400", "nan", "", "9" * 4301])
def test_names_of_measures_and_scales_take_plain_numbers(text: str) -> None:
    for name in (
        f"nDCG([{text}, 0], log2)",
        f"DCG([1, 0], [1, {text}])",
        f"DCG([1, 0], rbp({text}))",
        f"DCG([1, 0], log2) @ {text or '.'}",
        f"rbp:{text or '.'}",
        f"zipf @ {text or '.'}",
        f"DCG({{1: {text}, 0: 0}}, log2)",
    ):
        with pytest.raises(InputError) as error:
            as_measure(name, Scale((1, 0)), 3)
        assert len(str(error.value)) < 300
    for read in (Scale.parse, canonical_rule):
        with pytest.raises(InputError):
            read(f"good={text},bad=0" if read == Scale.parse else f"rbp:{text}")
