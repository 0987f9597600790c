from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from dcglearn.base.errors import InputError
from dcglearn.base.files import check_place, read_text, write_text, written_whole
from dcglearn.base.names import unknown_name
from dcglearn.base.progress import reporting
from dcglearn.base.threads import one_blas_thread


def test_an_error_says_place_problem_and_remedy_in_that_order() -> None:
    error = InputError("is wrong", "mend it", "line 3").at("file.csv")
    assert str(error) == "file.csv, line 3: is wrong; mend it"
    assert isinstance(error, ValueError)


def test_near_names_come_first() -> None:
    text = str(unknown_name("rule", "zip", ["zipf", "constant"], "here"))
    assert text == "here: unknown rule 'zip'; did you mean 'zipf'? Known: constant, zipf"
    assert "did you mean" not in str(unknown_name("rule", "qqq", ["zipf"]))


def test_a_file_is_replaced_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "old")

    def interrupted() -> None:
        with written_whole(target) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    write_text(target, "new")
    assert target.read_text() == "new"


@pytest.mark.parametrize("place", ["missing/a.txt", "file/a.txt", "folder"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for attempt in (check_place, lambda path: write_text(path, "x")):
        with pytest.raises(InputError, match=place):
            attempt(tmp_path / place)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
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


def test_progress_is_silent_at_first_and_then_speaks(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting("work", quiet=10) as advance:
        advance(1, 2)
    assert capsys.readouterr().err == ""
    with reporting("work", quiet=0.05, every=0.05) as advance:
        advance(1, 4)
        time.sleep(0.3)
    assert "work: 1 of 4 (25%)" in capsys.readouterr().err


def test_one_thread_for_linear_algebra_until_the_last_block_ends() -> None:
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
