"""Compare Newton's method with other solvers: seconds, memory and accuracy as pairs grow.

``python3 scripts/benchmark.py`` solves simulated problems of 10^2, 10^3, ... pairs. Each run has
its own process, so that its memory can be measured, and becomes one line of
``results/benchmark/runs.csv``; running the script again adds what is missing. ``README.md``
and ``figure.svg`` next to it are made from these lines alone (``--report`` does only that).
``--files`` times the way from a file to its DCG (``benchmark_reading.py``).
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import importlib.util
import io
import itertools
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from bootstrap import ROOT, prepare

if importlib.util.find_spec("dcglearn") is None:  # run again with the Python that has it
    _PYTHON = str(prepare())
    os.execv(_PYTHON, [_PYTHON, __file__, *sys.argv[1:]])  # noqa: S606 - no shell is wanted

import numpy as np
import pandas as pd

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.files import check_writable, read_text
from dcglearn.base.types import Pairs
from dcglearn.judgments.packed import ROW_GROUP_SIZE, PackedPairs, packed_writer
from dcglearn.lab.provenance import made_with
from dcglearn.learning.certificate import certify
from dcglearn.learning.problem import Problem
from dcglearn.learning.record import Certificate
from dcglearn.learning.solve import Solution, SolverName, solve
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale
from dcglearn.simulation.judges import flip_pairs, true_pairs
from dcglearn.simulation.lists import drawn_lists

SIZES = tuple(10**power for power in range(2, 9))
SHAPES = ((10, 5), (5, 3), (100, 5))  # (K, L)
KINDS = tuple(itertools.product(SHAPES, (1.0, 100.0), (0.1, 0.0)))  # shape, C, share reversed
QUICK, MOST, BUDGET = 10**4, 10**7, 600.0
FILES_ROWS = 10**6  # judgments of the files whose reading is timed
BATCH = 1 << 16  # pairs drawn at a time
SHORT = 5.0  # runs of fewer seconds are repeated three times, and the median counts
PACKAGES = ("dcglearn", "numpy", "scipy", "cvxpy", "osqp", "clarabel", "scikit-learn")
CASE = ("n", "K", "L", "C", "flipped")
COLUMNS = (
    *("solver", *CASE, "solved", "ended", "seconds", "pair_bytes", "cores", "python", "packages"),
    *("revision", "repeats", "steps", "peak_bytes", "objective", "relative_gap", "residual"),
    "bandwidth",
)

Answer = tuple[str, int, Callable[[], Certificate]]  # how it ended, steps, its certificate


class Case(NamedTuple):
    """A problem that all solvers are given: n pairs, a share of which is reversed."""

    n: int
    K: int
    L: int
    C: float
    flipped: float


# The solvers: each makes the data of a case and returns the function that is timed.


def draw_batches(case: Case) -> Iterator[Pairs]:
    """Draw lists of uniform grades, ordered by a linear DCG over log2, some of them reversed."""
    rng = np.random.default_rng(1)
    truth, left = DCG(list(range(case.L, 0, -1)), "log2"), case.n
    while left:
        lists = drawn_lists(BATCH, case.K, [1 / case.L] * case.L, rng)
        pairs = true_pairs(truth, lists)[:left]
        yield flip_pairs(pairs, round(case.flipped * len(pairs)), rng)
        left -= len(pairs)


def simulated_pairs(case: Case) -> Pairs:
    """Return the pairs of a case, shape (n, 2, K)."""
    pairs, begin = np.empty((case.n, 2, case.K), np.int8), 0
    for batch in draw_batches(case):
        pairs[begin : begin + len(batch)] = batch
        begin += len(batch)
    return pairs


def answer_of(solution: Solution) -> Answer:
    """Return what is recorded of a solution of this package."""
    ended = solution.status + (", polished" if solution.polished else "")
    return ended, solution.iterations, lambda: solution.certificate


def package_solver(case: Case, name: SolverName) -> Callable[[], Answer]:
    """Solve with this package: checks, encoding, optimum and certificate."""
    pairs = simulated_pairs(case)
    return lambda: answer_of(solve(Problem.of(pairs, case.L, C=case.C), name))


def streamed_solver(case: Case) -> Callable[[], Answer]:
    """Solve packed pairs in a file, which are read again at every pass."""
    folder = tempfile.TemporaryDirectory()
    path, batches = Path(folder.name) / "pairs.parquet", draw_batches(case)
    with packed_writer(path, Scale(tuple(range(case.L, 0, -1)))) as write:
        while group := list(itertools.islice(batches, -(-ROW_GROUP_SIZE // BATCH))):
            write(np.concatenate(group))

    def run() -> Answer:
        file = Path(folder.name) / path.name  # the folder exists as long as this function
        return answer_of(solve(Problem.packed(PackedPairs.of(file), C=case.C), "newton"))

    return run


def linear_svc(case: Case) -> Callable[[], Answer]:
    """Solve with LinearSVC: |w|^2 / 2 + C/2 sum hinge^2 without monotone constraints.

    It needs two classes, so every other row of X is negated and labelled -1. The primal method
    is the fast one for n >> K L.
    """
    from scipy.sparse import csr_array
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    pairs, (n, K, L) = simulated_pairs(case), case[:3]
    labels = np.where(np.arange(n) % 2, -1.0, 1.0)
    svc = LinearSVC(loss="squared_hinge", dual=False, fit_intercept=False, C=case.C / 2, tol=1e-8)

    def judge() -> Certificate:
        free = Problem.of(pairs, L, C=case.C, monotone=False)
        return certify(free, svc.coef_.reshape(K, L))[1]

    def run() -> Answer:
        begin = time.perf_counter()
        columns = (np.arange(0, K * L, L, dtype=np.int32) + pairs).ravel()
        data = (labels[:, None] * np.repeat([1.0, -1.0], K)).ravel()
        rows = np.arange(0, 2 * K * n + 1, 2 * K, dtype=np.int32)
        X = csr_array((data, columns, rows), (n, K * L))
        X.sum_duplicates()
        made = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the duality gap shows it
            svc.fit(X, labels)
        ended = "step limit" if svc.n_iter_ >= svc.max_iter else "converged"
        share = (made - begin) / (time.perf_counter() - begin)
        return f"{ended}; making X was {share:.0%}", int(svc.n_iter_), judge

    return run


SOLVERS: dict[str, Callable[[Case], Callable[[], Answer]]] = {
    "newton": partial(package_solver, name="newton"),
    "osqp": partial(package_solver, name="osqp"),
    "clarabel": partial(package_solver, name="clarabel"),
    "linear-svc": linear_svc,
    "newton-streamed": streamed_solver,
}
LARGEST = {"newton": 5e9, "osqp": 5e7, "clarabel": 5e7, "linear-svc": 5e8, "newton-streamed": 5e9}
"""n K L up to which a solver is tried: more does not fit into a usual memory."""
SMALLEST = {"newton-streamed": 10**6}


# One run


def run_in_child(results: Connection, name: str, case: Case, budget: float) -> None:
    """Solve one case; send None once its data exist, then the columns that the run measures."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    with contextlib.suppress(SolverError):  # load the libraries before anything is timed
        SOLVERS[name](case._replace(n=20))()
    run = SOLVERS[name](case)
    if sys.platform == "linux":  # release free memory, then reset the peak
        with contextlib.suppress(OSError, AttributeError):  # not every libc and kernel has them
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5")
    held = resident_bytes("VmRSS")
    results.send(None)
    answer, seconds = timed(run)
    row: dict[str, Any] = {"solved": False, "seconds": seconds, "repeats": 1}
    row["peak_bytes"] = held and resident_bytes("VmHWM") - held
    if isinstance(answer, Exception):
        reason = str(answer).partition("|W|): ")[2] or type(answer).__name__
        results.send(row | {"ended": reason.partition(", |W - W*|")[0][:100].replace("\n", " ")})
        return
    again = 2 if seconds < min(SHORT, budget / 4) else 0
    row["seconds"] = statistics.median([seconds, *(timed(run)[1] for _ in range(again))])
    ended, steps, judge = answer
    found, numbers = judge(), np.ones(1 << 25)
    bandwidth = numbers.nbytes / min(timed(numbers.sum)[1] for _ in range(3))
    row |= {"solved": True, "ended": ended, "repeats": 1 + again, "steps": steps}
    row |= {"objective": found.objective, "relative_gap": found.gap / found.objective}
    results.send(row | {"residual": found.residual, "bandwidth": bandwidth})


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return the answer, or the error instead of it, and the seconds."""
    begin = time.perf_counter()
    try:
        answer = run()
    except (SolverError, MemoryError) as error:
        answer = error
    return answer, time.perf_counter() - begin


def resident_bytes(key: str) -> int:
    """Return the resident memory of this process (VmRSS) or its peak (VmHWM); Linux only."""
    with contextlib.suppress(OSError):  # no /proc: memory is reported as 0
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return 0


def measure(name: str, case: Case, budget: float) -> dict[str, Any]:
    """Run one solver on one case in a process of its own, which is stopped at the budget."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=run_in_child, args=(there, name, case, budget))
    child.start()
    there.close()
    begin = time.perf_counter()
    result: dict[str, Any] = {"solved": False, "ended": "stopped: too slow", "seconds": budget}
    try:
        here.recv()  # the data exist
        begin = time.perf_counter()
        if here.poll(budget):
            result = here.recv()
    except EOFError:
        child.join()
        result["ended"] = f"stopped: the process ended with {child.exitcode}"  # -9: memory, perhaps
        result["seconds"] = time.perf_counter() - begin
    finally:
        child.kill()
        child.join()
    made = made_with()
    packages = " ".join(f"{package} {made['versions'][package]}" for package in PACKAGES)
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    machine = {"cores": cores, "python": made["python"], "packages": packages}
    about = case._asdict() | {"solver": name, "pair_bytes": 2 * case.n * case.K} | machine
    return about | {"revision": made["revision"]} | result


