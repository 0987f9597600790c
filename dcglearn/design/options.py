"""The options of functions of one's own, in configs: ``[setting.options]``, or ``options.NAME``."""

from __future__ import annotations

from typing import Any

from dcglearn.axes.decorators import is_option_value
from dcglearn.axes.registry import Registry
from dcglearn.base.errors import InputError, unknown_name

_PREFIX = "options."


def is_option(key: str) -> bool:
    """Return whether a key of a config is that of an option."""
    return key.startswith(_PREFIX)


def option_of(key: str) -> str:
    """Return the name of the option of a key."""
    return key.removeprefix(_PREFIX)


def with_dotted_options(table: dict[str, Any], place: str) -> dict[str, Any]:
    """Return a table of a config with ``options.NAME`` in place of a table of options.

    Parameters
    ----------
    table : dict
    place : str
        The name of the table.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If ``options`` is not a table, or an option is given twice.

    Examples
    --------
    >>> with_dotted_options({"pairs": 20, "options": {"alpha": 1.0}}, "setting")
    {'pairs': 20, 'options.alpha': 1.0}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key == "options" and not isinstance(value, dict):
            raise InputError(f"found {value!r}", "expected a table of options", f"{place}.options")
        for name, one in value.items() if key == "options" else ((key, value),):
            dotted = f"{_PREFIX}{name}" if key == "options" else name
            if dotted in found:
                raise InputError(f"{dotted} appears twice", "remove one of them", place)
            found[dotted] = one
    return found


def without_options(table: dict[str, Any], place: str, registry: Registry) -> dict[str, Any]:
    """Return a table of a setting with its options, checked, in one dict.

    Parameters
    ----------
    table : dict
        From :func:`with_dotted_options`.
    place : str
    registry : Registry

    Returns
    -------
    dict
    """
    plain = {key: value for key, value in table.items() if not is_option(key)}
    options = {
        option_of(key): valid_option(key, value, f"{place}.{key}", registry)
        for key, value in table.items()
        if is_option(key)
    }
    return {**plain, "options": options} if options else plain


def valid_option(key: str, value: Any, place: str, registry: Registry) -> Any:
    """Return the value of an option, of the type of its default.

    Parameters
    ----------
    key : str
        ``options.NAME``.
    value : object
    place : str
    registry : Registry

    Returns
    -------
    object

    Raises
    ------
    InputError
        If there is no such option, or its value is of another type.
    """
    defaults = {name: d for entry in registry.entries for name, d in entry.options.items()}
    name = option_of(key)
    if name not in defaults:
        raise unknown_name("option", name, defaults, place)
    default = defaults[name]
    if is_option_value(value):
        if isinstance(default, bool) or isinstance(value, bool):
            fits = isinstance(default, bool) and isinstance(value, bool)
        elif isinstance(default, float):
            fits = isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**53)
            value = float(value) if fits else value
        elif isinstance(default, list | tuple):
            fits = isinstance(value, list)
        else:
            fits = type(value) is type(default)
        if fits:
            return value
    raise InputError(f"found {value!r}", f"expected a value like {default!r}", place)
