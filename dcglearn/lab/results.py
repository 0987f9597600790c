"""The results of one experiment: its table, its figures, and their folder with the provenance.

Fewer finished cells never replace more, nor results those of another config, unless asked to. A
folder that holds more cells than the store is reported from its own table.

The store of finished cells is one file of JSON lines in each folder of results. A line is added as
soon as a cell is finished, so a run that is killed loses only the cells that it was computing; a
line without its end is skipped. Failures are kept until the cell is tried again. Two runs may share
a store. Cells of another version are not found.
"""

import json
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from operator import call
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dcglearn.base.errors import InputError, warn_of_input
from dcglearn.base.files import write_text
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting, silent
from dcglearn.base.workers import Workers, WorkersLostError
from dcglearn.lab.compute import run_cell
from dcglearn.lab.config import CELL_VERSION, Cell, Config, dotted, in_words, key_of
from dcglearn.lab.plots import Figure, same_figure
from dcglearn.lab.provenance import (
    PROVENANCE,
    Made,
    changed_files,
    hashes_of,
    made_with,
    read_provenance,
    write_provenance,
)
from dcglearn.lab.registry import own_code
from dcglearn.lab.setting import Setting
from dcglearn.report.tables import Table

CELLS_FILE = "store/cells.jsonl"

TABLE = "table.csv"

PICTURES = (".svg", ".pdf", ".png")

LEFT_BEHIND = f".*-{12 * '[0-9a-f]'}.*"
"""Files that a run has begun to write; those of an hour ago are of one that was killed."""

CHECKED_ON = 2
"""Repetitions after which the list of figures is checked; of one, there are no intervals."""


class Store:
    """The outcomes of all cells computed for one folder of results, or kept in memory."""

    def __init__(self, out: str | Path | None) -> None:
        self.path = None if out is None else Path(out) / CELLS_FILE
        self._outcomes: dict[str, Cell] = {}
        with suppress(FileNotFoundError, NotADirectoryError):
            for line in self.path.read_bytes().splitlines() if self.path else ():
                with suppress(ValueError):  # it was not written to its end
                    record = json.loads(line)
                    self._outcomes[record["key"]] = record["outcome"]

    def get(self, cell: Cell) -> Cell | None:
        """Return the result of a finished cell, or None."""
        return self.outcome(cell).get("result")

    def outcome(self, cell: Cell) -> Cell:
        """Return the result of a cell, or its error when it was last tried, by these names."""
        return self._outcomes.get(key_of(cell), {})

    def add(self, cell: Cell, outcome: Cell) -> None:
        """Write an outcome and keep it; a result that is not finite is kept as a failure."""
        for name, value in outcome.get("result", {}).items():
            if not np.size(value) or not np.isfinite(value).all():
                outcome = {"error": f"ValueError: {name} is {value!r}"}
        key = key_of(cell)
        line = json.dumps({"key": key, "cell": cell, "outcome": outcome})
        if self.path is not None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab") as file:
                    file.write(f"\n{line}".encode())  # after one that was not written to its end
            except OSError as error:
                raise InputError(
                    f"cannot be used ({error.strerror})",
                    "make room, or choose another `out`; finished cells are kept",
                    str(self.path),
                ) from error
        self._outcomes[key] = json.loads(line)["outcome"]  # as the next run reads it


@dataclass(frozen=True)
class CellCounts:
    """How many cells of an experiment are finished and how many failed."""

    done: int
    failed: int
    total: int
    first_error: str | None = None

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


def count_cells(config: Config, store: Store) -> CellCounts:
    """Count the cells of an experiment that a store holds."""
    outcomes = [(point, store.outcome(cell)) for point, cell in config.cells()]
    errors = [f"{in_words(point)}: {one['error']}" for point, one in outcomes if "error" in one]
    done = sum("result" in one for _, one in outcomes)
    return CellCounts(done, len(errors), len(outcomes), next(iter(errors), None))


def progress_of(configs: Sequence[Config], out: Path) -> tuple[Table, list[str]]:
    """Return a table of how much of each experiment is done, and the first failures."""
    store, rows, errors = Store(out), list[Cell](), []
    for config in configs:
        in_table = 0
        try:
            in_table = check_folder(out, config).get("cells", {}).get("done", 0)
        except InputError as error:
            warn_of_input(str(error))
        full, part = (count_cells(one, store) for one in (config, config.quick_part()))
        if full.first_error:
            errors.append(f"the first failed cell of {config.name}: {full.first_error}")
        rows.append(
            {
                "experiment": config.name,
                "figures": ", ".join(config.figures),
                "done": full.done,
                "failed": full.failed,
                "cells": full.total,
                "quick part": f"{part.done:,} of {part.total:,}",
                "in its table": in_table,
            }
        )
    return Table.of(rows, f"cells in {store.path}"), errors


