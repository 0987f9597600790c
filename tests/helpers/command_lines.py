"""Strange and ordinary command lines: every command with every option, on files of every kind."""

from __future__ import annotations

import gzip
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from typer.models import ArgumentInfo, ParameterInfo

from dcglearn.cli import COMMANDS

FUNCTIONS = {command.__name__: command for group in COMMANDS.values() for command in group}

LONG = "9" * 4301
"""Digits that `int` refuses to read."""

NUMBERS = ["-1", "0", "1e308", "-1e308", "1e-320", "1e999", "nan", "-inf", "9" * 25, LONG, "1_0"]
NUMBERS += ["", "x", "\u0663", " 2", "1e2", "100000"]
ODD = ["a$b$c", "<img src=x>", "\\input{x}", "\x1b[31m", "\u202egp.exe", "é", "%n", "-1", "=1+1"]
ODD += ["{}", "\ud800", " ", "1e308", "9" * 25, LONG, "", ",", "=", "none", "x=1", "a=a,a=b", ".."]
BAD_FILES = ["bytes", "empty", "none", "folder", "/dev/null", "cut.gz", "torn.parquet", "bytes.csv"]
BAD_FILES += ["empty.jsonl", "folder.parquet", "", "\x1b[31m", "deep.jsonl", "empty.parquet"]

JUDGMENTS = ["p.jsonl", "p.jsonl", "named.jsonl", "p.csv", "p.parquet", "packed.parquet"]
JUDGMENTS += ["p.jsonl.gz", "documents.jsonl", "by_run.jsonl", "torn.jsonl"]
JUDGMENTS += ["$x_y$.jsonl"]
QRELS = ["qrels", "qrels", "qrels.gz", "qrels.json", "letor", "large", "names"]
RUNS = ["run", "run", "other", "other", "run.gz", "run.json", "scores", "strange"]
MEASURES = ["zipf", "linear-log2", "exponential-log2", "jk:2", "binary:1", "utility", "jk:1e308"]
MEASURES += ["learned.json", "learned.json:utility", "utility.json", "é.json:dcg", "deep.json"]
MEASURES += ["nDCG(zipf) @ 3", "binary:" + LONG, "DCG([2, 1, 0], log2)", "nDCG([1e308, 1], zipf)"]
MEASURES += ["DCG({2: 1e308, 1: 1e-320, 0: -1e308}, [1, 1e-320]) @ 2", "DCG({'$': 1, '\\x1b': 0})"]
MEASURES += ["minmaxDCG([nan, 1], log2)", "LinearUtility([[1e308, 0]])", "{}([1, 0], x) @ " + LONG]
OUTPUTS = ["out.json", "out.csv", "out.md", "out.tex", "out.txt", "out.jsonl", "out.parquet"]
OUTPUTS += ["out.png", "out.svg", "out.html", "out", "folder", "none/out.json", "/dev/null", ""]
OUTPUTS += ["$x_y$.png", "é.json", "p.jsonl", "\x1b[31m.csv"]

LABELS = ["2,1,0"] * 6 + ["2=1e308,1=1,0=-1e308", "2=1e-320,1=0,0=0", "2=nan,1=0", "é,$,\x1b[31m"]
GOOD = {
    "BEST,...,WORST": LABELS,
    "GRADE,...": LABELS,
    "GRADES": ["2,0,1", "0,2,1", "-,2"],
    "GRADE=GAIN,...": LABELS,
    "MEASURE": MEASURES,
    "usual|MEASURE|none": ["usual", "none", *MEASURES],
    "MEASURE|given": ["given", *MEASURES],
    "A,B": ["run,other", "other,run", "run", "run,run"],
    "JUDGMENTS": JUDGMENTS,
    "JUDGMENTS|MEASURE": [*JUDGMENTS, *MEASURES],
    "QUESTIONS": ["questions.jsonl"],
    "RATINGS": ["rated.jsonl", "rated.jsonl", "rated.csv", "$rated$.csv"],
    "FIELD": ["rating", "stars", "query"],
    "QRELS": QRELS,
    "RUN": RUNS,
    "DOCUMENTS": ["scored.jsonl", "scored.csv", "extreme.csv", "p.csv"],
    "CONFIG": ["tiny.toml", "config.toml", "deep.toml", "wrong.toml", "../config.toml"],
    "OUT": OUTPUTS,
    "FOLDER": ["results", "out", "folder", "p.jsonl"],
    "SYSTEM": ["run", "other"],
    "WHAT": ["everything", "gains", "gain 1", "discount 2", "linear-log2:zipf", ":", "zipf:zipf"],
    "NAME=HALF": ["gains=.05", "gain 1=.1", "gains=0"],
    "NAME,...": ["99", "ann,bob"],
    "FAMILY": ["linear", "free", "log2", "power:free", "decreasing", "rbp:2", "power:" + LONG],
    "FIELD=COLUMN,...": ["a=b,b=a", "answer=answer", "query=judge"],
    "VALUE=ANSWER,...": ["a=b,b=a", "tie=out", "=tie"],
    "VALUE,...": ["-1", "-", "2"],
    "NAME": ["utf-8", "latin-1", "utf-9", "base64"],
    "worst|drop|GRADE": ["worst", "drop", "1", "nothing", "9"],
    "FILE.tex": ["out.tex"],
    "column|page|INCHES": ["column", "page", "5", *NUMBERS],
    "C|cv": ["1", "cv", ".5", "1e300", "1e10", *NUMBERS],
    "N|tcp://HOST:PORT": ["1", "0", "-1", "x", "9" * 25, "tcp://", "tcp://é:1"],
    "--qrels FILE": QRELS,
    "--run FILE": RUNS,
    "--out FILE": OUTPUTS,
    "--figure FILE": OUTPUTS,
    "--documents FILE": ["texts.jsonl"],
    "--queries FILE": ["texts.jsonl"],
    "--instruction FILE": ["texts.jsonl"],
}
"""What is given for each metavar of text, now and then replaced by what is odd."""

