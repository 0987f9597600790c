"""Time the evaluation of runs next to other evaluators, from files and from arrays.

``python3 scripts/benchmark_evaluators.py`` writes simulated qrels and runs of three shapes: one run
of 10,000 queries with 100 documents each; 63 gzip files of 53 queries with 1,000 documents, as
systems send them to TREC; and 63 gzip files of 477 queries with 100 documents, of which 53 queries
are judged. Every evaluator computes the mean nDCG@10 of each run from these files, one evaluator
after the other, in fresh processes. Each is first asked for the largest run alone, so that loading
and compiling are excluded, and then for all; the processor time of both cores counts as well.
Ratios are medians over rounds of what two evaluators took in the same round. Memory is what the
resident set grows by at most: for the largest run alone, and for all runs. ranx is asked once.

Then single steps of this package are timed: what a further measure adds, the same from arrays in
memory next to scikit-learn, and the measure object of ir_measures next to its own nDCG (processor
time of alternate calls), as medians. The tables go to ``results/benchmark/evaluators.md``.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import importlib.util
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from bootstrap import ROOT, prepare

if importlib.util.find_spec("dcglearn") is None:  # the same again, by the Python that has it
    _PYTHON = str(prepare("dev"))
    os.execv(_PYTHON, [_PYTHON, __file__, *sys.argv[1:]])  # noqa: S606 - no shell is wanted

import numpy as np

from dcglearn.base.files import write_text
from dcglearn.lab.provenance import made_with
from dcglearn.report.tables import Table

CUTOFF, SEED, ROUNDS = 10, 1, 3
PACKAGES = ("dcglearn", "pyarrow", "pytrec_eval-terrier", "ir_measures", "ranx", "scikit-learn")
COLUMNS = (
    "evaluator",
    "seconds",
    "times dcglearn",
    "processor seconds",
    "processor, times dcglearn",
    "MB, one run",
    "MB, all",
    "mean nDCG@10",
)


@dataclass(frozen=True)
class Shape:
    """Simulated qrels and runs: how many of each, and what they are called."""

    name: str
    runs: int
    queries: int
    judged: int
    documents: int
    suffix: str = ".gz"


def shapes(quick: bool) -> tuple[Shape, ...]:
    """Return the shapes that are timed."""
    runs = 3 if quick else 63
    return (
        Shape("one", 1, 100 if quick else 10_000, 100 if quick else 10_000, 100, ""),
        Shape("deep", runs, 53, 53, 1000),
        Shape("wide", runs, 477, 53, 100),
    )


def write_files(folder: Path, shape: Shape) -> None:
    """Write qrels of grades 0-3, of a third as many documents as are retrieved, and the runs."""
    rng = np.random.default_rng(SEED)
    pools = []
    for _ in range(shape.queries):
        numbers = rng.choice(10**9, 2 * shape.documents, replace=False)
        pools.append(np.array([f"clueweb12-{n // 10**5:04d}wb-{n % 10**5:05d}" for n in numbers]))
    n_judged = max(10, shape.documents // 3) if shape.runs > 1 else shape.documents
    grades = rng.choice(4, (shape.queries, n_judged), p=[0.7, 0.15, 0.1, 0.05])
    with (folder / "qrels").open("w") as file:
        for q in np.sort(rng.choice(shape.queries, shape.judged, replace=False)).tolist():
            rows = zip(pools[q], grades[q], strict=False)
            file.writelines(f"{q + 101} 0 {document} {grade}\n" for document, grade in rows)
    for number in range(shape.runs):
        lines = []
        for q, pool in enumerate(pools):
            quality = np.zeros(len(pool))
            quality[:n_judged] = 1 + grades[q]
            scores = np.round(quality + rng.normal(0, 1.5, len(pool)), 4)
            order = np.argsort(-scores, kind="stable")[: shape.documents]
            lines += [
                f"{q + 101} Q0 {document} {rank} {score} system{number}\n"
                for rank, (document, score) in enumerate(
                    zip(pool[order], scores[order].tolist(), strict=True), 1
                )
            ]
        content = "".join(lines).encode()
        path = folder / f"run{number:02d}{shape.suffix}"
        path.write_bytes(gzip.compress(content, 6) if shape.suffix else content)


def opened(path: Path) -> IO[str]:
    """Open a file of text that may be compressed."""
    return gzip.open(path, "rt") if path.suffix == ".gz" else path.open()


def this_package(qrels: Path, runs: list[Path]) -> list[float]:
    """Return this package's mean nDCG@10 of each run, with trec_eval's choices."""
    from dcglearn.evaluation.evaluate import evaluate

    found = evaluate(qrels, runs, f"nDCG(linear-log2) @ {CUTOFF}", rules="trec_eval")
    return [float(mean) for mean in found.means()[:, 0]]


def pytrec_eval(qrels: Path, runs: list[Path]) -> list[float]:
    """Return trec_eval's, by its Python binding."""
    import pytrec_eval

    with qrels.open() as file:
        judged = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {f"ndcg_cut.{CUTOFF}"})
    means = []
    for path in runs:
        with opened(path) as file:
            found = evaluator.evaluate(pytrec_eval.parse_run(file))
        means.append(statistics.fmean(one[f"ndcg_cut_{CUTOFF}"] for one in found.values()))
    return means


