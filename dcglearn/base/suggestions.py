"""The error for an unknown name: it suggests similar names."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable

from dcglearn.base.errors import InputError


def unknown_name(kind: str, name: object, known: Iterable[str], place: str = "") -> InputError:
    """Return the error for a name that is not one of the known names.

    Parameters
    ----------
    kind : str
        What was to be named, such as ``"preset"``.
    name : object
        The name given.
    known : iterable of str
        The names that exist.
    place : str, optional
        File and line, or argument.

    Returns
    -------
    InputError
        For the caller to raise.

    Examples
    --------
    >>> print(unknown_name("preset", "zipff", ["zipf", "constant"]))
    unknown preset 'zipff'; did you mean 'zipf'? Known: constant, zipf
    """
    names = sorted(known)
    problem, remedy = f"unknown {kind} {name!r}", f"Known: {', '.join(names)}"
    return InputError(problem, did_you_mean(name, names) + remedy, place)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question with the known names that are near without case, empty if none is.

    Parameters
    ----------
    name : object
    known : iterable of str

    Returns
    -------
    str

    Examples
    --------
    >>> did_you_mean("zipff", ["zipf", "constant"])
    "did you mean 'zipf'? "
    """
    plain = {one.casefold(): one for one in known}
    found = difflib.get_close_matches(str(name).casefold(), list(plain), n=2, cutoff=0.6)
    near = [plain[one] for one in found]
    return f"did you mean {' or '.join(map(repr, near))}? " if near else ""


def is_one_of(name: object, known: Container[object]) -> bool:
    """Return whether a name, or None, is one of the known ones; other objects are not.

    Parameters
    ----------
    name : object
    known : container of str or None

    Returns
    -------
    bool

    Examples
    --------
    >>> is_one_of("mean", ("mean", None)), is_one_of(["mean"], ("mean", None))
    (True, False)
    """
    return (name is None or isinstance(name, str)) and name in known