READ = {"JUDGMENTS", "QUESTIONS", "RATINGS", "QRELS", "RUN", "DOCUMENTS", "CONFIG"}


def mostly(good: list[str], others: list[str]) -> st.SearchStrategy[str]:
    """Draw from the first list in nine of ten cases."""
    return st.sampled_from(range(10)).flatmap(lambda i: st.sampled_from(good if i else others))


def _value(hint: Any, info: ParameterInfo, name: str) -> st.SearchStrategy[str]:
    """Return what may be given for one option or argument, right or wrong."""
    kind = next(iter(k for k in get_args(hint) if k is not type(None)), hint)
    choices = hint if get_origin(hint) is Literal else kind
    if get_origin(choices) is Literal:
        return mostly([str(choice) for choice in get_args(choices)], ODD)
    if kind in (int, float):
        return mostly(["2", "3", "7"] if kind is int else ["1", ".5", "0"], NUMBERS)
    metavar = info.metavar or ""
    good = GOOD.get(f"{name} {metavar}") or GOOD[metavar]
    return mostly(good, BAD_FILES + JUDGMENTS if metavar in READ else ODD)


def _parameters(command: Callable[..., Any]) -> list[tuple[str, Any, ParameterInfo]]:
    """Return the name, type and description of each parameter of a command."""
    hints = get_type_hints(command, include_extras=True)
    return [(name, *get_args(hint)[:2]) for name, hint in hints.items() if name != "return"]


def options_of(command: Callable[..., Any]) -> dict[str, st.SearchStrategy[str] | None]:
    """Return each option of a command with its values, None for one without a value."""
    found: dict[str, st.SearchStrategy[str] | None] = {}
    for name, hint, info in _parameters(command):
        if not isinstance(info, ArgumentInfo):
            given = (info.default, *(info.param_decls or ()))  # the first, where a type has them
            names = [one for one in given if isinstance(one, str)]
            option = (names or [f"--{name.replace('_', '-')}"])[0]
            found[option] = None if hint is bool else _value(hint, info, option)
    return found


def arguments_of(command: Callable[..., Any]) -> list[st.SearchStrategy[list[str]]]:
    """Return the values of each argument of a command; those of a list are one to three."""
    found: list[st.SearchStrategy[list[str]]] = []
    for name, hint, info in _parameters(command):
        if not isinstance(info, ArgumentInfo):
            continue
        many = list in (get_origin(hint), *map(get_origin, get_args(hint)))
        default = inspect.signature(command).parameters[name].default
        least = 1 + (command.__name__ == "coherence" and many)
        least = least if default is inspect.Parameter.empty else 0
        one = _value(str if many else hint, info, name)
        found.append(st.lists(one, min_size=least, max_size=3 if many else 1, unique=True))
    return found


NEEDED = {
    "export": ["--to", "--scale"],
    "explain": ["--scale"],
    "show": ["--scale"],
    "pairs": ["--out"],
    "judge": ["--out"],
    "reproduce": ["--only"],
}
"""Options without which a command does nothing, or too much."""


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """Draw a command with arguments and up to four options."""
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    command = FUNCTIONS[name]
    line = [name, *(word for words in arguments_of(command) for word in draw(words))]
    values = options_of(command)
    most = draw(st.sampled_from([0, 1, 1, 2, 4]))
    chosen = draw(st.lists(st.sampled_from(sorted(values)), max_size=most, unique=True))
    for option in dict.fromkeys((*NEEDED.get(name, []), *chosen)):
        value = values[option]
        line += [option] if value is None else [option, draw(value)]
    wrong = draw(st.sampled_from([None] * 40 + ["--none", "extra", "--K=", "--", "-\x1b[31m"]))
    return [*line, *([] if wrong is None else [wrong])]


