"""Every command on strange files and options: it succeeds, or one line says why not.

``DCGLEARN_FUZZ=200`` runs 200 times as many examples, other ones for each number.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from golden.make_transcripts import NAMES, commands_of, files_of, write_files
from hypothesis import HealthCheck, Phase, example, given, seed, settings
from hypothesis import strategies as st

from helpers.commands import run_command, run_commands

LONG = "9" * 4301
"""Digits that `int` refuses to read."""

NUMBERS = ["-1", "0", "2", "1e308", "-1e308", "1e-320", "1e999", "nan", "-inf", "9" * 25, LONG]
NUMBERS += ["1_0", "x", "\u0663", " 2"]
TEXTS = ["", "a$b$c", "<img src=x>", "\\input{x}", "\x1b[31m", "\u202egp.exe", "é", "%n", "=1+1"]
TEXTS += ["{}", "\ud800", " ", ",", "=", "none", "a=a,a=b", "--", "--none", "--json", "-o"]
MEASURES = ["jk:1e308", "binary:" + LONG, "utility.json", "é.json:dcg", "nDCG([1e308, 1], zipf)"]
MEASURES += ["DCG({2: 1e308, 1: 1e-320, 0: -1e308}, [1, 1e-320]) @ 2", "DCG({'$': 1, '\\x1b': 0})"]
MEASURES += ["nDCG([nan, 1], log2)", "LinearUtility([[1e308, 0]])", "{}([1, 0], x) @ " + LONG]
OUTPUTS = [f"out.{end}" for end in ("json", "csv", "md", "tex", "parquet", "png", "html", "eval")]
OUTPUTS += ["out", "folder", "none/out.json", "/dev/null", "$x_y$.png"]
STRANGE: dict[str, bytes] = {
    "bytes": bytes(range(256)),
    "bytes.csv": b"query,a,b,answer\n\xff\xfe,2 0,0 2,a\n",
    "deep.jsonl": b"[" * 100_000,
    "deep.json": b'{"a":' * 100_000,
    "deep.toml": b"x = " + b"[" * 100_000,
    "empty.parquet": b"",
    "utility.json": b'{"utility": {"weights": [[1e308, 0], [1, 0]]}, "use": "utility"}',
    "extreme.csv": b"score,grade\n1.7976931348623157e308,2\n-1e308,0\n5e-324,1\n",
    "strange": "q1 Q0 d1 1 1e308 \x1b[31m$x$<img>|\u202e\nq1 Q0 \x1b[31m 2 -1e308 =1\n".encode(),
    "$x_y$.csv": b'query,a,b,answer,weight\n\x1b[31m,"2 0","0 2",a,1e-300\n$,0,1,b,1e12\n',
}
"""Beside the files of the transcripts."""

FILES = {file: content for name in NAMES for file, content in files_of(name).items()}

LINES = [line for name in NAMES for line in commands_of(name)]
USUAL = [word for line in LINES for word in line]
WORDS = [NUMBERS, TEXTS, MEASURES, OUTPUTS, [*STRANGE], [*FILES], USUAL]


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """Draw a line of the transcripts, in which up to three words are others, more or missing."""
    line = [*draw(st.sampled_from(LINES))]
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(1, len(line)))
        word = draw(st.sampled_from(draw(st.sampled_from(WORDS))))
        line[place : place + draw(st.integers(0, 1))] = draw(st.sampled_from([[word], [word], []]))
    return line


TIMES = int(os.environ.get("DCGLEARN_FUZZ", "1"))
EXAMPLES = 20 * TIMES
"""Commands that are run; some seconds."""

SECONDS = 60
"""A command on these files that takes longer hangs."""

_NOT_A_NUMBER = re.compile(r"(?<![\w.+])[-+]?(nan|inf|Infinity)(?!\w)", re.IGNORECASE)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files to copy for each command."""
    place = tmp_path_factory.mktemp("fuzz") / "files"
    write_files(place, FILES)
    for name, content in STRANGE.items():
        (place / name).write_bytes(content)
    (place / "folder").mkdir()
    lines = [["fit", "good.jsonl", "-o", "fit.json"], ["pack", "good.jsonl", "packed.parquet"]]
    assert [done.returncode for done in run_commands(lines, place)] == [0, 0]
    shutil.copy(place / "fit.json", place / "é.json")
    (place / "torn.parquet").write_bytes((place / "packed.parquet").read_bytes()[:-90])
    return place


def _contents(place: Path) -> dict[str, bytes]:
    paths = [path for path in place.rglob("*") if path.is_file()]
    return {str(path.relative_to(place)): path.read_bytes() for path in paths}


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(constant)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # each example runs a program, which takes long
    phases=[Phase.explicit, Phase.generate] if TIMES == 1 else list(Phase),
    report_multiple_bugs=True,
)
@seed(TIMES)
@given(line=command_lines(), encoding=st.sampled_from(["utf-8", "utf-8", "ascii", "latin-1"]))
@example(line=["fit", "good.jsonl", "--C", "1e-300"], encoding="utf-8")
@example(line=["evaluate", "trec_qrels", "trec_one", "-m", "zipf @ " + LONG], encoding="utf-8")
@example(line=["run", "deep.toml"], encoding="utf-8")
@example(
    line=["explain", "DCG([1e-320, 0], log2)", "DCG([1e308, 0], log2)", "--K", "2"],
    encoding="utf-8",
)
def test_commands_end_well(files: Path, line: list[str], encoding: str) -> None:
    line = [part.replace("\0", "") for part in line]
    place, temporary = files.parent / "copy", files.parent / "temporary"
    for folder in (place, temporary):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(files, place)
    temporary.mkdir()
    before = _contents(place)
    env = {**os.environ, "PYTHONIOENCODING": encoding, "TMPDIR": str(temporary), "COLUMNS": "100"}
    found = run_command(line, place, env, SECONDS)
    assert found.returncode in (0, 1, 2), found.stderr
    assert "Traceback" not in found.stderr
    assert "Warning" not in found.stderr, found.stderr
    for unseen in ("\x1b", "\u202e", "\x9b"):
        assert unseen not in found.stdout + found.stderr
    assert not list(temporary.iterdir())
    if found.returncode:
        said = [row for row in found.stderr.splitlines() if row.startswith("dcglearn: ")]
        assert said == found.stderr.splitlines()[-1:], found.stderr
    else:
        if "--json" in line:
            json.loads(found.stdout, parse_constant=_refuse)
        if line[0] != "export" and not _NOT_A_NUMBER.search(" ".join(line)):
            assert not _NOT_A_NUMBER.search(found.stdout), found.stdout
    if line[0] not in ("run", "reproduce", "report", "status"):  # their folder has its own tests
        after = _contents(place)
        changed = [name for name in after if before.get(name) != after[name]]
        assert before.keys() <= after.keys()
        assert not (found.returncode and changed)
        more = {"show": ".png", "judge": (".html", ".xml"), "evaluate": ".eval"}.get(line[0], "/")
        assert all(name in line or name.endswith(more) for name in changed)
