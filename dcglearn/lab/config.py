"""Experiments as TOML files.

``experiment``, ``seed``, ``repetitions``, ``[setting]`` and ``[sweep]`` change results;
``figures``, ``[quick]`` and ``[run]`` only say what is drawn, which part is run, and how.
``[sweep]`` gives lists of values for keys of the setting: the grid is their product.
``[quick]`` picks some of these values, and fewer repetitions, so that its cells are among
those of the full run.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text
from dcglearn.base.suggestions import unknown_name
from dcglearn.data.letor import read_grade_counts
from dcglearn.lab.cells import cell_of
from dcglearn.lab.setting import Setting, check_setting, unused_keys
from dcglearn.measures.names import is_measure_file_name, measure_for
from dcglearn.simulation.truths import grade_scale, named_truth

MOST_CELLS = 1_000_000

RESERVED = ("quick", "store", "side-by-side", "stand-in")
"""Folders of results that are no experiment's."""


class RunSettings(BaseModel):
    """How a run happens; nothing of it changes a result.

    Attributes
    ----------
    workers : str
        ``1``, a number of processes, or ``tcp://host:port`` of a Dask scheduler.
    out : str
        Folder of results.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    workers: str = "1"
    out: str = "results"


class _Document(BaseModel):
    """A config file as it is written."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    experiment: str
    figures: list[int | str]
    seed: int = Field(ge=0)
    repetitions: int = Field(ge=1, le=100_000)
    setting: dict[str, Any] = {}
    sweep: dict[str, Any] = {}
    quick: dict[str, Any] = {}
    run: RunSettings = RunSettings()


