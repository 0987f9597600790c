"""The command line as a shell sees it: output, exit codes, and what is left on disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from golden.make_transcripts import FOLDER, transcripts

from helpers.commands import Run, run_commands

PROGRESS = re.compile(r" \d+ s(, about \d+ s left)?$")
"""Lines of progress, on a machine that is slow."""

GOOD = '{"query": "q%d", "a": [2, 0, 1], "b": [1, 1, 0], "answer": "a"}\n'
TWO = (
    GOOD % 1
    + '{"query": "q2", "a": [0, 0, 1], "b": [0, 2, 0], "answer": "b"}\n'
    + '{"query": "q3", "a": [0, 1, 0], "b": [1, 0, 0], "answer": "b"}\n'
    + '{"query": "q3", "a": [0, 1, 0], "b": [1, 0, 0], "answer": "tie"}\n'
)


CANCEL = "".join(f'{{"a": [1, 0], "b": [0, 1], "answer": "{one}"}}\n' for one in "ab")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with simulated judgments and a measure learned from them."""
    place = tmp_path_factory.mktemp("cli")
    lines = [["simulate", "p.jsonl", "-n", "300"], ["fit", "p.jsonl", "-o", "learned.json"]]
    assert [done.returncode for done in run_commands(lines, place)] == [0, 0]
    return place


def ends_with(run: Run, code: int, *arguments: object, says: str = "", **options: object) -> str:
    """Run a command that must fail: one line on standard error, no traceback."""
    found = run(*arguments, **options)
    assert found.returncode == code, found.stderr
    assert "Traceback" not in found.stderr
    said = [line for line in found.stderr.splitlines() if not PROGRESS.search(line)]
    assert len(said) == 1, found.stderr
    assert said[0].startswith("dcglearn: ")
    assert says in said[0]
    return said[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": [1, 0], "b": [0, 1], "answer": "tie"}\n', "nothing can be learned"),
        ('{"a": [1, 0], "b": [1, 0], "answer": "a"}\n', "no pair differs anywhere"),
        (TWO.replace("}", ', "weight": 0}'), "3 of 3 strict judgments have weight 0"),
    ],
)
def test_inspect_takes_what_teaches_nothing(run: Run, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "p.jsonl").write_text(text)
    found = run("inspect", "p.jsonl")
    assert found.returncode == 0
    assert [line for line in found.stderr.splitlines() if not PROGRESS.search(line)] == []
    assert says in found.stdout
    assert "nan" not in found.stdout
    assert json.loads(run("inspect", "p.jsonl", "--json").stdout)


def test_fit_says_what_it_writes(run: Run, folder: Path) -> None:
    asked = ("fit", "p.jsonl", "--C", "cv", "--margin", "hamming", "--intervals", "5")
    said = run(*asked, "-o", "chosen.json", cwd=folder).stdout
    assert "how far the numbers of W move with other queries, in 5 fits" in said
    assert "C = " in said
    assert "wrote chosen.json; commands given this file use its DCG" in said
    assert "95% of resamples" in run("show", "chosen.json", "--no-figure", cwd=folder).stdout
    about = json.loads((folder / "chosen.json").read_text())["about"]
    assert len(about["intervals"]["discounts"]) == 5
    assert about["parameters"]["C"] == about["choice"]["C"]
    assert about["choice"]["C"] in about["choice"]["grid"]


def test_show_draws_beside_the_file(run: Run, folder: Path) -> None:
    found = run("show", "learned.json", cwd=folder)
    assert "wrote learned.png" in found.stdout
    assert (folder / "learned.png").read_bytes()[:4] == b"\x89PNG"
    found = run("show", "rbp:0.8", "--scale", "2,1,0", "--K", "5", "-o", "x.svg", cwd=folder)
    assert "rbp(0.8)" in found.stdout
    assert (folder / "x.svg").read_text().startswith("<?xml")
    picked = run("show", "learned.json:utility", "--no-figure", cwd=folder).stdout
    assert "W, the worth of a grade at a rank" in picked
    for words, says in (
        (["zipf"], "needs grades; declare them, such as --scale 2,1,0"),
        (["ziph"], "did you mean 'zipf'"),
        (["learned.json", "--K", "3"], "has 5 ranks"),
        (["learned.json", "--scale", "a,b"], "has 3 grades"),
    ):
        ends_with(run, 2, "show", *words, says=says, cwd=folder)


def test_show_of_files_that_tell_less(run: Run, folder: Path, tmp_path: Path) -> None:
    document = json.loads((folder / "learned.json").read_text())
    for part in ("factors", "identifiability", "agreement", "certificate", "intervals"):
        less = document | {"about": document["about"] | {part: {}}}
        (tmp_path / "less.json").write_text(json.dumps(less))
        found = run("show", "less.json", "--no-figure")
        assert found.returncode == 0, found.stderr
        assert "discount" in found.stdout


