"""The results of one experiment: its table, its figures, and their folder with the provenance.

Fewer finished cells never replace more, nor results those of another config, unless replacing is
asked for. A folder that holds more cells than the store, as in a fresh checkout, is reported from
its own table.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import write_text
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, reporting, silent
from dcglearn.base.workers import Workers, WorkersLostError, open_workers
from dcglearn.lab.cells import CELL_VERSION, key_of
from dcglearn.lab.compute import run_cell
from dcglearn.lab.config import Config
from dcglearn.lab.experiment_figures import WIDTHS, draw_figure
from dcglearn.lab.plots import Figure, same_figure
from dcglearn.lab.provenance import (
    PROVENANCE,
    Made,
    changed_files,
    hashes_of,
    made_with,
    read_provenance,
    sha256_of,
    write_provenance,
)
from dcglearn.lab.registry import error_and_line
from dcglearn.lab.setting import Setting
from dcglearn.lab.store import Store
from dcglearn.report.figures.style import save
from dcglearn.report.tables import Table

Say = Callable[[str], None]

TABLE = "table.csv"

SIGNIFICANT_DIGITS = 9
"""Significant digits of the numbers in a table."""

PICTURES = (".svg", ".pdf", ".png")
"""Endings of the files of a figure, beside the table of its points."""

PRINTED = 300
"""The resolution of pictures, in dots per inch at the width of a figure."""

_LEFT_BEHIND = re.compile(r"\..+-[0-9a-f]{12}\.\w+")
"""Files that a run has begun to write; those of an hour ago are of one that was killed."""

REPLACE = "name another `out`, or use `replace`"


@dataclass(frozen=True)
class CellCounts:
    """How many cells of an experiment are finished and how many failed."""

    done: int
    failed: int
    total: int
    first_error: str | None = None
    new: int = 0

    @property
    def complete(self) -> bool:
        """Whether every cell has a result."""
        return self.done == self.total


@dataclass(frozen=True)
class ReportedExperiment:
    """One experiment with its files, as the page shows it."""

    config: Config
    folder: Path
    counts: CellCounts
    figures: tuple[Figure, ...] = ()
    made: Made = field(default_factory=dict)


def count_cells(config: Config, quick: bool, store: Store) -> CellCounts:
    """Count the cells of an experiment that a store holds."""
    cells = config.cells(quick)
    lacking = [(point, cell) for point, cell in cells if store.get(cell) is None]
    errors = [
        f"{', '.join(f'{key} = {value}' for key, value in point.items())}: {error}"
        for point, cell in lacking
        if (error := store.error(cell)) is not None
    ]
    first = errors[0] if errors else None
    return CellCounts(len(cells) - len(lacking), len(errors), len(cells), first)


def progress_of(
    configs: Sequence[Config], out: Path, refused: Callable[[InputError], None]
) -> tuple[Table, list[str]]:
    """Return a table of how much of each experiment is done, and the first failures.

    `refused` is told of folders that hold results of something else.
    """
    store, rows, errors = Store(out / "store"), [], []
    for config in configs:
        elsewhere = 0
        try:
            made = check_folder(results_folder(out, False, config), config)
            elsewhere = made["cells"]["done"] if made else 0
        except InputError as error:
            refused(error)
        full, part = count_cells(config, False, store), count_cells(config, True, store)
        if full.first_error is not None:
            errors.append(f"the first failed cell of {config.name}: {full.first_error}")
        figures, quick = ", ".join(config.figures), f"{part.done:,} of {part.total:,}"
        counts = (full.done, full.failed, full.total, quick, elsewhere)
        rows.append((config.name, figures, *counts))
    columns = ("experiment", "figures", "done", "failed", "cells", "quick part", "in its table")
    return Table(columns, rows, f"cells in {store.path}"), errors


def result_table(config: Config, quick: bool, store: Store) -> pd.DataFrame:
    """Return the finished cells: one row per cell, in the order of the grid."""
    rows = []
    for point, cell in config.cells(quick):
        result = store.get(cell)
        if result is None:
            continue
        rows.append({key: as_text(value) for key, value in point.items()})
        for column in config.code.columns:
            value = result.get(column)
            several = value if isinstance(value, list) else ()
            rows[-1] |= {f"{column}_{i}": _rounded(one) for i, one in enumerate(several, 1)}
            if value is not None and not several:
                rows[-1][column] = _rounded(value)
    return pd.DataFrame(rows)


def add_settings(config: Config, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one more column for every setting that was not swept."""
    setting = Setting(**config.fixed).model_dump()
    setting |= {f"options.{key}": value for key, value in setting.pop("options").items()}
    fixed = {key: as_text(value) for key, value in setting.items() if key not in table}
    whole = table.assign(**fixed)
    whole["ranks"] = [
        len(base.split()) if pd.isna(K) else int(K)
        for base, K in zip(whole["base"], whole["ranks"], strict=True)
    ]
    return whole


