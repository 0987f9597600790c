"""The six axes of an experiment: a function of one's own joins one by a decorator.

    from dcglearn.axes.decorators import learner

    @learner
    def counting(pairs, setting, rng, *, smoothing=1.0): ...

A decorator only marks the function: it stays as it is, and nothing is registered anywhere. Configs
whose experiment file, or an installed package, holds the function can name it
(:mod:`dcglearn.axes.registry`). Parameters after ``*`` are its options, which a config sets in
``[setting.options]`` and varies as ``options.smoothing`` in ``[sweep]``; those that ``reads`` names
are paths of data files (:mod:`dcglearn.axes.data_files`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from dcglearn.base.errors import InputError
from dcglearn.base.types import Pairs
from dcglearn.learning.fit import Fit

F = TypeVar("F", bound=Callable[..., Any])

OWN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
"""What a function may be called on its axis."""

_MARK = "__dcglearn_mark__"


@dataclass(frozen=True)
class CellData:
    """What a result may be computed from, besides the true and the learned measure.

    Attributes
    ----------
    setting : Setting
    training_pairs : ndarray of int8, shape (n, 2, K)
        What was learned from, with its errors, the preferred list first. Read-only.
    test_pairs : ndarray of int8, shape (m, 2, K)
        Exact pairs, the list that is better in truth first. Read-only.
    fit : Fit or None
        The fit of a learner of this package.
    """

    setting: Any  # its module imports this one
    training_pairs: Pairs
    test_pairs: Pairs
    fit: Fit | None = None


@dataclass(frozen=True)
class Mark:
    """What a decorator notes on a function.

    Attributes
    ----------
    axis, name : str
    options : dict
        The names of its options and their defaults.
    reads : dict
        The files that it reads, by the parameters that receive their paths.
    """

    axis: str
    name: str
    options: Mapping[str, Any]
    reads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Axis:
    """An axis of experiments, used as a decorator: ``@learner`` or ``@learner(name="mine")``.

    ``@learner(reads={"table": "data/table.csv"})`` declares a file; its path, or that of a copy,
    is what the parameter ``table`` of the function receives.

    Attributes
    ----------
    name : str
    arguments : tuple of str
        What its functions are called with, in this order; arrays are read-only.
    returns : str
    key : str
        Where the name of a function is written.
    about : str

    Examples
    --------
    >>> @learner(name="mine")
    ... def constant_weights(pairs, setting, rng, *, alpha=1.0):
    ...     return [[alpha]]
    >>> mark_of(constant_weights)
    Mark(axis='learner', name='mine', options={'alpha': 1.0}, reads={})
    """

    name: str
    arguments: tuple[str, ...]
    returns: str
    key: str
    about: str

    @overload
    def __call__(self, function: F) -> F: ...
    @overload
    def __call__(
        self, *, name: str | None = None, reads: Mapping[str, str] | None = None
    ) -> Callable[[F], F]: ...
    def __call__(
        self,
        function: Any = None,
        *,
        name: str | None = None,
        reads: Mapping[str, str] | None = None,
    ) -> Any:
        """Mark a function; raise an InputError if it cannot be called as the axis needs."""
        if function is None:
            return lambda marked: self._marked(marked, name, reads or {})
        return self._marked(function, None, {})

    @property
    def signature(self) -> str:
        """How a function of the axis is written."""
        return f"({', '.join(self.arguments)}) -> {self.returns}"

    def _marked(self, function: Any, name: str | None, reads: Mapping[str, str]) -> Any:
        own = getattr(function, "__name__", "")
        _check_reads(reads, self.name, own)
        options = self._options(function, own, reads)
        mark = Mark(self.name, own if name is None else name, options, dict(reads))
        if not isinstance(mark.name, str) or not OWN_NAME.fullmatch(mark.name):
            raise InputError(
                f"{mark.name!r} is not a name", "use up to 40 letters, digits, - and _", self.name
            )
        setattr(function, _MARK, mark)
        return function

    def _options(self, function: Any, own: str, reads: Mapping[str, str]) -> dict[str, Any]:
        given = inspect.signature(function).parameters.values()
        plain = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        options = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
        if len(plain) != len(self.arguments) or len(plain) + len(options) != len(given):
            raise InputError(
                f"the {self.name} {own} takes {inspect.signature(function)}",
                f"write def {own}({', '.join(self.arguments)}), and options after *",
            )
        for parameter, path in reads.items():
            if parameter not in options:
                raise InputError(
                    f"the {self.name} {own} reads {path!r} and has no parameter {parameter}",
                    f"write def {own}({', '.join(self.arguments)}, *, {parameter})",
                )
            del options[parameter]
        for option, default in options.items():
            if not is_option_value(default):
                raise InputError(
                    f"the option {option} of the {self.name} {own} has no usable default",
                    "give it a number, a text, true or false, or a list of these",
                )
        return options


def _check_reads(reads: object, axis: str, own: str) -> None:
    if not isinstance(reads, Mapping) or not all(
        isinstance(one, str) for pair in reads.items() for one in pair
    ):
        raise InputError(
            f"the {axis} {own} reads {reads!r}",
            f'give a parameter for each file: @{axis}(reads={{"table": "data/table.csv"}})',
        )


def is_option_value(value: object) -> bool:
    """Return whether an option can have a value: plain, finite, or a list of such values.

    Examples
    --------
    >>> is_option_value(0.5), is_option_value([1, "a"]), is_option_value(float("inf"))
    (True, True, False)
    """
    if isinstance(value, list | tuple):
        return all(is_option_value(one) and not isinstance(one, list | tuple) for one in value)
    if isinstance(value, float):
        return abs(value) < float("inf")
    return isinstance(value, bool | int | str)


def mark_of(function: object) -> Mark | None:
    """Return what a decorator noted on a function; None if it is not marked."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, Mark) else None


truth = Axis(
    "truth",
    ("n_ranks", "n_grades", "rng"),
    "DCG or LinearUtility",
    "truth",
    "the measure by which lists are better in truth",
)

lists = Axis(
    "lists",
    ("setting", "n", "rng"),
    "grade indices, 0 the best, (n, 2, K)",
    "lists, test_lists",
    "draws pairs of lists",
)

judge = Axis(
    "judge",
    ("truth", "lists", "setting", "rng"),
    "the judged pairs, (m, 2, K), the preferred list first",
    "judge",
    "says which list of a pair is better; pairs may be left out",
)

margin = Axis(
    "margin",
    ("pairs",),
    "numbers, (n,)",
    "margin",
    "by how much the preferred list should win, for the quadratic program",
)

learner = Axis(
    "learner",
    ("pairs", "setting", "rng"),
    "DCG, LinearUtility, or weights (K, L)",
    "learner",
    "learns a measure from judged pairs",
)

result = Axis(
    "result",
    ("truth", "learned", "data"),
    "a number, or a sequence of numbers",
    "COLUMNS of the experiment file",
    "a column of the table: what is measured on what was learned",
)

OPEN_AXES = {axis.name: axis for axis in (truth, lists, judge, margin, learner, result)}
"""The axes by name."""
