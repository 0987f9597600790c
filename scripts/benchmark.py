"""Newton's method beside other solvers: seconds, memory and exactness as pairs grow.

``python3 scripts/benchmark.py`` solves simulated problems of 10^2, 10^3, ... pairs. All
solvers of one case run right after each other, each in a fresh process, so that the memory
is that run's. A finished run is one more line of ``results/benchmark/runs.csv``; run again,
the script does what is missing. From the lines alone, or with ``--report`` from nothing
else, come ``README.md`` and ``figure.svg`` beside them. Another solver is one more entry of
:data:`SOLVERS`.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import dataclasses
import importlib.util
import io
import itertools
import math
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bootstrap import ROOT, prepare

if importlib.util.find_spec("dcglearn") is None:  # the same again, by the Python that has it
    _PYTHON = str(prepare())
    os.execv(_PYTHON, [_PYTHON, __file__, *sys.argv[1:]])  # noqa: S606 - no shell is wanted

import numpy as np

from dcglearn.base.errors import InputError, SolverError
from dcglearn.base.files import check_writable, read_text, write_text
from dcglearn.base.suggestions import unknown_name
from dcglearn.base.types import Pairs
from dcglearn.data.packed_pairs import ROW_GROUP_SIZE, PackedPairs, packed_writer
from dcglearn.lab.provenance import made_with
from dcglearn.measures.dcg import DCG
from dcglearn.measures.scale import Scale
from dcglearn.report.tables import Table
from dcglearn.simulation.judges import flip_pairs, true_pairs
from dcglearn.simulation.lists import drawn_lists
from dcglearn.solver.certificate import Certificate, certify
from dcglearn.solver.problem import Problem
from dcglearn.solver.solve import Solution, SolverName, solve
from dcglearn.solver.streamed import Streamed

SIZES = tuple(10**power for power in range(2, 9))
SHAPES = ((10, 5), (5, 3), (100, 5))
"""(K, L)"""

COSTS = (1.0, 100.0)
"""C"""

FLIPPED = (0.1, 0.0)
"""Share of the pairs that are turned round."""

DRAWN = (1.0, 0.1)
"""C and the share flipped that the figure shows."""

QUICK = 10**4
MOST = 10**7
BUDGET = 600.0
SEED = 1

BATCH = 1 << 16
"""Pairs that are drawn at a time."""

SHORT = 5.0
"""A run of fewer seconds is done three times; the median counts."""

SMALLEST_PAIRS = 1 << 20
"""Bytes of pairs from which on memory is told in multiples of them."""

PACKAGES = ("dcglearn", "numpy", "scipy", "cvxpy", "osqp", "clarabel", "scikit-learn")


@dataclass(frozen=True)
class Case:
    """One problem that all solvers are given.

    Attributes
    ----------
    n, K, L : int
        Pairs, ranks, grades.
    C : float
    flipped : float
        Share of the pairs that are turned round.
    """

    n: int
    K: int
    L: int
    C: float
    flip_pairs: float

    @property
    def pair_bytes(self) -> int:
        """Bytes of the pairs, a byte a grade."""
        return 2 * self.n * self.K


@dataclass(frozen=True)
class Job:
    """A solver that has its data.

    Attributes
    ----------
    solve : callable
        What is timed.
    judge : callable
        From what it returned to (how it ended, its steps, its certificate).
    """

    solve: Callable[[], Any]
    judge: Callable[[Any], tuple[str, int, Certificate]]


@dataclass(frozen=True)
class Solver:
    """An entry of the table of solvers.

    Attributes
    ----------
    about : str
    job : callable
        Makes the data of a case, or a way to them, and what solves it.
    largest : float
        n K L up to which it is tried: beyond, it does not fit into a usual memory.
    smallest : int
        n from which on it is tried.
    """

    about: str
    job: Callable[[Case], Job]
    largest: float
    smallest: int = SIZES[0]


@dataclass(frozen=True)
class Row:
    """One line of ``runs.csv``: what one solver did in one case.

    What is not known is None: a run that was stopped has no objective.
    """

    solver: str
    n: int
    K: int
    L: int
    C: float
    flip_pairs: float
    solved: bool
    ended: str
    seconds: float
    pair_bytes: int
    cores: int
    python: str
    packages: str
    revision: str
    repeats: int | None = None
    steps: int | None = None
    peak_bytes: int | None = None
    objective: float | None = None
    relative_gap: float | None = None
    residual: float | None = None
    bandwidth: float | None = None

    @property
    def case(self) -> Case:
        """What was solved."""
        return Case(self.n, self.K, self.L, self.C, self.flipped)


COLUMNS = tuple(field.name for field in dataclasses.fields(Row))
_READ: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": "True".__eq__,
}


# The data


def batches(case: Case) -> Iterator[Pairs]:
    """Draw the pairs of a case, some at a time: all of them need not fit into memory.

    Parameters
    ----------
    case : Case

    Yields
    ------
    ndarray of int8, shape (m, 2, K)
        Lists of independent uniform grades; the one that the DCG of gains L ... 1 over
        log2(i + 1) prefers comes first, but for the flipped ones.
    """
    rng = np.random.default_rng(SEED)
    truth = DCG(list(range(case.L, 0, -1)), "log2")
    left = case.n
    while left:
        lists = drawn_lists(BATCH, case.K, [1 / case.L] * case.L, rng)
        pairs = true_pairs(truth, lists)[:left]
        yield flip_pairs(pairs, round(case.flipped * len(pairs)), rng)
        left -= len(pairs)


def simulated(case: Case) -> Pairs:
    """Return the pairs of a case, shape (n, 2, K)."""
    pairs = np.empty((case.n, 2, case.K), np.int8)
    begin = 0
    for batch in batches(case):
        pairs[begin : begin + len(batch)] = batch
        begin += len(batch)
    return pairs


# The solvers


def package_job(case: Case, name: SolverName) -> Job:
    """Return the job of a solver of this package: checks, codes, optimum and certificate."""
    pairs = simulated(case)

    def judge(solution: Solution) -> tuple[str, int, Certificate]:
        ended = solution.status + (", polished" if solution.polished else "")
        return ended, solution.iterations, solution.certificate

    return Job(lambda: solve(Problem.of(pairs, case.L, C=case.C), name), judge)


def streamed_job(case: Case) -> Job:
    """Return the job of Newton's method on packed pairs in a file, read part by part."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "pairs.parquet"
    with packed_writer(path, Scale(tuple(range(case.L, 0, -1)))) as write:
        held: list[Pairs] = []
        for batch in batches(case):
            held.append(batch)
            if sum(map(len, held)) >= ROW_GROUP_SIZE:  # whole row groups
                write(np.concatenate(held))
                held = []
        if held:
            write(np.concatenate(held))

    def solved() -> Solution:
        file = Path(folder.name) / path.name  # the folder lives as long as this function
        return solve(Streamed.of(PackedPairs.of(file), C=case.C), "newton")

    def judge(solution: Solution) -> tuple[str, int, Certificate]:
        return solution.status, solution.iterations, solution.certificate

    return Job(solved, judge)


