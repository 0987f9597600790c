"""Time the evaluation of runs next to other evaluators, from files and from arrays.

``python3 scripts/benchmark_evaluators.py`` writes simulated qrels and a run of 10,000 queries
with 100 documents each. Every evaluator computes the mean nDCG@10 of these files, one after the
other, in fresh processes. Each is asked twice and the second time counts, so that loading and
compiling are excluded. Then single steps of this package are timed: what a further measure adds,
and the same from arrays in memory next to scikit-learn, as medians of consecutive calls. The table
goes to ``results/benchmark/evaluators.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bootstrap import ROOT, prepare

if importlib.util.find_spec("dcglearn") is None:  # the same again, by the Python that has it
    _PYTHON = str(prepare("dev"))
    os.execv(_PYTHON, [_PYTHON, __file__, *sys.argv[1:]])  # noqa: S606 - no shell is wanted

import numpy as np

from dcglearn.files.files import write_text
from dcglearn.lab.provenance import made_with
from dcglearn.report.tables import Table

QUERIES, DOCUMENTS, CUTOFF, SEED, ROUNDS = 10_000, 100, 10, 1, 3
PACKAGES = ("dcglearn", "pyarrow", "pytrec_eval-terrier", "ir_measures", "ranx", "scikit-learn")


def write_files(folder: Path, queries: int) -> None:
    """Write qrels of grades 0-3 and a run that ranks the same documents, with some ties."""
    rng = np.random.default_rng(SEED)
    grades = rng.choice(4, (queries, DOCUMENTS), p=[0.7, 0.15, 0.1, 0.05])
    scores = np.round(grades + rng.normal(0, 1.5, grades.shape), 4)
    order = np.argsort(-scores, axis=1, kind="stable")
    with (folder / "qrels").open("w") as judged, (folder / "run").open("w") as ranked:
        for q in range(queries):
            judged.writelines(f"q{q} 0 doc{q}-{d} {grades[q, d]}\n" for d in range(DOCUMENTS))
            ranked.writelines(
                f"q{q} Q0 doc{q}-{d} {rank} {scores[q, d]} made\n"
                for rank, d in enumerate(order[q], 1)
            )


def this_package(folder: Path) -> float:
    """Return this package's mean nDCG@10, with trec_eval's choices."""
    from dcglearn.evaluation.evaluate import evaluate

    measure = f"nDCG(linear-log2) @ {CUTOFF}"
    found = evaluate(folder / "qrels", folder / "run", measure, rules="trec_eval")
    return float(found.means()[0, 0])


def pytrec_eval(folder: Path) -> float:
    """Return trec_eval's, by its Python binding."""
    import pytrec_eval

    with (folder / "qrels").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with (folder / "run").open() as file:
        run = pytrec_eval.parse_run(file)
    found = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{CUTOFF}"}).evaluate(run)
    return statistics.fmean(one[f"ndcg_cut_{CUTOFF}"] for one in found.values())


def ir_measures(folder: Path) -> float:
    """Return ir_measures'."""
    import ir_measures

    qrels = ir_measures.read_trec_qrels(str(folder / "qrels"))
    run = ir_measures.read_trec_run(str(folder / "run"))
    measure = ir_measures.nDCG @ CUTOFF
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])


def ranx(folder: Path) -> float:
    """Return ranx's."""
    from ranx import Qrels, Run, evaluate

    qrels = Qrels.from_file(str(folder / "qrels"), kind="trec")
    run = Run.from_file(str(folder / "run"), kind="trec")
    return float(evaluate(qrels, run, f"ndcg@{CUTOFF}"))


EVALUATORS: dict[str, Callable[[Path], float]] = {
    "dcglearn": this_package,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
}


def in_child(answer: Connection, name: str, folder: Path) -> None:
    """Evaluate twice; send what was found, and the seconds of the second time."""
    EVALUATORS[name](folder)
    begin = time.perf_counter()
    found = EVALUATORS[name](folder)
    answer.send((found, time.perf_counter() - begin))


