"""Calling the functions of one's own that a cell uses: what may go wrong is one error with a line.

Arrays are passed read-only, results checked. During a call, standard output goes to standard error,
and the global generators of Python and NumPy are seeded by what the function is given, so that its
result does not depend on what ran before.
"""

from __future__ import annotations

import random
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from dcglearn.base.checks import finite_array
from dcglearn.base.errors import InputError
from dcglearn.lab.cells import AXES
from dcglearn.lab.registry import Code, executed, imported_source, own_code
from dcglearn.lab.setting import Setting
from dcglearn.measures.agreement import checked_pairs
from dcglearn.measures.dcg import DCG
from dcglearn.measures.utility import LinearUtility

RETURNED = "returned values"

_OF_LISTS = {*AXES["test"], "options"}
"""What a generator of lists is told of a setting: what seeds it, and its options."""

_ALONE = threading.RLock()
"""Standard output and global generators belong to the process: threads call one function each."""


def call_own(code: Code, setting: Setting, arguments: Sequence[Any]) -> Any:
    """Return what a function returns, checked."""
    given = [_protected(one, code.axis) for one in arguments]
    options = {key: value for key, value in setting.options.items() if key in code.options}
    with (
        _seeded(arguments),
        TemporaryDirectory(prefix="dcglearn-reads-") as folder,
        own_code(code.file, "{}", place=code.called),
    ):
        for option, content in code.contents.items():
            options[option] = Path(folder, f"{option}-{Path(code.reads[option]).name}")
            options[option].write_bytes(content)
        module = executed(code.text, code.file)
        function = vars(module)[code.function]
        if imported_source(function, module.__name__) != code.imported:
            raise InputError("the module that it is imported from is another one here")
        return _checked(code.axis, function(*given, **options), setting, arguments)


def _checked(axis: str, returned: Any, setting: Setting, arguments: Sequence[Any]) -> Any:
    K, L = setting.n_ranks, setting.n_columns
    match axis:
        case "truth" | "learner":
            L = setting.grades if axis == "truth" else L
            wanted = f"return a DCG, a LinearUtility, or weights of shape {K, L}"
            measure = isinstance(returned, DCG | LinearUtility)
            weights = returned.matrix_for(K) if measure else returned
            weights = finite_array(weights, RETURNED, (K, L), wanted)
            return returned if measure else LinearUtility(weights)
        case "lists" | "judge":
            shape = (arguments[1] if axis == "lists" else None, 2, K)
            return checked_pairs(finite_array(returned, RETURNED, shape), L).astype(np.int8)
        case "policy":
            n, of = arguments[2], len(arguments[0])
            wanted = f"return {n} different rows, from 0 to {of - 1}"
            rows = finite_array(returned, RETURNED, (n,), wanted)
            if len({*rows.tolist()} & {*range(of)}) < n:
                raise InputError(f"{RETURNED} are {returned!r:.60}", wanted)
            return rows.astype(np.intp)
        case "margin":
            return finite_array(returned, RETURNED, (len(arguments[0]),))
        case _:
            wanted = "return a finite number, or a sequence of them"
            return finite_array(returned, RETURNED, (None,)[: np.ndim(returned)], wanted)


@contextmanager
def _seeded(arguments: Sequence[Any]) -> Iterator[None]:
    """Seed the global generators by one among arguments."""
    states = [
        str(one.bit_generator.state) for one in arguments if isinstance(one, np.random.Generator)
    ]
    seed = zlib.crc32("".join(states).encode())
    with _ALONE:
        before = random.getstate(), np.random.get_state()  # noqa: NPY002 - to be restored
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - for functions that draw from it
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002 - the global one, which functions may use


def _protected(argument: Any, axis: str) -> Any:
    """Return an argument as a function may be given it: arrays cannot be changed."""
    if isinstance(argument, np.ndarray):
        argument = argument.view()
        argument.flags.writeable = False
    if axis == "lists" and isinstance(argument, Setting):
        return Setting.model_construct(**argument.model_dump(include=_OF_LISTS))
    return argument