def svc_matrix(pairs: Pairs, L: int, labels: Any) -> Any:
    """Return X as scikit-learn takes it, each row times its label."""
    from scipy.sparse import csr_array

    n, _, K = pairs.shape
    columns = (np.arange(0, K * L, L, dtype=np.int32) + pairs).ravel()  # no wider are taken
    data = (labels[:, None] * np.repeat([1.0, -1.0], K)).ravel()
    X = csr_array((data, columns, np.arange(0, 2 * K * n + 1, 2 * K, dtype=np.int32)), (n, K * L))
    X.sum_duplicates()  # equal grades at a rank: LinearSVC is slower with both
    return X


def svc_job(case: Case) -> Job:
    """Return scikit-learn's job: the same without monotone rows.

    LinearSVC minimises |w|^2 / 2 + C' sum hinge^2, half of what is wanted if C' = C / 2.
    It needs two classes: every other row of X is negated, and labelled -1.
    """
    from sklearn.svm import LinearSVC

    pairs = simulated(case)
    labels = np.where(np.arange(case.n) % 2, -1.0, 1.0)
    took = [0.0, 0.0]
    # The primal method is the one for n >> K L (dual=True took 20 to 40 times as long, or did
    # not converge); CSR was as quick as a dense X, or quicker, and is smaller.
    svc = LinearSVC(loss="squared_hinge", dual=False, fit_intercept=False, C=case.C / 2, tol=1e-8)

    def fit() -> Any:
        begin = time.perf_counter()
        X = svc_matrix(pairs, case.L, labels)
        made = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whether it converged is told by the gap
            fitted = svc.fit(X, labels)
        took[:] = made - begin, time.perf_counter() - begin
        return fitted

    def judge(fitted: Any) -> tuple[str, int, Certificate]:
        free = Problem.of(pairs, case.L, C=case.C, monotone=False)
        certificate = certify(free, fitted.coef_.reshape(case.K, case.L))[1]
        ended = "step limit" if fitted.n_iter_ >= svc.max_iter else "converged"
        return f"{ended}; making X was {took[0] / took[1]:.0%}", int(fitted.n_iter_), certificate

    return Job(fit, judge)


