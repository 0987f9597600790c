"""Configs: experiments as TOML files.

``experiment``, ``seed``, ``repetitions``, ``[setting]`` and ``[sweep]`` change results.
``figures``, ``[quick]`` and ``long`` do not. ``[sweep]`` gives lists of values for keys of the
setting; the grid is their product. ``[quick]`` selects some of these and fewer repetitions, a
subset of the full run's cells. The experiment file, whose functions may be named, is executed when
the config is read.

A cell is one setting and one repetition, written down as a small JSON-able dict: what differs from
the defaults. It is identified by a hash of that and of :data:`CELL_VERSION`. Its generators are
seeded by named axes only (:data:`AXES`), not by its place in a grid. So two cells that differ in C
or in the truth use the same lists, and a grid that is extended asks for the same cells again. Of
functions of one's own a cell holds the hash of their code, which seeds nothing.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field

from dcglearn.base.checks import checked_count
from dcglearn.base.errors import InputError, check_name, errors_at, unknown_name, warn_of_input
from dcglearn.base.files import read_text
from dcglearn.lab.plots import FIGURE_NAME, figure_file_name, same_figure
from dcglearn.lab.provenance import sha256_of
from dcglearn.lab.registry import (
    SHIPPED,
    ExperimentCode,
    checked_columns,
    experiment_code,
    search_folders,
)
from dcglearn.lab.setting import (
    CHECKED,
    Setting,
    check_result_columns,
    check_setting,
    own_functions_used,
    unused_keys,
    valid,
)
from dcglearn.measures.names import is_measure_file_name

Table: TypeAlias = dict[str, Any]

CELL_VERSION = 8
"""Raise it by hand with every change that changes results; golden cells are tested."""

Cell: TypeAlias = Table
"""A cell, or what it results in: JSON-able."""

_LISTS = ("base", "grades", "ranks", "probabilities")

AXES: dict[str, tuple[str, ...]] = {
    "truth": ("grades", "ranks"),
    **dict.fromkeys(("training", "calibration", "validation"), ("lists", *_LISTS)),
    "test": ("lists", "test_lists", *_LISTS),
    **dict.fromkeys(("judge", "errors", "policy", "folds", "learner"), ()),
}
"""The axes that seed each generator, besides the seed, the repetition and its name."""

RESERVED = ("quick", "store", "benchmark", "side-by-side", "stand-in", "index.html", "readme.md")
"""Names in the folder of results that do not belong to an experiment."""


class Document(BaseModel):
    """A config file as written, before the parts are checked against each other."""

    model_config = CHECKED

    experiment: Annotated[str, Field(pattern=r"^[^\W\d]\w*$")]
    """the name of the file in experiments/, without .py"""
    figures: list[Annotated[str, BeforeValidator(str), Field(pattern=f"^{FIGURE_NAME}$")]]
    """the figures that it draws: numbers of the paper's, names of others"""
    seed: int = Field(ge=0)
    """a whole number; the same one gives the same results"""
    repetitions: int = Field(ge=1, le=100_000)
    """how often each point of the grid is drawn anew"""
    setting: Table = {}
    """what all cells have in common, where it is not the default"""
    sweep: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    """what varies: a list of values for each key of a setting"""
    quick: Table = {}
    """shorter lists of [sweep], and repetitions, for a quick run"""
    long: bool = False
    """true for what takes more than minutes"""


