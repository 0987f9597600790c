"""Commands on experiments: run, reproduce, status, report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcglearn.base.errors import InputError
from dcglearn.base.numbers import counted
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
    from dcglearn.design.config import Config
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
    from dcglearn.experiments.running import run_experiments
    from dcglearn.lab.experiment_files import config_named

    if columns:
        _print_vocabulary(config)
        return
    if config is None:
        raise InputError("no config is named", "name one, such as dcglearn run configs/flips.toml")
    read = config_named(config)
    place = _results_folder(read.run.out if out is None else out)
    asked = read.run.workers if workers is None else workers
    shown = run_experiments(
        [read], quick, asked, place, print_text, print_note, replace, _inches(width)
    )
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
    from dcglearn.experiments.running import run_experiments
    from dcglearn.lab.experiment_files import refuse_shared_figures
    from dcglearn.lab.store import Store

    every = find_configs(lenient=only is not None, shipped=shipped)
    refuse_shared_figures(every)
    selected = every if only is None else select_configs(every, only, shipped)
    place = _results_folder(out)
    asked = "1" if workers is None else workers
    shown = run_experiments(
        selected, quick, asked, place, print_text, print_note, replace, _inches(width)
    )
    _print_verdicts(shown)
    rest = []
    if others := [config for config in every if config not in selected]:
        store = Store(place / "store")
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
    from dcglearn.lab.store import open_store
    from dcglearn.pages.results_folders import cells_in, results_folder
    from dcglearn.report.tables import Table

    place = _results_folder(out)
    store = open_store(place, print_note)
    rows, errors, elsewhere = [], {}, 0
    known: set[str] = set()
    for config in find_configs(configs, lenient=True, shipped=shipped):
        known |= {key_of(cell) for _, cell in config.cells() if store.get(cell) is not None}
        for kind in (False, True):
            _print_difference(results_folder(place, kind, config), config)
        full, part = count_cells(config, False, store), count_cells(config, True, store)
        elsewhere += cells_in(results_folder(place, False, config)) > full.done
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
    if elsewhere:
        tables = counted(elsewhere, "table holds", "tables hold")
        print_text(f"{tables} more cells, computed elsewhere: dcglearn report shows them")
    if len(store) > len(known):
        more = len(store) - len(known)
        belong = counted(more, "more cell belongs", "more cells belong")
        print_text(f"{belong} to other configs, or to these as they or their code were before")


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
    from dcglearn.lab.store import open_store
    from dcglearn.pages.results import write_results
    from dcglearn.pages.results_folders import results_folder

    if findings is not None:
        from dcglearn.base.files import checked_suffix

        checked_suffix(findings, [".tex"])
    place = _results_folder(out)
    store = open_store(place, print_note)
    selected = find_configs(configs, lenient=True, shipped=shipped)
    refuse_shared_figures(selected)
    inches = _inches(width)
    shown = [
        write_results(config, quick, store, results_folder(place, quick, config), replace, inches)
        for config in selected
    ]
    if not store.path.exists() and not any(one.made for one in shown):
        command = "dcglearn reproduce" + (f" --out {out}" if out else "")
        raise InputError("no cell is finished", f"run {command} first", str(place))
    _print_damage(place)
    _write_page(shown, quick, place)
    if findings is not None:
        _write_findings(shown, findings)


def _print_difference(folder: Path, config: Config) -> None:
    """Say if a folder holds results of something else, as of another version of the cells."""
    from dcglearn.pages.results_folders import check_folder

    try:
        check_folder(folder, config)
    except InputError as error:
        print_note(message(error))


def _print_damage(out: Path) -> None:
    """Report what was changed in the folders of results, also in those of scripts."""
    from dcglearn.lab.provenance import damage_in

    for folder in (out, _root(out, True)):
        for error in damage_in(folder):
            print_note(message(error))


def _other(config: Config, quick: bool, store: Store, out: Path) -> ReportedExperiment:
    """Return an experiment that was not asked for, with the results that it already has."""
    from dcglearn.lab.run import count_cells
    from dcglearn.pages.results import ReportedExperiment, write_results
    from dcglearn.pages.results_folders import results_folder

    folder = results_folder(out, quick, config)
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
    from dcglearn.base.files import write_text
    from dcglearn.pages.findings import findings_latex
    from dcglearn.pages.page import order_in_paper

    figures = [figure for one in shown for figure in one.figures]
    write_text(path, findings_latex(sorted(figures, key=order_in_paper)))
    print_text(f"wrote {path}")


def _root(out: Path, quick: bool) -> Path:
    return out / "quick" if quick else out


def _results_folder(out: str | None) -> Path:
    if out is not None and not out.strip():
        raise InputError("--out is empty", "name a folder")
    place = Path(DEFAULT_FOLDER if out is None else out)
    if place.exists() and not place.is_dir():
        raise InputError("is not a folder", "choose another --out", str(place))
    return place


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
