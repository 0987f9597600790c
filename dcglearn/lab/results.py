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
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import write_text
from dcglearn.base.numbers import counted
from dcglearn.base.workers import Workers
from dcglearn.lab.cells import CELL_VERSION
from dcglearn.lab.config import Config
from dcglearn.lab.experiment_code import error_and_line
from dcglearn.lab.experiment_figures import WIDTHS, draw_figure
from dcglearn.lab.plots import Figure, same_figure
from dcglearn.lab.provenance import (
    PROVENANCE,
    changed_files,
    made_with,
    read_provenance,
    sha256_of,
    write_provenance,
)
from dcglearn.lab.setting import Setting
from dcglearn.lab.store import Store
from dcglearn.report.figures.style import save
from dcglearn.report.tables import Table

TABLE = "table.csv"

SIGNIFICANT_DIGITS = 9
"""Significant digits of the numbers in a table."""

ENDINGS = (".csv", ".svg", ".pdf", ".png")
"""Of the files of a figure."""

PRINTED = 300
"""The resolution of pictures, in dots per inch at the width of a figure."""

REPLACE = "name another `out`, or use `replace`"

_LEFT_BEHIND = re.compile(r"\..+-[0-9a-f]{12}\.\w+")
"""Files that a run has begun to write; those of an hour ago are of one that was killed."""


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
    made: dict[str, Any] = field(default_factory=dict)


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
            if isinstance(value, list):
                rows[-1] |= {f"{column}_{i}": _rounded(one) for i, one in enumerate(value, 1)}
            elif value is not None:
                rows[-1][column] = _rounded(value)
    table = pd.DataFrame(rows)
    for column in config.code.columns:
        if column not in table and f"{column}_1" not in table:
            problem = f"cells have no result {column!r}"
            raise InputError(problem, "correct COLUMNS", config.experiment)
    return table


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
    wanted, drawn = {same_figure(number): number for number in config.figures}, {}
    for figure in found:
        if not isinstance(figure, Figure):
            problem = f"figures(table) returned {figure!r}"
            raise InputError(problem, "return a list of Figure", str(path))
        if (name := same_figure(figure.number)) in drawn:
            problem = f"figures(table) returned figure {figure.number} twice"
            raise InputError(problem, "give one of them another number", str(path))
        drawn[name] = figure
        if name not in wanted:
            warn_of_input(f"{config.path}: `figures` does not list {figure.number}: left out")
    lacking = [number for name, number in wanted.items() if name not in drawn]
    if lacking and complete:
        problem = f"lists figure {lacking[0]}, which {path} does not draw"
        remedy = "draw it, or remove it from the list; finished cells are kept"
        raise InputError(problem, remedy, f"{config.path}, figures")
    listed = tuple(figure for name, figure in drawn.items() if name in wanted)
    return tuple(figure.in_quick_run() for figure in listed) if quick else listed


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
    workers: Workers | None = None,
) -> ReportedExperiment:
    """Write the table, the figures and the provenance of the finished cells.

    Workers that share the folder may draw the figures.
    """
    counts = count_cells(config, quick, store)
    made = {} if replace else check_folder(folder, config)
    if made and made["cells"]["done"] > counts.done:
        if made["experiment"].get("code") == config.content.get("code"):
            return _from_folder(config, folder, made, width)
        done = counted(made["cells"]["done"], "cell")
        warn_of_input(
            f"{folder}: is left as it is, with {done} of functions that have changed since; "
            f"compute them: dcglearn run {config.path}; or use `replace`"
        )
    if made.get("cells", {}).get("done", 0) > counts.done or not counts.done:
        return ReportedExperiment(config, folder, counts)
    table = result_table(config, quick, store)
    whole = counts.complete and (not quick or config.quick_sweep == config.sweep)
    figures = make_figures(config, table, quick, whole)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made ({error.strerror})"
        raise InputError(problem, "choose another `out`", str(folder)) from error
    for path in folder.iterdir():
        if _LEFT_BEHIND.fullmatch(path.name) and path.stat().st_mtime < time.time() - 3600:
            path.unlink()
    write_text(folder / TABLE, table.to_csv(index=False, lineterminator="\n"))
    content = json.dumps([CELL_VERSION, config.content], sort_keys=True)
    made = {
        "config": config.path.name,
        "hash": sha256_of(content.encode()),
        "experiment": config.content,
        "cells": {
            "version": CELL_VERSION,
            "done": counts.done,
            "failed": counts.failed,
            "total": counts.total,
            "quick": quick,
        },
        "files": {TABLE: sha256_of((folder / TABLE).read_bytes())}
        | _write_figures(figures, folder, width, workers),
        **made_with(),
    }
    write_provenance(made, folder / PROVENANCE)
    return ReportedExperiment(config, folder, counts, figures, made)


