"""Near names: an unknown name is refused with the ones that may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from dcglearn.base.errors import InputError


def unknown_name(kind: str, name: object, known: Iterable[str], place: str = "") -> InputError:
    """Build the error for a name that is none of the known ones.

    Parameters
    ----------
    kind : str
        What the name should name, such as ``"preset"``.
    name : object
        What was given.
    known : iterable of str
        The names that exist.
    place : str, optional
        Where it was found.

    Returns
    -------
    InputError
        To be raised by the caller.

    Examples
    --------
    >>> print(unknown_name("preset", "zipff", ["zipf", "constant"]))
    unknown preset 'zipff'; did you mean 'zipf'? Known: constant, zipf
    """
    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, n=2, cutoff=0.6)
    guess = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    return InputError(f"unknown {kind} {name!r}", f"{guess}Known: {', '.join(names)}", place)
