"""The character that separates the columns of delimited text, found from its first rows.

A candidate (comma, semicolon, tab, ``|``) must separate the names of columns in the first line. Of
several, the one under which the following rows have as many fields as the header wins, then the one
with more columns, then the earlier in this order. Quotes are those of CSV.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""The characters that may separate columns, and what messages call them."""

_ROWS = 50
_DECLARED = re.compile(r"sep=[,;\t|](?=\r?\n)")


def declared_delimiter(head: str) -> str:
    r"""Return the first line if it declares the delimiter as spreadsheets write it, else nothing.

    Parameters
    ----------
    head : str
        The beginning of the text.

    Returns
    -------
    str
        The line without its end; the delimiter is the character after ``sep=``.

    Examples
    --------
    >>> declared_delimiter("sep=;\r\na;b;answer\r\n"), declared_delimiter("a,b,answer\n")
    ('sep=;', '')
    """
    found = _DECLARED.match(head)
    return found[0] if found else ""


def find_delimiter(head: str, whole: bool = True) -> str:
    r"""Return the character that separates the columns.

    Parameters
    ----------
    head : str
        The beginning of the text.
    whole : bool, default True
        Whether the last line is whole.

    Returns
    -------
    str
        One of :data:`DELIMITERS`; a comma if none separates the header.

    Examples
    --------
    >>> find_delimiter("query;a;b;answer\nq1;2,0,1;1,0,0;a\n")
    ';'
    >>> find_delimiter("a\tb\tanswer\n2 0, or so\t1\ta\n")
    '\t'
    """
    if not whole and "\n" in head:
        head = head[: head.rindex("\n") + 1]

    def score(delimiter: str) -> tuple[int, int]:
        rows = _first_rows(head, delimiter)
        columns = len(rows[0]) if rows else 0
        if columns < 2:
            return -1, 0
        agreeing = sum(len(row) == columns for row in rows)
        return int(agreeing == len(rows)), columns

    return max(DELIMITERS, key=score)


def _first_rows(head: str, delimiter: str) -> list[list[str]]:
    """Return the first rows; those before the first fault, if the text is not CSV."""
    lines = io.StringIO(head, newline="\n")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        for row in islice(reader, _ROWS):
            if row:
                rows.append(row)  # noqa: PERF401 - the rows before an error are kept
    except csv.Error:
        return rows
    return rows
