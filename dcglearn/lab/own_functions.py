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
import traceback
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.lab.decorators import CellData
from dcglearn.lab.own_code import Code, copied, executed, imported_source
from dcglearn.lab.registry import Registry
from dcglearn.lab.setting import Setting
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.measures.utility import LinearUtility

_OF_LISTS = {"lists", "test_lists", "base", "grades", "ranks", "probabilities", "options"}
"""What a generator of lists is told of a setting: what seeds it, and its options."""

_ALONE = threading.RLock()
"""Standard output and global generators belong to the process: threads call one function each."""


class OwnCodeError(RuntimeError):
    """A function of one's own failed, or returned what it may not; with file and line."""


def call_own(
    own: Registry, axis: str, name: str, setting: Setting, *arguments: Any
) -> Returned | None:
    """Call the function of a name; return None if it is one of this package."""
    code = own.code(axis, name)
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
            return Returned(code, function(*given, **options, **paths))
        except (Exception, SystemExit) as error:
            hint = "; declare data with reads" if isinstance(error, FileNotFoundError) else ""
            words = " ".join(f"{type(error).__name__}: {error}{hint}".split())
            raise OwnCodeError(f"{_place(code, error)}: {words}") from error


@dataclass(frozen=True)
class Returned:
    """What a function of one's own returned, as it is to be used; an OwnCodeError if it cannot."""

    code: Code
    value: Any

    def measure(self, K: int, L: int) -> Measure:
        """Return a measure of L grades at K ranks or more."""
        value, wanted = self.value, f"return a DCG or a LinearUtility of {L} grades at {K} ranks"
        if self.code.axis == "learner":
            wanted = f"return a DCG, a LinearUtility, or weights of shape ({K}, {L})"
            if not isinstance(value, DCG | LinearUtility):
                return LinearUtility(self.numbers((K, L), wanted))
        if not isinstance(value, DCG | LinearUtility):
            self.refuse(f"returns {_kind(value)}", wanted)
        try:
            shape = value.matrix_for(K).shape
        except InputError as error:
            self.refuse(f"returns a measure that does not fit ({error})", wanted)
        if shape != (K, L):
            self.refuse(f"returns a measure of {shape[1]} grades at {shape[0]} ranks", wanted)
        return value

    def pairs(self, K: int, L: int, n: int, fewer: bool = False) -> Pairs:
        """Return n pairs of lists of L grades at K ranks, or fewer, as an array of its own."""
        wanted = f"return whole numbers of shape ({'m' if fewer else n}, 2, {K})"
        array = self._array("iu", wanted)
        if array.ndim != 3 or array.shape[1:] != (2, K) or not (fewer or len(array) == n):
            self.refuse(f"returns an array of shape {array.shape}", wanted)
        if len(array) > n:
            self.refuse(f"returns {len(array):,} pairs of {n:,}", "return each pair at most once")
        if array.size and not NO_DOCUMENT <= array.min() <= array.max() < L:
            problem = f"returns grades from {array.min()} to {array.max()}"
            self.refuse(problem, f"use 0, the best, to {L - 1}, and {NO_DOCUMENT} for no document")
        return np.array(array, np.int8, order="C")

    def rows(self, n: int, of: int) -> NDArray[np.intp]:
        """Return the numbers of n different rows."""
        wanted = f"return {n} different rows, from 0 to {of - 1}"
        found = self._array("iu", wanted)
        if found.shape != (n,) or len({*found.tolist()} & {*range(of)}) != n:
            self.refuse(f"returns {_kind(found.tolist())}", wanted)
        return found.astype(np.intp)

    def numbers(self, shape: tuple[int, ...] | None = None, wanted: str = "") -> Floats:
        """Return finite numbers of a shape; a number, or a sequence, if it is not given."""
        of_shape = f"return finite numbers of shape {shape}"
        wanted = wanted or (of_shape if shape else "return a finite number, or a sequence of them")
        array = self._array("iufb", wanted)
        if array.shape != shape if shape else array.ndim > 1 or not array.size:
            self.refuse(f"returns an array of shape {array.shape}", wanted)
        if not np.isfinite(array).all():
            self.refuse(f"returns {array[~np.isfinite(array)].flat[0]}", wanted)
        return array.astype(float)

    def refuse(self, problem: str, remedy: str) -> NoReturn:
        """Raise the error for what was returned."""
        raise OwnCodeError(f"{_place(self.code)}: {problem}; {remedy}")

    def _array(self, kinds: str, wanted: str) -> NDArray[Any]:
        try:
            array = np.asarray(self.value)
        except (ValueError, TypeError):  # rows of different lengths
            array = np.array(None)
        if array.dtype.kind not in kinds:
            self.refuse(f"returns {_kind(self.value)}", wanted)
        return array


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
        shown = argument.copy() if argument.flags.writeable else argument
        shown.flags.writeable = False
        return shown.view()
    if isinstance(argument, CellData):
        kept = ("setting", "training_pairs", "test_pairs")
        return replace(argument, **{key: _protected(vars(argument)[key], axis) for key in kept})
    if not isinstance(argument, Setting):
        return argument
    setting = argument.model_copy(update={"queries": None})  # the table is large
    if axis == "lists":
        setting = Setting.model_construct(**setting.model_dump(include=_OF_LISTS))
    return setting.model_copy(deep=True)


def _place(code: Code, error: BaseException | None = None) -> str:
    """Name the file, and the innermost line of an error in it, or that of the function."""
    frames = traceback.extract_tb(error.__traceback__) if error else []
    inside = [one for one in frames if one.filename.endswith(code.file)]
    if isinstance(error, SyntaxError) or not inside:
        return f"{code.place}, in {code.function}"
    return f"{code.file}, line {inside[-1].lineno}, in {inside[-1].name}"


def _kind(found: object) -> str:
    text = " ".join(repr(found).split())
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    return f"{shown} ({type(found).__name__})" if found is not None else "nothing"
