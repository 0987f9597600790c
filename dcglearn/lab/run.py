"""Running an experiment: the cells it lacks, its table, and what its figures show.

What an experiment draws, and how it checks the paper's claims, is a small file of its own in
``experiments``. It has ``COLUMNS``, the results that its table holds, and
``figures(table)``, which returns the figures. These files run here only; workers compute
cells and know nothing of them.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dcglearn.base.errors import InputError
from dcglearn.base.progress import Advance, silent
from dcglearn.base.workers import Workers
from dcglearn.lab.cells import run_cell
from dcglearn.lab.config import Config
from dcglearn.lab.plots import Figure
from dcglearn.lab.setting import Setting
from dcglearn.lab.store import Store

SHIPPED = Path(__file__).resolve().parent.parent / "shipped"
CHECKOUT = Path(__file__).resolve().parent.parent.parent

DIGITS = 9
"""Digits of numbers in tables."""


@dataclass(frozen=True)
class Experiment:
    """The file that draws an experiment.

    Attributes
    ----------
    path : Path
    columns : tuple of str
        The results that its table holds.
    figures : callable
        From the table to a list of figures.
    """

    path: Path
    columns: tuple[str, ...]
    figures: Callable[[pd.DataFrame], list[Figure]]


@dataclass(frozen=True)
class Progress:
    """How much of an experiment is done.

    Attributes
    ----------
    done, failed, total : int
        Cells; the rest is still to be computed.
    first_error : str or None
    """

    done: int
    failed: int
    total: int
    first_error: str | None = None

    @property
    def complete(self) -> bool:
        """Whether every cell has a result."""
        return self.done == self.total


def folders(kind: str) -> list[Path]:
    """Return where configs or experiments are looked for, first the current folder.

    Parameters
    ----------
    kind : {"configs", "experiments"}

    Returns
    -------
    list of Path
        The current folder's, then those that came with the package.
    """
    places = [Path(kind), SHIPPED / kind, CHECKOUT / kind]
    return [place for place in places if place.is_dir()]


def config_files() -> list[Path]:
    """Return every config by name; one in the current folder goes before a shipped one.

    Returns
    -------
    list of Path
    """
    found: dict[str, Path] = {}
    for folder in folders("configs"):
        for path in sorted(file for file in folder.glob("*.toml") if file.is_file()):
            found.setdefault(path.name, path)
    return [found[name] for name in sorted(found)]


def load_experiment(config: Config) -> Experiment:
    """Load the file that draws a config's experiment.

    Parameters
    ----------
    config : Config

    Returns
    -------
    Experiment

    Raises
    ------
    InputError
        If there is none, or it does not hold what it must.
    """
    name = f"{config.experiment}.py"
    places = [config.path.resolve().parent.parent / "experiments", *folders("experiments")]
    path = next((place / name for place in places if (place / name).is_file()), None)
    if path is None:
        known = {file.stem for place in places for file in place.glob("*.py")}
        raise InputError(
            f"no file experiments/{name}",
            f"write one, or name one of {', '.join(sorted(known)) or 'none'}",
            f"{config.path}, experiment",
        )
    spec = importlib.util.spec_from_file_location(f"experiments.{config.experiment}", path)
    if spec is None or spec.loader is None:
        raise InputError("cannot be loaded", "", str(path))
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(
            f"cannot be loaded ({_in_short(error, path)})", "mend it", str(path)
        ) from (error)
    for name in ("COLUMNS", "figures"):
        if not hasattr(module, name):
            raise InputError(f"has no {name}", "see CONTRIBUTING.md", str(path))
    columns = module.COLUMNS
    if not isinstance(columns, tuple | list) or not all(isinstance(c, str) for c in columns):
        raise InputError("COLUMNS is no tuple of names", 'write ("precision",)', str(path))
    return Experiment(path, tuple(columns), module.figures)


def draw(experiment: Experiment, config: Config, table: pd.DataFrame) -> tuple[Figure, ...]:
    """Return the figures of a table.

    Parameters
    ----------
    experiment : Experiment
    config : Config
    table : pandas.DataFrame
        As :func:`table_of` returns it.

    Returns
    -------
    tuple of Figure

    Raises
    ------
    InputError
        If the experiment's file fails.
    """
    path = experiment.path
    try:
        found = tuple(experiment.figures(with_setting(config, table)))
    except Exception as error:
        raise InputError(
            f"figures(table) failed ({_in_short(error, path)})",
            "mend it; the cells are kept",
            str(path),
        ) from error
    for figure in found:
        if not isinstance(figure, Figure):
            raise InputError(f"figures(table) returned {figure!r}", "return Figures", str(path))
    return found


def _in_short(error: Exception, path: Path) -> str:
    """Say what went wrong in a file, and in which line of it."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    where = f", line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}: {error}{where}"


