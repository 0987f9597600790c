"""The folder of results of one experiment: table, figures, provenance.

Fewer finished cells never replace more, unless replacing is asked for
(:mod:`dcglearn.pages.results_folders`).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from dcglearn.base.errors import InputError, InputWarning
from dcglearn.base.files import write_text
from dcglearn.base.numbers import counted
from dcglearn.base.workers import Workers
from dcglearn.design.cells import CELL_VERSION
from dcglearn.design.config import Config
from dcglearn.figures.experiment_figures import WIDTHS, draw_figure
from dcglearn.figures.style import save
from dcglearn.lab.experiment_files import load_experiment, make_figures
from dcglearn.lab.plots import Figure
from dcglearn.lab.provenance import (
    PROVENANCE,
    changed_files,
    made_with,
    sha256_of,
    write_provenance,
)
from dcglearn.lab.result_tables import result_table
from dcglearn.lab.run import CellCounts, count_cells
from dcglearn.lab.store import Store
from dcglearn.pages.results_folders import check_folder, make_folder, read_made

TABLE = "table.csv"

PRINTED = 300
"""The resolution of pictures, in dots per inch at the width of a figure."""

_RESTORE = "restore the file, or compute the cells again: dcglearn run"


@dataclass(frozen=True)
class ReportedExperiment:
    """One experiment with its files, as the page shows it.

    Attributes
    ----------
    config : Config
    folder : Path
        The folder of its files.
    counts : CellCounts
        The cells that the table holds.
    figures : tuple of Figure
        Empty if no cell is finished.
    made : dict
        The provenance of the files; empty if no cell is finished.
    """

    config: Config
    folder: Path
    counts: CellCounts
    figures: tuple[Figure, ...]
    made: dict[str, Any] = field(default_factory=dict)


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

    If the folder holds a table of more cells than the store, as in a fresh checkout without a
    store, the folder is left as it is and reported from that table.

    Parameters
    ----------
    config : Config
    quick : bool
        Whether to take the quick part of the grid only.
    store : Store
    folder : Path
        Made if it does not exist.
    replace : bool, default False
        Whether results of another config, or of more cells, may be replaced.
    width : float, optional
        Of the figures, in inches; by default that of a column of a paper.
    workers : callable, optional
        Draw several figures at a time; from :func:`dcglearn.base.workers.open_workers`, with
        processes of this machine.

    Returns
    -------
    ReportedExperiment

    Raises
    ------
    InputError
        If the folder holds results of something else, the experiment file cannot be used,
        or the folder cannot be written.
    """
    prepared = prepare_results(config, quick, store, folder, replace, width)
    return finish_results([prepared], workers)[0]


@dataclass(frozen=True)
class PreparedResults:
    """Results whose figures are not drawn yet.

    Attributes
    ----------
    config : Config
    quick : bool
    folder : Path
    width : float or None
    counts : CellCounts
    figures : tuple of Figure
    """

    config: Config
    quick: bool
    folder: Path
    width: float | None
    counts: CellCounts
    figures: tuple[Figure, ...]


def prepare_results(
    config: Config,
    quick: bool,
    store: Store,
    folder: Path,
    replace: bool = False,
    width: float | None = None,
) -> PreparedResults | ReportedExperiment:
    """Write the table of the finished cells and make the figures, without drawing them.

    Parameters
    ----------
    config, quick, store, folder, replace, width
        As those of :func:`write_results`.

    Returns
    -------
    PreparedResults or ReportedExperiment
        The latter if nothing is to be drawn.

    Raises
    ------
    InputError
        As :func:`write_results`.
    """
    counts = count_cells(config, quick, store)
    if not replace:
        check_folder(folder, config)
        kept = read_made(folder)
        if kept is not None and kept["cells"]["done"] > counts.done and _same_code(kept, config):
            return _from_folder(config, folder, kept, width)
        for name in changed_files(folder, kept or {}) if counts.done else ():
            _warn(folder / name)
    if not counts.done:
        return ReportedExperiment(config, folder, counts, ())
    experiment = load_experiment(config)
    table = result_table(config, quick, store, experiment.columns)
    figures = make_figures(experiment, config, table, quick, counts.complete)
    make_folder(folder)
    write_text(folder / TABLE, table.to_csv(index=False, lineterminator="\n"))
    return PreparedResults(config, quick, folder, width, counts, figures)


def finish_results(
    prepared: Sequence[PreparedResults | ReportedExperiment], workers: Workers | None = None
) -> list[ReportedExperiment]:
    """Draw the figures of experiments, all together, and write where they come from.

    Parameters
    ----------
    prepared : sequence of PreparedResults or ReportedExperiment
    workers : callable, optional
        As that of :func:`write_results`.

    Returns
    -------
    list of ReportedExperiment

    Raises
    ------
    InputError
        If a folder cannot be written.
    """
    drawn = [
        (figure, one.folder, one.width)
        for one in prepared
        if isinstance(one, PreparedResults)
        for figure in one.figures
    ]
    for _, error in workers(_written, drawn) if workers else enumerate(map(_written, drawn)):
        if error is not None:
            raise error
    return [_finished(one) if isinstance(one, PreparedResults) else one for one in prepared]