def ir_measures(qrels: Path, runs: list[Path]) -> list[float]:
    """Return ir_measures'."""
    import ir_measures

    measure = ir_measures.nDCG @ CUTOFF
    evaluator = ir_measures.evaluator([measure], ir_measures.read_trec_qrels(str(qrels)))
    return [
        float(evaluator.calc_aggregate(ir_measures.read_trec_run(str(path)))[measure])
        for path in runs
    ]


def ranx(qrels: Path, runs: list[Path]) -> list[float]:
    """Return ranx's."""
    from ranx import Qrels, Run, evaluate

    judged = Qrels.from_file(str(qrels), kind="trec")
    means = []
    for path in runs:
        run = Run.from_file(str(path), kind="gz" if path.suffix else "trec")
        means.append(float(evaluate(judged, run, f"ndcg@{CUTOFF}", make_comparable=True)))
    return means


EVALUATORS: dict[str, Callable[[Path, list[Path]], list[float]]] = {
    "dcglearn": this_package,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
}


@dataclass(frozen=True)
class Taken:
    """What one evaluator answered in one process, and what it took."""

    mean: float
    seconds: float
    processor: float
    alone: float
    together: float


def resident(field: str) -> float:
    """Return the resident set (VmRSS) or its largest size (VmHWM) in MB; Linux only."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith(field))


def in_child(answer: Connection, name: str, folder: Path) -> None:
    """Evaluate the largest run, then all of them."""
    for module in ("pyarrow.csv", "pyarrow.compute") if name == "dcglearn" else (name,):
        importlib.import_module(module)
    runs = sorted(folder.glob("run*"))
    largest = max(runs, key=lambda path: path.stat().st_size)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the largest size so far is forgotten
    EVALUATORS[name](folder / "qrels", [largest])
    alone = resident("VmHWM") - before
    begin, processor = time.perf_counter(), time.process_time()
    means = EVALUATORS[name](folder / "qrels", runs)
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    together = resident("VmHWM") - before
    answer.send(Taken(statistics.fmean(means), seconds, processor, alone, together))


def taken(name: str, folder: Path) -> Taken:
    """Return an evaluator's answer and what it took, from a fresh process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=in_child, args=(there, name, folder))
    child.start()
    there.close()
    try:
        answer: Taken = here.recv()
    finally:
        child.join()
    return answer


def from_files(folder: Path, rounds: int) -> list[tuple[Any, ...]]:
    """Time every evaluator, round by round, and compare their answers."""
    found: dict[str, list[Taken]] = {name: [] for name in EVALUATORS}
    for number in range(rounds):
        for name in EVALUATORS:
            if name != "ranx" or not number:  # it compiles for a quarter of a minute first
                found[name].append(taken(name, folder))
    own = found["dcglearn"]
    rows: list[tuple[Any, ...]] = []
    for name, every in found.items():
        if name != "ranx" and abs(every[0].mean - own[0].mean) > 1e-9:
            raise SystemExit(f"{name} says another nDCG")
        pairs = list(zip(every, own, strict=False))
        rows.append(
            (
                name,
                f"{statistics.median(one.seconds for one in every):.2f}",
                f"{statistics.median(one.seconds / ours.seconds for one, ours in pairs):.1f}",
                f"{statistics.median(one.processor for one in every):.2f}",
                f"{statistics.median(one.processor / ours.processor for one, ours in pairs):.1f}",
                f"{statistics.median(one.alone for one in every):.0f}",
                f"{statistics.median(one.together for one in every):.0f}",
                f"{every[0].mean:.6f}",
            )
        )
    return rows