@dataclass(frozen=True)
class Config:
    """A checked experiment.

    Attributes
    ----------
    path : Path
    name : str
        The file's name without its ending: the folder of its results.
    experiment : str
        The file in ``experiments`` that draws it.
    figures : tuple of str
    seed, repetitions : int
    fixed : dict
        The keys of the setting that are not swept, as given.
    sweep, quick_sweep : dict from str to list
        The grid, and the part of it that a quick run takes.
    quick_repetitions : int
    run : Run
    text : str
        The file.
    """

    path: Path
    name: str
    experiment: str
    figures: tuple[str, ...]
    seed: int
    repetitions: int
    fixed: dict[str, Any]
    sweep: dict[str, list[Any]]
    quick_sweep: dict[str, list[Any]]
    quick_repetitions: int
    run: RunSettings
    text: str

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same for results to be of one experiment: all but the grid's size."""
        return {
            "experiment": self.experiment,
            "seed": self.seed,
            "setting": self.fixed,
            "swept": sorted(self.sweep),
        }

    @property
    def content(self) -> dict[str, Any]:
        """Everything that changes results, JSON-able."""
        return {**self.identity, "sweep": self.sweep, "repetitions": self.repetitions}

    def settings(self, quick: bool = False) -> list[tuple[dict[str, Any], Setting]]:
        """Return the grid: the swept values of each point, and its setting.

        Parameters
        ----------
        quick : bool, default False

        Returns
        -------
        list of (dict, Setting)
        """
        sweep = self.quick_sweep if quick else self.sweep
        points = [dict(zip(sweep, p, strict=True)) for p in itertools.product(*sweep.values())]
        return [(point, _build({**self.fixed, **point})) for point in points]

    def cells(self, quick: bool = False) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the swept values of every cell, repetition included, and the cell.

        Parameters
        ----------
        quick : bool, default False

        Returns
        -------
        list of (dict, dict)
            Repetitions are outermost, so that an unfinished run has some of each point.
        """
        repetitions = self.quick_repetitions if quick else self.repetitions
        settings = self.settings(quick)
        return [
            ({**point, "repetition": r}, cell_of(setting, self.seed, r))
            for r in range(repetitions)
            for point, setting in settings
        ]


def read_config(path: str | Path) -> Config:
    """Read and check a config.

    Parameters
    ----------
    path : path-like
        A TOML file.

    Returns
    -------
    Config

    Raises
    ------
    InputError
        Naming the file and the key: what was expected and what was found; near names for
        an unknown key; values that make no sense, alone or together.
    """
    if Path(path).is_dir():
        raise InputError("is a folder", "name a .toml file", str(path))
    text = read_text(path)
    try:
        document = _Document.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is no TOML ({error})", "mend the line", str(path)) from error
    except ValidationError as error:
        raise _explained(error, "", _Document).at(str(path)) from error
    try:
        return _checked(document, Path(path), text)
    except InputError as error:
        raise error.at(str(path)) from error


def _checked(document: _Document, path: Path, text: str) -> Config:
    if not document.experiment.isidentifier():
        raise InputError(
            f"{document.experiment!r} is no name", "use letters, digits and _", "experiment"
        )
    _check_names(document, path)
    sweep = _swept(document.sweep)
    for key in sweep.keys() & document.setting.keys():
        raise InputError(f"{key} stands in [setting] and in [sweep]", "leave one", "sweep")
    fixed = _resolved(_valid(document.setting, "setting"), document.setting, path)
    config = Config(
        path,
        path.stem,
        document.experiment,
        tuple(map(str, document.figures)),
        document.seed,
        document.repetitions,
        fixed,
        sweep,
        *_quick(document, sweep),
        document.run,
        text,
    )
    size = config.repetitions
    for values in sweep.values():
        size *= len(values)
    if size > MOST_CELLS:
        raise InputError(f"{size:,} cells", f"ask for {MOST_CELLS:,} at most", "sweep")
    _check_used(config)
    for point, setting in config.settings():
        where = ", ".join(f"{key} = {value!r}" for key, value in point.items()) or "setting"
        try:
            check_setting(setting)
            _check_truth(setting)
        except InputError as error:
            raise error.at(where) from error
    return config


def _check_names(document: _Document, path: Path) -> None:
    """Refuse names that cannot become names of files, or are those of other files."""
    if not document.figures:
        raise InputError("names no figure", "write figures = [1, 2]", "figures")
    names = [str(figure) for figure in document.figures]
    for n, name in enumerate(names, 1):
        if name in names[: n - 1]:
            raise InputError(f"{name!r} twice", "leave one", "figures")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", name):
            raise InputError(
                f"{name!r} is no name", "use letters, digits and -", f"figures, value {n}"
            )
    if path.stem in RESERVED:
        raise InputError(f"results would be in {path.stem}, which is taken", "rename the file")


def _check_used(config: Config) -> None:
    """Refuse a key that has no effect at any point of the grid."""
    without = [unused_keys(setting) for _, setting in config.settings()]
    for key in (*config.fixed, *config.sweep):
        if all(key in point for point in without):
            raise InputError("has no effect", f"leave it out, or set {without[0][key]}", key)


def _swept(sweep: dict[str, Any]) -> dict[str, list[Any]]:
    """Check the values of a sweep one by one; return them as the setting holds them."""
    found: dict[str, list[Any]] = {}
    for key, values in sweep.items():
        if key not in Setting.model_fields:
            raise unknown_name("key", key, Setting.model_fields, "sweep")
        if key == "queries":
            raise InputError(
                "one file of queries a config", "write it in [setting]", "sweep.queries"
            )
        if not isinstance(values, list):
            raise InputError(f"{values!r}", "give a list of values", f"sweep.{key}")
        if not values:
            raise InputError("an empty sweep", "give at least one value", f"sweep.{key}")
        valid = [
            getattr(_valid({key: value}, f"sweep.{key}, value {n}", bare=True), key)
            for n, value in enumerate(values, 1)
        ]
        for n, value in enumerate(valid):
            if value in valid[:n]:
                raise InputError(f"{value!r} twice", "leave one", f"sweep.{key}")
        found[key] = valid
    return found


def _quick(document: _Document, sweep: dict[str, list[Any]]) -> tuple[dict[str, list[Any]], int]:
    """Check that the quick grid is a part of the full one."""
    asked = dict(document.quick)
    repetitions = asked.pop("repetitions", min(2, document.repetitions))
    if type(repetitions) is not int or not 1 <= repetitions <= document.repetitions:
        raise InputError(
            f"{repetitions!r}", f"use 1 ... {document.repetitions}", "quick.repetitions"
        )
    chosen = dict(sweep)
    for key, values in asked.items():
        if key not in sweep:
            raise unknown_name("key", key, ["repetitions", *sweep], "quick")
        if not isinstance(values, list) or not values:
            raise InputError(f"{values!r}", "give a list of values of the sweep", f"quick.{key}")
        for value in values:
            if value not in sweep[key]:
                raise InputError(
                    f"{value!r} is not in the sweep", f"choose from {sweep[key]}", f"quick.{key}"
                )
        chosen[key] = [value for value in sweep[key] if value in values]
    return chosen, repetitions


def _valid(content: dict[str, Any], place: str, bare: bool = False) -> Setting:
    try:
        return Setting.model_validate(content)
    except ValidationError as error:
        raise _explained(error, place, Setting, bare) from error


def _build(content: dict[str, Any]) -> Setting:
    return Setting.model_validate(content)


def _resolved(setting: Setting, given: dict[str, Any], path: Path) -> dict[str, Any]:
    """Put what a file holds into the setting in place of the file's name."""
    fixed = {key: getattr(setting, key) for key in given}
    if isinstance(setting.queries, list):
        raise InputError("found a list", f"expected {_EXPECTED['queries']}", "setting.queries")
    if isinstance(setting.queries, str):
        file = Path(setting.queries)
        file = file if file.is_absolute() or file.is_file() else path.parent / file
        try:
            fixed["queries"] = read_grade_counts(file, setting.grades).tolist()
        except InputError as error:
            raise error.at("setting.queries") from error
    if is_measure_file_name(setting.truth):
        try:
            found = measure_for(setting.truth, grade_scale(setting.grades), setting.n_ranks)
        except InputError as error:
            raise error.at("setting.truth") from error
        fixed["truth"] = str(found.measure)
    return fixed


