"""Strange and ordinary command lines: every command with every option, on files of every kind."""

from __future__ import annotations

import gzip
import inspect
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from typer.models import ArgumentInfo, ParameterInfo

from dcglearn.cli import COMMANDS

FUNCTIONS = {command.__name__: command for group in COMMANDS.values() for command in group}

LONG = "9" * 4301
"""Digits that `int` refuses to read."""

COUNTS = ["0", "-1", "1", "1e2", "1_0", "9" * 25, LONG, "nan", "\u0663", "", " 2", "100000"]
NUMBERS = ["-1", "1e308", "-1e308", "1e-320", "1e-300", "1e999", "nan", "-inf", "9" * 25, LONG]
NUMBERS += ["1_0", "x", ""]
NAMES = ["a$b$c", "<img src=x>", "\\input{x}", "\x1b[31m", "\u202egp.exe", "é", "日本", "_", "%n"]
NAMES += ["-1", "good", "=1+1", "2", "1", "0", "1023", "{}", "\ud800", " ", "1e308", "9" * 25]
PRESETS = ["zipf", "linear-log2", "exponential-log2", "jk:2", "binary:1", "utility"]
EXTREMES = ["1e308", "-1e308", "1e-320", "1e-300", "1", "0", "9" * 25, "2"]
JUDGMENTS = [
    "p.jsonl",
    "p.jsonl",
    "p.jsonl",
    "named.jsonl",
    "p.csv",
    "p.parquet",
    "packed.parquet",
    "p.jsonl.gz",
]
JUDGMENTS += ["documents.jsonl", "by_run.jsonl", "torn.jsonl", "pipe.jsonl", "$x_y$.jsonl"]
QRELS = ["qrels", "qrels", "qrels", "qrels.gz", "qrels.json", "letor", "large", "names", "pipe"]
RUNS = ["run", "run", "other", "other", "run.gz", "run.json", "scores", "strange", "pipe"]
RATINGS = ["rated.jsonl", "rated.jsonl", "rated.csv", "$rated$.csv"]
SCORED = ["scored.jsonl", "scored.csv", "extreme.csv", "p.csv"]
MEASURE_FILES = ["learned.json", "learned.json:utility", "utility.json", "é.json:dcg", "deep.json"]
CONFIGS = ["tiny.toml", "config.toml", "deep.toml", "wrong.toml", "../config.toml"]
BAD_FILES = ["bytes", "empty", "none", "folder", "/dev/null", "cut.gz", "torn.parquet", "bytes.csv"]
BAD_FILES += ["empty.jsonl", "folder.parquet", "", "\x1b[31m", "deep.jsonl", "empty.parquet"]
OUTPUTS = ["out.json", "out.csv", "out.md", "out.tex", "out.txt", "out.jsonl", "out.parquet"]
OUTPUTS += ["out.png", "out.svg", "out.pdf", "out", "folder", "none/out.json", "/dev/null", ""]
OUTPUTS += ["$x_y$.png", "é.json", "p.jsonl", "out.doc", "\x1b[31m.csv"]


def mostly(good: list[str], *others: list[str]) -> st.SearchStrategy[str]:
    """Draw from the first list in nine of ten cases."""
    rest = [name for names in others for name in names]
    return st.sampled_from(range(10)).flatmap(lambda i: st.sampled_from(good if i else rest))