def test_agree_takes_presets_files_and_measures_in_full(run: Run, folder: Path) -> None:
    measures = ("zipf", "learned.json", "learned.json:utility", "DCG([2, 1, 0], [1,1,1,1,1])")
    found = run("agree", "p.jsonl", *measures, "--json", cwd=folder)
    document = json.loads(found.stdout)
    rows = document["rows"]
    assert document["file"] == "p.jsonl"
    assert document["strict"] + document["ties"] == document["judgments"] == 300
    assert [row["measure"] for row in rows] == list(measures)
    assert all(row["right"] + row["tied"] + row["wrong"] == document["strict"] for row in rows)
    assert all(0 <= row["low"] < row["agreement"] < row["high"] <= 1 for row in rows)
    assert run("agree", "p.jsonl", cwd=folder).stdout.count("DCG(") >= 8


def test_compare_writes_every_form(run: Run, folder: Path) -> None:
    out = ["c.md", "c.tex", "c.csv", "c.json", "c.svg"]
    asked = ("compare", "p.jsonl", "zipf", "--folds", "3", "--repeats", "2")
    found = run(*asked, *(part for name in out for part in ("-o", name)), cwd=folder)
    assert found.returncode == 0, found.stderr
    assert all((folder / name).stat().st_size > 100 for name in out)
    written = json.loads((folder / "c.json").read_text())
    again = run(*asked, "--json", cwd=folder, hash_seed=1)  # depends on the order of no set
    assert json.loads(again.stdout) == written
    numbers = ("right", "tied", "wrong", "agreement")
    agreed = json.loads(run("agree", "p.jsonl", "zipf", "--json", cwd=folder).stdout)["rows"][0]
    given = next(row for row in written["rows"] if row["name"] == "zipf")
    assert [given[one] for one in numbers] == pytest.approx([agreed[one] for one in numbers])
    for row in written["rows"]:
        assert row["right"] + row["tied"] + row["wrong"] == pytest.approx(written["strict"])


def test_agreement_that_is_weighted_is_called_so(run: Run, folder: Path) -> None:
    lines = (folder / "p.jsonl").read_text().splitlines()
    first = json.loads(lines[0]) | {"weight": 2}
    (folder / "w.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    for command in ("agree {} zipf", "compare {} zipf --folds 2 --repeats 1"):
        for name, says in (("p.jsonl", False), ("w.jsonl", True)):
            found = run(*command.format(name).split(), cwd=folder)
            assert ("agreement is weighted" in " ".join(found.stdout.lower().split())) == says


def test_compare_with_any_measure(run: Run, folder: Path) -> None:
    """Listed or not, by preset or file."""
    asked = ("compare", "p.jsonl", "zipf", "--folds", "2", "--repeats", "2")
    found = run(*asked, "--against", "learned.json", cwd=folder)
    assert found.stdout.splitlines()[2].startswith("learned.json ")
    listed = json.loads(run(*asked, "--against", "zipf", "--json", cwd=folder).stdout)
    assert listed["against"] == listed["rows"][0]["name"] == "zipf"
    assert len(listed["rows"]) == 4
    assert listed["rows"][0]["ahead"] is None
    assert isinstance(listed["rows"][1]["p"], float)
    assert (listed["n_folds"], listed["n_repeats"], len(listed["C"])) == (2, 2, 4)


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        (TWO + "{", [], "p.jsonl, line 5: is not JSON"),
        ('{"a": [1, 0], "b": [0, 1], "answer": "tie"}', [], "no strict preference"),
        ('{"a": [1, 0], "b": [1, 0], "answer": "a"}', [], "identical lists"),
        (CANCEL, [], "p.jsonl: the judgments cancel out"),
        (TWO, ["--C", "0"], "--C is '0'"),
        (TWO, ["-o", "missing/learned.json"], "missing/learned.json: cannot be written"),
        (TWO, ["-o", "learned.txt"], "ends in .json"),
        (
            '{"a": [2, 2], "b": [0, 1], "answer": "a"}',
            ["--scale", "0,1,2"],
            "p.jsonl: all weights are 0 at the optimum",
        ),
    ],
)
def test_bad_input_ends_with_one_line_and_code_two(
    run: Run, tmp_path: Path, text: str, arguments: list[str], says: str
) -> None:
    (tmp_path / "p.jsonl").write_text(text)
    out = [] if "-o" in arguments else ["-o", "learned.json"]
    ends_with(run, 2, "fit", "p.jsonl", *arguments, *out, says=says)
    assert [path.name for path in tmp_path.iterdir()] == ["p.jsonl"]


