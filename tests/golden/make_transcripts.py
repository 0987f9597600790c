"""Make ``transcripts/`` anew: sessions of commands, and what they say of good and of bad input.

A session names its commands, one on each line that begins with ``$``. To add one, write that line
and run this script, which runs every session in a folder of its own and writes what is said below
each command: lines of the standard output begin with ``>``, those of the standard error with ``!``.
A line ``< NAME CONTENT`` above a command is a file of the session, with the escapes of Python;
:data:`FILES` are those of every session. Numbers with decimals are masked where other machines may
print other digits, and of long output the beginning is kept. The last lines name the files that a
session wrote or changed, and show what is in them.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "transcripts"
ROOT = str(FOLDER.parents[2])
sys.path.insert(0, str(FOLDER.parents[1]))

from helpers.commands import run_commands  # noqa: E402 - after its place is known
from helpers.written import write  # noqa: E402

MOST_LINES = {"fit": 30, "show": 30, "study": 40, "evaluate": 16, "coherence": 16, "plan": 16}
"""Of the output that is kept, where they are not 8."""

EXACT = ("configs", "evaluate", "joined", "measures", "qrels", "threshold")
"""Sessions whose numbers are sums and counts, and not masked."""

SHOWN = {".md", ".tex", ".csv", ".txt", ".eval"}
"""Files of sessions about systems whose first lines are shown."""


def judged_lines() -> str:
    """Forty judgments of a judge who adds the grades, and errs now and then."""
    rng = np.random.default_rng(0)
    rows = []
    for number, (a, b) in enumerate(rng.integers(0, 3, (40, 2, 3)).tolist()):
        better = sum(a) + rng.normal() > sum(b)
        answer = "tie" if number % 9 == 8 else "a" if better else "b"
        about = f'"query": "q{number % 13}", "judge": "{["ann", "bob"][number % 2]}"'
        rows.append(f'{{{about}, "a": {a}, "b": {b}, "answer": "{answer}"}}\n')
    return "".join(rows)


def asked(lists: np.ndarray) -> str:
    """Questions on pairs of lists of grades."""
    line = '{{"question": "x-{}", "query": "q{}", "a": {}, "b": {}}}\n'
    return "".join(line.format(i, i, a, b) for i, (a, b) in enumerate(lists.tolist()))


DRAWN = np.random.default_rng(0).integers(0, 3, (40, 2, 3))
CONFIG = """experiment = "flips"
figures = [5, 6]
seed = 5
repetitions = 1
[sweep]
flips = [0]
"""
EXPORT = """qid,left,right,verdict,rater,note
q1,2 0 1,1 1 0,Left,ann,
q1,0 0 1,2 1 0,right,ann,x
q2,1 0 0,1 0 0,Same,bob,
"""
FILES: dict[str, str | bytes] = {
    "good.jsonl": judged_lines(),
    "export.csv": EXPORT,
    "answer.csv": EXPORT.replace("Same", "dunno"),
    "encoding.csv": EXPORT.replace("q2", "caf\xe9").encode("latin-1"),
    "utf16.csv": EXPORT.encode("utf-16"),
    "cut.jsonl": judged_lines()[:200],
    "weighted.jsonl": judged_lines().replace('"answer": "a"', '"answer": "a", "weight": 2', 3),
    "documents.csv": "query,a,b,answer\nq1,d1 d2,d2 d9,a\nq1,d1 d8,d2,b\n",
    "qrels": "q1 0 d1 2\nq1 0 d2 0\n",
    "trec_qrels": "q1 0 d1 2\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 2\nq2 0 d2 1\nq3 0 d2 1\n",
    "trec_one": "q1 Q0 d1 1 2 one\nq1 Q0 d3 2 1 one\nq2 Q0 d9 1 1 one\nq3 Q0 d2 1 1 one\n",
    "trec_two": "q1 Q0 d2 1 2 two\nq1 Q0 d4 2 1 two\nq2 Q0 d2 1 1 two\nq7 Q0 d2 1 1 two\n",
    "trec_tied": "q1 Q0 d1 1 2 tied\nq1 Q0 d2 2 2 tied\nq2 Q0 d1 1 1 tied\n",
    "tie.jsonl": '{"a": [1, 0], "b": [0, 1], "answer": "tie"}\n',
    "alike.jsonl": '{"a": [1, 0], "b": [1, 0], "answer": "a"}\n',
    "two_ranks.jsonl": '{"a": [2, 2], "b": [0, 1], "answer": "a"}\n' * 2,
    "asked.jsonl": asked(DRAWN),
    "asked_binary.jsonl": asked(np.where(DRAWN == 1, 2, DRAWN)),
    "twice.jsonl": '{"id": "d1", "title": "One"}\n' * 2,
    "configs/flips.toml": CONFIG,
}
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def lines_of(name: str) -> list[str]:
    """Return the lines of a session that are no answers: its files and its commands."""
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line.startswith(("< ", "$ "))]


def commands_of(name: str) -> list[list[str]]:
    """Return the commands of a session."""
    return [shlex.split(line)[2:] for line in lines_of(name) if line[0] == "$"]


def files_of(name: str) -> dict[str, str | bytes]:
    """Return the files of a session, by their names."""
    parts = (line[2:].partition(" ") for line in lines_of(name) if line[0] == "<")
    return FILES | {
        file: content.encode("latin-1", "backslashreplace").decode("unicode_escape")
        for file, _, content in parts
    }


def write_files(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write the files that commands read."""
    for name, content in files.items():
        write(folder / name, content)


def transcript(name: str) -> str:
    """Run a session and return its transcript."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, given = Path(temporary, "files"), files_of(name)
        write_files(folder, given)
        before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
        done = iter(run_commands(commands_of(name), folder))
        lines = lines_of(name)
        text = "".join(said(next(done), name) if line[0] == "$" else f"{line}\n" for line in lines)
        for path in sorted(folder.rglob("*")):
            file = path.relative_to(folder).as_posix()
            if path not in before:
                text += f"wrote {file}\n"
                if name in ("evaluate", "coherence") and path.suffix in SHOWN:
                    text += shown("|", path.read_text("utf-8"), name)
            elif before[path] != (path.is_file() and path.read_bytes()):
                text += f"changed {file}\n"
        return text.replace(str(folder), "FOLDER").replace(ROOT, "ROOT")


def said(done: subprocess.CompletedProcess[str], name: str) -> str:
    """Return a command, its exit code and what it printed."""
    head = f"$ {shlex.join(['dcglearn', *done.args])}\nexit code {done.returncode}\n"
    return head + shown(">", done.stdout, name) + shown("!", done.stderr, name) + "\n"


def shown(mark: str, text: str, name: str) -> str:
    """Return the first lines of a text, without numbers that may differ in their last digits."""
    lines, most = text.splitlines(), MOST_LINES.get(name, 8)
    lines = [*lines[:most], *(["..."] if len(lines) > most else [])]
    if name not in EXACT:
        lines = [re.sub(r"\d+\.\d+(e-?\d+)?", "#", line) for line in lines]
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in lines)


if __name__ == "__main__":
    for session in NAMES:
        (FOLDER / f"{session}.txt").write_text(transcript(session), encoding="utf-8")
