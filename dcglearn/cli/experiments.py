"""Commands on experiments: run, reproduce, status, report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit

from dcglearn.base.errors import InputError, naming
from dcglearn.base.numbers import counted
from dcglearn.cli.command import Answer, command
from dcglearn.cli.output import print_note, print_text

if TYPE_CHECKING:
    from dcglearn.lab.config import Config
    from dcglearn.lab.results import ReportedExperiment


@dataclass(frozen=True)
class ExperimentOptions:
    """The options of several commands on experiments.

    Parameters
    ----------
    quick
        Only the quick part of the grid; its results go to FOLDER/quick.
    workers : N|tcp://HOST:PORT
        Processes on this machine, or the address of a Dask scheduler.
    out, -o : FOLDER
        Folder of results.
    replace
        Replace the results of another config or version.
    width : column|page|INCHES
        The width of figures: a column of a paper (3.3 inches, the default), a page (7), ...
    shipped
        Also the shipped experiments, beside your own.
    """

    quick: bool = False
    workers: str = "1"
    out: Path = Path("results")
    replace: bool = False
    width: str | None = None
    shipped: bool = False

    def parts(self, configs: Sequence[Config]) -> list[Config]:
        """Return what is to be run of configs."""
        return [one.quick_part() if self.quick else one for one in configs]


ConfigsArgument = Annotated[
    list[str] | None,
    Argument(
        metavar="CONFIG",
        help="Config files (.toml); by default all in the folder configs, or the shipped ones if "
        "it has none.",
    ),
]


@command(without=["shipped"])
def run(
    options: ExperimentOptions,
    config: Annotated[str | None, Argument()] = None,
    columns: bool = False,
) -> None:
    """Run one experiment and write its table and figures.

    Cells that are already computed are not computed again.

    Parameters
    ----------
    config : CONFIG
        A config: a .toml file, or a name (flips).
    columns
        List what COLUMNS and a config may name, with the functions of CONFIG, if one is named; run
        nothing.
    """
    from dcglearn.lab.config import Document, config_named
    from dcglearn.lab.registry import SHIPPED
    from dcglearn.lab.setting import vocabulary

    read = None if config is None else config_named(config)
    if columns:
        code = SHIPPED if read is None else read.code
        for heading, names in vocabulary(code, Document).items():
            lines = (f"  {name}: {words}".rstrip(": ") for name, words in names.items())
            print_text("\n".join([heading, *lines, ""]))
        return
    if read is None:
        raise InputError("no config is named", "name one, such as dcglearn run configs/flips.toml")
    (shown,) = _run(options.parts([read]), options)
    print_text(
        f"results are in {shown.folder}"
        if shown.made
        else f"no cell is finished: {shown.folder} is as it was"
    )
    _end_if_unfinished([shown])


@command()
def reproduce(options: ExperimentOptions, only: str | None = None, long: bool = False) -> None:
    """Run the experiments in the folder configs; write the page.

    Without such a folder, run the shipped ones, which reproduce the paper. Those that take more
    than minutes are left to --long; the page shows the results that they have.

    Parameters
    ----------
    only : NAME,...
        Figures or configs to run, such as 5,6.
    long
        Also those that take more than minutes; --only names them, too.
    """
    from dcglearn.lab.config import find_configs, refuse_shared_figures, select_configs
    from dcglearn.lab.page import write_page
    from dcglearn.lab.results import reported_experiments

    every = options.parts(find_configs(options.shipped, all_needed=only is None))
    refuse_shared_figures(every)
    if only is not None:
        with naming("--only"):
            selected = select_configs(every, only)
    else:
        selected = [one for one in every if long or options.quick or not one.long]
    others = [one for one in every if one not in selected]
    for one in others if only is None else ():
        print_note(f"{one.name}: takes more than minutes; add --long to run it")
    shown = _run(selected, options)
    shown_too = reported_experiments(others, options.out, all_needed=False)
    print_text(f"read {write_page([*shown, *shown_too])}")
    _end_if_unfinished(shown)


@command(without=["quick", "workers", "replace", "width"])
def status(options: ExperimentOptions, configs: ConfigsArgument = None) -> Answer:
    """Show how much of each experiment is done."""
    from dcglearn.lab.results import progress_of

    table, errors = progress_of(_configs(configs, options.shipped), options.out)
    return Answer(table.named_rows, lambda: "\n".join([table.text(), *errors]))


@command(without=["workers"])
def report(
    options: ExperimentOptions, configs: ConfigsArgument = None, findings: str | None = None
) -> None:
    """Write tables, figures and the page from the finished cells.

    The page keeps the other experiments of the folder.

    Parameters
    ----------
    findings : FILE.tex
        Also write all claims, with the verdicts and what they rest on, in LaTeX.
    """
    from dcglearn.base.files import checked_suffix, write_text
    from dcglearn.lab.config import refuse_shared_figures
    from dcglearn.lab.page import write_page
    from dcglearn.lab.plots import figure_width, findings_latex
    from dcglearn.lab.results import reported_experiments

    if findings is not None:
        checked_suffix(findings, [".tex"])
    selected = _configs(configs, options.shipped)
    refuse_shared_figures(selected)
    named = {one.name for one in selected}
    others = [one for one in _configs(None, options.shipped) if one.name not in named]
    out, width = options.out, figure_width(options.width)
    shown = reported_experiments(options.parts(selected), out, options.replace, width)
    if not any(one.made or one.counts.failed for one in shown):
        raise InputError("no cell is finished", "run dcglearn reproduce first", str(out))
    shown_too = reported_experiments(others, out, all_needed=False)
    print_text(f"read {write_page([*shown, *shown_too])}")
    if findings is not None:
        figures = [figure for one in shown for figure in one.figures]
        write_text(findings, findings_latex(sorted(figures, key=lambda one: one.name)))
        print_text(f"wrote {findings}")


def _configs(paths: Sequence[str] | None, shipped: bool) -> list[Config]:
    """Return the named configs, or all that have no errors."""
    from dcglearn.lab.config import find_configs, read_config

    return [read_config(path) for path in paths] if paths else find_configs(shipped)


def _run(configs: Sequence[Config], options: ExperimentOptions) -> list[ReportedExperiment]:
    """Run experiments one after the other, and write their tables and figures."""
    from dcglearn.base.workers import open_workers
    from dcglearn.lab.plots import figure_width
    from dcglearn.lab.results import Store, check_folder, compute_cells, write_results

    out, width, shown = options.out, figure_width(options.width), []
    for config in () if options.replace else configs:
        check_folder(out, config)
    store = Store(out)
    with (
        open_workers(options.workers) as pool,
        closing(compute_cells(configs, store, pool, True, all_figures=True)) as finished,
    ):
        for config, found, new in finished:
            failures = f", {found.failed:,} failed" if found.failed else ""
            parts = f"{found.done - new:,} kept, {new:,} new{failures}"
            print_text(f"{config.name}: {found.done:,} of {counted(found.total, 'cell')}: {parts}")
            shown.append(write_results(config, store, out, options.replace, width))
    for one in shown:
        done = f" (from {one.counts.done:,} of {counted(one.counts.total, 'cell')})"
        part = "" if one.counts.complete else done
        for figure in one.figures:
            verdicts = "; ".join(claim.finding.verdict for claim in figure.claims) or "no claim"
            print_text(f"figure {figure.number}: {verdicts}{part}")
    return shown


def _end_if_unfinished(shown: Sequence[ReportedExperiment]) -> None:
    failed = [one for one in shown if one.counts.failed]
    if failed:
        print_note(
            f"dcglearn: {counted(sum(one.counts.failed for one in failed), 'cell')} failed; the "
            "others are kept, and the same command tries again. First error: "
            f"{failed[0].counts.first_error}"
        )
        raise Exit(1)
