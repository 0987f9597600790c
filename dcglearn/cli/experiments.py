"""Commands on experiments: run, reproduce, status, report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
from dcglearn.base.progress import reporting
from dcglearn.cli.experiment_configs import find_configs, first_figure, select_configs
from dcglearn.cli.experiment_options import (
    ColumnsOption,
    ConfigsArgument,
    FindingsOption,
    OnlyOption,
    OutOption,
    QuickOption,
    ReplaceOption,
    ShippedOption,
    WidthOption,
    WorkersOption,
)
from dcglearn.terminal.options import JsonOption
from dcglearn.terminal.output import print_json, print_note, print_text
from dcglearn.terminal.remedies import message

if TYPE_CHECKING:
    from dcglearn.base.parallel_map import Workers
    from dcglearn.design.config import Config
    from dcglearn.lab.run import CellCounts
    from dcglearn.lab.store import Store
    from dcglearn.pages.results import ReportedExperiment

DEFAULT_FOLDER = "results"


def run(
    config: Annotated[
        str | None,
        typer.Argument(metavar="CONFIG", help="A config: a .toml file, or a name (flips)."),
    ] = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    out: OutOption = None,
    replace: ReplaceOption = False,
    width: WidthOption = None,
    columns: ColumnsOption = False,
) -> None:
    """Run one experiment and write its table and figures.

    Cells that are already computed are not computed again.
    """
    from dcglearn.lab.experiment_files import config_named

    if columns:
        _print_vocabulary(config)
        return
    if config is None:
        raise InputError("no config is named", "name one, such as dcglearn run configs/flips.toml")
    read = config_named(config)
    place = _results_folder(read.run.out if out is None else out)
    asked = read.run.workers if workers is None else workers
    shown = _run([read], quick, asked, place, replace, _inches(width))
    _print_verdicts(shown)
    where = shown[0].folder
    print_text(
        f"results are in {where}" if shown[0].made else f"no cell is finished: {where} is as it was"
    )
    _end_if_unfinished(shown)


def _print_vocabulary(config: str | None) -> None:
    from dcglearn.axes.experiment_code import installed_registry
    from dcglearn.lab.experiment_files import config_named
    from dcglearn.lab.vocabulary import vocabulary

    registry = installed_registry() if config is None else config_named(config).code.registry
    for heading, names in vocabulary(registry):
        lines = (f"  {name}{f': {words}' if words else ''}" for name, words in names)
        print_text("\n".join([heading, *lines, ""]))


def reproduce(
    quick: QuickOption = False,
    only: OnlyOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    replace: ReplaceOption = False,
    width: WidthOption = None,
    shipped: ShippedOption = False,
) -> None:
    """Run every experiment in the folder configs; write the page.

    Without such a folder, run the shipped ones, which reproduce the paper.
    """
    from dcglearn.lab.experiment_files import refuse_shared_figures

    every = find_configs(lenient=only is not None, shipped=shipped)
    refuse_shared_figures(every)
    selected = every if only is None else select_configs(every, only, shipped)
    place = _results_folder(out)
    asked = "1" if workers is None else workers
    shown = _run(selected, quick, asked, place, replace, _inches(width))
    _print_verdicts(shown)
    others = [config for config in every if config not in selected]
    store = _store(place, say=False)
    rest = [_other(config, quick, store, place) for config in others]
    _write_page([*shown, *rest], quick, place)
    _end_if_unfinished(shown)


def status(
    configs: ConfigsArgument = None,
    out: OutOption = None,
    json: JsonOption = False,
    shipped: ShippedOption = False,
) -> None:
    """Show how much of each experiment is done."""
    from dcglearn.design.cells import key_of
    from dcglearn.lab.run import count_cells
    from dcglearn.report.tables import Table

    store = _store(_results_folder(out))
    rows, errors = [], {}
    known: set[str] = set()
    for config in find_configs(configs, lenient=True, shipped=shipped):
        known |= {key_of(cell) for _, cell in config.cells() if store.get(cell) is not None}
        full, part = count_cells(config, False, store), count_cells(config, True, store)
        if full.first_error is not None:
            errors[config.name] = full.first_error
        figures = ", ".join(config.figures)
        quick = f"{part.done:,} of {part.total:,}"
        rows.append((config.name, figures, full.done, full.failed, full.total, quick))
    columns = ("experiment", "figures", "done", "failed", "cells", "quick part")
    if json:
        _print_damage(store.folder.parent)
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    print_text(Table(columns, rows, f"cells in {store.path}").text())
    for name, error in errors.items():
        print_text(f"the first failed cell of {name}: {error}")
    _print_damage(store.folder.parent)
    if len(store) > len(known):
        more = len(store) - len(known)
        print_text(f"{counted(more, 'more cell belongs', 'more cells belong')} to other configs")


def report(
    configs: ConfigsArgument = None,
    quick: QuickOption = False,
    out: OutOption = None,
    replace: ReplaceOption = False,
    width: WidthOption = None,
    shipped: ShippedOption = False,
    findings: FindingsOption = None,
) -> None:
    """Write tables, figures and the page from the finished cells."""
    from dcglearn.lab.experiment_files import refuse_shared_figures
    from dcglearn.pages.results import write_results

    if findings is not None:
        from dcglearn.files.files import checked_suffix

        checked_suffix(findings, [".tex"])
    place = _results_folder(out)
    store = _store(place)
    if not store.path.exists():
        command = "dcglearn reproduce" + (f" --out {out}" if out else "")
        raise InputError("no cell is finished", f"run {command} first", str(place))
    selected = find_configs(configs, lenient=True, shipped=shipped)
    refuse_shared_figures(selected)
    inches = _inches(width)
    shown = [
        write_results(config, quick, store, _folder(place, quick, config), replace, inches)
        for config in selected
    ]
    _print_damage(place)
    _write_page(shown, quick, place)
    if findings is not None:
        _write_findings(shown, findings)


def _print_damage(out: Path) -> None:
    """Report what was changed in the folders of results, also in those of scripts."""
    from dcglearn.lab.provenance import damage_in

    for folder in (out, _root(out, True)):
        for error in damage_in(folder):
            print_note(message(error))


def _run(
    configs: Sequence[Config],
    quick: bool,
    workers: str,
    out: Path,
    replace: bool,
    width: float | None,
) -> list[ReportedExperiment]:
    from dcglearn.base.workers import open_workers
    from dcglearn.lab.experiment_files import load_experiment
    from dcglearn.pages.results import check_folder, make_folder, write_results

    for config in configs:  # refuse what can be refused before anything is computed
        load_experiment(config)
        if not replace:
            check_folder(_folder(out, quick, config), config)
    shown = []
    refused: list[str] = []
    with open_workers(workers, refused.append) as pool:
        drawers = None if "://" in workers else pool  # figures are written on this machine
        make_folder(out)
        store = _store(out)
        for config in configs:
            try:
                done = _compute(config, quick, store, pool)
            finally:  # not while the line of progress is redrawn
                for words in refused:
                    print_note(f"{config.name}: {words}")
                refused.clear()
            print_text(f"{config.name}: {_counts(done)}")
            folder = _folder(out, quick, config)
            drawn = write_results(config, quick, store, folder, replace, width, drawers)
            shown.append(drawn)
            store.check_kept()
    return shown


def _counts(done: CellCounts) -> str:
    failures = f", {done.failed:,} failed" if done.failed else ""
    parts = f"{done.done - done.new:,} kept, {done.new:,} new{failures}"
    return f"{done.done:,} of {counted(done.total, 'cell')}: {parts}"


def _compute(config: Config, quick: bool, store: Store, workers: Workers) -> CellCounts:
    from dcglearn.base.parallel_map import WorkersLostError
    from dcglearn.lab.run import compute_cells, count_cells

    try:
        with reporting(config.name) as advance:
            return compute_cells(config, quick, store, workers, advance)
    except (KeyboardInterrupt, WorkersLostError) as stop:
        done = count_cells(config, quick, store)
        kept = f"{config.name}: {done.done:,} of {counted(done.total, 'cell is', 'cells are')} kept"
        words = f"{kept}; the same command continues from there"
        if isinstance(stop, KeyboardInterrupt):
            print_note(words)
            raise
        raise WorkersLostError(f"{stop}; {words}") from stop


def _other(config: Config, quick: bool, store: Store, out: Path) -> ReportedExperiment:
    """Return an experiment that was not asked for, with the results that it already has."""
    from dcglearn.lab.run import count_cells
    from dcglearn.pages.results import ReportedExperiment, write_results

    folder = _folder(out, quick, config)
    try:
        return write_results(config, quick, store, folder)
    except InputError as error:
        print_note(f"left out of the page: {message(error)}")
        return ReportedExperiment(config, folder, count_cells(config, quick, store), ())


def _write_page(shown: Sequence[ReportedExperiment], quick: bool, out: Path) -> None:
    from dcglearn.pages.page import write_page

    page = write_page(
        sorted(shown, key=lambda one: first_figure(one.config)), _root(out, quick), quick
    )
    print_text(f"read {page}")


def _write_findings(shown: Sequence[ReportedExperiment], path: str) -> None:
    from dcglearn.files.files import write_text
    from dcglearn.pages.findings import findings_latex
    from dcglearn.pages.page import order_in_paper

    figures = [figure for one in shown for figure in one.figures]
    write_text(path, findings_latex(sorted(figures, key=order_in_paper)))
    print_text(f"wrote {path}")


def _root(out: Path, quick: bool) -> Path:
    return out / "quick" if quick else out


def _folder(out: Path, quick: bool, config: Config) -> Path:
    return _root(out, quick) / config.name


def _results_folder(out: str | None) -> Path:
    if out is not None and not out.strip():
        raise InputError("--out is empty", "name a folder")
    place = Path(DEFAULT_FOLDER if out is None else out)
    if place.exists() and not place.is_dir():
        raise InputError("is not a folder", "choose another --out", str(place))
    return place


def _store(out: Path, say: bool = True) -> Store:
    """Open the store and report the records that are ignored."""
    from dcglearn.lab.store import Store

    store = Store(out / "store")
    if not say:
        return store
    counts = {"torn": store.torn, "damaged": store.damaged}
    bad = [f"{n:,} {word} record{'s' * (n > 1)}" for word, n in counts.items() if n]
    if bad:
        print_note(f"{store.path}: ignored {' and '.join(bad)}; missing cells are computed again")
    if store.other_versions:
        records = counted(store.other_versions, "record")
        print_note(f"{store.path}: ignored {records} of other versions of cells")
    return store


def _print_verdicts(shown: Sequence[ReportedExperiment]) -> None:
    for one in shown:
        done = f" (from {one.counts.done:,} of {counted(one.counts.total, 'cell')})"
        part = "" if one.counts.complete else done
        for figure in one.figures:
            verdicts = "; ".join(claim.finding.verdict for claim in figure.claims)
            print_text(f"figure {figure.number}: {verdicts or 'no claim'}{part}")


def _inches(width: str | None) -> float | None:
    from dcglearn.figures.experiment_figures import figure_width

    return None if width is None else figure_width(width)


def _end_if_unfinished(shown: Sequence[ReportedExperiment]) -> None:
    failed = [one for one in shown if one.counts.failed]
    if not failed:
        return
    count = sum(one.counts.failed for one in failed)
    words = f"{counted(count, 'cell')} failed"
    print_note(
        f"dcglearn: {words}; the others are kept, and the same command tries again. First error: "
        f"{failed[0].counts.first_error}"
    )
    raise typer.Exit(1)
