"""Make ``transcripts/`` anew: sessions of commands, and what they say of good and of bad input.

A session names its commands, one on each line that begins with ``$``. To add one, write that line
and run this script, which runs every session in a folder of its own and writes what is said below
each command: lines of the standard output begin with ``>``, those of the standard error with ``!``.
Numbers with decimals are masked where other machines may print other digits, and of long output the
beginning is kept. The last lines name the files that a session wrote, and show what is in them.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent / "transcripts"
ROOT = str(FOLDER.parents[2])
sys.path.insert(0, str(FOLDER.parents[1]))

from helpers.commands import run_commands  # noqa: E402 - after its place is known

MOST_LINES = {"fit": 30, "show": 30, "study": 40, "evaluate": 16, "coherence": 16, "plan": 16}
"""Of the output that is kept, where they are not 8."""

EXACT = ("evaluate", "threshold")
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


def lines(*records: dict[str, object]) -> str:
    """Records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


def asked(lists: list[Any]) -> str:
    """Questions on pairs of lists of grades."""
    shared = [{"question": f"x-{i}", "query": f"q{i}"} for i in range(len(lists))]
    return lines(*(one | {"a": a, "b": b} for one, (a, b) in zip(shared, lists, strict=True)))


PAIR: dict[str, object] = {"a": [1, 0], "b": [0, 1]}
DOCUMENT: dict[str, object] = {"id": "d1", "title": "One"}
DRAWN = np.random.default_rng(0).integers(0, 3, (40, 2, 3))
CONFIG = """experiment = "flips"
figures = [5, 6]
seed = 5
repetitions = 1
[sweep]
flips = [0]
"""
HEAD, ROW = "qid,left,right,verdict,rater,note\n", "q1,2 0 1,1 1 0,Left,ann,\n"
EXPORT = f"{HEAD}{ROW}q1,0 0 1,2 1 0,right,ann,x\nq2,1 0 0,1 0 0,Same,bob,\n"
FILES: dict[str, str | bytes] = {
    "good.jsonl": judged_lines(),
    "export.csv": EXPORT,
    "answer.csv": EXPORT.replace("Same", "dunno"),
    "numbers.csv": EXPORT.replace("Left", "1").replace(",right,ann", ",0,ann").replace("Same", "1"),
    "empty_answer.csv": EXPORT.replace("Same", ""),
    "likert.csv": EXPORT.replace("Left", "3").replace(",right,ann", ",-1,ann").replace("Same", "0"),
    "two_answers.csv": EXPORT.replace("note", "preference"),
    "columns.csv": EXPORT.replace("verdict", "foo"),
    "misspelt.csv": EXPORT.replace("verdict", "anwser"),
    "grade.csv": EXPORT.replace("2 0 1", "2 x 1"),
    "names.csv": EXPORT.replace("0", "bad").replace("1", "good").replace("2", "best"),
    "weight.csv": EXPORT.replace("note", "weight").replace("ann,x", "ann,heavy"),
    "short.csv": EXPORT.replace("q1,0 0 1", "0 0 1"),
    "quote.csv": EXPORT.replace("right,ann", '"right,ann'),
    "title.csv": "My study\n\n" + EXPORT.replace(",", ";"),
    "no_header.csv": EXPORT.removeprefix(HEAD),
    "no_rows.csv": HEAD,
    "empty.csv": "",
    "encoding.csv": EXPORT.replace("q2", "caf\xe9").encode("latin-1"),
    "utf16.csv": EXPORT.encode("utf-16"),
    "old_mac.csv": EXPORT.replace("\n", "\r"),
    "shuffled.csv": EXPORT.replace("note", "a_was").replace(",\n", ",left\n").replace("x", "right"),
    "systems.csv": "a,b,winner,x,y\n2 0,1 1,new,new,old\n1 1,2 0,new,old,new\n",
    "spreadsheet.csv": EXPORT.replace("2 0 1", "2.1"),
    "minus.csv": EXPORT.replace("2 0 1", "2 -1 1"),
    "raters.csv": "a,b,ann,bob\n2 0,1 1,a,b\n1 1,2 0,a,\n",
    "numbered.csv": "a,b,answer,answer_2\n2 0,1 1,a,b\n",
    "long.csv": "query,answer,list,rank,grade\nq,a,a,1,2\nq,a,b,1,1\nq,a,b,3,1\n",
    "survey.csv": 'a,b,answer\nList A,List B,Which?\n"{""ImportId"":""Q1""}",x,y\n',
    "cut.jsonl": judged_lines()[:200],
    "null.jsonl": '{"a": [2, null, 1], "b": [1, 0, 0], "answer": "a"}\n' * 2,
    "page.csv": "<!DOCTYPE html><html></html>\n",
    "cut.parquet": b"PAR1....",
    "not.csv.gz": EXPORT,
    "facts.json": '{"version": 1, "judgments": [{"a": [1], "b": [0], "answer": "a"}]}',
    "rankings.csv": "query,a,b,answer\nq1,d1 d2 d3,d3 d2 d1,a\nq2,d2 d1 d3,d1 d3 d2,a\n",
    "weighted.jsonl": judged_lines().replace('"answer": "a"', '"answer": "a", "weight": 2', 3),
    "documents.csv": "query,a,b,answer\nq1,d1 d2,d2 d9,a\nq1,d1 d8,d2,b\n",
    "qrels": "q1 0 d1 2\nq1 0 d2 0\n",
    "rated.csv": "query,grades,satisfaction\nq1,2 0,5\nq1,1 1,3\nq2,0 0,1\nq2,1 0,2\n",
    "rated_in_words.csv": "query,grades,satisfaction\nq1,2 0,5\nq1,1 1,low\n",
    "scored.csv": "id,score,grade\nd1,3.5,2\nd2,2.5,0\nd3,1.5,1\nd4,1.0,0\nd5,.5,0\n",
    "scored_in_words.csv": "id,score,grade\nd1,high,2\nd2,2.5,0\n",
    "trec_qrels": "q1 0 d1 2\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 2\nq2 0 d2 1\nq3 0 d2 1\n",
    "trec_one": "q1 Q0 d1 1 2 one\nq1 Q0 d3 2 1 one\nq2 Q0 d9 1 1 one\nq3 Q0 d2 1 1 one\n",
    "trec_two": "q1 Q0 d2 1 2 two\nq1 Q0 d4 2 1 two\nq2 Q0 d2 1 1 two\nq7 Q0 d2 1 1 two\n",
    "trec_tied": "q1 Q0 d1 1 2 tied\nq1 Q0 d2 2 2 tied\nq2 Q0 d1 1 1 tied\n",
    "trec_strange": "q1 Q0 d1 1 2 \x1b[31m$x$<img>\nq1 Q0 d2 2 1 \x1b[31m$x$<img>\n",
    "trec_other": "q9 Q0 d1 1 1 other\n",
    "tie.jsonl": lines(PAIR | {"answer": "tie"}),
    "alike.jsonl": lines({"a": [1, 0], "b": [1, 0], "answer": "a"}),
    "weightless.jsonl": lines(PAIR | {"answer": "a", "weight": 0}) * 3,
    "cancel.jsonl": lines(PAIR | {"answer": "a"}, PAIR | {"answer": "b"}),
    "two_ranks.jsonl": lines({"a": [2, 2], "b": [0, 1], "answer": "a"}) * 2,
    "other_grades.jsonl": lines({"a": [3, 0, 1], "b": [1, 1, 0], "answer": "a"}) * 2,
    "asked.jsonl": asked(DRAWN.tolist()),
    "asked_binary.jsonl": asked(np.where(DRAWN == 1, 2, DRAWN).tolist()),
    "asked_alike.jsonl": asked([([2, 1], [2, 1])] * 3),
    "asked_ungraded.jsonl": asked([([None, 1], [2, None])] * 3),
    "asked_documents.jsonl": lines(
        {"question": "x-1", "a_documents": ["d1", "d2"], "a": [2, 1], "b": [0, 1]}
    ),
    "untitled.jsonl": lines({"id": "d1"}),
    "unasked.jsonl": lines(DOCUMENT | {"id": "e1"}),
    "twice.jsonl": lines(DOCUMENT, DOCUMENT),
    "configs/flips.toml": CONFIG,
    "bad.toml": CONFIG.replace("[0]", '[0]\ntruth = ["zipf", "DCG([1, 1, 1, 1, 1], log2)"]'),
    "more.toml": CONFIG.replace("6]", '6, "T7"]'),
    "trec_twice": "q1 Q0 d1 1 2 twice\nq1 Q0 d1 2 1 twice\n",
}
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))


def commands_of(name: str) -> list[list[str]]:
    """Return the commands of a session."""
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    return [shlex.split(line)[2:] for line in text.splitlines() if line.startswith("$")]


def write_files(folder: Path) -> None:
    """Write the files that the commands read."""
    (folder / "configs").mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def transcript(name: str) -> str:
    """Run a session and return its transcript."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "files")
        write_files(folder)
        text = "".join(said(one, name) for one in run_commands(commands_of(name), folder))
        for path in sorted(folder.rglob("*")):
            if (file := path.relative_to(folder).as_posix()) not in {*FILES, "configs"}:
                text += f"wrote {file}\n"
                if name in ("evaluate", "coherence") and path.suffix in SHOWN:
                    text += shown("|", path.read_text("utf-8"), name)
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