def _lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def write_files(place: Path) -> None:
    """Write files that commands can read, and files that none can."""
    lists = [([2, 0, 1], [0, 2, 1]), ([1, 2, 0], [2, 1, 0]), ([2, 1, 1], [0, 0, 1])]
    good = _lines(
        *(
            {"query": f"q{i % 5}", "a": lists[i % 3][0], "b": lists[i % 3][1], "answer": answer}
            for i, answer in enumerate(["a", "b", "a", "tie", "b", "a", "a"] * 3)
        )
    )
    names, documents, unseen = ["a$b$c", "\x1b[31m"], ["d1", "d2"], "\x1b[31m$x$<img>|\u202e日=1"
    row = "{} Q0 {} 1 {} {}\n"
    scores = (("q", "d1", 3), ("q", "d2", 2), ("q", "new", 1), ("r", "d1", 1))
    other = (("q", "d2", "1e308"), ("q", "d1", "-1e308"), ("r", "d3", "1e-320"))
    qrels = "q 0 d1 2\nq 0 d2 0\nq 0 d3 1\nr 0 d1 1\nr 0 d3 0\n"
    shown = {"a_documents": ["d1", unseen], "b_documents": ["d2", "é"]}
    asked = [{"question": f"x-{i}", "query": "q", "a": [i, 0], "b": [1, None]} for i in range(3)]
    rated = [
        {"query": f"q{i % 3}", "grades": [i % 3, 0], "rating": i % 4, "judge": "j"}
        for i in range(12)
    ]
    texts = {
        "p.jsonl": good,
        "$x_y$.jsonl": good,
        "named.jsonl": _lines({"a": names, "b": names[::-1], "answer": "a"}),
        "documents.jsonl": _lines({"a": documents, "b": documents[::-1], "answer": "a"}) * 3,
        "by_run.jsonl": _lines({"query": "q", "run_a": "run", "run_b": "other", "answer": "b"}),
        "torn.jsonl": good[:-9],
        **dict.fromkeys(("empty", "empty.jsonl", "empty.parquet"), ""),
        "deep.jsonl": "[" * 100_000,
        "deep.json": '{"a":' * 100_000,
        "p.csv": 'query,a,b,answer,weight\nq,"2 0","0 2",a,1e-300\nr,"1 0","0 1",b,1e12\n',
        "qrels": qrels,
        "large": "q 0 d1 1023\nq 0 d2 1023\nq 0 d3 1023\nr 0 d1 0\n",
        "names": f"q 0 d1 {unseen}\nq 0 d2 é\nr 0 d1 é\n",
        "qrels.json": '{"q": {"d1": 2, "d2": 0}, "r": {"d1": 1}}',
        "run": "".join(row.format(q, d, s, "run") for q, d, s in scores),
        "other": "".join(row.format(q, d, s, "other") for q, d, s in other),
        "strange": "".join(row.format(q, d, s, unseen) for q, d, s in scores),
        "run.json": '{"q": {"d1": 1e308, "d2": -1e308}, "r": {"d1": 0}}',
        "letor": "2 qid:q 1:0.5 # d1\n0 qid:q 1:1e308\n1 qid:r 1:1\n",
        "scores": "0.5\n1e308\n-1\n",
        "scored.jsonl": _lines(
            *({"id": f"d{i}", "score": i / 4, "grade": (0, 1, 2, None)[i % 4]} for i in range(9))
        ),
        "scored.csv": "id,score,grade\nd1,3,2\nd2,1,0\nd3,0,\n",
        "extreme.csv": "score,grade\n1.7976931348623157e308,2\n-1e308,0\n5e-324,1\n",
        "rated.jsonl": _lines(*rated),
        "rated.csv": "query,grades,score,weight\nq,2 0,1e308,1e-300\nq,1 0,-1e308,1e12\nq,0,,0\n",
        "$rated$.csv": "grades,stars\n2 0,1\n1 $,5e-324\n",
        "questions.jsonl": _lines(asked[0], *(one | shown for one in asked[1:])),
        "texts.jsonl": _lines({"id": "d1", "title": unseen, "text": "é"}, {"id": "q"}),
        "config.toml": f'experiment = "pairs"\nfigures = [1]\nseed = {"9" * 30}\n',
        "wrong.toml": 'experiment = "pairs"\nfigures = []\nseed = 1\n[sweep]\npairs = []\n',
        "tiny.toml": 'experiment = "pairs"\nfigures = [1, 2, "2b"]\nseed = 1\nrepetitions = 2\n'
        '[sweep]\nlists = ["drawn"]\ntruth = ["data-1"]\npairs = [20]\n',
        "deep.toml": "x = " + "[" * 100_000,
        "utility.json": '{"utility": {"weights": [[1e308, 0], [1, 0]]}, "use": "utility"}',
    }
    for name, text in texts.items():
        (place / name).write_text(text, "utf-8")
    (place / "bytes").write_bytes(bytes(range(256)))
    (place / "bytes.csv").write_bytes(b"query,a,b,answer\n\xff\xfe,2 0,0 2,a\n")
    for name in ("p.jsonl", "qrels", "run"):
        (place / f"{name}.gz").write_bytes(gzip.compress(texts[name].encode(), mtime=0))
    (place / "cut.gz").write_bytes(gzip.compress(texts["qrels"].encode(), mtime=0)[:-9])
    for name in ("folder", "folder.parquet"):
        (place / name).mkdir()
