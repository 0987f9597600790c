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
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.base.files import read_text
from dcglearn.collections.letor import read_grade_counts
from dcglearn.lab.cells import Cell, QueryTable, cell_of, query_table_hash
from dcglearn.lab.columns import check_result_columns
from dcglearn.lab.decorators import is_option_value
from dcglearn.lab.own_code import Code
from dcglearn.lab.plots import FIGURE_NAME, order_in_paper, same_figure
from dcglearn.lab.registry import (
    ExperimentCode,
    Registry,
    code_of_columns,
    experiment_code,
    search_folders,
)
from dcglearn.lab.setting import (
    Setting,
    at_key,
    check_setting,
    own_functions_used,
    unused_keys,
    valid,
)
from dcglearn.lab.simulation.truths import grade_scale
from dcglearn.measures.names import is_measure_file_name, measure_for

Table: TypeAlias = dict[str, Any]
Sweep: TypeAlias = dict[str, list[Any]]
"""Keys with their values, and with lists of values."""

MAX_CELLS = 1_000_000

OPTION = "options."
"""What the keys of options of functions of one's own begin with."""

RESERVED = ("quick", "store", "benchmark", "side-by-side", "stand-in", "index.html", "readme.md")
"""Names in the folder of results that do not belong to an experiment."""


class RunSettings(BaseModel):
    """The table ``[run]`` of a config: how cells are computed; no result depends on it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    workers: str = "1"
    out: str = "results"
    long: bool = False


class Document(BaseModel):
    """A config file as written, before the parts are checked against each other."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    experiment: Annotated[str, Field(pattern=r"^[^\W\d]\w*$")] = Field(
        description="the name of the file in experiments/, without .py"
    )
    figures: list[int | Annotated[str, Field(pattern=f"^{FIGURE_NAME}$")]] = Field(
        description="the figures that it draws: numbers of the paper's, names of others"
    )
    seed: int = Field(ge=0, description="a whole number; the same one gives the same results")
    repetitions: int = Field(
        ge=1, le=100_000, description="how often each point of the grid is drawn anew"
    )
    setting: Table = Field(
        {}, description="what all cells have in common, where it is not the default"
    )
    sweep: Table = Field({}, description="what varies: a list of values for each key of a setting")
    quick: Table = Field(
        {}, description="shorter lists of [sweep], and repetitions, for a quick run"
    )
    run: RunSettings = Field(
        RunSettings(),
        description='workers = "1", out = "results"; long = true for what takes longer',
    )


@dataclass(frozen=True)
class Config:
    """A config that has been read and checked."""

    path: Path
    experiment: str
    figures: tuple[str, ...]
    seed: int
    repetitions: int
    fixed: Table
    queries: QueryTable | None
    sweep: Sweep
    quick_sweep: Sweep
    quick_repetitions: int
    run: RunSettings
    code: ExperimentCode

    @property
    def name(self) -> str:
        """The name of the experiment, and of the folder of its results."""
        return self.path.stem

    @property
    def codes(self) -> tuple[Code, ...]:
        """The functions of one's own that some cell uses."""
        settings, names = [setting for _, setting in self.settings()], self.code.registry
        used = (own_functions_used(one, names, self.code.columns) for one in settings)
        return tuple(dict.fromkeys(itertools.chain.from_iterable(used)))

    @property
    def content(self) -> Table:
        """Everything that changes results, JSON-able."""
        code = {f"{code.axis} {code.name}": code.digest for code in self.codes}
        found = {
            "experiment": self.experiment,
            "seed": self.seed,
            "setting": self.fixed,
            "swept": sorted(self.sweep),
            "sweep": self.sweep,
            "repetitions": self.repetitions,
        }
        return {**found, "code": code} if code else found

    def settings(self, quick: bool = False) -> list[tuple[Table, Setting]]:
        """Return the points of the grid: the swept values of each, and its setting."""
        sweep = self.quick_sweep if quick else self.sweep
        points = [dict(zip(sweep, p, strict=True)) for p in itertools.product(*sweep.values())]
        options = {f"{OPTION}{key}": one for key, one in self.fixed.get("options", {}).items()}
        fixed = self.fixed | options
        return [(point, Setting(**_with_options({**fixed, **point}))) for point in points]

    def cells(self, quick: bool = False) -> list[tuple[Table, Cell]]:
        """Return the cells: the swept values of each with its repetition, and the cell."""
        repetitions = self.quick_repetitions if quick else self.repetitions
        points = [
            (point, cell_of(setting, self.seed, 0, self.code.registry, self.code.columns))
            for point, setting in self.settings(quick)
        ]
        return [
            ({**point, "repetition": r}, {**cell, "repetition": r})
            for r in range(repetitions)
            for point, cell in points
        ]


