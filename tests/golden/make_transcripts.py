"""Make ``transcripts/``: what the commands that read judgments say, of good and of bad input.

Each line of the standard output begins with ``>``, each of the standard error with ``!``. Numbers
with decimals and the place of this repository are masked, and of long output the beginning is kept.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "transcripts"
sys.path.insert(0, str(FOLDER.parents[1]))

from helpers.commands import run_commands  # noqa: E402 - after its place is known

MOST_LINES, MOST_OF_SYSTEMS = 8, 16


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
    "trec_other": "q9 Q0 d1 1 1 other\n",
    "trec_twice": "q1 Q0 d1 1 2 twice\nq1 Q0 d1 2 1 twice\n",
}
GOOD_FIRST = ["good.jsonl", "answer.csv", "no_such.csv"]
INSPECTED = [
    name for name in FILES if not name.startswith(("documents", "qrels", "rated", "scored", "trec"))
]
LOOKED_UP = ["documents.csv", "--qrels", "qrels"]
ONE, TWO = ["trec_qrels", "trec_one"], ["trec_qrels", "trec_one", "trec_two"]
GRADES = ["--scale", "3,2,1,0"]
COMMANDS: dict[str, list[list[str]]] = {
    "inspect": [
        *([name] for name in INSPECTED),
        ["export.csv", "good.jsonl"],
        ["export.csv", "export.csv"],
        ["export.csv", "--columns", "b=anwser"],
        ["export.csv", "--columns", "anwser=b"],
        ["export.csv", "--columns", "a:left"],
        ["export.csv", "--answers", "left=a,right=b"],
        ["export.csv", "--answers", "left=A"],
        ["export.csv", "--strict"],
        ["export.csv", "--scale", "1,0"],
        ["export.csv", "--K", "2"],
        ["names.csv", "--scale", "best,good,bad"],
        ["null.jsonl", "--unjudged", "drop"],
        ["null.jsonl", "--unjudged", "best"],
        ["minus.csv", "--null-values", "-1"],
        ["numbers.csv", "--answers", "1=a,0=b"],
        ["raters.csv", "--columns", "answer=ann+bob"],
        ["systems.csv", "--columns", "left_system=x,right_system=y"],
        ["shuffled.csv", "--columns", "a_shown_on=a_was"],
        ["encoding.csv", "--encoding", "latin-1"],
        ["encoding.csv", "--encoding", "latin-9000"],
        LOOKED_UP,
        [*LOOKED_UP, "--unjudged", "drop"],
        ["good.jsonl", "--qrels", "qrels"],
        ["good.jsonl", "--run", "run"],
    ],
    "fit": [[name, "-o", "fit.json"] for name in GOOD_FIRST],
    "agree": [[name, "zipf", "linear-log2"] for name in GOOD_FIRST],
    "compare": [[name, "--repeats", "2"] for name in GOOD_FIRST],
    "test": [*([name] for name in GOOD_FIRST), ["good.jsonl", "--by", "segment"]],
    "study": [[name] for name in GOOD_FIRST],
    "pack": [
        *([name, "packed.parquet"] for name in GOOD_FIRST),
        ["packed.parquet", "again.parquet"],
    ],
    "pairs": [
        [name, "-o", "pairs.jsonl"] for name in ("rated.csv", "rated_in_words.csv", "export.csv")
    ],
    "simulate": [["simulated.csv", "-n", "5"], ["simulated.txt", "-n", "5"], ["x.csv", "-n", "0"]],
    "evaluate": [
        ONE,
        [*TWO, "-m", "zipf"],
        [*TWO, "-m", "zipf", "--compare", "all"],
        [*TWO, "-m", "zipf", "--topics", ".02"],
        [*TWO, "-m", "zipf", "--unjudged", "bounds"],
        [*TWO, "-m", "DCG({2: 2, 1: 1, 0: -1}, log2)", "--unjudged", "worst"],
        [*ONE, "-m", "nDCG({2: 2, 1: 1, 0: -1}, log2)", "-m", "nDCG(binary)"],
        [*ONE, "-m", "ERR@2", "-m", "RBP", "-m", "RR(rel=9)"],
        [*ONE, "-m", "zipf", "--like", "trec_eval", "--ties", "mean"],
        [*ONE, "-m", "zipf", "--per-query"],
        ["trec_qrels", "trec_tied", "-m", "zipf", "--like", "ranx"],
        ["trec_qrels", "trec_tied", "-m", "zipf"],
        ["trec_one", "trec_qrels"],
        ["trec_qrels", "trec_qrels"],
        *(["trec_qrels", name] for name in ("trec_other", "trec_twice", "no_such")),
        [*ONE, "trec_one"],
        *([*ONE, "-m", name] for name in ("zip", "P", "DCG({2: 2, 1: 1}, log2)", "gm_map")),
        [*ONE, "--like", "trec-eval"],
        [*ONE, "--worthless", "2"],
        [*ONE, "--scale", "1,0"],
        [*TWO, "--baseline", "on"],
        [*TWO, "--compare", "all", "--test", "none"],
        [*TWO, "--compare", "all", "--baseline", "one"],
        [*TWO, "--compare", "all", "--unjudged", "bounds"],
    ],
    "coherence": [
        TWO,
        [*TWO, "--between", "one,two", "--K", "2"],
        [*TWO, "--like", "trec_eval", "-m", "zipf @ 1"],
        ["trec_qrels", "trec_one", "trec_tied", "--like", "sklearn"],
        ONE,
        *([*TWO, "--between", pair] for pair in ("one,tow", "one", "one,one")),
        *([*TWO, "-m", name] for name in ("minmaxDCG(zipf)", "zipf @ 12", "AP")),
        [*TWO, "-m", "LinearUtility([[1, 0, 0]])"],
        [*TWO, "--unjudged", "bounds"],
        [*TWO, "-o", "x.gif"],
    ],
    "explain": [
        ["linear-log2", "zipf", *GRADES, "--a", "2,0,-", "--b", "0,2,2"],
        ["linear-log2", "exponential-log2", *GRADES],
        ["linear-log2", "constant", "--scale", "1,0", "--K", "1"],
        ["linear-log2 @ 3", "nDCG(linear-log2)", *GRADES],
        ["DCG([1, 0], zipf)", "LinearUtility([[1, 0], [5, 0]])"],
        ["linear-log2", "zipf"],
        ["linear-log2", "zip", *GRADES],
        ["linear-log2", "zipf", *GRADES, "--a", "1"],
        ["linear-log2", "zipf", *GRADES, "--a", "1", "--b", "5"],
        ["linear-log2", "zipf", *GRADES, "--K", "101"],
        ["DCG([2, 1, 0], zipf)", "DCG([1, 0], zipf)"],
        ["none.json", "zipf"],
    ],
    "export": [
        *(["linear-log2", "--to", tool, "--scale", "2,1,0"] for tool in ("trec_eval", "ranx")),
        ["nDCG({2: 1, 1: 0.65, 0: 0}, log2) @ 10", "--to", "ir_measures"],
        ["nDCG({2: 1, 1: 0.65, 0: 0}, log2) @ 10", "--to", "ir_measures", "--labels", "4,1,0"],
        ["zipf", "--to", "json", "--scale", "1,0", "--K", "2"],
        ["zipf", "--to", "json"],
        ["nDCG(zipf)", "--to", "json"],
        ["DCG([1, 0], zipf)", "--to", "trec_eval"],
        ["DCG([1, 0], zipf)", "--to", "lightgmb"],
        ["DCG([1, 0], log2)", "--to", "json", "--scale", "2,1,0"],
        ["DCG([1, 0], log2)", "--to", "json", "-o", "no/such"],
        ["LinearUtility([[1, 0]])", "--to", "ranx"],
    ],
    "threshold": [[name] for name in ("scored.csv", "scored_in_words.csv", "export.csv")],
}  # fmt: skip


def transcripts() -> dict[str, str]:
    """Return the transcript of each command."""
    every = [[name, *words] for name, runs in COMMANDS.items() for words in runs]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            Path(folder, name).write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
        done = run_commands(every, folder)
    found = dict.fromkeys(COMMANDS, "")
    for one in done:
        said = [f"$ dcglearn {' '.join(one.args)}", f"exit code {one.returncode}"]
        most = MOST_OF_SYSTEMS if one.args[0] in ("evaluate", "coherence") else MOST_LINES
        for mark, stream in ((">", one.stdout), ("!", one.stderr)):
            lines = [masked(line, folder) for line in stream.splitlines()]
            said += [f"{mark} {line}".rstrip() for line in lines[:most]]
            said += [f"{mark} ..."] * (len(lines) > most)
        found[one.args[0]] += "\n".join(said) + "\n\n"
    return found


def masked(line: str, folder: str) -> str:
    """Return a line without numbers that may differ in their last digits."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", "#", line.replace(folder, "FOLDER"))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in transcripts().items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
