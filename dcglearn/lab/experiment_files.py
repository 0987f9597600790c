"""The files of experiments: which configs there are, and the code that draws their figures.

``experiments/NAME.py`` holds what an experiment draws and how it checks the paper's claims. It
defines ``COLUMNS``, the results that its table holds, and ``figures(table)``, which returns the
figures. They are executed when a config is read, in the coordinating process
(:mod:`dcglearn.axes.experiment_code`); workers compute cells and never load them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from dcglearn.axes.experiment_code import error_and_line, search_folders
from dcglearn.base.errors import InputError, unknown_name
from dcglearn.design.columns import check_result_columns
from dcglearn.design.config import Config, read_config
from dcglearn.design.figure_names import FIGURE_NAME, same_figure
from dcglearn.design.own_functions import ALONE
from dcglearn.lab.claims import Claim, Finding
from dcglearn.lab.plots import Figure, Plot, Series
from dcglearn.lab.result_tables import add_settings, column_not_there


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


def config_named(text: str) -> Config:
    """Read a config that is named by its file, or without folder and ending.

    Parameters
    ----------
    text : str
        Such as ``configs/flips.toml`` or ``flips``.

    Returns
    -------
    Config

    Raises
    ------
    InputError
        If it is no path and no config has that name, or the config cannot be used.

    Examples
    --------
    >>> config_named("flips").figures
    ('5', '6')
    """
    path = Path(text)
    if path.suffix or len(path.parts) != 1 or path.exists():
        return read_config(path)
    known = {one.stem: one for one in config_files(shipped=True)}
    if text not in known:
        raise unknown_name("experiment", text, tuple(known), "config")
    return read_config(known[text])


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
    """Return the experiment of a config, whose file was executed when the config was read.

    Parameters
    ----------
    config : Config

    Returns
    -------
    Experiment

    Raises
    ------
    InputError
        If the file lacks ``COLUMNS`` or ``figures``, or names a column that no cell has.
    """
    path, module = config.code.path, config.code.module
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
    settings = [setting for _, setting in config.settings()]
    check_result_columns(columns, settings, config.code.registry, str(path))
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
    given = add_settings(config, table)
    try:
        with ALONE:  # of functions that cells run meanwhile
            found = tuple(experiment.figures(given))
    except Exception as error:
        missing = column_not_there(error, given, path)
        if missing is not None:
            raise missing.error from error
        raise InputError(
            f"figures(table) failed ({error_and_line(error, [str(path)])})",
            "fix it and run again; finished cells are kept",
            str(path),
        ) from error
    for figure in found:
        if not isinstance(figure, Figure):
            raise InputError(
                f"figures(table) returned {figure!r}", "return a list of Figure", str(path)
            )
        for part, value, kind in _parts(figure):
            if not isinstance(value, kind):
                raise InputError(
                    f"figures(table) returned figure {figure.number} with {part} {value!r}",
                    f"make it a {kind.__name__}",
                    str(path),
                )
        if not FIGURE_NAME.fullmatch(figure.number):
            problem = f"figures(table) returned a figure with the number {figure.number!r}"
            raise InputError(problem, "use up to 40 letters, digits and -", str(path))
    _check_listed(found, config, path)
    if complete and (not quick or config.quick_sweep == config.sweep):
        _check_drawn(found, config, path)
    return tuple(_in_quick_run(figure) for figure in found) if quick else found


def _parts(figure: Figure) -> Iterator[tuple[str, object, type]]:
    """Name the parts of a figure, what holds others before these, with what they should be."""
    for name in ("number", "title", "caption"):
        yield f"the {name}", getattr(figure, name), str
    yield "the claims", figure.claims, Sequence
    for claim in figure.claims:
        yield "the claim", claim, Claim
        yield "the finding", claim.finding, Finding
    yield "more panels", figure.more, Sequence
    for plot in (figure.plot, *figure.more):
        yield "the plot", plot, Plot
        yield "the series", plot.series, Sequence
        yield "the limits within", plot.within, Sequence
        for one in plot.series:
            yield "the series", one, Series


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