SOLVERS = {
    "newton": Solver(
        "this package, from the pairs as int8: checks, codes, the optimum and its certificate",
        lambda case: package_job(case, "newton"),
        5e9,
    ),
    "osqp": Solver(
        "the problem as the paper prints it, a slack a pair, through cvxpy; checks, certificate "
        "and, where that helps, this package's polishing are counted",
        lambda case: package_job(case, "osqp"),
        5e7,
    ),
    "clarabel": Solver(
        "the same by an interior-point method",
        lambda case: package_job(case, "clarabel"),
        5e7,
    ),
    "linear-svc": Solver(
        "scikit-learn's LinearSVC (liblinear, primal, tol 1e-8) on the easier problem without "
        "monotone rows; it begins at the pairs, too: making its sparse X is counted (`runs.csv` "
        "tells its share)",
        svc_job,
        5e8,
    ),
    "newton-streamed": Solver(
        "newton on packed pairs in a Parquet file, read part by part at every pass",
        streamed_job,
        5e9,
        10**6,
    ),
}
"""By name; ratios are to the first."""

NEWTON = "newton"


# One run, in a process of its own


def run_in_child(told: Connection, name: str, case: Case, budget: float) -> None:
    """Solve one case and tell the columns that only the run itself knows.

    Parameters
    ----------
    told : Connection
        Is sent None as soon as the data exist, and then a dict of columns of :class:`Row`.
    name : str
        Of the solver.
    case : Case
    budget : float
        Seconds that there are for all repeats.
    """
    with contextlib.suppress(SolverError):  # nothing is told of this one
        SOLVERS[name].job(replace(case, n=20)).solve()  # imports, and tables that are kept
    job = SOLVERS[name].job(case)
    held = _forget_peak()
    told.send(None)
    answer, first = _timed(job)
    about = {"seconds": first, "repeats": 1, "peak_bytes": _peak() - held}
    if isinstance(answer, Exception):
        told.send(about | {"solved": False, "ended": _cause(answer)})
        return
    again = 2 if first < min(SHORT, budget / 4) else 0
    taken = [first, *(_timed(job)[1] for _ in range(again))]
    about |= {"seconds": statistics.median(taken), "repeats": len(taken)}
    ended, steps, certificate = job.judge(answer)
    told.send(
        about
        | {
            "solved": True,
            "ended": ended,
            "steps": steps,
            "objective": certificate.objective,
            "relative_gap": certificate.gap / certificate.objective,
            "residual": certificate.residual,
            "bandwidth": _bandwidth(),
        }
    )


def _timed(job: Job) -> tuple[Any, float]:
    """Return the answer, or why there is none, and the seconds that it took."""
    begin = time.perf_counter()
    try:
        answer = job.solve()
    except (SolverError, MemoryError) as error:
        answer = error
    return answer, time.perf_counter() - begin


def _cause(error: Exception) -> str:
    """Return the first words of a message, after what :func:`solve` puts before the cause."""
    if isinstance(error, MemoryError):
        return "out of memory"
    cause = str(error).partition("is asked for): ")[2] or str(error)
    return cause.partition(", |W - W*|")[0][:100].replace("\n", " ")


def _forget_peak() -> int:
    """Hand back what is free, let the peak of memory be counted anew; return what is held."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "malloc_trim"):  # free memory that is kept would hide a later need
            libc.malloc_trim(0)
        with contextlib.suppress(OSError):  # not allowed: making the data counts too
            Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS") or _peak()


def _peak() -> int:
    """Return the most bytes held since :func:`_forget_peak`."""
    known = _status("VmHWM")
    if known:
        return known
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(key: str) -> int:
    """Return a number of bytes that Linux tells of this process, or 0."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":")), 0)


