"""Calling the functions of one's own that a cell uses: what may go wrong is one error with a line.

Arrays are passed read-only, and settings as copies. What a function returns is checked, and made
into what this package uses. A function may not print, because standard output is that of a command
and several workers share it; nor draw from a global generator, because its results would depend on
what ran before; nor read a file that it does not declare, because results would outlast it.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import TextIOBase
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dcglearn.axes.data_files import copied, files_read
from dcglearn.axes.decorators import CellData, mark_of
from dcglearn.axes.own_code import Code, FileCode
from dcglearn.base.errors import InputError
from dcglearn.base.types import Floats, Pairs
from dcglearn.design.setting import Setting
from dcglearn.measures.dcg import DCG
from dcglearn.measures.measure import Measure
from dcglearn.measures.scale import NO_DOCUMENT
from dcglearn.measures.utility import LinearUtility

_OF_LISTS = ("lists", "test_lists", "base", "grades", "ranks", "probabilities", "options")
"""What a generator of lists is told of a setting: what seeds it, and its options."""

ALONE = threading.RLock()
"""Standard output and NumPy's global generator belong to the process, so threads run one function
at a time; ``figures(table)`` too, which may print and draw while other cells are computed."""


class OwnCodeError(RuntimeError):
    """A function of one's own failed, or returned what it may not; with file and line."""


class _PrintedError(RuntimeError):
    pass


class _NoOutput(TextIOBase):
    """A standard output that refuses what is written, where it is written."""

    written = False

    def write(self, text: str) -> NoReturn:
        self.written = True
        raise _PrintedError("prints to standard output; return values, and print nothing")


@dataclass(frozen=True)
class OwnFunctions:
    """The functions of one's own that a cell uses; none by default.

    Attributes
    ----------
    codes : tuple of FileCode or PackageCode
    """

    codes: tuple[Code, ...] = ()

    def get(self, axis: str, name: str) -> Code | None:
        """Return the code of a name; None if it is one of this package."""
        found = (code for code in self.codes if (code.axis, code.name) == (axis, name))
        return next(found, None)

    def truth(self, setting: Setting, rng: np.random.Generator) -> Measure | None:
        """Return the true measure; None if it is one of this package."""
        code = self.get("truth", setting.truth)
        if code is None:
            return None
        K, L = setting.n_ranks, setting.grades
        return _measure(code, call(code, (K, L, rng), setting), K, L)

    def lists(self, setting: Setting, name: str, n: int, rng: np.random.Generator) -> Pairs | None:
        """Return pairs of lists, (n, 2, K); None if the generator is one of this package."""
        code = self.get("lists", name)
        if code is None:
            return None
        fields = {key: getattr(setting, key) for key in _OF_LISTS}
        drawn = call(code, (_copy(setting.model_construct(**fields)), n, rng), setting)
        return _pairs(code, drawn, setting, n)

    def judged(
        self, setting: Setting, truth: Measure, lists: Pairs, rng: np.random.Generator
    ) -> Pairs:
        """Return the judged pairs, (m, 2, K), the preferred list first."""
        code = self.get("judge", setting.judge)
        assert code is not None  # noqa: S101 - callers look
        found = call(code, (truth, read_only(lists), _copy(setting), rng), setting)
        return _pairs(code, found, setting, None, len(lists))

    def refuse_empty(self, setting: Setting, shown: str) -> NoReturn:
        """Refuse a judge that leaves out all pairs that it was shown."""
        code = self.get("judge", setting.judge)
        assert code is not None  # noqa: S101 - callers look
        remedy = "return those pairs that are judged, the preferred list first"
        _fail(code, f"leaves out {shown} in a row", remedy)

    def margin(self, setting: Setting, pairs: Pairs) -> str | Floats:
        """Return the margin of each pair, (n,), or the name of one of this package."""
        code = self.get("margin", setting.margin)
        if code is None:
            return setting.margin
        return _numbers(code, call(code, (read_only(pairs),), setting), (len(pairs),))

    def learned(self, setting: Setting, pairs: Pairs, rng: np.random.Generator) -> Measure | None:
        """Return what the learner learns; None if it is one of this package."""
        code = self.get("learner", setting.learner)
        if code is None:
            return None
        found = call(code, (read_only(pairs), _copy(setting), rng), setting)
        K = setting.n_ranks
        return _measure(code, found, K, K if setting.documents else setting.grades)

    def result(
        self, name: str, truth: Measure, learned: Measure, data: CellData
    ) -> float | list[float] | None:
        """Return a result; None if it is one of this package."""
        code = self.get("result", name)
        if code is None:
            return None
        mine = CellData(
            _copy(data.setting),
            read_only(data.training_pairs),
            read_only(data.test_pairs),
            data.fit,
        )
        found = _numbers(code, call(code, (truth, learned, mine), data.setting), None)
        return found.tolist() if found.ndim else float(found)


