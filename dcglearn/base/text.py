"""Names that others wrote, escaped for terminals, Markdown and LaTeX so that they are shown."""

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
    return text.translate({ord(c): c.encode("unicode_escape").decode() for c in unseen})


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