def _bandwidth() -> float:
    """Return the bytes a second at which NumPy adds up 256 MB, in one thread."""
    numbers = np.ones(1 << 25)
    taken = []
    for _ in range(3):
        begin = time.perf_counter()
        numbers.sum()
        taken.append(time.perf_counter() - begin)
    return numbers.nbytes / min(taken)


def measure(name: str, case: Case, budget: float) -> Row:
    """Run one solver on one case in a fresh process, which is stopped at the budget."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=run_in_child, args=(there, name, case, budget))
    ours = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child leaves Ctrl-C to us
    child.start()
    signal.signal(signal.SIGINT, ours)
    there.close()
    begin = time.perf_counter()
    try:
        here.recv()
        begin = time.perf_counter()
        if here.poll(budget):
            found = here.recv()
        else:
            found = {"solved": False, "ended": "stopped: too slow", "seconds": budget}
    except EOFError:
        child.join()
        ended = f"stopped: the process ended with {child.exitcode}"  # -9: perhaps for its memory
        found = {"solved": False, "ended": ended, "seconds": time.perf_counter() - begin}
    finally:
        child.kill()
        child.join()
        here.close()
    about = dataclasses.asdict(case) | {"pair_bytes": case.pair_bytes} | _machine()
    return Row(solver=name, **about, **found)


def _machine() -> dict[str, Any]:
    made = made_with()
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return {
        "cores": cores,
        "python": made["python"],
        "packages": " ".join(f"{name} {made['versions'][name]}" for name in PACKAGES),
        "revision": made["revision"] or "",
    }


# All runs


@dataclass(frozen=True)
class Plan:
    """What is to be run.

    Attributes
    ----------
    cases : list of Case
        Sizes of one kind in ascending order.
    solvers : list of str
    budget : float
    """

    cases: list[Case]
    solvers: list[str]
    budget: float


def run_all(plan: Plan, file: Path, replaced: bool) -> None:
    """Run what is missing, or everything, and append a line a run.

    Parameters
    ----------
    plan : Plan
    file : Path
        ``runs.csv``.
    replaced : bool
        Whether to run again what is there: a new line counts instead of the old one.
    """
    rows = read_rows(file)
    done = set() if replaced else set(rows)
    for case in plan.cases:
        for name in plan.solvers:
            if (case, name) in done or not worth_trying(name, case, rows, plan.budget):
                continue
            row = measure(name, case, plan.budget)
            append(row, file)
            rows[case, name] = row
            print(
                f"{case.n:>11,} pairs, {case.K} x {case.L}, C = {case.C:g}, "
                f"{case.flipped:.0%} flipped: {name} {row.seconds:.3g} s, {row.ended}",
                flush=True,
            )


def worth_trying(name: str, case: Case, rows: dict[tuple[Case, str], Row], budget: float) -> bool:
    """Whether a solver can be expected to end: ten times the pairs take ten times as long."""
    solver = SOLVERS[name]
    if case.n < solver.smallest or case.n * case.K * case.L > solver.largest:
        return False
    if case.n // 10 < solver.smallest:
        return True
    fewer = rows.get((replace(case, n=case.n // 10), name))
    if fewer is None or fewer.ended.startswith("stopped"):
        return False
    return 10 * fewer.seconds <= budget


def read_rows(file: Path) -> dict[tuple[Case, str], Row]:
    """Return the last line of every case and solver.

    Parameters
    ----------
    file : Path
        It need not exist.

    Raises
    ------
    InputError
        If its columns or values are not those of :class:`Row`.
    """
    if not file.exists():
        return {}
    lines = csv.DictReader(io.StringIO(read_text(file)))
    if tuple(lines.fieldnames or COLUMNS) != COLUMNS:
        raise InputError("other columns than this script writes", "move it away", str(file))
    found = {}
    for line in lines:
        if None in line.values() or None in line:  # cut short when a run was killed
            continue
        try:
            row = _row(line)
        except ValueError as error:
            place = f"{file}, line {lines.line_num}"
            raise InputError(str(error), "delete that line", place) from error
        found[row.case, row.solver] = row
    return found


def _row(line: dict[str, str]) -> Row:
    values: dict[str, Any] = {}
    for field in dataclasses.fields(Row):
        kind, _, empty = str(field.type).partition(" | ")
        text = line[field.name]
        values[field.name] = None if empty and not text else _READ[kind](text)
    return Row(**values)


def append(row: Row, file: Path) -> None:
    """Add a line, in one piece, on a line of its own."""
    text = io.StringIO()
    if not file.exists() or not file.stat().st_size:
        csv.writer(text, lineterminator="\n").writerow(COLUMNS)
    elif not file.read_bytes().endswith(b"\n"):  # a line was cut short
        text.write("\n")
    csv.writer(text, lineterminator="\n").writerow(dataclasses.astuple(row))
    with file.open("ab", buffering=0) as lines:
        lines.write(text.getvalue().encode())


# The report


def report(folder: Path) -> None:
    """Write ``README.md`` and the figure from ``runs.csv`` alone.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        If there is no line yet.
    """
    rows = read_rows(folder / "runs.csv")
    if not rows:
        raise InputError("no run is there yet", "run without --report first", str(folder))
    drawn = [row for row in rows.values() if (row.C, row.flipped) == DRAWN]
    if drawn:
        draw(drawn, folder)
    parts = [_HEAD]
    parts += ["![Seconds over the number of pairs](figure.svg)"] if drawn else []
    parts += [
        "## How exact",
        accuracy(list(rows.values())).markdown(),
        _ACCURACY,
        "## Case by case",
        _CELLS,
    ]
    kinds = dict.fromkeys(replace(row.case, n=0) for row in rows.values())
    for kind in sorted(kinds, key=lambda k: (SHAPES.index((k.K, k.L)), k.C, k.flipped)):
        parts.append(table({key: row for key, row in rows.items() if _same(key[0], kind)}))
    parts += ["## Made with", *machines(list(rows.values()))]
    write_text(folder / "README.md", "\n\n".join(parts) + "\n")


_HEAD = (
    """# Newton's method beside other solvers