LABELS = st.one_of(
    *[st.just("2,1,0")] * 6,
    st.sampled_from(["2=1e308,1=1,0=-1e308", "2=1e-320,1=0,0=0", "2=nan,1=0", "2=" + LONG]),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(",".join),
)
GAINS = st.lists(mostly(EXTREMES, ["nan", LONG, "'1'"]), min_size=1, max_size=3)
WRITTEN = st.builds(
    "{}({}, {}){}".format,
    mostly(["DCG", "nDCG", "minmaxDCG"], ["LinearUtility", "{}"]),
    st.one_of(
        GAINS.map(lambda gains: f"[{', '.join(gains)}]"),
        GAINS.map(lambda gains: f"{{{', '.join(f'{2 - i}: {g}' for i, g in enumerate(gains))}}}"),
        st.sampled_from(["[2, 1, 0]", "{2: 1, 1: .5, 0: 0}", "{'$': 1, '\\x1b[31m': 0}"]),
    ),
    st.one_of(
        st.sampled_from(["log2", "zipf", "rbp(.8)", "rbp(1e-320)", "jk(1e308)", "linear(3)", "x"]),
        GAINS.map(lambda gains: f"[{', '.join(gains)}]"),
    ),
    mostly(["", " @ 2"], [" @ 0", " @ " + LONG, " @ 1e3"]),
)
MEASURES = st.one_of(
    mostly(PRESETS, MEASURE_FILES, BAD_FILES, ["nDCG(zipf) @ 3", "jk:1e308", "binary:" + LONG]),
    st.sampled_from(MEASURE_FILES),
    WRITTEN,
)
WORDS = {
    "BEST,...,WORST": LABELS,
    "GRADE,...": LABELS,
    "GRADES": st.one_of(st.sampled_from(["2,0,1", "0,2,1", "-,2"]), LABELS),
    "GRADE=GAIN,...": LABELS,
    "MEASURE": MEASURES,
    "usual|MEASURE|none": st.one_of(st.sampled_from(["usual", "none"]), MEASURES),
    "MEASURE...": MEASURES,
    "MEASURE|given": st.one_of(st.sampled_from(["given", "", "é$"]), MEASURES),
    "A,B": mostly(["run,other", "other,run"], ["", ",", "run", "run,run", "é$,run", LONG]),
    "JUDGMENTS": mostly(JUDGMENTS, BAD_FILES, QRELS),
    "JUDGMENTS|MEASURE": st.one_of(mostly(JUDGMENTS, BAD_FILES, QRELS), MEASURES),
    "QUESTIONS": mostly(["questions.jsonl"], BAD_FILES, JUDGMENTS),
    "RATINGS": mostly(RATINGS, BAD_FILES, JUDGMENTS),
    "FIELD": st.sampled_from(["rating", "stars", "query", "", *NAMES]),
    "QRELS": mostly(QRELS, BAD_FILES, JUDGMENTS),
    "RUN": mostly(RUNS, BAD_FILES, QRELS),
    "DOCUMENTS": mostly(SCORED, BAD_FILES, JUDGMENTS),
    "CONFIG": mostly(CONFIGS, BAD_FILES),
    "OUT": mostly(
        ["out.jsonl", "out.csv", "out.parquet", "out.json", "out.png", "out.html"], OUTPUTS
    ),
    "FOLDER": mostly(["results", "out"], ["folder", "p.jsonl", "/dev/null", ""]),
    "SYSTEM": mostly(["run", "other"], NAMES),
    "WHAT": mostly(
        ["everything", "gains", "gain 1", "discount 2", "linear-log2:exponential-log2"],
        ["", ":", "gain 9", "zipf", "zipf:zipf", "é$", LONG],
    ),
    "NAME=HALF": mostly(["gains=.05", "gain 1=.1"], ["", "=", "gains=0", "x=1", "gains=" + LONG]),
    "NAME,...": st.sampled_from(["99", "none", "", ",", "..", "é$", "\x1b[31m", LONG]),
    "FAMILY": mostly(
        ["linear", "free", "log2", "power:free", "decreasing", "exponential:2"],
        ["", "none", "power:", "rbp:2", "log:1", "power:" + LONG, "free:free"],
    ),
    "FIELD=COLUMN,...": mostly(
        ["a=b,b=a", "answer=answer", "query=judge"],
        ["", "=", "a", "a=", "x=a", "a=a,a=b", "a=é$", "a=" + LONG],
    ),
    "VALUE=ANSWER,...": mostly(
        ["a=b,b=a", "tie=out", "=tie"], ["", "=", "a=x", "a=a,a=b", "é$=a", LONG + "=a"]
    ),
    "VALUE,...": mostly(["-1", "-", "2"], ["", ",", "é$", LONG]),
    "NAME": mostly(["utf-8", "latin-1"], ["utf-9", "base64", "", "é$", LONG]),
    "worst|drop|GRADE": mostly(["worst", "drop", "1", "nothing"], ["", "9", "é$", "none", LONG]),
    "FILE.tex": mostly(["out.tex"], OUTPUTS),
    "column|page|INCHES": mostly(["column", "page", "5"], ["", "none"], NUMBERS),
    "C|cv": mostly(["1", "cv", ".5"], NUMBERS, ["1e300", "1e10"]),
    "N|tcp://HOST:PORT": st.sampled_from(["1", "0", "-1", "x", "9" * 25, "tcp://", "tcp://é:1"]),
}
"""What is given for each metavar of text."""