def _finished(one: PreparedResults) -> ReportedExperiment:
    names = [TABLE, *(name for figure in one.figures for name in _files_of(figure))]
    made = _provenance(one.config, one.quick, one.counts, _hashes(one.folder, names))
    write_provenance(made, one.folder / PROVENANCE)
    return ReportedExperiment(one.config, one.folder, one.counts, one.figures, made)


def _same_code(made: dict[str, Any], config: Config) -> bool:
    """Return whether results were computed with the functions of one's own as they are now."""
    here: dict[str, Any] = json.loads(json.dumps(config.content))
    return bool(made["experiment"].get("code") == here.get("code"))


def _files_of(figure: Figure) -> list[str]:
    return [f"{figure.name}{ending}" for ending in (".csv", ".svg", ".pdf", ".png")]


def _hashes(folder: Path, names: Sequence[str]) -> dict[str, str]:
    return {name: sha256_of((folder / name).read_bytes()) for name in names}


def _written(drawn: tuple[Figure, Path, float | None]) -> InputError | None:
    """Write a figure; return an error, as workers need it."""
    try:
        _write_figure(*drawn)
    except InputError as error:
        return error
    return None


def _points_of(figure: Figure) -> str:
    table = figure.table()
    return str(table.to_csv(index=False, lineterminator="\n", float_format="%.9g"))


def _has_other_points(figure: Figure, folder: Path) -> bool:
    """Return whether the experiment file draws other points from the table than it did."""
    path = folder / f"{figure.name}.csv"
    return path.is_file() and path.read_bytes() != _points_of(figure).encode()


def _write_figure(figure: Figure, folder: Path, width: float | None) -> None:
    write_text(folder / f"{figure.name}.csv", _points_of(figure))
    drawing = draw_figure(figure, width or WIDTHS["column"])
    for ending in (".svg", ".pdf", ".png"):
        save(drawing, folder / f"{figure.name}{ending}", dpi=PRINTED, adapts=True)


def _from_folder(
    config: Config,
    folder: Path,
    made: dict[str, Any],
    width: float | None,
) -> ReportedExperiment:
    """Report an experiment from the table that its folder already holds.

    Figures that are missing or were changed, or are asked for in a width, are drawn again; so are
    those of which the experiment file now draws other points. If the bytes are others, as those of
    another version of Matplotlib are, their provenance says what drew them.
    """
    table, cells = _read_table(folder / TABLE, made, config), made["cells"]
    counts = CellCounts(cells["done"], cells["failed"], cells["total"])
    quick = cells.get("quick") is True
    complete = counts.complete and made["experiment"]["sweep"] == config.content["sweep"]
    figures = make_figures(load_experiment(config), config, table, quick, complete)
    changed = changed_files(folder, made)
    bad = [
        _files_of(figure)
        if width or _has_other_points(figure, folder)
        else [n for n in _files_of(figure) if n in changed or not (folder / n).is_file()]
        for figure in figures
    ]
    for figure, names in zip(figures, bad, strict=True):
        for name in [n for n in names if n in changed or "files" not in made][:1]:
            _warn(folder / name)
        if names:
            _write_figure(figure, folder, width)
    redrawn = _hashes(folder, [name for names in bad for name in names])
    if redrawn.items() - made.get("files", {}).items() and "files" in made:
        described = {**made, "files": made["files"] | redrawn, "redrawn": made_with()}
        write_provenance(described, folder / PROVENANCE)
    return ReportedExperiment(config, folder, counts, figures, made)


def _read_table(path: Path, made: dict[str, Any], config: Config) -> pd.DataFrame:
    """Read a table; refuse one that is not what its provenance describes.

    Provenance written by earlier versions of this package has no hash of the table; then only its
    rows are counted.
    """
    remedy = f"{_RESTORE} {config.path}"
    try:
        content = path.read_bytes()
        table = pd.read_csv(BytesIO(content), engine="pyarrow")  # rounds each number correctly
    except (OSError, ValueError) as error:
        raise InputError("cannot be read", remedy, str(path)) from error
    if len(table) != made["cells"]["done"]:
        raise InputError(
            f"has {counted(len(table), 'row')}, and {PROVENANCE} says {made['cells']['done']:,}",
            remedy,
            str(path),
        )
    if made.get("files", {}).get(TABLE, sha256_of(content)) != sha256_of(content):
        raise InputError(f"was changed: its SHA-256 is not that in {PROVENANCE}", remedy, str(path))
    return table


def _warn(path: Path) -> None:
    problem = "was changed" if path.exists() else "is missing"
    warnings.warn(f"{path}: {problem}; it is made again", InputWarning, stacklevel=2)


def _provenance(
    config: Config, quick: bool, counts: CellCounts, files: dict[str, str]
) -> dict[str, Any]:
    content = json.dumps([CELL_VERSION, config.content], sort_keys=True, separators=(",", ":"))
    return {
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
        "files": files,
        **made_with(),
    }
