"""Lists that are written as text in one cell.

Entries are separated by blanks (``2 0 1``) or by commas (``very good, bad``), or the text is a list
of JSON, Python, NumPy or PostgreSQL (``[2, null, 0]``, ``['good', None]``, ``[2 0]``,
``{2,NULL}``). A dash is an empty rank.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.base.text_lines import ASCII_BLANKS, split_fields
from dcglearn.records.coded_values import (
    CodedLists,
    UndecidedError,
    coded,
    merged_values,
    with_canonical_labels,
)

_ENTRY = r"""(?:"([^"\\]*)"|'([^'\\]*)'|([^\s,\[\](){{}}"']+))"""
_LIST = re.compile(rf"\s*(?:{_ENTRY}(?:\s*,\s*|\s+|\s*$))*", re.ASCII)
_ENTRIES = re.compile(_ENTRY, re.ASCII)
_EMPTY = frozenset(("-", "null", "None", "NULL", "nan", "NaN"))
_QUOTED_EMPTY = r"""['"](?:-|null|None|NULL|nan|NaN)['"]"""
_BRACKETS = {"[": "]", "(": ")", "{": "}"}

_MARKS = r"""[,\[\](){}"']"""
_PLAIN = "[A-Za-z0-9_.+-]+"
_BARE = rf"""(?:{_PLAIN}|"{_PLAIN}"|'{_PLAIN}')"""
_INNER = rf"[ \t]*{_BARE}(?:(?:[ \t]*,[ \t]*|[ \t]+){_BARE})*[ \t]*"
_IN_BRACKETS = rf"^(?:\[{_INNER}\]|\({_INNER}\)|\{{{_INNER}\}})$"
_WITH_COMMAS = rf"^{_PLAIN}(?:[ \t]*,[ \t]*{_PLAIN})+$"


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
    """
    stripped = text.strip(ASCII_BLANKS)
    closing = _BRACKETS.get(stripped[:1])
    if closing is not None:
        inner = stripped[1:-1]
        if len(stripped) < 2 or not stripped.endswith(closing) or not _LIST.fullmatch(inner):
            raise InputError(f"the list {text!r:.60} cannot be read", "write it like 2 0 1")
        entries = (match.groups() for match in _ENTRIES.finditer(inner))
        return [
            (None if bare in _EMPTY else bare) if bare else (double or single or "")
            for double, single, bare in entries
        ]
    if "," in stripped:
        parts = (part.strip(ASCII_BLANKS) for part in stripped.split(","))
        return [None if part in ("", "-") else part for part in parts]
    return [None if part == "-" else part for part in split_fields(text)]


def coded_texts(array: Any) -> CodedLists:
    """Return an Arrow array of lists that are written as text as codes.

    Parameters
    ----------
    array : pyarrow.Array
        Text.

    Returns
    -------
    CodedLists

    Raises
    ------
    UndecidedError
        If some list must be read by :func:`parse_list_text`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> coded_texts(pa.array(["2 - 0", " 0 "])).codes.tolist()
    [0, -1, 1, 1]
    """
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if kinds.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count or kinds.is_null(array.type):
        raise UndecidedError
    trimmed = pc.ascii_trim_whitespace(array)
    empty = {"-"}
    if pc.any(pc.match_substring_regex(trimmed, _MARKS)).as_py():
        trimmed, empty = _without_marks(trimmed)
    lists = pc.ascii_split_whitespace(trimmed)
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    column = coded(lists.flatten())
    if "" in column.values:
        raise UndecidedError
    values = [None if value in empty else value for value in column.values]
    labels = with_canonical_labels(merged_values(column.codes, values))
    return CodedLists(labels.codes, lengths, labels.values)


def _without_marks(array: Any) -> tuple[Any, set[str]]:
    """Return lists with blanks in place of commas, brackets and quotes, and the empty entries."""
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(array, _IN_BRACKETS)).as_py():
        if pc.any(pc.match_substring_regex(array, _QUOTED_EMPTY)).as_py():
            raise UndecidedError
        plain = pc.replace_substring_regex(array, _MARKS, " ")
        return pc.ascii_trim_whitespace(plain), set(_EMPTY)
    if pc.all(pc.match_substring_regex(array, _WITH_COMMAS)).as_py():
        return pc.replace_substring(array, ",", " "), {"-"}
    raise UndecidedError