def test_a_measure_of_other_lists_is_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(TWO)
    learned = folder / "learned.json"
    ends_with(run, 2, "agree", "p.jsonl", learned, says="has 5 ranks, but the judgments have 3")
    (tmp_path / "q.jsonl").write_text(TWO.replace("[2,", "[3,"))
    ends_with(run, 2, "agree", "q.jsonl", learned, says="grades")
    ends_with(run, 2, "compare", "p.jsonl", learned, says="ranks")
    ends_with(run, 2, "agree", "p.jsonl", "ziph", says="did you mean 'zipf'")
    ends_with(run, 2, "agree", "p.jsonl", "none.json", says="no such file")


def test_fit_of_documents(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(
        "query,a,b,answer\nq1,d1 d2 d3,d3 d2 d1,a\nq2,d2 d1 d3,d1 d3 d2,a\n"
    )
    found = run("fit", "d.csv", "--documents", "-o", "d.json")
    assert found.returncode == 0, found.stderr
    assert "rankings of the 3 documents d1, d2, d3" in found.stdout
    assert "every document at ranks 1, 3 could gain the same constant" in found.stdout
    assert "no interval: the model of the judgment takes grades" in found.stdout
    assert "have rank 2 of 9" in run("inspect", "d.csv", "--documents").stdout
    agreed = run("agree", "d.csv", "d.json", "--documents", "--json")
    assert json.loads(agreed.stdout)["rows"][0]["agreement"] == 1.0
    ends_with(run, 2, "agree", "d.csv", "--documents", says="name a learned measure")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-o", "x.doc"], "ends in '.doc'"),
        (["-o", "missing/x.md"], "folder does not exist"),
        (["zipf", "zipf"], "named twice"),
        (["--against", "ziph"], "did you mean 'zipf'"),
        (["--repeats", "0"], "--repeats"),
    ],
)
def test_compare_checks_its_options_first(
    run: Run, folder: Path, words: list[str], says: str
) -> None:
    ends_with(run, 2, "compare", "p.jsonl", *words, says=says, cwd=folder)


LINES = [
    '{"topic": "p", "left": ["d1", "d2"], "right": ["d2", "x"], "won": "first", "note": 1}',
    '{"topic": "p", "left": ["y", "d2"], "right": ["d2", "d1"], "won": "second", "who": 1}',
    '{"topic": "p", "left": ["d1", "d2"], "right": ["d2", "d1"], "won": "broken"}',
]
TOLD = ["--columns", "answer=won", "--answers", "first=a,second=b,broken=out"]


@pytest.fixture
def inspect(run: Run, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return what inspect says about its input."""
    (tmp_path / "docs.jsonl").write_text("\n".join(LINES))
    (tmp_path / "qrels.csv").write_text("query,document,grade\np,d1,2\np,d2,0\n")
    graded = '{"a": [2, null, 1], "b": [1, 0, 0], "answer": "a"}\n'
    (tmp_path / "graded.jsonl").write_text(graded * 2)

    def call(*arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(run("inspect", *arguments, "--json").stdout)["reading"]
        return found

    return call


def test_documents_that_are_looked_up(inspect: Callable[..., dict[str, Any]]) -> None:
    asked = ("docs.jsonl", "--qrels", "qrels.csv", *TOLD)
    assert inspect(*asked) == {
        "judgments_left_out": 1,
        "documents_without_grade": 0,
        "counted_as": None,
        "looked_up": {"documents": 12, "unjudged": 2, "counted_as": "the grade 0, the worst"},
        "ignored_columns": ["note", "who"],
    }
    dropped = inspect(*asked, "--unjudged", "drop")
    assert dropped["looked_up"]["counted_as"] == "no part of the list"


def test_grades_that_are_missing(run: Run, inspect: Callable[..., dict[str, Any]]) -> None:
    found = inspect("graded.jsonl", "--unjudged", "1")
    assert (found["documents_without_grade"], found["counted_as"]) == (2, "the grade 1")
    assert run("pack", "graded.jsonl", "p.parquet").returncode == 0
    packed = inspect("p.parquet")
    assert packed.pop("digest")
    assert packed == found | {"documents_without_grade": 0, "counted_as": None}


def test_commands_say_what_the_transcripts_hold() -> None:
    """Word for word: run ``tests/golden/make_transcripts.py`` after a change."""
    found = transcripts()
    assert {path.stem for path in FOLDER.iterdir()} == set(found)
    for name, text in found.items():
        assert text == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), name
