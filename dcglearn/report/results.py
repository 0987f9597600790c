"""What an experiment leaves in its folder: table, figures, provenance.

A folder holds the results of one experiment. A config that asks for other cells, or for fewer,
is refused there; and fewer finished cells do not replace more.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text, write_text
from dcglearn.lab.cells import VERSION
from dcglearn.lab.config import Config
from dcglearn.lab.plots import Figure
from dcglearn.lab.provenance import made_with
from dcglearn.lab.run import Progress, draw, load_experiment, progress_of, table_of
from dcglearn.lab.store import Store
from dcglearn.report.experiment_figures import draw_figure
from dcglearn.report.style import save

PROVENANCE = "provenance.json"
TABLE = "table.csv"


@dataclass(frozen=True)
class Shown:
    """One experiment as it is reported.

    Attributes
    ----------
    config : Config
    folder : Path
        Where its files are.
    progress : Progress
    figures : tuple of Figure
        None where no cell is finished.
    """

    config: Config
    folder: Path
    progress: Progress
    figures: tuple[Figure, ...]


def check_folder(folder: Path, config: Config) -> None:
    """Refuse a folder that holds the results of another config or version.

    Parameters
    ----------
    folder : Path
    config : Config

    Raises
    ------
    InputError
        Naming the difference and the way on.
    """
    found = _kept(folder)
    if found is None:
        return
    there, version = found["experiment"], found["cells"]["version"]
    way_on = "name another --out, or add --replace"
    if version != VERSION:
        raise InputError(
            f"holds results of version {version} of the cells, and this is version {VERSION}",
            way_on,
            str(folder),
        )
    here_sweep = json.loads(json.dumps(config.sweep))
    for key, value in json.loads(json.dumps(config.identity)).items():
        if there.get(key) != value:
            difference = _difference(key, there.get(key), value)
            raise InputError(f"holds results of another config: {difference}", way_on, str(folder))
    for key, values in there["sweep"].items():
        lost = [value for value in values if value not in here_sweep[key]]
        if lost:
            raise InputError(
                f"holds results of a larger grid: {key} {_short(lost)} too", way_on, str(folder)
            )
    if there["repetitions"] > config.repetitions:
        raise InputError(
            f"holds results of {there['repetitions']} repetitions, and {config.repetitions} are "
            "asked for",
            way_on,
            str(folder),
        )


def _kept(folder: Path) -> dict[str, Any] | None:
    """Return the provenance of the results in a folder, if it holds any."""
    path = folder / PROVENANCE
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = json.loads(read_text(path))
        whole = {"sweep", "repetitions"} <= found["experiment"].keys()
        if not (whole and {"version", "done", "failed", "total"} <= found["cells"].keys()):
            raise KeyError("experiment")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError("cannot be read", "add --replace to write it anew", str(path)) from error
    return found


def _difference(key: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted(there.keys() | here.keys()):
            if there.get(name) != here.get(name):
                return _difference(name, there.get(name), here.get(name))
    return f"{key} is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def write_results(
    config: Config, quick: bool, store: Store, folder: Path, replace: bool = False
) -> Shown:
    """Write the table, the figures and the provenance of the cells that are finished.

    Where the folder holds a table of more cells than the store, as in a fresh checkout, that
    stays, and is what is shown.

    Parameters
    ----------
    config : Config
    quick : bool
    store : Store
    folder : Path
        Made if it is not there.
    replace : bool, default False
        Whether fewer cells may replace more.

    Returns
    -------
    Shown

    Raises
    ------
    InputError
        If the folder holds results of something else, the experiment's file cannot be used,
        or the place cannot be written.
    """
    done = progress_of(config, quick, store)
    if not replace:
        check_folder(folder, config)
        kept = _kept(folder)
        if kept is not None and kept["cells"]["done"] > done.done:
            return _shown_again(config, folder, kept["cells"])
    if not done.done:
        return Shown(config, folder, done, ())
    experiment = load_experiment(config)
    table = table_of(config, quick, store, experiment.columns)
    figures = draw(experiment, config, table)
    make_folder(folder)
    write_text(folder / TABLE, table.to_csv(index=False, lineterminator="\n"))
    for figure in figures:
        points = figure.plot.table()
        text = points.to_csv(index=False, lineterminator="\n", float_format="%.9g")
        write_text(folder / f"{figure.name}.csv", text)
        drawing = draw_figure(figure)
        for ending in (".svg", ".png"):
            save(drawing, folder / f"{figure.name}{ending}")
    write_text(folder / PROVENANCE, json.dumps(_provenance(config, quick, done), indent=2) + "\n")
    return Shown(config, folder, done, figures)


def _shown_again(config: Config, folder: Path, cells: dict[str, Any]) -> Shown:
    """Return what a folder already shows, from its table."""
    path = folder / TABLE
    try:
        table = pd.read_csv(path, float_precision="round_trip")
    except (OSError, ValueError) as error:
        raise InputError("cannot be read", "add --replace to write it anew", str(path)) from error
    figures = draw(load_experiment(config), config, table)
    for file in (f"{figure.name}{ending}" for figure in figures for ending in (".svg", ".csv")):
        if not (folder / file).is_file():
            raise InputError("is missing", "add --replace to write it anew", str(folder / file))
    done = Progress(cells["done"], cells["failed"], cells["total"])
    return Shown(config, folder, done, figures)


def make_folder(folder: Path) -> None:
    """Make a folder for results.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        If it cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be made ({error.strerror})", "choose another --out", str(folder)
        ) from error


def _provenance(config: Config, quick: bool, done: Progress) -> dict[str, Any]:
    content = json.dumps([VERSION, config.content], sort_keys=True, separators=(",", ":"))
    return {
        "config": config.path.name,
        "hash": hashlib.sha256(content.encode()).hexdigest(),
        "experiment": config.content,
        "cells": {
            "version": VERSION,
            "done": done.done,
            "failed": done.failed,
            "total": done.total,
            "quick": quick,
        },
        **made_with(),
    }
