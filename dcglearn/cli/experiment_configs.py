"""Which experiments a command is about: configs by path, by figure, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.terminal.output import print_note
from dcglearn.terminal.remedies import message

if TYPE_CHECKING:
    from dcglearn.design.config import Config


def find_configs(
    paths: Sequence[str] | None = None, lenient: bool = False, shipped: bool = False
) -> list[Config]:
    """Return the named configs, or all; if lenient, without those of all that have errors."""
    from dcglearn.design.config import read_config
    from dcglearn.lab.experiment_files import config_files

    if paths:
        return [read_config(path) for path in paths]
    found = []
    for path in config_files(shipped):
        try:
            found.append(read_config(path))
        except InputError as error:
            if not lenient:
                raise
            print_note(f"left out: {message(error)}")
    if not found:
        raise InputError(
            "holds no config", "write configs/NAME.toml, or reinstall dcglearn", "configs"
        )
    return sorted(found, key=first_figure)


def first_figure(config: Config) -> tuple[int, str]:
    """Return what configs are sorted by: the first figure of the paper that they draw."""
    first = config.figures[0]
    return (int(first) if first.isdecimal() else 10_000), config.name


def select_configs(configs: Sequence[Config], only: str, shipped: bool) -> list[Config]:
    """Return those that ``--only`` names, or whose figures it names."""
    spelt = _names(configs)
    asked = []
    for name in (part.strip() for part in only.split(",") if part.strip()):
        if name.lower() not in spelt:
            if not shipped and name.lower() in _names(find_configs(lenient=True, shipped=True)):
                words = f"{name!r} is one of the shipped experiments"
                raise InputError(words, "add --shipped to run it", "--only")
            raise unknown_name("figure or config", name, spelt.values(), "--only")
        asked.append(spelt[name.lower()])
    if not asked:
        raise InputError("--only is empty", "name figures or configs, such as --only 5,6")
    return [c for c in configs if c.name in asked or set(c.figures) & set(asked)]


def _names(configs: Sequence[Config]) -> dict[str, str]:
    known = [name for config in configs for name in (*config.figures, config.name)]
    return {name.lower(): name for name in known}
