"""The character that separates the columns of delimited text, found from its first rows.

A candidate (comma, semicolon, tab, ``|``) must separate the names of columns in the first line. Of
several, the one under which the following rows have as many fields as the header wins, then the one
with more columns, then the earlier in this order. Quotes are those of CSV. Where no candidate
separates the first line it is a title: rows of one cell above the header are left out.
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
    found = {one: _first_rows(head, one) for one in DELIMITERS}
    separated = any(_filled(row) > 1 for rows in found.values() for _, row in rows[:1])

    def score(delimiter: str) -> tuple[int, int, int]:
        rows = [row for _, row in found[delimiter]]
        above = 0 if separated else len(_titles(found[delimiter]))
        columns = len(rows[above]) if len(rows) > above else 0
        if columns < 2:
            return -1, 0, 0
        agreeing = sum(len(row) == columns for row in rows[above:])
        return int(agreeing == len(rows) - above), -above, columns

    return max(DELIMITERS, key=score)


def title_above(head: str, delimiter: str) -> str:
    r"""Return the lines above the names of the columns, each of one cell; often none.

    Parameters
    ----------
    head : str
        The beginning of the text.
    delimiter : str

    Returns
    -------
    str
        Without the end of the last of them.

    Examples
    --------
    >>> title_above("My study,,\n\na,b,answer\n1,0,a\n", ","), title_above("a,b\n1,0\n", ",")
    ('My study,,', '')
    """
    titles = _titles(_first_rows(head, delimiter))
    lines = head.split("\n")[: titles[-1] if titles else 0]
    return "\n".join(lines)


def _titles(rows: list[tuple[int, list[str]]]) -> list[int]:
    """Return the last lines of the rows of one cell above the first row of several cells."""
    first = next((place for place, (_, row) in enumerate(rows) if _filled(row) > 1), 0)
    return [line for line, _ in rows[:first]]


def _filled(row: list[str]) -> int:
    return sum(map(bool, row))


def _first_rows(head: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the first rows and their last lines; those before a fault, if the text is not CSV."""
    lines = io.StringIO(head, newline="\n")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in islice(reader, _ROWS):
            if any(row):
                rows.append((reader.line_num, row))  # noqa: PERF401 - kept if an error follows
    except csv.Error:
        return rows
    return rows