`python3 scripts/benchmark.py` makes this page and `runs.csv`, and goes on where it was
interrupted; `python3 scripts/benchmark.py --report` makes the page from `runs.csv`.

The problem: min |W|^2 + C sum_i max(0, 1 - <W, x_i>)^2 with monotone rows of W, from pairs of
lists of K independent uniform grades, labelled by the DCG of gains L ... 1 over log2(i + 1);
some pairs are turned round.

"""
    + "\n".join(f"* `{name}`: {solver.about}" for name, solver in SOLVERS.items())
    + f"""

Every run has a process of its own, where the solver has solved a small problem before. The
time is the median of three where a run takes less than {SHORT:g} s. Memory is the peak of
resident memory above what is held once the pairs are there. Every solver has the threads that
it takes by itself: `newton` one a block of pairs, with the linear algebra on one; the
linear algebra of the others is as NumPy and SciPy come; `linear-svc` has one. Solvers of a case
run right after each other, on a machine that may have had other work too."""
)

_ACCURACY = """W is fed to the certificate of this package, whoever found it: the duality gap is an
upper bound on how far the objective is above the optimum, divided by the objective; P(q) is W at
the optimum. For `linear-svc` both are of the problem without monotone rows. The bound counts
on a curvature of 2, far less than there is: it is wide where it is not 0. "Polished here": this
package made the solver's answer better, so the gap is not the solver's own."""

_CELLS = """`newton`: seconds; these over one plain read of the pairs (a sum by NumPy, one
thread); steps (its passes over all pairs: one more, and one for the certificate); duality gap
relative to the objective; memory as a multiple of the pairs as int8, from 1 MB of pairs on.
Others: seconds as a multiple of `newton`'s, and in brackets memory as a multiple of the pairs.
"failed": it gave up, or its answer was not confirmed, in that time; "stopped": it was, then, since
it took too long or its process died; "-": not tried, since it was too
slow or too large at a tenth of the pairs."""


def _same(case: Case, kind: Case) -> bool:
    return replace(case, n=0) == kind


def table(rows: dict[tuple[Case, str], Row]) -> str:
    """Return the cases that differ in n only, a line a case, as Markdown."""
    kind = next(iter(rows))[0]
    peers = [name for name in SOLVERS if name != NEWTON]
    head = (
        "pairs",
        "newton, s",
        "reads",
        "steps",
        "relative gap",
        "memory",
        *(f"{name}, x newton" for name in peers),
    )
    lines = []
    for n in sorted({case.n for case, _ in rows}):
        own = rows.get((replace(kind, n=n), NEWTON))
        others = [rows.get((replace(kind, n=n), name)) for name in peers]
        lines.append((f"{n:,}", *_own_cells(own), *(_peer_cell(row, own) for row in others)))
    title = f"### K = {kind.K}, L = {kind.L}, C = {kind.C:g}, {kind.flipped:.0%} flipped"
    return Table(head, lines, title).markdown()


def _own_cells(row: Row | None) -> Sequence[str]:
    if row is None:
        return ("-",) * 5
    reads = row.bandwidth and row.seconds / (row.pair_bytes / row.bandwidth)
    shown = _short(row.seconds) if row.solved else f"failed, {_short(row.seconds)}"
    gap = "" if row.relative_gap is None else f"{row.relative_gap:.0e}"
    steps = "" if row.steps is None else str(row.steps)
    return shown, _short(reads), steps, gap, _short(memory(row))


def _peer_cell(row: Row | None, own: Row | None) -> str:
    if row is None:
        return "-"
    shown = f"{_short(row.seconds)} s"
    if own is not None and own.solved:
        shown = _short(row.seconds / own.seconds)
    if not row.solved:
        shown = f"{'stopped' if row.ended.startswith('stopped') else 'failed'}, {shown}"
    multiple = memory(row)
    return shown if multiple is None else f"{shown} ({_short(multiple)})"


def memory(row: Row) -> float | None:
    """Return the peak as a multiple of the pairs; None where fixed costs hide it."""
    if row.peak_bytes is None or row.pair_bytes < SMALLEST_PAIRS:
        return None
    return row.peak_bytes / row.pair_bytes


def _short(number: float | None) -> str:
    """Return two or three digits that count, without an exponent.

    >>> [_short(number) for number in (None, 0.00123, 4.56, 78.9, 12345)]
    ['', '0.0012', '4.6', '79', '12,345']
    """
    if number is None:
        return ""
    if number >= 10:
        return f"{number:,.0f}"
    digits = 1 - math.floor(math.log10(number)) if number > 0 else 0
    return f"{number:.{digits}f}"


def accuracy(rows: Sequence[Row]) -> Table:
    """Return how many runs of each solver ended well, and the worst of those."""
    head = (
        "solver",
        "runs",
        "solved",
        "polished here",
        "largest relative gap",
        "largest |W - P(q)|",
        "failures",
    )
    own = {name: [row for row in rows if row.solver == name] for name in SOLVERS}
    return Table(head, [_accuracy_of(name, kept) for name, kept in own.items() if kept])


def _accuracy_of(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    gaps = [row.relative_gap for row in rows if row.relative_gap is not None]
    residuals = [row.residual for row in rows if row.residual is not None]
    solved = sum(row.solved for row in rows)
    polished = sum("polished" in row.ended for row in rows)
    worst = [f"{max(numbers):.0e}" if numbers else "" for numbers in (gaps, residuals)]
    failures = dict.fromkeys(row.ended for row in rows if not row.solved)
    return name, str(len(rows)), str(solved), str(polished), *worst, "; ".join(failures)


def machines(rows: Sequence[Row]) -> list[str]:
    """Return what the rows were made with, a line for each of it."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        text = f"{row.cores} cores, Python {row.python}, {row.packages}, revision {row.revision}"
        found.setdefault(text, []).append(row)
    lines = []
    for text, made in found.items():
        speeds = [row.bandwidth / 1e9 for row in made if row.bandwidth]
        speed = f"; one thread reads {statistics.median(speeds):.1f} GB/s" if speeds else ""
        lines.append(f"* {text}: {len(made)} runs{speed}")
    return lines


