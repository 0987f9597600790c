"""Columns of lists that are written as text (:mod:`dcglearn.judgments.meaning.list_cells`), as codes."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from dcglearn.base.errors import InputError
from dcglearn.judgments.meaning.list_cells import EMPTY_ENTRIES, JOINED, parse_list_text
from dcglearn.judgments.reading.coded_values import (
    CodedColumn,
    CodedLists,
    UndecidedError,
    coded,
    merged_values,
    with_canonical_labels,
)

_QUOTED_EMPTY = r"""['"](?:-|null|None|NULL|nan|NaN)['"]"""

_SEPARATORS = "[|;/]"

_DIGITS = frozenset(string.digits.encode())
_SINGLE = _DIGITS | frozenset(string.ascii_letters.encode())

_MARKS = r"""[,\[\](){}"']"""
_PLAIN = "[A-Za-z0-9_.+-]+"
_BARE = rf"""(?:{_PLAIN}|"{_PLAIN}"|'{_PLAIN}')"""
_INNER = rf"[ \t]*{_BARE}(?:(?:[ \t]*,[ \t]*|[ \t]+){_BARE})*[ \t]*"
_IN_BRACKETS = rf"^(?:\[{_INNER}\]|\({_INNER}\)|\{{{_INNER}\}})$"
_WITH_COMMAS = rf"^{_PLAIN}(?:[ \t]*,[ \t]*{_PLAIN})+$"


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
    if kinds.is_string(array.type) and (alike := _written_alike(array)) is not None:
        return alike
    trimmed = pc.ascii_trim_whitespace(array)
    empty = {"-"}
    if pc.any(pc.match_substring_regex(trimmed, _SEPARATORS)).as_py():
        trimmed = _with_blanks(trimmed)
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


def _with_blanks(array: Any) -> Any:
    """Return lists with blanks in place of the other characters that separate entries."""
    import pyarrow.compute as pc

    for separator, pattern in JOINED.items():
        lists = pc.match_substring_regex(array, f"^{pattern}$")
        if pc.all(lists).as_py():
            return pc.replace_substring(array, separator, " ")
        if pc.any(lists).as_py():
            raise UndecidedError
    return array


def _written_alike(array: Any) -> CodedLists | None:
    """Return lists of single letters or digits with the same between them, such as ``2 0 1``.

    Most judgments are such. What holds for the first list then holds for all of them.
    """
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(array) + 1, 4 * array.offset)
    width = int(offsets[1] - offsets[0]) if len(array) else 0
    if not width or (np.diff(offsets) != width).any():
        return None
    content = np.frombuffer(array.buffers()[2], np.uint8, width * len(array), int(offsets[0]))
    table = content.reshape(-1, width)
    first = table[0].tobytes()
    at = [place for place, byte in enumerate(first) if byte in _SINGLE]
    between = [place for place in range(width) if place not in at]
    characters = [chr(first[place]) for place in at]
    try:
        if not first.isascii() or parse_list_text(first.decode()) != characters:
            return None
    except InputError:
        return None
    if not at or any((table[:, place] != first[place]).any() for place in between):
        return None
    codes = table[:, at]
    occur = np.flatnonzero(np.bincount(codes.ravel(), minlength=256)).tolist()
    allowed = _DIGITS if _DIGITS.issuperset(first[place] for place in at) else _SINGLE
    if not allowed.issuperset(occur):  # some separators are those of digits only
        return None
    numbers = np.zeros(256, np.int32)
    numbers[occur] = np.arange(len(occur), dtype=np.int32)
    column = CodedColumn(numbers[codes].ravel(), [chr(byte) for byte in occur])
    labels = with_canonical_labels(column)
    return CodedLists(labels.codes, np.full(len(array), len(at), np.int64), labels.values)


def _without_marks(array: Any) -> tuple[Any, set[str]]:
    """Return lists with blanks in place of commas, brackets and quotes, and the empty entries."""
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(array, _IN_BRACKETS)).as_py():
        if pc.any(pc.match_substring_regex(array, _QUOTED_EMPTY)).as_py():
            raise UndecidedError
        plain = pc.replace_substring_regex(array, _MARKS, " ")
        return pc.ascii_trim_whitespace(plain), set(EMPTY_ENTRIES)
    if pc.all(pc.match_substring_regex(array, _WITH_COMMAS)).as_py():
        return pc.replace_substring(array, ",", " "), {"-"}
    raise UndecidedError