def call(code: Code, arguments: Sequence[Any], setting: Setting) -> Any:
    """Call a function with its options.

    Parameters
    ----------
    code : FileCode or PackageCode
    arguments : sequence
    setting : Setting
        Holds the options; those of other functions are left out.

    Returns
    -------
    object
        What it returns, unchecked.

    Raises
    ------
    OwnCodeError
        If it fails, prints, draws from another generator than `rng`, or reads a file that it does
        not declare.
    """
    data = code.files if isinstance(code, FileCode) else ()
    with ALONE, _silent(code), copied(data) as paths, files_read(code.file) as files:
        try:
            function = code.load()
            mark = mark_of(function)
            known = {} if mark is None else mark.options
            options = {key: value for key, value in setting.options.items() if key in known}
            before, generators = _global_state(), _generators_of(function)
            found = function(*arguments, **options, **paths)
        except (Exception, SystemExit) as error:
            raise OwnCodeError(f"{_place(code, error)}: {_words(error)}") from error
        if _global_state() != before:
            _fail(code, "draws from numpy's global generator", "draw from rng")
        if _generators_of(function) != generators:
            problem = "draws from a generator of the file, which begins anew in each call"
            _fail(code, problem, "draw from rng")
        if files.first is not None and isinstance(code, FileCode):
            _refuse_read(code, *files.first)
        return found


@contextmanager
def _silent(code: Code) -> Iterator[None]:
    output = _NoOutput()
    with redirect_stdout(output):
        yield
    if output.written:  # and the error was caught on its way
        _fail(code, "prints to standard output", "return values, and print nothing")


def _global_state() -> tuple[Any, ...]:
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is watched, not used
    return kind, np.asarray(keys).tobytes(), *rest


def _generators_of(function: Any) -> list[str]:
    """Return the states of the generators beside a function."""
    beside = getattr(function, "__globals__", {}).values()
    return [repr(one.bit_generator.state) for one in beside if isinstance(one, np.random.Generator)]


def _words(error: BaseException) -> str:
    if isinstance(error, _PrintedError):
        return str(error)
    hint = "; declare data with reads" if isinstance(error, FileNotFoundError) else ""
    return " ".join(f"{type(error).__name__}: {error}{hint}".split())


