"""Messages of the library in the words of the command line.

The library's messages name its arguments in backquotes: ``declare `scale` ``, or
``use `unjudged="worst"` ``. On the command line the same things are options:
``declare --scale``, ``use --unjudged worst``.
"""

from __future__ import annotations

import ast
import re
import shlex

from dcglearn.base.errors import InputError

OPTIONS = {
    "C": "--C",
    "against": "--against",
    "alpha": "--alpha",
    "answers": "--answers",
    "at_most": "--at-most",
    "baseline": "--baseline",
    "beta": "--beta",
    "between": "--between",
    "bias": "--bias",
    "columns": "--columns",
    "cost": "--cost",
    "credit": "--credit",
    "debit": "--debit",
    "depth": "--K",
    "discounts": "--discounts",
    "documents": "--documents",
    "encoding": "--encoding",
    "folds": "--folds",
    "gains": "--gains",
    "gamma": "--gamma",
    "indifference": "--indifference",
    "labels": "--labels",
    "missing": "--missing",
    "like": "--like",
    "margin": "--margin",
    "min_difference": "--min-difference",
    "n_ranks": "--K",
    "null_values": "--null-values",
    "n_repeats": "--repeats",
    "out": "--out",
    "pool": "--pool",
    "qrels": "--qrels",
    "quick": "--quick",
    "rating": "--rating",
    "relevant": "--relevant",
    "reliability": "--reliability",
    "replace": "--replace",
    "resamples": "--resamples",
    "run": "--run",
    "runs": "--run",
    "scale": "--scale",
    "seed": "--seed",
    "shortest": "--shortest",
    "solver": "--solver",
    "strict": "--strict",
    "test": "--test",
    "ties": "--ties",
    "unjudged": "--unjudged",
    "use": "--use",
    "width": "--width",
    "within": "--within",
    "workers": "--workers",
    "worthless": "--worthless",
}
"""Argument of the library -> option of the commands."""

_QUOTED = re.compile(r"`(\w+)(?:\s*=\s*([^`]+))?`")


def in_options(text: str) -> str:
    """Replace each backquoted argument of the table by its option.

    Parameters
    ----------
    text : str
        Part of a message. An argument may have a value.

    Returns
    -------
    str
        Other text in backquotes stays as it is.

    Examples
    --------
    >>> in_options("declare `scale`, or read with `encoding='latin-1'`; see `fit`")
    'declare --scale, or read with --encoding latin-1; see `fit`'
    >>> in_options("use `scale=(2, 1, 0)` and `replace=True`")
    'use --scale 2,1,0 and --replace'
    >>> in_options("say `relevant='very good,good'`")
    "say --relevant 'very good,good'"
    """
    return _QUOTED.sub(_option, text)


def message(error: InputError) -> str:
    """Return the text of an error with options in place of the library's arguments.

    Parameters
    ----------
    error : InputError
        Its place is a file or a key and is kept as it is.

    Returns
    -------
    str
    """
    return str(InputError(in_options(error.problem), in_options(error.remedy), error.place))


def _option(match: re.Match[str]) -> str:
    name, value = match.groups()
    if name not in OPTIONS:
        return match.group()
    return OPTIONS[name] + ("" if value is None else _value(value))


def _value(text: str) -> str:
    """Write a Python value as the command line takes it, after a space."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return f" {text}"
    if value is True:
        return ""
    if isinstance(value, list | tuple):
        return " " + ",".join(map(str, value))
    return f" {shlex.quote(str(value))}"