class Config(Document):
    """A config that has been read and checked, or its quick part.

    `setting` has ``options.NAME`` in place of a table of options, and a measure in place of the
    name of its file; `quick` has the sweep and the repetitions of the quick part.
    """

    path: Path
    code: ExperimentCode
    whole: Config | None = None

    @property
    def name(self) -> str:
        """The name of the experiment, and of the folder of its results."""
        return self.path.stem

    @property
    def content(self) -> Table:
        """Everything that changes results, JSON-able; of a quick part, that of the whole."""
        if self.whole is not None:
            return self.whole.content
        code = {f"{one.axis} {one.name}": one.digest for one in self.code.functions}
        found = {
            "experiment": self.experiment,
            "seed": self.seed,
            "setting": Setting(**self.setting).model_dump(exclude_unset=True),
            "swept": sorted(self.sweep),
            "sweep": self.sweep,
            "repetitions": self.repetitions,
        }
        return {**found, "code": code} if code else found

    def quick_part(self) -> Config:
        """Return the config of its quick part."""
        return self.model_copy(update={**self.quick, "whole": self})

    def settings(self) -> list[tuple[Table, Setting]]:
        """Return the points of the grid: the swept values of each, and its setting."""
        found = []
        for values in itertools.product(*self.sweep.values()):
            point = dict(zip(self.sweep, values, strict=True))
            with errors_at(in_words(point)):
                found.append((point, valid(Setting, self.setting | point)))
        return found

    def cells(self) -> list[tuple[Table, Cell]]:
        """Return the cells: the swept values of each with its repetition, and the cell."""
        points = [
            (point, cell_of(setting, self.seed, 0, self.code)) for point, setting in self.settings()
        ]
        return [
            ({**point, "repetition": r}, {**cell, "repetition": r})
            for r in range(self.repetitions)
            for point, cell in points
        ]


def cell_of(setting: Setting, seed: int, repetition: int, code: ExperimentCode = SHIPPED) -> Cell:
    """Describe a cell."""
    unused = unused_keys(setting, code)
    changed = setting.model_dump(exclude_defaults=True, exclude={*unused})
    if setting.ranks == len(setting.base):
        changed.pop("ranks", None)
    if setting.test_lists == setting.lists:
        changed.pop("test_lists", None)
    used = own_functions_used(setting, code)
    more = {
        "options": {
            key: value
            for key, value in changed.pop("options", {}).items()
            if any(value != one.options.get(key, value) for one in used)
        },
        "columns": sorted({*code.columns} & {*code.names("result")}) if setting.learns else [],
        "code": {f"{one.axis} {one.name}": one.digest for one in used},
    }
    kept = {key: value for key, value in more.items() if value}
    return {"seed": seed, "repetition": repetition, **changed, **kept}


def key_of(cell: Cell) -> str:
    """Return the key under which the result of a cell is stored."""
    return hash_of([CELL_VERSION, cell])[:32]