def read_config(path: str | Path) -> Config:
    """Read and check a config."""
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also whole numbers of 5,000 digits
        raise InputError(f"is not valid TOML ({error})", "fix it", str(path)) from error
    with at_key(str(path)):
        return _config_of(content, Path(path))


def config_from(content: Mapping[str, Any], name: str = "experiment") -> Config:
    """Check a config that is given as a dict."""
    with at_key(name):
        plain, code = json.loads(json.dumps(content, default=_plain)), None
        if "columns" in plain:
            if plain.keys() & {"experiment", "figures"}:
                raise InputError("stand beside `experiment`", "leave one of them out", "columns")
            code = code_of_columns(plain.pop("columns"))
            plain |= {"experiment": "columns", "figures": []}
        return _config_of(plain, Path("configs", f"{name}.toml"), code)


def _plain(value: Any) -> Any:
    """Return what a config file would hold in place of an array, a range or a mapping."""
    if callable(value):
        problem = f"{value!r} is a function"
        raise InputError(problem, "write it into an experiment file, and name it here")
    if isinstance(value, Mapping):
        return dict(value)
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _config_of(
    content: Mapping[str, Any], path: Path, code: ExperimentCode | None = None
) -> Config:
    document = valid(Document, content)
    if code is None:
        stem = path.stem
        if stem.lower() in RESERVED or stem.startswith(".") or not stem.isprintable():
            problem = f"{stem!r} cannot be the name of a folder of results, or is taken"
            raise InputError(problem, "rename the file")
        if not document.figures:
            raise InputError("an empty list", "write figures = [1, 2]", "figures")
        code = experiment_code(document.experiment, path)
    given, sweep, quick = (_dotted(document, table) for table in ("setting", "sweep", "quick"))
    for key in sweep.keys() & given.keys():
        raise InputError(f"{key} is in [setting] and in [sweep]", "remove one of them", "sweep")
    names = code.registry
    fixed = {
        key: _value(key, one, "setting", f"setting.{key}", names) for key, one in given.items()
    }
    queries = _replace_files(fixed, path)
    grid = {key: _values(key, values, names) for key, values in sweep.items()}
    config = Config(
        path,
        document.experiment,
        tuple(map(str, document.figures)),
        document.seed,
        document.repetitions,
        _with_options(fixed),
        queries,
        grid,
        *_quick_part(quick, document.repetitions, grid),
        document.run,
        code,
    )
    _check_cells(config)
    return config


def _dotted(document: Document, table: str) -> Table:
    """Return a table of a config with ``options.NAME`` in place of a table of options."""
    found = dict(getattr(document, table))
    options = found.pop("options", {})
    if not isinstance(options, dict):
        raise InputError(f"found {options!r}", "expected a table of options", f"{table}.options")
    return found | {f"{OPTION}{name}": value for name, value in options.items()}


def _with_options(settings: Table) -> Table:
    """Return settings with a table of options in place of ``options.NAME``."""
    plain = {key: value for key, value in settings.items() if not key.startswith(OPTION)}
    options = {k.removeprefix(OPTION): v for k, v in settings.items() if k not in plain}
    return {**plain, "options": options} if options else plain


def _value(key: str, value: Any, table: str, place: str, registry: Registry) -> Any:
    """Return the value of a key as the setting holds it; of an option, of its default's type."""
    if not key.startswith(OPTION):
        if key not in Setting.model_fields:
            raise unknown_name("key", key, Setting.model_fields, table)
        return getattr(valid(Setting, {key: value}, place), key)
    name = key.removeprefix(OPTION)
    defaults = {option: d for code in registry.codes for option, d in code.options.items()}
    if name not in defaults:
        raise unknown_name("option", name, defaults, place)
    default = defaults[name]
    if type(default) is float and type(value) is int:
        value = float(value)
    same = type(value) is (list if isinstance(default, tuple) else type(default))
    if not same or not is_option_value(value):
        raise InputError(f"found {value!r}", f"expected a value like {default!r}", place)
    return value


def _values(key: str, values: Any, registry: Registry) -> list[Any]:
    """Return the values of a key of a sweep."""
    place, found = f"sweep.{key}", list[Any]()
    if key == "queries":
        raise InputError("a config has one file of queries", "write it in [setting]", place)
    if not isinstance(values, list) or not values:
        raise InputError(f"{values!r}", "give a list of values", place)
    for n, value in enumerate(values, 1):
        one = _value(key, value, "sweep", f"{place}, value {n}", registry)
        if one in found:
            raise InputError(f"{one!r} appears twice", "remove one", place)
        found.append(one)
    return found


