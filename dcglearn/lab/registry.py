"""What the names of an experiment mean: one registry per config, of this package and of one's own.

A registry holds the names of every axis: those of this package, and those of marked functions
(:mod:`dcglearn.lab.decorators`) in the experiment file, which may import them. It does not change
once it is made.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from dcglearn.asking.policies import POLICIES
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.lab.decorators import OPEN_AXES, mark_of
from dcglearn.lab.own_code import Code, data_files, imported_source
from dcglearn.lab.simulation.truths import FREE, TRUTHS
from dcglearn.lab.success import SHIPPED_RESULTS
from dcglearn.measures.presets import PRESETS

JUDGMENT_MODEL = "judgment-model"
USUAL = "usual"
STUDY = "study"
CALIBRATED = "calibrated"
RANDOM = "random"

_NAMES: dict[str, Mapping[str, str]] = {
    "truth": {
        **{name: f"{preset} with grades L ... 1" for name, preset in TRUTHS.items()},
        FREE: "gains drawn independently at each rank",
        **{name: preset.formula for name, preset in PRESETS.items()},
    },
    "lists": {
        "permutations": "two permutations of the base list",
        "drawn": "independent grades, uniform or with given probabilities",
        "sorted-against-shuffled": "the base list in its best order, and a permutation of it",
        "sorted-against-another": "a list in its best order, and one of other grades",
        "documents": "two permutations of documents without grades",
        "queries": "two permutations of the documents of a query of a LETOR file",
    },
    "judge": {CALIBRATED: "as the truth says, with noise and bias as given"},
    "policy": {RANDOM: "pairs as they are drawn", **POLICIES},
    "margin": {"unit": "1 for each pair", "hamming": "the number of ranks where lists differ"},
    "learner": {
        "qp": "W of the quadratic program (eq. 1 of the paper)",
        "qp-dcg": "the DCG that is factorised from it",
        USUAL: "the DCG that starts from the usual measures",
        JUDGMENT_MODEL: "intervals and tests of a model of the judgment",
        STUDY: "what is concluded from the judgments of a design",
    },
    "result": {name: about for name, (about, _) in SHIPPED_RESULTS.items()},
}


@dataclass(frozen=True)
class Entry:
    """One name of an axis."""

    axis: str
    name: str
    about: str = ""
    place: str = "dcglearn"
    options: Mapping[str, Any] = field(default_factory=dict)
    code: Code | None = None


@dataclass(frozen=True)
class Registry:
    """The names of all axes."""

    entries: tuple[Entry, ...]

    def names(self, axis: str) -> tuple[str, ...]:
        """Return the names of an axis."""
        return tuple(entry.name for entry in self.entries if entry.axis == axis)

    def get(self, axis: str, name: str) -> Entry | None:
        """Return an entry, or None."""
        found = (one for one in self.entries if (one.axis, one.name) == (axis, name))
        return next(found, None)

    def is_own(self, axis: str, name: str) -> bool:
        """Return whether a name is that of a function outside this package."""
        entry = self.get(axis, name)
        return entry is not None and entry.code is not None

    def check(self, axis: str, name: str, place: str, also: Iterable[str] = ()) -> None:
        """Refuse an unknown name; the error has similar names."""
        known = (*also, *self.names(axis))
        if not is_one_of(name, known):
            raise unknown_name("list generator" if axis == "lists" else axis, name, known, place)

    def joined(self, more: Iterable[Entry]) -> Registry:
        """Return a registry with more entries."""
        found = list(self.entries)
        for entry in more:
            taken = Registry(tuple(found)).get(entry.axis, entry.name)
            if taken is not None:
                problem = f"the {entry.axis} {entry.name!r} is already defined in {taken.place}"
                raise InputError(problem, "give it another name", entry.place)
            found.append(entry)
        return Registry(tuple(found))


SHIPPED = Registry(
    tuple(Entry(axis, name, about) for axis in OPEN_AXES for name, about in _NAMES[axis].items())
)
"""The names of this package."""


def entries_of_file(module: ModuleType, text: str, file: str) -> list[Entry]:
    """Return the entries of the marked functions of an experiment file."""
    root = Path(module.__file__ or "").resolve().parent.parent
    found: dict[int, Entry] = {}  # one for each function, whatever else it is called
    for key, function in vars(module).items():
        mark = mark_of(function)
        if mark is None or id(function) in found:
            continue
        code = getattr(inspect.unwrap(function), "__code__", None)
        here = function.__module__ == module.__name__
        line = code.co_firstlineno if code and here else 1
        place = f"{file}, line {line}"
        files = data_files(mark.reads, root, place)
        source = imported_source(function, module.__name__)
        own = Code(mark.axis, mark.name, key, file, line, text, source, files)
        about = (inspect.getdoc(function) or "").partition("\n")[0]
        found[id(function)] = Entry(mark.axis, mark.name, about, place, mark.options, own)
    return list(found.values())