def check_folder(folder: Path, config: Config) -> dict[str, Any]:
    """Refuse a folder with results of something else or of more; return what made its results."""
    made = read_provenance(folder)
    if not made:
        return {}
    here, identity = json.loads(json.dumps(config.content)), config.identity
    try:
        there, version = made["experiment"], made["cells"]["version"]
        others = [key for key in identity if there.get(key) != here[key]]
        lost = [
            f"{key} {value!r}"
            for key, values in there["sweep"].items()
            for value in values
            if value not in here["sweep"].get(key, [])
        ]
        more = there["repetitions"] > config.repetitions
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("cannot be read", REPLACE, str(folder / PROVENANCE)) from error
    if version != CELL_VERSION:
        problem = f"results of version {version} of the cells, and this is version {CELL_VERSION}"
    elif others:
        key = others[0]
        problem = "results of another config: " + _difference(key, there.get(key), here[key])
    elif lost:
        problem = f"results of a larger grid: it also has {lost[0]}"
    elif more:
        repetitions = counted(there["repetitions"], "repetition")
        problem = f"{repetitions}, and the config {config.repetitions}"
    else:
        return made
    raise InputError(f"holds {problem}", REPLACE, str(folder))


def _difference(key: str, there: Any, here: Any) -> str:
    """Name the innermost key at which two configs differ, with both values."""
    if isinstance(there, dict) and isinstance(here, dict):
        name = min(n for n in there.keys() | here.keys() if there.get(n) != here.get(n))
        return _difference(name, there.get(name), here.get(name))
    return f"{key} is {there!r:.60} there and {here!r:.60} here"


def _files_of(figure: Figure) -> list[str]:
    return [f"{figure.name}{ending}" for ending in ENDINGS]


def _points_of(figure: Figure) -> str:
    text: str = figure.table().to_csv(index=False, lineterminator="\n", float_format="%.9g")
    return text


def _write_figures(
    figures: Sequence[Figure], folder: Path, width: float | None, workers: Workers | None
) -> dict[str, str]:
    """Write the files of figures; return their hashes by name."""
    tasks = [(figure, folder, width) for figure in figures]
    if workers is None:
        found = dict(enumerate(map(_write_figure, tasks)))
    else:
        found = dict(workers(_write_figure, tasks))
    return {name: sha for index in range(len(tasks)) for name, sha in found[index].items()}


def _write_figure(task: tuple[Figure, Path, float | None]) -> dict[str, str]:
    """Write the files of a figure; return their hashes by name."""
    figure, folder, width = task
    points, *pictures = _files_of(figure)
    write_text(folder / points, _points_of(figure))
    drawing = draw_figure(figure, width or WIDTHS["column"])
    for name in pictures:
        save(drawing, folder / name, dpi=PRINTED, adapts=True)
    return {name: sha256_of((folder / name).read_bytes()) for name in (points, *pictures)}


def _from_folder(
    config: Config, folder: Path, made: dict[str, Any], width: float | None
) -> ReportedExperiment:
    """Report an experiment from its table; what is missing, changed or new is drawn again."""
    cells = made["cells"]
    counts = CellCounts(cells["done"], cells["failed"], cells["total"])
    table = _read_table(folder / TABLE, made, config)
    whole = counts.complete and made["experiment"]["sweep"] == config.content["sweep"]
    figures = make_figures(config, table, cells["quick"], whole)
    changed = changed_files(folder, made)
    hashes: dict[str, str] = {}
    for figure in figures:
        names = _files_of(figure)
        bad = [name for name in names if name in changed or not (folder / name).is_file()]
        for name in bad[:1]:
            warn_of_input(f"{folder / name}: was changed or is missing; it is made again")
        if width or bad or (folder / names[0]).read_text("utf-8") != _points_of(figure):
            hashes |= _write_figure((figure, folder, width))
    if hashes.items() - made["files"].items():
        made = {**made, "files": made["files"] | hashes, "redrawn": made_with()}
        write_provenance(made, folder / PROVENANCE)
    return ReportedExperiment(config, folder, counts, figures, made)


def _read_table(path: Path, made: dict[str, Any], config: Config) -> pd.DataFrame:
    """Read a table; refuse one that is not what its provenance describes."""
    remedy = f"restore the file, or compute the cells again: dcglearn run {config.path}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError("cannot be read", remedy, str(path)) from error
    if made["files"].get(TABLE) != sha256_of(content):
        raise InputError(f"is not the table that {PROVENANCE} describes", remedy, str(path))
    return pd.read_csv(BytesIO(content), engine="pyarrow")  # rounds each number correctly
