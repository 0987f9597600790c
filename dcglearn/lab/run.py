"""Running experiments: the cells that are missing, then table, figures and provenance.

    for each config:  cells -> store,  store -> folder of results

All experiments of one folder share its store and the workers. What was finished is kept whatever
happens: the same call continues from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import Advance, reporting, silent
from dcglearn.base.workers import Say, Workers, WorkersLostError, open_workers
from dcglearn.lab.cells import key_of
from dcglearn.lab.compute import CellComputer
from dcglearn.lab.config import Config
from dcglearn.lab.results import (
    CellCounts,
    ReportedExperiment,
    check_folder,
    count_cells,
    results_folder,
    write_results,
)
from dcglearn.lab.store import Store


def compute_cells(
    config: Config, quick: bool, store: Store, workers: Workers, advance: Advance = silent
) -> CellCounts:
    """Compute the cells that the store lacks; each is stored as soon as it is finished."""
    cells = [cell for _, cell in config.cells(quick) if store.get(cell) is None]
    lacking = list({key_of(cell): cell for cell in cells}.values())
    compute = CellComputer(config.queries, config.codes)
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
    with open_workers(workers, note) as pool:
        store, drawing = Store(out / "store"), None if "://" in workers else pool
        for folder, config in zip(folders, configs, strict=True):
            done = compute(config, quick, store, pool, note)
            failures = f", {done.failed:,} failed" if done.failed else ""
            parts = f"{done.done - done.new:,} kept, {done.new:,} new{failures}"
            say(f"{config.name}: {done.done:,} of {counted(done.total, 'cell')}: {parts}")
            store.check_kept()
            shown.append(write_results(config, quick, store, folder, replace, width, drawing))
        store.close()
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
