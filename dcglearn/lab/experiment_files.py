"""The files of experiments: which configs there are, by path, by name and by the figures drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.lab.config import Config, read_config
from dcglearn.lab.experiment_code import search_folders
from dcglearn.lab.plots import same_figure


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
    return sorted(found, key=first_figure)


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


def first_figure(config: Config) -> tuple[int, str]:
    """Return what configs are sorted by: the first figure of the paper that they draw."""
    first = config.figures[0]
    return (int(first) if first.isdecimal() else 10_000), config.name


def refuse_shared_figures(configs: Sequence[Config]) -> None:
    """Refuse two configs that draw the same figure: a page has each figure once."""
    drawn: dict[str, Config] = {}
    for config in configs:
        for number in config.figures:
            other = drawn.setdefault(same_figure(number), config)
            if other is not config:
                problem = f"draws figure {number}, as {other.path} does"
                remedy = "name another figure in one of them"
                raise InputError(problem, remedy, f"{config.path}, figures")
