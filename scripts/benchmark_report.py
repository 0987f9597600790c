"""The page and the figure of ``scripts/benchmark.py``, from its ``runs.csv`` alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from dcglearn.base.errors import InputError
from dcglearn.base.files import write_text
from dcglearn.figures.style import COLOURS, MARKERS, STYLE, save
from dcglearn.report.tables import Table

ABOUT = {
    "newton": "this package, from int8 pairs: checks, encoding, optimum and certificate",
    "osqp": "the problem as printed in the paper, with one slack per pair, through cvxpy; includes "
    "checks, certificate and, where it helps, polishing by this package",
    "clarabel": "the same with an interior-point solver",
    "linear-svc": "scikit-learn's LinearSVC (liblinear, primal, tol 1e-8) on the easier problem "
    "without monotone constraints; includes making its sparse X (`runs.csv` has the share)",
    "newton-streamed": "newton on packed pairs in a Parquet file, read again at every pass",
}
DRAWN = (1.0, 0.1)  # C and the share reversed that the figure shows
FEW_BYTES = 1 << 20  # fixed costs hide the memory of runs with fewer bytes of pairs

HEAD = (
    """# Newton's method and other solvers

`python3 scripts/benchmark.py` makes this page and `runs.csv`, and continues where it was
interrupted; `python3 scripts/benchmark.py --report` makes the page from `runs.csv`.

The problem: min |W|^2 + C sum_i max(0, 1 - <W, x_i>)^2 with monotone rows of W, from pairs of
lists of K independent uniform grades, ordered by the DCG with gains L ... 1 over log2(i + 1);
a share of the pairs is reversed (flipped).

"""
    + "\n".join(f"* `{name}`: {about}" for name, about in ABOUT.items())
    + """

Each run has its own process, in which the solver has solved a small problem before. The
time is the median of three if a run takes less than 5 s. Memory is the peak of resident
memory above what is held once the pairs exist. Each solver uses its own default number of
threads: `newton` one per block of pairs, with one for the linear algebra; `linear-svc` one;
the others those of NumPy and SciPy. The solvers of a case run one after the other, on a machine
that may have been busy."""
)
ACCURACY = """The certificate of this package is computed for every W: the duality gap, an upper
bound on the distance of the objective from the optimum, is divided by the objective; P(q) equals W
at the optimum. For `linear-svc` both are of the problem without monotone constraints. The bound
assumes a curvature of 2, far less than there is, so it is wide unless it is nearly 0. "Polished
here": this package improved the solver's answer, so the gap is not the solver's own."""
CELLS = """`newton`: seconds; the same relative to reading the pairs once (a sum by NumPy in one
thread); steps (passes over all pairs: one more, and one for the certificate); duality gap relative
to the objective; memory as a multiple of the pairs as int8, from 1 MB of pairs on. Others: seconds
as a multiple of `newton`'s, and in brackets memory as a multiple of the pairs. "failed": it gave up
or its answer was not confirmed, after that time; "stopped": it was too slow, or its process died;
"-": not tried, because it was too slow or too large with a tenth of the pairs."""


def write_report(runs: pd.DataFrame, folder: Path) -> None:
    """Write README.md and the figure of the runs into a folder."""
    if runs.empty:
        raise InputError("runs.csv has no run", "run without --report first", str(folder))
    parts = [HEAD]
    C, flipped = DRAWN
    drawn = runs[(runs.C == C) & (runs.flipped == flipped)]
    if len(drawn):
        write_figure(drawn, folder)
        parts.append("![Seconds over the number of pairs](figure.svg)")
    parts += ["## Accuracy", accuracy_table(runs), ACCURACY, "## All cases", CELLS]
    tables = sorted(
        runs.groupby(["K", "L", "C", "flipped"]), key=lambda item: (*shape_order(item[0]), item[0])
    )
    parts += [case_table(rows, *kind) for kind, rows in tables]
    parts += ["## Made with", "\n".join(machines(runs))]
    write_text(folder / "README.md", "\n\n".join(parts) + "\n")


def shape_order(kind: tuple[Any, ...]) -> tuple[bool, bool]:
    """Sort K = 10 first and K = 100 last."""
    return kind[0] > 10, kind[0] < 10


def accuracy_table(runs: pd.DataFrame) -> str:
    """Return how many runs of each solver were solved, and the least accurate of them."""
    lines = []
    for name in ABOUT:
        own = runs[runs.solver == name]
        if len(own):
            counts = len(own), own.solved.sum(), own.ended.str.contains("polished").sum()
            worst = (own.relative_gap.max(), own.residual.max())
            gaps = ("" if np.isnan(number) else f"{number:.0e}" for number in worst)
            failures = "; ".join(dict.fromkeys(own.ended[~own.solved]))
            lines.append((name, *map(str, counts), *gaps, failures))
    head = ("solver", "runs", "solved", "polished here", "largest relative gap")
    return Table((*head, "largest |W - P(q)|", "failures"), lines).markdown()


