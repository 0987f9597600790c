"""Calling the functions of one's own that a cell uses: what may go wrong is one error with a line.

Arrays are passed read-only, and settings as copies. What a function returns is checked, and made
into what this package uses. During a call, standard output goes to standard error, and the global
generators of Python and NumPy are seeded by what the function is given, so that what it returns
does not depend on what ran before.
"""

from __future__ import annotations

import random
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, TypeAlias

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.lab.decorators import CellData
from dcglearn.lab.registry import (
    ExperimentCode,
    copied,
    executed,
    imported_source,
    innermost_frame,
)
from dcglearn.lab.setting import Setting
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.measures.utility import LinearUtility

_OF_LISTS = {"lists", "test_lists", "base", "grades", "ranks", "probabilities", "options"}
"""What a generator of lists is told of a setting: what seeds it, and its options."""

Shape: TypeAlias = tuple[int | None, ...]

_ALONE = threading.RLock()
"""Standard output and global generators belong to the process: threads call one function each."""


class OwnCodeError(InputError):
    """A function of one's own failed, or returned what it may not; with file and line."""


def call_own(own: ExperimentCode, axis: str, name: str, setting: Setting, *arguments: Any) -> Any:
    """Return what the function of a name returns, checked; None if it is one of this package."""
    code = own.function(axis, name)
    if code is None:
        return None
    given = [_protected(one, axis) for one in arguments]
    options = {key: value for key, value in setting.options.items() if key in code.options}
    with _seeded(arguments), copied(code.files) as paths:
        try:
            module = executed(code.text, code.file)
            function = vars(module)[code.function]
            if imported_source(function, module.__name__) != code.imported:
                raise RuntimeError("the module that it is imported from is another one here")
            returned = function(*given, **options, **paths)
        except (Exception, SystemExit) as error:
            hint = "; declare data with reads" if isinstance(error, FileNotFoundError) else ""
            words = " ".join(f"{type(error).__name__}: {error}{hint}".split())
            frame = innermost_frame(error, code.file)
            place = f"{code.file}, line {frame.lineno}, in {frame.name}" if frame else code.called
            raise OwnCodeError(words, place=place) from error
    try:
        return _checked(axis, returned, setting, arguments)
    except InputError as error:
        raise OwnCodeError(error.problem, error.remedy, code.called) from error


def _checked(axis: str, returned: Any, setting: Setting, arguments: tuple[Any, ...]) -> Any:
    """Return what a function of an axis returned, as it is to be used."""
    K, L = setting.n_ranks, setting.n_columns
    match axis:
        case "truth":
            L = setting.grades
            wanted = f"return a DCG or a LinearUtility of {L} grades at {K} ranks"
            return _measure(returned, K, L, wanted)
        case "learner":
            wanted = f"return a DCG, a LinearUtility, or weights of shape {K, L}"
            if not isinstance(returned, DCG | LinearUtility):
                returned = LinearUtility(_numbers(returned, (K, L), wanted))
            return _measure(returned, K, L, wanted)
        case "lists":
            return _pairs(returned, arguments[1], (arguments[1], 2, K), L)
        case "judge":
            return _pairs(returned, len(arguments[1]), (None, 2, K), L)
        case "policy":
            n, of = arguments[2], len(arguments[0])
            wanted = f"return {n} different rows, from 0 to {of - 1}"
            rows = _numbers(returned, (n,), wanted)
            if len({*rows.tolist()} & {*range(of)}) < n:
                raise InputError(f"returns {_kind(returned)}", wanted)
            return rows.astype(np.intp)
        case "margin":
            n = len(arguments[0])
            return _numbers(returned, (n,), f"return finite numbers of shape ({n},)")
        case _:
            shape = (None,) if np.array(returned, object).ndim else ()
            return _numbers(returned, shape, "return a finite number, or a sequence of them")


def _measure(returned: Any, K: int, L: int, wanted: str) -> Measure:
    """Return a measure of L grades at K ranks or more."""
    with suppress(InputError):  # it has fewer ranks
        if isinstance(returned, DCG | LinearUtility) and returned.matrix_for(K).shape == (K, L):
            return returned
    raise InputError(f"returns {_kind(returned)}", wanted)


def _pairs(returned: Any, most: int, shape: Shape, L: int) -> Pairs:
    """Return pairs of lists of L grades, as an array of its own."""
    wanted = f"return whole numbers of shape {shape}".replace("None", "m")
    array = _numbers(returned, shape, wanted)
    if len(array) > most or (array % 1).any():
        raise InputError(f"returns {_kind(returned)} for {most:,} pairs", wanted)
    if array.size and not NO_DOCUMENT <= array.min() <= array.max() < L:
        problem = f"returns grades from {array.min():g} to {array.max():g}"
        remedy = f"use 0, the best, to {L - 1}, and {NO_DOCUMENT} for no document"
        raise InputError(problem, remedy)
    return array.astype(np.int8)


def _numbers(returned: Any, shape: Shape, wanted: str) -> Floats:
    """Return finite numbers as an array of a shape, in which None is any length."""
    try:
        array = np.asarray(returned)
    except (ValueError, TypeError):  # rows of different lengths
        array = np.array(None)
    if array.dtype.kind not in "iufb" or not np.isfinite(array).all():
        raise InputError(f"returns {_kind(returned)}", wanted)
    lengths = zip(shape, array.shape, strict=False)
    if array.ndim != len(shape) or any(n not in (None, length) for n, length in lengths):
        raise InputError(f"returns an array of shape {array.shape}", wanted)
    return array.astype(float)


@contextmanager
def _seeded(arguments: tuple[Any, ...]) -> Iterator[None]:
    """Seed the global generators by one among arguments; print to standard error meanwhile."""
    states = (one.bit_generator.state for one in arguments if isinstance(one, np.random.Generator))
    seed = zlib.crc32("".join(map(repr, states)).encode())
    with _ALONE, redirect_stdout(sys.stderr):
        before = random.getstate(), np.random.get_state()  # noqa: NPY002 - to be restored
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - for functions that draw from it
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002 - the global one, which functions may use


def _protected(argument: Any, axis: str) -> Any:
    """Return an argument that a function may be given: what it changes reaches nobody else."""
    if isinstance(argument, np.ndarray):
        shown = argument.view()
        shown.flags.writeable = False
        return shown
    if isinstance(argument, CellData):
        return CellData(*(_protected(one, axis) for one in vars(argument).values()))
    if not isinstance(argument, Setting):
        return argument
    if axis == "lists":
        return Setting.model_construct(**argument.model_dump(include=_OF_LISTS))
    return Setting.model_construct(**argument.model_dump(exclude={"queries"}))  # the table is large


def _kind(found: object) -> str:
    text = " ".join(repr(found).split())
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    return f"{shown} ({type(found).__name__})" if found is not None else "nothing"
