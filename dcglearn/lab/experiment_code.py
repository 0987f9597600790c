"""The code of an experiment: ``experiments/NAME.py``, found beside its config and executed once.

It defines ``COLUMNS``, the results that its table holds, and ``figures(table)``, which returns the
figures, and may hold functions that join an axis (:mod:`dcglearn.lab.decorators`). The file runs in
the process that reads the config; workers execute its text where a cell uses one of its functions.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text
from dcglearn.lab.own_code import executed
from dcglearn.lab.registry import SHIPPED, Registry, registry_of_file

SHIPPED_FOLDER = Path(__file__).resolve().parent.parent / "shipped"
"""Configs and experiments inside an installed package."""

CHECKOUT = Path(__file__).resolve().parent.parent.parent
"""The repository, where the package is installed from one in editable mode."""


@dataclass(frozen=True)
class ExperimentCode:
    """What an experiment file defines, and the names that its config may use."""

    path: Path
    columns: tuple[str, ...]
    figures: Callable[..., Iterable[Any]]
    registry: Registry = SHIPPED


def search_folders(kind: str) -> list[Path]:
    """Return the folders that hold configs or experiments, the current folder's first."""
    places = [Path(kind), SHIPPED_FOLDER / kind, CHECKOUT / kind]
    return [place for place in places if place.is_dir()]


def experiment_code(name: str, config: Path) -> ExperimentCode:
    """Execute the file of an experiment, unless this process has executed the same text before."""
    beside = config.resolve().parent.parent / "experiments"
    places = [beside, *search_folders("experiments")]
    path = next((p / f"{name}.py" for p in places if (p / f"{name}.py").is_file()), None)
    if path is None:
        known = sorted({one.stem for place in places for one in place.glob("*.py")})
        remedy = f"write it, or name one of {', '.join(known)}" if known else "write it"
        raise InputError(f"there is no file experiments/{name}.py", remedy, "experiment")
    text = read_text(path)
    module = _executed(path.resolve(), path, text)
    names = registry_of_file(module, text, f"{path.parent.name}/{path.name}")  # reads data anew
    for required in ("COLUMNS", "figures"):
        if not hasattr(module, required):
            remedy = "define COLUMNS and figures(table), as the other experiments do"
            raise InputError(f"does not define {required}", remedy, str(path))
    return ExperimentCode(path, _checked(module.COLUMNS, str(path)), module.figures, names)


def code_of_columns(columns: object) -> ExperimentCode:
    """Return the code of an experiment without a file: a table of results, and no figures."""
    return ExperimentCode(Path("columns"), _checked(columns, "columns"), lambda table: ())


def _checked(columns: Any, place: str) -> tuple[str, ...]:
    if not isinstance(columns, tuple | list) or not all(isinstance(one, str) for one in columns):
        remedy = 'write COLUMNS = ("precision",)'
        raise InputError("COLUMNS is not a tuple of names", remedy, place)
    return tuple(columns)


@lru_cache(128)
def _executed(place: Path, path: Path, text: str) -> ModuleType:
    try:
        with redirect_stdout(sys.stderr):  # a command may print data
            return executed(text, str(path))
    except InputError as error:  # of a decorator, with a remedy of its own
        where = f"{path}{_line(error, path)}"
        raise InputError(error.problem, error.remedy, where) from error
    except (Exception, SystemExit) as error:
        problem = f"cannot be loaded ({error_and_line(error, path)})"
        raise InputError(problem, "fix it", str(path)) from error


def error_and_line(error: BaseException, file: Path) -> str:
    """Name an error and the line of a file in which it arose."""
    return f"{type(error).__name__}: {error}{_line(error, file)}"


def _line(error: BaseException, file: Path) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f", line {lines[-1]}" if lines else ""