def _place(code: Code, error: BaseException) -> str:
    """Name the file, and the line of the innermost frame in it."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == code.file or frame.filename.endswith(f"/{code.file}")
    ]
    if isinstance(error, SyntaxError) or not frames:
        return f"{code.file}, line {code.line}, in {code.function}"
    return f"{code.file}, line {frames[-1].lineno}, in {frames[-1].name}"


def _fail(code: Code, problem: str, remedy: str) -> NoReturn:
    where = f"{code.file}, line {code.line}, in {code.function}"
    raise OwnCodeError(f"{where}: {problem}; {remedy}")


def _refuse_read(code: Code, path: str, line: int | None) -> NoReturn:
    where = f"{code.file}, line {line or code.line}, in {code.function}"
    raise OwnCodeError(
        f"{where}: reads {path}, which is not part of the cell; declare it, "
        f'@{code.axis}(reads={{"table": "{path}"}}), and read the path in the parameter table'
    )


def _measure(code: Code, found: Any, K: int, L: int) -> Measure:
    """Return a measure of L grades at K ranks or more."""
    wanted = f"return a DCG or a LinearUtility of {L} grades at {K} ranks"
    if code.axis == "learner":
        wanted += ", or weights of that shape"
        if not isinstance(found, DCG | LinearUtility):
            return LinearUtility(_numbers(code, found, (K, L)))
    if not isinstance(found, DCG | LinearUtility):
        _fail(code, f"returns {_kind(found)}", wanted)
    try:
        shape = found.matrix_for(K).shape
    except InputError as error:
        _fail(code, f"returns a measure that does not fit ({error})", wanted)
    if shape != (K, L):
        _fail(code, f"returns a measure of {shape[1]} grades at {shape[0]} ranks", wanted)
    return found


def _pairs(
    code: Code, found: Any, setting: Setting, n: int | None, most: int | None = None
) -> Pairs:
    """Return pairs of lists as an array of its own."""
    K, L = setting.n_ranks, setting.n_ranks if setting.documents else setting.grades
    wanted = f"return whole numbers of shape ({'m' if n is None else n}, 2, {K})"
    array = _array(code, found, wanted)
    if array.dtype.kind not in "iu":
        _fail(code, f"returns an array of {array.dtype}", wanted)
    rows = n if n is not None else (array.shape[0] if array.ndim else 0)
    if array.shape != (rows, 2, K):
        _fail(code, f"returns an array of shape {array.shape}", wanted)
    if most is not None and len(array) > most:
        _fail(code, f"returns {len(array):,} pairs of {most:,}", "return each pair at most once")
    if array.size and not NO_DOCUMENT <= array.min() <= array.max() < L:
        problem = f"returns grades from {array.min()} to {array.max()}"
        _fail(code, problem, f"use 0, the best, to {L - 1}, and {NO_DOCUMENT} for no document")
    return np.array(array, np.int8, order="C")


def _numbers(code: Code, found: Any, shape: tuple[int, ...] | None) -> Floats:
    """Return finite numbers of a shape; of no or one dimension if it is not given."""
    wanted = "return a finite number, or a sequence of them"
    if shape is not None:
        wanted = f"return finite numbers of shape {shape}"
        if code.axis == "learner":
            wanted = f"return a DCG, a LinearUtility, or weights of shape {shape}"
    array = _array(code, found, wanted)
    if array.dtype.kind not in "iufb":
        _fail(code, f"returns {_kind(found)}", wanted)
    if (shape is None and (array.ndim > 1 or not array.size)) or (
        shape is not None and array.shape != shape
    ):
        _fail(code, f"returns an array of shape {array.shape}", wanted)
    if not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)].flat[0]
        _fail(code, f"returns {wrong}", wanted)
    return array.astype(float)


def _array(code: Code, found: ArrayLike, wanted: str) -> NDArray[Any]:
    try:
        return np.asarray(found)
    except (ValueError, TypeError):  # rows of different lengths
        _fail(code, f"returns {_kind(found)}", wanted)


def _kind(found: object) -> str:
    text = " ".join(repr(found).split())
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    return f"{shown} ({type(found).__name__})" if found is not None else "nothing"


def _copy(setting: Setting) -> Setting:
    """Return a setting whose lists may be changed, without the table of queries: it is large."""
    return setting.model_copy(update={"queries": None}).model_copy(deep=True)


def read_only(pairs: Pairs) -> Pairs:
    """Return a view of pairs that cannot be written to, nor made so."""
    if pairs.flags.writeable:
        pairs = pairs.copy()
        pairs.flags.writeable = False
    return pairs.view()


NO_FUNCTIONS = OwnFunctions()