def hash_of(content: object) -> str:
    """Return the hash of what is JSON-able."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256_of(text.encode())


def read_config(path: str | Path) -> Config:
    """Read and check a config."""
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also whole numbers of 5,000 digits
        raise InputError(f"is not valid TOML ({error})", "fix it", str(path)) from error
    with errors_at(str(path)):
        stem = Path(path).stem
        if stem.lower() in RESERVED or stem.startswith("."):
            raise InputError(
                f"{stem!r} cannot be the name of a folder of results, or is taken",
                "rename the file",
            )
        return _config_of(content, Path(path))


def config_from(content: Mapping[str, Any]) -> Config:
    """Check a config that is given as a dict."""
    with errors_at("experiment"):
        plain, code = json.loads(json.dumps(content, default=_plain)), None
        if "columns" in plain:
            if plain.keys() & {"experiment", "figures"}:
                raise InputError("stand beside `experiment`", "leave one of them out", "columns")
            code = ExperimentCode(columns=checked_columns(plain.pop("columns"), "columns"))
            plain |= {"experiment": "columns", "figures": []}
        return _config_of(plain, Path("configs/experiment.toml"), code)


def _plain(value: Any) -> Any:
    """Return what a config file would hold in place of an array or a range."""
    if callable(value):
        raise InputError(
            f"{value!r} is a function", "write it into an experiment file, and name it here"
        )
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _config_of(
    content: Mapping[str, Any], path: Path, code: ExperimentCode | None = None
) -> Config:
    document = valid(Document, content)
    if code is None:
        if not document.figures:
            raise InputError("an empty list", "write figures = [1, 2]", "figures")
        code = experiment_code(document.experiment, path)
    setting, sweep = dotted(document.setting), document.sweep
    for key in sweep.keys() & setting.keys():
        raise InputError(f"{key} is in [setting] and in [sweep]", "remove one of them", "sweep")
    for key, values in sweep.items():
        if any(values.count(value) > 1 for value in values):
            raise InputError(f"{values!r}", "give different values", f"sweep.{key}")
    with errors_at("setting"):
        fixed = valid(Setting, setting)
        if is_measure_file_name(fixed.truth):
            setting["truth"] = str(fixed.true_measure())
    checked = {"setting": setting, "path": path, "code": code}
    config = Config.model_construct(**dict(document) | checked)
    points = config.settings()
    for point, one in points:
        with errors_at(in_words(point)):
            check_setting(one, code)
    settings = [one for _, one in points]
    without = [unused_keys(one, code) for one in settings]
    for key in (*setting, *sweep):
        if all(key in one for one in without):
            raise InputError("has no effect", f"remove it, or set {without[0][key]}", key)
    check_result_columns(settings, code)
    quick = _quick_part(document.quick, document.repetitions, sweep)
    return config.model_copy(update={"quick": quick})


def dotted(table: Table) -> Table:
    """Return a table with ``options.NAME`` in place of a table of options."""
    flat: Table = {}
    for key, value in table.items():
        inside = isinstance(value, dict)
        flat |= {f"{key}.{name}": one for name, one in value.items()} if inside else {key: value}
    return flat


def _quick_part(quick: Table, full: int, sweep: dict[str, list[Any]]) -> Table:
    """Check that the quick grid is a part of the full one; return its sweep and repetitions."""
    repetitions, chosen = quick.pop("repetitions", min(2, full)), dict(sweep)
    checked_count(repetitions, "quick.repetitions", 1, full)
    for key, values in quick.items():
        check_name(key, "key", ["repetitions", *sweep], "quick")
        given = values if isinstance(values, list) else []
        chosen[key] = [value for value in sweep[key] if value in given]
        if not given or len(chosen[key]) < len(given):
            raise InputError(f"{values!r}", f"choose from {sweep[key]}", f"quick.{key}")
    return {"sweep": chosen, "repetitions": repetitions}


def in_words(point: Table) -> str:
    """Return the values of a point of the grid as a text; without any, where they are from."""
    return ", ".join(f"{key} = {value}" for key, value in point.items()) or "setting"


def config_files(shipped: bool = False) -> list[Path]:
    """Return the paths of configs, sorted by file name."""
    found: dict[str, Path] = {}
    for folder in search_folders("configs"):
        for path in folder.glob("*.toml"):
            found.setdefault(path.name, path)
        if found and not shipped:
            break
    return [found[name] for name in sorted(found)]


def config_named(text: str) -> Config:
    """Read a config that is named by its file, or without folder and ending."""
    known = {one.stem: one for one in config_files(shipped=True)}
    path = known.get(text, Path(text))
    if not (path.suffix or path.exists()):
        raise unknown_name("experiment", text, known, "config")
    return read_config(path)


def find_configs(shipped: bool, all_needed: bool = False) -> list[Config]:
    """Return all configs in the order of their figures; those with errors are left out."""
    found = []
    for path in config_files(shipped):
        try:
            found.append(read_config(path))
        except InputError as error:
            if all_needed:
                raise
            warn_of_input(f"left out: {error}")
    if not found:
        raise InputError(
            "holds no config", "write configs/NAME.toml, or reinstall dcglearn", "configs"
        )
    return sorted(found, key=lambda one: figure_file_name(one.figures[0]))


def select_configs(configs: Sequence[Config], only: str) -> list[Config]:
    """Return the configs that a list with commas names, or whose figures it names."""
    known = {name.lower(): name for one in configs for name in (*one.figures, one.name)}
    asked = set[str]()
    for part in only.lower().split(","):
        if part.strip() not in known:
            raise unknown_name("figure or config", part.strip(), known.values())
        asked.add(known[part.strip()])
    return [one for one in configs if asked & {one.name, *one.figures}]


def refuse_shared_figures(configs: Sequence[Config]) -> None:
    """Refuse two configs that draw the same figure: a page has each figure once."""
    drawn: dict[str, Config] = {}
    for config in configs:
        for number in config.figures:
            other = drawn.setdefault(same_figure(number), config)
            if other is not config:
                raise InputError(
                    f"draws figure {number}, as {other.path} does",
                    "name another in one of them",
                    f"{config.path}, figures",
                )