def _replace_files(fixed: Table, path: Path) -> QueryTable | None:
    """Replace the names of files by what they hold; a table of queries by its hash."""
    setting, queries = Setting(**_with_options(fixed)), None
    if isinstance(setting.queries, list):
        raise InputError("found a list", "name a file", "setting.queries")
    if setting.queries is not None:
        with at_key("setting.queries"):
            file = Path(setting.queries)
            file = file if file.is_file() else path.parent / file
            queries = read_grade_counts(file, setting.grades).tolist()
        fixed["queries"] = query_table_hash(queries)
    if is_measure_file_name(setting.truth):
        with at_key("setting.truth"):
            scale = grade_scale(setting.grades)
            fixed["truth"] = str(measure_for(setting.truth, scale, setting.n_ranks).measure)
    return queries


def _quick_part(quick: Table, full: int, sweep: Sweep) -> tuple[Sweep, int]:
    """Check that the quick grid is a part of the full one."""
    repetitions, chosen = quick.pop("repetitions", min(2, full)), dict(sweep)
    if type(repetitions) is not int or not 1 <= repetitions <= full:
        raise InputError(f"{repetitions!r}", f"use 1 ... {full}", "quick.repetitions")
    for key, values in quick.items():
        if key not in sweep:
            raise unknown_name("key", key, ["repetitions", *sweep], "quick")
        given = values if isinstance(values, list) else []
        chosen[key] = [value for value in sweep[key] if value in given]
        if not given or len(chosen[key]) < len(given):
            raise InputError(f"{values!r}", f"choose from {sweep[key]}", f"quick.{key}")
    return chosen, repetitions


def _check_cells(config: Config) -> None:
    """Refuse a grid that is too large, points that make no sense, and what has no effect."""
    size = config.repetitions * math.prod(map(len, config.sweep.values()))
    if size > MAX_CELLS:
        raise InputError(f"{size:,} cells", f"use at most {MAX_CELLS:,}", "sweep")
    code, settings = config.code, config.settings()
    for point, setting in settings:
        where = ", ".join(f"{key} = {value!r}" for key, value in point.items()) or "setting"
        with at_key(where):
            check_setting(setting, code.registry)
    points = [setting for _, setting in settings]
    without = [unused_keys(setting, code.registry, code.columns) for setting in points]
    options = [f"{OPTION}{name}" for name in config.fixed.get("options", {})]
    for key in (*config.fixed, *options, *config.sweep):
        if all(key in point for point in without):
            raise InputError("has no effect", f"remove it, or set {without[0][key]}", key)
    check_result_columns(code.columns, points, code.registry, str(code.path))


def config_files(shipped: bool = False) -> list[Path]:
    """Return the paths of configs, sorted by file name."""
    found: dict[str, Path] = {}
    for folder in search_folders("configs"):
        for path in sorted(file for file in folder.glob("*.toml") if file.is_file()):
            found.setdefault(path.name, path)
        if found and not shipped:
            break
    return [found[name] for name in sorted(found)]


def config_named(text: str) -> Config:
    """Read a config that is named by its file, or without folder and ending."""
    path = Path(text)
    if path.suffix or len(path.parts) != 1 or path.exists():
        return read_config(path)
    known = {one.stem: one for one in config_files(shipped=True)}
    if text not in known:
        raise unknown_name("experiment", text, tuple(known), "config")
    return read_config(known[text])


def find_configs(
    shipped: bool = False, left_out: Callable[[InputError], None] | None = None
) -> list[Config]:
    """Return all configs in the order of their figures; `left_out` is told of those with errors."""
    found = []
    for path in config_files(shipped):
        try:
            found.append(read_config(path))
        except InputError as error:
            if left_out is None:
                raise
            left_out(error)
    if not found:
        remedy = "write configs/NAME.toml, or reinstall dcglearn"
        raise InputError("holds no config", remedy, "configs")
    return sorted(found, key=lambda one: order_in_paper(one.figures[0]))


def select_configs(configs: Sequence[Config], only: str) -> list[Config]:
    """Return the configs that a list with commas names, or whose figures it names."""
    known = {name.lower(): name for one in configs for name in (*one.figures, one.name)}
    names = [part.strip() for part in only.split(",") if part.strip()]
    if not names:
        raise InputError("`only` is empty", "name figures or configs, such as `only=5,6`")
    for name in names:
        if name.lower() not in known:
            error = unknown_name("figure or config", name, known.values())
            remedy = f"{error.remedy}; `shipped` adds those of the package"
            raise InputError(error.problem, remedy)
    asked = {known[name.lower()] for name in names}
    return [one for one in configs if asked & {one.name, *one.figures}]


def refuse_shared_figures(configs: Sequence[Config]) -> None:
    """Refuse two configs that draw the same figure: a page has each figure once."""
    drawn: dict[str, Config] = {}
    for config in configs:
        for number in config.figures:
            other = drawn.setdefault(same_figure(number), config)
            if other is not config:
                problem = f"draws figure {number}, as {other.path} does"
                place = f"{config.path}, figures"
                raise InputError(problem, "name another figure in one of them", place)
