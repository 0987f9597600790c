"""Answers in words that can mean one thing only: ``Left is much better``, ``about the same``."""

from __future__ import annotations

import re

from dcglearn.fields.judgment_fields import ANSWERS

_HOW = r"(?:much |far |slightly |somewhat |a bit |a little )?"
_BETTER = re.compile(
    r"(?:(?:strongly |slightly |somewhat )?prefer(?:red|s)? )?(?:the )?"
    r"(?:(?:list|side|option|ranking|results?) )?(a|b|left|right|1|2)"
    rf"(?: (?:list|side|one|results?))?(?: (?:is |are )?{_HOW}(?:better|preferred|wins))?"
)
_SIDES = {"a": "a", "left": "a", "1": "a", "b": "b", "right": "b", "2": "b"}
_WORDS = {
    "tie": ("tie", "tied", "draw", "equal", "are equal", "same", "the same", "about the same"),
    "good": ("good", "both good", "equally good"),
    "bad": ("bad", "both bad", "equally bad"),
}
_WORDS["tie"] += ("are the same", "no preference", "no difference")
_MEANINGS = {words: answer for answer, known in _WORDS.items() for words in known}


def answer_in_words(text: str) -> int | None:
    """Return the code of an answer in words, if they can mean one thing only.

    Parameters
    ----------
    text : str
        Capitals, blanks, hyphens and underscores do not count.

    Returns
    -------
    int or None
        Its index in :data:`~dcglearn.fields.judgment_fields.ANSWERS`; None if it could mean several
        things, such as *neither*, or nothing.

    Examples
    --------
    >>> [answer_in_words(text) for text in ("Left", "List 2 is better", "no preference", "neither")]
    [0, 1, 2, None]
    """
    words = re.sub(r"[\s_-]+", " ", text.casefold()).strip(" .!")
    meaning = _MEANINGS.get(words)
    side = _BETTER.fullmatch(words)
    if meaning is None and side is not None:
        meaning = _SIDES[side[1]]
    return None if meaning is None else ANSWERS.index(meaning)
