"""What the names of an experiment mean: one registry per config, of this package and of one's own.

A registry holds the names of every axis: those of this package, those of marked functions
(:mod:`dcglearn.axes.decorators`) in installed packages that name a module under the entry-point
group ``dcglearn.axes``, and those in the experiment file. It does not change once it is made.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from dcglearn.axes.data_files import data_files
from dcglearn.axes.decorators import OPEN_AXES, mark_of
from dcglearn.axes.own_code import (
    Code,
    FileCode,
    PackageCode,
    file_code,
    installed_version,
    package_digest,
)
from dcglearn.axes.success import SHIPPED_RESULTS
from dcglearn.base.errors import InputError, is_one_of, unknown_name
from dcglearn.learning.problem import MARGINS
from dcglearn.naming.presets import PRESETS
from dcglearn.simulation.truths import FREE, TRUTHS

ENTRY_POINTS = "dcglearn.axes"
"""The entry-point group under which a package names a module of marked functions."""

JUDGMENT_MODEL = "judgment-model"
USUAL = "usual"
STUDY = "study"
CALIBRATED = "calibrated"

_HERE = "dcglearn"

_LISTS = {
    "permutations": "two permutations of the base list",
    "drawn": "independent grades, uniform or with given probabilities",
    "sorted-against-shuffled": "the base list in its best order, and a permutation of it",
    "sorted-against-another": "a list in its best order, and one of other grades",
    "documents": "two permutations of documents without grades",
    "queries": "two permutations of the documents of a query of a LETOR file",
}
_LEARNERS = {
    "qp": "W of the quadratic program (eq. 1 of the paper)",
    "qp-dcg": "the DCG that is factorised from it",
    USUAL: "the DCG that starts from the usual measures",
    JUDGMENT_MODEL: "intervals and tests of a model of the judgment",
    STUDY: "what is concluded from the judgments of a design",
}
_MARGINS = {"unit": "1 for each pair", "hamming": "the number of ranks at which the lists differ"}
_TRUTHS = {
    **{name: f"{preset} with grades L ... 1" for name, preset in TRUTHS.items()},
    FREE: "gains drawn independently at each rank",
    **{name: preset.formula for name, preset in PRESETS.items()},
}

_KINDS = {"lists": "list generator"}
"""What the names of an axis are called in errors, where it is not the name of the axis."""


@dataclass(frozen=True)
class Entry:
    """One name of an axis.

    Attributes
    ----------
    axis, name : str
    about : str
        One line.
    place : str
        Where it is defined: ``dcglearn``, or file and line.
    options : dict
        Its options and their defaults.
    code : FileCode or PackageCode, optional
        None for what is part of this package.
    """

    axis: str
    name: str
    about: str = ""
    place: str = _HERE
    options: Mapping[str, Any] = field(default_factory=dict)
    code: Code | None = None


@dataclass(frozen=True)
class Registry:
    """The names of all axes.

    Attributes
    ----------
    entries : tuple of Entry
        In the order of the axes; no name appears twice on one axis.

    Examples
    --------
    >>> SHIPPED.names("margin")
    ('unit', 'hamming')
    >>> SHIPPED.check("margin", "hammin", "margin")
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: margin: unknown margin 'hammin'; did you mean 'hamming'? \
Known: hamming, unit
    """

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
        """Refuse an unknown name; the error has similar names.

        Parameters
        ----------
        axis, name : str
        place : str
            The key of the config.
        also : iterable of str
            Other names that are allowed.

        Raises
        ------
        InputError
        """
        known = (*also, *self.names(axis))
        if not is_one_of(name, known):
            raise unknown_name(_KINDS.get(axis, axis), name, known, place)

    def joined(self, more: Iterable[Entry]) -> Registry:
        """Return a registry with more entries.

        Parameters
        ----------
        more : iterable of Entry

        Returns
        -------
        Registry

        Raises
        ------
        InputError
            If a name is already taken on its axis; it names both places.
        """
        found = list(self.entries)
        for entry in more:
            taken = next((e for e in found if (e.axis, e.name) == (entry.axis, entry.name)), None)
            if taken is not None and (taken.code is None or taken.code != entry.code):
                raise InputError(
                    f"the {_KINDS.get(entry.axis, entry.axis)} {entry.name!r} is already defined "
                    f"in {taken.place}",
                    "give it another name",
                    entry.place,
                )
            if taken is None:
                found.append(entry)
        order = list(OPEN_AXES)
        return Registry(tuple(sorted(found, key=lambda one: order.index(one.axis))))


def _shipped() -> Registry:
    tables: dict[str, Mapping[str, str]] = {
        "truth": _TRUTHS,
        "lists": _LISTS,
        "judge": {CALIBRATED: "as the truth says, with noise and bias as given"},
        "margin": {name: _MARGINS[name] for name in MARGINS},
        "learner": _LEARNERS,
        "result": {name: _first_line(one) for name, one in SHIPPED_RESULTS.items()},
    }
    return Registry(
        tuple(Entry(axis, name, text) for axis, t in tables.items() for name, text in t.items())
    )


def entries_of_file(module: ModuleType, text: str, file: str) -> list[Entry]:
    """Return the entries of the marked functions of an experiment file.

    Parameters
    ----------
    module : module
        The file, executed.
    text : str
        Its content.
    file : str
        Its name in errors.

    Returns
    -------
    list of Entry

    Raises
    ------
    InputError
        If a function is defined twice, or its code or its data cannot travel.
    """
    found = []
    twice = _defined_twice(text)
    for key, function in vars(module).items():
        mark = mark_of(function)
        if mark is None:
            continue
        if function.__module__ != module.__name__:
            found.append(_entry_of_package(function, function.__module__.partition(".")[0]))
            continue
        if key != function.__name__:  # another name of the same function
            continue
        line = _line(function)
        if key in twice:
            raise InputError(
                f"the function {key} is defined twice, in lines {twice[key]} and {line}",
                "give one of them another name",
                file,
            )
        root = Path(module.__file__ or "").resolve().parent.parent
        files = data_files(mark.reads, root, f"{file}, line {line}")
        code = file_code(mark.axis, mark.name, key, file, line, text, files)
        found.append(_entry(code, function))
    return found


def _defined_twice(text: str) -> dict[str, int]:
    """Return the names of functions that are defined more than once, and the line of the first."""
    lines: dict[str, int] = {}
    twice = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            if node.name in lines:
                twice[node.name] = lines[node.name]
            lines.setdefault(node.name, node.lineno)
    return twice


@lru_cache(1)
def installed_entries() -> tuple[Entry, ...]:
    """Return the entries of the marked functions of installed packages.

    Returns
    -------
    tuple of Entry

    Raises
    ------
    InputError
        If a module that a package names cannot be imported.
    """
    found: list[Entry] = []
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda one: one.value):
        try:
            module = import_module(point.module)
        except Exception as error:
            raise InputError(
                f"{_package_of(point)} names {point.value} under {ENTRY_POINTS}, which cannot be "
                f"loaded ({type(error).__name__}: {error})",
                "fix it, or uninstall it",
            ) from error
        marked = [one for one in vars(module).values() if mark_of(one) is not None]
        found += [_entry_of_package(one, _package_of(point)) for one in marked]
    return tuple(found)


def _package_of(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module.partition(".")[0]


def _entry_of_package(function: Any, package: str) -> Entry:
    mark, module, name = mark_of(function), function.__module__, function.__name__
    assert mark is not None  # noqa: S101 - callers look
    line, version = _line(function), installed_version(package)
    file = f"{module.replace('.', '/')}.py"
    if mark.reads:
        raise InputError(
            f"the {mark.axis} {mark.name} declares data files, which only functions of an "
            "experiment file can",
            "read a file of its package by importlib.resources: the version is part of the cell",
            f"{file}, line {line}",
        )
    digest = package_digest(module, name)
    code = PackageCode(mark.axis, mark.name, name, module, file, line, package, version, digest)
    return _entry(code, function)


def _entry(code: FileCode | PackageCode, function: Any) -> Entry:
    mark = mark_of(function)
    options = {} if mark is None else mark.options
    place = f"{code.file}, line {code.line}"
    return Entry(code.axis, code.name, _first_line(function), place, options, code)


def _line(function: Any) -> int:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_firstlineno if code is not None else 1


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


SHIPPED = _shipped()
"""The names of this package."""
