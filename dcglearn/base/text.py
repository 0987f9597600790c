"""Names that others wrote, escaped for terminals, Markdown and LaTeX so that they are shown."""

from __future__ import annotations

import json
import re
import unicodedata

ASCII_BLANKS = " \t\n\r\v\f"

_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Unicode categories without a shape."""

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
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


def plain_text(text: str, keep: str = "") -> str:
    """Escape unseen characters, except those to keep, as Python does."""
    if text.isprintable():
        return text
    unseen = {c for c in {*text} - {*keep, *_JOINERS} if unicodedata.category(c) in _UNSEEN}
    escapes = {ord(c): c.encode("unicode_escape").decode() for c in unseen}
    return text.translate(escapes) if escapes else text


def json_plain_text(text: str, encoding: str = "utf-8") -> str:
    """Escape all but ASCII in a JSON document where some is unseen, or an encoding lacks it."""
    known = text.encode(encoding, "ignore").decode(encoding) == text
    if known and plain_text(text, keep="\n") == text:
        return text
    return re.sub(r"[^ -~\n]+", lambda found: json.dumps(found[0])[1:-1], text)


def markdown_cell(text: str) -> str:
    """Escape GitHub's Markdown in a cell of a table."""
    entities = {"<": "&lt;", "&": "&amp;"}
    return _MARKDOWN.sub(lambda found: entities.get(found[0], f"\\{found[0]}"), plain_text(text))


def latex_cell(text: str) -> str:
    """Escape LaTeX in a cell of a table."""
    safe = plain_text(text).translate(_LATEX)
    start = safe.lstrip()[:1]
    # Without braces it would be an argument of the line break before it.
    return safe.replace(start, f"{{{start}}}", 1) if start in ("[", "*") else safe


def split_fields(text: str) -> list[str]:
    r"""Split text at blanks of ASCII; ``str.split`` also splits at U+001C and U+00A0."""
    return [field.decode() for field in text.encode().split()]