def warm(function: Callable[[], Any], times: int = 15) -> float:
    """Return the median seconds of a function that is called again and again."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        function()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def alternating(
    first: Callable[[], Any], second: Callable[[], Any], times: int = 25
) -> tuple[float, float, float]:
    """Return median processor seconds of two functions, and the median ratio of the second."""
    seconds = np.empty((times, 2))
    for row in seconds:
        for i, function in enumerate((first, second)):
            begin = time.process_time()
            function()
            row[i] = time.process_time() - begin
    own, theirs = np.median(seconds, axis=0).tolist()
    return own, theirs, float(np.median(seconds[:, 1] / seconds[:, 0]))


def steps(folder: Path, whole: float) -> list[tuple[Any, ...]]:
    """Time a further measure, arrays next to scikit-learn, and an object of ir_measures."""
    from sklearn.metrics import ndcg_score

    from dcglearn.collections.join import index_qrels
    from dcglearn.collections.runs import read_qrels, read_run
    from dcglearn.evaluation.from_arrays import ranked_arrays
    from dcglearn.evaluation.lookup import look_up
    from dcglearn.evaluation.ranked import score_runs
    from dcglearn.measures.dcg import DCG

    known = index_qrels(read_qrels(folder / "qrels"))
    ranked = look_up(read_run(folder / "run00"), known).ranked
    measure = DCG([3, 2, 1, 0], "log2", CUTOFF, "ideal")
    score_runs(measure, ranked)
    further = warm(lambda: score_runs(measure, ranked))
    rng = np.random.default_rng(SEED)
    n = len(known.queries)
    grades = rng.integers(0, 4, (n, 100))
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
        *objects(),
    ]


def objects() -> list[tuple[Any, ...]]:
    """Time the measure object of ir_measures next to its own nDCG, for each form of input."""
    import ir_measures
    import pandas as pd

    from dcglearn.interop.metrics import ir_measure
    from dcglearn.measures.dcg import DCG

    rng = np.random.default_rng(SEED)
    asked = ir_measure(DCG({3: 3, 2: 2, 1: 1, 0: 0}, "log2", CUTOFF, "ideal"), "docid")
    plain = ir_measures.nDCG @ CUTOFF
    rows: list[tuple[Any, ...]] = []
    for queries, documents in ((100, 100), (50, 1000)):
        qrels = [
            ir_measures.Qrel(str(q), f"clueweb12-{q:04d}wb-{d:05d}", int(rng.integers(4)))
            for q in range(queries)
            for d in range(documents // 2)
        ]
        run = [
            ir_measures.ScoredDoc(str(q), f"clueweb12-{q:04d}wb-{d:05d}", float(score))
            for q in range(queries)
            for d, score in enumerate(np.round(rng.normal(size=documents), 3))
        ]
        nested: dict[str, dict[str, float]] = {str(q): {} for q in range(queries)}
        judged: dict[str, dict[str, int]] = {str(q): {} for q in range(queries)}
        for scored in run:
            nested[scored.query_id][scored.doc_id] = scored.score
        for one in qrels:
            judged[one.query_id][one.doc_id] = one.relevance
        forms: dict[str, tuple[Any, Any]] = {
            "dicts": (judged, nested),
            "tuples": (qrels, run),
            "frames": (pd.DataFrame(qrels), pd.DataFrame(run)),
        }
        for form, inputs in forms.items():
            own, theirs, ratio = alternating(
                partial(ir_measures.calc_aggregate, [asked], *inputs),
                partial(ir_measures.calc_aggregate, [plain], *inputs),
            )
            name = f"object of ir_measures, {queries} x {documents}, {form}, seconds"
            rows.append((name, round(own, 4), None))
            rows.append(("... its own nDCG", round(theirs, 4), round(ratio, 1)))
    return rows


def main() -> None:
    """Run everything and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="small files, one round")
    parser.add_argument("--rounds", type=int, help=f"how many ({ROUNDS})")
    parser.add_argument("--out", default=str(ROOT / "results" / "benchmark" / "evaluators.md"))
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.quick else ROUNDS)
    load = [os.getloadavg()[0]]
    tables = []
    with tempfile.TemporaryDirectory() as place:
        for shape in shapes(options.quick):
            folder = Path(place, shape.name)
            folder.mkdir()
            write_files(folder, shape)
            rows = from_files(folder, rounds)
            runs = "a file" if shape.runs == 1 else f"{shape.runs} gzip files"
            judged = "" if shape.judged == shape.queries else f", {shape.judged} of them judged,"
            title = (
                f"From {runs} of {shape.queries:,} queries{judged} x {shape.documents:,} documents "
                f"to the mean nDCG@{CUTOFF}: medians of {rounds} rounds"
            )
            tables.append(Table(COLUMNS, rows, title))
            load.append(os.getloadavg()[0])
            print(tables[-1].text() + "\n", flush=True)
        rest = steps(Path(place, "one"), float(tables[0].rows[0][1]))
    tables.append(Table(("step", "seconds or share", "times dcglearn"), rest, "Single steps", 4))
    print(tables[-1].text())
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    busy = ", ".join(f"{one:.1f}" for one in load)
    cores = f"{os.cpu_count()} cores, load before and after each table {busy}"
    made = f"{cores}; {versions}; revision {made_with()['revision']}"
    body = "\n\n".join(table.markdown() for table in tables)
    write_text(options.out, f"# Evaluating runs\n\n{body}\n\n{made}\n")


if __name__ == "__main__":
    main()