NAMED = {
    ("--qrels", "FILE"): WORDS["QRELS"],
    ("--run", "FILE"): WORDS["RUN"],
    ("--out", "FILE"): WORDS["OUT"],
    ("--figure", "FILE"): WORDS["OUT"],
    ("--documents", "FILE"): mostly(["texts.jsonl"], BAD_FILES, JUDGMENTS),
    ("--queries", "FILE"): mostly(["texts.jsonl"], BAD_FILES, JUDGMENTS),
    ("--instruction", "FILE"): mostly(["texts.jsonl"], BAD_FILES),
    ("--truth", "MEASURE"): MEASURES,
}


def _value(hint: Any, info: ParameterInfo, names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Return what may be given for one option or argument, right or wrong."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)] or [hint]
    if get_origin(hint) is Literal:
        return mostly([str(choice) for choice in get_args(hint)], ["", "é$", "none", LONG])
    if get_origin(kinds[0]) is Literal:
        return _value(kinds[0], info, names)
    if kinds[0] is int:
        return mostly(["2", "3", "7"], COUNTS)
    if kinds[0] is float:
        return mostly(["1", ".5", "0"], NUMBERS)
    metavar = info.metavar or ""
    for name in names:
        if (name, metavar) in NAMED:
            return NAMED[name, metavar]
    return WORDS[metavar]


def _parameters(command: Callable[..., Any]) -> list[tuple[str, Any, ParameterInfo]]:
    """Return the name, type and description of each parameter of a command."""
    found = []
    for name, hint in get_type_hints(command, include_extras=True).items():
        if name != "return" and get_args(hint):  # not the context
            bare, info = get_args(hint)[:2]
            found.append((name, bare, info))
    return found


def options_of(command: Callable[..., Any]) -> list[tuple[str, st.SearchStrategy[str] | None]]:
    """Return each option of a command with its values, None for one without a value."""
    found: list[tuple[str, st.SearchStrategy[str] | None]] = []
    for name, hint, info in _parameters(command):
        if not isinstance(info, ArgumentInfo):
            given = (info.default, *(info.param_decls or ()))  # the first, where a type has them
            names = tuple(one for one in given if isinstance(one, str))
            names = names or (f"--{name.replace('_', '-')}",)
            found.append((names[0], None if hint is bool else _value(hint, info, names)))
    return found


def arguments_of(command: Callable[..., Any]) -> list[st.SearchStrategy[list[str]]]:
    """Return the values of each argument of a command; those of a list are one to three."""
    found: list[st.SearchStrategy[list[str]]] = []
    for name, hint, info in _parameters(command):
        if not isinstance(info, ArgumentInfo):
            continue
        many = list in (get_origin(hint), *map(get_origin, get_args(hint)))
        one = _value(str if many else hint, info, (name,))
        optional = (
            inspect.signature(command).parameters[name].default is not inspect.Parameter.empty
        )
        least = 0 if optional else 1 + (command.__name__ == "coherence" and many)
        most = 3 if many else 1
        found.append(st.lists(one, min_size=least, max_size=most, unique=True))
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
    values = dict(options_of(command))
    most = draw(st.sampled_from([0, 1, 1, 2, 4]))
    chosen = draw(st.lists(st.sampled_from(sorted(values)), max_size=most, unique=True))
    for option in dict.fromkeys((*NEEDED.get(name, []), *chosen)):
        value = values[option]
        line += [option] if value is None else [option, draw(value)]
    wrong = draw(st.sampled_from([None] * 40 + ["--none", "extra", "--K=", "--", "-\x1b[31m"]))
    return [*line, *([] if wrong is None else [wrong])]


PAIR = '{"query": "q%d", "a": %s, "b": %s, "answer": "%s"}\n'


def write_files(place: Path) -> None:
    """Write files that commands can read, and files that none can."""
    lists = [("[2, 0, 1]", "[0, 2, 1]"), ("[1, 2, 0]", "[2, 1, 0]"), ("[2, 1, 1]", "[0, 0, 1]")]
    answers = ["a", "b", "a", "tie", "b", "a", "a"]
    good = "".join(PAIR % (i % 5, *lists[i % 3], answer) for i, answer in enumerate(answers * 3))
    named = PAIR % (1, '["a$b$c", "\\u001b[31m"]', '["\\u001b[31m", "a$b$c"]', "a")
    documents = PAIR % (1, '["d1", "d2"]', '["d2", "d1"]', "a")
    by_run = '{"query": "q", "run_a": "run", "run_b": "other", "answer": "b"}\n'
    strange = "\x1b[31m$x$<img>|\u202e日=1"
    row = "{} Q0 {} 1 {} {}\n"
    scores = (("q", "d1", 3), ("q", "d2", 2), ("q", "new", 1), ("r", "d1", 1))
    other = (("q", "d2", "1e308"), ("q", "d1", "-1e308"), ("r", "d3", "1e-320"))
    qrels = "q 0 d1 2\nq 0 d2 0\nq 0 d3 1\nr 0 d1 1\nr 0 d3 0\n"
    texts = {
        "p.jsonl": good,
        "$x_y$.jsonl": good,
        "named.jsonl": named,
        "documents.jsonl": documents * 3,
        "by_run.jsonl": by_run,
        "torn.jsonl": good[:-9],
        "empty": "",
        "empty.jsonl": "",
        "empty.parquet": "",
        "deep.jsonl": "[" * 100_000,
        "deep.json": '{"a":' * 100_000,
        "p.csv": 'query,a,b,answer,weight\nq,"2 0","0 2",a,1e-300\nr,"1 0","0 1",b,1e12\n',
        "qrels": qrels,
        "large": "q 0 d1 1023\nq 0 d2 1023\nq 0 d3 1023\nr 0 d1 0\n",
        "names": f"q 0 d1 {strange}\nq 0 d2 é\nr 0 d1 é\n",
        "qrels.json": '{"q": {"d1": 2, "d2": 0}, "r": {"d1": 1}}',
        "run": "".join(row.format(q, d, s, "run") for q, d, s in scores),
        "other": "".join(row.format(q, d, s, "other") for q, d, s in other),
        "strange": "".join(row.format(q, d, s, strange) for q, d, s in scores),
        "run.json": '{"q": {"d1": 1e308, "d2": -1e308}, "r": {"d1": 0}}',
        "letor": "2 qid:q 1:0.5 # d1\n0 qid:q 1:1e308\n1 qid:r 1:1\n",
        "scores": "0.5\n1e308\n-1\n",
        "scored.jsonl": "".join(
            json.dumps({"id": f"d{i}", "score": i / 4, "grade": (0, 1, 2, None)[i % 4]}) + "\n"
            for i in range(9)
        ),
        "scored.csv": "id,score,grade\nd1,3,2\nd2,1,0\nd3,0,\n",
        "extreme.csv": "score,grade\n1.7976931348623157e308,2\n-1e308,0\n5e-324,1\n",
        "rated.jsonl": "".join(
            json.dumps({"query": f"q{i % 3}", "grades": [i % 3, 0], "rating": i % 4, "judge": "j"})
            + "\n"
            for i in range(12)
        ),
        "rated.csv": "query,grades,score,weight\nq,2 0,1e308,1e-300\nq,1 0,-1e308,1e12\nq,0,,0\n",
        "$rated$.csv": "grades,stars\n2 0,1\n1 $,5e-324\n",
        "questions.jsonl": "".join(
            json.dumps(
                {"question": f"x-{i}", "query": "q", "a": [i, 0], "b": [1, None]}
                | ({"a_documents": ["d1", strange], "b_documents": ["d2", "é"]} if i else {})
            )
            + "\n"
            for i in range(3)
        ),
        "texts.jsonl": json.dumps({"id": "d1", "title": strange, "text": "é"}) + '\n{"id": "q"}\n',
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
    (place / "folder").mkdir()
    (place / "folder.parquet").mkdir()


def feed_pipe(path: Path, text: str) -> None:
    """Give a text to the first reader of a pipe."""
    try:
        with open(path, "wb") as pipe:  # noqa: PTH123 - waits for the reader
            pipe.write(text.encode())
    except BrokenPipeError:
        pass


def release_pipe(path: Path) -> None:
    """Let the writer of a pipe that nothing read go on."""
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
