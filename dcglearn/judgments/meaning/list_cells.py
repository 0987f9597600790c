"""Lists that are written as text in one cell.

Entries are separated by blanks (``2 0 1``), by commas (``very good, bad``), by bars or semicolons
(``2|0|1``), or numbers by slashes; or the text is a list of JSON, Python, NumPy or PostgreSQL
(``[2, null, 0]``, ``['good', None]``, ``[2 0]``, ``{2,NULL}``). A dash is an empty rank. Between
blanks, numbers may have decimal commas (``0,5 1``).
"""

from __future__ import annotations

import re

from dcglearn.base.errors import InputError
from dcglearn.base.text import ASCII_BLANKS, split_fields

EMPTY_ENTRIES = frozenset(("-", "null", "None", "NULL", "nan", "NaN"))
"""What an empty rank is called between brackets."""

_ENTRY = r"""(?:"([^"\\]*)"|'([^'\\]*)'|([^\s,\[\](){{}}"']+))"""
_LIST = re.compile(rf"\s*(?:{_ENTRY}(?:\s*,\s*|\s+|\s*$))*", re.ASCII)
_ENTRIES = re.compile(_ENTRY, re.ASCII)
_PLAIN, _DIGITS = "[A-Za-z0-9_.+-]+", "[0-9]+[.]?[0-9]*"
JOINED = {
    "|": rf"{_PLAIN}(?:[ \t]*[|][ \t]*{_PLAIN})+",
    ";": rf"{_PLAIN}(?:[ \t]*;[ \t]*{_PLAIN})+",
    "/": rf"{_DIGITS}(?:[ \t]*/[ \t]*{_DIGITS})+",
}
"""Other characters than commas that may separate entries, and the lists that they separate."""

_DECIMALS = re.compile(r"[0-9]+(?:,[0-9]+)?(?:[ \t]+[0-9]+(?:,[0-9]+)?)+", re.ASCII)
_BRACKETS = {"[": "]", "(": ")", "{": "}"}


def parse_list_text(text: str) -> list[str | None]:
    """Return the entries of a list that is written as text.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str or None
        None where a rank is empty.

    Raises
    ------
    InputError
        If brackets or quotes do not fit.

    Examples
    --------
    >>> parse_list_text("2 - 0"), parse_list_text("very good, bad")
    (['2', None, '0'], ['very good', 'bad'])
    >>> parse_list_text("[2, null]"), parse_list_text("['good', None]")
    (['2', None], ['good', None])
    >>> parse_list_text("2|-|0"), parse_list_text("0,5 1")
    (['2', None, '0'], ['0.5', '1'])
    """
    stripped = text.strip(ASCII_BLANKS)
    closing = _BRACKETS.get(stripped[:1])
    if closing is not None:
        inner = stripped[1:-1]
        if len(stripped) < 2 or not stripped.endswith(closing) or not _LIST.fullmatch(inner):
            raise InputError(f"the list {text!r:.60} cannot be read", "write it like 2 0 1")
        entries = (match.groups() for match in _ENTRIES.finditer(inner))
        return [
            (None if bare in EMPTY_ENTRIES else bare) if bare else (double or single or "")
            for double, single, bare in entries
        ]
    if _DECIMALS.fullmatch(stripped):
        return [entry.replace(",", ".") for entry in stripped.split()]
    for separator, pattern in JOINED.items():
        if separator in stripped and re.fullmatch(pattern, stripped, re.ASCII):
            parts = (part.strip(ASCII_BLANKS) for part in stripped.split(separator))
            return [None if part == "-" else part for part in parts]
    if "," in stripped:
        parts = (part.strip(ASCII_BLANKS) for part in stripped.split(","))
        return [None if part in ("", "-") else part for part in parts]
    return [None if part == "-" else part for part in split_fields(text)]
