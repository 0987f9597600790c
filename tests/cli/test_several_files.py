"""Several files at once, as the shell expands a pattern, in every command that reads records."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dcglearn import DCG, write_measure
from helpers.commands import Run, run_commands
from helpers.written import write, write_records

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
def test_pack_reads_parts_and_writes_over_none_of_them(
    run: Run, refused: Callable[..., str]
) -> None:
    assert run("pack", *PARTS, "packed.parquet").returncode == 0
    assert run("pack", "all.jsonl", "one.parquet").returncode == 0
    assert Path("packed.parquet").read_bytes() == Path("one.parquet").read_bytes()
    assert run("pack", *PARTS, "packed.parquet").returncode == 0  # written again
    Path("last.parquet").write_bytes(b"PAR1")
    message = refused("pack", *PARTS, "last.parquet")
    assert "last.parquet: is there, and holds no packed pairs; name the file to write" in message


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


REPLACING = [
    "pack one.parquet one.parquet",
    "pairs ratings.csv -o ratings.csv",
    "pairs *.csv -o ratings.csv",
    "fit parts -o parts/0.json",
    "fit all.jsonl --prior learned.json -o learned.json",
    "fit all.jsonl --prior learned.json:dcg -o ./learned.json",
    "fit all.jsonl --qrels 0.json -o 0.json",
    "fit all.jsonl --qrels 0.json --run 1.json -o 1.json",
    "study all.jsonl -m learned.json -o learned.json",
    "compare all.jsonl learned.json -o learned.json",
    "compare all.jsonl --against learned.json:dcg -o learned.json",
    "coherence qrels old new -m nDCG(learned.json)@2 -o learned.json",
    "evaluate qrels old new -m own=learned.json -o learned.json",
    "export learned.json --to json -o learned.json",
    "plan qrels old new --judged 1.json --asked all.jsonl -o all.jsonl",
    "judge all.jsonl --documents page.html -o page.html",
]


def test_no_output_replaces_what_is_read(folder: Path) -> None:
    Path("parts/0.json").write_text("[]")
    for name in ("one.parquet", "ratings.csv", "qrels", "old", "new", "page.html"):
        Path(name).write_text("read")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    for done in run_commands([command.split() for command in REPLACING], folder):
        assert done.returncode == 2, done.args
        assert "is read here, and would be replaced" in done.stderr, done.args
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
