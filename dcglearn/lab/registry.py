"""What the names of an experiment mean: one registry per config, of this package and of one's own.

A registry holds the names of every axis: those of this package, and those of marked functions
(:mod:`dcglearn.lab.decorators`) in the experiment file, which may import them. It does not change
once it is made.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from dcglearn.asking.policies import POLICIES
from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.files import read_text
from dcglearn.lab.decorators import mark_of
from dcglearn.lab.own_code import Code, data_files, executed, imported_source
from dcglearn.lab.simulation.truths import FREE, TRUTHS
from dcglearn.lab.success import SHIPPED_RESULTS
from dcglearn.measures.presets import PRESETS

JUDGMENT_MODEL = "judgment-model"
USUAL = "usual"
STUDY = "study"
CALIBRATED = "calibrated"
RANDOM = "random"

NAMES: dict[str, Mapping[str, str]] = {
    "truth": {
        **{name: f"{preset} with grades L ... 1" for name, preset in TRUTHS.items()},
        FREE: "gains drawn independently at each rank",
        **{name: preset.formula for name, preset in PRESETS.items()},
    },
    "lists": {
        "permutations": "two permutations of the base list",
        "drawn": "independent grades, uniform or with given probabilities",
        "sorted-against-shuffled": "the base list in its best order, and a permutation of it",
        "sorted-against-another": "a list in its best order, and one of other grades",
        "documents": "two permutations of documents without grades",
        "queries": "two permutations of the documents of a query of a LETOR file",
    },
    "judge": {CALIBRATED: "as the truth says, with noise and bias as given"},
    "policy": {RANDOM: "pairs as they are drawn", **POLICIES},
    "margin": {"unit": "1 for each pair", "hamming": "the number of ranks where lists differ"},
    "learner": {
        "qp": "W of the quadratic program (eq. 1 of the paper)",
        "qp-dcg": "the DCG that is factorised from it",
        USUAL: "the DCG that starts from the usual measures",
        JUDGMENT_MODEL: "intervals and tests of a model of the judgment",
        STUDY: "what is concluded from the judgments of a design",
    },
    "result": {name: about for name, (about, _) in SHIPPED_RESULTS.items()},
}
"""The names of this package, by axis, with what each is."""


@dataclass(frozen=True)
class Registry:
    """The names of all axes: those of this package, and those of functions of one's own."""

    codes: tuple[Code, ...] = ()

    def names(self, axis: str) -> tuple[str, ...]:
        """Return the names of an axis."""
        return (*NAMES[axis], *(code.name for code in self.codes if code.axis == axis))

    def code(self, axis: str, name: str) -> Code | None:
        """Return the function of one's own that a name means; None if it is of this package."""
        return next((one for one in self.codes if (one.axis, one.name) == (axis, name)), None)

    def check(self, axis: str, name: str, place: str, also: Iterable[str] = ()) -> None:
        """Refuse an unknown name; the error has similar names."""
        known = (*also, *self.names(axis))
        if name not in known:
            raise unknown_name("list generator" if axis == "lists" else axis, name, known, place)


SHIPPED = Registry()
"""The names of this package alone."""


def registry_of_file(module: ModuleType, text: str, file: str) -> Registry:
    """Return all names, with those of the marked functions of an experiment file."""
    root, found, seen = Path(module.__file__ or "").resolve().parent.parent, SHIPPED, set[int]()
    for key, function in vars(module).items():
        mark = mark_of(function)
        if mark is None or id(function) in seen:  # whatever else it is called
            continue
        seen.add(id(function))
        source, about = imported_source(function, module.__name__), inspect.getdoc(function) or ""
        code = getattr(inspect.unwrap(function), "__code__", None)
        line = code.co_firstlineno if code and not source else 1
        place, axis, name = f"{file}, line {line}", mark.axis, mark.name
        taken = found.code(axis, name)
        if taken is not None or name in NAMES[axis]:
            problem = f"the {axis} {name!r} is already defined in"
            where = "dcglearn" if taken is None else taken.place
            raise InputError(f"{problem} {where}", "give it another name", place)
        files = data_files(mark.reads, root, place)
        title = about.partition("\n")[0]
        one = Code(axis, name, key, file, line, text, source, files, title, mark.options)
        found = Registry((*found.codes, one))
    return found


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
    except (Exception, SystemExit) as error:
        problem, remedy = f"cannot be loaded ({error_and_line(error, path)})", "fix it"
        if isinstance(error, InputError):  # of a decorator
            problem, remedy = error.problem, error.remedy
        raise InputError(problem, remedy, f"{path}{_line(error, path)}") from error


def error_and_line(error: BaseException, file: Path) -> str:
    """Name an error and the line of a file in which it arose."""
    return f"{type(error).__name__}: {error}{_line(error, file)}"


def _line(error: BaseException, file: Path) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f", line {lines[-1]}" if lines else ""
