"""Pairs of systems as a person types them: A,B, where names may hold commas themselves."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from dcglearn.base.errors import InputError, unknown_name

_PLACE = "--between"


def named_pair(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the two systems that a text names, with a comma between them.

    >>> named_pair("old,new", ["old", "new"]), named_pair("a,b,c", ["a,b", "c"])
    (('old', 'new'), ('a,b', 'c'))
    """
    quoted = next(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True), [])
    if '"' in text and len(quoted) == 2 and set(quoted) <= set(names):
        return quoted[0], quoted[1]
    splits = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == ","]
    if not splits:
        known = f"Known: {', '.join(sorted(names))}"
        raise InputError(f"{text!r} is not a pair of systems", f"write A,B. {known}", _PLACE)
    pairs = [(_as_known(a, names), _as_known(b, names)) for a, b in splits]
    found = [(a, b) for a, b in pairs if a in names and b in names]
    if len(found) > 1:
        ways = " or ".join(f"{a!r} and {b!r}" for a, b in found)
        remedy = f"write names with commas in double quotes: '\"{found[0][0]}\",{found[0][1]}'"
        raise InputError(f"{text!r} may mean {ways}", remedy, _PLACE)
    if found:
        return found[0]
    if len(pairs) == 1:
        wrong = next(name for name in pairs[0] if name not in names)
        raise unknown_name("system", wrong, names, _PLACE)
    raise unknown_name("pair of systems", text, names, _PLACE)


def _as_known(part: str, names: Sequence[str]) -> str:
    return part if part in names else part.strip()