def as_text(value: Any) -> Any:
    """Return a value of a setting as the table holds it."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def make_figures(
    config: Config, table: pd.DataFrame, quick: bool = False, complete: bool = False
) -> tuple[Figure, ...]:
    """Return the figures of a table that the config lists, as data: nothing is drawn yet."""
    given, path = add_settings(config, table), config.code.path
    try:
        with redirect_stdout(sys.stderr):  # a command may print data
            found: tuple[Any, ...] = tuple(config.code.figures(given))
    except Exception as error:
        remedy = "fix it and run again; finished cells are kept"
        if isinstance(error, KeyError):
            remedy += f". Columns: {', '.join(map(str, given.columns))}"
        problem = f"figures(table) failed ({error_and_line(error, path)})"
        raise InputError(problem, remedy, str(path)) from error
    wanted = {same_figure(number): number for number in config.figures}
    drawn: dict[str, Figure] = {}
    for figure in found:
        if not isinstance(figure, Figure):
            problem = f"figures(table) returned {figure!r}"
            raise InputError(problem, "return a list of Figure", str(path))
        if (name := same_figure(figure.number)) in drawn:
            problem = f"figures(table) returned figure {figure.number} twice"
            raise InputError(problem, "give one of them another number", str(path))
        drawn[name] = figure.in_quick_run() if quick else figure
        if name not in wanted:
            warn_of_input(f"{config.path}: `figures` does not list {figure.number}: left out")
    lacking = [number for name, number in wanted.items() if name not in drawn]
    if lacking and complete:
        problem = f"lists figure {lacking[0]}, which {path} does not draw"
        remedy = "draw it, or remove it from the list; finished cells are kept"
        raise InputError(problem, remedy, f"{config.path}, figures")
    return tuple(figure for name, figure in drawn.items() if name in wanted)


def results_folder(out: Path, quick: bool, config: Config) -> Path:
    """Return the folder of the results of one experiment."""
    return (out / "quick" if quick else out) / config.name


def write_results(
    config: Config,
    quick: bool,
    store: Store,
    folder: Path,
    replace: bool = False,
    width: float | None = None,
) -> ReportedExperiment:
    """Write the table, the figures and the provenance of the finished cells.

    Of a folder that holds more cells, what is missing, changed or new is drawn from its table.
    """
    counts, content = count_cells(config, quick, store), config.content
    made = {} if replace else check_folder(folder, config)
    kept = bool(made) and made["cells"]["done"] > counts.done
    if kept and made["experiment"].get("code") != content.get("code"):
        warn_of_input(
            f"{folder}: is left as it is, with {counted(made['cells']['done'], 'cell')} of "
            "functions that have changed since; "
            f"compute them: dcglearn run {config.path}; or use `replace`"
        )
        return ReportedExperiment(config, folder, counts)
    if not kept and not counts.done:
        return ReportedExperiment(config, folder, counts)
    if kept:
        cells, sweep = made["cells"], made["experiment"]["sweep"]
        counts = CellCounts(cells["done"], cells["failed"], cells["total"])
        quick, table = cells["quick"], _read_table(folder / TABLE, made, config)
    else:
        sweep = config.quick_sweep if quick else config.sweep
        table = result_table(config, quick, store)
    whole = counts.complete and sweep == config.sweep
    figures = make_figures(config, table, quick, whole)
    if kept:
        again = figures if width else _outdated(figures, folder, made)
        files = _write_figures(again, folder, width)
        if not files.items() <= made["files"].items():
            made = {**made, "files": made["files"] | files, "redrawn": made_with()}
            write_provenance(made, folder / PROVENANCE)
        return ReportedExperiment(config, folder, counts, figures, made)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made ({error.strerror})"
        raise InputError(problem, "choose another `out`", str(folder)) from error
    for path in folder.iterdir():
        if _LEFT_BEHIND.fullmatch(path.name) and path.stat().st_mtime < time.time() - 3600:
            path.unlink()
    write_text(folder / TABLE, table.to_csv(index=False, lineterminator="\n"))
    text = json.dumps([CELL_VERSION, content], sort_keys=True)
    numbers = {"done": counts.done, "failed": counts.failed, "total": counts.total}
    made = {
        "config": config.path.name,
        "hash": sha256_of(text.encode()),
        "experiment": content,
        "cells": {"version": CELL_VERSION, **numbers, "quick": quick},
        "files": hashes_of([folder / TABLE]) | _write_figures(figures, folder, width),
        **made_with(),
    }
    write_provenance(made, folder / PROVENANCE)
    return ReportedExperiment(config, folder, counts, figures, made)


def check_folder(folder: Path, config: Config) -> Made:
    """Refuse a folder with results of something else or of more; return what made its results."""
    made = read_provenance(folder)
    if not made:
        return {}
    there, here = made["experiment"], json.loads(json.dumps(config.content))
    version, repetitions = made["cells"]["version"], there["repetitions"]
    old, new = ({**one, **one["setting"], "setting": ""} for one in (there, here))
    others = [
        key
        for key in sorted((old.keys() | new.keys()) - {"sweep", "repetitions", "code"})
        if old.get(key) != new.get(key)
    ]
    lost = [
        f"{key} {value!r}"
        for key, values in there["sweep"].items()
        for value in values
        if value not in here["sweep"].get(key, [])
    ]
    if version != CELL_VERSION:
        problem = f"results of version {version} of the cells, and this is version {CELL_VERSION}"
    elif others:
        values = f"{old.get(others[0])!r:.60} there and {new.get(others[0])!r:.60} here"
        problem = f"results of another config: {others[0]} is {values}"
    elif lost:
        problem = f"results of a larger grid: it also has {lost[0]}"
    elif repetitions > config.repetitions:
        problem = f"{counted(repetitions, 'repetition')}, and the config {config.repetitions}"
    else:
        return made
    raise InputError(f"holds {problem}", REPLACE, str(folder))


def _points_of(figure: Figure) -> str:
    text: str = figure.table().to_csv(index=False, lineterminator="\n", float_format="%.9g")
    return text


def _outdated(figures: Iterable[Figure], folder: Path, made: Made) -> list[Figure]:
    """Return the figures whose files are missing, or were changed, or hold other points."""
    changed, found = changed_files(folder, made), []
    for figure in figures:
        names = [f"{figure.name}{ending}" for ending in (".csv", *PICTURES)]
        bad = [name for name in names if name in changed or not (folder / name).is_file()]
        if bad:
            warn_of_input(f"{folder / bad[0]}: was changed or is missing; it is made again")
        if bad or (folder / names[0]).read_text("utf-8") != _points_of(figure):
            found.append(figure)
    return found


def _write_figures(figures: Iterable[Figure], folder: Path, width: float | None) -> dict[str, str]:
    """Write the files of figures; return their hashes by name."""
    paths = []
    for figure in figures:
        points, *pictures = [folder / f"{figure.name}{ending}" for ending in (".csv", *PICTURES)]
        write_text(points, _points_of(figure))
        drawing = draw_figure(figure, width or WIDTHS["column"])
        for path in pictures:
            save(drawing, path, dpi=PRINTED, adapts=True)
        paths += [points, *pictures]
    return hashes_of(paths)


def _read_table(path: Path, made: Made, config: Config) -> pd.DataFrame:
    """Read a table; refuse one that is not what its provenance describes."""
    remedy = f"restore the file, or compute the cells again: dcglearn run {config.path}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError("cannot be read", remedy, str(path)) from error
    if made["files"].get(TABLE) != sha256_of(content):
        raise InputError(f"is not the table that {PROVENANCE} describes", remedy, str(path))
    return pd.read_csv(BytesIO(content), engine="pyarrow")  # rounds each number correctly


def compute_cells(
    config: Config, quick: bool, store: Store, workers: Workers, advance: Advance = silent
) -> CellCounts:
    """Compute the cells that the store lacks; each is stored as soon as it is finished."""
    cells = [cell for _, cell in config.cells(quick) if store.get(cell) is None]
    lacking = list({key_of(cell): cell for cell in cells}.values())
    compute = partial(run_cell, queries=config.queries, codes=config.codes)
    for done, (index, outcome) in enumerate(workers(compute, lacking) if lacking else (), 1):
        store.add(lacking[index], outcome)
        advance(done, len(lacking))
    found = count_cells(config, quick, store)
    return replace(found, new=sum(store.get(cell) is not None for cell in cells))


def compute(
    config: Config, quick: bool, store: Store, workers: Workers, note: Say, progress: bool = True
) -> CellCounts:
    """Compute the cells of an experiment that a store lacks, showing progress."""
    try:
        with reporting(config.name) if progress else nullcontext(silent) as advance:
            return compute_cells(config, quick, store, workers, advance)
    except (KeyboardInterrupt, WorkersLostError) as stop:
        done = count_cells(config, quick, store)
        kept = f"{config.name}: {done.done:,} of {counted(done.total, 'cell is', 'cells are')} kept"
        words = f"{kept}; the same command continues from there"
        if isinstance(stop, KeyboardInterrupt):
            note(words)
            raise
        raise WorkersLostError(f"{stop}; {words}") from stop


def run_experiments(
    configs: Sequence[Config],
    quick: bool,
    workers: str,
    out: Path,
    say: Say,
    note: Say,
    replace: bool = False,
    width: float | None = None,
) -> list[ReportedExperiment]:
    """Run experiments one after the other, and write their tables and figures."""
    folders = [results_folder(out, quick, config) for config in configs]
    if not replace:
        for folder, config in zip(folders, configs, strict=True):
            check_folder(folder, config)
    shown = []
    with open_workers(workers) as pool:
        store = Store(out / "store")
        for folder, config in zip(folders, configs, strict=True):
            done = compute(config, quick, store, pool, note)
            failures = f", {done.failed:,} failed" if done.failed else ""
            parts = f"{done.done - done.new:,} kept, {done.new:,} new{failures}"
            say(f"{config.name}: {done.done:,} of {counted(done.total, 'cell')}: {parts}")
            shown.append(write_results(config, quick, store, folder, replace, width))
    return shown


def reported_experiments(
    configs: Sequence[Config],
    quick: bool,
    out: Path,
    replace: bool = False,
    width: float | None = None,
    left_out: Callable[[InputError], None] | None = None,
) -> list[ReportedExperiment]:
    """Return experiments with the results that they have.

    One whose results cannot be written is without them, if `left_out` takes the error.
    """
    store, shown = Store(out / "store"), []
    for config in configs:
        folder = results_folder(out, quick, config)
        try:
            shown.append(write_results(config, quick, store, folder, replace, width))
        except InputError as error:
            if left_out is None:
                raise
            left_out(error)
            shown.append(ReportedExperiment(config, folder, count_cells(config, quick, store)))
    return shown
