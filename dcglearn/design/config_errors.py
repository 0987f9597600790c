"""Errors of configs, in the words of the config: key, what was found, what was expected."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dcglearn.base.errors import InputError, unknown_name
from dcglearn.design.setting import Setting

EXPECTED = {
    "experiment": 'text: experiment = "name"',
    "figures": "a list: figures = [1, 2]",
    "seed": "a whole number, 0 or more",
    "repetitions": "a whole number, 1 or more",
    "base": "a list of grades",
    "C_grid": "a list of numbers",
    "against": "a list of presets",
    "probabilities": "a list of numbers",
    "C": 'a number, "validation" or "cv"',
    "queries": "the name of a file",
    "noise": '"logistic", "normal" or "cauchy"',
    "ties": '"strict" or "davidson"',
    "hypotheses": "a list of hypotheses",
}
"""What each key holds, in words."""


def explain_error(
    error: ValidationError,
    place: str,
    model: type[BaseModel],
    bare: bool = False,
) -> InputError:
    """Return the first error that pydantic reports as an error of the config's key.

    Parameters
    ----------
    error : ValidationError
    place : str
        The table of the config that was checked, such as ``setting``.
    model : type of BaseModel
        What the table was checked against.
    bare : bool, default False
        Whether `place` already names the key.

    Returns
    -------
    InputError
        With what was found and what was expected; for an unknown key, with similar names.
    """
    # A misspelt key leaves the correct one missing; report the misspelling.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"] if isinstance(part, str))
    key = key.split(".")[0] if model is Setting or key.startswith("figures") else key
    where = place if bare else f"{place}.{key}".strip(".")
    if first["type"] == "extra_forbidden":
        nested = type(model.model_fields["run"].default) if key.startswith("run.") else model
        known = nested.model_fields
        return unknown_name(
            "key", key.split(".")[-1], known, place or ".".join(key.split(".")[:-1])
        )
    if first["type"] == "missing":
        words, _, example = _wanted(model, key).partition(": ")
        return InputError(f"{key} is missing", f"add {example or f'it: {words}'}", place)
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


def _wanted(model: type[BaseModel], key: str) -> str:
    """Return in words what a key holds."""
    if key in EXPECTED:
        return EXPECTED[key]
    head, *rest = key.split(".")
    if rest:
        return "text" if head == "run" else "a value"
    kind = str(model.model_fields[head].annotation) if head in model.model_fields else ""
    for type_name, words in (("dict", "a table"), ("int", "a whole number"), ("float", "a number")):
        if type_name in kind:
            return words
    return "a table" if "Run" in kind else "text"