def case_table(rows: pd.DataFrame, K: int, L: int, C: float, flipped: float) -> str:
    """Return the runs that differ in n and the solver only, one line per n."""
    peers = [name for name in ABOUT if name != "newton"]
    lines = []
    for n, same in rows.groupby("n"):
        by_solver = {row.solver: row for row in same.itertuples()}
        own = by_solver.get("newton")
        others = (peer_cell(by_solver.get(name), own) for name in peers)
        lines.append((f"{n:,}", *own_cells(own), *others))
    head = ("pairs", "newton, s", "reads", "steps", "relative gap", "memory")
    title = f"### K = {K}, L = {L}, C = {C:g}, {flipped:.0%} flipped"
    return Table((*head, *(f"{name}, x newton" for name in peers)), lines, title).markdown()


def own_cells(row: Any) -> tuple[str, ...]:
    """Return the five cells of a run of newton, or of none."""
    if row is None:
        return ("-",) * 5
    seconds = short(row.seconds) if row.solved else f"failed, {short(row.seconds)}"
    gap, steps = ("" if np.isnan(x) else x for x in (row.relative_gap, row.steps))
    reads = short(row.seconds * row.bandwidth / row.pair_bytes)
    return seconds, reads, f"{steps:.0f}", f"{gap:.0e}", short(memory(row))


def peer_cell(row: Any, own: Any) -> str:
    """Return seconds, or their multiple of newton's, and the memory of a run."""
    if row is None:
        return "-"
    shown = short(row.seconds / own.seconds) if own and own.solved else f"{short(row.seconds)} s"
    if not row.solved:
        shown = f"{'stopped' if row.ended.startswith('stopped') else 'failed'}, {shown}"
    return f"{shown} ({short(memory(row))})" if memory(row) > 0 else shown


def memory(row: Any) -> float:
    """Return the peak memory as a multiple of the pairs; nan if fixed costs hide it."""
    few = row.pair_bytes < FEW_BYTES
    return math.nan if few else float(row.peak_bytes / row.pair_bytes)


def short(number: float) -> str:
    """Return two or three significant digits, without an exponent; nothing for nan.

    >>> [short(number) for number in (math.nan, 0.00123, 4.56, 78.9, 12345)]
    ['', '0.0012', '4.6', '79', '12,345']
    """
    if np.isnan(number):
        return ""
    if number >= 10:
        return f"{number:,.0f}"
    return f"{number:.{1 - math.floor(math.log10(number)) if number > 0 else 0}f}"


def machines(runs: pd.DataFrame) -> list[str]:
    """Return one line for each machine and version of the software."""
    lines = []
    keys = ["cores", "python", "packages", "revision"]
    for key, rows in runs.groupby(keys, sort=False, dropna=False):
        speed = rows.bandwidth.median() / 1e9
        cores, python, packages, revision = key
        text = f"* {cores} cores, Python {python}, {packages}, revision {revision}"
        read = "" if np.isnan(speed) else f"; one thread reads {speed:.1f} GB/s"
        lines.append(f"{text}: {len(rows)} runs{read}")
    return lines


def write_figure(runs: pd.DataFrame, folder: Path) -> None:
    """Draw seconds over pairs, one panel per shape, as figure.svg and figure.png."""
    shapes = sorted(set(zip(runs.K, runs.L, strict=True)), key=shape_order)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.0 * len(shapes) + 2.2, 3.9), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, len(shapes), sharey=True, squeeze=False)[0]
        for axes, (K, L) in zip(panels, shapes, strict=True):
            draw_panel(axes, runs[(runs.K == K) & (runs.L == L)])
            axes.set(title=f"K = {K}, L = {L}", xlabel="Pairs", xscale="log", yscale="log")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
                axis.set_minor_locator(NullLocator())  # between them nothing was measured
        panels[0].set_ylabel("Seconds")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
        title = (
            f"Seconds to the optimum; C = {DRAWN[0]:g}, {DRAWN[1]:.0%} of the pairs flipped\n"
            "Hollow: stopped short of the optimum; linear-svc: without monotone constraints"
        )
        figure.suptitle(title, x=0.01, ha="left", fontsize=9)
    for ending in ("svg", "png"):
        save(figure, folder / f"figure.{ending}")


def power_of_ten(value: float) -> str:
    """Write a power of ten: 10⁻².  The style of figures takes no markup, which names may hold."""
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return f"10{f'{math.log10(value):.0f}'.translate(raised)}"


def draw_panel(axes: Axes, runs: pd.DataFrame) -> None:
    """Draw one line per solver, hollow where it was not solved, and the time of one read."""
    for name, colour, marker in zip(ABOUT, COLOURS, MARKERS, strict=False):
        own = runs[runs.solver == name].sort_values("n")
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5}
        axes.plot(own.n, own.seconds, label=name, **style)
        hollow = style | {"linestyle": "none", "markerfacecolor": "white", "zorder": 3}
        axes.plot(own.n[~own.solved], own.seconds[~own.solved], **hollow)
    ends = runs.pair_bytes.agg(["min", "max"]) / runs.bandwidth.median()
    grey: dict[str, Any] = {"color": "0.6", "linewidth": 1, "linestyle": ":"}
    axes.plot([runs.n.min(), runs.n.max()], ends, label="one read of the pairs", **grey)
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
