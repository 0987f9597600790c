"""Names from files as text: in a terminal, a Markdown cell and a LaTeX cell.

Names of systems, queries, files and grades come from others. What a terminal, Markdown or LaTeX
would take as a command is escaped, so that the reader sees the name as it is written.
"""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Unicode categories without a shape of their own: control, format, surrogate, separators."""

_JOINERS = "\u200c\u200d"
"""Format characters that words of some scripts are spelt with."""

_MARKDOWN = re.compile(
    r"""
    [\\|*`$~]
    | (?<!\w)_ | _(?!\w)       # emphasis; an underscore inside a word is not
    | <(?=[A-Za-z/!?])         # a tag
    | &(?=\#?\w+;)             # an entity
    | (?<=\])\(                # a link
    """,
    re.VERBOSE,
)

_LATEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


def plain_text(text: str, keep: str = "") -> str:
    r"""Make control and format characters visible, so that text cannot control a terminal.

    Parameters
    ----------
    text : str
    keep : str, default ""
        Characters that stay, such as line feeds.

    Returns
    -------
    str
        The text with the escapes of Python in place of these characters.

    Examples
    --------
    >>> print(plain_text("run" + chr(27) + "[31m"))
    run\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c in keep or not _is_unseen(c) else _escaped(c) for c in text)


def json_plain_text(text: str, encoding: str = "utf-8") -> str:
    r"""Write characters of a JSON document that are unseen, or that an encoding lacks, as escapes.

    Parameters
    ----------
    text : str
        A JSON document. Its line feeds stay.
    encoding : str, default "utf-8"
        The encoding of what it is printed to.

    Returns
    -------
    str
        The same document.

    Examples
    --------
    >>> print(json_plain_text('["' + chr(0x9b) + 'é"]', "ascii"))
    ["\u009b\u00e9"]
    """
    try:
        text.encode(encoding)
        lacking = False
    except UnicodeEncodeError:
        lacking = True
    if text.isprintable() and not lacking:
        return text
    return "".join(
        c if c in "\n" or not (_is_unseen(c) or (lacking and not c.isascii())) else _utf16(c)
        for c in text
    )


def markdown_cell(text: str) -> str:
    r"""Escape what GitHub's Markdown would take as markup in a cell of a table.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Names without markup stay as they are.

    Examples
    --------
    >>> print(markdown_cell("<img src=x> a|b $x$ jk_2"))
    &lt;img src=x> a\|b \$x\$ jk_2
    """
    return _MARKDOWN.sub(_markdown_escape, plain_text(text))


def latex_cell(text: str) -> str:
    r"""Escape what LaTeX would take as a command in a cell of a table.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        A bracket or a star at the start is put in braces, because it would be an argument of the
        line break before it.

    Examples
    --------
    >>> print(latex_cell(chr(92) + "input{a_b} 5%"))
    \textbackslash{}input\{a\_b\} 5\%
    """
    safe = plain_text(text).translate(_LATEX)
    start = safe.lstrip()[:1]
    return safe.replace(start, f"{{{start}}}", 1) if start in ("[", "*") else safe


def _markdown_escape(match: re.Match[str]) -> str:
    found = match.group()
    return {"<": "&lt;", "&": "&amp;"}.get(found, "\\" + found)


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN and character not in _JOINERS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _utf16(character: str) -> str:
    """Return the escapes of JSON, two for a character beyond 16 bits."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