def _check_truth(setting: Setting) -> None:
    try:
        named_truth(setting.truth, setting.n_ranks, setting.grades, np.random.default_rng(0))
    except InputError as error:
        raise error.at("truth") from error


def _explained(
    error: ValidationError, place: str, model: type[BaseModel], bare: bool = False
) -> InputError:
    """Turn the first thing that pydantic found into file, key, expected, found."""
    # A misspelt key leaves the right one missing: the misspelling is what to mend.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"] if isinstance(part, str))
    key = key.split(".")[0] if model is Setting or key.startswith("figures") else key
    where = place if bare else f"{place}.{key}".strip(".")
    if first["type"] == "extra_forbidden":
        known = RunSettings.model_fields if key.startswith("run.") else model.model_fields
        return unknown_name(
            "key", key.split(".")[-1], known, place or ".".join(key.split(".")[:-1])
        )
    if first["type"] == "missing":
        return InputError(f"{key} is missing", f"add it: {_wanted(model, key)}", place)
    return InputError(
        f"found {first['input']!r} ({_type_name(first)})", f"expected {_wanted(model, key)}", where
    )


def _type_name(first: ErrorDetails) -> str:
    names = {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "list": "a list",
        "dict": "a table",
    }
    kind = type(first["input"]).__name__
    return names.get(kind, kind)


_EXPECTED = {
    "experiment": 'text: experiment = "name"',
    "figures": "a list: figures = [1, 2]",
    "seed": "a whole number, 0 or more",
    "repetitions": "a whole number, 1 or more",
    "base": "a list of grades",
    "C_grid": "a list of numbers",
    "against": "a list of presets",
    "probabilities": "a list of numbers",
    "C": 'a number, or "validation"',
    "margin": '"unit" or "hamming"',
    "queries": "the name of a file",
}


def _wanted(model: type[BaseModel], key: str) -> str:
    """Say in words what a key holds."""
    if key in _EXPECTED:
        return _EXPECTED[key]
    head, *rest = key.split(".")
    if rest:
        return "text" if head == "run" else "a value"
    kind = str(model.model_fields[head].annotation) if head in model.model_fields else ""
    for type_name, words in (("dict", "a table"), ("int", "a whole number"), ("float", "a number")):
        if type_name in kind:
            return words
    return "a table" if "Run" in kind else "text"
