"""Files are replaced as a whole, by the umask's permissions; errors name the right one."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcglearn import InputError
from dcglearn.base.files import atomic_write, check_outputs, read_text, write_text
from dcglearn.base.json_text import decode_json, json_document


def replaced(target: Path, content: str) -> None:
    with atomic_write(target) as temporary:
        assert (temporary.parent, temporary.suffix) == (target.parent, target.suffix)
        temporary.write_text(content)


def test_a_missing_input_is_not_said_to_be_the_output(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    missing = tmp_path / "in.txt"
    with pytest.raises(FileNotFoundError) as error, atomic_write(target):
        missing.read_text()
    assert error.value.filename == str(missing)
    with pytest.raises(InputError) as refused, atomic_write(target):
        read_text(missing)
    assert refused.value.place == str(missing)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_and_a_lost_temporary_file_are_errors_of_the_output(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(InputError) as full, atomic_write(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(InputError) as lost, atomic_write(target) as temporary:
        temporary.unlink()
    for error in (full, lost):
        assert error.value.place == str(target)
        assert error.value.problem.startswith("cannot be written")
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert target.read_text() == "old"


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
        replaced(tmp_path / "new.txt", "new")
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_a_symbolic_link_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    replaced(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_text_that_cannot_be_encoded_is_escaped(tmp_path: Path) -> None:
    write_text(tmp_path / "t.txt", "run \udcff")
    assert (tmp_path / "t.txt").read_text() == r"run \udcff"


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