def result_table(config: Config, store: Store) -> pd.DataFrame:
    """Return the finished cells, a row each, in the order of the grid; numbers have nine digits."""
    rows = []
    for point, cell in config.cells():
        result = store.get(cell)
        if result is None:
            continue
        row = {key: as_text(value) for key, value in point.items()}
        for column in (name for one in config.code.columns for name in _of_each(one, cell)):
            value = result.get(column)
            if isinstance(value, list):
                row |= {f"{column}_{i}": float(f"{one:.9g}") for i, one in enumerate(value, 1)}
            elif value is not None:
                row[column] = float(f"{value:.9g}")
        rows.append(row)
    return pd.DataFrame(rows)


def _of_each(column: str, cell: Cell) -> list[str]:
    """Return the columns that a name in COLUMNS means: one for each preset, or hypothesis."""
    head, _, kind = column.partition(":")
    key = {"PRESET": "against", "HYPOTHESIS": "hypotheses"}.get(kind)
    return [f"{head}:{name}" for name in cell.get(key, ())] if key else [column]


def add_settings(config: Config, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with one more column for every setting that was not swept."""
    setting = dotted(Setting(**config.setting).model_dump())
    fixed = {key: as_text(value) for key, value in setting.items() if key not in table}
    whole = table.assign(**fixed)
    lengths = whole["base"].str.split().str.len()
    return whole.assign(ranks=whole["ranks"].fillna(lengths).astype(int))


def as_text(value: Any) -> Any:
    """Return a value of a setting as the table holds it."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


def make_figures(config: Config, table: pd.DataFrame, complete: bool = False) -> tuple[Figure, ...]:
    """Return the figures that a config lists, as data; of complete cells, all are needed."""
    given, path = add_settings(config, table), str(config.code.path)
    remedy = f"fix it and run again; finished cells are kept. Columns: {', '.join(given)}"
    with own_code(path, "figures(table) failed ({})", remedy):
        drawn = {same_figure(one.number): one for one in config.code.figures(given)}
    wanted = {same_figure(number): number for number in config.figures}
    for name in drawn.keys() - wanted.keys():
        warn_of_input(f"{config.path}: `figures` does not list {drawn[name].number}: left out")
    lacking = [number for name, number in wanted.items() if name not in drawn]
    if lacking and complete and not config.whole:
        raise InputError(
            f"lists figure {lacking[0]}, which {path} does not draw",
            "draw it, or remove it from the list; finished cells are kept",
            f"{config.path}, figures",
        )
    shown = (figure for name, figure in drawn.items() if name in wanted)
    return tuple(one.in_quick_run() if config.whole else one for one in shown)


def results_folder(out: Path, config: Config) -> Path:
    """Return the folder of the results of one experiment."""
    return (out / "quick" if config.whole else out) / config.name


def write_results(
    config: Config, store: Store, out: Path, replace: bool, width: float | None = None
) -> ReportedExperiment:
    """Write the table, the figures and the provenance of the finished cells.

    Of a folder that holds more cells, what is missing, changed or new is drawn from its table.
    """
    folder, counts = results_folder(out, config), count_cells(config, store)
    made = {} if replace else check_folder(out, config)
    kept = made["cells"] if made and made["cells"]["done"] > counts.done else {}
    outdated = kept and made["experiment"].get("code") != config.content.get("code")
    if outdated:
        warn_of_input(
            f"{folder}: is left as it is, with {counted(kept['done'], 'cell')} of functions that "
            f"have changed since; compute them: dcglearn run {config.path}; or use `replace`"
        )
    if outdated or not (kept or counts.done):
        return ReportedExperiment(config, folder, counts)
    if kept:
        counts = CellCounts(kept["done"], kept["failed"], counts.total)
        changed = changed_files(folder, made)
        if TABLE in changed:
            raise InputError(
                f"is not the table that {PROVENANCE} describes",
                f"restore the file, or compute the cells again: dcglearn run {config.path}",
                str(folder / TABLE),
            )
        table = pd.read_csv(folder / TABLE, engine="pyarrow")  # rounds each number correctly
        unchanged = made["files"].keys() - changed
    else:
        table, unchanged = result_table(config, store), set()
    figures = make_figures(config, table, counts.complete)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(LEFT_BEHIND):
        if path.stat().st_mtime < time.time() - 3600:
            path.unlink()
    if not kept:
        write_text(folder / TABLE, table.to_csv(index=False, lineterminator="\n"))
        made = {
            "config": config.path.name,
            "experiment": config.content,
            "cells": {
                "version": CELL_VERSION,
                "done": counts.done,
                "failed": counts.failed,
                "total": counts.total,
                "quick": config.whole is not None,
            },
            "files": hashes_of([folder / TABLE]),
            **made_with(),
        }
    files = made["files"] | _write_figures(figures, folder, width, set() if width else unchanged)
    if not kept or files != made["files"]:
        made |= {"files": files} | ({"redrawn": made_with()} if kept else {})
        write_provenance(made, folder / PROVENANCE)
    return ReportedExperiment(config, folder, counts, figures, made)


def check_folder(out: Path, config: Config) -> Made:
    """Refuse a folder with results of something else or of more; return what made its results."""
    folder = results_folder(out, config)
    made = read_provenance(folder)
    for problem in _foreign(made, config) if made else ():
        raise InputError(f"holds {problem}", "name another `out`, or use `replace`", str(folder))
    return made


def _foreign(made: Made, config: Config) -> Iterator[str]:
    """Yield what in results is of something else than a config, or of more."""
    version = made["cells"]["version"]
    if version != CELL_VERSION:
        yield f"results of version {version} of the cells, and this is version {CELL_VERSION}"
    there, here = made["experiment"], config.content
    old, new = ({**one, **one["setting"], "setting": ""} for one in (there, here))
    for key in sorted((old.keys() | new.keys()) - {"sweep", "repetitions", "code"}):
        if old.get(key) != new.get(key):
            values = f"{old.get(key)!r:.60} there and {new.get(key)!r:.60} here"
            yield f"results of another config: {key} is {values}"
    for key, values in there["sweep"].items():
        for value in values:
            if value not in here["sweep"].get(key, []):
                yield f"results of a larger grid: it also has {key} {value!r}"
    if there["repetitions"] > here["repetitions"]:
        yield f"{counted(there['repetitions'], 'repetition')}, and the config {here['repetitions']}"


def _write_figures(
    figures: Sequence[Figure], folder: Path, width: float | None, unchanged: set[str]
) -> dict[str, str]:
    """Write files of figures, but for those with the same points; return the hashes of new ones."""
    from dcglearn.lab.experiment_figures import draw_figure  # it is slow to load, and not needed
    from dcglearn.report.figures.style import save  # before workers are busy

    paths = []
    for figure in figures:
        files = [folder / f"{figure.name}{ending}" for ending in (".csv", *PICTURES)]
        points = figure.table().to_csv(index=False, lineterminator="\n", float_format="%.9g")
        bad = [path for path in files if path.name not in unchanged]
        if unchanged and bad:
            warn_of_input(f"{bad[0]}: was changed or is missing; it is made again")
        elif unchanged and files[0].read_text("utf-8") == points:
            continue
        write_text(files[0], points)
        drawing = draw_figure(figure, width)
        for path in files[1:]:
            save(drawing, path, dpi=300, adapts=True)  # as journals ask for
        paths += files
    return hashes_of(paths)


def compute_cells(
    configs: Sequence[Config],
    store: Store,
    workers: Workers,
    progress: bool = False,
    all_figures: bool = False,
) -> Generator[tuple[Config, CellCounts, int], None, None]:
    """Compute the cells that the store lacks; each is stored as soon as it is finished.

    Yields each config when all its cells are tried, with how many of them are new; workers go on
    with the others meanwhile. Where it needs all figures that it lists, its first repetitions show.
    """
    jobs, of_configs = dict[str, partial[Cell]](), []
    for config in configs:
        cells = [(key_of(cell), cell) for _, cell in config.cells() if store.get(cell) is None]
        lacking = [(key, cell) for key, cell in cells if key not in jobs]
        of_configs.append(lacking)  # points of the grid may share a cell
        jobs |= {key: partial(run_cell, cell, config.code.functions) for key, cell in lacking}
    keys = list(jobs)
    outcomes = workers(call, list(jobs.values()))
    for config, lacking in zip(configs, of_configs, strict=True):
        first = config.model_copy(update={"repetitions": min(CHECKED_ON, config.repetitions)})
        begun = sum(cell["repetition"] < CHECKED_ON for _, cell in lacking)
        try:
            with reporting(config.name) if progress else nullcontext(silent) as advance:
                for done, (key, _) in enumerate(lacking):
                    if done == begun and all_figures and count_cells(first, store).complete:
                        make_figures(first, result_table(first, store), complete=True)
                    while key in jobs:  # until it is finished
                        index, outcome = next(outcomes)
                        store.add(jobs.pop(keys[index]).args[0], outcome)
                    advance(done + 1, len(lacking))
        except (KeyboardInterrupt, WorkersLostError):
            found = count_cells(config, store)
            kept = f"{found.done:,} of {counted(found.total, 'cell is', 'cells are')} kept"
            warn_of_input(f"{config.name}: {kept}; the same command continues from there")
            raise
        n_new = sum(store.get(cell) is not None for _, cell in lacking)
        yield config, count_cells(config, store), n_new


def reported_experiments(
    configs: Sequence[Config],
    out: Path,
    replace: bool = False,
    width: float | None = None,
    all_needed: bool = True,
) -> list[ReportedExperiment]:
    """Return experiments with the results that they have; where not all are needed, or none."""
    store, shown = Store(out), []
    for config in configs:
        try:
            shown.append(write_results(config, store, out, replace, width))
        except InputError as error:
            if all_needed:
                raise
            warn_of_input(f"left out: {error}")
            folder = results_folder(out, config)
            shown.append(ReportedExperiment(config, folder, count_cells(config, store)))
    return shown
