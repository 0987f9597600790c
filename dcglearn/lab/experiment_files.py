"""The files of experiments: which configs there are, and the code that draws their figures.

``experiments/NAME.py`` holds what an experiment draws and how it checks the paper's claims. It
defines ``COLUMNS``, the results that its table holds, and ``figures(table)``, which returns the
figures. These files run in the coordinating process only; workers compute cells and never load
them.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from dcglearn.base.errors import InputError
from dcglearn.design.config import Config
from dcglearn.design.figure_names import FIGURE_NAME, same_figure
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


def config_files(shipped: bool = False) -> list[Path]:
    """Return the paths of configs, sorted by file name.

    Parameters
    ----------
    shipped : bool, default False
        Whether to take the shipped configs too where the current folder has some of its own.

    Returns
    -------
    list of Path
        Those of the current folder, or the shipped ones if it has none. A config in the current
        folder hides a shipped one of the same name.
    """
    found: dict[str, Path] = {}
    for folder in search_folders("configs"):
        for path in sorted(file for file in folder.glob("*.toml") if file.is_file()):
            found.setdefault(path.name, path)
        if found and not shipped:
            break
    return [found[name] for name in sorted(found)]


def refuse_shared_figures(configs: Sequence[Config]) -> None:
    """Refuse two configs that draw the same figure: a page has each figure once.

    Parameters
    ----------
    configs : sequence of Config

    Raises
    ------
    InputError
        Naming the figure and both configs.
    """
    drawn: dict[str, Config] = {}
    for config in configs:
        for number in config.figures:
            other = drawn.setdefault(same_figure(number), config)
            if other is not config:
                raise InputError(
                    f"draws figure {number}, as {other.path} does",
                    "name another figure in one of them",
                    f"{config.path}, figures",
                )


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
    experiment: Experiment,
    config: Config,
    table: pd.DataFrame,
    quick: bool = False,
    complete: bool = False,
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
    complete : bool, default False
        Whether no cell is missing.

    Returns
    -------
    tuple of Figure

    Raises
    ------
    InputError
        If ``figures(table)`` of the experiment file fails or returns something else; if a figure
        is drawn that the config does not list; or if one that it lists is not drawn, although
        no cell and no value of the sweep is missing.
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
    _check_listed(found, config, path)
    if complete and (not quick or config.quick_sweep == config.sweep):
        _check_drawn(found, config, path)
    return tuple(_in_quick_run(figure) for figure in found) if quick else found


def _check_listed(found: tuple[Figure, ...], config: Config, path: Path) -> None:
    drawn, numbers = [figure.name.lower() for figure in found], [one.number for one in found]
    for n, figure in enumerate(found):
        if drawn[n] in drawn[:n]:
            raise InputError(
                f"figures(table) returned figure {figure.number} twice",
                "give one of them another number",
                str(path),
            )
        if drawn[n] not in map(same_figure, config.figures):
            raise InputError(
                f"lists no figure {figure.number}, which {path} draws",
                f"write figures = [{', '.join(map(_as_toml, numbers))}], or do not draw it",
                f"{config.path}, figures",
            )


def _check_drawn(found: tuple[Figure, ...], config: Config, path: Path) -> None:
    drawn = {figure.name.lower() for figure in found}
    for number in config.figures:
        if same_figure(number) not in drawn:
            raise InputError(
                f"lists figure {number}, which {path} does not draw",
                "draw it, or remove it from the list; finished cells are kept",
                f"{config.path}, figures",
            )


def _as_toml(number: str) -> str:
    return number if number.isdecimal() else f'"{number}"'


def _in_quick_run(figure: Figure) -> Figure:
    return replace(figure, claims=tuple(claim.in_quick_run() for claim in figure.claims))


def _summary(error: Exception, path: Path) -> str:
    """Name an error and the line of the file in which it arose."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    where = f", line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}: {error}{where}"
