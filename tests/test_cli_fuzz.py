"""Every command on strange files and options: no traceback, no warning, one line about an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import run_command
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dcglearn.cli import COMMANDS

EXAMPLES = 80
"""Commands that are run; some seconds."""

NAMES = ["a$b$c", "<img src=x>", "\\input{x}", "\x1b[31m", "é", "日本", "_", "%n", "-1", "good"]
NUMBERS = [
    "0",
    "1",
    "2",
    "-1",
    "1023",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "9" * 25,
    "9" * 4301,
]
GRADES = st.sampled_from(NAMES + NUMBERS)
SCALES = st.lists(GRADES, min_size=1, max_size=3).map(",".join)
PRESETS = ["zipf", "linear-log2", "exponential-log2", "jk:2", "binary:1", "minmaxDCG([1, 0], log2)"]
MEASURES = st.one_of(
    st.sampled_from([*PRESETS, "learned.json", "learned.json:utility", "p.jsonl", "none", ""]),
    st.builds("{} @ {}".format, st.sampled_from(PRESETS), st.sampled_from(NUMBERS)),
    st.builds("{}([{}, 0], log2)".format, st.sampled_from(["DCG", "minmaxDCG"]), GRADES),
)
FILES = [
    "p.jsonl",
    "named.jsonl",
    "torn.jsonl",
    "bytes",
    "empty",
    "none",
    "qrels",
    "run",
    "table.csv",
]
JUDGMENTS = st.sampled_from([*FILES, "p.jsonl", "named.jsonl"])
OPTIONS = {
    "--K": st.sampled_from(NUMBERS),
    "--C": st.sampled_from([*NUMBERS, "1e-300", "1e300", "cv"]),
    "--scale": SCALES,
    "--seed": st.sampled_from(NUMBERS),
    "--qrels": st.sampled_from(FILES),
    "--baseline": GRADES,
    "--cost": st.sampled_from(NUMBERS),
    "--only": GRADES,
    "--debit": st.sampled_from(NUMBERS),
    "-n": st.sampled_from(["1", "9" * 25]),
    "--format": st.sampled_from(["md", "latex", "csv", "json"]),
    "--to": st.sampled_from(["json", "python", "trec_eval", "ranx"]),
}
"""Options of any command. A command that lacks one must say so."""

ARGUMENTS = {
    "inspect": st.tuples(JUDGMENTS),
    "fit": st.tuples(JUDGMENTS),
    "compare": st.tuples(JUDGMENTS, MEASURES),
    "agree": st.tuples(JUDGMENTS, MEASURES),
    "show": st.tuples(MEASURES),
    "pack": st.tuples(JUDGMENTS, st.just("packed.parquet")),
    "simulate": st.tuples(st.sampled_from(["out.jsonl", "out.csv", "out.doc"])),
    "evaluate": st.tuples(
        st.sampled_from(["qrels", "large", *FILES]),
        st.sampled_from(["run", *FILES]),
        st.just("-m"),
        MEASURES,
    ),
    "coherence": st.tuples(st.just("qrels"), st.just("run"), st.sampled_from(["other", *FILES])),
    "explain": st.tuples(MEASURES, MEASURES),
    "export": st.tuples(MEASURES),
    "threshold": st.tuples(st.sampled_from(FILES), st.sampled_from(FILES)),
    "run": st.tuples(st.sampled_from(["config.toml", "deep.toml", *FILES])),
    "reproduce": st.just(("--only", "none")),
    "status": st.just(()),
    "report": st.just(()),
}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(sorted(ARGUMENTS)))
    line = [command, *draw(ARGUMENTS[command])]
    for option in draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=2, unique=True)):
        line += [option, draw(OPTIONS[option])]
    return [part.replace("\0", "") for part in line]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that commands can read, and files that none can."""
    place = tmp_path_factory.mktemp("fuzz")
    pair = '{"query": "q%d", "a": [2, 0, 1], "b": [0, 2, 1], "answer": "%s"}\n'
    good = "".join(pair % (i, answer) for i, answer in enumerate(["a", "a", "b", "tie"] * 5))
    (place / "p.jsonl").write_text(good)
    (place / "named.jsonl").write_text(
        '{"query": "$q$", "a": ["a$b$c", "\\u001b[31m"], "b": ["\\u001b[31m", "a$b$c"], '
        '"answer": "a"}\n'
    )
    (place / "torn.jsonl").write_text(good[:-9])
    (place / "bytes").write_bytes(bytes(range(256)))
    (place / "empty").write_text("")
    (place / "qrels").write_text("q 0 d1 2\nq 0 d2 0\nr 0 d1 1\n")
    (place / "large").write_text("q 0 d1 1023\nq 0 d2 1023\nq 0 d3 1023\nr 0 d1 0\n")
    for name, scores in (("run", (3, 2, 1)), ("other", (1, 1, 2))):
        tag = "\x1b[31m$x$<img>" + name
        rows = [f"q Q0 d{d + 1} {d + 1} {s} {tag}\n" for d, s in enumerate(scores)]
        (place / name).write_text("".join(rows) + f"r Q0 d1 1 1 {tag}\n")
    (place / "table.csv").write_text('query,a,b,answer\nq,"2 0","0 2",a\n')
    (place / "config.toml").write_text(f'experiment = "pairs"\nfigures = [1]\nseed = {"9" * 30}\n')
    (place / "deep.toml").write_text("x = " + "[" * 100_000)
    for arguments in (["fit", "p.jsonl", "-o", "learned.json"],):
        assert run_command(arguments, place, dict(os.environ)).returncode == 0
    return place


def test_every_command_is_tried() -> None:
    assert set(ARGUMENTS) == {command.__name__ for group in COMMANDS.values() for command in group}


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(line=command_lines())
@example(line=["fit", "p.jsonl", "--C", "1e-300"])
@example(line=["evaluate", "large", "run", "-m", "exponential-log2"])
@example(line=["fit", "p.jsonl", "--K", "9" * 25])
@example(line=["evaluate", "qrels", "run", "-m", "zipf @ " + "9" * 4301])
@example(line=["run", "deep.toml"])
@example(line=["explain", "DCG([1e-320, 0], log2)", "DCG([1e308, 0], log2)", "--K", "2"])
def test_commands_end_well(folder: Path, line: list[str]) -> None:
    found = run_command(line, folder, {**os.environ, "PYTHONUTF8": "1"})
    assert found.returncode in (0, 1, 2), found.stderr
    assert "Traceback" not in found.stderr
    assert "Warning" not in found.stderr
    assert "\x1b" not in found.stdout + found.stderr
    if found.returncode == 2:
        said = [row for row in found.stderr.splitlines() if row.startswith("dcglearn: ")]
        assert len(said) == 1, found.stderr
        assert found.stderr.splitlines()[-1] == said[0]