def timed(name: str, folder: Path) -> tuple[float, float]:
    """Return an evaluator's answer and seconds, from a fresh process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=in_child, args=(there, name, folder))
    child.start()
    there.close()
    try:
        answer: tuple[float, float] = here.recv()
    finally:
        child.join()
    return answer


def from_files(folder: Path) -> list[tuple[Any, ...]]:
    """Time every evaluator, round by round, and compare their answers."""
    seconds: dict[str, list[float]] = {name: [] for name in EVALUATORS}
    answers = {}
    for _ in range(ROUNDS):
        for name in EVALUATORS:
            answers[name], took = timed(name, folder)
            seconds[name].append(took)
    own = statistics.median(seconds["dcglearn"])
    return [
        (
            name,
            round(statistics.median(took), 3),
            round(statistics.median(took) / own, 1),
            answers[name],
        )
        for name, took in seconds.items()
    ]


def warm(function: Callable[[], Any], times: int = 15) -> float:
    """Return the median seconds of a function that is called again and again."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        function()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def steps(folder: Path, whole: float) -> list[tuple[Any, ...]]:
    """Time what a further measure adds, and arrays in memory next to scikit-learn."""
    from sklearn.metrics import ndcg_score

    from dcglearn.collection.qrels_index import index_qrels
    from dcglearn.collection.qrels_runs import read_qrels, read_run
    from dcglearn.evaluation.from_arrays import ranked_arrays
    from dcglearn.evaluation.lookup import look_up
    from dcglearn.evaluation.ranked import score_runs
    from dcglearn.measures.dcg import DCG

    known = index_qrels(read_qrels(folder / "qrels"))
    ranked = look_up(read_run(folder / "run"), known).ranked
    measure = DCG([3, 2, 1, 0], "log2", CUTOFF, "ideal")
    score_runs(measure, ranked)
    further = warm(lambda: score_runs(measure, ranked))
    rng = np.random.default_rng(SEED)
    n = len(known.queries)
    grades = rng.integers(0, 4, (n, DOCUMENTS))
    scores = rng.random(grades.shape)

    def arrays() -> float:
        return float(score_runs(measure, ranked_arrays(3 - grades, scores, 4, CUTOFF)).mean())

    def sklearn() -> float:
        return float(ndcg_score(grades, scores, k=CUTOFF, ignore_ties=True))

    own, theirs = warm(arrays), warm(sklearn)
    if abs(arrays() - sklearn()) > 1e-9:
        raise SystemExit("scikit-learn says another nDCG")
    return [
        ("a further measure, seconds", round(further, 4), None),
        ("... as a share of the time from files", round(further / whole, 4), None),
        ("arrays in memory, seconds", round(own, 4), None),
        ("scikit-learn, ignore_ties, seconds", round(theirs, 4), round(theirs / own, 1)),
    ]


def main() -> None:
    """Run everything and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--queries", type=int, default=QUERIES, help="how many (10,000)")
    parser.add_argument("--out", default=str(ROOT / "results" / "benchmark" / "evaluators.md"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder, options.queries)
        rows = from_files(folder)
        rest = steps(folder, rows[0][1])
    files = Table(
        ("evaluator", "seconds", "times dcglearn", "mean nDCG@10"),
        rows,
        f"From files to the mean nDCG@{CUTOFF}: {options.queries:,} queries x {DOCUMENTS} "
        f"documents, median of {ROUNDS} warm runs in fresh processes",
        6,
    )
    single = Table(("step", "seconds or share", "times dcglearn"), rest, "Single steps", 4)
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    made = f"{versions}; revision {made_with()['revision']}"
    text = f"# Evaluating runs\n\n{files.markdown()}\n\n{single.markdown()}\n\n{made}\n"
    write_text(options.out, text)
    print(files.text() + "\n\n" + single.text())


if __name__ == "__main__":
    main()
