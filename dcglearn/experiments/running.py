"""Running experiments: the cells that are missing, then table, figures and provenance.

    for each config:  cells -> store,  store -> folder of results

All experiments of one folder share its store and the workers. What was finished is kept whatever
happens: the same call continues from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

from dcglearn.base.numbers import counted
from dcglearn.base.process import uninterrupted
from dcglearn.base.progress import reporting, silent
from dcglearn.base.workers import Say, Workers, WorkersLostError, open_workers
from dcglearn.design.config import Config
from dcglearn.lab.experiment_files import load_experiment
from dcglearn.lab.rehearsal import check_figure_columns
from dcglearn.lab.run import CellCounts, compute_cells, count_cells
from dcglearn.lab.store import Store, open_store
from dcglearn.pages.results import (
    PreparedResults,
    ReportedExperiment,
    finish_results,
    prepare_results,
    write_results,
)
from dcglearn.pages.results_folders import check_folder, make_folder, results_folder


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
    """Run experiments one after the other, and write their tables and figures.

    Parameters
    ----------
    configs : sequence of Config
    quick : bool
        Whether to run the quick part of each grid only.
    workers : str
        As :func:`dcglearn.base.workers.open_workers` takes it.
    out : Path
        The folder of results.
    say : callable
        Called with a line for each experiment: how many of its cells are kept, new and failed.
    note : callable
        Called with a line for each thing that went wrong and does not end the run.
    replace : bool, default False
        Whether results of another config, or of more cells, may be replaced.
    width : float, optional
        Of the figures, in inches.

    Returns
    -------
    list of ReportedExperiment

    Raises
    ------
    InputError
        Before anything is computed, if an experiment file cannot be used or a folder holds
        results of something else.
    WorkersLostError
        If the workers are lost.
    """
    for config in configs:
        check_figure_columns(load_experiment(config), config, quick)
        if not replace:
            check_folder(results_folder(out, quick, config), config)
    refused: list[str] = []
    prepared: list[PreparedResults | ReportedExperiment] = []
    with open_workers(workers, refused.append) as pool, _writer() as writer:
        make_folder(out)
        store = open_store(out, note)
        written: list[Future[ReportedExperiment]] = []
        for config in configs:
            try:
                done = compute(config, quick, store, pool, note)
            finally:  # not while the line of progress is redrawn
                for words in refused:
                    note(f"{config.name}: {words}")
                refused.clear()
            say(f"{config.name}: {_counts(done)}")
            asked = config, quick, store, results_folder(out, quick, config), replace, width
            if quick:  # whose figures take longer than its cells: all processes draw them
                prepared.append(prepare_results(*asked))
            else:  # while the next cells are computed
                written.append(writer.submit(write_results, *asked))
            for one in written:
                if one.done():
                    one.result()  # raises what it raised
            store.check_kept()
        drawers = None if "://" in workers else pool  # figures are written on this machine
        return [*(one.result() for one in written), *finish_results(prepared, drawers)]


def compute(
    config: Config, quick: bool, store: Store, pool: Workers, note: Say, progress: bool = True
) -> CellCounts:
    """Compute the cells of an experiment that a store lacks, showing progress.

    Parameters
    ----------
    config : Config
    quick : bool
        Whether to compute the quick part of the grid only.
    store : Store
    pool : callable
        From :func:`dcglearn.base.workers.open_workers`.
    note : callable
        Called with a line if the work is interrupted: how much is kept.
    progress : bool, default True
        Whether to show progress on standard error, from two seconds on.

    Returns
    -------
    CellCounts

    Raises
    ------
    WorkersLostError
        If the workers are lost. It says how much is kept.
    """
    try:
        with reporting(config.name) if progress else nullcontext(silent) as advance:
            return compute_cells(config, quick, store, pool, advance)
    except (KeyboardInterrupt, WorkersLostError) as stop:
        done = count_cells(config, quick, store)
        kept = f"{config.name}: {done.done:,} of {counted(done.total, 'cell is', 'cells are')} kept"
        words = f"{kept}; the same command continues from there"
        if isinstance(stop, KeyboardInterrupt):
            note(words)
            raise
        raise WorkersLostError(f"{stop}; {words}") from stop


@contextmanager
def _writer() -> Iterator[ThreadPoolExecutor]:
    """Open a thread; what it was given to write is finished, however the block ends."""
    writer = ThreadPoolExecutor(1)
    try:
        yield writer
    finally:
        with uninterrupted():  # a second Ctrl-C would end the process in the middle of a file
            writer.shutdown()


def _counts(done: CellCounts) -> str:
    failures = f", {done.failed:,} failed" if done.failed else ""
    parts = f"{done.done - done.new:,} kept, {done.new:,} new{failures}"
    return f"{done.done:,} of {counted(done.total, 'cell')}: {parts}"