def compute_cells(
    config: Config, quick: bool, store: Store, workers: Workers, advance: Advance = silent
) -> Progress:
    """Compute the cells that the store lacks; every one is kept as soon as it is there.

    Parameters
    ----------
    config : Config
    quick : bool
    store : Store
    workers : callable
        From :func:`dcglearn.base.workers.open_workers`.
    advance : callable
        Called with (cells done now, cells to do).

    Returns
    -------
    Progress
    """
    lacking = [cell for _, cell in config.cells(quick) if store.get(cell) is None]
    for done, (index, outcome) in enumerate(workers(run_cell, lacking) if lacking else (), 1):
        store.add(lacking[index], outcome)
        advance(done, len(lacking))
    return progress_of(config, quick, store)


def progress_of(config: Config, quick: bool, store: Store) -> Progress:
    """Say how much of an experiment a store holds.

    Parameters
    ----------
    config : Config
    quick : bool
    store : Store

    Returns
    -------
    Progress
    """
    cells = [cell for _, cell in config.cells(quick)]
    lacking = [cell for cell in cells if store.get(cell) is None]
    errors = [error for cell in lacking if (error := store.error(cell)) is not None]
    return Progress(
        len(cells) - len(lacking), len(errors), len(cells), errors[0] if errors else None
    )


def table_of(config: Config, quick: bool, store: Store, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the finished cells as a tidy table, in the order of the grid.

    Parameters
    ----------
    config : Config
    quick : bool
    store : Store
    columns : tuple of str
        The results wanted; lists become columns ``name_1``, ``name_2``, ...

    Returns
    -------
    pandas.DataFrame
        A row a cell: the swept keys, the repetition, and the results. Swept lists become
        text.

    Raises
    ------
    InputError
        If no cell is finished, or no cell has such a result.
    """
    rows = []
    for point, cell in config.cells(quick):
        result = store.get(cell)
        if result is not None:
            swept = {key: _as_text(value) for key, value in point.items()}
            rows.append(swept | _chosen(result, columns))
    if not rows:
        raise InputError("no cell is finished", f"dcglearn run {config.path}", config.name)
    table = pd.DataFrame(rows)
    for column in columns:
        if column not in table and f"{column}_1" not in table:
            raise InputError(
                f"cells have no result {column!r}", "correct COLUMNS", config.experiment
            )
    return table


def with_setting(config: Config, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a column for what was not swept, too.

    Parameters
    ----------
    config : Config
    table : pandas.DataFrame
        As :func:`table_of` returns it.

    Returns
    -------
    pandas.DataFrame
        What an experiment's ``figures`` is given. Columns of the table stay as they are.
    """
    setting = Setting(**config.fixed).model_dump()
    fixed = {key: _as_text(value) for key, value in setting.items() if key not in table}
    whole = table.assign(**fixed)
    whole["ranks"] = [
        len(base.split()) if pd.isna(K) else int(K)
        for base, K in zip(whole["base"], whole["ranks"], strict=True)
    ]
    return whole


def _as_text(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _chosen(result: dict[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in columns:
        value = result.get(column)
        if isinstance(value, list):
            found |= {f"{column}_{i}": float(f"{one:.{DIGITS}g}") for i, one in enumerate(value, 1)}
        elif value is not None:
            found[column] = float(f"{value:.{DIGITS}g}")
    return found
