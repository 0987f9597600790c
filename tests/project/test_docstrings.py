"""What ``help(dcglearn.NAME)`` promises: every public name, its arguments and its result."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from numpydoc.validate import validate

import dcglearn

MISSING = {"GL08": "docstring", "PR01": "parameter", "RT01": "result", "YD01": "yielded value"}
WRONG = {"PR02": "unknown parameter", "PR03": "order of parameters", "GL07": "order of sections"}


def public_objects() -> dict[str, Any]:
    """Return public functions, classes and their public methods by their names."""
    found: dict[str, Any] = {}
    for name in dcglearn.__all__:
        value = getattr(dcglearn, name)
        if inspect.isfunction(value):
            found[name] = value
        elif inspect.isclass(value):
            methods = {key for key in vars(value) if not key.startswith("_")}
            found[name] = value
            found |= {
                f"{name}.{key}": method
                for key, method in inspect.getmembers(value, inspect.isroutine)
                if key in methods
            }
    return found


OBJECTS = public_objects()


@pytest.mark.parametrize("name", OBJECTS)
def test_a_public_name_is_documented(name: str) -> None:
    """A function with every argument and its result; whatever else is documented is true."""
    function = inspect.isfunction(OBJECTS[name]) and "." not in name
    codes = WRONG | (MISSING if function else {"GL08": "docstring"})
    assert not [error for error in validate(f"dcglearn.{name}")["errors"] if error[0] in codes]
