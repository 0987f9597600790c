"""Configs: experiments as TOML files.

``experiment``, ``seed``, ``repetitions``, ``[setting]`` and ``[sweep]`` change results.
``figures``, ``[quick]`` and ``[run]`` do not: they say what is drawn, which part is run, and how.
``[sweep]`` gives lists of values for keys of the setting; the grid is their product. ``[quick]``
selects some of these values and fewer repetitions, so its cells are a subset of the full run's.
Names may be those of functions in the experiment file, which is executed when the config is read.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dcglearn.axes.experiment_code import (
    ExperimentCode,
    code_of_columns,
    execute_experiment,
    experiment_path,
)
from dcglearn.axes.own_code import Code
from dcglearn.axes.registry import Registry
from dcglearn.base.errors import InputError
from dcglearn.base.files import read_text
from dcglearn.design.cells import QueryTable, cell_of
from dcglearn.design.columns import check_result_names
from dcglearn.design.config_errors import explain_error
from dcglearn.design.config_names import check_names, check_path
from dcglearn.design.file_contents import with_file_contents
from dcglearn.design.grid import quick_part, setting_at, swept_values, valid_setting
from dcglearn.design.options import (
    with_dotted_options,
    without_options,
)
from dcglearn.design.setting import Setting, check_setting, own_functions_used, unused_keys
from dcglearn.simulation.truths import named_truth

MAX_CELLS = 1_000_000

_LONGEST_NAME = 100
"""Characters of the name of an experiment, and parts of a key."""


class RunSettings(BaseModel):
    """The table ``[run]`` of a config: how cells are computed; no result depends on it.

    Attributes
    ----------
    workers : str
        A number of processes, or ``tcp://host:port`` of a Dask scheduler.
    out : str
        The folder of results.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    workers: str = "1"
    out: str = "results"