# All runs


def run_missing(cases: list[Case], solvers: list[str], budget: float, path: Path) -> None:
    """Run what runs.csv does not have, and append one line per run."""
    rows = read_runs(path).to_dict("records")
    done = {(Case(*(row[key] for key in CASE)), row["solver"]): row for row in rows}
    for case, name in itertools.product(cases, solvers):
        smaller = done.get((case._replace(n=case.n // 10), name))
        if (case, name) in done or not worth_trying(name, case, smaller, budget):
            continue
        row = done[case, name] = measure(name, case, budget)
        line = io.StringIO()
        if not path.exists() or not path.stat().st_size:
            csv.writer(line, lineterminator="\n").writerow(COLUMNS)
        elif not path.read_bytes().endswith(b"\n"):  # the last line was cut short
            line.write("\n")
        csv.writer(line, lineterminator="\n").writerow([row.get(key) for key in COLUMNS])
        with path.open("ab") as file:
            file.write(line.getvalue().encode())
        print(f"{case}: {name} {row['seconds']:.3g} s, {row['ended']}", flush=True)


def worth_trying(name: str, case: Case, smaller: Any, budget: float) -> bool:
    """Whether a solver should end in time, if ten times the pairs take ten times as long."""
    smallest = SMALLEST.get(name, SIZES[0])
    if case.n < smallest or case.n * case.K * case.L > LARGEST[name]:
        return False
    if case.n == smallest:
        return True
    stopped = smaller is None or smaller["ended"].startswith("stopped")
    return not stopped and bool(10 * smaller["seconds"] <= budget)


def read_runs(path: Path) -> pd.DataFrame:
    """Read runs.csv: the last line of each case and solver, without lines that were cut short."""
    lines = read_text(path).splitlines() if path.exists() else []
    whole = [line for line in lines if len(next(csv.reader([line]), ())) == len(COLUMNS)]
    if lines and (not whole or whole[0] != ",".join(COLUMNS)):
        raise InputError("has other columns than this script writes", "move it away", str(path))
    types = {"solver": str, "ended": str, "packages": str, "python": str, "revision": str}
    types |= dict.fromkeys(("n", "K", "L"), int) | dict.fromkeys(("C", "flipped", "seconds"), float)
    text = io.StringIO("\n".join(whole) or ",".join(COLUMNS))
    try:
        runs = pd.read_csv(text, dtype={**types, "solved": bool})
    except ValueError as error:
        raise InputError(f"cannot be read ({error})", "correct that line", str(path)) from error
    return runs.drop_duplicates(["solver", *CASE], keep="last")


def main() -> int:
    """Run what is missing and report; return the exit code."""
    from benchmark_reading import write_reading_report
    from benchmark_report import write_report  # the processes of the runs need no matplotlib

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few small runs, in results/quick")
    parser.add_argument("--most", type=float, metavar="N", help=f"at most N pairs ({MOST:,})")
    seconds = "stop a run after this time, and do not start one that should take longer"
    parser.add_argument("--budget", type=float, default=BUDGET, metavar="SECONDS", help=seconds)
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--report", action="store_true", help="only make the page and the figure")
    files = "only time the way from a file to its DCG, beside other readers of the same file"
    parser.add_argument("--files", action="store_true", help=files)
    parser.add_argument("--out", type=Path, help="folder of runs.csv, the page and the figure")
    options = parser.parse_args()
    folder = options.out or ROOT / "results" / ("quick" if options.quick else "") / "benchmark"
    most = options.most or (QUICK if options.quick else MOST)
    kinds = KINDS[:1] if options.quick else KINDS
    cases = [Case(n, *kind[0], *kind[1:]) for kind in kinds for n in SIZES if n <= most]
    try:
        if options.files:
            folder.mkdir(parents=True, exist_ok=True)
            print(f"wrote {write_reading_report(folder, int(options.most or FILES_ROWS))}")
            return 0
        if not options.report:
            folder.mkdir(parents=True, exist_ok=True)
            check_writable(folder / "runs.csv")
            run_missing(cases, options.solvers, options.budget, folder / "runs.csv")
        write_report(read_runs(folder / "runs.csv"), folder)
    except (InputError, OSError) as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; finished runs are kept, run again to continue", file=sys.stderr)
        return 130
    print(f"wrote {folder / 'README.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
