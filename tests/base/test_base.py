from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from dcglearn import InputError, SolverError
from dcglearn.base import progress
from dcglearn.base.checks import finite_array
from dcglearn.base.files import atomic_write, check_writable, read_text, write_text
from dcglearn.base.progress import reporting
from dcglearn.base.threads import one_blas_thread
from helpers.copies import copies_of


def test_an_error_says_place_problem_and_remedy_in_that_order() -> None:
    error = InputError("is wrong", "fix it", "line 3").at("file.csv")
    assert str(error) == "file.csv, line 3: is wrong; fix it"
    assert isinstance(error, ValueError)


def test_a_file_is_replaced_only_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "old")

    def interrupted() -> None:
        with atomic_write(target) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    write_text(target, "new")
    assert target.read_text() == "new"


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


class WaitingStream(io.StringIO):
    """A stream that sets an event once a text has been written to it."""

    def __init__(self, text: str, terminal: bool) -> None:
        super().__init__()
        self.text, self.terminal, self.written = text, terminal, threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        count = super().write(text)
        if self.text in text:
            self.written.set()
        return count


def test_progress_is_a_plain_line_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = WaitingStream("25%", terminal=False)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)
    with reporting("work") as advance:
        advance(1, 4)
        assert stream.written.wait(60)
    assert stream.getvalue().splitlines()[-1].startswith("work: 1 of 4 (25%), ")


def test_progress_is_redrawn_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = WaitingStream("50%", terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0)
    with reporting("work [bold]") as advance:
        advance(2, 4)
        assert stream.written.wait(60)
    clear = "\r\x1b[K"
    assert f"{clear}work [bold]: 2 of 4 (50%), 0 s, about 1 s left" in stream.getvalue()
    assert stream.getvalue().endswith(clear), "the line is removed"


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


def test_an_array_of_finite_numbers_is_checked() -> None:
    whole = np.array([1.0, 2.0])
    assert finite_array(whole, "weights", (2,)) is whole
    assert finite_array([[1, 2]], "weights", (None, 2), low=1).tolist() == [[1.0, 2.0]]
    assert finite_array([Fraction(1, 2), 10**20], "gains", (None,)).tolist() == [0.5, 1e20]
    assert finite_array([True, False], "weights", (2,)).tolist() == [1.0, 0.0]
    for wrong, problem in [
        ([1, 2, 3], r"weights of shape \(3,\), not \(2,\)"),
        (["1", "2"], "weights are not numbers"),
        ([10**400, 1], "weights are not numbers"),
        ([0, np.nan], "row 1: weights hold nan"),
        ([0, -0.5], "row 1: weights hold -0.5"),
    ]:
        with pytest.raises(InputError, match=problem):
            finite_array(wrong, "weights", (2,), low=0.0)


@pytest.mark.parametrize("error", [InputError("is wrong", "fix it", "line 3"), SolverError("slow")])
def test_errors_cross_process_borders(error: Exception) -> None:
    for copied in copies_of(error):
        assert type(copied) is type(error)
        assert str(copied) == str(error)
        assert vars(copied) == vars(error)