class _Document(BaseModel):
    """A config file as written, before the parts are checked against each other."""

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
    """A config that has been read and checked.

    Attributes
    ----------
    path : Path
    name : str
        The name of the file without its ending; also the name of the folder of its results.
    experiment : str
        The name of the file in ``experiments`` that draws the figures.
    figures : tuple of str
    seed, repetitions : int
    fixed : dict
        The keys of the setting that are not swept. ``queries`` is the hash of a table.
    queries : list of list of int or None
        The table of queries: counts of grades, one row per query.
    sweep, quick_sweep : dict from str to list
        The values of each swept key: in the full run, and in the quick run.
    quick_repetitions : int
    run : RunSettings
    text : str
        The content of the file.
    code : ExperimentCode
        The experiment file, executed, and what names mean.
    """

    path: Path
    name: str
    experiment: str
    figures: tuple[str, ...]
    seed: int
    repetitions: int
    fixed: dict[str, Any]
    queries: QueryTable | None
    sweep: dict[str, list[Any]]
    quick_sweep: dict[str, list[Any]]
    quick_repetitions: int
    run: RunSettings
    text: str
    code: ExperimentCode

    @property
    def columns(self) -> tuple[str, ...]:
        """The results that the table holds, as the experiment file names them."""
        found = getattr(self.code.module, "COLUMNS", ())
        usable = isinstance(found, tuple | list) and all(isinstance(one, str) for one in found)
        return tuple(found) if usable else ()

    @property
    def codes(self) -> tuple[Code, ...]:
        """The functions of one's own that some cell uses."""
        used = {
            entry.code: None
            for _, setting in self.settings()
            for entry in own_functions_used(setting, self.code.registry, self.columns)
        }
        return tuple(code for code in used if code is not None)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that changes results except the size of the grid, JSON-able."""
        return {
            "experiment": self.experiment,
            "seed": self.seed,
            "setting": self.fixed,
            "swept": sorted(self.sweep),
        }

    @property
    def content(self) -> dict[str, Any]:
        """Everything that changes results, JSON-able."""
        size = {"sweep": self.sweep, "repetitions": self.repetitions}
        code = {f"{code.axis} {code.name}": code.identity for code in self.codes}
        return {**self.identity, **size, **({"code": code} if code else {})}

    def settings(self, quick: bool = False) -> list[tuple[dict[str, Any], Setting]]:
        """Return the points of the grid: the swept values of each, and its setting.

        Parameters
        ----------
        quick : bool, default False
            Whether to take the quick part of the grid only.

        Returns
        -------
        list of (dict, Setting)
        """
        sweep = self.quick_sweep if quick else self.sweep
        points = [dict(zip(sweep, p, strict=True)) for p in itertools.product(*sweep.values())]
        return [(point, setting_at(self.fixed, point)) for point in points]

    def cells(self, quick: bool = False) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the cells: the swept values of each with its repetition, and the cell.

        Parameters
        ----------
        quick : bool, default False
            Whether to take the quick part of the grid only.

        Returns
        -------
        list of (dict, dict)
            Repetitions are the outer loop, so an unfinished run has cells of every point.
        """
        repetitions = self.quick_repetitions if quick else self.repetitions
        points = [
            (point, cell_of(setting, self.seed, 0, self.code.registry, self.columns))
            for point, setting in self.settings(quick)
        ]
        return [
            ({**point, "repetition": r}, {**cell, "repetition": r})
            for r in range(repetitions)
            for point, cell in points
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
        Naming the file and the key, what was expected and what was found; with similar
        names for an unknown key. Also for values that do not make sense together.
    """
    if Path(path).is_dir():
        raise InputError("is a folder", "name a .toml file", str(path))
    text = read_text(path)
    if _has_long_key(text):
        raise InputError("is not valid TOML (too deep)", "write a table of settings", str(path))
    try:
        return _config_of(tomllib.loads(text), Path(path), text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not valid TOML ({error})", "fix the line", str(path)) from error
    except InputError as error:
        raise error.at(str(path)) from error
    except (ValueError, RecursionError) as error:  # such as whole numbers of 5,000 digits
        problem = "is not valid TOML (too deep or too long)"
        raise InputError(problem, "write a table of settings", str(path)) from error


def config_from(content: Mapping[str, Any], name: str = "experiment") -> Config:
    """Check a config that is given as a dict.

    Parameters
    ----------
    content : mapping
        What a config file would hold: text, numbers, lists and tables. Instead of
        ``experiment`` and ``figures`` it may have ``columns``, the results that are wanted.
    name : str, default "experiment"
        What its file would be called.

    Returns
    -------
    Config

    Raises
    ------
    InputError
        As :func:`read_config`.

    Examples
    --------
    >>> content = {"columns": ["precision"], "seed": 1, "repetitions": 2}
    >>> len(config_from({**content, "sweep": {"pairs": [20, 40]}}).cells())
    4
    """
    try:
        plain = _plain(content)
        text, code = json.dumps(plain, indent=2), None
        if "columns" in plain:
            if plain.keys() & {"experiment", "figures"}:
                raise InputError("stand beside `experiment`", "leave one of them out", "columns")
            code = code_of_columns(plain.pop("columns"))
            plain |= {"experiment": "columns", "figures": []}
        elif "experiment" not in plain:
            remedy = "add columns, such as ['precision'], or the name of an experiment"
            raise InputError("neither columns nor experiment is given", remedy)
        return _config_of(plain, Path("configs", f"{name}.toml"), text, code)
    except InputError as error:
        raise error.at(name) from error


def _plain(value: Any) -> Any:
    """Return a value as a config file would hold it: tuples and arrays are lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [_plain(one) for one in value]
    if isinstance(value, str | int | float):
        return value
    if callable(value):
        raise InputError(
            f"{value!r} is a function", "write it into an experiment file, and name it here"
        )
    raise InputError(f"{value!r} cannot be in a config", "use text, numbers, lists and tables")


def _config_of(
    content: Mapping[str, Any], path: Path, text: str, code: ExperimentCode | None = None
) -> Config:
    try:
        document = _Document.model_validate(content)
    except ValidationError as error:
        raise explain_error(error, "", _Document) from error
    if code is None:
        check_names(document.figures, path)
        code = execute_experiment(experiment_path(_experiment_name(document), path))
    return _checked(document, path, text, code)


def _experiment_name(document: _Document) -> str:
    if not document.experiment.isidentifier() or len(document.experiment) > _LONGEST_NAME:
        raise InputError(
            f"{document.experiment!r} is not a name", "use letters, digits and _", "experiment"
        )
    return document.experiment


def _has_long_key(text: str) -> bool:
    """Find a key of more than a hundred parts, for which the parser needs quadratic time."""
    parts = 0
    for part in text.split("."):
        parts = 0 if set(part.strip(" \t")) & set(" \t\r\n,=[]{}") else parts + bool(part.strip())
        if parts > _LONGEST_NAME:
            return True
    return False


def _checked(document: _Document, path: Path, text: str, code: ExperimentCode) -> Config:
    check_path("run.out", document.run.out)
    check_result_names(code.registry)
    sweep = swept_values(with_dotted_options(document.sweep, "sweep"), code.registry)
    given = with_dotted_options(document.setting, "setting")
    for key in sweep.keys() & given.keys():
        raise InputError(f"{key} is in [setting] and in [sweep]", "remove one of them", "sweep")
    plain = without_options(given, "setting", code.registry)
    setting = valid_setting(plain, "setting")
    fixed, queries = with_file_contents(setting, plain, path)
    config = Config(
        path,
        path.stem,
        document.experiment,
        tuple(map(str, document.figures)),
        document.seed,
        document.repetitions,
        fixed,
        queries,
        sweep,
        *quick_part(document.quick, document.repetitions, sweep),
        document.run,
        text,
        code,
    )
    size = config.repetitions
    for values in sweep.values():
        size *= len(values)
    if size > MAX_CELLS:
        raise InputError(f"{size:,} cells", f"use at most {MAX_CELLS:,}", "sweep")
    for point, setting in config.settings():
        where = ", ".join(f"{key} = {value!r}" for key, value in point.items()) or "setting"
        try:
            check_setting(setting, code.registry)
            _check_truth(setting, code.registry)
        except InputError as error:
            raise error.at(where) from error
    _check_used(config)
    return config


def _check_used(config: Config) -> None:
    """Refuse a key that has no effect at any point of the grid."""
    registry, columns = config.code.registry, config.columns
    without = [unused_keys(setting, registry, columns) for _, setting in config.settings()]
    options = [f"options.{name}" for name in config.fixed.get("options", {})]
    for key in (*config.fixed, *options, *config.sweep):
        if all(key in point for point in without):
            raise InputError("has no effect", f"remove it, or set {without[0][key]}", key)


def _check_truth(setting: Setting, registry: Registry) -> None:
    if registry.is_own("truth", setting.truth):
        return
    try:
        named_truth(setting.truth, setting.n_ranks, setting.grades, np.random.default_rng(0))
    except InputError as error:
        raise error.at("truth") from error
