"""The code of an experiment: ``experiments/NAME.py``, found beside its config and executed once.

It says what is drawn, and may hold functions that join an axis (:mod:`dcglearn.axes.decorators`).
The file runs in the process that reads the config; of what it holds, only the functions that cells
use travel to workers.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from dcglearn.axes.registry import SHIPPED, Registry, entries_of_file, installed_entries
from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text

SHIPPED_FOLDER = Path(__file__).resolve().parent.parent / "shipped"
"""Configs and experiments inside an installed package."""

CHECKOUT = Path(__file__).resolve().parent.parent.parent
"""The repository, where the package is installed from one in editable mode."""


@dataclass(frozen=True)
class ExperimentCode:
    """An experiment file that was executed.

    Attributes
    ----------
    path : Path
    module : module
        What it defines.
    registry : Registry
        The names of this package, of installed packages and of the file.
    """

    path: Path
    module: ModuleType
    registry: Registry


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
    places = [Path(kind), SHIPPED_FOLDER / kind, CHECKOUT / kind]
    return [place for place in places if place.is_dir()]


def experiment_path(name: str, config: Path) -> Path:
    """Find the file of an experiment.

    Parameters
    ----------
    name : str
    config : Path
        The config that names it.

    Returns
    -------
    Path
        In ``experiments`` beside the folder of the config, or in a folder of
        :func:`search_folders`.

    Raises
    ------
    InputError
        If there is none; it names those that exist.
    """
    file = f"{name}.py"
    beside = config.resolve().parent.parent / "experiments"
    places = [beside, *search_folders("experiments")]
    for place in places:
        if (place / file).is_file():
            return place / file
    known = sorted({one.stem for place in places for one in place.glob("*.py")})
    raise InputError(
        f"there is no file experiments/{file}",
        f"write it, or name one of {', '.join(known)}" if known else "write it",
        "experiment",
    )


def execute_experiment(path: Path) -> ExperimentCode:
    """Execute an experiment file, unless this process has executed the same text before.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ExperimentCode

    Raises
    ------
    InputError
        If it fails, or a name that it defines is already taken.
    """
    text = read_text(path)
    module = _executed(path.resolve(), path, text)
    own = entries_of_file(module, text, f"{path.parent.name}/{path.name}")  # reads data files anew
    return ExperimentCode(path, module, installed_registry().joined(own))


def code_of_columns(columns: object) -> ExperimentCode:
    """Return the code of an experiment without a file: a table of results, and no figures.

    Parameters
    ----------
    columns : object
        The names of the results, checked later as ``COLUMNS`` of a file is.

    Returns
    -------
    ExperimentCode
    """
    module = ModuleType("experiment_without_file")
    vars(module).update(COLUMNS=columns, figures=lambda table: [])
    return ExperimentCode(Path("columns"), module, SHIPPED.joined(installed_entries()))


@lru_cache(128)
def _executed(place: Path, path: Path, text: str) -> ModuleType:
    name = f"experiments_{path.stem}_{sha256(f'{place}{text}'.encode()).hexdigest()[:8]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # data classes look their module up
    try:
        with redirect_stdout(sys.stderr):  # a command may print data
            code = compile(text, str(path), "exec", dont_inherit=True)
            exec(code, vars(module))  # noqa: S102 - the user's own file
    except InputError as error:  # of a decorator, with a remedy of its own
        where = f"{path}{_line(error, [str(path)])}"
        raise InputError(error.problem, error.remedy, where) from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"cannot be loaded ({error_and_line(error, [str(path)])})", "fix it", str(path)
        ) from error
    return module


def installed_registry() -> Registry:
    """Return the names of this package and of installed packages."""
    return SHIPPED.joined(installed_entries())


def error_and_line(error: BaseException, files: Iterable[str]) -> str:
    """Name an error and the line of a file in which it arose.

    Parameters
    ----------
    error : BaseException
    files : iterable of str
        File names as they are in the traceback.

    Returns
    -------
    str
    """
    return f"{type(error).__name__}: {error}{_line(error, files)}"


def _line(error: BaseException, files: Iterable[str]) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename in files]
    return f", line {lines[-1]}" if lines else ""
