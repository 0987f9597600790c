"""The seven axes of an experiment: a function of one's own joins one by a decorator.

    from dcglearn.lab.decorators import learner

    @learner
    def counting(pairs, setting, rng, *, smoothing=1.0): ...

A decorator only marks the function. Configs whose experiment file holds or imports it can name it
(:mod:`dcglearn.lab.registry`). Parameters after ``*`` are its options, which a config sets in
``[setting.options]`` and varies as ``options.smoothing`` in ``[sweep]``; those that ``reads`` names
are paths of data files.
"""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dcglearn.base.errors import InputError
from dcglearn.base.types import Pairs
from dcglearn.learning.solve import Fit

MARK = "__dcglearn_mark__"
"""The attribute of a function that holds its mark."""


@dataclass(frozen=True)
class CellData:
    """What a result may be computed from, besides the true and the learned measure.

    Pairs are read-only: those that were learned from (n, 2, K), with their errors, the preferred
    list first, and exact ones (m, 2, K). A learner of one's own has no `fit`.
    """

    setting: Any  # its module imports this one
    training_pairs: Pairs
    test_pairs: Pairs
    fit: Fit | None = None


@dataclass(frozen=True)
class Mark:
    """What a decorator notes on a function."""

    axis: str
    name: str
    options: Mapping[str, Any] = field(compare=False)
    reads: Mapping[str, str] = field(compare=False)


@dataclass(frozen=True)
class Axis:
    """An axis of experiments, used as a decorator: ``@learner`` or ``@learner(name="mine")``.

    ``@learner(reads={"table": "data/table.csv"})`` declares a file; its path, or that of a copy,
    is what the parameter ``table`` of the function receives.
    """

    name: str
    arguments: str
    returns: str
    about: str

    def __call__(
        self, function: Any = None, *, name: str = "", reads: Mapping[str, str] | None = None
    ) -> Any:
        """Mark a function; raise an InputError if it cannot be called as the axis needs."""
        if function is None:
            return partial(self, name=name, reads=reads)
        reads = reads or {}
        signature = inspect.signature(function)
        given = signature.parameters.values()
        named = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
        what = f"the {self.name} {function.__name__}"
        if len(given) - len(named) != len(self.arguments.split()) or reads.keys() - named:
            after = ", ".join(["", "*", *reads]) if reads else ""
            raise InputError(
                f"{what} takes {signature}",
                f"write def {function.__name__}({self.arguments}{after}), and options after *",
            )
        options = {option: named[option] for option in named if option not in reads}
        for option, default in options.items():
            if not is_option_value(default):
                raise InputError(
                    f"the option {option} of {what} has no usable default",
                    "give it a number, a text, true, false, or a list",
                )
        setattr(function, MARK, Mark(self.name, name or function.__name__, options, reads))
        return function


def is_option_value(value: object) -> bool:
    """Return whether an option can have a value: a finite number, a text, or a list of such."""
    try:
        return json.dumps(value, allow_nan=False)[0] not in "{n"  # a table, and None
    except (TypeError, ValueError):
        return False


truth = Axis(
    "truth",
    "n_ranks, n_grades, rng",
    "DCG, LinearUtility, or weights (K, L)",
    "the measure by which lists are better in truth",
)
lists = Axis(
    "lists",
    "setting, n, rng",
    "grade indices, 0 the best, (n, 2, K)",
    "draws pairs of lists, also to test on",
)
judge = Axis(
    "judge",
    "truth, lists, setting, rng",
    "the judged pairs, (m, 2, K), the preferred list first",
    "says which list of a pair is better; pairs may be left out",
)
policy = Axis(
    "policy",
    "lists, judged, n, setting, rng",
    "n different rows of lists",
    "chooses which pairs of a pool are judged next",
)
margin = Axis(
    "margin",
    "pairs",
    "numbers, (n,)",
    "by how much the preferred list should win, for the quadratic program",
)
learner = Axis(
    "learner",
    "pairs, setting, rng",
    "DCG, LinearUtility, or weights (K, L)",
    "learns a measure from judged pairs",
)
result = Axis(
    "result",
    "truth, learned, data",
    "a number, or a sequence of numbers",
    "a column of the table, named by COLUMNS: what is measured on what was learned",
)

OPEN_AXES = truth, lists, judge, policy, margin, learner, result
