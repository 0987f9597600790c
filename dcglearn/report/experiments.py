"""What an experiment leaves in its folder: table, figures, provenance.

A folder holds the results of one experiment; a config that asks for other cells than a larger
or smaller grid of the same ones is another experiment, and is refused there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text, write_text
from dcglearn.report.curves import draw_figure
from dcglearn.report.figures import save
from dcglearn.study.cells import VERSION
from dcglearn.study.config import Config
from dcglearn.study.experiment import (
    Progress,
    load_experiment,
    progress,
    table_of,
    with_setting,
)
from dcglearn.study.findings import Figure
from dcglearn.study.provenance import made_with
from dcglearn.study.store import Store

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
    path = folder / PROVENANCE
    if not path.exists():
        return
    try:
        found = json.loads(read_text(path))
        there, version = found["experiment"], found["cells"]["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("cannot be read", "add --replace to write it anew", str(path)) from error
    way_on = "name another --out, or add --replace"
    if version != VERSION:
        raise InputError(
            f"holds results of version {version} of the cells, and this is version {VERSION}",
            way_on,
            str(folder),
        )
    here = json.loads(json.dumps(config.identity))
    for key, value in here.items():
        if there.get(key) != value:
            difference = _difference(key, there.get(key), value)
            raise InputError(f"holds results of another config: {difference}", way_on, str(folder))


def _difference(key: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted(there.keys() | here.keys()):
            if there.get(name) != here.get(name):
                return _difference(name, there.get(name), here.get(name))
    short = [text if len(text) <= 60 else text[:57] + "..." for text in map(repr, (there, here))]
    return f"{key} is {short[0]} there and {short[1]} here"


def write_results(config: Config, quick: bool, store: Store, folder: Path) -> Shown:
    """Write the table, the figures and the provenance of the cells that are finished.

    Parameters
    ----------
    config : Config
    quick : bool
    store : Store
    folder : Path
        Made if it is not there.

    Returns
    -------
    Shown

    Raises
    ------
    InputError
        If the experiment's file cannot be used, or the place cannot be written.
    """
    done = progress(config, quick, store)
    if not done.done:
        return Shown(config, folder, done, ())
    experiment = load_experiment(config)
    table = table_of(config, quick, store, experiment.columns)
    try:
        figures = tuple(experiment.figures(with_setting(config, table)))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(
            f"figures(table) failed ({type(error).__name__}: {error})",
            "mend it; the cells are kept",
            str(experiment.path),
        ) from error
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
        "cells": {"version": VERSION, "done": done.done, "failed": done.failed,
                  "total": done.total, "quick": quick},
        **made_with(),
    }  # fmt: skip
