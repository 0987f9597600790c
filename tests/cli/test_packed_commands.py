"""Commands take packed judgments, and print what they print for the file that was packed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dcglearn import Preferences, write_preferences
from dcglearn.cli import app, learn
from dcglearn.judgments import packed
from helpers.commands import Run
from helpers.packed_files import write_packed
from helpers.simulated import every_answer, with_ids

Refused = Callable[..., str]


@pytest.fixture
def data(tmp_path: Path) -> Preferences:
    """The same judgments in one.jsonl and, packed, in the folder named two."""
    judges = [f"j{i % 3}" for i in range(300)]
    found = with_ids(every_answer(300, 0, levels=False), judges=judges)
    write_preferences(found, tmp_path / "one.jsonl")
    (tmp_path / "two").mkdir()
    for begin in range(0, 300, 110):
        part = found[begin : begin + 110]
        write_packed(part, tmp_path / "two" / f"{begin:03}.parquet", found.scale)
    return found


COMMANDS = [
    "inspect FILE --json",
    "agree FILE linear-log2 --json",
    "compare FILE linear-log2 --folds 3 --repeats 1 --json",
    "test FILE --json",
    "study FILE --json",
    "fit FILE --C cv --intervals 5 --json",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_packed_judgments_give_the_same_numbers(run: Run, data: Preferences, command: str) -> None:
    plain, packed = (run(*command.replace("FILE", f).split()) for f in ("one.jsonl", "two"))
    assert plain.returncode == packed.returncode == 0, packed.stderr
    one, other = json.loads(plain.stdout), json.loads(packed.stdout.replace('"two"', '"one.jsonl"'))
    if command.startswith("inspect"):
        assert len(other["reading"].pop("digest")) == 64
    assert one == other


def test_what_is_packed_again_is_the_same(run: Run, tmp_path: Path, data: Preferences) -> None:
    assert run("pack", "one.jsonl", "one.parquet").returncode == 0
    assert packed.PackedPairs.of(tmp_path / "one.parquet").preferences() == data
    assert run("pack", "two", "joined.parquet").returncode == 0
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "joined.parquet").read_bytes()


def test_more_judgments_are_tested_without_reading_them_into_memory(
    tmp_path: Path, data: Preferences, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_here(*arguments: str) -> Any:
        return CliRunner().invoke(app, [*arguments])

    monkeypatch.chdir(tmp_path)
    usual, of_gains = ("test", "two", "--json"), ("test", "two", "--gains", "linear", "--json")
    in_memory, one = (json.loads(run_here(*words).stdout) for words in (usual, of_gains))
    monkeypatch.setattr(learn, "MAX_MODELLED", 10)
    monkeypatch.setattr(packed, "MAX_MEMORY", 10)
    streamed, again = (json.loads(run_here(*words).stdout) for words in (usual, of_gains))
    assert [each["verdict"] for each in streamed] == [each["verdict"] for each in in_memory]
    assert again[0]["p"] == pytest.approx(one[0]["p"], rel=1e-4)
    words = str(run_here("study", "two").exception)
    assert "300 judgments take 0.0 GiB in memory, more than 0" in words


def test_arrays_of_pairs_have_no_sides_and_serve_fit(
    run: Run, refused: Refused, tmp_path: Path, data: Preferences
) -> None:
    write_packed(data.pairs, tmp_path / "pairs.parquet", data.scale, data.pair_weights)
    write_preferences(data[data.strict], tmp_path / "strict.jsonl")
    for command in ("inspect pairs.parquet", "pack pairs.parquet again.parquet"):
        assert "pairs.parquet: holds arrays of pairs" in refused(*command.split())
    assert not (tmp_path / "again.parquet").exists()
    one, other = (
        json.loads(run("fit", file, "--intervals", 5, "--json").stdout)["utility"]
        for file in ("pairs.parquet", "strict.jsonl")
    )
    assert one == other