def draw(rows: Sequence[Row], folder: Path) -> None:
    """Draw seconds over pairs, a panel a shape, as ``figure.svg`` and ``figure.png``."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from dcglearn.report.style import STYLE, save

    shapes = [shape for shape in SHAPES if any(shape == (row.K, row.L) for row in rows)]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.2 * len(shapes) + 1.6, 3.9), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, len(shapes), sharey=True, squeeze=False)[0]
        for axes, (K, L) in zip(panels, shapes, strict=True):
            _draw_panel(axes, [row for row in rows if (row.K, row.L) == (K, L)])
            axes.set(title=f"K = {K}, L = {L}", xlabel="pairs", xscale="log", yscale="log")
        panels[0].set_ylabel("seconds")
        panels[0].legend()
        figure.suptitle(
            f"Seconds to the optimum; C = {DRAWN[0]:g}, {DRAWN[1]:.0%} of the pairs flipped\n"
            "hollow: stopped short of the optimum; linear-svc: without monotone rows",
            x=0.01,
            ha="left",
            fontsize=9,
        )
    for ending in ("svg", "png"):
        save(figure, folder / f"figure.{ending}")


def _draw_panel(axes: Any, rows: Sequence[Row]) -> None:
    from dcglearn.report.style import COLOURS, MARKERS

    for style, name in enumerate(SOLVERS):
        own = sorted((row for row in rows if row.solver == name), key=lambda row: row.n)
        look = {"color": COLOURS[style], "marker": MARKERS[style], "markersize": 5}
        axes.plot([row.n for row in own], [row.seconds for row in own], label=name, **look)
        short = [row for row in own if not row.solved]
        axes.plot(
            [row.n for row in short],
            [row.seconds for row in short],
            linestyle="none",
            markerfacecolor="white",
            zorder=3,
            **look,
        )
    speeds = [row.bandwidth for row in rows if row.bandwidth]
    if speeds:
        speed = statistics.median(speeds)
        ends = [(row.n, row.pair_bytes / speed) for row in rows]
        axes.plot(
            *zip(min(ends), max(ends), strict=True),
            color="0.6",
            linewidth=1,
            linestyle=":",
            label="one read of the pairs",
        )
    axes.grid(color="0.92")
    axes.set_axisbelow(True)


# The command


def main() -> int:
    """Run what is missing and report; return the exit code."""
    options = _options()
    try:
        folder = options.out or ROOT / "results" / ("quick/benchmark" if options.quick else NAME)
        if not options.report:
            plan = _plan(options)
            _make(folder)
            run_all(plan, folder / "runs.csv", options.replace)
        report(folder)
    except InputError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; finished runs are kept, the same command goes on", file=sys.stderr)
        return 130
    print(f"read {folder / 'README.md'}")
    return 0


NAME = "benchmark"


def _options() -> argparse.Namespace:
    shapes = ",".join(f"{K}x{L}" for K, L in SHAPES)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"up to {QUICK:,} pairs of the first case, into results/quick/benchmark",
    )
    parser.add_argument("--most", metavar="N", help=f"pairs at most; by default {MOST:,}")
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        default=str(BUDGET),
        help="a single run is stopped after so long, and not begun if ten times its time at a "
        f"tenth of the pairs is longer; by default {BUDGET:g}",
    )
    parser.add_argument("--shapes", default=shapes, metavar="KxL,...", help=f"of {shapes}")
    parser.add_argument(
        "--solvers", default=",".join(SOLVERS), metavar="NAME,...", help=f"of {', '.join(SOLVERS)}"
    )
    parser.add_argument("--replace", action="store_true", help="run again what is there")
    parser.add_argument("--report", action="store_true", help="run nothing: table and figure only")
    parser.add_argument("--out", type=Path, help="folder of runs.csv and the report")
    return parser.parse_args()


def _plan(options: argparse.Namespace) -> Plan:
    shapes = {f"{K}x{L}": (K, L) for K, L in SHAPES}
    chosen = [shapes[name] for name in _names(options.shapes, "shape", shapes)]
    solvers = _names(options.solvers, "solver", SOLVERS)
    most = _positive(options.most or str(QUICK if options.quick else MOST), "--most")
    if most < SIZES[0]:
        raise InputError(f"--most {options.most}", f"use {SIZES[0]} or more")
    kinds = list(itertools.product(chosen, COSTS, FLIPPED))[: 1 if options.quick else None]
    limit = min(most, QUICK) if options.quick else most
    cases = [Case(n, K, L, C, share) for (K, L), C, share in kinds for n in SIZES if n <= limit]
    return Plan(cases, solvers, _positive(options.budget, "--budget"))


def _names(text: str, kind: str, known: dict[str, Any]) -> list[str]:
    """Return the names asked for, in the order in which they are known."""
    asked = {name.strip() for name in text.split(",")}
    for name in sorted(asked - set(known)):
        raise unknown_name(kind, name, list(known))
    return [name for name in known if name in asked]


def _positive(text: str, option: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(f"{option} {text}", "use a number above 0")
    return number


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", "", str(folder)) from error
    check_writable(folder / "runs.csv")


if __name__ == "__main__":
    sys.exit(main())
