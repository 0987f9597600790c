"""The grid of a config: the values of its sweep, those of its quick part, and the settings."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from dcglearn.axes.registry import Registry
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.design.config_errors import explain_error
from dcglearn.design.options import is_option, option_of, valid_option, with_dotted_options
from dcglearn.design.setting import Setting


def swept_values(sweep: dict[str, Any], registry: Registry) -> dict[str, list[Any]]:
    """Check the values of a sweep one by one, and convert them to the types of the setting.

    Parameters
    ----------
    sweep : dict
        The table as written.
    registry : Registry

    Returns
    -------
    dict from str to list
    """
    found: dict[str, list[Any]] = {}
    for key, values in sweep.items():
        if not (is_option(key) or is_one_of(key, Setting.model_fields)):
            raise unknown_name("key", key, Setting.model_fields, "sweep")
        if key == "queries":
            raise InputError(
                "a config has one file of queries", "write it in [setting]", "sweep.queries"
            )
        if not isinstance(values, list):
            raise InputError(f"{values!r}", "give a list of values", f"sweep.{key}")
        if not values:
            raise InputError("an empty list", "give at least one value", f"sweep.{key}")
        valid = [
            _valid_value(key, value, f"sweep.{key}, value {n}", registry)
            for n, value in enumerate(values, 1)
        ]
        for n, value in enumerate(valid):
            if value in valid[:n]:
                raise InputError(f"{value!r} appears twice", "remove one", f"sweep.{key}")
        found[key] = valid
    return found


def quick_part(
    quick: dict[str, Any], full: int, sweep: dict[str, list[Any]]
) -> tuple[dict[str, list[Any]], int]:
    """Check that the quick grid is a part of the full one.

    Parameters
    ----------
    quick : dict
        The table as written.
    full : int
        The repetitions of the full run.
    sweep : dict from str to list

    Returns
    -------
    sweep : dict from str to list
    repetitions : int
    """
    asked = with_dotted_options(quick, "quick")
    repetitions = asked.pop("repetitions", min(2, full))
    if type(repetitions) is not int or not 1 <= repetitions <= full:
        raise InputError(f"{repetitions!r}", f"use 1 ... {full}", "quick.repetitions")
    chosen = dict(sweep)
    for key, values in asked.items():
        if not is_one_of(key, sweep):
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


def valid_setting(content: dict[str, Any], place: str, bare: bool = False) -> Setting:
    """Return a setting of some keys; an InputError names the key that does not fit.

    Parameters
    ----------
    content : dict
    place : str
        The table of the config.
    bare : bool, default False
        Whether `place` already names the key.

    Returns
    -------
    Setting
    """
    try:
        return Setting.model_validate(content)
    except ValidationError as error:
        raise explain_error(error, place, Setting, bare) from error


def _valid_value(key: str, value: Any, place: str, registry: Registry) -> Any:
    if is_option(key):
        return valid_option(key, value, place, registry)
    return getattr(valid_setting({key: value}, place, bare=True), key)


def setting_at(fixed: dict[str, Any], point: dict[str, Any]) -> Setting:
    """Return the setting at a point of the grid.

    Parameters
    ----------
    fixed, point : dict
        The keys that are not swept, and those that are.

    Returns
    -------
    Setting
    """
    content = {key: value for key, value in point.items() if not is_option(key)}
    options = {option_of(key): value for key, value in point.items() if is_option(key)}
    if options:
        content["options"] = {**fixed.get("options", {}), **options}
    return Setting.model_validate({**fixed, **content})
