"""Judgments in several files, as the shell expands a pattern, or packed: in every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dcglearn import DCG, Preferences, usual_questions, write_measure, write_preferences
from dcglearn.cli import app, judgments
from dcglearn.judgments import packed
from helpers.commands import Run
from helpers.simulated import every_answer, with_ids
from helpers.written import write, write_packed, write_records

LINES = [
    {"query": "p", "a": [2, 0], "b": [1, 1], "answer": "a"},
    {"query": "q", "a": [0, 2], "b": [2, 1], "answer": "b"},
    {"query": "r", "a": [1, 0], "b": [0, 1], "answer": "tie"},
    {"query": "s", "a": [1, 2], "b": [0, 0], "answer": "a"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hold judgments in one file, in parts, and a measure."""
    monkeypatch.chdir(tmp_path)
    write_records(Path("all.jsonl"), *LINES)
    for number, line in enumerate(LINES):
        write_records(Path(f"parts/{number}.jsonl"), line)
    write(Path("0.json"), json.dumps(LINES[0]))
    write(Path("1.json"), json.dumps(LINES[1:]))
    write_measure(DCG([3, 1, 0], grades=(2, 1, 0)), "learned.json")
    return tmp_path


PARTS = [f"parts/{number}.jsonl" for number in range(4)]


@pytest.mark.usefixtures("folder")
def test_agree_and_compare_read_parts_as_one(run: Run) -> None:
    for command in (["agree"], ["compare", "--folds", "2", "--repeats", "1"]):
        name, *options = command
        whole = run(name, "all.jsonl", "zipf", "learned.json", *options, "--json")
        parts = run(name, *PARTS, "zipf", "learned.json", *options, "--json")
        assert whole.returncode == parts.returncode == 0, whole.stderr + parts.stderr
        one, several = json.loads(whole.stdout), json.loads(parts.stdout)
        assert several.pop("file") == "parts/0.jsonl and 3 more"
        assert one.pop("file") == "all.jsonl"
        assert several == one
        mixed = run(name, "0.json", "1.json", "zipf", "learned.json", *options, "--json")
        assert json.loads(mixed.stdout)["rows"] == one["rows"]


@pytest.mark.usefixtures("folder")
def test_a_measure_learned_from_parts_is_known(run: Run) -> None:
    assert run("fit", *PARTS, "-o", "m.json").returncode == 0
    done = run("compare", *PARTS, "m.json", "--folds", "2", "--repeats", "1")
    assert "m.json was itself learned from" in done.stdout


@pytest.mark.usefixtures("folder")
def test_pack_reads_parts(run: Run) -> None:
    assert run("pack", *PARTS, "packed.parquet").returncode == 0
    assert run("pack", "all.jsonl", "one.parquet").returncode == 0
    assert Path("packed.parquet").read_bytes() == Path("one.parquet").read_bytes()
    assert run("pack", *PARTS, "packed.parquet").returncode == 0  # written again


@pytest.mark.usefixtures("folder")
def test_ratings_are_read_as_judgments_are(run: Run) -> None:
    Path("one.csv").write_text("topic;labels;stars;note\np;2 0;4,5;x\np;1 1;3;y\n", "utf-16")
    Path("two.csv").write_text("topic;labels;stars;note\nq;2 0;1;x\nq;1 1;3;y\n", "utf-16")
    asked = ("pairs", "one.csv", "two.csv", "-o", "out.jsonl", "--columns", "grades=labels")
    done = run(*asked)
    assert done.returncode == 0, done.stderr
    assert "columns taken: rating=stars, query=topic" in done.stderr
    answers = [json.loads(line)["answer"] for line in Path("out.jsonl").read_text().splitlines()]
    assert answers == ["a", "b"]
    assert "one.csv: unknown column 'note'" in run(*asked, "--strict").stderr


# --- packed judgments


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
    monkeypatch.chdir(tmp_path)
    in_memory = usual_questions(data)
    monkeypatch.setattr(judgments, "MAX_MODELLED", 10)
    monkeypatch.setattr(packed, "MAX_MEMORY", 10)
    streamed = json.loads(CliRunner().invoke(app, ["test", "two", "--json"]).stdout)
    assert [one["verdict"] for one in streamed] == [one.verdict for one in in_memory]
    words = str(CliRunner().invoke(app, ["study", "two"]).exception)
    assert "300 judgments take 0.0 GiB in memory, more than 0" in words


def test_arrays_of_pairs_have_no_sides_and_serve_fit(
    run: Run, tmp_path: Path, data: Preferences
) -> None:
    write_packed(data.pairs, tmp_path / "pairs.parquet", data.scale, data.pair_weights)
    write_preferences(data[data.strict], tmp_path / "strict.jsonl")
    for command in ("inspect pairs.parquet", "pack pairs.parquet again.parquet"):
        assert "pairs.parquet: holds arrays of pairs" in run(*command.split()).stderr
    assert not (tmp_path / "again.parquet").exists()
    one, other = (
        json.loads(run("fit", file, "--intervals", 5, "--json").stdout)["utility"]
        for file in ("pairs.parquet", "strict.jsonl")
    )
    assert one == other
