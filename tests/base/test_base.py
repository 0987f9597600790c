"""Errors, files, progress, threads, numbers and fingerprints."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from dcglearn import InputError, Scale, SolverError
from dcglearn.base import progress
from dcglearn.base.checks import checked_rng
from dcglearn.base.files import atomic_write, check_writable, read_text, write_text
from dcglearn.base.fingerprint import difference_from_here, fingerprint
from dcglearn.base.progress import reporting, state_in_words
from dcglearn.base.threads import one_blas_thread
from dcglearn.base.workers import open_workers
from dcglearn.measures.discounts import canonical_rule
from dcglearn.measures.names import as_measure
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


@pytest.mark.parametrize("error", [InputError("is wrong", "fix it", "line 3"), SolverError("slow")])
def test_errors_cross_process_borders(error: Exception) -> None:
    for copied in copies_of(error):
        assert type(copied) is type(error)
        assert str(copied) == str(error)
        assert vars(copied) == vars(error)


@pytest.mark.parametrize(
    ("seconds", "done", "total", "words"),
    [(10, 2, 8, "2 of 8 (25%), 10 s, about 30 s left"), (10, 5000, 0, "5,000 so far, 10 s")],
)
def test_progress_in_words(seconds: float, done: int, total: int, words: str) -> None:
    assert state_in_words(seconds, done, total) == words


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


NO_NUMBERS = ["\u0661", "1e400", "nan", "", "9" * 4301]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_names_of_measures_and_scales_take_plain_numbers(text: str) -> None:
    for name in (
        f"nDCG([{text}, 0], log2)",
        f"DCG([1, 0], [1, {text}])",
        f"DCG([1, 0], rbp({text}))",
        f"DCG([1, 0], log2) @ {text}" if text else "DCG([1, 0], log2) @ .",
        f"rbp:{text}" if text else "rbp:.",
        f"zipf @ {text}" if text else "zipf @ .",
        f"DCG({{1: {text}, 0: 0}}, log2)",
    ):
        with pytest.raises(InputError) as error:
            as_measure(name, Scale((1, 0)), 3)
        assert len(str(error.value)) < 300
    with pytest.raises(InputError):
        Scale.parse(f"good={text},bad=0")
    with pytest.raises(InputError):
        canonical_rule(f"rbp:{text}")
    with pytest.raises(InputError), open_workers(text):
        pass
