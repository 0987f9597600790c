"""What a user says about columns and answers: ``a=left,b=right``, as text or as a mapping."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import TypeAlias

from dcglearn.base.errors import InputError

GivenMap: TypeAlias = Mapping[str, str] | str
"""A mapping, or its text: ``key=value`` with commas between."""


class UnmappedValueError(InputError):
    """A value of the input has no meaning; its place is for whoever knows where it occurs.

    Parameters
    ----------
    problem, remedy : str
        As those of :class:`~dcglearn.base.errors.InputError`.
    position : int
        Its number among the values.
    """

    def __init__(self, problem: str, remedy: str, position: int) -> None:
        super().__init__(problem, remedy)
        self.position = position


def parse_given_map(given: GivenMap | None, argument: str, example: str) -> dict[str, str]:
    """Return what a user says as a mapping of text to text.

    Parameters
    ----------
    given : mapping, str or None
        Text is ``key=value,key=value``; quotes keep a comma: ``"very good, both"=good``. The last
        equals sign of a part separates its key from its value.
    argument, example : str
        What to call it in an error, and how it is written.

    Returns
    -------
    dict of str to str
        Without blanks around keys and values.

    Raises
    ------
    InputError
        If a part has no equals sign, a value is empty, or a key appears twice.

    Examples
    --------
    >>> parse_given_map("left=a, right=b,=tie", "answers", "left=a")
    {'left': 'a', 'right': 'b', '': 'tie'}
    """
    if given is None:
        return {}
    remedy = f"write `{argument}={example!r}`"
    if isinstance(given, Mapping):
        parts = [(str(key), str(value)) for key, value in given.items()]
    elif isinstance(given, str):
        parts = []
        for part in next(csv.reader([given], skipinitialspace=True), None) or [given]:
            key, equals, value = part.rpartition("=")
            if not equals:
                raise InputError(f"`{argument}` holds {part!r:.60}", remedy)
            parts.append((key, value))
    else:
        raise InputError(f"`{argument}` is of type {type(given).__name__}", remedy)
    found: dict[str, str] = {}
    for key, value in ((key.strip(), value.strip()) for key, value in parts):
        if key in found:
            raise InputError(f"`{argument}` names {key!r:.60} twice", "name it once")
        if not value:
            raise InputError(f"`{argument}` has nothing for {key!r:.60}", remedy)
        found[key] = value
    return found
