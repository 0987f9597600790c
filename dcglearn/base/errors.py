"""Errors that read ``place: problem; remedy``: where it is, what is wrong, what to do."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dcglearn.base.text import plain_text

_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"


class InputError(ValueError):
    """The input cannot be used as it is.

    It is a ``ValueError``, which is what array libraries raise. The command line prints it
    without a traceback and exits with code 2.

    Parameters
    ----------
    problem : str
        What is wrong, with the offending value.
    remedy : str, optional
        What to do about it. Arguments are named in backquotes.
    place : str, optional
        File and line, row, or key.

    Examples
    --------
    >>> raise InputError("the answer is 'c'", "write a, b or tie", "judgments.jsonl, line 3")
    Traceback (most recent call last):
        ...
    dcglearn.base.errors.InputError: judgments.jsonl, line 3: the answer is 'c'; write a, b or tie
    """

    def __init__(self, problem: str, remedy: str = "", place: str = "") -> None:
        self.problem, self.remedy, self.place = problem, remedy, place
        super().__init__(problem, remedy, place)

    def __str__(self) -> str:
        whole = f"{self.place}: {self.problem}; {self.remedy}"
        return plain_text(whole.removeprefix(": ").removesuffix("; "))

    def at(self, place: str) -> InputError:
        """Return the same error with an outer place, such as a file, before its own."""
        return InputError(self.problem, self.remedy, ", ".join(filter(None, (place, self.place))))


class InputWarning(UserWarning):
    """The input is used, but perhaps not as its author meant."""


class SolverError(RuntimeError):
    """A solver did not reach the optimum, so its answer is not used.

    The message holds the solver's status, its number of iterations and its residuals.
    """


@contextmanager
def errors_at(place: str) -> Iterator[None]:
    """Put a place, such as a file or a key, before that of an error."""
    try:
        yield
    except InputError as error:
        raise error.at(place) from error


def warn_of_input(message: str) -> None:
    """Issue an `InputWarning` that points at the line which called this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, InputWarning, stacklevel=level)


def unknown_name(kind: str, name: object, known: Iterable[str], place: str = "") -> InputError:
    """Return the error for a `kind` of name that is not known, with similar names."""
    names = sorted(known)
    remedy = f"{did_you_mean(name, names)}Known: {', '.join(names)}"
    return InputError(f"unknown {kind} {name!r}", remedy, place)


def check_name(name: object, kind: str, known: Collection[str | None], place: str = "") -> None:
    """Refuse a `kind` of name that is not known, and objects that are not names."""
    if not isinstance(name, str | None) or name not in known:
        raise unknown_name(kind, name, map(str, known), place)


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Name a place in the errors of a block that name none themselves."""
    try:
        yield
    except InputError as error:
        raise (error if error.place else error.at(place)) from error


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question with at most two similar names, empty if none is similar."""
    plain = {one.casefold(): one for one in known}
    found = difflib.get_close_matches(str(name).casefold(), list(plain), n=2, cutoff=0.6)
    return f"did you mean {' or '.join(repr(plain[one]) for one in found)}? " if found else ""
