"""The files of experiments: which configs there are, and the code that draws their figures.

``experiments/NAME.py`` holds what an experiment draws and how it checks the paper's claims. It
defines ``COLUMNS``, the results that its table holds, and ``figures(table)``, which returns the
figures. These files run in the coordinating process only; workers compute cells and never load
them.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from dcglearn.base.errors import InputError
from dcglearn.design.config import FIGURE_NAME, Config
from dcglearn.lab.plots import Figure
from dcglearn.lab.result_tables import add_settings

SHIPPED = Path(__file__).resolve().parent.parent / "shipped"
"""Configs and experiments inside an installed package."""

CHECKOUT = Path(__file__).resolve().parent.parent.parent
"""The repository, where the package is installed from one in editable mode."""


@dataclass(frozen=True)
class Experiment:
    """The code that draws the figures of an experiment.

    Attributes
    ----------
    path : Path
    columns : tuple of str
        The results that its table holds.
    figures : callable
        Takes the table and returns a list of figures.
    """

    path: Path
    columns: tuple[str, ...]
    figures: Callable[[pd.DataFrame], list[Figure]]


class ExperimentFiles:
    """The experiment files of one command; each is executed at most once.

    Examples
    --------
    >>> from dcglearn.design.config import read_config
    >>> config = read_config(config_files()[0])
    >>> files = ExperimentFiles()
    >>> files.load(config) is files.load(config)
    True
    """

    def __init__(self) -> None:
        self._loaded: dict[Path, Experiment] = {}

    def load(self, config: Config) -> Experiment:
        """Return the experiment of a config, executing its file on the first call.

        Parameters
        ----------
        config : Config

        Returns
        -------
        Experiment

        Raises
        ------
        InputError
            If the file does not exist or cannot be used.
        """
        path = _find(config)
        key = path.resolve()
        if key not in self._loaded:
            self._loaded[key] = _execute(path, config.experiment)
        return self._loaded[key]


def search_folders(kind: str) -> list[Path]:
    """Return the folders that hold configs or experiments, the current folder's first.

    Parameters
    ----------
    kind : {"configs", "experiments"}

    Returns
    -------
    list of Path
        Those that exist: in the current folder, in the installed package, in the repository.
    """
    places = [Path(kind), SHIPPED / kind, CHECKOUT / kind]
    return [place for place in places if place.is_dir()]


def config_files() -> list[Path]:
    """Return the path of every config, sorted by file name.

    Returns
    -------
    list of Path
        A config in the current folder hides a shipped one of the same name.
    """
    found: dict[str, Path] = {}
    for folder in search_folders("configs"):
        for path in sorted(file for file in folder.glob("*.toml") if file.is_file()):
            found.setdefault(path.name, path)
    return [found[name] for name in sorted(found)]


def load_experiment(config: Config) -> Experiment:
    """Execute the experiment file of a config.

    Parameters
    ----------
    config : Config

    Returns
    -------
    Experiment

    Raises
    ------
    InputError
        If the file does not exist, fails, or lacks ``COLUMNS`` or ``figures``.
    """
    return _execute(_find(config), config.experiment)


def _find(config: Config) -> Path:
    name = f"{config.experiment}.py"
    beside = config.path.resolve().parent.parent / "experiments"
    places = [beside, *search_folders("experiments")]
    for place in places:
        if (place / name).is_file():
            return place / name
    known = sorted({file.stem for place in places for file in place.glob("*.py")})
    raise InputError(
        f"there is no file experiments/{name}",
        f"write it, or name one of {', '.join(known)}" if known else "write it",
        f"{config.path}, experiment",
    )


def _execute(path: Path, name: str) -> Experiment:
    spec = importlib.util.spec_from_file_location(f"experiments.{name}", path)
    if spec is None or spec.loader is None:
        raise InputError("is not a Python file", "rename it to end in .py", str(path))
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(
            f"cannot be loaded ({_summary(error, path)})", "fix it", str(path)
        ) from error
    for required in ("COLUMNS", "figures"):
        if not hasattr(module, required):
            raise InputError(
                f"does not define {required}",
                "define COLUMNS and figures(table), as the other experiments do",
                str(path),
            )
    columns = module.COLUMNS
    if not isinstance(columns, tuple | list) or not all(isinstance(c, str) for c in columns):
        raise InputError(
            "COLUMNS is not a tuple of names", 'write COLUMNS = ("precision",)', str(path)
        )
    return Experiment(path, tuple(columns), module.figures)


def make_figures(
    experiment: Experiment, config: Config, table: pd.DataFrame, quick: bool = False
) -> tuple[Figure, ...]:
    """Return the figures of a table, as data: nothing is drawn yet.

    Parameters
    ----------
    experiment : Experiment
    config : Config
    table : pandas.DataFrame
        As returned by :func:`dcglearn.lab.result_tables.result_table`.
    quick : bool, default False
        Whether it is the table of a quick run, in which claims that need the whole grid are not
        judged.

    Returns
    -------
    tuple of Figure

    Raises
    ------
    InputError
        If ``figures(table)`` of the experiment file fails or returns something else.
    """
    path = experiment.path
    try:
        found = tuple(experiment.figures(add_settings(config, table)))
    except Exception as error:
        raise InputError(
            f"figures(table) failed ({_summary(error, path)})",
            "fix it and run again; finished cells are kept",
            str(path),
        ) from error
    for figure in found:
        if not isinstance(figure, Figure):
            raise InputError(
                f"figures(table) returned {figure!r}", "return a list of Figure", str(path)
            )
        if not FIGURE_NAME.fullmatch(figure.number):
            problem = f"figures(table) returned a figure with the number {figure.number!r}"
            raise InputError(problem, "use up to 40 letters, digits and -", str(path))
    return tuple(_in_quick_run(figure) for figure in found) if quick else found


def _in_quick_run(figure: Figure) -> Figure:
    return replace(figure, claims=tuple(claim.in_quick_run() for claim in figure.claims))


def _summary(error: Exception, path: Path) -> str:
    """Name an error and the line of the file in which it arose."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    where = f", line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}: {error}{where}"
